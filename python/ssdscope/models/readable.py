"""The small model that people read: times that add up, and a tree of the ratio to their sum.

A tree of the latency itself has to find in its cuts and slopes that twice the bytes take twice as
long, and is off by up to three times as much. So a few times come first, as easily read: of
each request, of its bytes, and of places at random, once and for each request in flight. The tree
then says where it takes longer than they add up to.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.models import features
from ssdscope.models.guide.model import GuideModel
from ssdscope.models.samples import TARGETS, Sample
from ssdscope.models.service_model import summed
from ssdscope.units import format_duration

Array = npt.NDArray[Any]
DEPTH = 3
RATIO = "times the sum"
"""What the tree predicts where times were added up."""
WORDS = {
    "rd_share": "each read",
    "rd_bytes": "each 64 KiB read",
    "rd_random": "each read at a random place",
    "wr_share": "each write",
    "wr_bytes": "each 64 KiB written",
    "wr_random": "each write at a random place",
}
IN_FLIGHT = "q_"
TERMS = (*WORDS, *(IN_FLIGHT + name for name in WORDS))


@dataclass(frozen=True, eq=False)
class Readable:
    """Times by name, in nanoseconds; what their sum is held above; the tree.

    Without times the tree is of the target itself.
    """

    times: dict[str, float]
    least: float
    tree: GuideModel

    def evaluate(self, inputs: Array) -> Array:
        """Predict rows of `features.inputs`; shape (n,)."""
        told = self.tree.evaluate(features.columns("extended", inputs))
        if not self.times:
            return told
        answer: Array = told * summed(
            _terms(inputs, list(self.times)), np.array(list(self.times.values())), self.least
        )
        return answer

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return {"times_ns": self.times, "least_ns": self.least, "model": self.tree.to_json()}


def grow(sample: Sample, target: str, seed: int) -> Readable:
    """Fit it to a sample; only what is a time is added up."""
    from ssdscope.models.guide.estimators import GuideRegressor
    from ssdscope.models.service import RIDGE, added_up

    sample = sample.whole()
    name, times, least, values = TARGETS[target][0], {}, 0.0, sample.values
    if name.endswith("_ns"):
        terms = _terms(sample.inputs, list(TERMS))
        coefficients, least = added_up(terms, values)
        takes = zip(TERMS, coefficients.tolist(), strict=True)
        times = {term: each for term, each in takes if each > 0}
        values, name = values / summed(terms, coefficients, least), RATIO
    tree = GuideRegressor(
        max_depth=DEPTH, ridge=RIDGE, log_target=True, random_state=seed % 2**32
    ).fit(sample.columns("extended"), values)
    return Readable(times, least, tree.model_.named(features.SETS["extended"], name))


def in_words(times: dict[str, float]) -> list[str]:
    """Put the times into words: those of a request alone, and those for each one in flight."""
    found = []
    for begin, flying in (("Added up: ", False), ("For each request in flight: ", True)):
        told = [
            f"{format_duration(each)} of {WORDS[name.removeprefix(IN_FLIGHT)]}"
            for name, each in times.items()
            if name.startswith(IN_FLIGHT) == flying
        ]
        found += [begin + ", ".join(told)] if told else []
    return found


def _terms(inputs: Array, names: list[str]) -> Array:
    known = features.SETS["times"]
    return features.columns("times", inputs)[:, [known.index(name) for name in names]]

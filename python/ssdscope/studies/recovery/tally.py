"""What many judged drives come to: the table per property, and the bars of the study."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdscope.studies.record import Claim, Table, Verdict
from ssdscope.studies.recovery.blind import Probed
from ssdscope.studies.recovery.judge import WRONG, Judgement, Outcome
from ssdscope.studies.recovery.truth import KINDS

DETECTED_BAR = 0.95
OBSERVABLE_BAR = 0.60
COVERED_BAR = 0.93
WIDTH_BAR = 0.10
COLUMNS = (
    "property",
    "observable",
    "found",
    *(str(each) for each in Outcome),
    "cover",
    "width",
)


@dataclass(frozen=True)
class Tally:
    """Judgements of one property, or of all, counted."""

    judgements: tuple[Judgement, ...]

    def count(self, outcome: Outcome) -> int:
        """How many came out so."""
        return Counter(each.outcome for each in self.judgements)[outcome]

    @property
    def wrong(self) -> int:
        """Values that are not the truth, and things called absent that are there."""
        return sum(self.count(each) for each in WRONG)

    @property
    def present(self) -> int:
        """Where the drive has the property."""
        return sum(each.present for each in self.judgements)

    @property
    def observable(self) -> int:
        """Where a probe is expected to find it."""
        return sum(each.observable for each in self.judgements)

    @property
    def found(self) -> int:
        """How many of the observable ones were detected and right."""
        return sum(each.observable and each.outcome == Outcome.RIGHT for each in self.judgements)

    @property
    def intervals(self) -> tuple[int, int]:
        """How many intervals cover the truth, of how many."""
        judged = [each.covered for each in self.judgements if each.covered is not None]
        return sum(judged), len(judged)

    @property
    def median_width(self) -> float | None:
        """Median of the intervals' widths, as shares of their values."""
        widths = [each.relative_width for each in self.judgements]
        known = [each for each in widths if each is not None]
        return float(np.median(known)) if known else None

    def row(self, name: str) -> list[str | int]:
        """Lay it out under `COLUMNS`."""
        covered, of_them = self.intervals
        width = self.median_width
        return [
            name,
            self.observable,
            self.found,
            *(self.count(each) for each in Outcome),
            f"{covered}/{of_them}" if of_them else "-",
            "-" if width is None else f"{100 * width:.1f}%",
        ]


def of_property(drives: Sequence[Probed], name: str) -> Tally:
    """Count one property."""
    return Tally(tuple(j for drive in drives for j in drive.judgements if j.name == name))


def of_all(drives: Sequence[Probed]) -> Tally:
    """Count everything."""
    return Tally(tuple(j for drive in drives for j in drive.judgements))


def table(drives: Sequence[Probed]) -> Table:
    """Lay out one row per property, and their sum."""
    rows = [of_property(drives, name).row(name) for name in KINDS]
    return Table(COLUMNS, (*rows, of_all(drives).row("all")))


def claims(drives: Sequence[Probed]) -> list[Claim]:
    """Hold drawn drives against the bars."""
    tally = of_all(drives)
    covered, of_them = tally.intervals
    width = tally.median_width
    return [
        _wrong(tally, f"wrong answers on {len(drives)} drives"),
        _share("observable properties detected", DETECTED_BAR, tally.found, tally.observable),
        _share("present properties that are observable", OBSERVABLE_BAR, tally.observable,
               tally.present),
        _share("intervals that cover, nominally 95 %", COVERED_BAR, covered, of_them),
        Claim(
            "median width of the intervals",
            f"at most {100 * WIDTH_BAR:.0f} %",
            "-" if width is None else f"{100 * width:.1f} %",
            "",
            *_verdict(width is not None and width <= WIDTH_BAR, "the intervals are too wide"),
        ),
        *_unbroken(drives),
    ]  # fmt: skip


def flat_claims(drives: Sequence[Probed]) -> list[Claim]:
    """Hold flat drives against the bar: nothing is detected but what every drive has."""
    return [_wrong(of_all(drives), f"false detections on {len(drives)} flat drives"),
            *_unbroken(drives)]  # fmt: skip


def _wrong(tally: Tally, what: str) -> Claim:
    judged = len(tally.judgements) - tally.count(Outcome.UNDETECTABLE) - tally.count(Outcome.MISSED)
    # With none wrong of n, the rate lies below 3/n at 95 %.
    bound = f"; below {300 / judged:.2g} % at 95 %" if judged and not tally.wrong else ""
    ours = f"{tally.wrong} of {judged}{bound}"
    return Claim(what, "0", ours, "", *_verdict(not tally.wrong, "listed in the notes"))


def _share(what: str, bar: float, count: int, of_them: int) -> Claim:
    share = count / of_them if of_them else 0.0
    ours = f"{100 * share:.1f} % ({count} of {of_them})"
    good = of_them > 0 and share >= bar
    return Claim(what, f"at least {100 * bar:.0f} %", ours, "", *_verdict(good, "below the bar"))


def _unbroken(drives: Sequence[Probed]) -> list[Claim]:
    broken = [f"{each.label}: {each.error}" for each in drives if each.error is not None]
    if not broken:
        return []
    return [
        Claim("drives whose probing broke off", "0", len(broken), "",
              Verdict.DIFFERS, "; ".join(broken))
    ]  # fmt: skip


def _verdict(good: bool, why: str) -> tuple[Verdict, str]:
    return (Verdict.AGREES, "") if good else (Verdict.DIFFERS, why)


def notes(drives: Sequence[Probed]) -> list[str]:
    """Name every wrong answer, every one that was missed, and how to see it again."""
    found = [
        f"wrong: {each.name} of {drive.label} is {each.truth}; {each.probe} said {each.said}"
        for drive in drives
        for each in drive.judgements
        if each.outcome in WRONG
    ]
    for name in KINDS:
        missed = [
            drive.label
            for drive in drives
            for each in drive.judgements
            if each.name == name and each.outcome == Outcome.MISSED
        ]
        found += [f"missed: {name} of {', '.join(missed)}"] if missed else []
    again = "repeat one drive: ssdscope reproduce recovery --only SEED:INDEX"
    return [*found, again] if found else []

"""Detectors of a paper: its value, its own procedure, our probe, and what is true of the drive.

A probe sees the drive alone; the study may look into the preset's file, which is how it knows what
is true. The verdict is about the probe, which must be right, and about all that must then agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Undetectable
from ssdscope.probes import registry, session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget
from ssdscope.recovery.shape import shape_of
from ssdscope.recovery.truth import Truth, configured, judged_right
from ssdscope.studies.judging import UNKNOWN
from ssdscope.studies.record import Claim, Verdict
from ssdscope.targets import Device, open_target
from ssdscope.targets.opening import resolve_drive

Value = float | str
BUDGET = Budget.parse("default")
_BUILT_ON = {
    "merge_unit_bytes": ("rmw_unit_bytes",),
    "allocation": ("rmw_unit_bytes", "merge_unit_bytes", "interleave_degree"),
    "placement": ("rmw_unit_bytes", "merge_unit_bytes", "map_zone_bytes", "allocation"),
    "placement_pages": ("rmw_unit_bytes", "merge_unit_bytes", "map_zone_bytes", "allocation"),
}
"""What the probes of a property had better know; `probe all` asks for it first, too."""


@dataclass
class Probed:
    """What probes find on the drives of a study; no property of a drive is asked for twice.

    Attributes
    ----------
    target
        A drive in place of all of them; of it nothing is known.
    """

    seed: int
    target: Device | None = None
    _open: dict[tuple[str, tuple[str, ...]], Device] = field(default_factory=dict)
    _found: dict[tuple[str, tuple[str, ...]], dict[str, Finding]] = field(default_factory=dict)

    def bench(self, uri: str, sets: Sequence[str] = ()) -> Bench:
        """Put a copy of a drive on a bench of its own, for a procedure of the paper."""
        return Bench(self._device(uri, sets), BUDGET, self.seed)

    def finding(self, name: str, uri: str, sets: Sequence[str] = ()) -> Finding:
        """Ask the probes that answer a property, after those they build on."""
        key = (uri, tuple(sets))
        answers = self._found.setdefault(key, {})
        if name not in answers:
            answering = registry.answering()
            chosen = answering.get(name, [])
            first = [probe for each in _BUILT_ON.get(name, ()) for probe in answering.get(each, ())]
            order = [probe for probe in registry.every() if probe in {*first, *chosen}]
            found = session.run(order, self._device(uri, sets), BUDGET, self.seed)
            answers |= {each.name: each for each in found}
        return answers[name]

    def truth(self, name: str, uri: str, sets: Sequence[str] = ()) -> Truth | None:
        """Read off a preset's file what is true of it; None for a drive that is no preset."""
        if self.target is not None:
            return None
        return truths_of_file(uri, sets)[name]

    def _device(self, uri: str, sets: Sequence[str]) -> Device:
        if self.target is not None:
            return self.target.fork() if self.target.info.snapshot else self.target
        key = (uri, tuple(sets))
        if key not in self._open:
            self._open[key] = open_target(uri, sets=tuple(sets), seed=self.seed).device
        return self._open[key].fork()


def truths_of_file(uri: str, sets: Sequence[str] = ()) -> dict[str, Truth]:
    """Give what follows from a preset's file, by property."""
    values = _flat(resolve_drive(uri, sets))
    return configured(values, shape_of(values))


def _flat(drive: Mapping[str, Any]) -> dict[str, Any]:
    tables = {key: value for key, value in drive.items() if isinstance(value, dict)}
    plain = {key: value for key, value in drive.items() if key not in tables}
    return plain | {
        f"{table}.{key}": value for table, keys in tables.items() for key, value in keys.items()
    }


@dataclass(frozen=True)
class Question:
    """A property of a drive, as the paper and its procedure answer it.

    Attributes
    ----------
    what
        The words of the row.
    paper, literal
        What the paper found, and what its procedure finds here; None: it gives no answer.
    scale
        Values are bytes; the row shows them divided by this, in `unit`.
    because, tried
        Why the paper, its procedure and the probe do not all say the same, where that is known,
        and the run that shows it.
    """

    what: str
    name: str
    paper: Value | None
    literal: Value | None
    unit: str = ""
    scale: int = 1
    because: str = ""
    tried: str = ""


def answered(question: Question, finding: Finding, truth: Truth | None) -> Claim:
    """Make the row of a question.

    It agrees if the probe is right and paper and procedure say the same as it; it is explained if
    they do not, or if the probe refuses an answer, and the question says why; otherwise it differs.
    A probe that misses what is there is wrong, too.
    """
    value = finding.value if isinstance(finding, Detected) else None
    missed = truth is not None and truth.present and isinstance(finding, Absent)
    wrong = (
        truth is not None and value is not None and not judged_right(question.name, truth, value)
    )
    same = value is not None and all(
        each is None or judged_right(question.name, Truth(value), each)
        for each in (question.paper, question.literal)
    )
    same = same and question.literal is not None
    if wrong or missed:
        verdict, why = Verdict.DIFFERS, "the probe's answer is not what the drive's file says"
    elif same:
        verdict, why = Verdict.AGREES, ""
    else:
        verdict = Verdict.EXPLAINED if question.because else Verdict.DIFFERS
        why = question.because or UNKNOWN
    shown: dict[str, Value] = {
        "paper": "not said" if question.paper is None else _shown(question, question.paper),
        "ours": refusal(finding) if value is None else _shown(question, value),
        "literal": "no answer" if question.literal is None else _shown(question, question.literal),
    }
    if truth is not None:
        shown["truth"] = _of_file(question, truth)
    unit = question.unit
    if any(isinstance(cell, str) for cell in shown.values()):
        shown, unit = {name: _in_words(cell, unit) for name, cell in shown.items()}, ""
    return Claim(
        question.what,
        shown["paper"],
        shown["ours"],
        unit,
        verdict,
        why,
        literal=shown["literal"],
        truth=shown.get("truth"),
        tried=question.tried if verdict == Verdict.EXPLAINED else "",
    )


def _in_words(cell: Value, unit: str) -> str:
    return cell if isinstance(cell, str) else f"{cell:g} {unit}".strip()


def _shown(question: Question, value: Value) -> Value:
    if isinstance(value, str):
        return value
    scaled = round(value / question.scale, 4)
    return int(scaled) if scaled == int(scaled) else scaled


def _of_file(question: Question, truth: Truth) -> Value:
    return "absent" if truth.value is None else _shown(question, truth.value)


def refusal(finding: Finding) -> str:
    """Say why a finding gives no value."""
    if isinstance(finding, Undetectable):
        return f"cannot be told: {str(finding.reason).replace('_', ' ')}"
    if isinstance(finding, Ambiguous):
        return f"one of {', '.join(str(each) for each in finding.candidates)}"
    return "absent"


def value_of(finding: Finding) -> Value | None:
    """Return the value that was detected; None where there is none."""
    return finding.value if isinstance(finding, Detected) else None

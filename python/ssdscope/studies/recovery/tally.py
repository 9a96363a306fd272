"""What many judged drives come to: the table per property, and the bars of the study."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ssdscope.recovery.blind import Probed
from ssdscope.recovery.judge import WRONG, Judgement, Outcome
from ssdscope.recovery.sources import Source
from ssdscope.recovery.truth import KINDS
from ssdscope.recovery.truth_of_disks import DISK_KINDS, EVERY_KIND
from ssdscope.studies.record import Claim, Table, Verdict

COVERED_BARS = (0.93, 0.97)
"""Of intervals for nominal 95 %: more is padding."""
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
class Bars:
    """What drives of a generator are held against, as shares.

    Attributes
    ----------
    wrong
        Of all answers, at most.
    detected
        Of what is observable, at least.
    observable
        Of what is present, at least.
    """

    wrong: float
    detected: float
    observable: float


BARS: Mapping[Source, Bars] = {
    Source.FIRST: Bars(wrong=0.001, detected=0.95, observable=0.75),
    Source.SECOND: Bars(wrong=0.003, detected=0.85, observable=0.65),
}
FALSE_CLAIMS_MOST = 1
"""About flash, on targets without."""


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


def names_of(drives: Sequence[Probed]) -> list[str]:
    """List what was asked of them: the findings of hard disks where there are some."""
    asked = {judged.name for drive in drives for judged in drive.judgements}
    return [name for name in EVERY_KIND if name in KINDS or name in asked]


def table(drives: Sequence[Probed]) -> Table:
    """Lay out one row per property, and their sum."""
    rows = [of_property(drives, name).row(name) for name in names_of(drives)]
    return Table(COLUMNS, (*rows, of_all(drives).row("all")))


def claims(source: Source, drives: Sequence[Probed]) -> list[Claim]:
    """Hold targets of a source against its bars."""
    match source:
        case Source.FLAT:
            return _flat_claims(drives)
        case Source.WITHOUT_FLASH:
            return _claims_without_flash(drives)
    return _drawn_claims(BARS[source], drives)


def _drawn_claims(bars: Bars, drives: Sequence[Probed]) -> list[Claim]:
    tally = of_all(drives)
    covered, of_them = tally.intervals
    width = tally.median_width
    return [
        _wrong(tally, f"wrong answers on {len(drives)} drives", bars.wrong),
        _share("observable properties detected", bars.detected, tally.found, tally.observable),
        _share("present properties that are observable", bars.observable, tally.observable,
               tally.present),
        _covering(covered, of_them),
        Claim(
            "median width of the intervals",
            f"at most {100 * WIDTH_BAR:.0f} %",
            "-" if width is None else f"{100 * width:.1f} %",
            "",
            *_verdict(width is not None and width <= WIDTH_BAR, "the intervals are too wide"),
        ),
        *_unbroken(drives),
    ]  # fmt: skip


def _flat_claims(drives: Sequence[Probed]) -> list[Claim]:
    """Hold flat drives against the bar: nothing is detected but what every drive has."""
    return [_wrong(of_all(drives), f"false detections on {len(drives)} flat drives"),
            *_unbroken(drives)]  # fmt: skip


def _claims_without_flash(drives: Sequence[Probed]) -> list[Claim]:
    """Hold targets without flash against the bar; hard disks have findings of their own."""
    of_flash = sum(of_property(drives, name).wrong for name in KINDS)
    claims = [
        Claim(
            f"false claims about flash on {len(drives)} targets without",
            f"at most {FALSE_CLAIMS_MOST}", of_flash, "",
            *_verdict(of_flash <= FALSE_CLAIMS_MOST, "listed in the notes"),
        )
    ]  # fmt: skip
    of_disks = Tally(tuple(j for drive in drives for j in drive.judgements if j.name in DISK_KINDS))
    if of_disks.judgements:
        claims.append(_wrong(of_disks, "wrong findings of hard disks"))
    return [*claims, *_unbroken(drives)]


def _wrong(tally: Tally, what: str, most: float = 0.0) -> Claim:
    judged = len(tally.judgements) - tally.count(Outcome.UNDETECTABLE) - tally.count(Outcome.MISSED)
    # With none wrong of n, the rate lies below 3/n at 95 %.
    bound = f"; below {300 / judged:.2g} % at 95 %" if judged and not tally.wrong else ""
    ours = f"{tally.wrong} of {judged}{bound}"
    bar = f"at most {100 * most:.1f} %" if most else "0"
    good = tally.wrong <= most * judged
    return Claim(what, bar, ours, "", *_verdict(good, "listed in the notes"))


def _share(what: str, bar: float, count: int, of_them: int) -> Claim:
    share = count / of_them if of_them else 0.0
    ours = f"{100 * share:.1f} % ({count} of {of_them})"
    good = of_them > 0 and share >= bar
    return Claim(what, f"at least {100 * bar:.0f} %", ours, "", *_verdict(good, "below the bar"))


def _covering(count: int, of_them: int) -> Claim:
    low, high = COVERED_BARS
    share = count / of_them if of_them else 0.0
    why = "the intervals are too narrow" if share < low else "the intervals are too wide"
    return Claim(
        "intervals that cover, nominally 95 %",
        f"{100 * low:.0f} to {100 * high:.0f} %",
        f"{100 * share:.1f} % ({count} of {of_them})",
        "",
        *_verdict(of_them > 0 and low <= share <= high, why),
    )


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
    for name in names_of(drives):
        missed = [
            drive.label
            for drive in drives
            for each in drive.judgements
            if each.name == name and each.outcome == Outcome.MISSED
        ]
        found += [f"missed: {name} of {', '.join(missed)}"] if missed else []
    again = "repeat one drive: ssdscope reproduce recovery --only SEED:INDEX"
    return [*found, again] if found else []

"""Numbers and findings as a reader wants them."""

from collections.abc import Iterable, Mapping
from typing import Any

from ssdscope.findings import (
    Absent,
    Ambiguous,
    Contrast,
    Detected,
    Exhibit,
    Finding,
    Fit,
    Line,
    Partition,
    Period,
    Recurrence,
    Step,
    Undetectable,
)
from ssdscope.plots.style import PATTERN_LOOK
from ssdscope.units import format_binary, format_capacity, significant

KINDS = {
    "simulated": "simulated drive",
    "file": "regular file",
    "block": "block device",
    "raid0": "RAID-0",
    "null": "null device",
}
_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
DIGITS_OF_FINDINGS = 4
"""Of values and intervals alike, so that the one lies in the other as written."""
FEW_CLASSES = 4
"""That a sentence names one by one."""
NOTHING = "\N{EN DASH}"
OUTCOME_MARKS = {"detected": "✓", "absent": "○", "ambiguous": "?", "undetectable": "∅"}
NOT_TRIED, NOT_TRIED_MARK = "not tried", "·"
"""Of what the budget left out: that it cannot be told, nobody has seen."""


def time(time_ns: float | None, digits: int = 3) -> str:
    """Write a time with three digits: 82.4 µs."""
    if time_ns is None:
        return NOTHING
    scale, unit = next((s, u) for s, u in _TIME_UNITS if abs(time_ns) >= s or s == 1)
    return f"{significant(time_ns / scale, digits)} {unit}"


def size(size_bytes: float) -> str:
    """Write a binary size: 4 KiB."""
    return format_binary(size_bytes)


def bandwidth(bytes_per_s: float | None) -> str:
    """Write a rate in decimal units, as drives are sold: 520 MB/s."""
    if bytes_per_s is None:
        return NOTHING
    for unit, scale in (("TB/s", 1e12), ("GB/s", 1e9)):
        if bytes_per_s >= scale:
            return f"{significant(bytes_per_s / scale)} {unit}"
    return f"{significant(bytes_per_s / 1e6)} MB/s"


def iops(value: float | None) -> str:
    """Write a rate of requests: 98.2 k."""
    if value is None:
        return NOTHING
    for unit, scale in (("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{significant(value / scale)} {unit}"
    return significant(value)


def of_unit(number: float, unit: str) -> str:
    """Write a value with the unit of an axis."""
    match unit:
        case "bytes":
            return size(number)
        case "ns":
            return time(number)
        case "bytes/s":
            return bandwidth(number)
        case "iops":
            return iops(number)
    return significant(number, DIGITS_OF_FINDINGS)


def factor(ratio: float) -> str:
    """Write how many times one is another: 1.3, 12, 310."""
    return f"{ratio:.2g}" if ratio < 10 else f"{float(f'{ratio:.3g}'):,.0f}"


def percent(share: float) -> str:
    """Write a share: 4.2 %."""
    return f"{significant(100 * share)} %"


def at_most(said: str, row: Mapping[str, Any]) -> str:
    """Say a latency as what it is: an upper bound where the machine kept us waiting."""
    return _bound("at most", said, row)


def at_least(said: str, row: Mapping[str, Any]) -> str:
    """Say a rate as what it is: a lower bound where the machine kept us waiting."""
    return _bound("at least", said, row)


def _bound(what: str, said: str, row: Mapping[str, Any]) -> str:
    share = row.get("waited_share")
    return f"{what} {said} ({percent(share)} waiting)" if share else said


def most(said: str, row: Mapping[str, Any]) -> str:
    """Write a latency in a cell: with a sign where the machine kept us waiting."""
    return _signed("≤", said, row)


def least(said: str, row: Mapping[str, Any]) -> str:
    """Write a rate in a cell: with a sign where the machine kept us waiting."""
    return _signed("≥", said, row)


def _signed(sign: str, said: str, row: Mapping[str, Any]) -> str:
    return f"{sign} {said}" if row.get("waited_share") else said


def bounds(rows: Iterable[Mapping[str, Any]]) -> str:
    """Say what the signs of `most` and `least` mean; nothing where there are none."""
    every = list(rows)
    held = [row["waited_share"] for row in every if row.get("waited_share")]
    if not held:
        return ""
    share = percent(max(held))
    what = f"{len(held)} of {len(every)} are bounds (≤, ≥)"
    return f"{what}: the machine kept them waiting for up to {share} of their time."


def kind(name: str) -> str:
    """Name the kind of a target."""
    return KINDS.get(name, name)


def capacity(capacity_bytes: int) -> str:
    """Write a capacity in decimal units."""
    return format_capacity(capacity_bytes)


def pattern(rw: str, sort: str = "") -> str:
    """Name an access pattern, and of writes whether they are a burst or kept up."""
    return PATTERN_LOOK[rw][2] + (f", {sort}" if sort in ("burst", "sustained") else "")


def span(low_ns: float, high_ns: float) -> str:
    """Write an interval of times in one unit: 99.1 to 112 ms."""
    scale, unit = next((s, u) for s, u in _TIME_UNITS if abs(high_ns) >= s or s == 1)
    return f"{significant(low_ns / scale)} to {significant(high_ns / scale)} {unit}"


def in_a_sentence(name: str) -> str:
    """Begin a name with a small letter, unless it is an abbreviation: RMW unit, read cache."""
    first, _, _ = name.partition(" ")
    return name if first.upper() == first else name[0].lower() + name[1:]


def value(finding: Finding) -> str:
    """Write the answer of a finding."""
    unit = finding.unit
    match finding:
        case Detected():
            return _with_unit(finding.value, unit)
        case Absent():
            return finding.about.absence
        case Ambiguous():
            return " or ".join(_with_unit(each, unit) for each in finding.candidates)
    return NOTHING


def interval(finding: Finding) -> str:
    """Write the interval of a finding, its unit once."""
    if finding.interval is None:
        return NOTHING
    low, high = finding.interval
    scale, unit = 1.0, "ns/B" if finding.unit == "ns/byte" else ""
    if finding.unit == "bytes":
        return f"{size(low)} … {size(high)}"
    if finding.unit == "ns":
        scale, unit = next((s, u) for s, u in _TIME_UNITS if abs(high) >= s or s == 1)
    ends = (significant(end / scale, DIGITS_OF_FINDINGS) for end in (low, high))
    return f"{' … '.join(ends)} {unit}".strip()


def written(finding: Finding) -> str:
    """Say how much its probe had written by then, preparation included."""
    return capacity(finding.bytes_written) if finding.bytes_written else NOTHING


def remark(finding: Finding) -> str:
    """Say what a reader must know besides the value."""
    parts = []
    if isinstance(finding, Undetectable):
        parts.append(finding.in_words())
    elif finding.reason:
        parts.append(finding.reason)
    if isinstance(finding, Detected):
        parts += [
            f"holds from {size(fit.first)} to {size(fit.last)}; beyond, latency does not follow "
            "this line"
            for shown in finding.evidence.exhibits
            for fit in shown.fitted
            if isinstance(fit, Line) and fit.last < shown.span[1]
        ]
    figures = finding.evidence.figures
    if figures.get("blocks_dropped"):
        dropped, blocks = figures["blocks_dropped"], figures["blocks"]
        parts.append(f"{dropped} of {blocks} blocks dropped as disturbed")
    return "; ".join(parts)


def fitted(shown: Exhibit) -> str:
    """Say what was fitted to an exhibit, a sentence for each."""
    return " ".join(said for each in shown.fitted if (said := _of_fit(each, shown)))


def _of_fit(fit: Fit, shown: Exhibit) -> str:
    """Say what one kind of fit means; a course speaks for itself."""
    unit = shown.x.unit
    match fit:
        case Line():
            said = f"The line misses them by {percent(fit.error)} (root mean square)."
            if fit.last >= shown.span[1]:
                return said
            first, last = of_unit(fit.first, unit), of_unit(fit.last, unit)
            return f"{said} It holds from {first} to {last}; dashed beyond."
        case Step():
            return f"{fit.word[0].upper()}{fit.word[1:]}: {of_unit(fit.at, unit)}."
        case Period():
            after = f", from {of_unit(fit.phase, unit)} on" if fit.phase else ""
            return f"It repeats after {of_unit(fit.period, unit)}{after}."
        case Recurrence():
            return f"Waits return after {of_unit(fit.every, unit)}."
        case Contrast():
            ends = (
                "" if fit.low is None or fit.high is None
                else f" ({fit.low:.3g} … {fit.high:.3g})"
            )  # fmt: skip
            return f"Ratio of {fit.one} to {fit.other}: {fit.ratio:.3g}{ends}."
        case Partition():
            return _classes(fit)
    return ""


def _classes(fit: Partition) -> str:
    """Say how many belong to each class; of many classes, between what counts."""
    counts = [len(each) for each in fit.members]
    if len(counts) > FEW_CLASSES:
        return f"{len(counts)} classes of {min(counts)} to {max(counts)} each."
    told = ", ".join(f"{name}: {count}" for name, count in zip(fit.names, counts, strict=True))
    return f"{told[0].upper()}{told[1:]}."


def _with_unit(number: float | str, unit: str) -> str:
    if isinstance(number, str):
        return number
    if unit == "ns":
        return time(number, DIGITS_OF_FINDINGS)
    if unit == "bytes":
        return size(number)
    if unit == "ns/byte":
        rate = f" ({bandwidth(1e9 / number)})" if number > 0 else ""
        return f"{significant(number, DIGITS_OF_FINDINGS)} ns/B{rate}"
    counted = unit.removesuffix("s") if number == 1 else unit
    return f"{significant(number)} {counted}".strip()

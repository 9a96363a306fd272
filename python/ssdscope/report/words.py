"""Numbers and findings as a reader wants them."""

from collections.abc import Mapping
from typing import Any

from ssdscope.plots.style import PATTERN_LOOK
from ssdscope.probes.reasons import in_words
from ssdscope.units import format_capacity

PROPERTY_NAMES = {
    "read_latency_alpha_ns": ("Read latency per request", "alpha"),
    "read_latency_beta_ns_per_byte": ("Read latency per byte", "beta"),
    "queue_depth_knee": ("Queue-depth knee", "depth that gives 90 % of the plateau"),
    "read_ahead_bytes": ("Read-ahead", "fetched beyond a row of reads"),
    "read_cache_bytes": ("Read cache", "size"),
    "read_cache_unit_bytes": ("Read cache unit", "what one miss brings in"),
    "map_zone_bytes": ("Map zone", "span of one part of the mapping table"),
    "map_cache_bytes": ("Map cache", "addresses whose mapping stays in RAM"),
    "interleave_degree": ("Interleave degree", "units that read at the same time"),
    "placement": ("Placement", "of a large unit over the channels"),
    "placement_pages": ("Placement k", "pages in a row on a channel"),
    "rmw_unit_bytes": ("RMW unit", "smallest span rewritten by a small write"),
    "alignment_phase_bytes": ("Alignment phase", "where units begin"),
    "merge_unit_bytes": ("Merge unit", "span of a data or log block"),
    "write_buffer_bytes": ("Write buffer", "size"),
    "write_buffer_unit_bytes": ("Write buffer unit", "room that the smallest write takes"),
    "allocation": ("Allocation", "by the order of writing, or by address"),
    "internal_volume_bits": ("Internal volumes", "address bits that choose one"),
    "pslc_bytes": ("Fast region (pSLC)", "written at full speed when idle and empty"),
    "trim_effect": ("Effect of TRIM", "on the settled rate of random writes"),
    "over_provisioning_ratio": ("Over-provisioning", "spare space over exported space"),
    "gc_write_amplification": ("Write amplification", "of settled uniform random writes"),
    "gc_period_bytes": ("GC period", "written between two collections"),
    "idle_gc_onset_ns": ("Idle collection", "quiet time after which it begins"),
    "reclaim_unit_bytes": ("Reclaim unit", "collected and erased as one"),
    "open_units": ("Open units", "streams written side by side without loss"),
}
"""Name and explanation of each property; one without a line here is shown by its key."""

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
NOTHING = "\N{EN DASH}"
OUTCOME_MARKS = {"detected": "✓", "absent": "○", "ambiguous": "?", "undetectable": "∅"}


def time(time_ns: float | None, digits: int = 3) -> str:
    """Write a time with three digits: 82.4 µs."""
    if time_ns is None:
        return NOTHING
    scale, unit = next((s, u) for s, u in _TIME_UNITS if abs(time_ns) >= s or s == 1)
    return f"{_digits(time_ns / scale, digits)} {unit}"


def size(size_bytes: float) -> str:
    """Write a binary size: 4 KiB."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes >= scale:
            return f"{_digits(size_bytes / scale)} {unit}"
    return f"{size_bytes:g} B"


def bandwidth(bytes_per_s: float) -> str:
    """Write a rate in decimal units, as drives are sold: 520 MB/s."""
    for unit, scale in (("TB/s", 1e12), ("GB/s", 1e9)):
        if bytes_per_s >= scale:
            return f"{_digits(bytes_per_s / scale)} {unit}"
    return f"{_digits(bytes_per_s / 1e6)} MB/s"


def iops(value: float) -> str:
    """Write a rate of requests: 98.2 k."""
    for unit, scale in (("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{_digits(value / scale)} {unit}"
    return _digits(value)


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
    return _digits(number, DIGITS_OF_FINDINGS)


def percent(share: float) -> str:
    """Write a share: 4.2 %."""
    return f"{_digits(100 * share)} %"


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
    return f"{_digits(low_ns / scale)} to {_digits(high_ns / scale)} {unit}"


def value(finding: Mapping[str, Any]) -> str:
    """Write the answer of a finding."""
    unit = finding["unit"]
    match finding["outcome"]:
        case "detected":
            return _with_unit(finding["value"], unit)
        case "absent":
            return "none"
        case "ambiguous":
            return " or ".join(_with_unit(each, unit) for each in finding["candidates"])
    return NOTHING


def interval(finding: Mapping[str, Any]) -> str:
    """Write the interval of a finding, its unit once."""
    if finding["interval"] is None:
        return NOTHING
    low, high = finding["interval"]
    scale, unit = 1.0, "ns/B" if finding["unit"] == "ns/byte" else ""
    if finding["unit"] == "bytes":
        return f"{size(low)} … {size(high)}"
    if finding["unit"] == "ns":
        scale, unit = next((s, u) for s, u in _TIME_UNITS if abs(high) >= s or s == 1)
    ends = (_digits(end / scale, DIGITS_OF_FINDINGS) for end in (low, high))
    return f"{' … '.join(ends)} {unit}".strip()


def written(finding: Mapping[str, Any]) -> str:
    """Say how much its probe had written by then, preparation included."""
    return capacity(finding["bytes_written"]) if finding["bytes_written"] else NOTHING


def remark(finding: Mapping[str, Any]) -> str:
    """Say what a reader must know besides the value."""
    parts = []
    evidence = finding["evidence"]
    if finding["outcome"] == "undetectable":
        parts.append(in_words(finding))
    elif finding["reason"]:
        parts.append(str(finding["reason"]))
    if finding["outcome"] == "detected" and not evidence.get("linear_everywhere", True):
        low, high = evidence["linear_region_bytes"]
        parts.append(
            f"holds from {size(low)} to {size(high)}; beyond, latency does not follow this line"
        )
    if evidence.get("blocks_dropped"):
        parts.append(
            f"{evidence['blocks_dropped']} of {evidence['blocks']} blocks dropped as disturbed"
        )
    return "; ".join(parts)


def _with_unit(number: float | str, unit: str) -> str:
    if isinstance(number, str):
        return number
    if unit == "ns":
        return time(number, DIGITS_OF_FINDINGS)
    if unit == "bytes":
        return size(number)
    if unit == "ns/byte":
        rate = f" ({bandwidth(1e9 / number)})" if number > 0 else ""
        return f"{_digits(number, DIGITS_OF_FINDINGS)} ns/B{rate}"
    counted = unit.removesuffix("s") if number == 1 else unit
    return f"{_digits(number)} {counted}".strip()


def _digits(number: float, digits: int = 3) -> str:
    """Significant digits, without an exponent where a reader would not write one."""
    text = f"{number:.{digits}g}"
    return f"{number:,.0f}" if "e" in text and 1 <= abs(number) < 1e15 else text

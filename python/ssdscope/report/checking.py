"""Checks of a document that is read back: what no report holds is refused with its place.

A report may have been edited by hand, or written by another program. What reads it further on,
the twin, advice, placements, comparisons, can then rely on the types and the signs of its numbers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ssdscope.findings import Detected, Findings
from ssdscope.findings.reading import listed, mapping, number, refuse, text
from ssdscope.report.survey import SPLITS
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads.workload import PATTERNS

BITS = "internal_volume_bits"
"""A list of numbers, as a text."""
SPANS = (
    "rmw_unit_bytes", "merge_unit_bytes", "map_zone_bytes", "map_cache_bytes",
    "alignment_phase_bytes",
)  # fmt: skip
"""Properties that are a part of the drive's addresses, and no larger than all of them."""
SIGNED = ("read_latency_beta_ns_per_byte",)
"""Slopes, which noise may turn below zero."""


def require_sound(document: Mapping[str, Any], info: DeviceInfo, found: Findings) -> None:
    """Refuse a document whose parts hold what nobody could have measured.

    Raises
    ------
    UsageError
        With the place in it.
    """
    for at, finding in enumerate(found.values()):
        if isinstance(finding, Detected):
            _value(finding, info, f"findings[{at}].value ({finding.name})")
    measured = document["performance"]
    for name, check in _ROWS.items():
        for at, row in enumerate(listed(measured.get(name, []), f"performance.{name}")):
            where = f"performance.{name}[{at}]"
            check(mapping(row, where), where)
    for name in ("over_time", "trace"):
        if measured.get(name) is not None:
            mapping(measured[name], f"performance.{name}")
    for name in ("models", "advice"):
        for at, row in enumerate(document[name]):
            mapping(row, f"{name}[{at}]")
    _twin(document.get("twin"))


def require_info(info: DeviceInfo, where: str) -> None:
    """Refuse facts of a drive that are of other types than a drive's."""
    for name in ("capacity_bytes", "logical_block_bytes"):
        _whole(getattr(info, name), f"{where}.{name}", least=1)
    for name in ("kind", "clock"):
        text(getattr(info, name), f"{where}.{name}")
    for name in ("writable", "discard", "attribution", "snapshot"):
        _truth(getattr(info, name), f"{where}.{name}")


def _value(finding: Detected, info: DeviceInfo, where: str) -> None:
    """Check a value against what it can be: a word of its own, or a number of the right size."""
    if words := finding.about.words:
        if finding.value not in words:
            refuse(where, f"expected one of {', '.join(words)}")
        return
    if finding.name == BITS and all(
        each.strip().isdecimal() for each in str(finding.value).split(",")
    ):
        return
    if isinstance(finding.value, str):
        refuse(where, "expected a number, not a text")
    if not math.isfinite(finding.value) or (finding.value < 0 and finding.name not in SIGNED):
        refuse(where, f"{finding.value:g} is no value of it")
    if finding.name in SPANS and finding.value > info.capacity_bytes:
        most = f"{info.capacity_bytes:,} bytes"
        refuse(where, f"{finding.value:,.0f} is more than the drive holds, {most}")


def _workload(row: Mapping[str, Any], where: str) -> None:
    _pattern(row, where)
    for name in ("block_bytes", "iodepth"):
        _whole(row.get(name), f"{where}.{name}", least=1)
    _figures(row, where, ("mean_ns", "iops", "bandwidth_bytes_per_s"))


def _point(row: Mapping[str, Any], where: str) -> None:
    _workload(row, where)
    if row.get("split") not in SPLITS:
        refuse(f"{where}.split", f"expected one of {', '.join(SPLITS)}")


def _sustained(row: Mapping[str, Any], where: str) -> None:
    _workload(row, where)
    _truth(row.get("reached"), f"{where}.reached")


def _distribution(row: Mapping[str, Any], where: str) -> None:
    _pattern(row, where)
    text(row.get("name"), f"{where}.name")
    if row.get("failure") is None:
        for name in ("latency_ns", "exceeded"):
            for at, each in enumerate(listed(row.get(name), f"{where}.{name}")):
                _positive(each, f"{where}.{name}[{at}]", zero=True)


def _pattern(row: Mapping[str, Any], where: str) -> None:
    if text(row.get("rw"), f"{where}.rw") not in PATTERNS:
        refuse(f"{where}.rw", f"there is no pattern {row['rw']!r}")


def _figures(row: Mapping[str, Any], where: str, names: Sequence[str]) -> None:
    """Check figures, which are there unless the row says why not."""
    if row.get("failure") is not None:
        text(row["failure"], f"{where}.failure")
    for name in names:
        if row.get(name) is not None:
            _positive(row[name], f"{where}.{name}")


def _twin(twin: Any) -> None:
    if twin is None:
        return
    known = mapping(twin, "twin")
    if "toml" not in known:
        text(known.get("reason"), "twin.reason")
        return
    text(known["toml"], "twin.toml")
    if known.get("errors") is not None:
        for name in ("median_ape", "p90_ape"):
            errors = mapping(known["errors"], "twin.errors")
            _positive(errors.get(name), f"twin.errors.{name}", zero=True)


def _positive(value: Any, where: str, *, zero: bool = False) -> None:
    found = number(value, where)
    if not (math.isfinite(found) and (found > 0 or (zero and found == 0))):
        refuse(where, f"expected a number above 0, not {'null' if value is None else f'{found:g}'}")


def _whole(value: Any, where: str, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        refuse(where, f"expected a whole number of at least {least}")


def _truth(value: Any, where: str) -> None:
    if not isinstance(value, bool):
        refuse(where, "expected true or false")


_ROWS: dict[str, Callable[[Mapping[str, Any], str], None]] = {
    "points": _point,
    "sustained": _sustained,
    "distributions": _distribution,
}

"""The drive in six lines: what it is, what it does, and how it was measured."""

from collections.abc import Iterator, Mapping
from typing import Any

from ssdscope.findings import Detected, Findings
from ssdscope.report import words
from ssdscope.report.parts import Document, best_known, measured

Line = tuple[str, str]
INSIDE = (
    "merge_unit_bytes", "reclaim_unit_bytes", "rmw_unit_bytes", "write_buffer_bytes",
    "read_cache_bytes", "map_zone_bytes", "interleave_degree", "over_provisioning_ratio",
    "pslc_bytes", "rotation_ns", "seek_full_ns", "disk_cache_bytes",
)  # fmt: skip
"""Properties that a line about the inside names, where they were detected."""


def lines(document: Document, found: Findings) -> list[Line]:
    """Give the six lines; one that nothing is known for says so."""
    return [
        ("Drive", _drive(document)),
        ("Size", _size(document)),
        ("Reads", _reads(document)),
        ("Writes", _writes(document)),
        ("Inside", _inside(found)),
        ("Measured", _how(document)),
    ]


def _drive(document: Document) -> str:
    """Name a real drive by its own words; a simulated one by its file's."""
    target = document["target"]
    told = target.get("declared")
    if not told:
        drive = target["drive"] or {}
        said = f": {drive['description']}" if drive.get("description") else ""
        state = f", state {target['state']}" if target["state"] else ""
        return f"{words.kind(target['kind'])}{state}{said}"
    health = told.get("health") or {}
    heat = health.get("celsius")
    parts = [
        told.get("model") or f"{words.kind(target['kind'])} on {told.get('device') or 'a drive'}",
        told.get("firmware") and f"firmware {told['firmware']}",
        told.get("serial") and f"serial {told['serial']}",
        heat is not None and f"{heat} °C",
        document["provenance"].get("kernel"),
    ]
    return " · ".join(str(each) for each in parts if each)


def _size(document: Document) -> str:
    info = document["target"]["info"]
    capacity = words.capacity(info["capacity_bytes"])
    parts = [f"{capacity} in blocks of {words.size(info['logical_block_bytes'])}"]
    access = document["target"].get("access")
    if access and access.get("window"):
        parts.append(f"of which {words.capacity(access['window'][1])} were measured")
    parts.append("discards" if info["discard"] else "no discards")
    parts.append(_switch("write", info["write_cache"]))
    return ", ".join(parts)


def _switch(name: str, cache: Mapping[str, Any]) -> str:
    if cache["control"] == "unknown":
        return f"{name} cache unknown"
    return f"{name} cache {'on' if cache['on'] else 'off or none'}"


def _reads(document: Document) -> str:
    alone = measured(document, rw="randread", block_bytes=4096, iodepth=1)
    parts = [f"{_latency(alone[0])} for 4 KiB at random"] if alone else []
    small = measured(document, rw="randread", block_bytes=4096)
    if small:
        best = max(small, key=lambda point: float(point["iops"]))
        parts.append(f"{_rate(best)} at depth {best['iodepth']}")
    parts += _stream([p for p in measured(document) if p["rw"] == "read"])
    return ", ".join(parts) or "not measured"


def _writes(document: Document) -> str:
    if not document["target"]["info"]["writable"]:
        return "not measured: opened for reading"
    alone = best_known(measured(document, rw="randwrite", block_bytes=4096, iodepth=1))
    parts = [f"{_latency(point)} for 4 KiB at random ({point['sort']})" for point in alone[:1]]
    kept = measured(document, rw="randwrite", block_bytes=4096, sort="sustained")
    if kept:
        best = max(kept, key=lambda point: float(point["iops"]))
        parts.append(f"{_rate(best)} sustained at depth {best['iodepth']}")
    parts += _stream([p for p in best_known(measured(document)) if p["rw"] == "write"])
    return ", ".join(parts) or "not measured"


def _stream(points: list[Mapping[str, Any]]) -> Iterator[str]:
    if points:
        best = max(points, key=lambda point: float(point["bandwidth_bytes_per_s"]))
        sort = f" ({best['sort']})" if best["sort"] == "burst" else ""
        asked = f"{words.size(best['block_bytes'])} at depth {best['iodepth']}"
        rate = words.at_least(words.bandwidth(best["bandwidth_bytes_per_s"]), best)
        yield f"{rate} in sequence, {asked}{sort}"


def _latency(point: Mapping[str, Any]) -> str:
    return words.at_most(words.time(point["mean_ns"]), point)


def _rate(point: Mapping[str, Any]) -> str:
    return words.at_least(f"{words.iops(point['iops'])} IOPS", point)


def _inside(found: Findings) -> str:
    told = [
        f"{words.in_a_sentence(each.about.name)} {words.value(each)}"
        for name in INSIDE
        if isinstance(each := found.get(name), Detected)
    ]
    detected = sum(isinstance(each, Detected) for each in found.values())
    if not found:
        return "not probed"
    return ", ".join(told) or f"{detected} of {len(found)} properties detected"


def _how(document: Document) -> str:
    given = document["provenance"]
    used = given.get("spent") or {}
    wrote = used.get("bytes_written")
    parts = [
        str(given["started"])[:10],
        f"budget {given['budget']}",
        f"{used['requests']:,} requests" if used.get("requests") else "",
        "nothing written" if wrote == 0 else f"{words.capacity(wrote)} written" if wrote else "",
    ]
    return ", ".join(each for each in parts if each)

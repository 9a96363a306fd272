"""The card, the chart, the advice and the JSON of a finding say the same, and a measurement bears
it out.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integration.small_drives import KIB, LOG_BLOCK, MIB, opened, probed

from ssdscope.advise.facts import Facts
from ssdscope.advise.knobs import partitions
from ssdscope.findings import Absent, Detected, Finding, Findings
from ssdscope.report import evidence, words
from ssdscope.report.drawing import inside
from ssdscope.targets import Device
from ssdscope.workloads.workload import Workload

SHIFTED: dict[str, Any] = {"ftl.map_unit_bytes": 16 * KIB, "ftl.phase_bytes": 4 * KIB}
ZONES: dict[str, Any] = {
    **LOG_BLOCK,
    "map.kind": '"zones"',
    "map.zone_bytes": 2 * MIB,
    "map.resident_zones": 3,
}
BUFFER: dict[str, Any] = {
    "write_buffer.bytes": 256 * KIB,
    "write_buffer.unit_bytes": 8 * KIB,
    "write_buffer.drain": '"full"',
}
DRIVES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "units that begin elsewhere": (SHIFTED, ("units",)),
    "merging": (LOG_BLOCK, ("units", "merging")),
    "zones of the map": (ZONES, ("table",)),
    "a table that is all in RAM": ({}, ("table", "latency")),
    "a buffer": (BUFFER, ("buffer",)),
    "a read cache": ({"read_cache.bytes": MIB, "read_cache.unit_bytes": 16 * KIB}, ("caches",)),
}
"""Drives with mechanisms, and the probes that tell them."""


def found_of(folder: Path, name: str) -> tuple[Device, Findings]:
    keys, probes = DRIVES[name]
    device = opened(folder, keys)
    told: dict[str, Finding] = {}
    for probe in probes:
        told |= probed(probe, device)
    return device, Findings(told.values())


def answers(found: Findings) -> dict[str, evidence.Answer]:
    return {each.key: each for card in evidence.cards(found) for each in card.answers}


@pytest.mark.parametrize("name", list(DRIVES))
def test_card_and_drawing_say_what_the_json_says(tmp_path: Path, name: str) -> None:
    _, found = found_of(tmp_path, name)
    said = answers(found)
    assert any(isinstance(each, Detected) for each in found.values())
    again = Findings.from_json(found.to_json())
    for each in found.values():
        assert words.value(again[each.name]) == words.value(each)
        if isinstance(each, Detected):
            assert said[each.name].value == words.value(each)
            assert said[each.name].meaning
        if isinstance(each, Absent):
            assert words.value(each) == each.about.absence
        for shown in each.evidence.exhibits:
            for axis, values in ((shown.x, "x"), (shown.y, "y")):
                _require_plausible(axis.unit, [getattr(part, values) for part in shown.series])


def _require_plausible(unit: str, series: list[Any]) -> None:
    """Times and sizes on an axis are times and sizes, and no numbers of classes."""
    every = np.concatenate([np.asarray(each, dtype=float) for each in series])
    every = every[np.isfinite(every)]
    if unit == "ns" and every.size:
        assert np.median(every) > 100, "no host sees a request of less"
    if unit == "bytes" and every.size:
        assert np.max(np.abs(every)) >= 512


def test_a_table_in_ram_serves_the_whole_drive(tmp_path: Path) -> None:
    _, found = found_of(tmp_path, "a table that is all in RAM")
    assert isinstance(found["map_cache_bytes"], Absent)
    bare = {"points": [], "sustained": []}
    drawn = inside({"target": {"info": {"capacity_bytes": MIB}}, "performance": bare}, found)
    assert drawn is not None
    assert "Map in RAM for</text>" in drawn
    after = drawn.split("Map in RAM for</text>")[1]
    assert after.split("</text>")[0].endswith(">the whole drive")


def test_partitions_begin_where_card_chart_and_advice_say_and_are_faster_there(
    tmp_path: Path,
) -> None:
    device, found = found_of(tmp_path, "units that begin elsewhere")
    card = answers(found)["alignment_phase_bytes"]
    advised = partitions.start(Facts(found, capacity_bytes=device.info.capacity_bytes))
    (period,) = (
        fit
        for shown in found["rmw_unit_bytes"].evidence.exhibits
        for fit in shown.fitted
        if hasattr(fit, "phase")
    )
    unit = int(found["rmw_unit_bytes"].value or 0)
    begin = int(period.phase)
    assert advised.value % unit == begin
    assert f"begins at {words.size(begin)}" in card.remark
    means = {start: _mean_ns(device, unit, start) for start in range(0, unit, 4 * KIB)}
    assert min(means, key=lambda start: means[start]) == begin, means
    assert sorted(means.values())[1] > 1.1 * means[begin], means


def _mean_ns(device: Device, unit: int, start: int) -> float:
    done = device.run(
        Workload(rw="randwrite", block_bytes=unit, offset_bytes=start,
                 size_bytes=16 * MIB, requests=1000, seed=5)
    )  # fmt: skip
    assert done.write is not None
    mean = float(done.write.latency_ns.mean)
    assert not math.isnan(mean)
    return mean

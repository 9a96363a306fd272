"""The card, the chart, the advice and the JSON of a finding say the same, and a measurement bears
it out.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integration.small_drives import KIB, LOG_BLOCK, MIB, opened

from ssdscope.advise.facts import Facts
from ssdscope.advise.knobs import partitions
from ssdscope.findings import Absent, Detected, Findings
from ssdscope.findings.properties import PROPERTIES
from ssdscope.probes import session
from ssdscope.probes.budget import Budget
from ssdscope.report import evidence, words
from ssdscope.report.drawing import inside
from ssdscope.targets import Device, open_target
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
REGION: dict[str, Any] = {
    "nand.blocks_per_plane": 700,
    "nand.bits_per_cell": 3,
    "over_provisioning_ratio": 0.3,
    "pslc.bytes": 24 * 4 * 21 * 4096,
    "pslc.program_ns": 120_000,
}
COLLECTING: dict[str, Any] = {
    "over_provisioning_ratio": 0.2,
    "gc.low_water_ratio": 0.02,
    "gc.high_water_ratio": 0.08,
    "gc.background": True,
    "gc.idle_ns": 20_000_000,
}
AHEAD: dict[str, Any] = {
    "read_cache.bytes": MIB,
    "read_cache.unit_bytes": 16 * KIB,
    "read_cache.read_ahead_bytes": 64 * KIB,
}
DISK = "sim:huang-hdd-s"
PAGE = 4 * KIB
UNIT = 2 * 2 * PAGE
"""A page of each die of `BASE`."""


@dataclass(frozen=True)
class Drive:
    """A drive with mechanisms, the probes that tell them, and what they have to say."""

    keys: dict[str, Any] | str
    """Of a drive file, or a target."""
    probes: tuple[str, ...]
    truths: dict[str, float | str | None]
    """None: it is told, but follows from no key."""


DRIVES = {
    "units that begin elsewhere": Drive(
        SHIFTED, ("units",), {"rmw_unit_bytes": 16 * KIB, "alignment_phase_bytes": 4 * KIB}
    ),
    "merging": Drive(LOG_BLOCK, ("units", "merging"), {"merge_unit_bytes": MIB, "open_units": 5}),
    "zones of the map": Drive(
        ZONES, ("table",), {"map_zone_bytes": 2 * MIB, "map_cache_bytes": 6 * MIB}
    ),
    "a table that is all in RAM": Drive({}, ("table", "latency"), {}),
    "a buffer": Drive(
        BUFFER,
        ("buffer",),
        {"write_buffer_bytes": 256 * KIB, "write_buffer_unit_bytes": 8 * KIB},
    ),
    "a read cache": Drive(
        AHEAD,
        ("latency", "caches"),
        {
            "read_latency_alpha_ns": None,
            "read_latency_beta_ns_per_byte": None,
            "queue_depth_knee": 6,
            "read_cache_bytes": MIB,
            "read_cache_unit_bytes": 16 * KIB,
            "read_ahead_bytes": 64 * KIB,
        },
    ),
    "a fast region": Drive(REGION, ("region",), {"pslc_bytes": REGION["pslc.bytes"]}),
    "types of pages": Drive(
        {"nand.read_by_type_ns": [30_000, 40_000, 50_000]}, ("types",), {"page_types": 3}
    ),
    "collection in idle time": Drive(
        COLLECTING,
        ("all",),
        {
            "interleave_degree": 4,
            "placement": "multi-channel",
            "placement_pages": 1,
            "internal_volume_bits": "12,13",
            "allocation": "address",
            "trim_effect": None,
            "gc_period_bytes": 64 * PAGE,
            "reclaim_unit_bytes": 64 * UNIT,
            "idle_gc_onset_ns": 20_000_000,
            # Six of 300 blocks are open or kept free.
            "over_provisioning_ratio": 1.2 * (1 - 6 / 300) - 1,
            "gc_write_amplification": None,
        },
    ),
    "a hard disk": Drive(
        DISK,
        ("disk",),
        {
            "rotation_ns": 60e9 / 5400,
            "seek_track_ns": 1e6,
            "seek_full_ns": 10e6,
            "disk_cache_bytes": 7 * MIB,
            "disk_cache_segments": 2,
        },
    ),
}


def found_of(folder: Path, name: str) -> tuple[Device, Findings]:
    keys, probes = DRIVES[name].keys, DRIVES[name].probes
    device = open_target(keys, seed=1).device if isinstance(keys, str) else opened(folder, keys)
    return device, Findings(session.run(probes, device, Budget.parse("full"), 1))


def answers(found: Findings) -> dict[str, evidence.Answer]:
    return {each.key: each for card in evidence.cards(found) for each in card.answers}


@pytest.mark.parametrize("name", list(DRIVES))
def test_card_and_drawing_say_what_the_json_says(tmp_path: Path, name: str) -> None:
    _, found = found_of(tmp_path, name)
    said = answers(found)
    for key, truth in DRIVES[name].truths.items():
        told = found[key]
        assert isinstance(told, Detected), told
        if isinstance(truth, str):
            assert told.value == truth
        elif truth is not None:
            assert told.value == pytest.approx(truth, rel=0.1)
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


def test_every_property_is_told_of_one_of_them() -> None:
    every = {key for drive in DRIVES.values() for key in drive.truths}
    # An array takes several drives: tests of its probe stripe them.
    assert every == PROPERTIES.keys() - {"array_members"}


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

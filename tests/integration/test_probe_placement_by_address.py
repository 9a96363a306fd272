"""The probe `allocation` on drives whose inside is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.laid_out_drives import DEFAULT, PAGE_MAPPED, drive

from ssdscope.findings import Detected, Finding, Reason, Undetectable
from ssdscope.probes import allocation, registry, session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.targets import Device


def told(name: str, device: Device, *before: str) -> Finding:
    found = session.run([*before, name], device, DEFAULT, 1)
    planned = sum(
        probe.planned_writes_bytes(device.info)
        for each in (*before, name)
        for probe in registry.choose(each, DEFAULT)
    )
    assert max(each.bytes_written for each in found) <= planned
    return found[-1]


@pytest.mark.parametrize(
    ("ftl", "before", "answer"),
    [
        ('kind = "page"\nallocation = "order"', (), "order"),
        ('kind = "page"\nallocation = "address"', ("dies",), "address"),
        ('kind = "page"\nallocation = "order"\nplacement_pages = 2', ("units",), "order"),
        ('kind = "log-block"\nmerge_unit_bytes = 1048576', ("merging",), "address"),
    ],
)
def test_allocation(tmp_path: Path, ftl: str, before: tuple[str, ...], answer: str) -> None:
    found = told("allocation", drive(tmp_path, ftl), *before)
    assert isinstance(found, Detected)
    assert found.value == answer


def test_planes_that_keep_step_since_a_fill_are_no_order(tmp_path: Path) -> None:
    """One command reads what was written in order from four planes, until they are out of step."""
    ftl = (
        'kind = "page"\nallocation = "address"\nplane_order = "CPWD"\n'
        "[scheduler]\ndie_interleave = false"
    )
    dies: dict[str, int | str] = {"channels": 1, "planes": 4, "blocks": 160, "more": "dies = 2\n"}
    found = told_of_page_mapped(drive(tmp_path, ftl, **dies))
    assert not (isinstance(found, Detected) and found.value == "order")


BY_ORDER = 'kind = "page"\nallocation = "order"'
BUFFER = """
[write_buffer]
bytes = 1_228_800
unit_bytes = 8192
drain = "idle"
idle_ns = 1_500_000
order = "sequential-runs"
switchable = false
"""
TWO_PLANES = {"planes": 2, "more": "bits_per_cell = 2\n"}
ONE_BIT = """
[pslc]
bytes = 6_291_456
read_ns = 25_000
program_ns = 150_000
fold_when_idle = false
"""


@pytest.mark.parametrize(
    ("ftl", "changes", "answer"),
    [
        # A buffer that puts writes in order, and cannot be switched off.
        (BY_ORDER + BUFFER, {}, "order"),
        # Reads of what was written last are quicker, whichever region that is.
        (
            'kind = "page"\nallocation = "address"' + ONE_BIT,
            TWO_PLANES,
            "address",
        ),
        # Runs of eight pages: what is written in order lies in fewer places.
        (BY_ORDER + "\nplacement_pages = 8", {"channels": 8}, "order"),
    ],
)
def test_order_and_address_where_other_things_matter_too(
    tmp_path: Path, ftl: str, changes: dict[str, int | str], answer: str
) -> None:
    found = told_of_page_mapped(drive(tmp_path, ftl, **changes))
    assert isinstance(found, Detected)
    assert found.value == answer


def told_of_page_mapped(device: Device, *more: Finding) -> Finding:
    """Give what the probe says if it is known that nothing is merged, and that dies overlap."""
    bench = Bench(device, DEFAULT, 1)
    bench.known["interleave_degree"] = Detected(
        name="interleave_degree", probe="test", value=4, interval=None, effect=1.0
    )
    bench.known["merge_unit_bytes"] = PAGE_MAPPED
    bench.known |= {each.name: each for each in more}
    with bench.allowance(allocation.writes_bytes(device.info)):
        (found,) = allocation.detect(bench)
    return found


def test_runs_of_pages_make_reads_in_order_slower(tmp_path: Path) -> None:
    ftl = BY_ORDER + "\nplacement_pages = 8\nmap_unit_bytes = 4096"
    found = told_of_page_mapped(drive(tmp_path, ftl, channels=8))
    assert found.evidence.figures["time_ratio"][0] < 0.9


@pytest.mark.parametrize(("log_blocks", "spare"), [(8, "0.25"), (60, "0.25"), (130, "0.6")])
def test_log_blocks_are_not_taken_for_placement_by_order(
    tmp_path: Path, log_blocks: int, spare: str
) -> None:
    """They may hold half of the capacity."""
    ftl = (
        f'kind = "log-block"\nmerge_unit_bytes = 1048576\nlog_blocks = {log_blocks}\n'
        'log_association = "many-to-one"'
    )
    found = told("allocation", drive(tmp_path, ftl, spare=spare))
    assert not (isinstance(found, Detected) and found.value == "order")


def test_a_trace_of_an_order_is_an_address_only_where_the_drive_is_known_to_merge(
    tmp_path: Path,
) -> None:
    """Logs leave one of 1.6 %, as orders do that show elsewhere."""
    ftl = (
        'kind = "log-block"\nmerge_unit_bytes = 1048576\nlog_blocks = 12\n'
        'log_association = "many-to-one"'
    )
    trace, known = (
        told("allocation", drive(tmp_path, ftl, blocks=1200), *before, "dies")
        for before in (("units",), ("units", "merging"))
    )
    assert isinstance(trace, Undetectable), trace
    assert trace.reason is Reason.EFFECT_BELOW_NOISE
    assert min(trace.evidence.figures["p_value"]) < 0.01
    assert isinstance(known, Detected), known
    assert known.value == "address"


def test_behind_a_region_of_one_bit_per_cell_nothing_shows_the_address(tmp_path: Path) -> None:
    ftl = 'kind = "page"\nallocation = "address"' + ONE_BIT
    region = Detected(name="pslc_bytes", probe="test", value=6 << 20, interval=None, effect=1.0)
    found = told_of_page_mapped(drive(tmp_path, ftl, **TWO_PLANES), region)
    assert isinstance(found, Undetectable), found
    assert found.reason is Reason.MASKED

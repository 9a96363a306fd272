"""The probe `order` on drives whose inside is known."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.integration.laid_out_drives import DEFAULT, PAGE_MAPPED, drive

from ssdscope.findings import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes import registry, session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.order.probe import PROBE
from ssdscope.probes.plan import Stopped
from ssdscope.targets import Device, open_target


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
        ('kind = "page"\nallocation = "address"', ("units",), "address"),
        ('kind = "page"\nallocation = "order"\nplacement_pages = 2', ("units",), "order"),
        ('kind = "log-block"\nmerge_unit_bytes = 1048576', ("merging",), "address"),
    ],
)
def test_allocation(tmp_path: Path, ftl: str, before: tuple[str, ...], answer: str) -> None:
    found = told("order", drive(tmp_path, ftl), *before)
    assert isinstance(found, Detected)
    assert found.value == answer


def test_an_order_shows_on_twenty_dies_where_one_pair_in_twenty_waits() -> None:
    device = open_target("sim:kuo-intel-mlc", sets=("nand.blocks_per_plane=256",), seed=1).device
    found = told("order", device, "units", "dies")
    assert isinstance(found, Detected)
    assert found.value == "order"


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
    """Give what the probe says if it is known that nothing is merged, and how large units are."""
    bench = Bench(device, DEFAULT, 1)
    bench.known["merge_unit_bytes"] = PAGE_MAPPED
    bench.known["rmw_unit_bytes"] = Absent(
        name="rmw_unit_bytes", probe="test", bound=0, reason="none"
    )
    bench.known |= {each.name: each for each in more}
    with bench.allowance(PROBE.own_writes_bytes(device.info)):
        (found,) = PROBE.detect(bench)
    return found


def test_what_is_written_in_a_row_may_wait_for_each_other(tmp_path: Path) -> None:
    ftl = BY_ORDER + "\nplacement_pages = 8\nmap_unit_bytes = 4096"
    found = told_of_page_mapped(drive(tmp_path, ftl, channels=8))
    assert found.evidence.figures["time_ratio"][0] > 1.1


def test_units_that_fill_all_planes_tell_nothing(tmp_path: Path) -> None:
    """Each begins on the same one, whatever decides: "address" would be a guess."""
    unit = Detected(name="rmw_unit_bytes", probe="test", value=16384, interval=None, effect=1.0)
    for allocation in ("order", "address"):
        ftl = f'kind = "page"\nallocation = "{allocation}"\nmap_unit_bytes = 16384'
        found = told_of_page_mapped(drive(tmp_path, ftl), unit)
        assert isinstance(found, Undetectable), found
        assert found.reason in (Reason.LINK_BOUND, Reason.EFFECT_BELOW_NOISE)


def test_without_the_unit_no_address_is_told(tmp_path: Path) -> None:
    """Neighbours may lie in one unit, in which the address decides in any case."""
    device = drive(tmp_path, 'kind = "page"\nallocation = "address"', blocks=1200)
    bench = Bench(device, DEFAULT, 1)
    with bench.allowance(PROBE.own_writes_bytes(device.info)):
        (found,) = PROBE.detect(bench)
    assert isinstance(found, Undetectable), found
    assert not any("neighbours" in each for each in found.evidence.figures["compared"])


def test_it_decides_alike_without_the_drive(tmp_path: Path) -> None:
    """Its series, as they were kept, are all that it decides on."""
    bench = Bench(drive(tmp_path, BY_ORDER), DEFAULT, 1)
    with bench.allowance(PROBE.own_writes_bytes(bench.info)):
        (first,) = PROBE.detect(bench)
    (again,) = PROBE.detect(bench)
    assert again == first
    bench.record.save(tmp_path / "series.npz")
    assert (tmp_path / "series.npz").stat().st_size < 200_000


@pytest.mark.parametrize(("log_blocks", "spare"), [(8, "0.25"), (60, "0.25"), (130, "0.6")])
def test_log_blocks_are_not_taken_for_placement_by_order(
    tmp_path: Path, log_blocks: int, spare: str
) -> None:
    """They may hold half of the capacity."""
    ftl = (
        f'kind = "log-block"\nmerge_unit_bytes = 1048576\nlog_blocks = {log_blocks}\n'
        'log_association = "many-to-one"'
    )
    found = told("order", drive(tmp_path, ftl, spare=spare))
    assert not (isinstance(found, Detected) and found.value == "order")


@pytest.mark.parametrize("answer", ["order", "address"])
def test_what_a_protected_buffer_holds_is_put_out_of_it(tmp_path: Path, answer: str) -> None:
    """Read from memory, all would be equally fast; and it could put neighbours in order."""
    ftl = (
        f'kind = "page"\nallocation = "{answer}"\n[write_buffer]\nbytes = 8_388_608\n'
        'drain = "full"\norder = "fifo"\npower_loss_protected = true\nswitchable = false'
    )
    buffer = Detected(
        name="write_buffer_bytes", probe="test", value=8 << 20, interval=None, effect=1.0
    )
    found = told_of_page_mapped(drive(tmp_path, ftl, blocks=1200), buffer)
    assert isinstance(found, Detected), found
    assert found.value == answer


def test_a_drive_that_is_too_small_or_may_not_be_written_is_told_so(tmp_path: Path) -> None:
    zone, cache = (
        Detected(name=name, probe="test", value=1 << 18, interval=None, effect=1.0)
        for name in ("map_zone_bytes", "map_cache_bytes")
    )
    with pytest.raises(Stopped) as small:
        told_of_page_mapped(drive(tmp_path, BY_ORDER), zone, cache)
    assert small.value.reason is Reason.RANGE_TOO_SMALL
    ask = SimpleNamespace(info=SimpleNamespace(writable=False))
    with pytest.raises(Stopped) as locked:
        next(iter(PROBE.detect(ask)))
    assert locked.value.reason is Reason.NOT_WRITABLE

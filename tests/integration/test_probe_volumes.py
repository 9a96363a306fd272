"""Which bits of the address choose between dies, on drives whose inside is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.laid_out_drives import DEFAULT, DRIVE, PAGE_MAPPED, PLAIN, drive

from ssdscope.findings import Detected, Finding, Reason, Undetectable
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import silent
from ssdscope.probes.dies import probe as dies
from ssdscope.probes.plan import Stopped
from ssdscope.probes.session import _of_one
from ssdscope.targets import Device, open_target


def told(device: Device, **sizes: int) -> Finding:
    bench = Bench(device, DEFAULT, 1)
    bench.known["merge_unit_bytes"] = PAGE_MAPPED
    for name, size in sizes.items():
        bench.known[name] = Detected(name=name, probe="test", value=size, interval=None, effect=1)
    found = {each.name: each for each in _of_one(dies.PROBE, bench, silent)}
    assert bench.bytes_written <= dies.PROBE.planned_writes_bytes(bench.info)
    return found["internal_volume_bits"]


BY_ADDRESS = 'kind = "page"\nallocation = "address"'
BY_ORDER = 'kind = "page"\nallocation = "order"'
MERGE_UNIT = 1 << 20


@pytest.mark.parametrize(
    ("ftl", "changes", "sizes", "bits"),
    [
        (BY_ADDRESS, {}, {}, "12,13"),
        (BY_ADDRESS + "\nplacement_pages = 4", {}, {}, "14,15"),
        (BY_ADDRESS, {"channels": 6, "blocks": 270}, {}, "12"),
        # Within a unit the address decides, whatever came when.
        (BY_ORDER + "\nmap_unit_bytes = 16384", {}, {"rmw_unit_bytes": 16_384}, "12,13"),
        (
            f'kind = "log-block"\nmerge_unit_bytes = {MERGE_UNIT}',
            {},
            {"merge_unit_bytes": MERGE_UNIT},
            "12,13",
        ),
    ],
)
def test_volumes(
    tmp_path: Path, ftl: str, changes: dict[str, int], sizes: dict[str, int], bits: str
) -> None:
    found = told(drive(tmp_path, ftl, **changes), **sizes)
    assert isinstance(found, Detected)
    assert found.value == bits


@pytest.mark.parametrize(
    "ftl", [BY_ORDER, BY_ADDRESS.replace("address", "order") + "\nplacement_pages = 4"]
)
def test_what_the_last_fill_laid_out_is_no_bit(tmp_path: Path, ftl: str) -> None:
    found = told(drive(tmp_path, ftl))
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.MASKED


def test_a_drive_that_may_not_be_written_tells_what_needs_no_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_bench: Bench) -> None:
        raise Stopped(Reason.NOT_WRITABLE)

    monkeypatch.setattr(Bench, "_require_writable", refuse)
    unit = drive(tmp_path, BY_ORDER + "\nmap_unit_bytes = 16384")
    assert isinstance(told(unit, rmw_unit_bytes=16_384), Detected)
    found = told(drive(tmp_path, BY_ADDRESS))
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.NOT_WRITABLE


def test_bits_above_a_round_over_the_dies_are_not_named(tmp_path: Path) -> None:
    """24 merge units of 1 MiB go round: of 16 MiB hardly two lie on one die."""
    ftl = 'kind = "log-block"\nmerge_unit_bytes = 1048576'
    text = DRIVE.replace("page_bytes = 4096", "page_bytes = 16384")
    chips = {"channels": 6, "planes": 1, "blocks": 60, "more": "ways = 4\n"}
    file = tmp_path / "drive.toml"
    file.write_text(text.format(**PLAIN | chips, ftl=ftl), encoding="utf-8")
    found = told(open_target(str(file), seed=1).device, merge_unit_bytes=MERGE_UNIT)
    named = found.value if isinstance(found, Detected) else ""
    assert not {"23", "24", "25"} & set(str(named).split(","))


def test_three_channels_have_no_bits(tmp_path: Path) -> None:
    found = told(drive(tmp_path, BY_ADDRESS, channels=3))
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.MASKED


def test_one_command_at_a_time_shows_nothing(tmp_path: Path) -> None:
    found = told(drive(tmp_path, 'kind = "page"', depth=1))
    assert isinstance(found, Undetectable)
    assert found.reason is Reason.LINK_BOUND


def test_bits_that_are_spread_over_others_are_not_named(tmp_path: Path) -> None:
    found = told(drive(tmp_path, BY_ADDRESS + "\nplacement_pages = 3"))
    assert not isinstance(found, Detected)

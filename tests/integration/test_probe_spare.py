"""The family `spare`, on drives whose inside is known: what they keep back, what they copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integration.collecting_drives import (
    FLAT,
    NOISE,
    bench_with,
    log_block,
    page_mapped,
    told,
)

from ssdscope.findings import Absent, Detected, Reason, Undetectable
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.record import Record
from ssdscope.probes.spare import probe as spare
from ssdscope.recovery.generator import draw

PAGE = 4096
BLOCKS, LOW_BLOCKS, OPEN_BLOCKS = 160, 4, 1


def visible(kept: float) -> float:
    """Share that a host can overwrite before collection, of a drive with so much spare space.

    All blocks but those the drive keeps free and the one it writes to hold data or are spare.
    """
    return (1 + kept) * (1 - (LOW_BLOCKS - 1 + OPEN_BLOCKS) / BLOCKS) - 1


def bench_of(tmp_path: Path, toml: str, **more: Any) -> Bench:
    known: dict[str, Any] = {"rmw_unit_bytes": PAGE, "pslc_bytes": None, "map_cache_bytes": None}
    return bench_with(tmp_path, toml, **(known | {"merge_unit_bytes": None} | more))


@pytest.mark.parametrize("kept", [0.15, 0.3, 0.45])
@pytest.mark.parametrize("noise", ["", NOISE])
def test_the_spare_space_is_what_a_host_can_use(tmp_path: Path, kept: float, noise: str) -> None:
    toml = page_mapped(spare=kept) + noise
    found = told("spare", bench_of(tmp_path, toml))
    share = found[spare.SPARE]
    assert isinstance(share, Detected)
    assert share.value == pytest.approx(visible(kept), rel=0.1)
    assert share.interval is not None
    assert share.interval[0] < share.value < share.interval[1]


def test_a_drive_found_empty_does_not_pass_for_one_of_much_spare_space(tmp_path: Path) -> None:
    """As found all of it is free, each time; filled, only the spare is."""
    bench = bench_of(tmp_path, page_mapped(), state="fresh")
    share = told("spare", bench)[spare.SPARE]
    assert isinstance(share, Detected)
    assert share.value == pytest.approx(visible(0.3), rel=0.1)


@pytest.mark.parametrize("logs", [6, 13])
@pytest.mark.parametrize("noise", ["", NOISE])
def test_common_log_blocks_are_spare_space(tmp_path: Path, logs: int, noise: str) -> None:
    """All but the one that is kept for a sequential stream."""
    merge = 2 * 48 * 4096
    toml = log_block(association="many-to-one", logs=logs) + noise
    bench = bench_with(tmp_path, toml, rmw_unit_bytes=4096, merge_unit_bytes=merge)
    found = told("spare", bench)
    share = found[spare.SPARE]
    assert isinstance(share, Detected)
    assert share.value == pytest.approx((logs - 1) * merge / bench.info.capacity_bytes, rel=0.02)


READERS = """
[disturbance]
foreign_iops = 100
foreign_bytes = 65_536
foreign_write_ratio = 0.0
foreign_on_ns = 100_000_000
foreign_off_ns = 150_000_000
"""


def test_who_reads_meanwhile_fills_no_log_blocks(tmp_path: Path) -> None:
    """Where writes wait is counted, not how long."""
    merge, logs = 2 * 48 * 4096, 13
    toml = log_block(association="many-to-one", logs=logs) + READERS
    bench = bench_with(tmp_path, toml, rmw_unit_bytes=4096, merge_unit_bytes=merge)
    share = told("spare", bench)[spare.SPARE]
    assert any(bench.foreign)
    assert isinstance(share, Detected)
    assert share.value == pytest.approx((logs - 1) * merge / bench.info.capacity_bytes, rel=0.02)


@pytest.mark.parametrize(("blocks", "kept", "logs"), [(160, "0.1", 6), (800, "1.0", 220)])
def test_a_log_block_for_each_unit_is_next_to_none(
    tmp_path: Path, blocks: int, kept: str, logs: int
) -> None:
    """Also where there are so many that most writes meet an open one and need not wait."""
    known = {"rmw_unit_bytes": 4096, "merge_unit_bytes": 2 * 48 * 4096}
    toml = log_block(blocks=blocks, logs=logs).replace("ratio = 0.1", f"ratio = {kept}")
    bench = bench_with(tmp_path, toml, map_cache_bytes=None, **known)
    found = told("spare", bench)
    assert isinstance(found[spare.SPARE], Absent)
    hidden = found[spare.AMPLIFICATION]
    assert isinstance(hidden, Undetectable)
    assert hidden.reason is Reason.MASKED


@pytest.mark.parametrize(("overflow", "noise"), [("fold", ""), ("direct", ""), ("direct", NOISE)])
def test_the_spare_space_shows_behind_a_region_that_is_kept_full(
    tmp_path: Path, overflow: str, noise: str
) -> None:
    """Writes become slower where the region is full, and again where collection begins."""
    toml = page_mapped().replace("[nand]", "[nand]\nbits_per_cell = 3") + noise
    region = 2 * 12 * 16 * PAGE
    toml += f'[pslc]\nbytes = {region}\nprogram_ns = 80_000\noverflow = "{overflow}"\n'
    bench = bench_of(tmp_path, toml, pslc_bytes=region)
    found = told("spare", bench)
    share, hidden = found[spare.SPARE], found[spare.AMPLIFICATION]
    assert isinstance(share, Detected), share
    # Blocks of the region are never collected into; what it holds is a third of theirs.
    own = region / bench.info.capacity_bytes
    assert share.value == pytest.approx(visible(0.3) - 3 * own + own, rel=0.1)
    assert isinstance(hidden, Undetectable)
    assert hidden.reason is Reason.MASKED


def test_a_region_that_is_not_ruled_out_hides_collection(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, page_mapped())
    about: dict[str, Any] = {"name": "pslc_bytes", "probe": "region"}
    bench.known["pslc_bytes"] = Undetectable(reason=Reason.PLP_NO_FLUSH_EFFECT, **about)
    for finding in told("spare", bench).values():
        assert isinstance(finding, Undetectable)
        assert finding.reason is Reason.MASKED
    assert bench.bytes_written == 0


def test_a_drive_without_collection_shows_none(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, FLAT, rmw_unit_bytes=None)
    for finding in told("spare", bench).values():
        assert isinstance(finding, Undetectable)


@pytest.mark.always(2)
@pytest.mark.parametrize("known_to_hold", [True, False])
@pytest.mark.parametrize(("held", "drain"), [(64, "high-water"), (1000, "full"), (1000, "idle")])
def test_what_a_buffer_holds_is_no_spare_space(
    tmp_path: Path, held: int, drain: str, known_to_hold: bool
) -> None:
    """It stays on, and each write is flushed past it, whether or not it is known how much it is."""
    buffer = (
        f"[write_buffer]\nbytes = {held * 4096}\nunit_bytes = 4096\nswitchable = false\n"
        f'drain = "{drain}"\norder = "lru"\n'
    )
    known = {"rmw_unit_bytes": 4096, "merge_unit_bytes": None}
    if known_to_hold:
        known["write_buffer_bytes"] = held * 4096
    bench = bench_of(tmp_path, page_mapped(blocks=960) + buffer + NOISE, **known)
    share = told("spare", bench)[spare.SPARE]
    assert isinstance(share, Detected)
    usable = 1.3 * (1 - 0.02 - OPEN_BLOCKS / 960) - 1
    assert share.value == pytest.approx(usable, rel=0.05)


def test_without_the_unit_nothing_is_written(tmp_path: Path) -> None:
    """Padding would count as data."""
    bench = bench_with(tmp_path, page_mapped(more="map_unit_bytes = 16_384"))
    for finding in told("spare", bench).values():
        assert isinstance(finding, Undetectable)
        assert finding.reason is Reason.MASKED
    assert bench.bytes_written == 0


def test_a_tiny_drive_is_refused(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, page_mapped(), rmw_unit_bytes=1 << 18)
    for finding in told("spare", bench).values():
        assert isinstance(finding, Undetectable)
        assert finding.reason is Reason.RANGE_TOO_SMALL


def test_merges_that_may_have_been_overlooked_leave_it_open(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, page_mapped())
    why = Reason.EFFECT_BELOW_NOISE
    bench.known["merge_unit_bytes"] = Undetectable(
        name="merge_unit_bytes", probe="test", reason=why
    )
    for finding in told("spare", bench).values():
        assert isinstance(finding, Undetectable)
    assert bench.bytes_written == 0


def test_a_large_buffer_that_stays_on_does_not_hide_where_collection_begins(tmp_path: Path) -> None:
    """It holds 1.7 % of the capacity, and takes what few writes wait for at first."""
    known = {"rmw_unit_bytes": 49_152, "alignment_phase_bytes": 32_768, "pslc_bytes": None}
    known |= {"merge_unit_bytes": None, "write_buffer_bytes": 20_463_616}
    bench = bench_with(tmp_path, draw(990_001, 1643).toml(), **known)
    found = told("spare", bench)[spare.SPARE]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(0.1397, rel=0.05)


def counted(bench: Any) -> float:
    """Bytes programmed for a byte written by settled overwrites, by the drive's own counters."""
    names = ("flash_bytes_programmed", "host_bytes_written")
    device = bench._device
    units = bench.info.capacity_bytes // PAGE
    rng = np.random.default_rng(7)
    with bench.allowance(4 * bench.info.capacity_bytes):
        for _ in range(2):
            before = [device.counters()[name] for name in names]
            bench.write(rng.integers(0, units, int(1.5 * units)) * PAGE, PAGE, iodepth=8)
    after = [device.counters()[name] for name in names]
    return float((after[0] - before[0]) / (after[1] - before[1]))


@pytest.mark.always(4)
@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize("policy", ["greedy", "fifo", "cost-benefit"])
@pytest.mark.parametrize("allocation", ["address", "order"])
def test_the_amplification_is_that_of_the_flash(
    tmp_path: Path, policy: str, allocation: str, noise: str
) -> None:
    """Whichever block a drive chooses."""
    toml = page_mapped(policy=policy, allocation=allocation, blocks=240)
    bench = bench_of(tmp_path, toml + noise)
    found = told("spare", bench)[spare.AMPLIFICATION]
    assert isinstance(found, Detected)
    assert found.value == pytest.approx(counted(bench), rel=0.1)


def test_a_drive_that_draws_its_victims_blindly_is_noticed(tmp_path: Path) -> None:
    """What it meets hangs on more than theory knows."""
    found = told("spare", bench_of(tmp_path, page_mapped(policy="random", blocks=160)))
    assert isinstance(found[spare.SPARE], Detected)
    hidden = found[spare.AMPLIFICATION]
    assert isinstance(hidden, Undetectable)
    assert "copies" in (hidden.evidence.detail or "")


def test_it_decides_again_without_the_drive(tmp_path: Path) -> None:
    """Series are kept, and nothing else of the drive is asked for."""
    bench = bench_of(tmp_path, page_mapped())
    found = told("spare", bench)
    path = tmp_path / "series.npz"
    bench.record.save(path)
    assert path.stat().st_size < 200_000
    again = bench_of(tmp_path, page_mapped())
    again.record = Record.load(path)
    for finding in spare.detect(again):
        assert repr(finding) == repr(found[finding.name])
    assert again.requests == 0

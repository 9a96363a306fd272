"""The presets of kuo2009 against what the thesis found with its own procedures (tables 3 to 6)."""

from collections.abc import Sequence

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.studies.kuo2009.bench import KIB, MIB, Drives, read, slow, write
from ssdscope.studies.kuo2009.buffer import sweep
from ssdscope.targets.opening import resolve_drive


@pytest.fixture(scope="module")
def drives() -> Drives:
    return Drives(seed=1)


@pytest.mark.parametrize(
    ("drive", "block"), [("transcend-slc", 1), ("samsung-slc", 4), ("mtron-slc", 4)]
)
def test_throughput_reaches_its_maximum_at_the_effective_block(
    drives: Drives, drive: str, block: int
) -> None:
    """Table 3 and figure 30: writes 64 MB apart."""
    rates = {}
    for size in (block * MIB // 4, block * MIB // 2, block * MIB, 2 * block * MIB):
        device = drives.fork(drive)
        places = np.arange(48) * 64 * MIB
        write(device, places[:24], size)
        rates[size] = size / write(device, places[24:], size).times_ns.mean()
    most = max(rates.values())
    assert rates[block * MIB] > 0.9 * most
    assert rates[block * MIB // 2] < 0.75 * most
    assert rates[block * MIB // 4] < rates[block * MIB // 2]


@pytest.mark.parametrize(("drive", "page"), [("transcend-slc", 4), ("samsung-slc", 16)])
def test_a_shift_of_1_kb_costs_most_at_the_effective_page(
    drives: Drives, drive: str, page: int
) -> None:
    """Table 4 and figure 35: the write at 1 KB against the one at 0, without the buffer."""
    shifted = [_shifted(drives, drive, size) for size in range(1, page + 1)]
    below, whole = shifted[:-1], shifted[-1]
    assert whole > 60_000
    assert max(below) < 0.8 * whole


def _shifted(drives: Drives, drive: str, kib: int) -> float:
    device = drives.unbuffered(drive)
    first, second = (write(device, at, kib * KIB).times_ns[0] for at in (0, KIB))
    return float(second - first)


def test_reads_tell_the_effective_page_of_the_mtron(drives: Drives) -> None:
    """Figure 35 (D): a read of 8 KB is a little shorter where it begins with a page."""
    times = [read(drives.fork("mtron-slc"), at, 8 * KIB).times_ns[0] for at in (0, KIB)]
    assert 1.05 < times[1] / times[0] < 1.3


def _far_reads(drives: Drives, drive: str, distances: Sequence[int]) -> np.ndarray:
    """Table 6: read at 0, then so many MB away, again and again; the times of the latter."""
    device = drives.fork(drive)
    places = np.array([[0, mib * MIB] for mib in distances]).ravel()
    return read(device, places, 512).times_ns[1::2]


def test_the_zone_of_the_transcend_is_476_mb(drives: Drives) -> None:
    times = _far_reads(drives, "transcend-slc", range(440, 520))
    late = slow(times)
    assert not late[:36].any()
    assert late[36:].all()


def test_the_samsung_reads_slowly_once_in_4_mb(drives: Drives) -> None:
    times = _far_reads(drives, "samsung-slc", range(64))
    late = np.flatnonzero(slow(times))
    assert late.tolist() == list(range(4, 64, 4))


def test_the_mtron_reads_a_little_longer_beyond_40_mb(drives: Drives) -> None:
    times = _far_reads(drives, "mtron-slc", range(20, 80))
    near, far = times[:20], times[20:]
    assert 1.05 < far.min() / near.max() < 1.6


def test_the_mtron_does_not_let_its_buffer_be_switched_off(drives: Drives) -> None:
    """4.2.2: why its pages are found by reads."""
    assert drives.fork("samsung-slc").info.write_cache.control == "switchable"
    assert not drives.unbuffered("samsung-slc").info.write_cache.on
    assert drives.unbuffered("mtron-slc").info.write_cache.on
    with pytest.raises(UsageError):
        drives.fork("mtron-slc").set_write_cache(False)


@pytest.mark.parametrize(("drive", "kib"), [("samsung-slc", 128), ("intel-mlc", 112)])
def test_the_write_buffer_ends_where_the_paper_found_it(
    drives: Drives, drive: str, kib: int
) -> None:
    """Table 5 and figure 37."""
    found = sweep(drives, drive, range(8 * KIB, 257 * KIB, 8 * KIB))
    assert found.knee == kib * KIB


@pytest.mark.parametrize("size", [12, 20])
def test_the_knee_of_the_mtron_is_its_buffer_and_needs_writes_anywhere(
    drives: Drives, size: int
) -> None:
    """4.3.1: what leaves the buffer while it is filled is nothing once log blocks are used up."""
    sizes = range(MIB, 25 * MIB, MIB)
    sets = (f"write_buffer.bytes={size * MIB}",)
    for before in ("random", "worst"):
        assert sweep(drives, "mtron-slc", sizes, *sets, before=before).knee == size * MIB
    assert sweep(drives, "mtron-slc", sizes, *sets, before="none").knee is None


def test_random_writes_within_64_mb_say_nothing_of_the_buffer() -> None:
    confined = Drives(seed=1, settings={"random_range": 64 * MIB})
    assert sweep(confined, "mtron-slc", range(MIB, 33 * MIB, MIB)).knee != 20 * MIB
    assert resolve_drive("sim:kuo-mtron-slc")["write_buffer"]["bytes"] == 20 * MIB


def test_the_read_cache_of_the_samsung_holds_256_kb(drives: Drives) -> None:
    """Figure 38: the same data read again and again."""
    rates = {}
    for size in range(32 * KIB, 513 * KIB, 32 * KIB):
        device = drives.fork("samsung-slc")
        steps = np.arange(0, size, 32 * KIB)
        read(device, steps, 32 * KIB)
        rates[size] = float(read(device, steps, 32 * KIB).times_ns.mean())
    held = [each for size, each in rates.items() if size <= 256 * KIB]
    assert max(held) < 1.01 * min(held)
    assert all(each > 1.1 * max(held) for size, each in rates.items() if size > 256 * KIB)

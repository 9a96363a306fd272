"""Every claim of kuo2009 can fail: made-up measurements of other drives make it say `differs`.

Each case is a drive that agrees and one that does not, and the rows in which they differ.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ssdscope.findings import Detected
from ssdscope.recovery.truth import Truth
from ssdscope.studies import Claim, Verdict
from ssdscope.studies.kuo2009 import (
    access,
    block,
    block_size,
    buffer,
    buffer_size,
    chips,
    detecting,
    effective,
    layout,
    merging,
    page,
    page_size,
    randoms,
    startup,
    zone,
    zone_size,
)
from ssdscope.studies.kuo2009.bench import KIB, MIB, Drives
from ssdscope.studies.kuo2009.timeline import Timeline

US, MS = 1_000, 1_000_000


def verdicts(rows: Sequence[Claim]) -> list[bool]:
    """Give which rows agree; the others differ, as nothing was tried."""
    assert {row.verdict for row in rows} <= {Verdict.AGREES, Verdict.DIFFERS}
    return [row.verdict == Verdict.AGREES for row in rows]


def all_of(rows: Sequence[Claim]) -> bool:
    return all(verdicts(rows))


def none_of(rows: Sequence[Claim]) -> bool:
    return not any(verdicts(rows))


def merge(kind: str, read: int, copied: int, erased: int, time_ms: float) -> merging.Merge:
    kinds = dict.fromkeys(merging.UPDATES, 0) | {kind: 1}
    return merging.Merge(kinds, read, copied, erased, int(time_ms * MS))


def test_figure_5() -> None:
    good = {
        "full": merge("full", 4, 4, 2, 4),
        "partial": merge("partial", 2, 2, 1, 2),
        "switch": merge("switch", 0, 0, 1, 1),
    }
    assert all_of(merging.claims(good))
    # A firmware that copies twice whatever was written, and copies what it could switch.
    assert none_of(merging.claims(dict.fromkeys(good, merge("full", 8, 8, 3, 4))))


def lanes(channels: Sequence[str], dies: Sequence[str], merges: str = "0") -> Timeline:
    """Make a timeline of a step per character; a dot is idle."""

    def busy(rows: Sequence[str]) -> np.ndarray:
        return np.array([[step != "." for step in row] for row in rows])

    begun = np.array([int(each) for each in merges.ljust(len(dies[0]), merges[-1])])
    return Timeline(500_000, busy(channels), busy(dies), begun)


def test_figure_6() -> None:
    one, two = chips.Stream(1, 250 * US, 0.2), chips.Stream(2, 255 * US, 0.2)
    assert all_of(chips.claims_6(one, two, lanes(["xx..", "xx.."], ["xxxx", "xxxx"])))
    # Two chips on one channel.
    shared = replace(two, elapsed_ns=305 * US)
    assert none_of(chips.claims_6(one, shared, lanes(["xx.."], ["xxxx", ".xxx"])))
    assert none_of(chips.claims_6(one, shared, lanes(["xx..", "..xx"], ["xxxx", "..xx"])))


def test_figure_7() -> None:
    runs = {n: chips.Stream(60 * n, 15_000 * US, 0.209 * n) for n in (1, 2, 4)}
    assert all_of(chips.claims_7(runs))
    # A chip whose programs are long, and a controller that does not interleave.
    slow = {n: chips.Stream(60 * n, 60 * n * 800 * US, 0.06) for n in (1, 2, 4)}
    assert none_of(chips.claims_7(slow))


def test_figure_8() -> None:
    striped = chips.Spread((800, 800), (2000, 2000), 33 * US)
    plain = chips.Spread((1600, 0), (2800, 0), 46 * US)
    assert all_of(chips.claims_8(striped, plain))
    assert none_of(chips.claims_8(plain, plain))


def test_figures_12_and_13() -> None:
    together = lanes(["xxx..."] * 2, ["xx.xxx"] * 8, "000111")
    good = effective.Erased(8, together.since_merge(), MIB)
    assert all_of(effective.claims_12(good))
    assert all_of(effective.claims_13(good))
    # Two chips, each of which erases four blocks after each other.
    turns = lanes(["x"] * 2, ["x" * 12] * 2, "1")
    other = effective.Erased(2, turns.since_merge(), MIB // 4)
    assert none_of(effective.claims_12(other))
    assert none_of(effective.claims_13(other))
    never = effective.Erased(0, lanes(["x"] * 2, ["x"] * 8).since_merge(), float("nan"))
    assert none_of(effective.claims_12(never) + effective.claims_13(never))


def test_figure_16() -> None:
    pages = [effective.Programmed(2, ((0, way), (1, way))) for way in (0, 1)]
    assert all_of(effective.claims_16(pages, 4, 1.0))
    single = [effective.Programmed(1, ((0, 0),)), effective.Programmed(1, ((0, 1),))]
    assert none_of(effective.claims_16(single, 1, 1.21))


def test_figure_23() -> None:
    assert all_of(startup.claims(startup.Start(1, 400 * US, 33, 13_200 * US, 33)))
    # A drive that loads everything at once, and one that loads nothing.
    assert none_of(startup.claims(startup.Start(33, 13_200 * US, 34, 13_200 * US, 33)))
    assert none_of(startup.claims(startup.Start(0, 0, 0, 0, 33)))


def points(rates: dict[tuple[int, int], float], moved: float) -> list[block.Point]:
    return [block.Point(size, shift, rate, moved) for (size, shift), rate in rates.items()]


def test_figures_14_and_31() -> None:
    by_size = points({(MIB, 0): 50, (2 * MIB, 0): 50}, 0) + points({(MIB // 2, 0): 20}, 64)
    by_place = points({(MIB, 0): 50, (MIB, 64 * KIB): 18}, 0)
    assert all_of(block.claims_14(by_size, by_place))
    flat = points({(MIB, 0): 50, (MIB // 2, 0): 50}, 8)
    places = points({(MIB, 0): 50, (MIB, 64 * KIB): 50}, 8)
    assert none_of(block.claims_14(flat, places))
    times = np.tile([100 * US] * 255 + [9 * MS], 4)
    assert all_of(block.claims_31(by_place, times))
    assert none_of(block.claims_31(places, np.full(1024, 100 * US)))
    uneven = np.repeat([100 * US], 1024)
    uneven[[10, 110, 300]] = 9 * MS
    assert none_of(block.claims_31(places, uneven))


def test_figure_9() -> None:
    large = np.full(150, 40 * MS)
    small = np.array([1 * MS] * 20 + [35 * MS] * 280)
    assert all_of(randoms.claims_9(small, large))
    assert none_of(randoms.claims_9(np.full(300, 1 * MS), large))


def test_figure_15() -> None:
    inside = np.tile([300 * US] * 255 + [40 * MS], 4)
    over = np.array([1 * MS] * 16 + [30 * MS] * 384)
    assert all_of(randoms.claims_15(inside, over, 384))
    # A page-mapped drive: nothing is collected but now and then.
    calm = np.tile([300 * US] * 99 + [40 * MS], 10)
    assert none_of(randoms.claims_15(calm, calm[:400], 1))


def test_figure_32() -> None:
    def ranges(*means: float) -> list[randoms.Range]:
        return [randoms.Range(MIB << step, mean, mean) for step, mean in enumerate(means)]

    assert all_of(randoms.claims_32(ranges(120, 3000, 4000), 100))
    assert none_of(randoms.claims_32(ranges(160, 160, 160), 100))
    assert randoms.slow_from(ranges(100, 100, 5000), 100) == 4 * MIB


def test_figure_33() -> None:
    shares = {MIB // 4: 0.25, MIB // 2: 0.5, MIB: 1.0, 2 * MIB: 1.0}
    assert all_of(randoms.claims_33(2.0, shares))
    assert none_of(randoms.claims_33(float("nan"), dict.fromkeys(shares, 0.0)))
    assert none_of(randoms.claims_33(4.0, shares | {MIB: 0.5, 2 * MIB: 0.4}))


def cost(size: int, mean_us: float, rmw_us: float, programmed: float) -> page.SizeCost:
    return page.SizeCost(size, mean_us * US, rmw_us * US, programmed)


def test_figure_17() -> None:
    good = [cost(512, 320, 33, 4096), cost(4096, 290, 0, 4096)]
    assert all_of(page.claims_17(good, 370, 320))
    # Pages of a sector, each written by itself.
    other = [cost(512, 200, 0, 512), cost(4096, 290, 0, 4096)]
    assert none_of(page.claims_17(other, 320, 320))


def test_figure_18() -> None:
    good = {3: page.Straddling(3, 2, 500 * US), 4: page.Straddling(2, 0, 300 * US)}
    assert all_of(page.claims_18(good))
    whole = page.Straddling(1, 0, 300 * US)
    assert none_of(page.claims_18({3: whole, 4: whole}))


def test_figure_19() -> None:
    full, switch = {"switch": 0, "partial": 0, "full": 9}, {"switch": 9, "partial": 0, "full": 0}
    shifted, aligned = page.Stream(6, full, 20 * MS), page.Stream(4, switch, 10 * MS)
    assert all_of(page.claims_19(shifted, aligned))
    # A buffer that puts the pieces together.
    assert none_of(page.claims_19(page.Stream(5, switch, MS), page.Stream(5, full, MS)))


def test_figure_36() -> None:
    kib = np.arange(1, 65)
    saw = 300.0 * US + 10 * US * kib + 40 * US * (kib % 4 != 0)
    line = 50.0 * US + 10 * US * kib
    assert all_of(page.claims_36(saw, line))
    # A drive that writes by the sector, and reads whole groups of pages.
    steps = 300.0 * US * (kib > 32) + 50 * US * (kib % 7 == 0)
    assert none_of(page.claims_36(line, steps))
    # A saw that ends at 16 KB, as when a cut page is read while others are transferred.
    ends = np.where(kib <= 16, saw, 300.0 * US + 10 * US * kib + 8 * US * (kib % 4 == 3))
    assert not verdicts(page.claims_36(ends, line))[1]


def outcome(full: int, rmw: int, programmed: float, elapsed_ms: int) -> buffer.Outcome:
    merges = {"switch": 24 - full, "partial": 0, "full": full}
    return buffer.Outcome(merges, rmw, programmed, elapsed_ms * MS)


def test_figure_21() -> None:
    on = dict.fromkeys(("order", "again", "pieces"), outcome(0, 0, 0.25, 400))
    off = dict.fromkeys(on, outcome(24, 900, 1.9, 1000))
    assert all_of(buffer.claims_21(on, off))
    assert none_of(buffer.claims_21(off, off))


def knee(at: int | None, step: int, count: int) -> buffer.Sweep:
    sizes = step * np.arange(1, count + 1)
    times = 10.0 * sizes + (0 if at is None else 5.0 * at * (sizes > at))
    return buffer.Sweep("", sizes, times)


def test_figures_22_and_37() -> None:
    small = [knee(at * KIB, 8 * KIB, 32) for at in (128, 112)]
    large = [knee(at, MIB, 32) for at in (20 * MIB, None)]
    assert all_of(buffer.claims_22(*small, *large))
    others = [knee(at * KIB, 8 * KIB, 32) for at in (192, 192)]
    more = [knee(at * MIB, MIB, 32) for at in (12, 12)]
    assert none_of(buffer.claims_22(*others, *more))
    assert all_of([buffer_size.unseen(None)])
    assert none_of([buffer_size.unseen(12 * MIB)])


def reads(zones: float, offsets: Sequence[int], times_us: Sequence[int], loads: int) -> zone.Reads:
    return zone.Reads(zones, np.array(offsets) * zone.ZONE, np.array(times_us) * US, loads)


def test_figure_24() -> None:
    inside = reads(1, [0, 0, 0, 0], [100, 100, 100, 100], 0)
    over = reads(4, [0, 1, 1, 2], [100, 500, 100, 500], 2)
    assert all_of(zone.claims_24(inside, over, [inside, over]))
    # A drive with pages of its table in a cache: any read may be late.
    mixed = reads(1, [0, 0, 0, 0], [100, 150, 100, 150], 3)
    wide = reads(4, [0, 1, 1, 2], [170, 170, 170, 170], 4)
    assert none_of(zone.claims_24(mixed, wide, [mixed, replace(wide, times_ns=mixed.times_ns)]))


def test_figure_29() -> None:
    part = {"switch": 0, "partial": 24, "full": 0, "gc_pages_moved": 6144}
    whole = {"switch": 24, "partial": 0, "full": 0, "gc_pages_moved": 0}
    assert all_of(block_size.claims_29(part, whole))
    assert none_of(block_size.claims_29(whole, part))
    full = {"switch": 0, "partial": 0, "full": 24, "gc_pages_moved": 9000}
    assert none_of(block_size.claims_29(full, full))


def test_figures_34_and_35() -> None:
    cases = [(KIB, 0), (KIB, KIB), (2 * KIB, 0), (2 * KIB, KIB)]
    counts = dict(zip(cases, (1, 1, 0, 2), strict=True))
    assert all_of(page_size.claims_34(counts))
    # Pages of 4 KB.
    assert none_of(page_size.claims_34(dict(zip(cases, (2, 2, 1, 1), strict=True))))
    times = np.array([[70, 70], [80, 84], [90, 96]]) * US
    assert all_of([page_size.no_difference("a drive", times)])
    times[2, 1] = 120 * US
    assert none_of([page_size.no_difference("a drive", times)])


def test_figures_39_and_41() -> None:
    assert all_of(zone_size.claims_39(0, 63))
    # Two tables fit.
    assert none_of(zone_size.claims_39(1, 1))
    times = np.array([57] * 40 + [77] * 60) * US
    assert all_of([zone_size.longer(times)])
    for far in (57, 120):
        assert none_of([zone_size.longer(np.array([57] * 40 + [far] * 60) * US)])
    levels = np.array([165, 465] * 50) * US
    assert all_of([zone_size.two_levels(levels)])
    assert none_of([zone_size.two_levels(np.linspace(165, 465, 100) * US)])
    assert none_of([zone_size.two_levels(np.full(100, 165 * US))])


def laid_out(pages: int, file: int, rmw: int, kinds: tuple[int, int], copied: int) -> layout.Cost:
    merges = {"switch": kinds[0], "partial": kinds[1], "full": 0}
    return layout.Cost(pages, file, rmw, merges, copied)


def test_figures_25_to_28() -> None:
    first, second = laid_out(14, 6, 12, (0, 6), 19), laid_out(9, 5, 2, (0, 6), 19)
    third, last = laid_out(8, 4, 0, (0, 6), 19), laid_out(8, 4, 0, (2, 0), 0)
    steps = {"25": (first, first), "26": (second, first), "27": (third, second)}
    steps["28"] = (last, third)
    assert all(all_of(layout.claims(name, *costs)) for name, costs in steps.items())
    # A drive with pages of a sector: layouts make no difference.
    sectors = laid_out(32, 4, 0, (0, 6), 19)
    assert none_of(layout.claims("25", sectors, sectors))
    assert none_of(layout.claims("26", replace(sectors, rmw=9), replace(sectors, rmw=9)))
    other = laid_out(32, 5, 3, (0, 6), 19)
    assert none_of(layout.claims("27", other, other))
    assert none_of(layout.claims("28", other, other))


def test_raw_access() -> None:
    good = access.Tried((90 * US, 470 * US), (90 * US, 165 * US), 1.0, refuses=True)
    assert all_of(access.claims(good))
    # A drive that takes the commands and does nothing.
    idle = access.Tried((90 * US, 90 * US), (90 * US, 90 * US), 0.5, refuses=False)
    assert none_of(access.claims(idle))


class Doubled:
    """Probes on drives whose sizes are all twice the paper's, and their truth."""

    def __init__(self, paper: int) -> None:
        self.value = 2 * paper

    def finding(self, name: str, _uri: str) -> Detected:
        return Detected(name=name, probe="test", value=self.value, interval=None, effect=1.0)

    def truth(self, _name: str, _uri: str) -> Truth:
        return Truth(self.value)


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        *(("merge_unit_bytes", each) for each in block_size.SUBJECTS),
        *(("rmw_unit_bytes", each) for each in (*page_size.BY_WRITES, page_size.BY_READS)),
        *(("write_buffer_bytes", each) for each in (buffer_size.SAMSUNG, buffer_size.INTEL)),
        ("write_buffer_bytes", buffer_size.MTRON),
        ("read_cache_bytes", buffer_size.CACHED),
        *(
            ("map_zone_bytes", each)
            for each in (zone_size.TRANSCEND, zone_size.SAMSUNG, zone_size.MTRON)
        ),
    ],
)
def test_a_detector_s_row_differs_on_a_drive_of_other_sizes(
    name: str, subject: detecting.Subject
) -> None:
    assert subject.paper is not None
    drives = Drives(seed=1)
    drives.probed = Doubled(subject.paper)  # type: ignore[assignment]
    differs = detecting.row(drives, subject, name, "a size", 2 * subject.paper)
    assert differs.verdict == Verdict.DIFFERS
    drives.probed = Doubled(subject.paper // 2)  # type: ignore[assignment]
    assert detecting.row(drives, subject, name, "a size", subject.paper).verdict == Verdict.AGREES


@pytest.mark.parametrize("name", layout.LAYOUTS)
def test_the_counts_of_the_example_are_exact(name: str) -> None:
    pages = {"25": 14, "26": 9, "27": 8, "28": 8}[name]
    off_by_one = laid_out(pages + 1, 4, 0, (2, 0), 0)
    assert not verdicts(layout.claims(name, off_by_one, off_by_one))[0]

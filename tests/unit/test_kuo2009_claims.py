"""Every row of kuo2009 can fail: made-up readings and measurements of other drives turn it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from ssdscope.findings import Detected
from ssdscope.recovery.truth import Truth
from ssdscope.studies import Verdict
from ssdscope.studies.kuo2009 import (
    PAPER,
    block,
    buffer,
    chips,
    detecting,
    effective,
    layout,
    memory_sizes,
    page,
    randoms,
    unit_sizes,
    uses,
    zone,
)
from ssdscope.studies.kuo2009.bench import KIB, MIB, number, span
from ssdscope.studies.kuo2009.timeline import Timeline
from ssdscope.studies.paper import Row
from ssdscope.studies.record import Reading

US, MS = 1_000, 1_000_000
FAR = 1e9


def cases_of(row: Row) -> list[str]:
    return list(row.paper) if isinstance(row.paper, Mapping) else [""]


def judge(row: Row, case: str, value: float | bool) -> Verdict:
    return row.judge(case, Reading("", value)).verdict


def good(row: Row, case: str) -> float:
    """Return a value with which a row agrees."""
    paper = row.paper[case] if isinstance(row.paper, Mapping) else row.paper
    rule = row.rule
    assert rule is not None
    if rule.within is not None:
        assert not isinstance(paper, str)
        return float(paper)
    if rule.between is not None:
        return sum(rule.between) / 2
    low = rule.above if rule.above is not None else (rule.below or 0) - 1
    high = rule.below if rule.below is not None else low + 1
    return (low + high) / 2


@pytest.mark.parametrize("name", PAPER.rows)
def test_every_row_is_turned_on_every_side_that_it_bounds(name: str) -> None:
    row = PAPER.rows[name]
    for case in cases_of(row):
        if row.rule is None:
            assert judge(row, case, True) == Verdict.AGREES
            assert judge(row, case, False) == Verdict.DIFFERS
            continue
        assert judge(row, case, good(row, case)) == Verdict.AGREES
        assert judge(row, case, float("nan")) == Verdict.DIFFERS, "nothing found is nothing shown"
        turned = [
            side
            for side, value in (("low", -FAR), ("high", FAR))
            if judge(row, case, value) == Verdict.DIFFERS
        ]
        assert tuple(turned) == row.rule.sides
        assert row.rule.sides


def verdicts(readings: Mapping[str, Reading]) -> dict[str, Verdict]:
    return {claim.name: claim.verdict for claim in PAPER.claims(readings)}


def all_of(readings: Mapping[str, Reading]) -> bool:
    return set(verdicts(readings).values()) == {Verdict.AGREES}


def none_of(readings: Mapping[str, Reading]) -> bool:
    return set(verdicts(readings).values()) == {Verdict.DIFFERS}


def lanes(channels: Sequence[str], dies: Sequence[str], merges: str = "0") -> Timeline:
    """Make a timeline of a step per character; a dot is idle."""

    def busy(rows: Sequence[str]) -> np.ndarray:
        return np.array([[step != "." for step in row] for row in rows])

    begun = np.array([int(each) for each in merges.ljust(len(dies[0]), merges[-1])])
    return Timeline(500_000, busy(channels), busy(dies), begun)


def test_chips_on_channels() -> None:
    one, two = chips.Stream(1, 250 * US, 0.2), chips.Stream(2, 255 * US, 0.2)
    assert all_of(chips.of_two(one, two, lanes(["xx..", "xx.."], ["xxxx", "xxxx"])))
    shared = replace(two, elapsed_ns=305 * US)
    assert none_of(chips.of_two(one, shared, lanes(["xx.."], ["xxxx", ".xxx"])))
    assert none_of(chips.of_two(one, shared, lanes(["xx..", "..xx"], ["xxxx", "..xx"])))
    runs = {n: chips.Stream(60 * n, 15_000 * US, 0.209 * n) for n in (1, 2, 4)}
    assert all_of(chips.in_turn(runs, runs))
    # A chip whose programs are long, and a controller that does not interleave.
    slow = {n: chips.Stream(60 * n, 60 * n * 800 * US, 0.06) for n in (1, 2, 4)}
    assert none_of(chips.in_turn(slow, slow))
    striped = chips.Spread((800, 800), (2000, 2000), 33 * US, 200 * US)
    plain = chips.Spread((1600, 0), (2800, 0), 46 * US, 220 * US)
    assert all_of(chips.striping(striped, plain))
    assert none_of(chips.striping(plain, plain))


def test_effective_blocks_are_erased_together() -> None:
    together = lanes(["xxx..."] * 2, ["xx.xxx"] * 8, "000111")
    found = effective.Erased(8, together.since_merge(), MIB)
    assert all_of(effective.erased_by_merge(found) | effective.erase_times(found))
    # Two chips, each of which erases four blocks after each other.
    other = effective.Erased(2, lanes(["x"] * 2, ["x" * 12] * 2, "1").since_merge(), MIB // 4)
    assert none_of(effective.erased_by_merge(other) | effective.erase_times(other))
    pages = [effective.Programmed(2, ((0, way), (1, way))) for way in (0, 1)]
    assert all_of(effective.in_step(pages, 1.0, 2))
    single = [effective.Programmed(1, ((0, 0),)), effective.Programmed(1, ((0, 1),))]
    assert none_of(effective.in_step(single, 1.21, 1))


def test_starting() -> None:
    found = zone.at_start(zone.Start(1, 400 * US, 33, 13_200 * US, 33))
    assert all_of(found)
    # A drive that loads everything at once, and one that loads nothing.
    assert none_of(zone.at_start(zone.Start(33, 13_200 * US, 35, 13_200 * US, 33)))
    assert none_of(zone.at_start(zone.Start(0, 0, 0, 0, 33)))


def points(rates: dict[tuple[int, int], float]) -> list[block.Point]:
    return [block.Point(size, shift, rate, 0, 1) for (size, shift), rate in rates.items()]


def test_places_of_writes() -> None:
    times = np.tile([100 * US] * 255 + [9 * MS], 4)
    assert all_of(block.of_places(points({(MIB, 0): 50, (MIB, 64 * KIB): 18}), times))
    flat = points({(MIB, 0): 50, (MIB, 64 * KIB): 50})
    uneven = np.repeat([100 * US], 1024)
    uneven[[10, 110, 300]] = 9 * MS
    for other in (np.full(1024, 100 * US), uneven):
        assert none_of(block.of_places(flat, other))


def test_random_writes() -> None:
    large = np.full(150, 40 * MS)
    small = np.array([1 * MS] * 20 + [35 * MS] * 280)
    assert all_of(randoms.against_large(small, large))
    assert none_of(randoms.against_large(np.full(300, 1 * MS), large))
    inside = np.tile([300 * US] * 255 + [40 * MS], 4)
    over = np.array([1 * MS] * 16 + [30 * MS] * 384)
    assert all_of(randoms.within_and_over(inside, over, 384))
    # A page-mapped drive: nothing is collected but now and then.
    calm = np.tile([300 * US] * 99 + [40 * MS], 10)
    assert none_of(randoms.within_and_over(calm, calm[:400], 1))


def test_ranges_and_distances() -> None:
    def ranges(*means: float) -> list[randoms.Range]:
        return [randoms.Range(MIB << step, mean, mean) for step, mean in enumerate(means)]

    assert all_of(randoms.by_range(ranges(120, 3000, 4000), 100))
    assert none_of(randoms.by_range(ranges(160, 160, 160), 100))
    assert randoms.slow_from(ranges(100, 100, 5000), 100) == 4 * MIB
    shares = {MIB // 4: 0.25, MIB // 2: 0.5, MIB: 1.0, 2 * MIB: 1.0}
    assert all_of(randoms.by_distance(2.0, shares))
    assert none_of(randoms.by_distance(float("nan"), dict.fromkeys(shares, 0.0)))
    assert none_of(randoms.by_distance(4.0, shares | {MIB: 0.5, 2 * MIB: 0.4}))


def cost(size: int, mean_us: float, rmw_us: float, moved: float) -> dict[str, float]:
    return {"size_bytes": size, "mean_ns": mean_us * US, "rmw_ns": rmw_us * US,
            "programmed_bytes": moved, "read_bytes": moved}  # fmt: skip


def test_cut_pages() -> None:
    def readings(*costs: dict[str, float]) -> dict[str, Reading]:
        found = page.cut_pages(costs)
        return {f"{name}: Transcend SLC": each for name, each in found.items()}

    assert all_of(readings(cost(512, 320, 33, 4096), cost(4096, 290, 0, 4096)))
    # Pages of a sector, each written by itself.
    assert none_of(readings(cost(512, 200, 0, 512), cost(4096, 290, 10, 4096)))
    full, switch = ({"switch": 0, "partial": 0, "full": 9}, {"switch": 9, "partial": 0, "full": 0})
    shifted = full | {"pages_written_by_two": 6, "stream_ns": 25}
    aligned = switch | {"pages_written_by_two": 4, "stream_ns": 10}
    assert all_of(page.in_pieces(shifted, aligned))
    # A buffer that puts the pieces together.
    other = {"pages_written_by_two": 5, "stream_ns": 1}
    assert none_of(page.in_pieces(switch | other, full | other))


def test_a_saw_and_a_line() -> None:
    kib = np.arange(1, 65)
    saw = 300.0 * US + 10 * US * kib + 40 * US * (kib % 4 != 0)
    line = 50.0 * US + 1 * US * kib
    assert all_of(page.by_size(saw, line))
    # A drive that writes by the sector, and reads whole groups of pages.
    steps = 300.0 * US * (kib > 32) + 50 * US * (kib % 7 == 0) + US
    assert none_of(page.by_size(line, steps))
    # A saw that ends at 16 KB, as when a cut page is read while others are transferred.
    ends = np.where(kib <= 16, saw, 300.0 * US + 10 * US * kib + 8 * US * (kib % 4 == 3))
    assert verdicts(page.by_size(ends, line))["saw, goes on"] == Verdict.DIFFERS


def outcome(full: int, rmw: int, programmed: float, took_ms: int) -> buffer.Outcome:
    merges = {"switch": 24 - full, "partial": 0, "full": full}
    return {**merges, "rmw_reads": rmw, "programmed_for_written": programmed,
            "elapsed_ns": took_ms * MS, "gc_runs": full + 1, "block_erases": full + 1}  # fmt: skip


def test_a_buffer_puts_writes_in_order() -> None:
    names = ("order", "again", "pieces", "shifted", "often")
    on = dict.fromkeys(names, outcome(0, 0, 0.25, 400))
    off = dict.fromkeys(names, outcome(24, 900, 1.9, 1000))
    assert all_of(buffer.with_and_without(on, off))
    assert {verdict for name, verdict in verdicts(buffer.with_and_without(off, off)).items()
            if name != "shifted, without"} == {Verdict.DIFFERS}  # fmt: skip


def knee(at: int | None, step: int, count: int) -> buffer.Sweep:
    sizes = step * np.arange(1, count + 1)
    times = 10.0 * sizes
    if at is not None:
        times += np.where(sizes > at, 5.0 * at + 40.0 * (sizes - at), 0)
    return buffer.Sweep("", sizes, times)


def test_buffers_end() -> None:
    def runs(samsung: int, intel: int, mtron: int, unused: int | None) -> dict[str, buffer.Sweep]:
        small = [knee(at * KIB, 8 * KIB, 32) for at in (samsung, intel)]
        large = [knee(at * MIB, MIB, 32) for at in (mtron, mtron)]
        last = knee(None if unused is None else unused * MIB, MIB, 32)
        names = ("Samsung SLC", "Intel MLC", "Mtron SLC, after random writes",
                 f"Mtron SLC, {buffer.WORST}", f"Mtron SLC, {buffer.UNUSED}")  # fmt: skip
        return dict(zip(names, [*small, *large, last], strict=True))

    assert all_of(buffer.knees(runs(128, 112, 20, None)))
    for other in (runs(192, 192, 12, 12), runs(64, 64, 28, 28)):
        found = verdicts(buffer.knees(other))
        ends = {name: each for name, each in found.items() if "steeper" not in name}
        assert set(ends.values()) == {Verdict.DIFFERS}
    assert all_of({"table 5, without random writes": memory_sizes.unseen(None)})
    assert none_of({"table 5, without random writes": memory_sizes.unseen(12 * MIB)})


def test_what_a_byte_takes_is_not_asked_of_a_single_size() -> None:
    last_but_one = knee(31 * 8 * KIB, 8 * KIB, 32)
    assert last_but_one.knee == 31 * 8 * KIB
    assert np.isnan(last_but_one.steeper)
    assert knee(128 * KIB, 8 * KIB, 32).steeper == pytest.approx(4, rel=0.5)


def reads(zones: float, offsets: Sequence[int], times_us: Sequence[int], loads: int) -> zone.Reads:
    return zone.Reads(zones, np.array(offsets) * zone.ZONE, np.array(times_us) * US, loads)


def test_zones() -> None:
    inside = reads(1, [0, 0, 0, 0], [100, 100, 100, 100], 0)
    over = reads(4, [0, 1, 1, 2], [100, 500, 100, 500], 2)
    assert all_of(zone.within_and_over(inside, over, [inside, over]))
    # A drive with pages of its table in a cache: any read may be late.
    mixed = reads(1, [0, 0, 0, 0], [100, 150, 100, 150], 3)
    wide = reads(4, [0, 1, 1, 2], [170, 170, 170, 170], 4)
    same = replace(wide, times_ns=mixed.times_ns)
    assert none_of(zone.within_and_over(mixed, wide, [mixed, same]))


def test_detectors_cases() -> None:
    part = {"switch": 0, "partial": 24, "full": 0, "gc_pages_moved": 6144}
    whole = {"switch": 24, "partial": 0, "full": 0, "gc_pages_moved": 0}
    assert all_of(unit_sizes.merge_cases(part, whole))
    assert none_of(unit_sizes.merge_cases(whole, part))
    times = np.array([[70, 70], [80, 84], [90, 96]]) * US
    assert all_of({"table 4, reads": unit_sizes.no_difference(times)})
    times[2, 1] = 120 * US
    assert none_of({"table 4, reads": unit_sizes.no_difference(times)})
    curve = {MIB // 2: 20.0, MIB: 50.0, 2 * MIB: 51.0}
    assert all_of(unit_sizes.breaks("Transcend SLC", curve))
    sloping = {MIB // 2: 20.0, MIB: 22.0, 2 * MIB: 51.0}
    assert none_of(unit_sizes.breaks("Transcend SLC", sloping))
    pairs = np.array([[100, 100], [100, 110], [100, 100], [100, 250]]) * US
    assert all_of(unit_sizes.shifted("Transcend SLC", pairs))
    assert none_of(unit_sizes.shifted("Transcend SLC", pairs[[3, 3, 3, 0]]))


def test_levels_of_random_reads() -> None:
    levels = np.array([165, 465] * 50) * US
    assert all_of({"Samsung, two levels": memory_sizes.two_levels(levels)})
    for other in (np.linspace(165, 465, 100), np.full(100, 165), np.array([165] + [465] * 99)):
        assert none_of({"Samsung, two levels": memory_sizes.two_levels(other * US)})


def laid_out(pages: int, file: int, rmw: int, kinds: tuple[int, int], copied: int) -> layout.Cost:
    merges = {"switch": kinds[0], "partial": kinds[1], "full": 0}
    return layout.Cost(pages, file, rmw, merges, copied)


def test_the_example() -> None:
    first, second = laid_out(14, 6, 12, (0, 6), 19), laid_out(9, 5, 2, (0, 6), 19)
    third, last = laid_out(8, 4, 0, (0, 6), 19), laid_out(8, 4, 0, (2, 0), 0)
    assert all_of(layout.leaves("25", first, first) | layout.leaves("26", second, first))
    assert all_of(layout.leaves("27", third, second) | layout.leaves("28", last, third))
    # A drive with pages of a sector: layouts make no difference.
    sectors = laid_out(32, 4, 9, (0, 6), 19)
    assert none_of(layout.leaves("25", sectors, sectors) | layout.leaves("26", sectors, sectors))
    other = laid_out(32, 5, 3, (0, 6), 19)
    assert none_of(layout.leaves("27", other, other) | layout.leaves("28", other, other))
    slow, fast = layout.Repeated(900, 500, 60, 30, 3), layout.Repeated(300, 200, 0, 9, 1)
    assert all_of(layout.gains(slow, fast))
    assert none_of(layout.gains(fast, slow))


def test_what_decides_the_geometry() -> None:
    base = [4.0, 1024.0, 4096.0]
    found = {"as it is": base} | {
        name: [one * by for one, by in zip(base, each, strict=True)]
        for name, each in uses.MOVES.items()
    }
    assert all_of(uses.moved(found))
    assert none_of(uses.moved(dict.fromkeys(found, base)))


DETECTED = {
    "table 3, effective block": MIB,
    "table 4, effective page": KIB,
    "table 4, by reads": KIB,
    "table 5, write buffer": KIB,
    "table 5, large write buffer": MIB,
    "read cache": KIB,
    "table 6, zone": MIB,
    "table 6, step": MIB,
    "table 6, piece": MIB,
}


@pytest.mark.parametrize("name", DETECTED)
def test_probe_procedure_and_file_have_to_say_the_same(name: str) -> None:
    scale, papers = DETECTED[name], PAPER.rows[name].paper
    assert isinstance(papers, Mapping)
    for label, paper in papers.items():
        size = int(float(paper) * scale)
        for answers, holds in (
            ((size, size, size), True),
            ((2 * size, size, size), False),
            ((size, size // 2, size), False),
            ((size, size, 2 * size), False),
            ((size, None, size), False),
        ):
            value, literal, truth = answers
            found = Detected(name="x", probe="test", value=value, interval=None, effect=1.0)
            row = detecting.together(found, literal, Truth(truth), scale)
            assert all_of({f"{name}: {label}": row}) is holds


def test_numbers_are_written_shortly() -> None:
    assert number(1.23456).ours == 1.235
    assert number(float("nan")).ours == "none found"
    assert span([1.0, 2.0]).ours == "1 to 2"

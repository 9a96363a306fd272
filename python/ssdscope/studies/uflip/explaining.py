"""Why the preset does not follow a piece of advice, each cause tried. For the preset alone."""

from ssdscope.plots.style import size_label
from ssdscope.probes.budget import silent
from ssdscope.studies.judging import explained
from ssdscope.studies.record import Claim, Verdict
from ssdscope.studies.uflip.bench import Bench, Points
from ssdscope.studies.uflip.benchmarks import (
    BENCHMARKS,
    IO_BYTES,
    MIB,
    Benchmark,
    Room,
    baseline,
)
from ssdscope.studies.uflip.hints import FOCUSED_BYTES, MANY, MORE
from ssdscope.targets import open_target
from ssdscope.workloads import Workload

BLOCK_BYTES = MIB
"""What the preset merges."""
FEW_LOG_BLOCKS = ("nand.blocks_per_plane=1024", "ftl.log_blocks=35")
"""A sixteenth of the preset: of its blocks, and of those that take writes."""


def _whole_blocks(name: str, value: float, room: Room) -> Workload:
    size, count = int(value), 16 * int(value) // BLOCK_BYTES
    return baseline(
        name,
        room,
        block_bytes=BLOCK_BYTES,
        size_bytes=size,
        requests=count,
        ramp_requests=count // 4,
    )


WHOLE_BLOCKS = Benchmark(
    "Writes of whole blocks within a small area",
    "area (bytes)",
    {"SW": (float(FOCUSED_BYTES),), "RW": (float(FOCUSED_BYTES),)},
    _whole_blocks,
    size_label,
)


def why_not(
    name: str, rows: list[Claim], points: Points, bench: Bench, preset: str, seed: int
) -> list[Claim]:
    """Explain what can be, of a micro-benchmark on the preset."""
    if not rows or all(row.verdict != Verdict.DIFFERS for row in rows):
        return rows
    first, *others = rows
    *before, last = rows
    if name == "alignment":
        return [merges_hide_shifts(first, points), *others]
    if name == "locality":
        again = bench.measure("whole blocks", WHOLE_BLOCKS, silent)
        return [merges_are_full(first, again), *others]
    if name == "partitioning":
        with_few = open_target(preset, state="fresh", sets=FEW_LOG_BLOCKS, seed=seed)
        again = Bench(with_few, seed).measure(name, BENCHMARKS[name], silent)
        return [*before, log_blocks_are_many(last, again)]
    return rows


def merges_hide_shifts(row: Claim, points: Points) -> Claim:
    """Explain random writes that cost the same aligned or not, if sequential ones do not."""
    each = points.get("SW", {})
    shifted = {shift: each[shift].mean_ns for shift in each if 0 < shift < IO_BYTES}
    if not shifted or 0.0 not in each:
        return row
    worst = max(shifted, key=lambda shift: shifted[shift])
    cost = shifted[worst] / each[0.0].mean_ns
    if cost < MORE:
        return row
    beside = points["RW"][0.0].mean_ns / each[0.0].mean_ns
    return explained(
        row,
        "a random write costs a merge of a block here, beside which parts of pages are little",
        f"sequential writes, which are {beside:.3g} times as fast as random ones, shifted by "
        f"{worst:g} bytes: {cost:.3g} times",
    )


def merges_are_full(row: Claim, whole: Points) -> Claim:
    """Explain random writes that cost more than in order, if those of whole blocks do not."""
    random, ordered = (whole.get(name, {}).get(FOCUSED_BYTES) for name in ("RW", "SW"))
    if random is None or ordered is None:
        return row
    cost = random.mean_ns / ordered.mean_ns
    if cost >= MORE:
        return row
    return explained(
        row,
        "a block written out of order is merged by copying, one written in order by a switch: "
        "of 32 writes of 32 KB the last costs a copy of 1 MB",
        f"the same with random writes of 1 MB, beside sequential ones of 1 MB: {cost:.3g} times",
    )


def log_blocks_are_many(row: Claim, with_few: Points) -> Claim:
    """Explain many partitions that cost no more, if they do where log blocks are fewer."""
    each = with_few.get("SW", {})
    if not {1.0, MANY} <= each.keys():
        return row
    cost = each[MANY].mean_ns / each[1.0].mean_ns
    if cost < MORE:
        return row
    return explained(
        row,
        "each partition keeps a log block of its own: the preset has 565",
        f"the same with 35 log blocks: {cost:.3g} times",
    )

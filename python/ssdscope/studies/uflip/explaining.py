"""Why the preset does not follow a piece of advice, each cause tried. For the preset alone."""

from ssdscope.probes.budget import silent
from ssdscope.studies.judging import explained
from ssdscope.studies.record import Claim, Verdict
from ssdscope.studies.uflip.bench import Bench, Points
from ssdscope.studies.uflip.benchmarks import BENCHMARKS, IO_BYTES
from ssdscope.studies.uflip.hints import MANY, MORE
from ssdscope.targets import open_target

FEW_LOG_BLOCKS = ("nand.blocks_per_plane=1024", "ftl.log_blocks=35")
"""A sixteenth of the preset: of its blocks, and of those that take writes."""


def why_not(name: str, rows: list[Claim], points: Points, preset: str, seed: int) -> list[Claim]:
    """Explain what can be, of a micro-benchmark on the preset."""
    differ = [row for row in rows if row.verdict == Verdict.DIFFERS]
    if name == "alignment":
        return [merges_hide_shifts(row, points) for row in rows]
    if name == "partitioning" and differ == rows[-1:]:
        with_few = open_target(preset, state="fresh", sets=FEW_LOG_BLOCKS, seed=seed)
        again = Bench(with_few, seed).measure(name, BENCHMARKS[name], silent)
        return [*rows[:-1], log_blocks_are_many(rows[-1], again)]
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

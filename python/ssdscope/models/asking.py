"""What a model is asked: a workload in the names and units of the command line, and its kind."""

from collections.abc import Callable, Mapping

from ssdscope.errors import UsageError
from ssdscope.units import parse_percent, parse_size
from ssdscope.workloads.grid import COLUMNS, Vector

DEEPEST = 1 << 16
SHARES = ("wr_ratio", "wr_rand", "rd_rand")
SIZES = ("wr_size", "rd_size")
USUAL: Mapping[str, int | float | str] = {
    "wr_ratio": 0,
    "q_dep": 1,
    "wr_size": "4k",
    "rd_size": "4k",
    "wr_rand": 0,
    "rd_rand": 0,
    "wr_stride": 0,
    "rd_stride": 0,
}
"""What a characteristic is that nobody names."""


def vector(
    characteristics: Mapping[str, int | float | str], spelled: Callable[[str], str] = str
) -> Vector:
    """Read a workload; what is not named is as the command line has it.

    Parameters
    ----------
    characteristics
        By the names of `COLUMNS`: shares as 0.3 or ``30%``, lengths in bytes or as ``4k``.
    spelled
        How errors write a name.

    Raises
    ------
    UsageError
        If one is unknown, cannot be read or cannot be.
    """
    found: dict[str, int] = {}
    for name, value in {**USUAL, **characteristics}.items():
        try:
            found[name] = _read(name, str(value))
        except UsageError as error:
            raise UsageError(f"{spelled(name)}: {error.message}", hint=error.hint) from error
    return Vector(**found)


def _read(name: str, text: str) -> int:
    if name not in COLUMNS:
        raise UsageError("there is no such characteristic", hint=f"use {', '.join(COLUMNS)}")
    if name in SHARES:
        return _percent(text)
    if name == "q_dep":
        depth = text.strip()
        if not (depth.isascii() and depth.isdigit() and 1 <= int(depth) <= DEEPEST):
            raise UsageError(f"{text} is not between 1 and {DEEPEST:,}")
        return int(depth)
    size = parse_size(text)
    if name in SIZES and size == 0:
        raise UsageError("must be more than 0")
    return size


def _percent(text: str) -> int:
    """Read a share as whole percent: ``0.3`` or ``30%``."""
    if text.strip().endswith("%"):
        share = parse_percent(text)
    else:
        try:
            share = float(text)
        except ValueError as error:
            raise UsageError(f"{text!r} is not a share", hint="write 0.3 or 30%") from error
    if not 0 <= share <= 1:
        raise UsageError(f"{text!r} is not between 0 and 1", hint="write 0.3 or 30%")
    return round(100 * share)


def kind(workload: Vector) -> str:
    """Name what a workload does: ``random writes with strided reads``, ``sequential reads``."""
    writes = _pattern(workload.wr_rand, workload.wr_stride)
    reads = _pattern(workload.rd_rand, workload.rd_stride)
    if workload.wr_ratio == 0:
        return f"{reads} reads"
    if workload.wr_ratio == 100:
        return f"{writes} writes"
    return f"{writes} writes with {reads} reads"


def _pattern(random: float, stride: float) -> str:
    if random and stride:
        return "partly random strided"
    return "random" if random else "strided" if stride else "sequential"

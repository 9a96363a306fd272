"""What of figures 3 to 7 can be asked of a drive that is not the paper's.

Claims that compare the paper's drives cannot be asked of one. Of the others, those that the paper
makes of its SSDs are asked.
"""

from ssdscope.errors import UsageError
from ssdscope.studies.huang2011 import claims
from ssdscope.studies.huang2011.procedure import LEAST_BYTES, Curve, Rows, curves_on
from ssdscope.studies.record import Reading
from ssdscope.targets import Target

LEFT_OUT = ("between", "dramatically", "large")
"""Rows of the paper's disk, and of what it says of every type of drive."""


def require(target: Target) -> None:
    """Refuse a drive too small for the study.

    Raises
    ------
    UsageError
        If it holds less than the deepest run has in flight.
    """
    if target.capacity_bytes < LEAST_BYTES:
        raise UsageError(
            f"target {target.uri!r} holds {target.capacity_bytes} bytes: too few for 64 requests "
            "of 256 KiB in flight",
            hint=f"use one of at least {LEAST_BYTES} bytes",
        )


def lines(figure: str, target: Target) -> list[Curve]:
    """List the lines of a figure that the drive takes.

    Raises
    ------
    UsageError
        If it takes none.
    """
    found = curves_on(figure, target)
    if not found:
        raise UsageError(f"target {target.uri!r} takes no request of figure {figure}")
    return found


def left_out(figure: str, target: Target, rows: Rows) -> list[str]:
    """Say what of the figure could not be measured on the drive, and why."""
    info = target.device.info
    notes = ["claims that compare the paper's drives are left out"]
    if not info.writable:
        notes.append("writes are left out: the target is open for reading only")
    if figure in "567" and info.logical_block_bytes > 1024:
        notes.append(
            "requests of 1 KB are left out: the target's blocks are of "
            f"{info.logical_block_bytes} bytes"
        )
    failures = {row.failure for points in rows.values() for row in points if row.failure}
    return notes + [f"points are missing: {failure}" for failure in sorted(failures)]


def readings(figure: str, rows: Rows) -> dict[str, Reading]:
    """Read off what is said of one SSD."""
    found = claims.readings(figure, rows)
    return {name: each for name, each in found.items() if name.partition(": ")[0] not in LEFT_OUT}

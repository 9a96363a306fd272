"""What of figures 3 to 7 can be asked of a drive that is not the paper's.

Claims that compare the paper's drives cannot be asked of one. Of the others, those that the paper
makes of its SSDs are asked.
"""

from collections.abc import Callable, Iterator

import numpy as np

from ssdscope.errors import UsageError
from ssdscope.studies import judging
from ssdscope.studies.huang2011.claims import bend
from ssdscope.studies.huang2011.procedure import LEAST_BYTES, Curve, Rows, curves_on
from ssdscope.studies.record import Claim
from ssdscope.targets import Target

DIRECTIONS = ("reads", "writes")


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


def compare(figure: str, rows: Rows) -> list[Claim]:
    """Give the claims about a figure whose runs were all made."""
    return list(_CLAIMS[figure](_Drive(rows)))


class _Drive:
    """The points of a figure, by line; those that failed left out."""

    def __init__(self, rows: Rows) -> None:
        self._rows = {
            curve.name: {x: row for x, row in zip(curve.x, points, strict=True) if not row.failure}
            for curve, points in rows.items()
        }

    def x(self, name: str) -> list[int]:
        return list(self._rows.get(name, {}))

    def ms(self, name: str) -> list[float]:
        return [row.latency_ns / 1e6 for row in self._rows.get(name, {}).values()]

    def mb_s(self, name: str, x: int) -> float:
        return self._rows[name][x].bandwidth_bytes_per_s / 1e6

    def ratio(self, one: str, other: str) -> float | None:
        """Compare two lines: the geometric mean over the sizes of both; None without any."""
        first, second = self._rows.get(one, {}), self._rows.get(other, {})
        both = first.keys() & second.keys()
        if not both:
            return None
        steps = [np.log(first[x].latency_ns / second[x].latency_ns) for x in sorted(both)]
        return float(np.exp(np.mean(steps)))


def _figure_3(drive: _Drive) -> Iterator[Claim]:
    x, ms = drive.x("mixed"), drive.ms("mixed")
    if not {0, 10, 100} <= set(x):
        return
    at = ms[x.index(10)]
    yield _claim("90 % reads: latency", "about 2 ms", f"{at:.3g} ms", 1.5 <= at < 2.5)
    rate = drive.mb_s("mixed", 10)
    yield _claim("90 % reads: bandwidth", "100 to 150 MB/s", f"{rate:.3g} MB/s", 100 <= rate <= 150)
    growth = ms[-1] / ms[0]
    yield _claim(
        "more writes cost much",
        "large influence",
        f"writes take {growth:.2f} times as long as reads",
        not judging.similar(growth, 1),
    )


def _figure_4(drive: _Drive) -> Iterator[Claim]:
    for name in DIRECTIONS:
        x, ms = drive.x(name), drive.ms(name)
        if {1, 4, 64} <= set(x):
            growth = ms[-1] / ms[0]
            yield _claim(
                f"queue depth drives the latency of {name}",
                "significantly",
                f"64 in flight: {growth:.1f} times as long",
                growth > 5,
            )
            gain = drive.mb_s(name, 64) / drive.mb_s(name, 4)
            yield _claim(
                f"the bandwidth of {name} hardly changes once saturated",
                "minimal",
                f"from 4 to 64 in flight: {gain:.2f} times",
                judging.quoted(1, gain),
            )


def _figure_5(drive: _Drive) -> Iterator[Claim]:
    for name in DIRECTIONS:
        if len(drive.x(name)) > 2:
            straight = bend(drive.x(name), drive.ms(name))
            yield _claim(
                f"the latency of {name} grows along a line with the size",
                "a clear linear trend",
                f"correlation {straight:.3f}",
                straight > 0.95,
            )


def _figure_6(drive: _Drive) -> Iterator[Claim]:
    penalty = drive.ratio("writes, random", "writes, sequential")
    stride = drive.ratio("writes, stride", "writes, sequential")
    reads = drive.ratio("reads, stride", "reads, random")
    if penalty is not None:
        yield _claim("random writes hurt", "yes", _told(penalty, "sequential"), penalty > 1.05)
    if penalty is not None and stride is not None:
        near = judging.similar(stride, 1) or stride**2 < penalty
        yield _claim(
            "writes with a stride are close to sequential ones",
            "close",
            _told(stride, "sequential"),
            near,
        )
    if reads is not None:
        yield _claim(
            "reads with a stride are close to random ones",
            "small difference",
            _told(reads, "random"),
            judging.similar(reads, 1),
        )


def _figure_7(drive: _Drive) -> Iterator[Claim]:
    slower = drive.ratio("reads, random", "reads, sequential")
    if slower is not None:
        yield _claim(
            "sequential reads are faster, to some extent: not by an order of magnitude",
            "to some extent",
            f"{slower:.2f} times as fast as random ones",
            1.05 < slower < judging.MAGNITUDE[0],
        )


def _told(times: float, base: str) -> str:
    return f"{times:.2f} times as long as {base}"


def _claim(what: str, paper: str, ours: str, holds: bool) -> Claim:
    return judging.of_another_drive(judging.claim(what, paper, ours, "", holds=holds))


_CLAIMS: dict[str, Callable[[_Drive], Iterator[Claim]]] = {
    "3": _figure_3,
    "4": _figure_4,
    "5": _figure_5,
    "6": _figure_6,
    "7": _figure_7,
}

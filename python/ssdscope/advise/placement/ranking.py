"""Would a faster drive help a workload, and which: the drives beside each other or a reference."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ssdscope.advise.placement.drives import Drive
from ssdscope.advise.placement.judging import Judge
from ssdscope.advise.placement.pairs import alone
from ssdscope.advise.placement.workloads import Load, Traced
from ssdscope.units import format_duration, significant

AS_TRACED = "as traced"


@dataclass(frozen=True)
class Ranking:
    """Drives by how fast they answer a workload.

    Attributes
    ----------
    reference
        What they are compared with: a drive that was named for it, or the response times that the
        trace brought along; else the slowest of them that keeps up, None if none does.
    reference_ns
        Its mean latency; None if it does not keep up.
    rows
        As `pairs.alone` gives them, the fastest first, each with ``times_faster``.
    verdict
        The answer in a sentence.
    """

    workload: str
    reference: str | None
    reference_ns: float | None
    rows: list[dict[str, Any]]
    verdict: str

    def to_json(self) -> dict[str, Any]:
        """Write it as plain data."""
        return asdict(self)


def rank(
    loads: Sequence[Load],
    drives: Sequence[Drive],
    reference: Drive | None,
    *,
    duration_ns: int,
    seed: int,
    progress: Callable[[str, float], None] = lambda _stage, _share: None,
) -> list[Ranking]:
    """Try each workload alone on each drive.

    Parameters
    ----------
    loads, drives
        What is tried where.
    reference
        The drive to compare with, for workloads that did not bring response times along; None
        compares those that are tried with each other.
    duration_ns, seed
        Of the stretch that is tried.
    """
    every = [*drives, *([] if reference is None else [reference])]
    judge = Judge(loads, every, duration_ns=duration_ns, seed=seed)
    rows = alone(judge, progress=lambda share: progress("each workload on each drive", share))
    return [
        _ranking(load, rows[n * len(every) : (n + 1) * len(every)], len(drives))
        for n, load in enumerate(loads)
    ]


def _ranking(load: Load, every: list[dict[str, Any]], count: int) -> Ranking:
    """Sort the drives of a workload, the first `count`; a reference is behind them."""
    rows, rest = every[:count], every[count:]
    rows.sort(key=lambda row: _mean_ns(row) or float("inf"))
    traced = load.traced_latency_ns if isinstance(load, Traced) else None
    slowest = [row for row in rows if _mean_ns(row) is not None][-1:]
    name: str | None = None
    compared: float | None = None
    if traced is not None:
        name, compared = AS_TRACED, traced
    elif beside := rest or slowest:
        name, compared = beside[0]["drive"], _mean_ns(beside[0])
    for row in rows:
        mean = _mean_ns(row)
        row["times_faster"] = compared / mean if compared and mean else None
    given = traced is not None or bool(rest)
    verdict = _verdict(load, name if given else None, compared, rows)
    return Ranking(load.name, name, compared, rows, verdict)


def _mean_ns(row: dict[str, Any]) -> float | None:
    return float(row["seen"]["mean_ns"]) if row["seen"] and row["keeps_up"] else None


def _verdict(
    load: Load, reference: str | None, compared: float | None, rows: Sequence[dict[str, Any]]
) -> str:
    """Say which drive is the fastest, and of a reference whether that would help."""
    able = [row for row in rows if _mean_ns(row) is not None]
    if all(row["reason"] for row in rows):
        return f"No answer: {load.name} could be tried on none of these drives."
    if not able:
        return f"No: none of these drives keeps up with {load.name}."
    best = able[0]["seen"]
    like = [row["drive"] for row in able if _overlaps(row["seen"], best)]
    names = like[0] if len(like) == 1 else f"{', '.join(like[:-1])} and {like[-1]}, which are equal"
    takes = f"{names} ({format_duration(best['mean_ns'])} a request)"
    if reference is None:
        return _beside(load, takes, able, len(like))
    if compared is None:
        return f"Yes: {reference} cannot keep up with {load.name}; the fastest here is {takes}."
    against = f"{format_duration(compared)} {_where(reference)}"
    gain = compared / best["mean_ns"]
    if compared <= (best["high_ns"] or best["mean_ns"]):
        return f"No: nothing here is faster than {against} for {load.name}; best {takes}."
    return (
        f"Yes: {load.name} is answered {significant(gain, 2)} times as fast by {takes} as the "
        f"{against}."
    )


def _beside(load: Load, takes: str, able: Sequence[dict[str, Any]], first: int) -> str:
    """Say which of the drives is the fastest, and by how much before the next."""
    said = f"{load.name} is answered the fastest by {takes}"
    if first == len(able):
        return f"{said}." if first > 1 else f"{load.name} is kept up with by {takes}."
    following = able[first]
    gain = following["seen"]["mean_ns"] / able[0]["seen"]["mean_ns"]
    return f"{said}, {significant(gain, 2)} times as fast as by {following['drive']}."


def _where(reference: str) -> str:
    return AS_TRACED if reference == AS_TRACED else f"of {reference}"


def _overlaps(one: dict[str, Any], best: dict[str, Any]) -> bool:
    low, high = one["low_ns"], best["high_ns"]
    return one is best or (low is not None and high is not None and low <= high)

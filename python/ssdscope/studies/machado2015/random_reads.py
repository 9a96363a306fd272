"""Why random reads looked like writes: what could cause it, tried one by one.

The paper found random reads as slow as writes and sensitive to the settings of collection, and
left the reason open. Here the same random list is run as reads, as reads on an aged drive, as
reads between writes, and with its read bit cleared, at all ten sizes. Attribution says where the
time of a read goes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssdscope.probes.budget import StageProgress
from ssdscope.results import Log
from ssdscope.seeds import stream
from ssdscope.studies import judging
from ssdscope.studies.machado2015.procedure import (
    REGION_BYTES,
    REQUESTS,
    SIZES_BYTES,
    Configuration,
)
from ssdscope.studies.record import Claim, Table
from ssdscope.targets import Device
from ssdscope.targets.records import OP_READ, OP_WRITE

LOW = Configuration("greedy", 5, 32)
HIGH = Configuration("greedy", 50, 32)
AFFECTED_WITHIN = 0.005
"""A mean that the settings change by less is not affected."""
WHY = (
    "a read costs the same at any address and starts no collection; the paper's list was most "
    "likely run as writes, which cannot be proved without its traces"
)
"""Given where only the list that is run as writes shows what the paper saw."""
ADDRESS_CAUSES = ("gc", "merge", "rmw", "map")
"""Parts of a latency that depend on the address, or on what was written before."""


@dataclass(frozen=True)
class Candidate:
    """What was run in place of the paper's random reads.

    Attributes
    ----------
    means_ns
        By request size: with 5 % and with 50 % kept free.
    """

    name: str
    means_ns: dict[int, tuple[float, float]]


@dataclass(frozen=True)
class Evidence:
    """What was found.

    Attributes
    ----------
    reads, writes
        Those in order, which the candidates are compared with.
    parts
        Shares of the time of random reads, by cause.
    """

    reads: Candidate
    writes: Candidate
    candidates: list[Candidate]
    parts: dict[str, float]


def investigate(seed: int, progress: StageProgress, sizes: Sequence[int] = SIZES_BYTES) -> Evidence:
    """Run the candidates on the best and on a collecting 32 GB configuration."""
    drives = [configuration.open(seed).device for configuration in (LOW, HIGH)]
    means: dict[str, dict[int, tuple[float, float]]] = {}
    parts: dict[str, float] = {}
    for done, size in enumerate(sizes, start=1):
        rng = stream(seed, "studies.machado2015.random_reads")
        offsets = rng.integers(0, REGION_BYTES // size, size=REQUESTS) * size
        low, high = (_run(drive, offsets, size) for drive in drives)
        for name in low:
            pair = (_mean(low[name]), _mean(high[name]))
            means.setdefault(name, {})[size] = pair
        parts = _shares(high["random reads"])
        progress(f"random reads: {size // 1024} KB", done / len(sizes))
    reads, writes, *candidates = (Candidate(name, each) for name, each in means.items())
    return Evidence(reads, writes, candidates, parts)


def _run(device: Device, offsets: npt.NDArray[np.int64], size: int) -> dict[str, Log]:
    """Run each candidate from the same fresh state; those in order come first."""
    reads = np.full(REQUESTS, OP_READ)
    writes = np.full(REQUESTS, OP_WRITE)
    lengths = np.full(REQUESTS, size)
    in_order = np.arange(REQUESTS) * size
    aged = device.fork()
    aged.run_list(writes, offsets, lengths)
    mixed = device.fork().run_list(
        np.tile([OP_READ, OP_WRITE], REQUESTS), np.repeat(offsets, 2), np.repeat(lengths, 2)
    )
    return {
        "reads in order": device.fork().run_list(reads, in_order, lengths),
        "writes in order": device.fork().run_list(writes, in_order, lengths),
        "random reads": device.fork().run_list(reads, offsets, lengths),
        "random reads after random writes": aged.run_list(reads, offsets, lengths),
        "random reads between random writes": mixed.select(mixed.op == OP_READ),
        "random reads, read bit cleared": device.fork().run_list(writes, offsets, lengths),
    }


def _mean(log: Log) -> float:
    return float(log.latency_ns.mean())


def _shares(reads: Log) -> dict[str, float]:
    """Give the share of each cause in the time of all reads."""
    whole = float(reads.latency_ns.sum())
    parts = reads.attribution_ns or {}
    return {cause: float(column.sum()) / whole for cause, column in parts.items()}


def compare(evidence: Evidence) -> list[Claim]:
    """Ask whether random reads show all that the paper saw of them, and if not, what does."""
    reads, *others = evidence.candidates
    row = judging.claim(
        "random reads take much longer than those in order and about as long as writes, and the "
        "settings have a small effect on them",
        "all three",
        _told(evidence, reads),
        "",
        holds=all(_symptoms(evidence, reads)),
    )
    for each in others:
        if all(_symptoms(evidence, each)):
            return [judging.explained(row, WHY, f"{each.name}: {_told(evidence, each)}")]
    return [row]


def _over(one: Candidate, other: Candidate) -> list[float]:
    """Compare two at every size, with 5 % kept free."""
    return [pair[0] / other.means_ns[size][0] for size, pair in one.means_ns.items()]


def _effect(candidate: Candidate) -> float:
    """Give what 50 % kept free change most, as a ratio."""
    return max((high / low for low, high in candidate.means_ns.values()), key=lambda x: abs(x - 1))


def _symptoms(evidence: Evidence, candidate: Candidate) -> tuple[bool, bool, bool]:
    """Say which symptoms a candidate shows: slower than reads, like writes, affected."""
    effect = _effect(candidate)
    return (
        min(_over(candidate, evidence.reads)) > judging.SIMILAR_WITHIN,
        all(judging.similar(ratio, 1) for ratio in _over(candidate, evidence.writes)),
        abs(effect - 1) > AFFECTED_WITHIN and judging.similar(effect, 1),
    )


def _told(evidence: Evidence, candidate: Candidate) -> str:
    reads, writes = _over(candidate, evidence.reads), _over(candidate, evidence.writes)
    return (
        f"{_range(reads)} times reads in order, {_range(writes)} times writes in order, "
        f"{100 * (_effect(candidate) - 1):+.1f} % with 50 % kept free, "
        f"over {len(candidate.means_ns)} sizes"
    )


def _range(ratios: Sequence[float]) -> str:
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return low if low == high else f"{low} to {high}"


def table(evidence: Evidence) -> Table:
    """List the candidates with the symptoms they show."""
    columns = ("run in place of the paper's random reads", "times reads in order")
    more = ("times writes in order", "most by 50 % kept free", "all symptoms")
    rows = [
        (
            each.name,
            _range(_over(each, evidence.reads)),
            _range(_over(each, evidence.writes)),
            f"{100 * (_effect(each) - 1):+.2f} %",
            "yes" if all(_symptoms(evidence, each)) else "no",
        )
        for each in evidence.candidates
    ]
    return Table((*columns, *more), tuple(rows))


def attribution(evidence: Evidence) -> str:
    """Say where the time of the largest random reads goes, with 50 % kept free."""
    parts = {cause: share for cause, share in evidence.parts.items() if share}
    told = ", ".join(f"{cause} {100 * share:.1f} %" for cause, share in parts.items())
    depends = [cause for cause in ADDRESS_CAUSES if cause in parts]
    verdict = (
        f"{' and '.join(depends)} depend on address or collection"
        if depends
        else "no part depends on address or collection, and reads start no collection"
    )
    return f"time of a random read by cause: {told}; {verdict}"

"""Whether a unit is one indeed, and not several whose places repeat.

Units that lie on one chip by twos are written one after the other, and neighbours on two chips
side by side. Latency then repeats with the pair, and a boundary within a pair is seen where the
chips differ: the other one costs nothing, neither alone nor where one command is served at a time.

What tells them apart is the reading. A part of a unit is written with the rest of it, which must
be read; so the whole unit takes less than a part of it, but for the transfer. Of several units a
part that holds whole ones reads nothing, and more of them take no less. Writes from the beginning
of a unit on, of one block, of a part and of all of it, in random order; medians of each.

Of two units written from the first on, the first block of the second costs its whole reading; the
last block of the second saves that reading less a transfer, which is no more. Within a unit no
block more costs a reading, unless some of its pages come to wait for others. So it is borne out if
its last block surely saves something, and the first block behind its half and third costs less than
half of that, both but for the transfer, which is what other blocks of the unit add; while the first
block behind the unit must cost more. Units of one block read nothing: there any block that saves
something refutes them. What cannot be told from part of
a unit in that way, because pages are read in turns, may be written faster than its half and third
nevertheless; or faster than half of what those let expect that read nothing: of them a block takes
longer by a whole reading less a transfer, and what the rest of the unit adds is no less than that
transfer. Of a part of a unit that is about nothing. One reading is what the unit less a block takes
longer, at least. This way is closed where a part takes so much longer than a block that it could
have been programmed in turns.

Where the link takes as long for the rest of a unit as reading it would, one write after the other
shows no difference. With a full queue the link works while chips read and program: there wholes
get done sooner than as many parts if those must read, and never if parts are units of their own,
which give the chips less to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.gaps import between_bursts
from ssdscope.probes.rows import random_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.probes.write_through import Writer
    from ssdscope.targets.records import DeviceInfo

LOOKS = (256, 1024, 4096)
"""Writes of each length, in one look after the other."""
FEWEST = 64
"""Of each length, for a median in one look."""
PARTS = (2, 3)
SURE = 3.0
"""Standard errors of a difference."""
IN_TURNS = 0.5
"""How much longer than a block a part may take, as a share, to be programmed at once, or what is
between two parts."""
LOOK_SHARE = 8
"""Which part of the capacity a look may write."""
SENT = 0.5
"""Of what reading so much more takes: it takes no less to send it."""
DEPTH, BURST = 64, 128
"""Of a full queue, and writes into it."""
ROUNDS = (16, 64)
"""Bursts of each length, in one look after the other."""
SAVES, SURE_OF_BURSTS = 0.03, 4.0
"""What wholes must save in full queues, as a share and in standard errors."""


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written, with as much again that others disturbed."""
    return 2 * (len(LOOKS) + len(ROUNDS)) * info.capacity_bytes // LOOK_SHARE


def is_one(
    writer: Writer,
    unit: int,
    places: Callable[[np.random.Generator, int], NDArray[Any]],
    *,
    strict: bool,
) -> bool:
    """Say whether so many logical blocks are surely one unit.

    Parameters
    ----------
    places
        Gives so many first bytes of random units.
    strict
        Whether the first block behind the unit must be seen to cost, too.
    """
    parts = [unit // number for number in PARTS if unit % number == 0]
    lengths = sorted({1, unit - 1, unit, unit + 1, *parts, *(part + 1 for part in parts)})
    block = writer.bench.info.logical_block_bytes
    most = writer.bench.info.capacity_bytes // LOOK_SHARE // (sum(lengths) * block)
    samples: dict[int, NDArray[Any]] = {length: np.empty(0) for length in lengths}
    for look, wanted in enumerate(LOOKS):
        count = min(wanted, most)
        if count < FEWEST:
            break
        more = _latency_ns(writer, lengths, (look, count), places)
        samples = {length: np.append(samples[length], more[length]) for length in lengths}
        taken = {length: _median(sample) for length, sample in samples.items()}
        if _alone(taken, unit, parts):
            return True
        if not strict and all(_saves(taken, unit, part) for part in parts):
            return True
    return False


def _latency_ns(
    writer: Writer,
    lengths: list[int],
    turn: tuple[int, int],
    places: Callable[[np.random.Generator, int], NDArray[Any]],
) -> dict[int, NDArray[Any]]:
    """Write each length from the beginning of units on, so often as the turn and its count say."""
    bench, (look, count) = writer.bench, turn
    rng = bench.rng(f"parts of units {max(lengths)} {look}")
    blocks = rng.permuted(np.resize(lengths, count * len(lengths)))
    begins = places(rng, blocks.size)

    def write(part: slice) -> NDArray[Any]:
        sizes = blocks[part] * bench.info.logical_block_bytes
        return writer.latency_ns(begins[part], sizes)

    writer.renew()
    latency = between_bursts(bench, blocks.size, write, longest=blocks.size)
    return {length: latency[(blocks == length) & ~np.isnan(latency)] for length in lengths}


def _fitting(writer: Writer, lengths: list[int], wanted: int) -> int:
    """Count the writes of each length that a look may make."""
    info = writer.bench.info
    most = info.capacity_bytes // LOOK_SHARE // (sum(lengths) * info.logical_block_bytes)
    return min(wanted, most)


def _medians(
    writer: Writer,
    lengths: list[int],
    turn: tuple[int, int],
    places: Callable[[np.random.Generator, int], NDArray[Any]],
) -> list[tuple[float, float]] | None:
    """Give the median of each length and its error, as many as fit; None where too few do."""
    look, wanted = turn
    count = _fitting(writer, lengths, wanted)
    if count < FEWEST:
        return None
    taken = _latency_ns(writer, lengths, (look, count), places)
    return [_median(taken[length]) for length in lengths]


@dataclass(frozen=True)
class Edge:
    """What the first block behind a unit adds, and its standard error; ns."""

    more_ns: float
    error_ns: float


def edge(
    writer: Writer,
    unit: int,
    places: Callable[[np.random.Generator, int], NDArray[Any]],
    look: int,
) -> Edge | None:
    """Measure what is behind units of so many logical blocks; None where too few fit.

    Parameters
    ----------
    places
        Gives so many first bytes of random units.
    look
        Which of several: each draws places of its own.
    """
    taken = _medians(writer, [unit, unit + 1], (look, LOOKS[0]), places)
    if taken is None:
        return None
    (whole, error), (more, more_error) = taken
    return Edge(more - whole, float(np.hypot(error, more_error)))


def sent_too_fast(
    writer: Writer, unit: int, places: Callable[[np.random.Generator, int], NDArray[Any]]
) -> bool:
    """Say whether twice a unit takes so little longer that the rest must save something.

    Of units that are programmed side by side the second adds what it takes to send it, and so much
    is read no sooner.
    """
    lengths = [unit, 2 * unit]
    taken = _medians(writer, lengths, (len(LOOKS), LOOKS[1]), places)
    if taken is None:
        return True
    (one, _), (two, _) = taken
    bench, block = writer.bench, writer.bench.info.logical_block_bytes
    rng, count = bench.rng(f"as much read {unit}"), _fitting(writer, lengths, LOOKS[1])
    cache = bench.info.read_cache
    if cache.on and cache.control != "switchable":  # Near each other, places would be kept by it.
        end = bench.info.capacity_bytes - 2 * unit * block
        offsets = random_blocks(rng, 0, end, count, block)
    else:  # All over the drive, reads would wait for pieces of the mapping table, too.
        offsets = places(rng, count)
    writer.renew()
    with bench.without_caches(write=False):
        read = [_read_ns(bench, offsets, length * block) for length in lengths]
    return bool(two - one < SENT * (read[1] - read[0]))


def _read_ns(bench: Bench, offsets: NDArray[Any], size_bytes: int) -> float:
    """Give the median time of reads."""
    log = in_peace(bench, partial(bench.read, offsets, size_bytes))
    return float(np.median(log.latency_ns))


def whole_is_shorter(
    writer: Writer,
    part: int,
    unit: int,
    places: Callable[[np.random.Generator, int], NDArray[Any]],
    *,
    sure: float = SURE,
    look: int = 0,
    most_writes: int = LOOKS[0],
) -> bool:
    """Say whether it surely takes less to write so many blocks than the first ones of them alone.

    Not, if that is less than half: more than reading goes on then, which takes no longer than
    programming.

    Parameters
    ----------
    places
        Gives so many first bytes of random units.
    sure
        Standard errors.
    look
        Which of several: each draws places of its own.
    most_writes
        Of each length.
    """
    taken = _medians(writer, [part, unit], (look, most_writes), places)
    if taken is None:
        return False
    (some, some_error), (whole, error) = taken
    return bool(sure * np.hypot(some_error, error) < some - whole < whole)


def saves_in_full_queues(
    writer: Writer, unit: int, places: Callable[[np.random.Generator, int], NDArray[Any]]
) -> bool:
    """Say whether whole units surely get done sooner than as many of their halves and thirds.

    Parameters
    ----------
    places
        Gives so many first bytes of random units.
    """
    parts = [unit // number for number in PARTS if unit % number == 0]
    block = writer.bench.info.logical_block_bytes
    most = writer.bench.info.capacity_bytes // LOOK_SHARE // (BURST * (unit + sum(parts)) * block)
    rng = writer.bench.rng(f"parts of units in full queues {unit}")
    logs = np.empty((0, 1 + len(parts)))
    for rounds in ROUNDS:
        for _ in range(min(rounds, most)):
            row = np.empty(1 + len(parts))
            for number in rng.permutation(row.size):
                writer.renew()
                size, begins = [unit, *parts][number] * block, places(rng, BURST)
                ends = partial(writer.ends_ns, begins, size, iodepth=DEPTH)
                row[number] = np.log(max(in_peace(writer.bench, ends)[-1], 1.0))
            logs = np.vstack([logs, row])
        saved = logs[:, 1:] - logs[:, :1]
        error = 1.2533 * stats.mad((saved - np.median(saved, axis=0)).ravel()) / np.sqrt(len(logs))
        if parts and (np.median(saved, axis=0) > max(SAVES, SURE_OF_BURSTS * error)).all():
            return True
    return False


def _median(sample: NDArray[Any]) -> tuple[float, float]:
    """Give the median and its error."""
    return float(np.median(sample)), 1.2533 * float(stats.mad(sample)) / np.sqrt(sample.size)


def _alone(taken: dict[int, tuple[float, float]], unit: int, parts: list[int]) -> bool:
    """Whether the last block surely saves a reading that behind the unit and no part begins."""

    def surely(weights: dict[int, float]) -> bool:
        value = sum(weight * taken[length][0] for length, weight in weights.items())
        errors = [weight * taken[length][1] for length, weight in weights.items()]
        return bool(value > SURE * np.linalg.norm(errors))

    def less(length: int) -> dict[int, float]:
        """Give the saving less twice what the first block behind such a length costs."""
        weights = {unit - 1: 1.0, unit: -1.0}
        for at, weight in ((length + 1, -2.0), (length, 2.0)):
            weights[at] = weights.get(at, 0.0) + weight
        return weights

    def reads_less(part: int) -> bool:
        """Whether the last block saves more than twice the reading that one behind a part costs.

        Both are but for a transfer, which is what other blocks in between add, unless some are
        programmed in turns; it is not less than nothing, whatever noise says.
        """
        weights, between = less(part), unit - 1 - (part + 1)
        if surely(weights):
            return True
        if between > 0 and taken[unit - 1][0] - taken[part + 1][0] < IN_TURNS * taken[1][0]:
            weights[unit - 1] += 3.0 / between
            weights[part + 1] -= 3.0 / between
        return surely(weights)

    saves = surely({unit - 1: 1.0, unit: -1.0})
    behind = surely({length: -weight for length, weight in less(unit).items()})
    return saves and behind and all(reads_less(part) for part in parts if part > 1)


def _saves(taken: dict[int, tuple[float, float]], unit: int, part: int) -> bool:
    """Whether the whole surely takes less than a part lets expect that needs no reading."""
    (whole, error), (some, part_error), (one, one_error) = (taken[n] for n in (unit, part, 1))
    if some - whole > SURE * np.hypot(error, part_error):
        return True
    if part == 1 or some - one > IN_TURNS * one:
        return False
    less, less_error = taken[unit - 1]
    more = (unit - part) / (part - 1)
    beyond = (whole - some) - more * (some - one) - more * (less - whole) / 2
    errors = (
        (1 + more / 2) * error,
        (1 + more) * part_error,
        more * one_error,
        more * less_error / 2,
    )
    return bool(beyond < -SURE * np.linalg.norm(errors))

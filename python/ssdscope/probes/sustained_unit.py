"""The RMW unit behind a write buffer that stays on: by how fast small writes go on for long.

Physics. A protected buffer hides how long a write takes, but no rate: once it is full, a write
waits until as much has left it. What has left as a part of a unit of U bytes was read, completed
and written; a whole one is written only. So writes of U bytes at multiples of U go on faster than
any shorter ones, which is what nothing else brings about: whatever a shorter write touches, of
pages, planes, units of the buffer or runs in which that is emptied, a longer one that contains
it touches too. Longer ones take another unit, and shifted by half their size whole ones
become two parts. (kuo2009 leaves the buffer that stays on to future work.)

Statistic. Bursts of each size, at random multiples of it in a stretch of the drive; of each the
time per write in its second half. The last quarter must be like the one before it. Bursts that are
held against each other write to the same units in the same order, as chips are not met evenly.

Decision. The size that goes on the fastest is the candidate. In fresh bursts, in random order,
and in both halves of these: all shorter ones take longer; all longer ones much longer; shifted by
half it takes nearly twice as long, or longer; and twice the size, shifted by the size, takes as
long as not shifted (else it were half a unit, and all units began in the middle of a size).
Merges, collection, and a link that is slower than the flash hide it, and then there is no answer;
so it is if units do not begin at multiples of their size.

A buffer might complete its own units: the answer must be larger than those, and than 4 KiB.

Assumptions. Units are 8 to 64 KiB, a power of two or three times that. Cost: some forty bursts of
at most 1024 writes, three quarters of the capacity at most. Source: PROBING.md 2.1, 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.findings import Axis, Contrast, Detected, Evidence, Exhibit, Finding, Period, series
from ssdscope.probes.discipline import in_peace
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

KIB = 1024
SIZES_BYTES = tuple(KIB * each for each in (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128))
SMALLEST_BYTES, LARGEST_BYTES = 8 * KIB, 64 * KIB
STRETCH_BYTES = 16 << 20
"""Where bursts go: a small part of the mapping table and of the merge units."""
MOST_WRITES, FEWEST_WRITES = 1024, 64
SURVEY_SHARE, ROUNDS_SHARE = 0.25, 0.5
"""Of the capacity, that the first bursts write and those that confirm."""
ROUNDS = 4
DEPTH = 16
SETTLED = 0.2
SLOWER_SHORTER, SLOWER_LONGER, SHIFTED = 1.03, 1.3, 1.8
"""Times what a whole unit takes: less of it, more than it, and as much across two."""
ALIKE = 1.15

Kind = tuple[int, int, int]
"""Bytes of a write, and by how much it is shifted from multiples of how many bytes."""


def writes_bytes(info: DeviceInfo) -> int:
    """Give the most that is written."""
    return int((SURVEY_SHARE + ROUNDS_SHARE) * info.capacity_bytes)


def detect(
    bench: Bench, unit: str, phase: str, probe: str, held_bytes: int | None
) -> list[Finding]:
    """Answer the unit and its phase, or nothing.

    Parameters
    ----------
    unit, phase, probe
        Names of the properties and of who asks.
    held_bytes
        What the buffer takes room in; None if that is not known.
    """
    block = bench.info.logical_block_bytes
    kinds: list[Kind] = [(size, 0, size) for size in SIZES_BYTES if size % block == 0]
    survey = _rounds(bench, kinds, 1, SURVEY_SHARE)
    if survey is None:
        return []
    size = min(kinds, key=lambda kind: float(np.nan_to_num(survey[kind][0], nan=np.inf)))[0]
    fits = SMALLEST_BYTES <= size <= LARGEST_BYTES and size // 2 % block == 0
    if not fits or size <= (held_bytes or 0):
        return []
    times = _rounds(bench, _around(size, block), ROUNDS, ROUNDS_SHARE)
    if times is None or not all(_whole(times, size, half) for half in (0, 1)):
        return []
    means = {kind: float(np.exp(np.nanmean(times[kind]))) for kind in times}
    common: dict[str, Any] = {
        "probe": probe,
        "effect": means[size, size // 2, size] / means[size, 0, size] - 1,
        "evidence": _evidence(means, size),
    }
    return [
        Detected(name=unit, value=size, interval=None, **common),
        Detected(name=phase, value=0, interval=None, **common),
    ]


def _around(size: int, block: int) -> list[Kind]:
    """Give what tells of a size whether it is a whole unit."""
    parts = [each for each in SIZES_BYTES if each < size and not (size % each or each % block)]
    more = [each for each in SIZES_BYTES if size < each <= 2 * size and each % block == 0]
    return [
        *((each, 0, size) for each in (*parts, size)),
        *((each, 0, each) for each in more),
        (size, size // 2, size),
        (2 * size, size, 2 * size),
    ]


def _rounds(
    bench: Bench, kinds: list[Kind], rounds: int, share: float
) -> dict[Kind, NDArray[Any]] | None:
    """Write bursts of each kind; logarithms of the time per write, shapes (rounds,).

    Those that had not settled are NaN. None if there is no room for bursts that tell.
    """
    each_bytes = sum(kind[0] for kind in kinds) * rounds
    count = min(int(share * bench.info.capacity_bytes) // each_bytes, MOST_WRITES)
    if count < FEWEST_WRITES or bench.info.capacity_bytes < 2 * STRETCH_BYTES:
        return None
    rng = bench.rng(f"sustained units {rounds}")
    times = {kind: np.full(rounds, np.nan) for kind in kinds}
    for turn in range(rounds):
        draws = rng.integers(0, STRETCH_BYTES, count)
        for number in rng.permutation(len(kinds)):
            kind = kinds[number]
            times[kind][turn] = _burst(bench, kind, draws)
        bench.progress("how fast small writes go on", (turn + 1) / rounds)
    return times


def _burst(bench: Bench, kind: Kind, draws: NDArray[np.int64]) -> float:
    """Write a burst; the logarithm of the time per write later on, NaN if it had not settled."""
    size, shift, step = kind
    bench.renew(State.FILLED)
    places = draws % (STRETCH_BYTES // step - 1) * step + shift
    count = places.size
    log = in_peace(bench, lambda: bench.write(places, size, iodepth=DEPTH))
    ends = np.sort(np.asarray(log.complete_ns, float))
    at = [count // 2 - 1, 3 * count // 4 - 1, count - 1]
    third, last = np.diff(ends[at]) / np.diff(at)
    if min(third, last) <= 0 or abs(np.log(last / third)) > SETTLED:
        return float("nan")
    return float(np.log((ends[at[2]] - ends[at[0]]) / (at[2] - at[0])))


def _whole(times: dict[Kind, NDArray[Any]], size: int, half: int) -> bool:
    """Whether a size is a whole unit, by every other round; of each a burst must have settled."""
    if any(np.isnan(row[half::2]).all() for row in times.values()):
        return False
    logs = {kind: float(np.nanmean(row[half::2])) for kind, row in times.items()}
    over = {kind: float(np.exp(each - logs[size, 0, size])) for kind, each in logs.items()}
    shorter = [ratio for (each, _, _), ratio in over.items() if each < size]
    longer = [ratio for (each, _, _), ratio in over.items() if each > size]
    shifted = over[2 * size, size, 2 * size] / over[2 * size, 0, 2 * size]
    return bool(
        min(shorter, default=0.0) >= SLOWER_SHORTER
        and min(longer) >= SLOWER_LONGER
        and over[size, size // 2, size] >= SHIFTED
        and 1 / ALIKE <= shifted <= ALIKE
    )


def _evidence(means_ns: dict[Kind, float], size: int) -> Evidence:
    aligned = [kind[0] for kind in means_ns if not kind[1]]
    took = [means_ns[kind] for kind in means_ns if not kind[1]]
    across = means_ns[size, size // 2, size]
    whole = means_ns[size, 0, size]
    shifted = Contrast(
        one="shifted by half", other="within units",
        one_at=across, other_at=whole, ratio=across / whole,
    )  # fmt: skip
    exhibit = Exhibit(
        name="sustained-writes",
        title="What a write takes while the buffer is full",
        caption="Whole units are not read before; less, or more, or across two takes longer.",
        x=Axis("bytes of a write", "bytes", log=True),
        y=Axis("time per write", "ns", log=True),
        series=(
            series("within units", aligned, took, "points"),
            series("shifted by half", [size], [across], "points"),
        ),
        fitted=(Period(period=float(size), word="unit"), shifted),
    )
    return Evidence(exhibits=(exhibit,), figures={"by": "sustained writes", "shifted_ns": across})

"""The probe `internal_volumes`: bits of the address that choose between parts that work alone.

Physics. Where bits of the address choose the chip, reads that all have one of these bits the same
reach only half of the chips, and at depth take up to twice as long (SSDcheck's allocation volumes;
PROBING.md 3.1).

Design. Bursts of random reads of a logical block at depth, with one bit fixed to 0 or 1 against
none fixed, every
bit once per block in random order. Low bits are tried within a window of 16 MiB, another in every
block, so that a mapping table in parts costs little; high bits over the whole drive. A second
stage fixes all bits found, and all but one: then a few chips alone are at work, whatever the
link can carry, and each bit that is free must nearly double the rate.

Statistic. The log of the time of a burst over that of the free burst of its block; one-sided
t tests, Holm over all bits, in both halves of the blocks.

Decision. Detected if both halves name the same bits and each of them nearly doubles the rate alone.
Bits that do less are spread over others by sizes that are no powers of two: `masked`. Absent if no
bit costs 3 % and the chips were busy, by the interleave degree; where depth gains nothing, nothing
can be told (`link_bound`).

Assumptions. The drive was filled in order, and a part that an address falls on is either chosen by
the address or, as on drives that place by order of arrival, was given to it by that fill. Of a
drive that merges log blocks bits below the merge unit are tried: units change their places.

Cost. Some 200,000 reads; nothing is written but the filling.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope.probes.discipline import in_peace
from ssdscope.probes.finding import Absent, Detected, Finding, Reason, Undetectable
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.picture import Axis, Picture, series
from ssdscope.probes.states import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ssdscope.probes.bench import Bench
    from ssdscope.targets.records import DeviceInfo

NAME, PROPERTY = "internal_volumes", "internal_volume_bits"

SMALLEST_PAGE_BYTES = 2048
WINDOW_BITS = 24
DEPTH = 256
BURST = 1024
BLOCKS = 12
ALPHA = 0.01
NO_EFFECT = 0.03
"""A bit that costs less does not matter to anyone."""
DOUBLES = 1.6
"""What one free bit must gain at least, all other volume bits being fixed. With so few chips at
work and a queue that is always full it would be 2; not every queue is full."""
DEPTH_GAINS = 1.3
BUSY = 0.6
"""Of the interleave degree, what depth must gain for the chips, not the link, to be the limit."""


@dataclass(frozen=True)
class _Ratios:
    """How much longer a burst takes than the free one of its block; in logarithms.

    Attributes
    ----------
    bits
        Which was fixed; shape (n,).
    logs
        Shape (blocks, n).
    """

    bits: NDArray[np.int64]
    logs: NDArray[Any]

    def none(self) -> _Ratios:
        """Give the ratios of no bit."""
        return _Ratios(self.bits[:0], self.logs[:, :0])


def detect(bench: Bench) -> Iterator[Finding]:
    """Answer with the bits, ascending, joined by commas."""
    info = bench.info
    size = info.logical_block_bytes
    first = max(SMALLEST_PAGE_BYTES, size).bit_length() - 1
    low = np.arange(first, min(WINDOW_BITS, _last_bit(info) + 1))
    high = np.arange(WINDOW_BITS, _last_bit(info) + 1)
    merge = bench.found("merge_unit_bytes")
    if merge is not None:
        low, high = low[1 << low < int(merge)], high[1 << high < int(merge)]
    if not low.size or _last_bit(info) < WINDOW_BITS:
        yield Undetectable(name=PROPERTY, probe=NAME, reason=Reason.RANGE_TOO_SMALL)
        return
    switchable = info.read_cache.control == "switchable"
    with bench.caches(read=False if switchable else None):
        gain = _gain(bench, size)
        if gain < DEPTH_GAINS:
            yield Undetectable(name=PROPERTY, probe=NAME, reason=Reason.LINK_BOUND)
            return
        near = _measure(bench, low, size, 1 << WINDOW_BITS)
        bench.progress("address bits", 0.5)
        far = _measure(bench, high, size, info.capacity_bytes) if high.size else near.none()
        bench.progress("address bits", 0.8)
        ratios = _Ratios(np.concatenate([near.bits, far.bits]), np.hstack([near.logs, far.logs]))
        yield _finding(bench, ratios, size, gain)


def _last_bit(info: DeviceInfo) -> int:
    """Give the highest bit that is 1 on half of the drive or nearly so."""
    return info.capacity_bytes.bit_length() - 2


def _gain(bench: Bench, size: int) -> float:
    """How many times faster random reads are at depth than alone."""
    rng = bench.rng(NAME)
    slots = bench.info.capacity_bytes // size
    times = [
        _burst_ns(bench, rng.integers(0, slots, BURST) * size, size, depth)
        for depth in (DEPTH, 1, DEPTH, 1)
    ]
    return min(times[1], times[3]) / max(times[0], times[2])


def _burst_ns(bench: Bench, offsets: NDArray[Any], size: int, depth: int = DEPTH) -> float:
    log = in_peace(bench, partial(bench.read, offsets, size, iodepth=depth))
    return float(log.complete_ns.max() - log.submit_ns.min())


def _measure(bench: Bench, bits: NDArray[np.int64], size: int, window: int) -> _Ratios:
    """Time bursts with each bit fixed and with none, in randomised complete blocks."""
    rng = bench.rng(f"{NAME} {window}")
    logs = np.empty((BLOCKS, bits.size))
    last = max(bench.info.capacity_bytes // window - 1, 0)
    for block in range(BLOCKS):
        base = int(rng.integers(0, last + 1)) * window
        end = min(base + window, bench.info.capacity_bytes)
        _burst_ns(bench, _places(rng, base, end, size, ()), size)  # loads the mapping table
        times = np.empty(bits.size + 1)
        for treatment in rng.permutation(bits.size + 1):
            fixed = () if treatment == bits.size else (int(bits[treatment]),)
            times[treatment] = _burst_ns(bench, _places(rng, base, end, size, fixed), size)
        logs[block] = np.log(times[:-1] / times[-1])
    return _Ratios(bits, logs)


def _places(
    rng: np.random.Generator, base: int, end: int, size: int, fixed: Sequence[int]
) -> NDArray[np.int64]:
    """Draw places of a burst between two addresses, with some bits of all of them alike."""
    drawn = base + rng.integers(0, (end - base) // size, 4 * BURST) * size
    for bit in fixed:
        drawn = drawn & ~(1 << bit) | (int(rng.integers(2)) << bit)
    fitting = drawn[drawn + size <= end]
    return np.resize(fitting, BURST)


def _finding(bench: Bench, ratios: _Ratios, size: int, gain: float) -> Finding:
    halves = [_significant(ratios.logs[half::2]) for half in (0, 1)]
    common: dict[str, Any] = {"probe": NAME, "evidence": _evidence(ratios)}
    if (halves[0] != halves[1]).any():
        return Undetectable(name=PROPERTY, reason=Reason.EFFECT_BELOW_NOISE, **common)
    bits = [int(bit) for bit in ratios.bits[halves[0]]]
    if not bits:
        degree = bench.found("interleave_degree")
        busy = degree is not None and gain >= BUSY * float(degree)
        return _nothing(ratios, busy, common)
    gains = _gains(bench, bits, size)
    common["evidence"] |= {"bits": bits, "gain_of_one_free_bit": gains}
    if min(gains) < DOUBLES:
        return Undetectable(name=PROPERTY, reason=Reason.MASKED, **common)
    effect = float(np.expm1(ratios.logs[:, halves[0]].mean()))
    value = ",".join(map(str, bits))
    return Detected(name=PROPERTY, value=value, interval=None, effect=effect, **common)


def _significant(logs: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which bits cost something, by Holm's procedure."""
    p_values = _p_values(logs)
    order = np.argsort(p_values)
    passed = p_values[order] <= ALPHA / np.arange(p_values.size, 0, -1)
    kept = order[: int(np.argmin(passed)) if not passed.all() else passed.size]
    found = np.zeros(p_values.size, np.bool_)
    found[kept] = True
    return found


def _p_values(logs: NDArray[Any]) -> NDArray[Any]:
    """One-sided p values that a bit costs no more than `NO_EFFECT`."""
    from scipy.special import stdtr

    above = logs.mean(axis=0) - np.log1p(NO_EFFECT)
    error = _errors(logs)
    return np.asarray(1 - stdtr(len(logs) - 1, above / error))


def _errors(logs: NDArray[Any]) -> NDArray[Any]:
    """Give the standard error of the mean of each bit; the scatter of one bit is that of all."""
    own = logs.std(axis=0, ddof=1)
    return np.asarray(np.maximum(own, np.median(own)) / np.sqrt(len(logs)) + 1e-9)


def _nothing(ratios: _Ratios, busy: bool, common: dict[str, Any]) -> Finding:
    """Say that no bit matters, if none could have been missed: if the chips were all busy."""
    upper = float(np.expm1((ratios.logs.mean(axis=0) + 2 * _errors(ratios.logs)).max()))
    if upper > NO_EFFECT or not busy:
        return Undetectable(name=PROPERTY, reason=Reason.EFFECT_BELOW_NOISE, **common)
    return Absent(
        name=PROPERTY,
        bound=upper,
        reason="random reads are as fast with any bit of the address fixed",
        **common,
    )


def _gains(bench: Bench, bits: list[int], size: int) -> list[float]:
    """How many times faster reads are with one of the bits free than with all fixed."""
    rng = bench.rng(f"{NAME} gains")
    window = 1 << WINDOW_BITS if max(bits) < WINDOW_BITS else bench.info.capacity_bytes
    last = max(bench.info.capacity_bytes // window - 1, 0)
    logs = np.empty((BLOCKS, len(bits)))
    for block in range(BLOCKS):
        base = int(rng.integers(0, last + 1)) * window
        end = min(base + window, bench.info.capacity_bytes)
        _burst_ns(bench, _places(rng, base, end, size, ()), size)
        times = np.empty(len(bits) + 1)
        for treatment in rng.permutation(len(bits) + 1):
            fixed = [bit for number, bit in enumerate(bits) if number != treatment]
            times[treatment] = _burst_ns(bench, _places(rng, base, end, size, fixed), size)
        logs[block] = np.log(times[-1] / times[:-1])
    return [float(gain) for gain in np.exp(np.median(logs, axis=0))]


def _evidence(ratios: _Ratios) -> dict[str, Any]:
    mean, error = ratios.logs.mean(axis=0), _errors(ratios.logs)
    picture = Picture(
        title="Random reads with one bit of the address fixed",
        caption="Where a bit chooses between two halves of the chips, fixing it doubles the time.",
        x=Axis("bit of the byte address"),
        y=Axis("time over that of free reads"),
        series=[
            series(
                "bit fixed",
                ratios.bits,
                np.exp(mean),
                "points",
                low=np.exp(mean - 2 * error),
                high=np.exp(mean + 2 * error),
            )
        ],
    )
    return {
        "bits_tried": ratios.bits.tolist(),
        "time_ratio": np.exp(mean).tolist(),
        "blocks": len(ratios.logs),
        "picture": picture.to_json(),
    }


PROBE = ProbeInfo(
    name=NAME,
    summary="bits of the address that choose between parts of the drive",
    weight="standard",
    properties=(PROPERTY,),
    cost="some 200,000 reads",
    detect=detect,
    state=State.FILLED,
)

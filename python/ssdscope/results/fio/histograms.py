"""fio's logs of histograms (``write_hist_log``): requests counted by latency, window by window.

A line is milliseconds, direction, block size, then a count for each bin since the line before.
How many bins there are says how many of fio's each joins, and whether they are nanoseconds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.errors import TraceError, UsageError
from ssdscope.results.fio import bins
from ssdscope.results.fio.windows import Span, ran
from ssdscope.targets.told import IN_THOUSANDTHS

Counts = npt.NDArray[np.int64]
LAYOUT = (
    "ms, 0|1|2, bytes, then 1,856 counts (fio 3) or 1,216 (fio 2), or these halved up to 6 times"
)
NAMES = ("read", "write", "discard")
_HEAD = 3
_MOST_BAD = 5
_MS_NS = 1_000_000


@dataclass
class Tally:
    """What the log of a job holds.

    Attributes
    ----------
    times_ms
        Of its lines, in their order.
    bad_lines, first_bad_lines
        Lines left out, and the first of them.
    counts, bytes
        Requests by latency in ns, and what they moved, by direction.
    """

    times_ms: list[int] = field(default_factory=list)
    bad_lines: int = 0
    first_bad_lines: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, dict[float, int]] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)

    @property
    def span(self) -> Span:
        """Say when the job ran."""
        steps = np.diff(sorted(set(self.times_ms)))
        period = int(np.median(steps)) if len(steps) else self.times_ms[-1]
        return Span(0, self.times_ms[-1] * _MS_NS, period * _MS_NS)


def section(tallies: Sequence[Tally], name: str) -> dict[str, Any] | None:
    """Add up a direction over jobs, in the keys of a run; times are those of fio's bins."""
    known = [each for each in tallies if each.times_ms]
    counts = bins.joined([each.counts.get(name, {}) for each in known])
    if not counts:
        return None
    requests, moved = sum(counts.values()), sum(each.bytes.get(name, 0) for each in known)
    mean = bins.mean(counts)
    square = sum(count * (time - mean) ** 2 for time, count in counts.items()) / requests
    took_ns, shares = ran([each.span for each in known])
    iops = sum(
        sum(each.counts.get(name, {}).values()) / each.span.end_ns * share * 1e9
        for each, share in zip(known, shares, strict=True)
        if took_ns
    )
    return {
        "requests": requests,
        "bytes": moved,
        "iops": iops or None,
        "bandwidth_bytes_per_s": iops * moved / requests or None,
        "latency_ns": {
            "mean": mean,
            "stddev": square**0.5,
            "ci95_low": None,
            "ci95_high": None,
            "min": min(counts),
            **{key: bins.percentile(counts, share / 10) for key, share in IN_THOUSANDTHS.items()},
            "max": max(counts),
        },
        "percentile_method": "fio-bins",
        "ci95_method": None,
        "attribution_ns": None,
    }


def read(path: str, *, skip_bad: bool) -> Tally:
    """Read a log.

    Raises
    ------
    UsageError
        If it cannot be read.
    TraceError
        If a line is not as fio writes it, unless those are to be left out.
    """
    tally, sums = Tally(), dict[tuple[int, int], Counts]()
    width = None
    for number, line in enumerate(_lines(path), start=1):
        values = _numbers(line)
        if values is not None and len(values) == 0:
            continue
        if values is None or not _fits(values, width):
            if not skip_bad:
                raise TraceError(f"{path}, line {number}: expected {LAYOUT}")
            tally.bad_lines += 1
            if len(tally.first_bad_lines) < _MOST_BAD:
                shown = line[:60].decode("utf-8", errors="replace")
                tally.first_bad_lines.append({"line": number, "text": shown, "expected": LAYOUT})
            continue
        width = len(values)
        key = (int(values[1]), int(values[2]))
        sums[key] = sums.get(key, np.zeros(width - _HEAD, dtype=np.int64)) + values[_HEAD:]
        tally.times_ms.append(int(values[0]))
    for (direction, size), counts in sums.items():
        _take(tally, NAMES[direction], size, counts)
    return tally


def _take(tally: Tally, name: str, size: int, counts: Counts) -> None:
    times = bins.times_of(len(counts))
    if times is None:  # or the line had been refused
        return
    found = {float(times[place]): int(counts[place]) for place in np.flatnonzero(counts)}
    tally.counts[name] = bins.joined([tally.counts.get(name, {}), found])
    tally.bytes[name] = tally.bytes.get(name, 0) + size * int(counts.sum())


def _lines(path: str) -> Iterator[bytes]:
    import pyarrow as pa

    try:
        with pa.input_stream(path, compression="detect") as stream:
            rest = b""
            while chunk := stream.read(1 << 20):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines
            yield rest
    except (OSError, pa.ArrowInvalid) as error:
        raise UsageError(f"cannot read {path}: {str(error).splitlines()[0]}") from None


def _numbers(line: bytes) -> Counts | None:
    """Read a line; nothing of a blank one, None of one that holds something else."""
    try:
        return np.array(line.split(b",") if line.strip() else [], dtype=np.int64)
    except (ValueError, OverflowError):
        return None


def _fits(values: Counts, width: int | None) -> bool:
    if width is not None:
        return len(values) == width and 0 <= values[1] < len(NAMES) and bool((values >= 0).all())
    times = bins.times_of(len(values) - _HEAD)
    return times is not None and 0 <= values[1] < len(NAMES) and bool((values >= 0).all())

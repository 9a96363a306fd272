"""What the paper says of figures 3 to 7, beside what these runs say."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ssdscope.studies import judging
from ssdscope.studies.huang2011.procedure import FAST_LINK, Curve, Rows
from ssdscope.studies.record import Claim, Verdict
from ssdscope.workloads.grid import Row

SSDS = ("SSD_I", "SSD_S")
MOSTLY_READS = "90 % reads: latency and bandwidth of SSD_S"
SIMILAR_READS = "the SSDs read at similar speed but differ greatly in writes"
_SHEET = (
    "table I has SSD_S read 100 MB/s, at which 256 KB take 2.6 ms: the figure and the data sheet "
    "cannot both hold, and the preset keeps to the data sheet"
)
CONTRADICTED = {MOSTLY_READS: ("3", 10), SIMILAR_READS: ("5", 0)}
"""Claims that no SSD_S of the data sheet fulfils: the figure, and the share of writes to try it at
behind a faster link."""
MIXED = "mixed"


def compare(figure: str, rows: Rows, tried: Mapping[str, Row] | None = None) -> list[Claim]:
    """Give every claim about a figure.

    Parameters
    ----------
    tried
        By the name of a claim that the data sheet contradicts: the run of SSD_S behind a link of
        `FAST_LINK`. If the claim holds there, the data sheet is what it fails by.
    """
    lines, found = _Lines(rows), tried or {}
    claims = _CLAIMS[figure](lines)
    return [
        _by_the_sheet(row, lines, found[row.what]) if row.what in found else row for row in claims
    ]


def _by_the_sheet(row: Claim, lines: "_Lines", fast: Row) -> Claim:
    """Explain a claim that holds behind a faster link."""
    ms, mb_s = fast.latency_ns / 1e6, fast.bandwidth_bytes_per_s / 1e6
    if row.what == MOSTLY_READS:
        holds = _about_two_ms(ms, mb_s)
    else:
        holds = judging.similar(ms, lines.ms("SSD_I", "reads")[-1])
    told = (
        f"behind a link of {FAST_LINK / 1e6:.0f} MB/s SSD_S takes {ms:.2f} ms, at {mb_s:.0f} MB/s"
    )
    return judging.explained(row, _SHEET, told) if holds else row


class _Lines:
    """The runs of a figure, by drive and line."""

    def __init__(self, rows: Rows) -> None:
        self._rows = {(curve.device, curve.name): (curve, points) for curve, points in rows.items()}

    def curve(self, device: str, name: str) -> Curve:
        return self._rows[device, name][0]

    def ms(self, device: str, name: str) -> list[float]:
        return [row.latency_ns / 1e6 for row in self._rows[device, name][1]]

    def mb_s(self, device: str, name: str) -> list[float]:
        return [row.bandwidth_bytes_per_s / 1e6 for row in self._rows[device, name][1]]

    def iops(self, device: str, name: str) -> list[float]:
        return [row.iops for row in self._rows[device, name][1]]


def _figure_3(lines: _Lines) -> list[Claim]:
    devices = (*SSDS, "HDD_S")
    at = lines.curve("SSD_I", MIXED).x.index(10)
    growth = {d: lines.ms(d, MIXED)[-1] / lines.ms(d, MIXED)[0] for d in devices}
    writes = {device: lines.ms(device, MIXED)[-1] for device in devices}
    best = [
        min(lines.ms(d, MIXED)[i] for d in devices) == lines.ms("SSD_I", MIXED)[i]
        for i in range(len(lines.ms("SSD_I", MIXED)))
    ]
    return [
        *(_mostly_reads(device, lines, at) for device in SSDS),
        *_disk_mostly_reads(lines, at),
        *(
            _claim(
                f"more writes cost {device} much",
                "large influence",
                f"writes take {growth[device]:.1f} times as long as reads",
                not judging.similar(growth[device], 1),
            )
            for device in SSDS
        ),
        _claim(
            "more writes cost the disk little",
            "small changes",
            f"writes take {growth['HDD_S']:.2f} times as long as reads",
            judging.similar(growth["HDD_S"], 1),
        ),
        _claim(
            "where writes prevail, the disk outruns SSD_S",
            "yes",
            _told(writes, "ms"),
            writes["HDD_S"] < writes["SSD_S"],
        ),
        _claim(
            "SSD_I outruns both in most cases",
            "yes",
            f"{sum(best)} of {len(best)} shares of writes",
            sum(best) > len(best) / 2,
        ),
    ]


def _mostly_reads(device: str, lines: _Lines, at: int) -> Claim:
    """Hold an SSD to "about 2 ms", which has one digit, and to the interval of its bandwidth."""
    ms, mb_s = lines.ms(device, MIXED)[at], lines.mb_s(device, MIXED)[at]
    return _claim(
        f"90 % reads: latency and bandwidth of {device}",
        "about 2 ms, 100 to 150 MB/s",
        f"{ms:.2f} ms, {mb_s:.0f} MB/s",
        _about_two_ms(ms, mb_s),
    )


def _about_two_ms(ms: float, mb_s: float) -> bool:
    return 1.5 <= ms < 2.5 and 100 <= mb_s <= 150


def _disk_mostly_reads(lines: _Lines, at: int) -> list[Claim]:
    ms, mb_s = lines.ms("HDD_S", MIXED)[at], lines.mb_s("HDD_S", MIXED)[at]
    times = ms / lines.ms("SSD_I", MIXED)[at]
    five = _claim(
        "90 % reads: the disk takes five times as long as the SSDs",
        "5 times",
        f"{times:.1f} times as long as SSD_I",
        4.5 <= times < 5.5,
    )
    contradicts = (
        "256 KB in five times 2 ms are 26 MB/s, and at the paper's 20 MB/s they take 13 ms: no "
        "disk does both"
    )
    rate = _claim(
        "90 % reads: bandwidth of the disk",
        "around 20 MB/s",
        f"{mb_s:.1f} MB/s",
        judging.quoted(20, mb_s),
    )
    if rate.verdict == Verdict.AGREES:
        said = f"the run at {mb_s:.1f} MB/s took {ms:.1f} ms"
        five = judging.explained(five, contradicts, said)
    return [five, rate]


def _figure_4(lines: _Lines) -> list[Claim]:
    devices = (*SSDS, "HDD_S")
    growth = {d: lines.ms(d, "writes")[-1] / lines.ms(d, "writes")[0] for d in devices}
    deep = {d: lines.ms(d, "writes")[-1] for d in devices}
    # From depth 4 on.
    gain = {d: lines.mb_s(d, "writes")[-1] / lines.mb_s(d, "writes")[2] for d in devices}
    return [
        _claim(
            "queue depth drives latency, on all three",
            "significantly",
            "64 in flight: " + _told(growth, "times as long"),
            min(growth.values()) > 5,
        ),
        _claim(
            "SSD_I is best and SSD_S worst under load",
            "SSD_I < HDD_S < SSD_S",
            "writes, 64 in flight: " + _told(deep, "ms"),
            deep["SSD_I"] < deep["HDD_S"] < deep["SSD_S"],
        ),
        _claim(
            "bandwidth hardly changes once saturated",
            "minimal",
            "writes, from 4 to 64 in flight: " + _told(gain, "times"),
            all(judging.quoted(1, each) for each in gain.values()),
        ),
    ]


def _figure_5(lines: _Lines) -> list[Claim]:
    devices = (*SSDS, "HDD_S")
    straight = {
        f"{d} {name}": bend(lines.curve(d, name).x, lines.ms(d, name))
        for d in devices
        for name in ("reads", "writes")
    }
    reads, writes = ({d: lines.ms(d, name)[-1] for d in SSDS} for name in ("reads", "writes"))
    return [
        _claim(
            "latency grows along a line with the size",
            "a clear linear trend",
            "correlation " + ", ".join(f"{value:.3f}" for value in straight.values()),
            min(straight.values()) > 0.95,
        ),
        _claim(
            "writes of SSD_S are slower than those of HDD_S",
            "yes",
            _told({d: lines.ms(d, "writes")[-1] for d in ("SSD_S", "HDD_S")}, "ms at 256 KB"),
            lines.ms("SSD_S", "writes")[-1] > lines.ms("HDD_S", "writes")[-1],
        ),
        _claim(
            SIMILAR_READS,
            "yes",
            f"256 KB: reads {_told(reads, 'ms')}; writes {_told(writes, 'ms')}",
            judging.similar(*reads.values()) and not judging.similar(*writes.values()),
        ),
        _claim(
            "for reads both SSDs are far ahead of the disk",
            "clear advantage",
            _told({d: lines.ms(d, "reads")[-1] for d in devices}, "ms at 256 KB"),
            max(lines.ms(d, "reads")[-1] for d in SSDS) < lines.ms("HDD_S", "reads")[-1] / 2,
        ),
    ]


def _figure_6(lines: _Lines) -> list[Claim]:
    penalty = {d: _ratio(lines, d, "writes", "random", "sequential") for d in (*SSDS, "HDD_S")}
    stride = {d: _ratio(lines, d, "writes", "stride", "sequential") for d in SSDS}
    reads = {d: _ratio(lines, d, "reads", "stride", "random") for d in SSDS}
    disk = [
        _ratio(lines, "HDD_S", "reads", pattern, "sequential") for pattern in ("stride", "random")
    ]
    return [
        _claim(
            "random writes hurt the SSDs, SSD_S above all",
            "yes",
            "times as long as sequential: " + _told(penalty, ""),
            penalty["SSD_S"] > penalty["SSD_I"] > 1.05,
        ),
        *(
            _claim(
                f"writes with a stride are close to sequential ones on {device}",
                "close",
                f"{stride[device]:.2f} times as long, random ones {penalty[device]:.2f} times",
                # Or at least nearer to them than to random ones, as ratios.
                judging.similar(stride[device], 1) or stride[device] ** 2 < penalty[device],
            )
            for device in SSDS
        ),
        *(
            _claim(
                f"reads with a stride are close to random ones on {device}",
                "small difference",
                f"{reads[device]:.2f} times as long",
                judging.similar(reads[device], 1),
            )
            for device in SSDS
        ),
        _claim(
            "on the disk a stride is clearly between sequential and random",
            "between",
            f"reads: stride {disk[0]:.1f}, random {disk[1]:.1f} times sequential",
            1 < disk[0] < disk[1],
        ),
    ]


def _figure_7(lines: _Lines) -> list[Claim]:
    return [*(_some_extent(lines, device) for device in SSDS), _magnitude(lines)]


def _some_extent(lines: _Lines, device: str) -> Claim:
    faster = {
        what: 1 / _ratio(lines, device, what, "sequential", "random")
        for what in ("reads", "writes")
    }
    both = float(np.sqrt(faster["reads"] * faster["writes"]))
    return _claim(
        f"sequential access is faster on {device}, to some extent",
        "to some extent",
        f"{faster['reads']:.2f} times for reads, {faster['writes']:.2f} times for writes",
        both > 1.05,
    )


def _magnitude(lines: _Lines) -> Claim:
    curve = lines.curve("HDD_S", "reads, random")
    times = {
        f"{size // 1024} KB": random / sequential
        for size, random, sequential in zip(
            curve.x,
            lines.ms("HDD_S", "reads, random"),
            lines.ms("HDD_S", "reads, sequential"),
            strict=True,
        )
    }
    mean = float(np.exp(np.mean(np.log(list(times.values())))))
    row = _claim(
        "sequential reads of the disk are faster by an order of magnitude",
        "order of magnitude",
        f"{mean:.1f} times, the geometric mean of the sizes",
        judging.order_of_magnitude(mean),
    )
    if not any(judging.order_of_magnitude(each) for each in times.values()):
        return row
    each = ", ".join(f"{name} {value:.1f}" for name, value in times.items())
    why = "what an arm costs is the same for any size, so that no one number holds for all"
    return judging.explained(row, why, f"times as fast, size by size: {each}")


def _ratio(lines: _Lines, device: str, what: str, pattern: str, base: str) -> float:
    """Compare two patterns: the geometric mean over the sizes."""
    one, other = (np.log(lines.ms(device, f"{what}, {each}")) for each in (pattern, base))
    return float(np.exp(np.mean(one - other)))


def bend(x: Sequence[int], y: Sequence[float]) -> float:
    """Tell how close points are to a line that rises: their correlation; 0 if nothing rises."""
    return 0.0 if min(y) == max(y) else float(np.corrcoef(x, y)[0, 1])


def _told(values: dict[str, float], unit: str) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in values.items()) + f" {unit}".rstrip()


def _claim(what: str, paper: str, ours: str, holds: bool) -> Claim:
    return judging.claim(what, paper, ours, "", holds=holds)


_CLAIMS: dict[str, Callable[[_Lines], list[Claim]]] = {
    "3": _figure_3,
    "4": _figure_4,
    "5": _figure_5,
    "6": _figure_6,
    "7": _figure_7,
}

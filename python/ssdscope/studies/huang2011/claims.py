"""What the paper says of figures 3 to 7, beside what these runs say."""

from collections.abc import Callable, Sequence

import numpy as np

from ssdscope.studies.huang2011.procedure import Curve, Rows
from ssdscope.studies.record import Claim, Verdict

SSDS = ("SSD_I", "SSD_S")


def compare(figure: str, rows: Rows) -> list[Claim]:
    """Give every claim about a figure."""
    return _CLAIMS[figure](_Lines(rows))


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
    name = "mixed"
    at = lines.curve("SSD_I", name).x.index(10)
    reads = {device: lines.ms(device, name)[at] for device in (*SSDS, "HDD_S")}
    rates = {device: lines.mb_s(device, name)[at] for device in (*SSDS, "HDD_S")}
    growth = {d: lines.ms(d, name)[-1] / lines.ms(d, name)[0] for d in (*SSDS, "HDD_S")}
    writes = {device: lines.ms(device, name)[-1] for device in (*SSDS, "HDD_S")}
    best = [
        min(lines.ms(d, name)[i] for d in (*SSDS, "HDD_S")) == lines.ms("SSD_I", name)[i]
        for i in range(len(lines.ms("SSD_I", name)))
    ]
    # One number for two SSDs: between them, as their geometric mean is.
    ssd_ms = float(np.sqrt(reads["SSD_I"] * reads["SSD_S"]))
    ssd_mb_s = float(np.sqrt(rates["SSD_I"] * rates["SSD_S"]))
    return [
        _claim(
            "90 % reads: the SSDs take about 2 ms, the disk five times as long",
            "2 ms; 5 times",
            f"{_told(reads, 'ms')}; between the SSDs {ssd_ms:.2f} ms, the disk "
            f"{reads['HDD_S'] / ssd_ms:.1f} times as long",
            1.5 <= ssd_ms <= 2.5 and 4 <= reads["HDD_S"] / ssd_ms <= 6,
        ),
        _claim(
            "90 % reads: 100 to 150 MB/s on the SSDs, around 20 on the disk",
            "100 to 150; 20",
            f"{_told(rates, 'MB/s')}; between the SSDs {ssd_mb_s:.0f} MB/s",
            100 <= ssd_mb_s <= 150 and 15 <= rates["HDD_S"] <= 25,
        ),
        _claim(
            "more writes cost the SSDs much, the disk little",
            "large influence; small changes",
            "writes take "
            + ", ".join(f"{growth[each]:.1f}" for each in growth)
            + " times as long as reads on SSD_I, SSD_S, HDD_S",
            min(growth[each] for each in SSDS) > 1.5 > growth["HDD_S"] > 1 / 1.5,
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
            all(1 / 1.3 < each < 1.6 for each in gain.values()),
        ),
    ]


def _figure_5(lines: _Lines) -> list[Claim]:
    devices = (*SSDS, "HDD_S")
    straight = {
        f"{d} {name}": bend(lines.curve(d, name).x, lines.ms(d, name))
        for d in devices
        for name in ("reads", "writes")
    }
    slower = {d: lines.ms(d, "writes")[-1] / lines.ms(d, "reads")[-1] for d in SSDS}
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
            "the SSDs read at similar speed but differ greatly in writes",
            "yes",
            _told(slower, "times as long for writes as for reads"),
            _near(lines.ms("SSD_I", "reads")[-1], lines.ms("SSD_S", "reads")[-1], 3)
            and lines.ms("SSD_S", "writes")[-1] > 2 * lines.ms("SSD_I", "writes")[-1],
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
        _claim(
            "writes with a stride are close to sequential ones on the SSDs",
            "close",
            "times as long: " + _told(stride, ""),
            all(stride[d] - 1 < (penalty[d] - 1) / 2 or stride[d] < 1.3 for d in SSDS),
        ),
        _claim(
            "reads with a stride are close to random ones on the SSDs",
            "small difference",
            "times as long: " + _told(reads, ""),
            all(0.7 < value < 1.3 for value in reads.values()),
        ),
        _claim(
            "on the disk a stride is clearly between sequential and random",
            "between",
            f"reads: stride {disk[0]:.1f}, random {disk[1]:.1f} times sequential",
            1 < disk[0] < disk[1],
        ),
    ]


def _figure_7(lines: _Lines) -> list[Claim]:
    faster = {d: 1 / _ratio(lines, d, "reads", "sequential", "random") for d in (*SSDS, "HDD_S")}
    return [
        _claim(
            "sequential access is faster even on SSDs, to some extent",
            "to some extent",
            "reads, sequential against random: " + _told(faster, "times"),
            all(1 < faster[each] < faster["HDD_S"] for each in SSDS),
        ),
        _claim(
            "on the disk by an order of magnitude",
            "order of magnitude",
            f"{faster['HDD_S']:.1f} times",
            faster["HDD_S"] > 5,
        ),
    ]


def _ratio(lines: _Lines, device: str, what: str, pattern: str, base: str) -> float:
    """Compare two patterns: the geometric mean over the sizes."""
    one, other = (np.log(lines.ms(device, f"{what}, {each}")) for each in (pattern, base))
    return float(np.exp(np.mean(one - other)))


def bend(x: Sequence[int], y: Sequence[float]) -> float:
    """Tell how close points are to a line that rises: their correlation; 0 if nothing rises."""
    return 0.0 if min(y) == max(y) else float(np.corrcoef(x, y)[0, 1])


def _near(one: float, other: float, factor: float) -> bool:
    return 1 / factor < one / other < factor


def _told(values: dict[str, float], unit: str) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in values.items()) + f" {unit}".rstrip()


def _claim(what: str, paper: str, ours: str, holds: bool, why: str = "not known") -> Claim:
    if holds:
        return Claim(what, paper, ours, "", Verdict.AGREES)
    return Claim(what, paper, ours, "", Verdict.DIFFERS, why)


_CLAIMS: dict[str, Callable[[_Lines], list[Claim]]] = {
    "3": _figure_3,
    "4": _figure_4,
    "5": _figure_5,
    "6": _figure_6,
    "7": _figure_7,
}

"""What is read off figures 3 to 7, of whichever drives were run.

Rows that compare drives need them all. The others are read off any drive, which is their case.
What each reading is held against stands in `paper.toml`.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ssdscope.studies.huang2011.procedure import SSDS, Rows
from ssdscope.studies.record import Reading
from ssdscope.workloads.grid import Row

Found = Iterator[tuple[str, Reading]]
DISK, WAYS = "HDD_S", ("reads", "writes")
SHARES = (0, 10, 20, 30)
"""Of writes, up to which the SSDs are said to outperform the disk."""


def readings(figure: str, rows: Rows) -> dict[str, Reading]:
    """Read off all that is said of a figure and can be asked of the drives that were run."""
    lines = Lines(rows)
    found = dict(_OF_ONE[figure](lines))
    if {*SSDS, DISK} <= set(lines.devices):
        found |= dict(_OF_ALL[figure](lines))
    return found


class Lines:
    """The points of a figure by drive and line, those that failed left out."""

    def __init__(self, rows: Rows) -> None:
        self._rows = {
            (curve.device, curve.name): {
                x: row for x, row in zip(curve.x, points, strict=True) if not row.failure
            }
            for curve, points in rows.items()
        }
        self.devices = list(dict.fromkeys(curve.device for curve in rows))

    def x(self, device: str, name: str) -> list[int]:
        """List the values of what is varied; none where there is no line."""
        return list(self._rows.get((device, name), {}))

    def ms(self, device: str, name: str) -> np.ndarray:
        """Mean latencies."""
        return np.array([row.latency_ns / 1e6 for row in self._of(device, name)])

    def mb_s(self, device: str, name: str) -> np.ndarray:
        """Bandwidths."""
        return np.array([row.bandwidth_bytes_per_s / 1e6 for row in self._of(device, name)])

    def iops(self, device: str, name: str) -> np.ndarray:
        """Throughputs."""
        return np.array([row.iops for row in self._of(device, name)])

    def _of(self, device: str, name: str) -> list[Row]:
        return list(self._rows.get((device, name), {}).values())

    def ratio(self, device: str, one: str, other: str, most: int | None = None) -> float | None:
        """Compare the latencies of two lines: the geometric mean over the sizes of both."""
        first, second = (self._rows.get((device, name), {}) for name in (one, other))
        both = [x for x in first if x in second and (most is None or x <= most)]
        if not both:
            return None
        steps = [np.log(first[x].latency_ns / second[x].latency_ns) for x in both]
        return float(np.exp(np.mean(steps)))


def of(value: float, unit: str = "", digits: int = 3) -> Reading:
    """Read off a number, which is shown rounded: in the row's unit, or with words of its own."""
    shown = f"{value:.{digits}g}"
    return Reading(f"{shown} {unit}" if unit else float(shown), float(value))


def every(values: Sequence[float] | np.ndarray, unit: str = "times") -> Reading:
    """Read off several numbers, all of which are asked."""
    text = ", ".join(f"{value:.3g}" for value in values)
    return Reading(f"{text} {unit}".rstrip(), [float(value) for value in values])


def named(values: dict[str, float], unit: str) -> str:
    """Write numbers with their names."""
    return ", ".join(f"{name} {value:.3g}" for name, value in values.items()) + f" {unit}".rstrip()


def _figure_3(lines: Lines) -> Found:
    for device in lines.devices:
        x, ms = lines.x(device, "mixed"), lines.ms(device, "mixed")
        if not {0, 10, 100} <= set(x):
            continue
        at, mb_s, iops = (x.index(10), lines.mb_s(device, "mixed"), lines.iops(device, "mixed"))
        writes = of(ms[-1] / ms[0], "times as long")
        if device == DISK:
            yield "writes for reads, disk", writes
            yield "disk bandwidth", of(mb_s[at])
            continue
        yield f"writes for reads: {device}", writes
        yield f"latency, 90 % reads: {device}", of(ms[at])
        yield f"bandwidth, 90 % reads: {device}", of(mb_s[at])
        steps = [ms[1:] / ms[:-1], mb_s[:-1] / mb_s[1:], iops[:-1] / iops[1:]]
        worst = min(float(each.min()) for each in steps)
        yield f"every step: {device}", of(worst, "times the one before, at least")


def _figure_3_all(lines: Lines) -> Found:
    x = lines.x("SSD_I", "mixed")
    ms = {device: lines.ms(device, "mixed") for device in lines.devices}
    for device in SSDS:
        times = ms[DISK] / ms[device]
        yield f"five times: {device}", of(times[x.index(10)])
        yield f"SSDs ahead: {device}", every(times[[x.index(share) for share in SHARES]])
        yield f"ahead in reads: {device}", of(times[x.index(10)] / times[x.index(90)], "times")
    yield "disk outruns SSD_S", of(ms[DISK][-1] / ms["SSD_S"][-1], "times as long")
    three = (*SSDS, DISK)
    latency = np.argmin([lines.ms(each, "mixed") for each in three], axis=0)
    rates = [
        np.argmax([read(each, "mixed") for each in three], axis=0)
        for read in (lines.mb_s, lines.iops)
    ]
    best = [int(np.sum(each == 0)) for each in (latency, *rates)]
    text = ", ".join(f"{count} of {len(x)}" for count in best)
    yield "SSD_I best", Reading(f"{text} shares of writes", [count / len(x) for count in best])


def _figure_4(lines: Lines) -> Found:
    for device in lines.devices:
        for way in WAYS:
            x = lines.x(device, way)
            if not {1, 4, 64} <= set(x):
                continue
            ms, mb_s, iops = (read(device, way) for read in (lines.ms, lines.mb_s, lines.iops))
            from_4 = x.index(4)
            yield f"depth, latency: {device}, {way}", of(ms[-1] / ms[0], "times as long")
            gains = [mb_s[-1] / mb_s[from_4], iops[-1] / iops[from_4]]
            yield f"saturated: {device}, {way}", every(gains)
            near = np.abs(mb_s / mb_s[-1] - 1) <= 0.1
            first = x[int(np.argmax(near))]
            if device == DISK:
                continue
            gain = iops[-1] / iops[0]
            text = f"{gain:.3g} times; within 10 % of it from {first} in flight on"
            yield f"depth, throughput: {device}, {way}", Reading(text, abs(float(gain) - 1))


def _figure_4_all(lines: Lines) -> Found:
    for way in WAYS:
        deep = {device: float(lines.ms(device, way)[-1]) for device in lines.devices}
        order = deep["SSD_I"] < deep[DISK] < deep["SSD_S"]
        yield f"order under load: {way}", Reading(named(deep, "ms"), order)


def correlation(x: Sequence[int], y: np.ndarray) -> float:
    """Tell how close points are to a line that rises: their correlation; 0 if nothing rises."""
    return 0.0 if min(y) == max(y) else float(np.corrcoef(x, y)[0, 1])


def _figure_5(lines: Lines) -> Found:
    for device in lines.devices:
        for way in WAYS:
            x, ms = lines.x(device, way), lines.ms(device, way)
            if len(x) > 2:
                yield f"line: {device}, {way}", of(correlation(x, ms), "correlation", 4)
                rises = ms[1:] / ms[:-1]
                yield f"rises: {device}, {way}", every(rises)
        x, ms = lines.x(device, "steps of writes"), lines.ms(device, "steps of writes")
        if len(x) > 2:
            fitted = np.polyval(np.polyfit(x, ms, 1), x)
            off = 100 * float(np.max(np.abs(ms / fitted - 1)))
            yield f"off the line: {device}", of(off, "%")
        yield from _reads_by_size(lines, device)


def _reads_by_size(lines: Lines, device: str) -> Found:
    x = lines.x(device, "reads")
    mb_s, iops = lines.mb_s(device, "reads"), lines.iops(device, "reads")
    if len(x) < 3:
        return
    steps = [*(mb_s[1:] / mb_s[:-1]), *(iops[:-1] / iops[1:])]
    yield f"bandwidth up, throughput down: {device}", every(steps)
    straight = {"bandwidth": correlation(x, mb_s), "throughput": correlation(x, iops)}
    yield f"line, bandwidth: {device}", of(straight["bandwidth"], "correlation", 4)
    if device != DISK:
        bent = {name: 1 - value**2 for name, value in straight.items()}
        yield f"not linear: {device}", Reading(named(bent, "left"), list(bent.values()))
    if lines.x(device, "writes") == x:
        slopes = [np.polyfit(x, lines.ms(device, way), 1)[0] for way in WAYS]
        yield f"slower rate: {device}", of(slopes[0] / slopes[1], "times the slope of writes")


def _figure_5_all(lines: Lines) -> Found:
    x = lines.x("SSD_S", "writes")
    reads, writes = ({device: lines.ms(device, way) for device in lines.devices} for way in WAYS)
    yield "SSD_S writes slower than the disk", every(writes["SSD_S"] / writes[DISK])
    yield "SSD_S writes slower than SSD_I", every(writes["SSD_S"] / writes["SSD_I"])
    yield "similar reads", of(reads["SSD_S"][-1] / reads["SSD_I"][-1], "times as long")
    yield "different writes", of(writes["SSD_S"][-1] / writes["SSD_I"][-1], "times as long")
    bent = {device: 1 - correlation(x, lines.mb_s(device, "reads")) ** 2 for device in SSDS}
    yield "SSD_I least linear", of(bent["SSD_I"] / bent["SSD_S"], "times SSD_S's")
    for device in SSDS:
        ahead = reads[DISK] / reads[device]
        yield f"reads ahead: {device}", of(ahead[-1], "times")
        for size in (1, 4):
            yield f"orders of magnitude: {device}, {size} KB", of(ahead[x.index(size * 1024)])


def _figure_6(lines: Lines) -> Found:
    for device in lines.devices:
        apart = {}
        for way in WAYS:
            random, stride = (
                lines.ratio(device, f"{way}, {pattern}", f"{way}, sequential")
                for pattern in ("random", "stride")
            )
            if random is None:
                continue
            yield f"random for sequential: {device}, {way}", of(random, "times as long")
            last = (
                lines.ms(device, f"{way}, random")[-1] / lines.ms(device, f"{way}, sequential")[-1]
            )
            yield f"large: {device}, {way}", of(last, "times as long")
            if stride is not None:
                apart[way] = min(abs(np.log(stride)), abs(np.log(stride / random)))
                yield from _stride(device, way, random, stride)
        if apart:
            text = named({way: 100 * np.expm1(each) for way, each in apart.items()}, "%")
            most = float(np.expm1(max(apart.values())))
            yield f"own way: {device}", Reading(f"{text} from the nearer pattern", most)
        dramatic = lines.ratio(device, "writes, random", "writes, sequential", 64 * 1024)
        if dramatic is not None:
            yield f"dramatically: {device}", of(dramatic, "times as long")


def _stride(device: str, way: str, random: float, stride: float) -> Found:
    """Ask writes with gaps how near they are to those in order, and reads to random ones."""
    if device == DISK:
        text = f"stride {stride:.2f} times sequential, random {random / stride:.2f} times stride"
        yield f"between: {way}", Reading(text, [stride, random / stride])
    elif way == "writes":
        text = f"{stride:.2f} times as long as sequential ones, random ones {random:.2f} times"
        yield f"stride, writes: {device}", Reading(text, stride)
        share = float(np.log(stride) / np.log(random)) if random != 1 else float("nan")
        yield f"stride, nearer: {device}", Reading(f"{100 * share:.0f} % of the way", share)
    else:
        text = f"{stride / random:.3f} times as long as random ones, {stride:.2f} as sequential"
        yield f"stride, reads: {device}", Reading(text, stride / random)


def _figure_6_all(lines: Lines) -> Found:
    penalty = {
        way: {
            device: lines.ratio(device, f"{way}, random", f"{way}, sequential") or np.nan
            for device in lines.devices
        }
        for way in WAYS
    }
    text = named(penalty["writes"], "times as long as sequential")
    yield (
        "SSD_S above all",
        Reading(text, penalty["writes"]["SSD_S"] / penalty["writes"]["SSD_I"]),
    )
    for device in SSDS:
        times = penalty["writes"][device] / penalty["reads"][device]
        yield f"varied impacts: {device}", of(times, "times that of reads")


def _figure_7(lines: Lines) -> Found:
    for device in (each for each in lines.devices if each != DISK):
        for way in WAYS:
            times = lines.ratio(device, f"{way}, random", f"{way}, sequential")
            if times is not None:
                yield f"some extent: {device}, {way}", of(times, "times as fast")


def _figure_7_all(lines: Lines) -> Found:
    for way in WAYS:
        x = lines.x(DISK, f"{way}, random")
        times = lines.ms(DISK, f"{way}, random") / lines.ms(DISK, f"{way}, sequential")
        mean = float(np.exp(np.mean(np.log(times))))
        by_size = ", ".join(
            f"{size // 1024} KB {each:.3g}" for size, each in zip(x, times, strict=True)
        )
        yield f"order of magnitude: {way}", Reading(f"{mean:.1f} times; {by_size}", mean)


Reader = Callable[[Lines], Found]
_OF_ONE: dict[str, Reader] = {
    "3": _figure_3,
    "4": _figure_4,
    "5": _figure_5,
    "6": _figure_6,
    "7": _figure_7,
}
_OF_ALL: dict[str, Reader] = {
    "3": _figure_3_all,
    "4": _figure_4_all,
    "5": _figure_5_all,
    "6": _figure_6_all,
    "7": _figure_7_all,
}

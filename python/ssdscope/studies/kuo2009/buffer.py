"""Figures 2, 20, 21 and 22: the parts of a drive, and what its buffer does for writes and reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ssdscope.plots.panels import Line, Panel, in_panels
from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal import buffers
from ssdscope.studies.kuo2009.bench import (
    KIB,
    MERGES,
    MIB,
    SECTOR,
    Drives,
    Served,
    counted,
    flushed,
    multiples,
    number,
    numbers,
    read,
    share_of,
    size,
    span,
    write,
)
from ssdscope.studies.kuo2009.block import DISTANCE
from ssdscope.studies.kuo2009.detecting import dots, panel
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.targets import Device

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRIVE = "samsung-slc"
PAGE = 16 * KIB
BLOCK = 4 * MIB
BLOCKS = 24
BUFFER = 128 * KIB
REST_NS = 1_000_000_000
PARTS = {
    "link": "host interface",
    "map": "mapping table",
    "buffer": "cache buffer",
    "transfer": "channel",
    "nand": "chips",
}
"""Where time goes, and the part of figure 2 that takes it."""


def figure_2(drives: Drives, _: StageProgress) -> Measured:
    """Split a burst of writes and a read by the parts of the drive that take their time."""
    device = drives.switched_on(DRIVE)
    runs = {"read": read(device, 0, PAGE), "writes": write(device, np.arange(64) * PAGE, PAGE)}
    runs["read after"] = read(device, 8 * MIB, PAGE)
    parts = {
        cause: [float(run.share_ns(cause).sum()) for run in runs.values()]
        for cause in (runs["read"].log.attribution_ns or {})
    }
    whole = sum(int(run.times_ns.sum()) for run in runs.values())
    used = [name for cause, name in PARTS.items() if sum(parts[cause]) > 0]
    found = {
        "parts, sum": number(sum(map(sum, parts.values())) / whole),
        "parts, used": Reading(", ".join(used), len(used)),
    }
    columns: Columns = {"part": list(PARTS.values()), **{
        run: [parts[cause][place] for cause in PARTS] for place, run in enumerate(runs)
    }}  # fmt: skip
    bars = {name: [each / 1e6 for each in parts[cause]] for cause, name in PARTS.items()}
    panel = Panel("16 KB read, 1 MB written, 16 KB read", y="time (ms)", bars=bars,
                  names=list(runs), legend="upper right")  # fmt: skip
    return Measured(found, lambda: in_panels([panel]), columns)


def _both(drives: Drives, *sets: str) -> tuple[Device, Device]:
    """Return the drive with its write buffer on, and off."""
    return drives.fork(DRIVE, *sets), drives.unbuffered(DRIVE, *sets)


def figure_20(drives: Drives, _: StageProgress) -> Measured:
    """Follow data from the host into the buffer and to flash, and compare with a drive without."""
    bursts = [_bursts(drives, device) for device in _both(drives)]
    sustained = [_sustained(drives, device) for device in _both(drives)]
    device = drives.fork(DRIVE)
    acknowledged = write(device, np.arange(8) * PAGE, PAGE).counts["flash_bytes_programmed"]
    waiting = read(device, np.arange(8) * PAGE, PAGE)
    later = counted(device, lambda: device.idle(REST_NS))["flash_bytes_programmed"]
    found = numbers(
        {
            "buffer, acknowledged": acknowledged / KIB,
            "buffer, written later": later / KIB,
            "buffer, read from it": waiting.counts["flash_bytes_read"] / KIB,
            "buffer, bursts": bursts[1].mean_ns / bursts[0].mean_ns,
            "buffer, hides flash": 100 * bursts[0].share("buffer", "nand", "merge"),
            "buffer, random writes": sustained[0].rate / sustained[1].rate,
        }
    ) | {
        "buffer, fitting pieces": number(_pieces(drives)),
        "buffer, sizes": _knees(drives),
        "cache, sizes": _cache_knees(drives),
    }
    columns: Columns = {
        "write": list(range(bursts[0].times_ns.size)),
        "with_buffer_ns": bursts[0].times_ns.tolist(),
        "without_ns": bursts[1].times_ns.tolist(),
    }
    drawn = [
        Line(f"buffer {name}", range(bursts[0].times_ns.size), run.times_ns / 1e6, index, 3)
        for index, (name, run) in enumerate(zip(("on", "off"), bursts, strict=True))
    ]
    panel = Panel("bursts of 8 random writes of 16 KB, a second apart", drawn, "write",
                  "response time (ms)", legend="center right")  # fmt: skip
    return Measured(found, lambda: in_panels([panel], width=5.6), columns)


def _bursts(drives: Drives, device: Device) -> Served:
    """Write bursts of 8 random pieces with pauses of a second."""
    count = drives.long(8)
    places = drives.random("20").integers(0, 64 * MIB // PAGE, 8 * count) * PAGE
    runs = []
    for burst in range(count):
        runs.append(write(device, places[8 * burst : 8 * burst + 8], PAGE))
        device.idle(REST_NS)
    log = runs[0].log.concatenate([run.log for run in runs])
    return Served(log.latency_ns, runs[0].counts, log)


def _sustained(drives: Drives, device: Device) -> Served:
    places = drives.random("20 sustained").integers(0, 8 * MIB // (4 * KIB), drives.long(600))
    return write(device, places * 4 * KIB, 4 * KIB)


def _pieces(drives: Drives) -> float:
    """Write 4 MB in pieces and pauses; give the waiting for each MB beyond the buffer's size."""
    waits = {}
    for piece in (BUFFER // 2, BUFFER, 2 * BUFFER, 4 * BUFFER):
        device, total = drives.fork(DRIVE), 0.0
        for place in range(0, BLOCK, piece):
            steps = np.arange(place, place + piece, BUFFER // 2)
            total += float(write(device, steps, BUFFER // 2).times_ns.sum())
            device.idle(REST_NS)
        waits[piece] = total
    return min(waits[2 * BUFFER], waits[4 * BUFFER]) / max(waits[BUFFER // 2], waits[BUFFER])


def _knees(drives: Drives) -> Reading:
    """Measure table 5 with buffers of other sizes; give where they end over their sizes."""
    found = []
    for bytes_ in (64 * KIB, 512 * KIB):
        sizes = multiples(bytes_ // 8, bytes_ // 8, 2 * bytes_)
        end = sweep(drives, DRIVE, sizes, f"write_buffer.bytes={bytes_}").knee
        found.append(float("nan") if end is None else end / bytes_)
    return span(found)


def _cache_knees(drives: Drives) -> Reading:
    """Read more and more again, with read caches of several sizes; give their ends likewise."""
    found = []
    for bytes_ in (128 * KIB, 512 * KIB):
        procedure = buffers.GrowingRead(multiples(bytes_ // 8, bytes_ // 8, 2 * bytes_))
        bench = drives.probed.bench(
            f"sim:kuo-{DRIVE}", (*drives.sets(DRIVE), f"read_cache.bytes={bytes_}")
        )
        with bench.allowance(0):
            end = buffers.answer(procedure.sizes, procedure.run(bench))
        found.append(float("nan") if end is None else end / bytes_)
    return span(found)


@dataclass(frozen=True)
class Sweep:
    """Response times by how much is written at once, after a flush and a rest."""

    label: str
    sizes: npt.NDArray[np.int64]
    times_ns: npt.NDArray[Any]

    @property
    def knee(self) -> int | None:
        """Where table 5 sees the buffer end; None if it does not."""
        return buffers.answer(self.sizes, self.times_ns)

    @property
    def steeper(self) -> float:
        """How much more time each byte takes beyond the end than before.

        NaN without an end, or where a single size lies on one side of it.
        """
        if self.knee is None:
            return float("nan")
        sides = (self.sizes <= self.knee, self.sizes > self.knee)
        if any(np.count_nonzero(which) < 2 for which in sides):
            return float("nan")
        before, beyond = (
            np.polyfit(self.sizes[which], self.times_ns[which], 1)[0] for which in sides
        )
        return float(beyond / before)


def sweep(
    drives: Drives, drive: str, sizes: Sequence[int], *sets: str, before: str = "random"
) -> Sweep:
    """Measure table 5 of the paper.

    Parameters
    ----------
    sets
        Changes to the drive.
    before
        What is written before: small pieces at random, as many 64 MB apart, or nothing.
    """
    count = 0 if before == "none" else buffers.RANDOM_WRITES
    procedure = buffers.GrowingWrite(
        sizes,
        count,
        range_bytes=drives.settings.get("random_range"),
        distance_bytes=DISTANCE if before == "worst" else None,
    )
    bench = drives.probed.bench(f"sim:kuo-{drive}", (*drives.sets(drive), *sets))
    with bench.allowance(procedure.planned_writes_bytes):
        times = procedure.run(bench)
    label = {"random": "", "worst": f", {WORST}", "none": f", {UNUSED}"}
    return Sweep(f"{drive}{label[before]}", np.array(sizes), times)


WORST, UNUSED = "after writes 64 MB apart", "not used before"


def figure_22(drives: Drives, _: StageProgress) -> Measured:
    """Measure response times by how much is written at once, for the three buffers of the paper."""
    small = multiples(8 * KIB, 8 * KIB, 256 * KIB)
    large = multiples(MIB, MIB, 32 * MIB)
    runs = {
        "Samsung SLC": sweep(drives, "samsung-slc", small),
        "Intel MLC": sweep(drives, "intel-mlc", small),
        "Mtron SLC, after random writes": sweep(drives, "mtron-slc", large),
        f"Mtron SLC, {WORST}": sweep(drives, "mtron-slc", large, before="worst"),
        f"Mtron SLC, {UNUSED}": sweep(drives, "mtron-slc", large, before="none"),
    }
    notes = [
        "the paper's sizes are those of figure 37",
        "128 KB is also the most that an ATA command of the time carries: the Samsung's is suspect",
    ]
    every = [*runs.values()]
    return Measured(knees(runs), lambda: growing(every, rows=2), columns_of(every), notes)


def growing(runs: Sequence[Sweep], *, rows: int = 1) -> "Figure":
    """Draw response times by how much is written, or read again, with the ends marked."""
    panels = []
    for run in runs:
        scale, unit = (MIB, "MB") if run.sizes[-1] >= MIB else (KIB, "KB")
        lines = dots(run.sizes / scale, run.times_ns, 1e6)
        panels.append(panel(run.label, lines, run.knee, scale, name=f"at once ({unit})"))
    return in_panels(panels, rows=rows, width=3.4, height=2.5 if rows > 1 else 3.0)


def columns_of(runs: Sequence[Sweep]) -> Columns:
    """Return the numbers of sweeps."""
    return {
        "drive": [run.label for run in runs for _ in run.sizes],
        "size_bytes": [int(each) for run in runs for each in run.sizes],
        "response_ns": [int(time) for run in runs for time in run.times_ns],
    }


def knees(runs: Mapping[str, Sweep]) -> dict[str, Reading]:
    """Read off where response times leave their line, and how steep they are beyond."""
    found = {}
    for label, run in runs.items():
        drive, _, before = label.partition(", ")
        end = float("nan") if run.knee is None else run.knee
        if before == UNUSED:
            said = "at no size" if run.knee is None else f"after {size(end)}"
            found["no knee"] = Reading(said, run.knee is None)
        elif before:
            found[f"large knee: {before}"] = number(end / MIB)
        else:
            found[f"knee: {drive}"] = number(end / KIB)
        if before not in (UNUSED, WORST):
            found[f"knee, steeper: {drive}"] = number(run.steeper)
    return found


ORDER = (0, 6, 1, 2, 4, 5, 7, 3)
"""The order in which eight pages come, as many as the buffer holds: as in the figure, the second
one lies far ahead and page 3 comes last."""


Outcome = dict[str, float]
"""What the drive counted of a list of writes and a flush, and how long they took."""


def figure_21(drives: Drives, _: StageProgress) -> Measured:
    """Write pages out of order, again and again, and in small pieces, with and without buffer."""
    with_it, without = (_outcomes(opened) for opened in (drives.fork, drives.unbuffered))
    every = [
        {"what": what, "buffer": name, **outcome}
        for name, outcomes in (("on", with_it), ("off", without))
        for what, outcome in outcomes.items()
    ]
    columns: Columns = {name: [each[name] for each in every] for name in every[0]}
    names, order = ["buffer off", "buffer on"], [without["order"], with_it["order"]]
    panels = (
        Panel("pages out of order", y="merges", names=names,
              bars={kind: [each[kind] for each in order] for kind in MERGES},
              legend="upper right"),
        Panel("time of the whole", y="time (s)", names=names,
              bars={"": [each["elapsed_ns"] / 1e9 for each in order]}),
    )  # fmt: skip
    return Measured(
        with_and_without(with_it, without),
        lambda: in_panels(panels, width=3.6, height=2.7),
        columns,
    )


def _outcomes(opened: Callable[[str], Device]) -> dict[str, Outcome]:
    pages = np.arange(BLOCKS * BLOCK // PAGE)
    lists = {
        "order": (pages.reshape(-1, len(ORDER))[:, ORDER].ravel() * PAGE, PAGE),
        "again": (np.repeat(pages[:512], 4) * PAGE, PAGE),
        "pieces": (np.arange(0, 2 * BLOCK, 4 * KIB), 4 * KIB),
        "shifted": (np.arange(0, 4 * BLOCK, 4 * KIB) + SECTOR, 4 * KIB),
        "often": (np.repeat(pages, 4) * PAGE, PAGE),
    }
    return {what: _outcome(opened(DRIVE), *each) for what, each in lists.items()}


def _outcome(device: Device, offsets: npt.NDArray[np.int64], length: int) -> Outcome:
    """Write, flush and wait, so that all of it is in flash and counted."""
    run = flushed(device, offsets, length)
    later = counted(device, lambda: device.idle(REST_NS))
    counts = {name: count + later[name] for name, count in run.counts.items()}
    return {
        **{name: counts[name] for name in (*MERGES, "rmw_reads")},
        "programmed_for_written": counts["flash_bytes_programmed"] / (offsets.size * length),
        "elapsed_ns": run.elapsed_ns,
        **{name: counts[name] for name in ("gc_runs", "block_erases")},
    }


def with_and_without(
    with_it: Mapping[str, Outcome], without: Mapping[str, Outcome]
) -> dict[str, Reading]:
    """Compare writes with the buffer with those without."""

    def less(what: str, name: str) -> float:
        return with_it[what][name] / max(without[what][name], 1)

    def full(runs: Mapping[str, Outcome], what: str) -> float:
        return share_of("full", runs[what])

    return numbers(
        {
            "order, merges": full(without, "order") - full(with_it, "order"),
            "order, time": 1 / less("order", "elapsed_ns"),
            "again, programmed": with_it["again"]["programmed_for_written"],
            "pieces, read first": less("pieces", "rmw_reads"),
            "pieces, time": 1 / less("pieces", "elapsed_ns"),
            "shifted, full merges": 100 * full(with_it, "shifted"),
            "shifted, without": 100 * full(without, "shifted"),
            "again, collections": less("often", "gc_runs"),
            "again, erases": less("often", "block_erases"),
        }
    )


AHEAD = "read_cache.read_ahead_bytes=64k"
FAST_LINK = "host.bytes_per_second=1e9"


def read_ahead(drives: Drives, _: StageProgress) -> Measured:
    """Read with and without reading ahead: in order, at random, and beside hot data."""
    after = drives.fork(DRIVE, AHEAD)
    read(after, [0, 4 * KIB], 4 * KIB)
    after.idle(REST_NS)
    third = read(after, 8 * KIB, 4 * KIB)
    hit = read(after, 8 * KIB, 4 * KIB)
    places = drives.random("read-ahead").integers(0, 4096, drives.long(1000)) * 4 * KIB
    plain, ahead = (
        {
            "in order": read(drives.fork(DRIVE, *sets), np.arange(1000) * 4 * KIB, 4 * KIB),
            "at random": read(drives.fork(DRIVE, *sets), places, 4 * KIB),
        }
        for sets in ((FAST_LINK,), (FAST_LINK, AHEAD))
    )
    larger = read(drives.fork(DRIVE, FAST_LINK), np.arange(64) * 64 * KIB, 64 * KIB)
    found = numbers(
        {
            "read ahead, served": third.counts["flash_bytes_read"] / KIB,
            "read ahead, time": third.mean_ns / hit.mean_ns,
            "read ahead, in order": plain["in order"].mean_ns / ahead["in order"].mean_ns,
            "larger reads": larger.rate / plain["in order"].rate,
            "read ahead, at random": ahead["at random"].mean_ns / plain["at random"].mean_ns,
            "read ahead, more read": ahead["at random"].counts["flash_bytes_read"]
            / plain["at random"].counts["flash_bytes_read"],
            "read ahead, hot data": 100 * _hot(drives, "read_cache.read_ahead_bytes=256k"),
            "read ahead, hot data before": 100 * _hot(drives, "read_cache.read_ahead_bytes=0"),
        }
    )  # fmt: skip
    kinds = ("in order", "at random")
    columns: Columns = {
        "reads": list(kinds),
        "plain_ns": [plain[kind].mean_ns for kind in kinds],
        "read_ahead_ns": [ahead[kind].mean_ns for kind in kinds],
    }
    panels = [
        Panel(head, y="mean response time (us)", names=list(kinds),
              bars={"": [each[kind].mean_ns / 1e3 for kind in kinds]})
        for head, each in (("without reading ahead", plain), ("64 KB ahead", ahead))
    ]  # fmt: skip
    return Measured(found, lambda: in_panels(panels, width=3.4), columns)


def _hot(drives: Drives, *sets: str) -> float:
    """Read hot data between pairs of reads elsewhere; give the share of it that is in the cache."""
    device, held, asked = drives.fork(DRIVE, *sets), 0, 0
    hot = np.arange(8) * PAGE
    read(device, hot, PAGE)
    for turn in range(drives.long(32)):
        read(device, (64 + turn) * MIB + np.arange(2) * PAGE, PAGE)
        device.idle(REST_NS // 100)
        held += read(device, hot, PAGE).counts["cache_read_bytes"]
        asked += hot.size * PAGE
    return held / asked

"""The study's procedures on a drive that is not the paper's.

A drive that can be copied is measured from the state it was given in, whatever was measured
before. On any other the figures spoil each other's state: those that write least come first.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal.shift_write import Sweep
from ssdscope.studies.judging import of_another_drive
from ssdscope.studies.record import Claim, FigureResult
from ssdscope.studies.ryu2009 import (
    ageing,
    ageing_claims,
    allocation,
    detected,
    figure,
    iozone,
    read_size,
    shift_write,
)
from ssdscope.studies.ryu2009.detecting import Detecting, Subject
from ssdscope.targets import Device, Target
from ssdscope.targets.spare import spare_bytes
from ssdscope.workloads.preconditioning import fill_sequentially, overwrite_randomly

FIGURES = ("14", "10", "6", "7", "allocation", "9", "13", "2", "3")
"""What can be asked of one drive, in the order in which it is measured."""
READING = ("14", "10", "13")
"""Of these, what is left where writing is not allowed."""
CHUNKS = 96
CHUNK_BLOCKS = 4
"""Management blocks that figure 7 shifts through."""
CHUNK_SPACE_BYTES = 8 << 20
LEAST_BYTES = 8 * CHUNK_SPACE_BYTES
"""Enough for a few chunks of figure 7, and for a test file that is a quarter of the drive."""
PAGE_BYTES = 4096


def choose(wanted: Sequence[str], target: Target) -> list[str]:
    """Choose the figures that can be measured on a target.

    Raises
    ------
    UsageError
        If there is none, or the drive is too small.
    """
    chosen = [name for name in FIGURES if name in wanted]
    if not chosen:
        raise UsageError(
            f"figure {wanted[0]!r} is about the paper's own drives",
            hint=f"on a target there are figures {', '.join(FIGURES)}",
        )
    if target.capacity_bytes < LEAST_BYTES:
        raise UsageError(
            f"target {target.uri!r} holds {target.capacity_bytes} bytes: too few for the study",
            hint=f"use one of at least {LEAST_BYTES} bytes",
        )
    if target.device.info.writable:
        return chosen
    reading = [name for name in chosen if name in READING]
    if not reading:
        raise UsageError(
            f"target {target.uri!r} is open for reading only, and figure {chosen[0]} writes",
            hint="allow it with --destroy-data TOKEN; doctor --identify prints the token",
        )
    return reading


class OnTarget:
    """One run of the study on a drive: where it writes, and the life that two figures share.

    Parameters
    ----------
    requests
        Of each cell of figure 13.
    """

    def __init__(
        self, target: Target, folder: Path, seed: int, requests: int = iozone.REQUESTS
    ) -> None:
        self._target = target
        self._folder = folder
        self._seed = seed
        self._requests = requests
        self._life: ageing.Life | None = None
        self._detecting = Detecting(seed, target.device)

    def make(self, name: str, progress: StageProgress) -> FigureResult:
        """Measure a figure."""
        makers: dict[str, Callable[[str, StageProgress], FigureResult]] = {
            **dict.fromkeys(detected.TITLES, self._detected),
            "2": self._ageing,
            "3": self._ageing,
            "7": self._shift_write,
            "allocation": self._allocation,
            "13": self._table,
            "14": self._read_size,
        }
        progress(f"figure {name}", 0.0)
        return makers[name](name, progress)

    def _ageing(self, name: str, _progress: StageProgress) -> FigureResult:
        if self._life is None:
            subject = ageing.Subject(self._target.uri, "", ())
            size = min(ageing.FILE_BYTES, _whole_mib(self._target.capacity_bytes // 4))
            self._life = ageing.watch(self._device(), subject, self._seed, file_bytes=size)
        life = self._life
        reads = ageing_claims.reads_stay if name == "2" else ageing_claims.reads_fall
        rows = [ageing_claims.slower(life), reads(life)]
        image = figure.lives([life], self._path(name, "svg"))
        data = ageing.write_table([life], self._path(name, "csv"))
        new = "new: as the drive was given, but for a test file written once in order"
        return self._result(name, rows, image, data, new)

    def _shift_write(self, name: str, progress: StageProgress) -> FigureResult:
        block = self._target.device.info.logical_block_bytes
        taken = [
            (replace(subject, label=f"as {subject.label}"), self._shortened(sweep, subject))
            for subject, sweep in shift_write.DRAWN
            if sweep.shift_bytes % block == 0
        ]
        points = []
        for subject, sweep in taken:
            points.append(shift_write.run_sweep(self._detecting, subject, sweep))
            progress("figure 7", len(points) / len(taken))
        image = figure.shifted(points, self._path(name, "svg"))
        data = shift_write.write_table(points, self._path(name, "csv"))
        left_out = [
            f"shifts of {shift} bytes are left out: the target's blocks are of {block} bytes"
            for shift in sorted({sweep.shift_bytes for _, sweep in shift_write.DRAWN})
            if shift % block
        ]
        return self._result(name, map(shift_write.period, points), image, data, *left_out)

    def _shortened(self, sweep: Sweep, subject: Subject) -> Sweep:
        """Take fewer positions and chunks than of the paper's drives: real ones take real time."""
        reach = min(sweep.chunk_bytes, CHUNK_BLOCKS * (subject.paper_bytes or sweep.chunk_bytes))
        chunks = min(CHUNKS, sweep.chunks, self._target.capacity_bytes // CHUNK_SPACE_BYTES)
        return replace(sweep, chunk_bytes=reach, chunks=chunks)

    def _allocation(self, name: str, _progress: StageProgress) -> FigureResult:
        subject = allocation.Subject(self._target.uri, PAGE_BYTES, 0.0)
        size = min(allocation.RANGE_BYTES, _whole_mib(self._target.capacity_bytes))
        gap = allocation.gap_on(self._device(), subject, self._seed, size)
        return self._result(name, [allocation.as_one_of_the_paper_s(gap)], None, None)

    def _table(self, name: str, _progress: StageProgress) -> FigureResult:
        device, notes = self._device(), []
        region = min(iozone.REGION_BYTES, _whole_mib(self._target.capacity_bytes))
        ops: Sequence[str] = iozone.OPS
        if device.info.writable:
            _settle(device, region, self._seed)
        else:
            ops = ("randread",)
            notes.append("writes are left out: the target is open for reading only")
        column = iozone.measure_cells(
            device,
            self._seed,
            self._requests,
            region_bytes=region,
            ops=ops,
            spare_bytes=spare_bytes(self._target),
        )
        cells = [
            iozone.Cell(self._target.uri, op, kib, each.kib_per_s, each.mean_ns, None)
            for (op, kib), each in column.items()
        ]
        moving = [kib for (_, kib), each in column.items() if not each.sustained]
        if moving:
            sizes = ", ".join(str(kib) for kib in moving)
            notes.append(f"the rate of writes of {sizes} KB had not come to rest")
        image = figure.table_13(cells, self._path(name, "svg"))
        data = iozone.write_table(cells, self._path(name, "csv"))
        return self._result(name, map(iozone.cell_claim, cells), image, data, *notes)

    def _read_size(self, name: str, _progress: StageProgress) -> FigureResult:
        curves = {self._target.uri: read_size.sweep(self._device(), self._seed)}
        curve = curves[self._target.uri]
        rows = [read_size.straight(curve), read_size.slope(curve)]
        image = figure.curves_14(curves, self._path(name, "svg"))
        data = read_size.write_table(curves, self._path(name, "csv"))
        return self._result(name, rows, image, data)

    def _detected(self, name: str, progress: StageProgress) -> FigureResult:
        made = detected.make(name, self._detecting, self._folder, progress)
        return self._result(name, made.rows, made.image, made.data, *made.notes)

    def _device(self) -> Device:
        device = self._target.device
        return device.fork() if device.info.snapshot else device

    def _path(self, name: str, suffix: str) -> Path:
        return self._folder / f"ryu2009-figure{name}-target.{suffix}"

    def _result(
        self, name: str, rows: Iterable[Claim], image: Path | None, data: Path | None, *notes: str
    ) -> FigureResult:
        told = [of_another_drive(row) for row in rows]
        procedure = f"figure {name}" if name.isdecimal() else name
        title = f"The procedure of {procedure} on {self._target.uri}"
        return FigureResult(name, title, told, image, data, list(notes))


def _settle(device: Device, region_bytes: int, seed: int) -> None:
    """Fill a drive, then overwrite a region of it twice at random."""
    whole = device.info.capacity_bytes // PAGE_BYTES * PAGE_BYTES
    fill_sequentially(device, size_bytes=whole).whole()
    twice = 2 * region_bytes
    overwrite_randomly(device, io_bytes=twice, size_bytes=region_bytes, seed=seed).whole()


def _whole_mib(size_bytes: int) -> int:
    return size_bytes >> 20 << 20

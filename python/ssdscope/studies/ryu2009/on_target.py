"""The study's procedures on a drive that is not the paper's.

A drive that can be copied is measured from the state it was given in, whatever was measured
before. On any other the figures spoil each other's state: those that write least come first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal.shift_write import Sweep
from ssdscope.studies.record import FigureResult, Measured
from ssdscope.studies.running import hand_in_elsewhere
from ssdscope.studies.ryu2009 import (
    ageing,
    detecting,
    iozone,
    pictures,
    placing,
    read_size,
    shift_write,
)  # fmt: skip
from ssdscope.studies.ryu2009.bench import PAPER, Bench, Subject
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
        self._requests = requests
        self._bench = Bench(seed, {}, target.device)

    def make(self, name: str, progress: StageProgress) -> FigureResult:
        """Measure a figure; its rows need no explanation, for the drive is not the paper's."""
        makers: Mapping[str, Callable[[Bench, StageProgress], Measured]] = {
            "2": partial(self._ageing, "reads stay"),
            "3": partial(self._ageing, "reads fall"),
            "6": detecting.figure_6,
            "7": self._shift_write,
            "9": detecting.figure_9,
            "10": placing.figure_10,
            "allocation": detecting.figure_9,
            "13": self._table,
            "14": self._read_size,
        }
        progress(f"figure {name}", 0.0)
        measured = makers[name](self._bench, progress)
        procedure = f"figure {name}" if name.isdecimal() else name
        title = f"The procedure of {procedure} on {self._target.uri}"
        return hand_in_elsewhere(PAPER, name, measured, self._folder, title=title)

    def _ageing(self, reads: str, bench: Bench, _progress: StageProgress) -> Measured:
        size = min(ageing.FILE_BYTES, _whole_mib(self._target.capacity_bytes // 4))
        uri = self._target.uri
        life = bench.once(
            ("life",), lambda: ageing.watch(self._device(), uri, bench, file_bytes=size)
        )
        read = {f"slower: {uri}": ageing.slower(life), f"{reads}: {uri}": ageing.reads_lose(life)}
        note = "new: as the drive was given, but for a test file written once in order"
        return Measured(read, partial(pictures.lives, [life]), ageing.columns([life]), [note])

    def _shift_write(self, bench: Bench, progress: StageProgress) -> Measured:
        block = self._target.device.info.logical_block_bytes
        taken = [
            (replace(subject, label=f"as {subject.label}"), self._shortened(sweep, subject))
            for subject, sweep in shift_write.DRAWN
            if sweep.shift_bytes % block == 0
        ]
        points = []
        for subject, sweep in taken:
            points.append(shift_write.run_sweep(bench, subject, sweep))
            progress("figure 7", len(points) / len(taken))
        left_out = [
            f"shifts of {shift} bytes are left out: the target's blocks are of {block} bytes"
            for shift in sorted({sweep.shift_bytes for _, sweep in shift_write.DRAWN})
            if shift % block
        ]
        return shift_write.measured(points, {}, *left_out)

    def _shortened(self, sweep: Sweep, subject: Subject) -> Sweep:
        """Take fewer positions and chunks than of the paper's drives: real ones take real time."""
        reach = min(sweep.chunk_bytes, CHUNK_BLOCKS * (subject.paper_bytes or sweep.chunk_bytes))
        chunks = min(CHUNKS, sweep.chunks, self._target.capacity_bytes // CHUNK_SPACE_BYTES)
        return replace(sweep, chunk_bytes=reach, chunks=chunks)

    def _table(self, bench: Bench, _progress: StageProgress) -> Measured:
        device, notes = self._device(), []
        region = min(iozone.REGION_BYTES, _whole_mib(self._target.capacity_bytes))
        ops: Sequence[str] = iozone.OPS
        if device.info.writable:
            _settle(device, region, bench.seed)
        else:
            ops = ("randread",)
            notes.append("writes are left out: the target is open for reading only")
        column = iozone.measure_cells(
            device,
            bench.seed,
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
        return iozone.drawn(cells, dict(map(iozone.another_s_cell, cells)), *notes)

    def _read_size(self, bench: Bench, _progress: StageProgress) -> Measured:
        uri = self._target.uri
        curve = read_size.sweep(self._device(), bench.seed)
        read = {f"straight: {uri}": read_size.straight(curve), "slope": read_size.slope(curve)}
        return read_size.drawn({uri: curve}, read)

    def _device(self) -> Device:
        device = self._target.device
        return device.fork() if device.info.snapshot else device


def _settle(device: Device, region_bytes: int, seed: int) -> None:
    """Fill a drive, then overwrite a region of it twice at random."""
    whole = device.info.capacity_bytes // PAGE_BYTES * PAGE_BYTES
    fill_sequentially(device, size_bytes=whole).whole()
    twice = 2 * region_bytes
    overwrite_randomly(device, io_bytes=twice, size_bytes=region_bytes, seed=seed).whole()


def _whole_mib(size_bytes: int) -> int:
    return size_bytes >> 20 << 20

"""Reads and writes among each other: random requests of 4 KiB, of which seven in ten read.

The shares are those of fio's and the reviewers' usual mix. It begins in the state that bursts of
writes begin in, so its figures are those of a burst. It is measured behind all other bursts, since
a real drive has to live with what was written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ssdscope.errors import DeviceError
from ssdscope.report import survey, words
from ssdscope.report.parts import Document, Table
from ssdscope.report.survey import BURSTS, MUCH_BYTES, Effort
from ssdscope.seeds import numbered
from ssdscope.targets import Device
from ssdscope.targets.metered import TIME_OVER, ExhaustedError
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import Figure, Stretch, counted, figures_of, run_stretch

READ_PERCENT = 70
BLOCK_BYTES = 4096
DEPTHS = (1, 16)
TIMES_AS_MANY = 3
"""Requests of a burst of writes alone: three in ten write, and a p99 takes a thousand."""


def measure(device: Device, effort: Effort, seed: int) -> Iterator[dict[str, Any]]:
    """Run the mix at each depth; nothing on a drive that may not be written.

    Parameters
    ----------
    device
        The drive; a simulated one is left as it was found.
    effort
        Requests of each depth, as of a point of the survey; its time is that of all depths.
    seed
        Of the survey.
    """
    if not device.info.writable:
        return
    block = max(BLOCK_BYTES, device.info.logical_block_bytes)
    for depth in DEPTHS:
        plan = Workload(
            rw="randrw", block_bytes=block, iodepth=depth, read_percent=READ_PERCENT,
            seed=numbered(seed, depth, "report.mixed"),
        )  # fmt: skip
        row = {"block_bytes": block, "iodepth": depth, "read_percent": READ_PERCENT}
        try:
            found = figures_of(list(_stretches(device, plan, effort)))
        except DeviceError as error:
            yield row | {"failure": error.message, "read": None, "write": None}
            continue
        sides = {name: _side(found.get(name)) for name in ("read", "write")}
        yield row | {"failure": None} | sides


def writes_bytes(info: DeviceInfo, effort: Effort) -> int:
    """Give what the mixes write at most to copies of a simulated drive, were all of it writes."""
    if not info.writable:
        return 0
    requests = sum(TIMES_AS_MANY * effort.requests + 2 * depth for depth in DEPTHS)
    return BURSTS * requests * max(BLOCK_BYTES, info.logical_block_bytes)


def _side(figure: Figure | None) -> dict[str, Any] | None:
    return None if figure is None else figure.to_json()


def _stretches(device: Device, plan: Workload, effort: Effort) -> Iterator[Stretch]:
    if device.info.clock == "wall":
        if not device.left_s():
            raise ExhaustedError(TIME_OVER)
        runtime_ns = round(effort.wall_s / len(DEPTHS) * 1e9)
        yield run_stretch(device, replace(plan, io_bytes=MUCH_BYTES, runtime_ns=runtime_ns))
        return
    limited = counted(plan, TIMES_AS_MANY * effort.requests)
    if not device.info.snapshot:
        yield run_stretch(device, limited)
        return
    yield from survey.bursts(device, limited, range(BURSTS))


def table(document: Document) -> Table | None:
    """Lay out what the mix came to at each depth; None where it was not measured."""
    measured = document["performance"].get("mixed") or []
    rows = [_row(each) for each in measured if each["read"] and each["write"]]
    head = ("depth", "requests per second", "read mean", "read p99", "write mean", "write p99")
    return Table(head, rows) if rows else None


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    read, write = row["read"], row["write"]
    rates = [each["iops"] for each in (read, write)]
    rate = words.NOTHING if None in rates else words.iops(sum(rates))
    times = [
        words.time(value)
        for each in (read, write)
        for value in (each["mean_ns"], each["percentiles_ns"]["99"])
    ]
    return (str(row["iodepth"]), rate, *times)

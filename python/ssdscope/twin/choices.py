"""What of a design is no number: the neighbours that differ from it in one respect."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from ssdscope.twin.found import NEW_BUFFER, NEW_REGION
from ssdscope.twin.free import PROGRAMS, moved

if TYPE_CHECKING:
    from ssdscope.twin.design import Design, Value
    from ssdscope.twin.found import Found

__all__ = ["neighbours"]

Free: TypeAlias = "Callable[[Design], Iterator[Design]]"
Respect: TypeAlias = "Callable[[Design, Found], Iterator[Design]]"

MOST_DIES, MOST_BESIDE = 256, 8
COUNTS = (0.5, 2 / 3, 0.75, 4 / 3, 1.5, 2.0)
"""Times as many dies."""
BUFFERS_BYTES = tuple(kib << 10 for kib in (128, 1024, 8192, 32_768))
DISK_CACHES_BYTES = (256 << 10, 2 << 20)
QUEUES = (1, 2, 4, 8, 16, 32, 256)
PAGES_BYTES = (2048, 65_536)
FLAGS: dict[str, bool] = {
    "scheduler.way_interleave": True,
    "scheduler.die_interleave": True,
    "scheduler.multi_plane": True,
    "scheduler.data_first": False,
    "scheduler.cached_read": False,
    "scheduler.cached_program": False,
    "scheduler.multi_plane_erase": False,
    "scheduler.read_first": True,
    "gc.copyback": False,
}
"""With what they are where nothing is said."""
WORDS: dict[str, tuple[Value, ...]] = {
    "ftl.plane_order": ("CWDP", "WCDP", "PDWC", "DPCW", "CPWD", "WDPC"),
    "gc.policy": ("greedy", "fifo", "random", "d-choices"),
    "default_state": ("sequential", "random", "fresh"),
    "ftl.log_association": ("one-to-one", "many-to-one"),
}
OF_BUFFERS: dict[str, tuple[Value, ...]] = {
    "write_buffer.drain": ("eager", "high-water", "full", "idle"),
    "write_buffer.order": ("sequential-runs", "fifo", "lru"),
    "write_buffer.concurrent_drains": (0, 1, 2, 4, 8, 16, 32),
}
OF_REGIONS: dict[str, tuple[Value, ...]] = {"pslc.overflow": ("fold", "direct")}


def neighbours(design: Design, found: Found) -> Iterator[Design]:
    """Return all that differ in one respect that findings leave open.

    Dies that were counted may yet be others, if what was measured says so.
    """
    if design.disk:
        yield from _words(design, {"disk.queue_order": ("position", "oldest")})
        yield from _queue(design)
        yield from _arm(design)
        return
    free: tuple[Free, ...] = (
        _beside, _planes, _queue, _interface, _flags, _blocks, _water, _command,
    )  # fmt: skip
    left_open: tuple[Respect, ...] = (_dies, _pages, _runs, _buffer, _allocation, _region)
    every = [each for respect in free for each in respect(design)]
    every += [each for respect in left_open for each in respect(design, found)]
    every += _words(design, _worded(design))
    yield from (even for each in every if (even := each.evened()).values != design.values)


def _arm(design: Design) -> Iterator[Design]:
    """Take other numbers of surfaces, and halves and doubles of what caches hold."""
    for key in ("disk.surfaces", "disk.zones", "disk.read_cache_segments"):
        now = design.whole(key, 1)
        yield from (design.having({key: other}) for other in {2 * now, max(now // 2, 1)} - {now})
    for key in ("disk.read_cache_bytes", "disk.read_ahead_bytes", "disk.write_cache_bytes"):
        now = design.whole(key)
        for other in (now * 2, now // 2, 0) if now else DISK_CACHES_BYTES:
            yield design.having({key: other})


def _worded(design: Design) -> dict[str, tuple[Value, ...]]:
    every = {k: v for k, v in WORDS.items() if design.log_block or "log" not in k}
    if design.log_block:
        every.pop("gc.policy")
    if design.number("write_buffer.bytes"):
        every |= OF_BUFFERS
    if design.has_region:
        every |= OF_REGIONS
    return every


def _words(design: Design, words: dict[str, tuple[Value, ...]]) -> Iterator[Design]:
    for key, every in words.items():
        yield from (design.having({key: word}) for word in every if word != design.values.get(key))


def _flags(design: Design) -> Iterator[Design]:
    for key, usual in FLAGS.items():
        yield design.having({key: not design.values.get(key, usual)})


def _dies(design: Design, found: Found) -> Iterator[Design]:
    """Take other numbers of dies; of those that were counted more, in turns on their channels."""
    channels, ways = (design.whole(f"nand.{each}", 1) for each in ("channels", "ways"))
    if found.number("interleave_degree"):
        for key, now in (("way", ways), ("die", design.whole("nand.dies", 1))):
            flag = f"scheduler.{key}_interleave"
            for count in (2, 3, 4):
                yield design.having({f"nand.{key}s": now * count, flag: False})
    for times in COUNTS:
        for key, now in (("nand.channels", channels), ("nand.ways", ways)):
            if (now * times) % 1 == 0 and now * times >= 1 and design.dies * times <= MOST_DIES:
                yield from _with_and_without_pace(design.having({key: int(now * times)}), times)


def _beside(design: Design) -> Iterator[Design]:
    """Put the same dies on other numbers of channels."""
    dies = design.dies
    for beside in range(1, MOST_BESIDE + 1):
        if dies % beside == 0 and beside != design.whole("nand.ways", 1):
            yield design.having(
                {"nand.channels": dies // beside, "nand.ways": beside, "nand.dies": 1}
            )


def _planes(design: Design) -> Iterator[Design]:
    now = design.whole("nand.planes", 1)
    for planes in (1, 2, 4, 8):
        if planes != now:
            yield from _with_and_without_pace(design.having({"nand.planes": planes}), planes / now)


def _with_and_without_pace(design: Design, times: float) -> Iterator[Design]:
    """Leave times of flash as they are; and so much longer, that as much is written as before."""
    yield design
    by = math.log(times)
    yield moved(design, {each: by for each in PROGRAMS if design.number(each.key) > 0})


def _pages(design: Design, found: Found) -> Iterator[Design]:
    for page in (design.page_bytes * 2, design.page_bytes // 2):
        unit = design.unit_bytes if found.number("rmw_unit_bytes") else max(page, design.unit_bytes)
        whole = unit % page == 0 and page % found.info.logical_block_bytes == 0
        if whole and PAGES_BYTES[0] <= page <= PAGES_BYTES[1]:
            other = design.having({"nand.page_bytes": page, "ftl.map_unit_bytes": unit})
            yield from _with_and_without_pace(other, page / design.page_bytes)
    if found.number("rmw_unit_bytes"):
        return
    now = design.unit_bytes
    for unit in {design.page_bytes, now * 2, now // 2} - {now}:
        if unit and unit % design.page_bytes == 0:
            yield design.having({"ftl.map_unit_bytes": unit})


def _queue(design: Design) -> Iterator[Design]:
    for depth in QUEUES:
        if depth != design.whole("host.queue_depth", 256):
            yield design.having({"host.queue_depth": depth})


def _interface(design: Design) -> Iterator[Design]:
    kinds = {"simple": "sata", "sata": "simple"}
    other = kinds.get(str(design.values.get("host.interface", "simple")))
    if other:
        yield design.having({"host.interface": other})


def _command(design: Design) -> Iterator[Design]:
    """Share what a request takes at least otherwise among link and firmware."""
    link, firmware = design.number("host.command_ns"), design.number("host.firmware_ns")
    if design.values.get("host.interface") == "nvme" or link + firmware <= 0:
        return
    for share in (0.1, 0.9):
        whole = link + firmware
        yield design.having({
            "host.command_ns": max(round(share * whole), 1),
            "host.firmware_ns": max(round((1 - share) * whole), 1),
        })  # fmt: skip


def _runs(design: Design, found: Found) -> Iterator[Design]:
    if found.number("placement_pages"):
        return
    run = design.whole("ftl.placement_pages", 1)
    for other in {1, run * 2, max(run // 2, 1)} - {run}:
        yield design.having({"ftl.placement_pages": other})


def _buffer(design: Design, found: Found) -> Iterator[Design]:
    if "write_buffer_bytes" in found.values:
        return
    now = design.whole("write_buffer.bytes")
    if now:
        yield design.without("write_buffer")
    unit = design.whole("write_buffer.unit_bytes", 4096)
    for size in {4 * now, now // 4} if now else BUFFERS_BYTES:
        if unit <= size <= design.capacity_bytes // 8:
            base = design if now else design.having(NEW_BUFFER)
            yield base.having({"write_buffer.bytes": size // unit * unit})


def _allocation(design: Design, found: Found) -> Iterator[Design]:
    if not design.log_block and "allocation" not in found.values:
        now = design.values.get("ftl.allocation", "address")
        yield design.having({"ftl.allocation": "order" if now == "address" else "address"})


def _blocks(design: Design) -> Iterator[Design]:
    if not design.log_block:
        pages = design.whole("nand.pages_per_block", 64)
        for other in (pages * 2, pages // 2):
            if other >= 1:
                yield design.having({"nand.pages_per_block": other})


def _water(design: Design) -> Iterator[Design]:
    if not design.log_block:
        for low in (0.005, 0.03, 0.06):
            high = max(design.number("gc.high_water_ratio", 0.06), low + 0.01)
            yield design.having({"gc.low_water_ratio": low, "gc.high_water_ratio": high})


def _region(design: Design, found: Found) -> Iterator[Design]:
    if design.log_block or "pslc_bytes" in found.values:
        return
    if design.has_region:
        yield design.without("pslc")
    else:
        for share in (0.01, 0.05):
            size = round(share * design.capacity_bytes)
            yield design.having(NEW_REGION).having({"pslc.bytes": size})

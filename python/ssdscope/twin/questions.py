"""What may be otherwise in a design, one respect at a time: the neighbours that a search tries."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdscope.twin.design import LEAST_PAGE_BYTES, MOST_PAGE_BYTES, Design, Value

if TYPE_CHECKING:
    from ssdscope.twin.search import Question

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128)
"""Units side by side, as drives have them."""
BUFFERS_BYTES = tuple(kib << 10 for kib in (128, 512, 2048, 8192, 32768))
SPARES = (0.035, 0.07, 0.12, 0.28)
"""Spare space as drives have it."""
SHARES = (0.15, 0.4, 0.65, 0.9)
"""Of two times that reads alone see as one."""
LEAST_PAGES, MOST_PAGES = 8, 2048
MOST_BESIDE = 8
"""Of chips on a channel, and of planes of a die."""


def of_reads(sure: Set[str], *, only: bool = False) -> list[Question]:
    """List what the latencies of reads may answer.

    Parameters
    ----------
    only
        Whether there is nothing but reads; else writes say better what a drive went through.
    """
    counted = "interleave_degree" in sure
    questions: list[Question] = [_command] if counted else [_command, _units, _chips]
    if "placement" not in sure:
        questions.append(_runs)
    questions += [_ways, _queue, _interface, _planes, _turns, _page]
    if only:
        questions.append(_state)
    if not sure & {"read_ahead_bytes", "read_cache_bytes"}:
        questions.append(_read_ahead)
    return [*questions, _register] if counted else [*questions, _register, _units]


def of_writes(sure: Set[str]) -> list[Question]:
    """List what the latencies of writes may answer."""
    questions: list[Question] = []
    if "write_buffer_bytes" not in sure:
        questions.append(_buffer)
    questions += [_logs, _spare, _association, _water, _start, _ways, _bytes, _page]
    if "interleave_degree" not in sure:
        questions += [_units, _chips]
    if "allocation" not in sure:
        questions.append(_allocation)
    questions += [_block, _drains, _draining, _order_of_buffer, _turns, _state]
    return [*questions, _logs, _spare]


def _units(design: Design) -> Iterator[Design]:
    now = design.units
    near = [max((count for count in COUNTS if count < now), default=now)]
    near.append(min((count for count in COUNTS if count > now), default=now))
    for count in dict.fromkeys((2 * now, now // 2, *near)):
        if count in (0, now) or count > COUNTS[-1]:
            continue
        beside = design.ways * design.planes
        ways, planes = (design.ways, design.planes) if count % beside == 0 else (1, 1)
        channels = count // (ways * planes)
        yield replace(design, channels=channels, ways=ways, planes=planes).timed(
            {name: design.times[name] * count / now for name in ("read", "program", "erase")}
        )


def _bytes(design: Design) -> Iterator[Design]:
    """Share what a byte of a read takes otherwise among link and channels: merges use channels."""
    link, transfer = design.times["link"], design.times["transfer"]
    whole = link + transfer / design.channels
    for share in SHARES:
        yield design.timed(
            {"link": whole * share, "transfer": whole * (1 - share) * design.channels}
        )


def _start(design: Design) -> Iterator[Design]:
    """Share what a read takes at least otherwise among firmware and flash: merges use flash."""
    whole = design.times["firmware"] + design.times["read"]
    for share in SHARES:
        yield design.timed({"firmware": whole * share, "read": whole * (1 - share)})


def _ways(design: Design) -> Iterator[Design]:
    """Put the same chips on other numbers of channels."""
    chips = design.channels * design.ways
    for ways in sorted(_divisors(chips) - {design.ways}):
        channels = chips // ways
        moved = {"transfer": design.times["transfer"] * channels / design.channels}
        yield replace(design, channels=channels, ways=ways).timed(moved)


def _chips(design: Design) -> Iterator[Design]:
    """Put other numbers of chips on the same channels, each as much slower."""
    for ways in (1, 2, 4, 8):
        if ways == design.ways:
            continue
        share = ways / design.ways
        slower = {name: design.times[name] * share for name in ("read", "program")}
        slower["read"] = min(slower["read"], design.times["read"] + design.times["firmware"])
        yield replace(design, ways=ways).timed(slower)


def _planes(design: Design) -> Iterator[Design]:
    """Put units on planes of one die, which work together if their places allow."""
    for planes in sorted(_divisors(design.units) - {design.planes}):
        chips = design.units // planes
        ways = design.ways if chips % design.ways == 0 else 1
        yield replace(design, channels=chips // ways, ways=ways, planes=planes)


def _divisors(count: int) -> set[int]:
    return {each for each in range(1, MOST_BESIDE + 1) if count % each == 0}


def _command(design: Design) -> Iterator[Design]:
    yield replace(design, on_link=not design.on_link)


def _queue(design: Design) -> Iterator[Design]:
    for depth in (1, 32, 256):
        if depth != design.queue_depth:
            yield replace(design, queue_depth=depth)


def _interface(design: Design) -> Iterator[Design]:
    yield replace(design, interface="nvme" if design.interface == "simple" else "simple")


def _toggled(design: Design, key: str, usual: bool) -> Design:
    now = bool(design.extra.get(key, usual))
    return replace(design, extra={**design.extra, key: not now})


def _register(design: Design) -> Iterator[Design]:
    yield _toggled(design, "scheduler.cached_read", usual=False)


def _turns(design: Design) -> Iterator[Design]:
    yield _toggled(design, "scheduler.data_first", usual=False)
    if design.ways > 1:
        yield _toggled(design, "scheduler.way_interleave", usual=True)


def _runs(design: Design) -> Iterator[Design]:
    now = int(design.extra.get("ftl.placement_pages", 1))
    for pages in {now * 2, max(now // 2, 1)} - {now}:
        if pages <= design.pages_per_block:
            yield replace(design, extra={**design.extra, "ftl.placement_pages": pages})


def _page(design: Design) -> Iterator[Design]:
    for page in (design.page_bytes * 2, design.page_bytes // 2):
        whole = page % design.logical_block_bytes == 0 and page >= design.logical_block_bytes
        if not whole or not LEAST_PAGE_BYTES <= page <= MOST_PAGE_BYTES:
            continue
        unit = max(design.map_unit_bytes, page)
        if unit % page == 0 and (not design.log_block or design.merge_unit_bytes % page == 0):
            share = page / design.page_bytes
            yield replace(design, page_bytes=page, map_unit_bytes=unit).timed(
                {"program": design.times["program"] * share}
            )


def _read_ahead(design: Design) -> Iterator[Design]:
    unit = design.map_unit_bytes
    for wanted in (65_536, 262_144, 1 << 20):
        ahead = max(wanted // unit, 1) * unit
        yield design.also(
            read_cache__bytes=4 * ahead,
            read_cache__unit_bytes=4096,
            read_cache__read_ahead_bytes=ahead,
        )


def _buffer(design: Design) -> Iterator[Design]:
    now = int(design.extra.get("write_buffer.bytes", 0))
    sizes = {now * 2, now // 2} if now else set(BUFFERS_BYTES)
    for size in sorted(sizes):
        unit = int(design.extra.get("write_buffer.unit_bytes", 4096))
        if unit <= size <= design.capacity_bytes // 8:
            yield design.also(
                write_buffer__bytes=size // unit * unit, write_buffer__unit_bytes=unit
            )
    if now:
        rest = {key: each for key, each in design.extra.items() if "write_buffer" not in key}
        yield replace(design, extra=rest)


def _of_buffer(
    design: Design, key: str, usual: Value, others: tuple[Value, ...]
) -> Iterator[Design]:
    if "write_buffer.bytes" not in design.extra:
        return
    for other in others:
        if other != design.extra.get(key, usual):
            yield replace(design, extra={**design.extra, key: other})


def _drains(design: Design) -> Iterator[Design]:
    counts = (1, 2, 4, 8, 16, 32, design.units, 2 * design.units)
    yield from _of_buffer(design, "write_buffer.concurrent_drains", 0, counts)


def _draining(design: Design) -> Iterator[Design]:
    kinds = ("eager", "high-water", "full", "idle")
    yield from _of_buffer(design, "write_buffer.drain", "eager", kinds)


def _order_of_buffer(design: Design) -> Iterator[Design]:
    yield from _of_buffer(
        design, "write_buffer.order", "sequential-runs", ("sequential-runs", "fifo", "lru")
    )


def _spare(design: Design) -> Iterator[Design]:
    if design.log_block:
        return
    for ratio in SPARES:
        if abs(ratio / design.spare_ratio - 1) > 0.2:
            yield replace(design, spare_ratio=ratio)
    for times in (1.25, 1 / 1.25):
        yield replace(design, spare_ratio=design.spare_ratio * times)


def _water(design: Design) -> Iterator[Design]:
    if design.log_block:
        return
    for ratio in (0.05, 0.02, 0.005):
        if ratio != design.extra.get("gc.low_water_ratio", 0.05):
            yield design.also(gc__low_water_ratio=ratio, gc__min_free_blocks=3)


def _block(design: Design) -> Iterator[Design]:
    if design.log_block:
        return
    for pages in (design.pages_per_block * 2, design.pages_per_block // 2):
        if LEAST_PAGES <= pages <= MOST_PAGES:
            yield replace(design, pages_per_block=pages)


def _logs(design: Design) -> Iterator[Design]:
    if not design.log_block:
        return
    now = design.log_blocks
    for blocks in dict.fromkeys((now * 2, now // 2, round(now * 1.4), round(now / 1.4))):
        if blocks == now:
            continue
        if 1 <= blocks <= design.capacity_bytes // design.merge_unit_bytes // 2:
            yield design.with_logs(blocks)


def _association(design: Design) -> Iterator[Design]:
    if design.log_block:
        now = design.extra.get("ftl.log_association", "one-to-one")
        other = "many-to-one" if now == "one-to-one" else "one-to-one"
        yield design.also(ftl__log_association=other)


def _allocation(design: Design) -> Iterator[Design]:
    if not design.log_block:
        now = design.extra.get("ftl.allocation", "address")
        yield design.also(ftl__allocation="order" if now == "address" else "address")


def _state(design: Design) -> Iterator[Design]:
    for state in ("fresh", "sequential", "random"):
        if state != design.state:
            yield replace(design, state=state)

"""What hardware and firmware decide, each changed alone.

The abstract says that firmware decides an SSD's performance and mechanics a disk's: A's chips, and
a hard disk, under several firmwares; channels, the mapping table and updates out of place. Section
2 tells order-based from address-based allocation: C's chips without its buffer, and A's in units
of a page, place what is written by one rule and by the other behind a host that is no bound.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.seeds import stream
from ssdscope.studies.detectors import refusal, value_of
from ssdscope.studies.measuring import at, counted, in_columns, mean_us, run
from ssdscope.studies.record import Measured, Reading
from ssdscope.studies.ryu2009 import pictures
from ssdscope.studies.ryu2009.bench import A_PLAIN, KIB, NO_GC, NO_HOST, Bench
from ssdscope.targets import Device

SMALL = "nand.blocks_per_plane=1024"
_A, _PAGE = (SMALL, *A_PLAIN), "ftl.map_unit_bytes=4096"
FIRMWARES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "pages of 4 KB, by order": ("ryu-a", (*_A, _PAGE, 'ftl.allocation="order"')),
    "pages of 4 KB, by address": ("ryu-a", (*_A, _PAGE)),
    "units of 16 KB": ("ryu-a", _A),
    "units of 64 KB": ("ryu-a", (*_A, "ftl.map_unit_bytes=65536")),
    "log blocks of 1 MB": ("ryu-b", (SMALL, "nand.ways=2", "nand.page_bytes=4096",
                                     "nand.read_ns=20000", "nand.program_ns=250000",
                                     "channel.ns_per_byte=5", "host.bytes_per_second=150e6",
                                     "host.command_ns=90000", "ftl.log_blocks=35")),
}  # fmt: skip
"""All over A's chips, channels and host."""
DISKS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "as it is": ("ryu-hdd", ()),
    "first come, first served": ("ryu-hdd", ('disk.queue_order="arrival"',)),
    "no read-ahead": ("ryu-hdd", ("disk.read_ahead_bytes=0",)),
    "no write cache": ("ryu-hdd", ("disk.write_cache_bytes=0",)),
}
TESTS = [(rw, kib) for rw in ("read", "randread", "write", "randwrite") for kib in (4, 64)]
NAMES = {"randread": "random reads", "randwrite": "random writes"}
REQUESTS = 2000
CHANNELS = (1, 2, 4)
TABLE_KIB = (4, 16, 64)
ENTRIES, SPAN_BYTES = 1 << 14, 1 << 30
"""Entries of the mapping table in memory: those of the whole span in blocks of 64 KB."""
SPARES = ("over_provisioning_ratio=0.08", "over_provisioning_ratio=0.28")
WORN = {
    "A": ("ryu-a", ("ftl.phase_bytes=0", "nand.blocks_per_plane=256")),
    "C": ("ryu-c", ("nand.blocks_per_plane=104",)),
}
CHIPS = {"A": ("ryu-a", (*A_PLAIN, _PAGE)), "B": ("ryu-b", ()), "C": ("ryu-c", ())}
"""A's chips cannot be told apart behind blocks that lie on all its channels."""


def figure_firmware(bench: Bench, progress: StageProgress) -> Measured:
    """Change one thing at a time."""
    times = {}
    every = {**FIRMWARES, **DISKS}
    for name, (drive, sets) in every.items():
        device = bench.open(drive, sets, "sequential")
        for rw, kib in TESTS:
            copy = device.fork()
            if name in DISKS and rw == "randwrite":  # what it keeps up, not what its cache takes
                run(copy, rw, kib * KIB, bench.seed + 1, requests=2 * REQUESTS)
            times[name, rw, kib] = mean_us(copy, rw, kib * KIB, bench.seed, requests=REQUESTS)
        progress(f"firmware: {name}", len(times) / len(TESTS) / len(every))
    read = {"firmware decides": decides(times), "channels in parallel": channels(bench)}
    read |= {f"firmware of a disk: {NAMES[rw]}": disk(times, rw) for rw in NAMES}
    read |= {f"small map: {case}": table(bench, case) for case in MAPS}
    read |= {f"out-of-place updates: {name}": updates(bench, name) for name in WORN}
    read |= {f"faster than the disk: {each}": faster(bench, each) for each in ("A", "B", "C")}
    read |= {f"chips: {label}": chips(bench, label) for label in CHIPS}
    points = [(*key, us) for key, us in times.items()]
    columns = in_columns("firmware pattern request_kib mean_us", points)
    picture = partial(pictures.firmwares, times, list(FIRMWARES), list(DISKS))
    return Measured(read, picture, columns)


Times = Mapping[tuple[str, str, int], float]


def _spread(times: Times, names: Mapping[str, object], rw: str, kib: int) -> float:
    found = [times[name, rw, kib] for name in names]
    return max(found) / min(found)


def decides(times: Times) -> Reading:
    """Return the slowest firmware over the fastest, on one hardware, where that is most."""
    ratios = {key: _spread(times, FIRMWARES, *key) for key in TESTS}
    (rw, kib), most = max(ratios.items(), key=lambda each: each[1])
    return Reading(f"up to {most:.1f} times ({rw} of {kib} KB)", most)


def disk(times: Times, rw: str) -> Reading:
    """Return what a disk's firmware changes of random requests, its caches among it."""
    ratios = [_spread(times, DISKS, rw, kib) for _, kib in TESTS[:2]]
    return Reading(f"up to {max(ratios):.2f} times", max(ratios))


def channels(bench: Bench) -> Reading:
    """Read and write in order with one, two and four channels; growth of the rate at each step."""
    rates = {}
    for count in CHANNELS:
        sets = (*A_PLAIN, *NO_HOST, f"nand.channels={count}",
                f"nand.blocks_per_plane={2048 // count}")  # fmt: skip
        device = bench.open("ryu-a", sets, "sequential")
        rates[count] = [256 / mean_us(device, rw, 256 * KIB, bench.seed, requests=300) / 1024 * 1e6
                        for rw in ("read", "write")]  # fmt: skip
    grown = [
        many / few
        for one, other in pairwise(CHANNELS)
        for few, many in zip(rates[one], rates[other], strict=True)
    ]
    said = ", ".join(f"{n}: {read:.0f} and {write:.0f}" for n, (read, write) in rates.items())
    return Reading(f"MB/s read and written by channels, {said}", grown)


MAPS: Mapping[str, Callable[[int], tuple[str, ...]]] = {
    "parts of the table loaded whole": lambda kib: (f"map.zone_bytes={kib * KIB * ENTRIES}",),
    "entries loaded on demand": lambda _: ('map.kind="demand"', f"map.cache_bytes={8 * ENTRIES}"),
}


def table(bench: Bench, case: str) -> Reading:
    """Read at random with blocks of 4 to 64 KB whose table has the same memory: 4 KB over 64."""
    times = []
    for kib in TABLE_KIB:
        memory = MAPS[case](kib)
        sets = (SMALL, "ftl.phase_bytes=0", f"ftl.map_unit_bytes={kib * KIB}", *memory)
        device = bench.open("ryu-a", sets, "sequential")
        run(
            device, "randread", 4 * KIB, bench.seed + 1, requests=4 * ENTRIES, size_bytes=SPAN_BYTES
        )
        times.append(mean_us(device, "randread", 4 * KIB, bench.seed, requests=REQUESTS,
                             size_bytes=SPAN_BYTES))  # fmt: skip
    said = ", ".join(f"{kib} KB {us:.0f} us" for kib, us in zip(TABLE_KIB, times, strict=True))
    return Reading(said, times[0] / times[-1])


def updates(bench: Bench, name: str) -> Reading:
    """Overwrite at random until collection keeps up; what new data wrote against that, by spare."""
    drive, sets = WORN[name]
    kept = []
    for spare in SPARES:
        device = bench.open(drive, (*sets, spare), "fresh")
        pages = device.info.capacity_bytes // 4096
        new = mean_us(device, "randwrite", 4096, bench.seed, requests=pages // 20)
        run(device, "write", 64 * KIB, bench.seed, io_bytes=pages * 4096 >> 16 << 16)
        run(device, "randwrite", 4096, bench.seed, io_bytes=pages * 4096)
        count, seed = pages // 10, bench.seed + 1
        used, grown = counted(device, run, "randwrite", 4096, seed, requests=count)
        kept.append((1e3 * new / used.latency_ns.mean, grown["gc_pages_moved"] / count))
    said = "; ".join(
        f"{100 * share:.0f} % of the rate kept, {moved:.1f} pages moved a write"
        for share, moved in kept
    )
    few, more = (100 * share for share, _ in kept)
    return Reading(f"8 and 28 % spare: {said}", few if few < more else float("nan"))


def faster(bench: Bench, label: str) -> Reading:
    """Return a disk's random times over an SSD's, reads and writes, where they are closest."""
    ssd = bench.open(f"ryu-{label.lower()}", state="steady:1g")
    disk = bench.open("ryu-hdd", ("disk.write_cache_bytes=0",), "sequential")
    span = {"size_bytes": SPAN_BYTES, "requests": REQUESTS // 2}
    ratios = {
        (rw, kib): mean_us(disk, rw, kib * KIB, bench.seed, **span)
        / mean_us(ssd, rw, kib * KIB, bench.seed, **span)
        for rw in NAMES
        for kib in (4, 64)
    }
    (rw, kib), least = min(ratios.items(), key=lambda each: each[1])
    return Reading(f"at least {least:.2f} times ({rw} of {kib} KB)", least)


def chips(bench: Bench, label: str) -> Reading:
    """Ask a probe how many pages are read at once."""
    drive, sets = CHIPS[label]
    finding = bench.probed.finding("interleave_degree", f"sim:{drive}",
                                   bench.sets(drive, (*sets, *NO_HOST)))  # fmt: skip
    found = value_of(finding)
    return Reading(found) if isinstance(found, int | float) else Reading(refusal(finding), 0.0)


RULES = ("order", "address")
UNIT_4K = "ftl.map_unit_bytes=4096"
HARDWARE: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "C's": ("ryu-c", ("write_buffer.bytes=0", "nand.blocks_per_plane=256")),
    "A's": ("ryu-a", (*A_PLAIN, UNIT_4K, "nand.blocks_per_plane=1024")),
}
RANGE_BYTES = 64 << 20
WRITES = 4000
DEPTHS = (1, 32)
SAME_PERCENT = 3
"""Times that differ by no more are the same."""
PAGES = (100, 0, 300, 301)
"""Figure 9's example."""
IN_A_ROW = 4
"""Pages of a management block of the example's drive, all on one die."""


def figure_allocation(bench: Bench, progress: StageProgress) -> Measured:
    """Write and read with both rules on both hardwares."""
    times: dict[tuple[str, str], dict[str, float]] = {}
    for hardware, (drive, sets) in HARDWARE.items():
        for rule in RULES:
            own = (*sets, *NO_HOST, NO_GC, f'ftl.allocation="{rule}"')
            times[hardware, rule] = _by_rule(bench.open(drive, own, "sequential"), bench.seed)
            progress(f"allocation: {hardware}", len(times) / 4)
    read = {"figure 9's example": example(bench)}
    for hardware in HARDWARE:
        order, address = (times[hardware, rule] for rule in RULES)
        read |= {
            f"{name}: {hardware} hardware": each for name, each in compared(order, address).items()
        }
    read |= {f"T1 and T2 tell the rule: {case}": telling(bench, case) for case in TOLD}
    points = [
        (hw, rule, what, us) for (hw, rule), each in times.items() for what, us in each.items()
    ]
    columns = in_columns("hardware allocation what mean_us", points)
    return Measured(read, partial(pictures.allocations, times), columns)


def _by_rule(device: Device, seed: int) -> dict[str, float]:
    """Time writes of a page by order and depth, then reads of four after both orders, in us."""
    found = {
        f"{rw}, {depth} at once": mean_us(device, rw, 4 * KIB, seed, requests=WRITES,
                                          size_bytes=RANGE_BYTES, iodepth=depth)
        for rw in ("write", "randwrite")
        for depth in DEPTHS
    }  # fmt: skip
    pages = stream(seed, "studies.ryu2009.firmware.pages").permutation(RANGE_BYTES // 4096)
    for name, places in (("random", pages), ("sequential", np.sort(pages))):
        at(device, "write", places * 4096, 4096)
        whole = {"size_bytes": RANGE_BYTES, "io_bytes": RANGE_BYTES}
        found[f"reads after {name} writes"] = mean_us(device, "read", 16 * KIB, seed, **whole)
    return found


def compared(order: Mapping[str, float], address: Mapping[str, float]) -> dict[str, Reading]:
    """Read off what section 2 says of either rule."""
    ratios = [order[f"randwrite, {d} at once"] / order[f"write, {d} at once"] for d in DEPTHS]
    slower = [address[f"randwrite, {d} at once"] / order[f"randwrite, {d} at once"] for d in DEPTHS]
    t1, t2 = "reads after random writes", "reads after sequential writes"
    suffer = 100 * (order[t1] / order[t2] - 1)
    same = 100 * (address[t1] / address[t2] - 1)
    against = 100 * (order[t1] / address[t1] - 1)
    depths = f"{DEPTHS[0]} and {DEPTHS[1]} at once"
    return {
        "writes of any order": Reading(f"{_times_as(ratios)} as long ({depths})", ratios),
        "reads suffer": Reading(round(suffer, 1), suffer),
        "random writes by address": Reading(f"{_times_as(slower)} as long ({depths})", max(slower)),
        "reads by address": Reading(
            f"after random writes {same:+.1f} % from after sequential ones; those of order-based "
            f"allocation take {against:+.1f} % longer",
            against if abs(same) <= SAME_PERCENT else float("nan"),
        ),
    }


def _times_as(ratios: list[float]) -> str:
    return " and ".join(f"{each:.2f} times" for each in ratios)


def example(bench: Bench) -> Reading:
    """Write figure 9's pages, and say on which die each lies."""
    return laid({rule: _dies(bench, rule) for rule in RULES})


def laid(dies: Mapping[str, list[int]]) -> Reading:
    """Ask whether all lie together by order, and each with its neighbours by address."""
    groups = [page // IN_A_ROW for page in PAGES]
    by_group = dict(zip(groups, dies["address"], strict=True))
    said = "; ".join(f"{rule} on dies {', '.join(map(str, each))}" for rule, each in dies.items())
    together = len(set(dies["order"])) == 1
    apart = len(set(dies["address"])) > 1 and dies["address"] == [by_group[each] for each in groups]
    return Reading(said, together and apart)


def _dies(bench: Bench, rule: str) -> list[int]:
    sets = (*A_PLAIN, *NO_HOST, UNIT_4K, f"ftl.placement_pages={IN_A_ROW}",
            f'ftl.allocation="{rule}"', "nand.blocks_per_plane=256")  # fmt: skip
    device, dies = bench.open("ryu-a", sets, "fresh"), []
    for page in PAGES:
        _, grown = counted(device, at, "write", [page * 4096], 4096)
        dies.append(int(np.argmax(grown["die_busy_ns"])))
    return dies


TOLD: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "C's hardware": HARDWARE["C's"],
    "A's hardware": ("ryu-a", (*A_PLAIN, "nand.blocks_per_plane=1024")),
}


def telling(bench: Bench, case: str) -> Reading:
    """Return by how much T1 is from T2 with order-based allocation, if it is not with the other."""
    drive, sets = TOLD[case]
    gaps = {}
    for rule in RULES:
        own = (*sets, *NO_HOST, NO_GC, f'ftl.allocation="{rule}"')
        device = bench.open(drive, own, "sequential")
        whole = {"size_bytes": RANGE_BYTES, "io_bytes": RANGE_BYTES}
        times = []
        for rw in ("randwrite", "write"):
            run(device, rw, 4096, bench.seed, **whole)
            times.append(run(device, "read", 16 * KIB, bench.seed, **whole).latency_ns.mean)
        gaps[rule] = 100 * (times[0] / times[1] - 1)
    said = ", ".join(f"{rule} {each:+.1f} %" for rule, each in gaps.items())
    apart = gaps["order"] if abs(gaps["address"]) <= SAME_PERCENT else float("nan")
    return Reading(f"T1 from T2: {said}", apart)

"""Figures 2 and 3: drives as bought and after months of use, and ageing against block size.

The paper ran iozone on A and C when they were bought and again three months later, and says
nothing of what happened in between. Here

*new*   is a drive on which nothing was ever written but a test file, once, in order;
*aged*  is the same drive after months of use, for which stand: everything else filled in order,
        then half as many bytes as the drive holds overwritten at random places, a third of them
        in writes of 4 KB, a third of 16 KB and a third of 64 KB, in three rounds. The test file
        is part of that, as the files of a drive in use are. Other uses are tried (`USES`).

Both are then read, and written, in order and at random, inside the test file and one request at
a time; every test starts from the same state, so that no test spoils another. The drives are cut
down to two gigabytes (B to one), in blocks per plane alone, which keeps their shape and shares.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ssdscope.probes.budget import StageProgress
from ssdscope.studies.judging import SIMILAR_WITHIN, similar
from ssdscope.studies.measuring import in_columns, run
from ssdscope.studies.record import Columns, Measured, Reading
from ssdscope.studies.ryu2009 import pictures
from ssdscope.studies.ryu2009.bench import KIB, NO_HOST, NO_MAP, Bench
from ssdscope.targets import Device
from ssdscope.workloads.preconditioning import fill_sequentially

PATTERNS = ("read", "randread", "write", "randwrite")
SIZES_KIB = (4, 16, 64, 256)
FILE_BYTES = 256 << 20
TEST_BYTES = 64 << 20
REQUESTS_MIN, REQUESTS_MAX = 300, 3000
USES: Mapping[str, tuple[str, Sequence[int]]] = {
    "mixed": ("randwrite", (4, 16, 64)),
    "4 KB at random": ("randwrite", (4,)),
    "64 KB in order": ("write", (64,)),
}
"""What the drives are overwritten with: the pattern, and sizes in KB."""
ROUNDS = 3
REST_NS = 60 * 10**9
FEW = 0.1
"""C does not lead if it leads in no more than this share of the tests."""
NOTE = (
    "new: nothing but the test file was ever written. Aged: the rest filled in order, then as many "
    "bytes as half the drive overwritten at random, a third each in 4, 16 and 64 KB. The drives "
    "are cut down to 2 GB, B to 1 GB."
)


@dataclass(frozen=True)
class Drive:
    """A drive whose ageing is watched.

    Attributes
    ----------
    blocks
        Of a plane, which make its size.
    then
        What is done before it is measured again: nothing, it is "rested" for a minute, or its
        test file is "rewritten" once more, in order, and then it rests.
    """

    name: str
    preset: str
    blocks: int
    sets: tuple[str, ...] = ()
    then: str = ""

    def open(self, bench: Bench) -> Device:
        """Open the drive as bought."""
        blocks = int(self.blocks * bench.settings.get("scale", 1))
        sets = (f"nand.blocks_per_plane={blocks}", *self.sets)
        return bench.open(self.preset, sets, "fresh")


A, C = Drive("ryu-a", "ryu-a", 1024), Drive("ryu-c", "ryu-c", 208)
B = Drive("ryu-b", "ryu-b", 1024, ("ftl.log_blocks=35",))
C_BY_ADDRESS = Drive("ryu-c by address", "ryu-c", 208, ('ftl.allocation="address"',), then="rested")
C_REWRITTEN = Drive("ryu-c rewritten", "ryu-c", 208, then="rewritten")
C_RESTED = Drive("ryu-c rested", "ryu-c", 208, then="rested")
HOSTS: Mapping[str, tuple[str, ...]] = {
    "over the links of the presets": (),
    "behind a host that is no bound": NO_HOST,
}
UNITS_KIB = (4, 8, 16, 32, 64, 128, 256)
SWEEP = tuple(
    Drive(f"{unit} KB", "ryu-a", 1024, (f"ftl.map_unit_bytes={unit * KIB}", "ftl.phase_bytes=0"))
    for unit in UNITS_KIB
)
"""Drive A with smaller and larger management blocks, all of which begin with the drive."""
SWEEP_WITHOUT_MAP = tuple(
    Drive(f"{each.name}, no map", "ryu-a", 1024, (*each.sets, *NO_MAP)) for each in SWEEP
)
"""The same without what a random write waits for besides the flash, new or aged."""

Bandwidths = Mapping[tuple[str, int], float]
"""Bytes per second by pattern and request size in KB."""


@dataclass(frozen=True)
class Life:
    """A drive's bandwidths as bought and after months of use.

    Attributes
    ----------
    waits_ns
        Of the drive in use, by cause: what a random write waits for, mean of the request sizes.
    """

    name: str
    new: Bandwidths
    aged: Bandwidths
    waits_ns: Mapping[str, float]

    def kept(self, *patterns: str) -> list[float]:
        """Return the share of the bandwidth that is left, at every size."""
        return [self.aged[key] / new for key, new in self.new.items() if key[0] in patterns]

    def kept_percent(self, *patterns: str) -> float:
        """Return the mean of what is left, in percent."""
        return 100 * float(np.mean(self.kept(*patterns)))


def live(bench: Bench, drives: Sequence[Drive], progress: StageProgress) -> list[Life]:
    """Measure drives, use them for months and measure them again; all cores at work."""
    from joblib import Parallel, delayed

    keys = {each: bench.key(each, each.preset, "use", "scale") for each in drives}
    missing = [each for each in drives if keys[each] not in bench.pool]
    devices = [each.open(bench) for each in missing]
    workers = Parallel(n_jobs=-1, prefer="threads", return_as="generator")
    lives = workers(
        delayed(watch)(device, each.name, bench, then=each.then)
        for device, each in zip(devices, missing, strict=True)
    )
    try:
        for done, (each, life) in enumerate(zip(missing, lives, strict=True), start=1):
            bench.pool[keys[each]] = life
            progress(f"ageing {each.name}", done / len(missing))
    finally:
        lives.close()
    return [bench.pool[key] for key in keys.values()]


def watch(
    device: Device,
    name: str,
    bench: Bench,
    *,
    file_bytes: int = FILE_BYTES,
    then: str = "",
) -> Life:
    """Measure a drive inside a test file, use it for months, and measure it again.

    One that cannot be copied is measured in place: reads first, for writes change it.
    """
    new, _ = as_bought(device, bench.seed, file_bytes)
    use_for_months(device, bench, file_bytes)
    if then == "rewritten":
        fill_sequentially(device, size_bytes=file_bytes).whole()
    if then:
        device.idle(REST_NS)
    return Life(name, new, *_tests(device, bench.seed, file_bytes))


def as_bought(
    device: Device, seed: int, file_bytes: int = FILE_BYTES
) -> tuple[dict[tuple[str, int], float], dict[str, float]]:
    """Measure a drive that is new."""
    fill_sequentially(device, size_bytes=file_bytes).whole()
    return _tests(device, seed, file_bytes)


def use_for_months(device: Device, bench: Bench, file_bytes: int) -> None:
    """Fill what is left of a drive and overwrite half as much as it holds."""
    pattern, sizes_kib = USES[bench.settings.get("use", "mixed")]
    fill_sequentially(device, offset_bytes=file_bytes).whole()
    share = device.info.capacity_bytes // (2 * ROUNDS * len(sizes_kib))
    for turn in range(ROUNDS):
        for size_kib in sizes_kib:
            run(device, pattern, size_kib * KIB, bench.seed + turn, io_bytes=share)


def _tests(
    device: Device, seed: int, file_bytes: int
) -> tuple[dict[tuple[str, int], float], dict[str, float]]:
    bandwidths, waits = {}, []
    for pattern in PATTERNS:
        for size_kib in SIZES_KIB:
            count = TEST_BYTES // (size_kib * KIB)
            requests = min(max(count, REQUESTS_MIN), REQUESTS_MAX)
            copy = device.fork() if device.info.snapshot else device
            found = run(copy, pattern, size_kib * KIB, seed, size_bytes=file_bytes,
                        requests=requests)  # fmt: skip
            bandwidths[pattern, size_kib] = found.bandwidth_bytes_per_s or 0.0
            if pattern == "randwrite":
                waits.append(found.attribution_ns or {})
    return bandwidths, {
        cause: float(np.mean([each.get(cause, 0.0) for each in waits])) for cause in ("gc", "map")
    }


def columns(lives: Sequence[Life]) -> Columns:
    """Return every bandwidth."""
    rows = [
        (life.name, *key, round(new / 1024), round(life.aged[key] / 1024))
        for life in lives
        for key, new in life.new.items()
    ]
    return in_columns("drive pattern request_kib new_kib_per_s aged_kib_per_s", rows)


def figure_2(bench: Bench, progress: StageProgress) -> Measured:
    """Watch A."""
    (a,) = live(bench, [A], progress)
    read = {f"slower: {a.name}": slower(a), f"reads stay: {a.name}": reads_lose(a)}
    return Measured(read, partial(pictures.lives, [a]), columns([a]), [NOTE])


def figure_3(bench: Bench, progress: StageProgress) -> Measured:
    """Watch C, beside A, and with what may be why its reads become slower taken away."""
    drives = [A, C, C_BY_ADDRESS, C_REWRITTEN, C_RESTED]
    a, c, address, rewritten, rested = live(bench, drives, progress)
    read = {
        f"slower: {c.name}": slower(c),
        f"reads fall: {c.name}": reads_lose(c),
        f"reads fall: {c.name} after a minute's rest": reads_lose(rested),
        "log": log_is_why(rested, address),
        "tidied log": reads_lose(rewritten),
        **{f"patterns of writes: {kib} KB": patterns(a, c, kib) for kib in SIZES_KIB[:3]},
        **{f"channels: {where}": channels(bench, host) for where, host in HOSTS.items()},
    }
    return Measured(read, partial(pictures.lives, [c]), columns([c]), [NOTE])


def figure_ageing(bench: Bench, progress: StageProgress) -> Measured:
    """Watch all three, and A with other blocks."""
    lives = live(bench, [A, B, C, *SWEEP, *SWEEP_WITHOUT_MAP], progress)
    drives, rest = lives[:3], lives[3:]
    swept, without = rest[: len(SWEEP)], rest[len(SWEEP) :]
    read = {
        "drives": by_block(drives),
        "sweep: sequential writes": rising(swept, "write"),
        "sweep: random writes": rising(swept, "randwrite"),
        "sweep: random writes where the map costs nothing": rising(without, "randwrite"),
        "small writes": trend(
            swept, lambda life: -life.new["randwrite", 4], "{:,.0f} KiB/s", -1 / 1024
        ),
        "easier: garbage collection": trend(swept, lambda life: -life.waits_ns["gc"], "{:,.0f} us",
                                            -1e-3),
        "easier: mapping table": trend(swept, lambda life: -life.waits_ns["map"], "{:,.0f} us",
                                       -1e-3),
    }  # fmt: skip
    picture = partial(pictures.swept, swept, without, drives)
    return Measured(read, picture, columns(lives), [NOTE])


def slower(life: Life) -> Reading:
    """Say what is left as a whole: over all patterns and sizes."""
    whole = 100 * float(np.exp(np.mean(np.log(life.kept(*PATTERNS)))))
    each = ", ".join(f"{pattern} {_range(life.kept(pattern))}" for pattern in PATTERNS)
    return Reading(f"{whole:.0f} % kept as a whole: {each}", whole)


def reads_lose(life: Life) -> Reading:
    """Say what reads in order and random reads lose, as means over the sizes."""
    losses = [100 - life.kept_percent(pattern) for pattern in ("read", "randread")]
    ordered, random = (_range(life.kept(pattern)) for pattern in ("read", "randread"))
    said = f"sequential {ordered}, random {random}; lost on average "
    return Reading(said + " and ".join(f"{each:.1f} %" for each in losses), losses)


def log_is_why(log: Life, address: Life) -> Reading:
    """Return how much more reads, in order or at random, lose by the log than by address."""
    losses = {
        name: [100 - life.kept_percent(pattern) for pattern in ("read", "randread")]
        for name, life in (("as a log", log), ("by address", address))
    }
    said = "; ".join(f"{name} {each[0]:.0f} and {each[1]:.0f} %" for name, each in losses.items())
    more = min(losses["as a log"]) - max(losses["by address"])
    return Reading(f"lost in order and at random: {said}", more)


def patterns(a: Life, c: Life, kib: int) -> Reading:
    """Compare what random writes cost on A and on C, new."""
    of_a, of_c = (life.new["write", kib] / life.new["randwrite", kib] for life in (a, c))
    return Reading(f"in order over random: A {of_a:.2f}, C {of_c:.2f}", of_a / of_c)


def channels(bench: Bench, host: tuple[str, ...]) -> Reading:
    """Measure both as bought, A with as many channels as C, and C with as few as A."""
    drives = (
        Drive("A", "ryu-a", 1024, host),
        Drive("C", "ryu-c", 208, host),
        Drive("A, ten channels", "ryu-a", 412, ("nand.channels=10", *host)),
        Drive("C, four channels", "ryu-c", 520, ("nand.channels=4", *host)),
    )
    return due_to_channels(*(as_bought(each.open(bench), bench.seed)[0] for each in drives))


def due_to_channels(a: Bandwidths, c: Bandwidths, a_ten: Bandwidths, c_four: Bandwidths) -> Reading:
    """Return in which share of its tests C goes on to lead; nothing is due to what is not there."""
    now, ten, four = leads(c, a), leads(c, a_ten), leads(c_four, a)
    return Reading(
        f"C is more than {SIMILAR_WITHIN} times as fast in {now} of {len(a)} tests, in {ten} if A "
        f"has ten channels, in {four} if C has four",
        max(ten, four) / now if now > FEW * len(a) else float("nan"),
    )


def leads(one: Bandwidths, other: Bandwidths) -> int:
    """Count the tests in which a drive is faster than another, and not just similar."""
    return sum(one[key] > other[key] and not similar(one[key], other[key]) for key in one)


def by_block(drives: Sequence[Life]) -> Reading:
    """Compare what is left of writes on A, B and C."""
    a, b, c = (life.kept_percent("write", "randwrite") for life in drives)
    said = f"ryu-a keeps {a:.0f} %, ryu-b keeps {b:.0f} %, ryu-c keeps {c:.0f} %"
    return Reading(said, [b - a, a - c])


def rising(lives: Sequence[Life], pattern: str) -> Reading:
    """Ask whether what is left of writes grows with the block."""
    return trend(lives, lambda life: life.kept_percent(pattern), "{:.0f} % kept")


def trend(
    lives: Sequence[Life], value: Callable[[Life], float], words: str, scale: float = 1
) -> Reading:
    """Return the chance that values rise along the sweep: Kendall's rank correlation, one-sided."""
    from scipy.stats import kendalltau

    values = [value(life) for life in lives]
    found = kendalltau(np.arange(len(values)), values, alternative="greater")
    said = "; ".join(
        f"{life.name.split(',')[0]}: {words.format(scale * each)}"
        for life, each in zip(lives, values, strict=True)
    )
    chance = float(found.pvalue)
    return Reading(said, 1.0 if np.isnan(chance) else chance)


def _range(shares: Sequence[float]) -> str:
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % kept"

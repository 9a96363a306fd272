"""fio's jobs through fio and through ssdscope: how many ask for the same.

Every option that docs/fio.md calls the same is tried alone and with ``iodepth``, ``numjobs``,
``ramp_time`` and a mix; hand-made jobs try the corners; drawn ones combine at random. Needs fio.

    python benchmarks/fio_jobs.py             # everything, in a few minutes
    python benchmarks/fio_jobs.py --only rate # jobs whose names hold a word
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.fio_pairs import Pair, by_fio, by_ssdscope, differences

from ssdscope.errors import UsageError
from ssdscope.seeds import stream

RANDOM, IN_ORDER = ("rw=randread", "bs=4k", "size=1m"), ("rw=read", "bs=4k", "size=1m")
WRITES = ("rw=write", "bs=4k", "size=1m")

ALONE: dict[str, tuple[str, ...]] = {
    "rw": IN_ORDER,
    "readwrite": ("readwrite=randread", "bs=4k", "size=1m"),
    "rw-skips": ("rw=read:4k", "bs=4k", "size=1m"),
    "blocksize": ("rw=read", "blocksize=16k", "size=1m"),
    "bs-pair": ("rw=write", "bs=4k,8k", "size=1m"),
    "bssplit": (*RANDOM, "bssplit=4k/60:16k/40", "io_size=2m", "norandommap"),
    "bssplit-in-order": (*IN_ORDER, "bssplit=4k/60:16k/40"),
    "bssplit-below": (*RANDOM, "bssplit=4k/20:16k/50", "io_size=2m", "norandommap"),
    "bssplit-above": (*RANDOM, "bssplit=4k/60:16k/70", "io_size=2m", "norandommap"),
    "bsrange": (*RANDOM, "bsrange=4k-16k", "io_size=2m", "norandommap"),
    "ba": (*RANDOM, "ba=8k", "io_size=512k"),
    "size": ("rw=read", "bs=64k", "size=1000k"),
    "size-percent": ("rw=read", "bs=64k", "size=33%"),
    "filesize": ("rw=read", "bs=4k", "filesize=1m"),
    "offset": (*IN_ORDER, "offset=128k"),
    "offset-percent": ("rw=read", "bs=64k", "size=1m", "offset=33%"),
    "offset_increment": (*IN_ORDER, "offset_increment=1m"),
    "io_size": (*IN_ORDER, "io_size=10k"),
    "io_size-more": (*IN_ORDER, "io_size=2500k"),
    "io_size-percent": (*IN_ORDER, "io_size=33%"),
    "io_limit": (*RANDOM, "io_limit=2050k", "norandommap"),
    "loops": (*IN_ORDER, "loops=3"),
    "loops-random": (*RANDOM, "loops=2"),
    "loops-io_size": (*IN_ORDER, "loops=3", "io_size=100k"),
    "number_ios": (*RANDOM, "number_ios=100"),
    "number_ios-loops": (*IN_ORDER, "number_ios=50", "loops=3"),
    "kb_base": (*IN_ORDER, "kb_base=1000", "bs=4kib", "size=1mib"),
    "percentage_random": (*RANDOM, "percentage_random=40", "size=4m", "io_size=1m"),
    "random_distribution": (*RANDOM, "random_distribution=zipf:1.2", "io_size=4m"),
    "zipf-bare": (*RANDOM, "random_distribution=zipf", "io_size=4m"),
    "pareto-bare": (*RANDOM, "random_distribution=pareto", "io_size=4m"),
    "normal-bare": (*RANDOM, "random_distribution=normal", "io_size=4m"),
    "zones-rest": (*RANDOM, "random_distribution=zoned:50/5:30/15:20/", "io_size=4m"),
    "norandommap": (*RANDOM, "norandommap"),
    "randommap": RANDOM,
    "random_generator": (*RANDOM, "random_generator=lfsr"),
    "fsync": (*WRITES, "fsync=10"),
    "fdatasync": (*WRITES, "fdatasync=7"),
    "sync": (*WRITES, "sync=1"),
    "do_verify": (*WRITES, "do_verify=0"),
    "startdelay": (*IN_ORDER, "startdelay=100ms"),
    "exitall": (*IN_ORDER, "exitall"),
    "stonewall": (*IN_ORDER, "stonewall"),
    "randseed": (*RANDOM, "randseed=7"),
    "thinktime": (*IN_ORDER, "size=200k", "thinktime=2ms"),
    "thinktime_blocks": (*IN_ORDER, "size=400k", "thinktime=10ms", "thinktime_blocks=9"),
    "taken": (*IN_ORDER, "buffered=0", "nrfiles=1", "zonemode=none", "verify=0", "thread"),
}
"""Jobs that the clock has no say in."""

TIMED: dict[str, tuple[str, ...]] = {
    "rate": (*IN_ORDER, "rate=1m", "runtime=1", "time_based"),
    "rate-write": (*WRITES, "rate=,512k", "runtime=1", "time_based"),
    "rate_iops": (*RANDOM, "rate_iops=200", "runtime=1", "time_based"),
    "rate_iops-split": (*RANDOM, "bssplit=4k/50:16k/50", "rate_iops=200", "runtime=1",
                        "time_based", "norandommap"),
    "rate_process": (*RANDOM, "rate_iops=2000", "rate_process=poisson", "runtime=1", "time_based",
                     "norandommap"),
    "runtime": (*RANDOM, "rate_iops=300", "runtime=1", "size=4m"),
    "time_based": (*IN_ORDER, "size=200k", "rate_iops=300", "runtime=1", "time_based"),
    "timeout": (*IN_ORDER, "rate_iops=100", "timeout=1"),
    "ramp_time": (*IN_ORDER, "rate_iops=200", "ramp_time=500ms"),
}  # fmt: skip
"""Jobs whose end the clock says."""

HAND_MADE: dict[str, tuple[str, ...]] = {
    "ramp-against-size": ("rw=randread", "bs=4k", "size=600k", "rate_iops=100", "ramp_time=1"),
    "mix-of-rates": ("rw=randrw", "bs=4k", "size=4m", "rwmixread=70", "rate_iops=200", "runtime=1"),
    "rates-that-differ": ("rw=randrw", "bs=4k", "size=4m", "rate_iops=300,100", "runtime=1"),
    "rate-of-writes": ("rw=randrw", "bs=4k", "size=4m", "rate=,400k", "runtime=1"),
    "fsync-in-mix": ("rw=randrw", "bs=4k", "size=4m", "rwmixread=70", "fsync=10"),
    "fsync-rare": ("rw=rw", "bs=4k", "size=4m", "rwmixread=90", "fsync=3"),
    "fsync-last": ("rw=write", "bs=4k", "size=40k", "fsync=5"),
    "fsync-loops": ("rw=write", "bs=4k", "size=40k", "fsync=2", "loops=4"),
    "size-not-whole-random": ("rw=randread", "bs=64k", "size=1000k"),
    "size-not-whole-repeats": ("rw=randread", "bs=64k", "size=1000k", "norandommap"),
    "size-not-whole-loops": ("rw=read", "bs=64k", "size=1000k", "loops=3"),
    "end-not-whole": ("rw=read", "bs=64k", "offset=33%"),
    "skip-loops": ("rw=read:4k", "bs=4k", "size=1m", "loops=2"),
    "skip-io_size": ("rw=read:8k", "bs=4k", "size=1m", "io_size=900k"),
    "skip-to-the-end": ("rw=read:4k", "bs=4k", "size=4m"),
    "backwards": ("rw=read:-8k", "bs=4k", "size=1m"),
    "mix-passes": ("rw=rw", "bs=4k", "size=256k", "io_size=1m"),
    "mix-loops": ("rw=rw", "bs=4k", "size=256k", "loops=3"),
    "random-less-than-a-request": ("rw=randread", "bs=4k", "size=64k", "io_size=130k"),
    "repeats-less-than-a-request": (
        "rw=randread", "bs=4k", "size=64k", "io_size=130k", "norandommap",
    ),
    "think-mix": ("rw=randrw", "bs=4k", "size=400k", "thinktime=3ms", "thinktime_blocks=8"),
    "think-fsync": ("rw=write", "bs=4k", "size=200k", "thinktime=2ms", "fsync=2"),
    "sync-depth": ("rw=randread", "bs=4k", "size=1m", "iodepth=32"),
    "zipf-0": ("rw=randread", "bs=4k", "size=1m", "io_size=4m", "random_distribution=zipf:0"),
    "pareto": ("rw=randwrite", "bs=4k", "size=1m", "io_size=4m", "random_distribution=pareto:0.3"),
    "percentage-in-order": ("rw=read", "bs=4k", "size=1m", "percentage_random=50"),
    "time-beats-number": (
        "rw=read", "bs=4k", "size=64k", "number_ios=5", "rate_iops=100", "runtime=1", "time_based",
    ),
}  # fmt: skip
"""Corners of single rules."""

CLOCKED = ("rate", "rate_iops", "ramp_time")


def pairs() -> Iterator[Pair]:
    """List every job."""
    for name, lines in ALONE.items():
        yield from _in_company(name, lines, timed=False)
    for name, lines in TIMED.items():
        yield from _in_company(name, lines, timed=True)
    for name, lines in HAND_MADE.items():
        timed = any(line.split("=")[0] in CLOCKED for line in lines)
        yield Pair(f"hand {name}", lines, timed=timed)
    yield from _drawn(40)


def _in_company(name: str, lines: tuple[str, ...], *, timed: bool) -> Iterator[Pair]:
    """Try an option alone, and with each of four others."""
    yield Pair(name, lines, timed=timed)
    yield Pair(f"{name} + iodepth", (*lines, "iodepth=8"), "libaio", timed=timed)
    if "exitall" not in lines:  # how far the others are then is chance
        yield Pair(f"{name} + numjobs", (*lines, "numjobs=2"), timed=timed)
    is_short = any(line in ("bs=64k", "io_size=10k", "size=33%") for line in lines)
    paced = ("ramp_time", "rate", "thinktime", "number", "sync")  # or slow on a disk
    if not is_short and not any(line.startswith(paced) for line in lines):
        ramp = (*lines, "ramp_time=100ms", "rate_iops=300")
        yield Pair(f"{name} + ramp_time", ramp, timed=True)
    rw = next(line for line in lines if line.startswith(("rw=", "readwrite=")))
    both = "rw=randrw" if "=rand" in rw else rw.replace("read", "rw").replace("=write", "=rw")
    mix = tuple(both if line == rw else line for line in lines)
    if rw.startswith("rw=") and not {*lines} & {"rate=,512k", "rate_process=poisson"}:
        # Reads would go as fast as they can; random arrivals are not for a mix.
        yield Pair(f"{name} + mix", (*mix, "rwmixread=70"), timed=timed)


def _drawn(count: int) -> Iterator[Pair]:
    """Combine options at random."""
    rng = stream(1, "benchmarks.fio_jobs")
    for number in range(count):
        rw = str(rng.choice(["read", "write", "randread", "randwrite", "rw", "randrw"]))
        size = int(rng.integers(20, 900)) * 1024
        lines = [f"rw={rw}", f"bs={rng.choice(['4k', '8k', '16k', '64k'])}", f"size={size}"]
        lines += _some(
            rng, [f"io_size={int(rng.integers(10, 2000))}k", f"loops={rng.integers(2, 4)}"]
        )
        lines += _some(rng, [f"offset={int(rng.integers(0, 64)) * 8}k", "offset=17%"])
        lines += _some(rng, [f"fsync={rng.integers(1, 9)}"])
        if rw.startswith("rand"):
            lines += _some(rng, ["norandommap", "random_distribution=zipf:1.1"])
        if rw in ("rw", "randrw"):
            lines += _some(rng, [f"rwmixread={rng.integers(10, 90)}"])
        yield Pair(f"drawn {number}", tuple(lines))


def _some(rng, choices: list[str]) -> list[str]:  # type: ignore[no-untyped-def]
    """Choose one of them, in half of the cases."""
    return [str(rng.choice(choices))] if rng.random() < 0.5 else []


def judge(pair: Pair) -> list[str]:
    """Run one job by both, and say what they did differently."""
    with tempfile.TemporaryDirectory() as folder:
        theirs = by_fio(pair, Path(folder))
    try:
        ours = by_ssdscope(pair)
    except UsageError as error:
        return [f"refused: {error.message}"]
    return differences(pair, theirs, ours)


def main() -> int:
    """Print every job that differs, and how many agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="jobs whose names hold this word")
    given = parser.parse_args()
    chosen = [pair for pair in pairs() if given.only in pair.name]
    agree = 0
    for pair in chosen:
        found = judge(pair)
        agree += not found
        if found:
            print(f"{pair.name}: {'; '.join(found)}\n    {' '.join(pair.options)}", flush=True)
    print(f"{agree} of {len(chosen)} jobs ask for the same as with fio")
    return 0 if agree == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Options of fio's job files that mean the same here: how each is read.

A reader takes the section under way, the text of a value and the option as it was given, and puts
fields of a `Workload` into ``job.fields``, and all else into ``job.flags``.
"""

from collections.abc import Callable
from typing import Any, Protocol

from ssdscope.errors import UsageError, nearest
from ssdscope.workloads.drawn import parse_direct, parse_distribution
from ssdscope.workloads.fio_numbers import fio_bytes, fio_flag, fio_split, fio_time_ns
from ssdscope.workloads.fio_region import Extent
from ssdscope.workloads.fio_text import Given
from ssdscope.workloads.verifying import Verification
from ssdscope.workloads.workload import PATTERNS, BlockShare

_SECOND_NS, _MICROSECOND_NS = 1_000_000_000, 1_000
_BARE_DISTRIBUTIONS = {"zipf": "zipf:1.1", "pareto": "pareto:0.2", "normal": "normal:0"}
"""What fio takes where a distribution has no number."""
_SPLIT_SIZES_MAX = 100
"""Sizes of a range that can have whole percents of the requests."""


class Job(Protocol):
    """A section on its way to a workload."""

    fields: dict[str, Any]
    flags: dict[str, Any]
    kb_base: int


Reader = Callable[[Job, str, Given], None]


def _size(job: Job, text: str) -> int:
    return fio_bytes(text, job.kb_base)


def _pair(job: Job, text: str, base: str, parse: Callable[[str], Any]) -> None:
    """Read one value, or those of reads and of writes; a third is that of trims."""
    parts = [part.strip() for part in text.split(",")][:2]
    if len(parts) == 1:
        job.fields[base] = parse(parts[0])
    for direction, part in zip(("read", "write"), parts, strict=False):
        if len(parts) == 2 and part:
            job.fields[f"{direction}_{base}"] = parse(part)


def _pair_of(base: str) -> Reader:
    return lambda job, text, _given: _pair(job, text, base, lambda part: _size(job, part))


def _extent(flag: str, most_percent: int) -> Reader:
    def read(job: Job, text: str, _given: Given) -> None:
        if not text.endswith("%"):
            job.flags[flag] = Extent(bytes=_size(job, text))
            return
        percent = text[:-1].strip()
        if not percent.isdigit() or int(percent) > most_percent:
            raise UsageError(f"{text!r} is not a whole percentage from 0% to {most_percent}%")
        job.flags[flag] = Extent(percent=int(percent))

    return read


def _increment(job: Job, text: str, _given: Given) -> None:
    if text.endswith("%"):
        raise UsageError(f"{text!r}: a percentage is not taken", hint="write it as a size")
    job.fields["offset_increment_bytes"] = _size(job, text)


def _filesize(job: Job, text: str, _given: Given) -> None:
    low, dash, high = text.partition("-")
    if dash and _size(job, low) != _size(job, high):
        raise UsageError(f"{text!r}: a size to draw from is not taken", hint="write one size")
    job.flags["filesize"] = Extent(bytes=_size(job, low))


def _number(target: str, least: int = 1) -> Reader:
    def read(job: Job, text: str, _given: Given) -> None:
        value = _size(job, text)
        if value < least:
            raise UsageError(f"{value} is less than {least}")
        if value or target != "requests":
            job.fields[target] = value

    return read


def _time(target: str, unit_ns: int) -> Reader:
    def read(job: Job, text: str, _given: Given) -> None:
        value = fio_time_ns(text, unit_ns)
        if value:
            job.fields[target] = value
        else:
            job.fields.pop(target, None)

    return read


def _flag(target: str) -> Reader:
    def read(job: Job, text: str, _given: Given) -> None:
        job.flags[target] = fio_flag(text or None)

    return read


def _percent(text: str) -> int:
    if not text.isdigit() or int(text) > 100:
        raise UsageError(f"{text!r} is not a whole number from 0 to 100")
    return int(text)


def _rw(job: Job, text: str, _given: Given) -> None:
    name, colon, extra = text.partition(":")
    name = {"readwrite": "rw", "randreadwrite": "randrw"}.get(name, name)
    if name not in PATTERNS:
        hint = nearest(name, PATTERNS)
        if "trim" in name:
            hint = "only reads and writes are asked for"
        raise UsageError(f"{name!r} is not an access pattern", hint=hint)
    job.fields["rw"] = name
    if colon and name.startswith("rand"):
        if extra.strip() == "1":
            return
        raise UsageError(f"{text!r}: runs between random places are not made")
    if colon:
        stride = _size(job, extra.removeprefix("-"))
        job.fields["stride_bytes"] = -stride if extra.startswith("-") else stride


def _mix(job: Job, text: str, given: Given) -> None:
    share = _percent(text)
    job.fields["read_percent"] = 100 - share if given.name == "rwmixwrite" else share


def _split(job: Job, text: str, _given: Given) -> None:
    def parse(part: str) -> tuple[BlockShare, ...]:
        shares = fio_split(part, job.kb_base)
        return tuple(BlockShare(size, share) for size, share in shares)

    _pair(job, text, "block_split", parse)


def _range(job: Job, text: str, _given: Given) -> None:
    def parse(part: str) -> tuple[BlockShare, ...]:
        low, dash, high = part.partition("-")
        least, most = _size(job, low), _size(job, high if dash else low)
        if least == 0 or most < least:
            raise UsageError(f"{part!r} is no range of sizes", hint="as in 4k-64k")
        count = most // least
        if most % least or _SPLIT_SIZES_MAX % count:
            raise UsageError(
                f"{part!r}: {count} sizes cannot have a whole percentage each",
                hint="bssplit says the sizes and their shares",
            )
        each = _SPLIT_SIZES_MAX // count
        return tuple(BlockShare(least * step, each) for step in range(1, count + 1))

    _pair(job, text, "block_split", parse)


def _distribution(job: Job, text: str, _given: Given) -> None:
    text = _BARE_DISTRIBUTIONS.get(text, text)
    name, _, number = text.partition(":")
    is_even = name == "zipf" and number.strip("0.") == "" and number.strip() != ""
    distribution = None if is_even else parse_distribution(text)
    job.flags["repeats"] = is_even or distribution is not None
    job.fields["random_distribution"] = distribution


def _generator(job: Job, text: str, _given: Given) -> None:
    if text not in ("tausworthe", "tausworthe64", "lfsr"):
        raise UsageError(f"{text!r} is none of tausworthe, tausworthe64, lfsr")
    job.flags["lfsr"] = text == "lfsr"  # each place once, whatever norandommap says


def _align(job: Job, text: str, _given: Given) -> None:
    if "," in text:
        raise UsageError(f"{text!r}: reads and writes have one alignment here")
    job.fields["align_bytes"] = _size(job, text)


def _direct(job: Job, text: str, _given: Given) -> None:
    job.flags["direct"] = parse_direct(text or "1")


def _sync(job: Job, text: str, _given: Given) -> None:
    if text not in ("0", "none", "1", "sync", "dsync"):
        raise UsageError(f"{text!r} is none of 0, none, 1, sync, dsync")
    job.fields["fua"] = text not in ("0", "none")


def _seed(job: Job, text: str, _given: Given) -> None:
    job.flags["randseed"] = _size(job, text)


def _rate_iops(job: Job, text: str, _given: Given) -> None:
    parts = [part.strip() for part in text.split(",")][:2]
    rates = [_size(job, part) if part else 0 for part in parts]
    job.flags["rate_iops"] = (rates[0], rates[-1])


def _rate_process(job: Job, text: str, _given: Given) -> None:
    if text not in ("linear", "poisson"):
        raise UsageError(f"{text!r} is neither linear nor poisson")
    job.flags["rate_process"] = text


def _loops(job: Job, text: str, _given: Given) -> None:
    job.flags["loops"] = max(_size(job, text), 1)


def _delay(job: Job, text: str, _given: Given) -> None:
    if "," in text or "-" in text:
        raise UsageError(f"{text!r}: a range to draw from is not taken", hint="write one time")
    job.flags["startdelay"] = fio_time_ns(text, _SECOND_NS)


def _verify(job: Job, text: str, _given: Given) -> None:
    if text not in ("0", "none"):
        job.flags["verify"] = Verification(text).method


def _word(target: str) -> Reader:
    def read(job: Job, text: str, _given: Given) -> None:
        job.flags[target] = text

    return read


READERS: dict[str, Reader] = {
    "rw": _rw,
    "bs": _pair_of("block_bytes"),
    "bssplit": _split,
    "bsrange": _range,
    "iodepth": _number("iodepth"),
    "numjobs": _number("numjobs"),
    "size": _extent("size", 100),
    "filesize": _filesize,
    "offset": _extent("offset", 100),
    "offset_increment": _increment,
    "io_size": _extent("io_size", 100_000),
    "number_ios": _number("requests", 0),
    "runtime": _time("runtime_ns", _SECOND_NS),
    "time_based": _flag("time_based"),
    "ramp_time": _time("ramp_ns", _SECOND_NS),
    "thinktime": _time("thinktime_ns", _MICROSECOND_NS),
    "thinktime_blocks": _number("thinktime_every"),
    "rate_iops": _rate_iops,
    "rate_process": _rate_process,
    "rate": _pair_of("rate_bytes"),
    "fsync": _number("fsync_every", 0),
    "fdatasync": _number("fsync_every", 0),
    "percentage_random": lambda job, text, _given: _pair(job, text, "percentage_random", _percent),
    "norandommap": _flag("norandommap"),
    "random_generator": _generator,
    "ba": _align,
    "rwmixread": _mix,
    "random_distribution": _distribution,
    "randseed": _seed,
    "direct": _direct,
    "sync": _sync,
    "stonewall": _flag("stonewall"),
    "wait_for": _word("wait_for"),
    "startdelay": _delay,
    "loops": _loops,
    "exitall": _flag("exitall"),
    "verify": _verify,
    "do_verify": _flag("do_verify"),
}
"""How each option is read that means the same here."""

SWITCHES = (
    "time_based",
    "norandommap",
    "stonewall",
    "exitall",
    "direct",
    "do_verify",
)
"""Options that are on where they stand alone."""

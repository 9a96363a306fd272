"""A workload as people write it: fio's names and units, on a command line or in a file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ssdscope.errors import UsageError, nearest
from ssdscope.units import (
    parse_count,
    parse_microseconds,
    parse_percent,
    parse_seconds,
    parse_size,
    parse_whole_percent,
)
from ssdscope.workloads.drawn import parse_direct, parse_distribution, parse_rate, parse_split
from ssdscope.workloads.fio_options import VERIFY_IGNORED, VERIFY_REFUSED
from ssdscope.workloads.workload import PATTERNS, Workload


@dataclass(frozen=True)
class Option:
    """One option: which field of a `Workload` it sets, and how its text is read."""

    field: str
    parse: Callable[[str], Any]


def _pattern(text: str) -> str:
    if text not in PATTERNS:
        raise UsageError(f"{text!r} is not an access pattern", hint=nearest(text, PATTERNS))
    return text


def _whole_number(text: str) -> int:
    return 0 if text.strip() == "0" else parse_count(text)


def _gap(text: str) -> int:
    """Read a size that may be negative."""
    digits = text.strip()
    return -parse_size(digits[1:]) if digits.startswith("-") else parse_size(digits)


def _switch(text: str) -> bool:
    if text not in ("True", "False"):
        raise UsageError(f"{text!r} is neither true nor false")
    return text == "True"


OPTIONS = {
    "rw": Option("rw", _pattern),
    "bs": Option("block_bytes", parse_size),
    "bssplit": Option("block_split", parse_split),
    "rwmixread": Option("read_percent", parse_whole_percent),
    "iodepth": Option("iodepth", parse_count),
    "numjobs": Option("numjobs", parse_count),
    "offset": Option("offset_bytes", parse_size),
    "offset_increment": Option("offset_increment_bytes", parse_size),
    "size": Option("size_bytes", parse_size),
    "io_size": Option("io_bytes", parse_size),
    "number_ios": Option("requests", parse_count),
    "runtime": Option("runtime_ns", parse_seconds),
    "until_ci": Option("until_ci", parse_percent),
    "thinktime": Option("thinktime_ns", parse_microseconds),
    "thinktime_blocks": Option("thinktime_every", parse_count),
    "rate_iops": Option("rate_iops", parse_count),
    "rate": Option("rate_bytes", parse_rate),
    "arrival": Option("arrival", str),
    "fsync": Option("fsync_every", _whole_number),
    "fua": Option("fua", _switch),
    "percentage_random": Option("percentage_random", parse_whole_percent),
    "random_distribution": Option("random_distribution", parse_distribution),
    "stride": Option("stride_bytes", _gap),
    "partitions": Option("partitions", parse_count),
    "random_start": Option("random_start", _switch),
    "direct": Option("direct", parse_direct),
    "ramp_ios": Option("ramp_requests", _whole_number),
    "ramp_time": Option("ramp_ns", parse_seconds),
}
"""Options by name, underscores as fio's; the command line takes dashes too."""

ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "io_limit": "io_size",
    "timeout": "runtime",
}
"""Second names that fio has for options, and takes as we do."""

_ALWAYS = "leave it out: it is always so"
_STEADY = "--until-steady waits for a steady rate, by a rule of its own"
_SIZES = "--bssplit 4k/50:64k/50 draws sizes by their shares"
_LOG = "--log FILE.parquet keeps every request; --timeline shows the rate over time"
_WINDOWS = "--timeline-interval 1 shows the rate and the percentiles of every second"
ELSEWHERE = {
    "allow_file_create": "make the file first, as with dd if=/dev/urandom",
    "allow_mounted_write": "a mounted device is never written to",
    "ba": "random offsets are multiples of --bs; --offset shifts all of them",
    "blockalign": "random offsets are multiples of --bs; --offset shifts all of them",
    "bandwidth_log": _LOG,
    "bwavgtime": _WINDOWS,
    "iopsavgtime": _WINDOWS,
    "log_avg_msec": _WINDOWS,
    "log_hist_msec": _WINDOWS,
    "write_hist_log": _WINDOWS,
    "bsrange": _SIZES,
    "buffered": "leave it out: requests never go through the page cache",
    "eta": "--progress shows how far the run is",
    "fdatasync": "--fsync N flushes the drive after N writes",
    "filename": "the target is the first word: run TARGET",
    "directory": "the target is the first word: run TARGET",
    "filesize": "--size is the size of the region",
    "group_reporting": "leave it out: jobs are reported together, flows one by one",
    "ioengine": "leave it out: io_uring where the kernel has it, threads elsewhere",
    "loops": "--io-size says how much is transferred, also more than the region holds",
    "name": 'flows have names: --flow "name=web rw=randread"',
    "norandommap": _ALWAYS,
    "output": "the results are on stdout: > FILE",
    "output_format": "-o json writes JSON",
    "randrepeat": "--seed N repeats a run; without it a seed is drawn",
    "randseed": "--seed N is the seed",
    "rate_process": "--arrival fixed or poisson says how requests come",
    "readonly": "leave it out: nothing real is written without --destroy-data",
    "rwmixwrite": "--rwmixread takes the other share: 100 minus it",
    "startdelay": "--ramp-time leaves out the beginning",
    "steadystate": _STEADY,
    "steadystate_duration": _STEADY,
    "steadystate_ramp_time": _STEADY,
    "sync": "--fua makes each write durable when it is served",
    "time_based": "leave it out: a run with --runtime alone lasts as long",
    "write_bw_log": _LOG,
    "write_iops_log": _LOG,
    "verify": "--verify METHOD of run is for all workloads of a run together",
    **VERIFY_REFUSED,
    **{name: f"leave it out: {reason}" for name, reason in VERIFY_IGNORED.items()},
    "write_lat_log": _LOG,
}
"""Options of fio that are called or done otherwise here: what to write instead."""

PAIRS = ("bs", "bssplit", "percentage_random", "rate", "stride")
"""Options that may differ between reads and writes: ``READ,WRITE``, as fio has it."""

_SHARES = {"offset": "offset_share", "size": "size_share", "io_size": "io_share"}
"""Options that may be a share, ``50%``: of the drive, and of the region."""


def on_command_line(name: str) -> str:
    """Call an option as it is typed."""
    return f"--{name.replace('_', '-')}"


def in_option_names(error: UsageError, where: Callable[[str], str] = on_command_line) -> UsageError:
    """Say what a driver found wrong with a plan in the names the plan was written in.

    The driver begins each line with a field; those of reads and of writes come from one option.
    """
    names = {option.field: name for name, option in OPTIONS.items()}
    names |= {
        f"{direction}_{option.field}": name
        for name, option in OPTIONS.items()
        if name in PAIRS
        for direction in ("read", "write")
    }
    lines = []
    for line in error.message.splitlines():
        field, colon, rest = line.partition(":")
        known = colon and field in names
        lines.append(f"{where(names[field])}:{rest}" if known else line)
    return UsageError("\n".join(dict.fromkeys(lines)), hint=error.hint)


def workload_from_options(
    options: Mapping[str, Any],
    *,
    seed: int,
    where: Callable[[str], str] = on_command_line,
) -> Workload:
    """Read a workload from its options.

    Parameters
    ----------
    options
        Values by name, as text or plain numbers; None stands for "not given".
        Those of `PAIRS` may be two, ``READ,WRITE``.
    seed
        Of the workload.
    where
        How to call an option in a message: ``--bs`` on a command line, a key in a file.

    Raises
    ------
    UsageError
        If an option is unknown or cannot be read; the message begins with `where` it stands.
    """
    fields: dict[str, Any] = {"rw": "read", "seed": seed}
    for name, value in options.items():
        if value is None:
            continue
        if name not in OPTIONS:
            raise UsageError(f"{where(name)}: there is no such option", hint=instead(name))
        try:
            fields |= fields_of(name, str(value))
        except UsageError as error:
            raise UsageError(f"{where(name)}: {error.message}", hint=error.hint) from error
    try:
        return Workload(**fields)
    except UsageError as error:
        raise in_option_names(error, where) from error


def standard(options: Mapping[str, Any], where: Callable[[str], str]) -> dict[str, Any]:
    """Call options by their first names.

    Raises
    ------
    UsageError
        If one is given under two names.
    """
    named: dict[str, Any] = {}
    for name, value in options.items():
        first = ALIASES.get(name, name)
        if first in named:
            raise UsageError(f"{where(name)}: it is given as {first}, too")
        named[first] = value
    return named


def instead(name: str, *others: str) -> str:
    """Say what to write instead of an option that there is not; `others` are known besides."""
    if name in ELSEWHERE:
        return f"fio's {name}: {ELSEWHERE[name]}"
    return nearest(name, (*others, *OPTIONS))


def fields_of(name: str, text: str) -> dict[str, Any]:
    """Read the text of one option: values by field of a `Workload`.

    Raises
    ------
    UsageError
        If it cannot be read.
    """
    option = OPTIONS[name]
    if name in _SHARES and text.strip().endswith("%"):
        return {_SHARES[name]: _share(name, text)}
    if name == "direct":
        parse_direct(text)
        return {}
    if name in PAIRS and "," in text:
        read, _, write = text.partition(",")
        return {
            f"read_{option.field}": option.parse(read),
            f"write_{option.field}": option.parse(write),
        }
    return {option.field: option.parse(text)}


def _share(name: str, text: str) -> float:
    """Read a share; one of the drive is at most the whole."""
    share = parse_percent(text)
    whole = name == "io_size" or share <= 1
    if not whole or (share == 0 and name != "offset"):
        raise UsageError(f"{text!r} is not a part of the drive", hint="write it as 50%")
    return share


def default_options() -> dict[str, Any]:
    """Give the defaults under the names of the options; what has none is left out."""
    fields = Workload(rw="read").to_dict()
    return {
        name: fields[option.field]
        for name, option in OPTIONS.items()
        if fields.get(option.field) is not None
    }

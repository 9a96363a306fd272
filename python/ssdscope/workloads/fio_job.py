"""fio's job files as workloads: sections as flows, one group after another at ``stonewall``.

What means the same is taken, in fio's own units; what would change a run and has no equal is
refused with its line, its name and the reason; the rest is listed as ignored. A job file is
data from elsewhere: it names no files, starts no programs, and reads no environment.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError, nearest
from ssdscope.workloads.drawn import parse_direct, parse_distribution
from ssdscope.workloads.fio_numbers import fio_bytes, fio_flag, fio_time_ns
from ssdscope.workloads.fio_options import ENGINES, IGNORED, REFUSED
from ssdscope.workloads.flows import Flow, Flows
from ssdscope.workloads.verifying import Verification
from ssdscope.workloads.workload import MIXES, PATTERNS, BlockShare, Workload

FILE_BYTES_MAX = 1 << 20
JOBS_MAX = 256
_SECTION = re.compile(r"\[(?P<name>[^\]]*)\]")
_ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "io_limit": "io_size",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
    "rwmixwrite": "rwmixread",
}
_SECOND_NS, _MICROSECOND_NS = 1_000_000_000, 1_000


@dataclass(frozen=True)
class _Given:
    """An option as it stands in the file; no value where it stands alone."""

    name: str
    text: str | None
    line: int


@dataclass(frozen=True)
class _Section:
    name: str
    line: int
    options: dict[str, _Given]


@dataclass(frozen=True)
class Stage:
    """Jobs that run side by side, after all before them.

    Attributes
    ----------
    flows
        The jobs, with seed 0 where the file gives none.
    seeds
        Seeds that the file gives, by the names of flows.
    start_delay_ns
        How long the drive rests before.
    verification
        How what they write, or read, is verified; None if it is not.
    """

    flows: Flows
    seeds: dict[str, int]
    start_delay_ns: int = 0
    verification: Verification | None = None

    def seeded(self, seed: int) -> "Stage":
        """Give each job a seed of its own, but where the file gives one."""
        flows = self.flows.seeded(seed)
        own = (
            replace(flow, workload=flow.workload.seeded(self.seeds[flow.name]))
            if flow.name in self.seeds
            else flow
            for flow in flows.flows
        )
        return replace(self, flows=replace(flows, flows=tuple(own)))


@dataclass(frozen=True)
class FioJob:
    """A job file.

    Attributes
    ----------
    stages
        One after the other, at least one.
    notes
        What was left out or is otherwise here, a sentence each.
    """

    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether any job writes."""
        return any(stage.flows.writes for stage in self.stages)


def read_fio_job(path: str, section: str | None = None) -> FioJob:
    """Read a job file.

    Parameters
    ----------
    path
        The file, of at most `FILE_BYTES_MAX`.
    section
        Run only this one; None for all.

    Raises
    ------
    UsageError
        If it cannot be read or asks for what cannot be done: every fault, a line each.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
        text = content.decode()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a text in UTF-8", hint="a job file is text") from error
    if len(content) > FILE_BYTES_MAX:
        raise UsageError(f"{path}: more than {FILE_BYTES_MAX:,} bytes, which no job file has")
    return parse_fio_job(text, path, section)


def parse_fio_job(text: str, path: str, section: str | None = None) -> FioJob:
    """Read the text of a job file; messages call it `path`. As `read_fio_job`."""
    faults = _Faults(path)
    sections = _sections(text, faults)
    if section is not None:
        names = [each.name for each in sections]
        if section not in names:
            raise UsageError(
                f"{path}: there is no section [{section}]", hint=nearest(section, names)
            )
        sections = [each for each in sections if each.name == section]
    if not sections:
        faults.stop()
        raise UsageError(f"{path}: there is no job", hint="a job is a section: [name], rw=randread")
    if len(sections) > JOBS_MAX:
        raise UsageError(f"{path}: {len(sections)} jobs, more than {JOBS_MAX}")
    jobs = [_Job(each, faults).read() for each in sections]
    faults.stop()
    return FioJob(_staged(jobs, path), tuple(_notes(jobs)))


class _Faults:
    """Collects what is wrong, so that a user sees all of it at once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lines: list[str] = []
        self._hints: list[str] = []

    def add(self, line: int, message: str, hint: str | None = None) -> None:
        told = f"{self.path}, line {line}: {message}"
        if told not in self._lines:
            self._lines.append(told)
            self._hints += [hint] if hint else []

    def stop(self) -> None:
        """Raise, if anything is wrong."""
        if self._lines:
            hint = self._hints[0] if len(self._hints) == 1 else None
            raise UsageError("\n".join(self._lines), hint=hint)


def _sections(text: str, faults: _Faults) -> list[_Section]:
    """Cut a job file into jobs, each with what [global] said up to there."""
    common: dict[str, _Given] = {}
    sections: list[_Section] = []
    current: dict[str, _Given] | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.split(r"[;#]", raw, maxsplit=1)[0].strip()
        if not line:
            continue
        if match := _SECTION.fullmatch(line):
            name = match["name"].strip()
            if not name:
                faults.add(number, "a section needs a name")
            current = common if name == "global" else dict(common)
            if name != "global":
                sections.append(_Section(name, number, current))
            continue
        word, equals, value = line.partition("=")
        given = _Given(word.strip(), value.strip() if equals else None, number)
        if word.split()[:1] == ["include"]:
            faults.add(number, f"include is refused: {REFUSED['include']}")
        elif "$" in value:
            faults.add(
                number,
                f"{given.name}={given.text}: variables are not expanded",
                "write the value itself: a job file reads no environment here",
            )
        elif current is None:
            faults.add(number, f"{line!r} stands before the first section", "begin with [global]")
        else:
            current[_ALIASES.get(given.name, given.name)] = given
    return sections


class _Job:
    """One section on its way to a flow."""

    def __init__(self, section: _Section, faults: _Faults) -> None:
        self.name = section.name
        self.line = section.line
        self.options = section.options
        self.ignored: list[str] = []
        self.direct = self.norandommap = False
        self.fields: dict[str, Any] = {"rw": "read", "seed": 0}
        self.flags: dict[str, Any] = {}
        self._faults = faults
        self._kb_base = 1024

    def read(self) -> "_Job":
        """Read every option."""
        base = self.options.get("kb_base")
        if base is not None:
            if base.text not in ("1000", "1024"):
                self._faults.add(base.line, f"kb_base={base.text} is neither 1000 nor 1024")
            self._kb_base = 1000 if base.text == "1000" else 1024
        for name, given in self.options.items():
            try:
                self._take(name, given)
            except UsageError as error:
                self._faults.add(given.line, f"{given.name}: {error.message}", error.hint)
        self._ends()
        self._paces()
        return self

    def _take(self, name: str, given: _Given) -> None:
        if name == "kb_base":
            return
        if name.startswith("exec_") or name in REFUSED:
            reason = REFUSED.get(name, REFUSED["exec_prerun"])
            self._faults.add(given.line, f"{given.name} is refused: {reason}")
        elif name in IGNORED:
            self._ignore(name, given)
        elif name in _READERS:
            text = given.text
            if text is None and name not in _FLAGS:
                raise UsageError("a value is missing", hint=f"write {given.name}=VALUE")
            _READERS[name](self, "" if text is None else text, given)
        else:
            known = (*_READERS, *_ALIASES, *IGNORED, *REFUSED)
            raise UsageError("there is no such option here", hint=nearest(name, known))

    def _ignore(self, name: str, given: _Given) -> None:
        if name == "ioengine" and given.text not in ENGINES:
            engines = ", ".join(ENGINES)
            raise UsageError(
                f"{given.text!r} is refused: it does more than read and write a target",
                hint=f"leave it out; {engines} ask for the same requests",
            )
        self.norandommap |= name == "norandommap"
        self.ignored.append(name)

    def size(self, text: str) -> int:
        """Read a size or a number."""
        return fio_bytes(text, self._kb_base)

    def pair(self, text: str, base: str, parse: Callable[[str], Any]) -> None:
        """Read one value, or those of reads and of writes; a third is that of trims."""
        parts = [part.strip() for part in text.split(",")][:2]
        if len(parts) == 1:
            self.fields[base] = parse(parts[0])
        for direction, part in zip(("read", "write"), parts, strict=False):
            if len(parts) == 2 and part:
                self.fields[f"{direction}_{base}"] = parse(part)

    def share_or_size(self, text: str, share: str, base: str) -> None:
        """Read a size, or a percentage."""
        if not text.endswith("%"):
            self.fields[base] = self.size(text)
            return
        percent = text[:-1].strip()
        if not percent.isdigit() or (int(percent) > 100 and base != "io_bytes"):
            raise UsageError(f"{text!r} is not a whole percentage from 0% to 100%")
        self.fields[share] = int(percent) / 100

    def _ends(self) -> None:
        """Say when a job ends as fio does: after one pass over the region, unless told."""
        loops, timed = self.flags.get("loops", 1), self.flags.get("time_based", False)
        sized = "io_bytes" in self.fields or "io_share" in self.fields
        if timed and "runtime_ns" not in self.fields:
            self._fault("time_based", "there is no runtime that it could last")
        if timed and sized:
            self._fault("time_based", "it goes on after io_size, so one of the two is too much")
        if loops > 1 and timed:
            self._fault("loops", "with time_based the runtime is the end, so one is too much")
        elif loops > 1 and (sized or "requests" in self.fields):
            self._loop(loops)
        if not timed and not sized:
            self.fields["io_share"] = float(loops)
        if self.fields.get("thinktime_ns", 0) == 0:
            self.fields.pop("thinktime_every", None)

    def _loop(self, loops: int) -> None:
        """Transfer as much again in each loop, which begins where the one before began."""
        if not self.fields["rw"].startswith("rand"):
            message = "sequential requests go on here where fio's begin at the start again"
            self._fault("loops", f"with io_size or number_ios {message}")
        for name in ("io_bytes", "io_share", "requests"):
            if name in self.fields:
                self.fields[name] *= loops

    def _paces(self) -> None:
        """Bound requests per second as fio does: in a mix those of each direction."""
        read, write = self.flags.get("rate_iops", (0, 0))
        poisson = self.flags.get("rate_process") == "poisson"
        rw = self.fields["rw"]
        if rw not in MIXES:
            rate = write if rw.endswith("write") else read
            self.fields |= {"rate_iops": rate} if rate else {}
        elif poisson:
            self._fault("rate_process", "in a mix each direction would come by itself; make two")
        elif read or write:
            self._pace_mix(read, write)
        if poisson:
            self._arrive()

    def _pace_mix(self, read: int, write: int) -> None:
        """Bound each direction of a mix, by its bytes."""
        split = any(name.endswith("block_split") for name in self.fields)
        if split or any("rate_bytes" in name for name in self.fields):
            self._fault(
                "rate_iops", "in a mix it needs one size of requests, and no rate beside it"
            )
        for direction, rate in (("read", read), ("write", write)):
            size = self.fields.get(f"{direction}_block_bytes", self.fields.get("block_bytes", 4096))
            if rate:
                self.fields[f"{direction}_rate_bytes"] = rate * size

    def _arrive(self) -> None:
        """Let requests arrive at random, on average at the rate."""
        if any("rate_bytes" in name for name in self.fields) or "rate_iops" not in self.fields:
            self._fault("rate_process", "poisson needs rate_iops, and no rate in bytes beside it")
        if "thinktime_ns" in self.fields:
            self._fault("rate_process", "requests that arrive by themselves have no pauses")
        self.fields["arrival"] = "poisson"
        self.fields.pop("iodepth", None)  # the drive gets them when they come

    def _fault(self, option: str, message: str) -> None:
        given = self.options[option]
        self._faults.add(given.line, f"{given.name}: {message}")

    def flow(self, name: str) -> Flow:
        """Make the flow."""
        return Flow(name, Workload(**self.fields))


_Reader = Callable[[_Job, str, _Given], None]


def _number(target: str, least: int = 1) -> _Reader:
    def read(job: _Job, text: str, _given: _Given) -> None:
        value = job.size(text)
        if value < least:
            raise UsageError(f"{value} is less than {least}")
        if value or target != "requests":
            job.fields[target] = value

    return read


def _time(target: str, unit_ns: int) -> _Reader:
    def read(job: _Job, text: str, _given: _Given) -> None:
        value = fio_time_ns(text, unit_ns)
        if value:
            job.fields[target] = value

    return read


def _flag(target: str) -> _Reader:
    def read(job: _Job, text: str, _given: _Given) -> None:
        job.flags[target] = fio_flag(text or None)

    return read


def _percent(text: str) -> int:
    if not text.isdigit() or int(text) > 100:
        raise UsageError(f"{text!r} is not a whole number from 0 to 100")
    return int(text)


def _rw(job: _Job, text: str, _given: _Given) -> None:
    name, colon, extra = text.partition(":")
    name = "rw" if name == "readwrite" else name
    if name not in PATTERNS:
        hint = nearest(name, PATTERNS)
        if "trim" in name:
            hint = "only reads and writes are asked for"
        raise UsageError(f"{name!r} is not an access pattern", hint=hint)
    job.fields["rw"] = name
    if colon and name.startswith("rand"):
        raise UsageError(f"{text!r}: runs between random places are not made")
    if colon:
        negative = extra.startswith("-")
        stride = job.size(extra.removeprefix("-"))
        job.fields["stride_bytes"] = -stride if negative else stride


def _mix(job: _Job, text: str, given: _Given) -> None:
    share = _percent(text)
    job.fields["read_percent"] = 100 - share if given.name == "rwmixwrite" else share


def _split(job: _Job, text: str, _given: _Given) -> None:
    from ssdscope.workloads.drawn import parse_split

    def parse(part: str) -> tuple[BlockShare, ...]:
        sizes = [each.partition("/") for each in part.split(":")]
        plain = ":".join(f"{job.size(size)}{slash}{share}" for size, slash, share in sizes)
        return parse_split(plain)

    job.pair(text, "block_split", parse)


def _distribution(job: _Job, text: str, _given: _Given) -> None:
    distribution = parse_distribution(text)
    if distribution is not None:
        job.fields["random_distribution"] = distribution


def _direct(job: _Job, text: str, _given: _Given) -> None:
    job.direct = parse_direct(text or "1")


def _sync(job: _Job, text: str, _given: _Given) -> None:
    if text not in ("0", "none", "1", "sync", "dsync"):
        raise UsageError(f"{text!r} is none of 0, none, 1, sync, dsync")
    job.fields["fua"] = text not in ("0", "none")


def _seed(job: _Job, text: str, _given: _Given) -> None:
    job.flags["randseed"] = job.size(text)


def _rate_iops(job: _Job, text: str, _given: _Given) -> None:
    parts = [part.strip() for part in text.split(",")][:2]
    rates = [job.size(part) if part else 0 for part in parts]
    job.flags["rate_iops"] = (rates[0], rates[-1])


def _rate_process(job: _Job, text: str, _given: _Given) -> None:
    if text not in ("linear", "poisson"):
        raise UsageError(f"{text!r} is neither linear nor poisson")
    job.flags["rate_process"] = text


def _loops(job: _Job, text: str, _given: _Given) -> None:
    job.flags["loops"] = max(job.size(text), 1)


def _delay(job: _Job, text: str, _given: _Given) -> None:
    if "," in text:
        raise UsageError(f"{text!r}: a range to draw from is not taken", hint="write one time")
    job.flags["startdelay"] = fio_time_ns(text, _SECOND_NS)


def _verify(job: _Job, text: str, _given: _Given) -> None:
    if text != "0":
        job.flags["verify"] = Verification(text).method


_READERS: dict[str, _Reader] = {
    "rw": _rw,
    "bs": lambda job, text, _given: job.pair(text, "block_bytes", job.size),
    "bssplit": _split,
    "iodepth": _number("iodepth"),
    "numjobs": _number("numjobs"),
    "size": lambda job, text, _given: job.share_or_size(text, "size_share", "size_bytes"),
    "offset": lambda job, text, _given: job.share_or_size(text, "offset_share", "offset_bytes"),
    "offset_increment": _number("offset_increment_bytes", 0),
    "io_size": lambda job, text, _given: job.share_or_size(text, "io_share", "io_bytes"),
    "number_ios": _number("requests", 0),
    "runtime": _time("runtime_ns", _SECOND_NS),
    "time_based": _flag("time_based"),
    "ramp_time": _time("ramp_ns", _SECOND_NS),
    "thinktime": _time("thinktime_ns", _MICROSECOND_NS),
    "thinktime_blocks": _number("thinktime_every"),
    "rate_iops": _rate_iops,
    "rate_process": _rate_process,
    "rate": lambda job, text, _given: job.pair(text, "rate_bytes", job.size),
    "fsync": _number("fsync_every", 0),
    "fdatasync": _number("fsync_every", 0),
    "percentage_random": lambda job, text, _given: job.pair(text, "percentage_random", _percent),
    "rwmixread": _mix,
    "random_distribution": _distribution,
    "randseed": _seed,
    "direct": _direct,
    "sync": _sync,
    "stonewall": _flag("stonewall"),
    "startdelay": _delay,
    "loops": _loops,
    "exitall": _flag("exitall"),
    "verify": _verify,
    "do_verify": _flag("do_verify"),
}
_FLAGS = ("time_based", "stonewall", "exitall", "direct", "do_verify")


def taken_options() -> tuple[str, ...]:
    """List the options of a job file that mean the same here."""
    return tuple(sorted((*_READERS, *_ALIASES, "kb_base")))


@dataclass
class _Group:
    jobs: list[_Job] = field(default_factory=list)


def _staged(jobs: Sequence[_Job], path: str) -> tuple[Stage, ...]:
    """Part jobs at each stonewall; names are made different."""
    groups: list[_Group] = []
    for job in jobs:
        if not groups or job.flags.get("stonewall"):
            groups.append(_Group())
        groups[-1].jobs.append(job)
    seen: dict[str, int] = {}
    stages = []
    for group in groups:
        flows, seeds = [], {}
        for job in group.jobs:
            seen[job.name] = seen.get(job.name, 0) + 1
            name = job.name if seen[job.name] == 1 else f"{job.name}-{seen[job.name]}"
            flows.append(job.flow(name))
            if "randseed" in job.flags:
                seeds[name] = job.flags["randseed"]
        delays = {job.flags.get("startdelay", 0) for job in group.jobs}
        if len(delays) > 1:
            raise UsageError(
                f"{path}, line {group.jobs[0].line}: startdelay differs between jobs that run side "
                "by side, which all begin at one time here",
                hint="give them one startdelay, or set them apart by stonewall",
            )
        exit_all = any(job.flags.get("exitall") for job in group.jobs)
        verification = _verification(group, path)
        stages.append(Stage(Flows(tuple(flows), exit_all), seeds, delays.pop(), verification))
    return tuple(stages)


def _verification(group: _Group, path: str) -> Verification | None:
    """Give what jobs side by side have in common: data are stamped for all of them, or none."""
    asked = {
        (job.flags.get("verify"), job.flags.get("do_verify", True) or "verify" not in job.flags)
        for job in group.jobs
    }
    if len(asked) > 1:
        raise UsageError(
            f"{path}, line {group.jobs[0].line}: verify or do_verify differs between jobs that "
            "run side by side",
            hint="write them into [global], or set the jobs apart by stonewall",
        )
    method, reads_back = asked.pop()
    return None if method is None else Verification(method, reads_back)


def _notes(jobs: Sequence[_Job]) -> list[str]:
    """Say what was left out and what is otherwise than fio would do it."""
    ignored = dict.fromkeys(name for job in jobs for name in job.ignored)
    notes = []
    if ignored:
        told = "; ".join(f"{name} ({IGNORED[name]})" for name in ignored)
        notes.append(f"ignored, as they change nothing here: {told}")
    if not all(job.direct for job in jobs):
        notes.append("requests are direct here, though the file does not say direct=1")
    if any(job.flags.get("rate_process") == "poisson" for job in jobs):
        notes.append(
            "requests come at random whatever has been served: iodepth does not hold them back, "
            "and latencies count from when each came"
        )
    mapped = [
        job
        for job in jobs
        if job.fields["rw"].startswith("rand")
        and not job.norandommap
        and "random_distribution" not in job.fields
    ]
    if mapped:
        notes.append("random offsets may repeat here, as with fio's norandommap")
    return notes

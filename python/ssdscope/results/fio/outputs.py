"""A document of fio as results: one of each group of jobs, in the shape of a run's document."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.results.fio.options import Asked, asked, whole, workload
from ssdscope.results.fio.sections import Section, section, synced
from ssdscope.results.fio.sums import Ran, elapsed, summed
from ssdscope.results.fio.texts import CUT, Printed, read_printed
from ssdscope.results.record import envelope
from ssdscope.targets.told import told_summary

DIRECTIONS = {"read": "read", "write": "write", "discard": "trim"}
"""Ours, and fio's word."""
_ALL_CLIENTS = "All clients"
_MS_NS = 1_000_000
_DOUBTS = ("error", "short_ios", "drop_ios")


@dataclass(frozen=True)
class Job:
    """A job as fio reports it: with ``group_reporting`` all of a group."""

    name: str
    group: int
    asked: Asked
    sections: Mapping[str, Section | None]
    flush: Section | None
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def began_ms(self) -> int | None:
        """When it began, by its own clock or by its option; None where nobody knows."""
        started = self.raw.get("job_start")
        if isinstance(started, int) and started > 0:
            return started
        delay = whole((self.asked.options.get("startdelay") or "").removesuffix("s"))
        return None if delay is None else delay * 1000


def records_of(path: str | Path) -> tuple[list[dict[str, Any]], Printed] | None:
    """Read a file of fio's output: the results of its groups; None if it is no such file.

    Raises
    ------
    UsageError
        If it cannot be read, or is not as fio writes it.
    """
    read = read_printed(path)
    if read is None:
        return None
    place = Path(path)
    found = []
    for document in read.documents:
        try:
            jobs = [_job(each, document, place) for each in _raw_jobs(document)]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                f"{path}: fio's output without {error}",
                hint="expected is what fio --output-format=json or json+ prints",
            ) from None
        groups = groupby(sorted(jobs, key=lambda job: job.group), key=lambda job: job.group)
        records = [_record(list(each), document, read, place) for _, each in groups]
        if CUT in document and records:
            records[-1]["interrupted"] = True  # of the jobs behind the cut nobody knows
        found += records
    return found, read


def _raw_jobs(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return the jobs; of a client's and server's output those of the clients, not their sum."""
    for each in document.get("jobs") or document.get("client_stats") or ():
        if each.get("jobname") != _ALL_CLIENTS:
            yield each


def _job(raw: Mapping[str, Any], document: Mapping[str, Any], path: Path) -> Job:
    options = {**(document.get("global options") or {}), **(raw.get("job options") or {})}
    options.pop("name", None)
    about = asked(options, path)
    sections = {name: section(raw.get(word)) for name, word in DIRECTIONS.items()}
    if "mixed" in raw and not any(sections.values()):
        sections[_only_direction(about)] = section(raw["mixed"])
    return Job(
        str(raw.get("jobname", "")),
        int(raw.get("groupid", 0)),
        replace(about, rw=None) if _contradicts(about, sections) else about,
        sections,
        synced(raw.get("sync")),
        raw,
    )


def _only_direction(about: Asked) -> str:
    """Say which direction a job has whose directions fio reported as one."""
    for name, word in DIRECTIONS.items():
        if about.rw in (word, f"rand{word}"):
            return name
    raise UsageError(
        "reads and writes are reported as one (unified_rw_reporting), and cannot be told apart"
    )


def _contradicts(about: Asked, sections: Mapping[str, Section | None]) -> bool:
    """Whether the options are those of another job.

    With ``group_reporting`` fio sums up all jobs of a group, and prints the options of one.
    """
    only = next(
        (name for name, word in DIRECTIONS.items() if about.rw in (word, f"rand{word}")), None
    )
    return only is not None and any(each and name != only for name, each in sections.items())


def _record(
    jobs: Sequence[Job], document: Mapping[str, Any], read: Printed, path: Path
) -> dict[str, Any]:
    """Compose the document of a group."""
    names = list(dict.fromkeys(job.name for job in jobs))
    every = _summary(jobs)
    record = {
        **envelope(),
        "target": {
            "uri": _device(jobs) or "",
            "kind": "fio",
            "capacity_bytes": None,
            "state": None,
            "drive": None,
        },
        "workload": _workload(jobs),
        **every,
        "counters": None,
        "stopped_by": None,
        "interrupted": False,
        "fio": _about(jobs, names, document, read, path),
    }
    if len(names) > 1:
        parts = ([job for job in jobs if job.name == name] for name in names)
        record["flows"] = [
            {"name": name, **_summary(part), "workload": _workload(part)}
            for name, part in zip(names, parts, strict=True)
        ]
    return told_summary(record)


def _summary(jobs: Sequence[Job]) -> dict[str, Any]:
    ran = {
        name: [Ran(begin, each) for job, begin in _begun(jobs) if (each := job.sections[name])]
        for name in DIRECTIONS
    }
    flushes = [Ran(0, job.flush) for job in jobs if job.flush]
    sections = {name: summed(each) for name, each in ran.items()}
    return {
        "requests": sum(each["requests"] for each in sections.values() if each),
        "elapsed_ns": elapsed([each for every in ran.values() for each in every]),
        **sections,
        "flush": summed(flushes),
        "failed_requests": sum(int(job.raw.get("total_err") or 0) for job in jobs),
        "latency_from": "submission",
    }


def _begun(jobs: Sequence[Job]) -> list[tuple[Job, int]]:
    """Return each job with when it began, in ns after the first; together where nobody knows."""
    known = [job.began_ms for job in jobs]
    clock = [each or 0 for each in known]
    if any("job_start" in job.raw for job in jobs) and None in known:
        clock = [0] * len(jobs)
    return [(job, (each - min(clock)) * _MS_NS) for job, each in zip(jobs, clock, strict=True)]


def _device(jobs: Sequence[Job]) -> str | None:
    """Name what they ran on; None if that is several, or nobody knows."""
    found = {
        job.asked.options.get("filename") or job.asked.options.get("directory") for job in jobs
    }
    host = {str(job.raw["hostname"]) for job in jobs if job.raw.get("hostname")}
    only = next(iter(found)) if len(found) == 1 else None
    return f"{next(iter(host))}:{only}" if only and len(host) == 1 else only


def _workload(jobs: Sequence[Job]) -> dict[str, Any]:
    """Describe what ran: of jobs that are alike one workload, of others one for each."""
    alike = {_essence(job.asked) for job in jobs}
    if len(alike) > 1:
        kinds = dict.fromkeys((job.name, _essence(job.asked)) for job in jobs)
        parts = [
            (name, [job for job in jobs if (job.name, _essence(job.asked)) == (name, essence)])
            for name, essence in kinds
        ]
        return {"flows": [{"name": name, **_workload(part)} for name, part in parts]}
    first = jobs[0].asked
    count = len(jobs) if len(jobs) > 1 else (first.numjobs or 1)
    together = {name: _both([job.sections[name] for job in jobs]) for name in DIRECTIONS}
    return workload(first, count, together)


def _essence(one: Asked) -> tuple[Any, ...]:
    """List what makes two jobs alike: all that is asked for but names and places."""
    apart = ("filename", "offset", "write_", "output", "description", "randseed", "cpus_allowed")
    left = ((name, value) for name, value in one.options.items() if not name.startswith(apart))
    return tuple(sorted(left))


def _both(parts: Sequence[Section | None]) -> Section | None:
    """Add requests and bytes."""
    known = [each for each in parts if each]
    if not known:
        return None
    return Section(sum(e.requests for e in known), sum(e.bytes for e in known), 0)


def _about(
    jobs: Sequence[Job],
    names: Sequence[str],
    document: Mapping[str, Any],
    read: Printed,
    path: Path,
) -> dict[str, Any]:
    """Say which fio it was, and what else it reported."""
    steady = next((job.raw["steadystate"] for job in jobs if "steadystate" in job.raw), None)
    return {
        "file": str(path),
        "version": str(document["fio version"]).removeprefix("fio-"),
        "time": document.get("time"),
        "time_ms": document.get("timestamp_ms"),
        "group": jobs[0].group,
        "jobs": list(names),
        "reported_jobs": len(jobs),
        "interim": read.interim,
        "text_lines": read.text_lines,
        "cut": None if read.cut is None else vars(read.cut),
        "error": next((job.raw["error"] for job in jobs if job.raw.get("error")), 0),
        "steady_state": _steady(steady),
    }


def _steady(found: Any) -> dict[str, Any] | None:
    """Keep whether it became steady, and by what; not the rates of all its windows."""
    if not isinstance(found, Mapping):
        return None
    return {
        "criterion": found.get("ss"),
        "duration_s": found.get("duration"),
        "attained": bool(found.get("attained")),
        "reached": found.get("criterion"),
    }

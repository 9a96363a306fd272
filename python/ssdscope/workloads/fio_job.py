"""fio's job files as workloads: sections as flows, one group after another at ``stonewall``.

What means the same is taken, in fio's own units; what would measure something else is refused
with its line, its name and the reason; what asks for nothing else than a run does anyway is listed
as taken. A job file is data from elsewhere: it starts no programs, reads no environment, and says
nothing of which target is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ssdscope.errors import UsageError, nearest
from ssdscope.workloads.fio_notes import notes_of
from ssdscope.workloads.fio_region import FioRegion
from ssdscope.workloads.fio_section import JobSection
from ssdscope.workloads.fio_text import Faults, read_job_text, sections_of
from ssdscope.workloads.flows import Flows
from ssdscope.workloads.verifying import Verification

JOBS_MAX = 256


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
    regions
        Where each works and when it ends, by the names of flows.
    """

    flows: Flows
    seeds: dict[str, int]
    start_delay_ns: int = 0
    verification: Verification | None = None
    regions: dict[str, FioRegion] = field(default_factory=dict)

    def within(self, capacity_bytes: int) -> Flows:
        """Return the job with its region on a target of this size."""
        fitted = (
            replace(flow, workload=self.regions[flow.name].fit(flow.workload, capacity_bytes))
            for flow in self.flows.flows
        )
        return replace(self.flows, flows=tuple(fitted))

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
        The file, of at most `fio_text.FILE_BYTES_MAX`.
    section
        Run only this one; None for all.

    Raises
    ------
    UsageError
        If it cannot be read or asks for what cannot be done: every fault, a line each.
    """
    return parse_fio_job(read_job_text(path), path, section)


def parse_fio_job(text: str, path: str, section: str | None = None) -> FioJob:
    """Read the text of a job file; messages call it `path`. As `read_fio_job`."""
    faults = Faults(path)
    sections = sections_of(text, faults)
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
    jobs = [JobSection(each, faults).read() for each in sections]
    faults.stop()
    return FioJob(_staged(jobs), tuple(notes_of(jobs)))


@dataclass
class _Group:
    jobs: list[JobSection] = field(default_factory=list)

    def is_just(self, name: str) -> bool:
        """Whether it is of one job, of this name."""
        return [job.name for job in self.jobs] == [name]


def _staged(jobs: Sequence[JobSection]) -> tuple[Stage, ...]:
    """Part jobs at each stonewall; names are made different."""
    seen: dict[str, int] = {}
    stages = []
    for group in _groups(jobs):
        flows, seeds, regions = [], {}, {}
        delays = [job.flags.get("startdelay", 0) for job in group.jobs]
        for job, delay in zip(group.jobs, delays, strict=True):
            seen[job.name] = seen.get(job.name, 0) + 1
            name = job.name if seen[job.name] == 1 else f"{job.name}-{seen[job.name]}"
            flows.append(job.flow(name, delay - min(delays)))
            regions[name] = job.region
            if "randseed" in job.flags:
                seeds[name] = job.flags["randseed"]
        exit_all = any(job.flags.get("exitall") for job in group.jobs)
        verification = _verification(group)
        stages.append(
            Stage(Flows(tuple(flows), exit_all), seeds, min(delays), verification, regions)
        )
    return tuple(stages)


def _groups(jobs: Sequence[JobSection]) -> list[_Group]:
    """Part jobs where one waits for those before it."""
    groups: list[_Group] = []
    for job in jobs:
        awaited = job.flags.get("wait_for")
        earlier = [each.name for group in groups for each in group.jobs]
        if awaited is not None and awaited not in earlier:
            raise UsageError(
                f"{job.options['wait_for'].place}: wait_for: there is no job [{awaited}] before it",
                hint=nearest(awaited, earlier) if earlier else None,
            )
        waits = awaited is not None and awaited in [each.name for each in groups[-1].jobs]
        if waits and not groups[-1].is_just(awaited or ""):
            raise UsageError(
                f"{job.options['wait_for'].place}: wait_for: others run beside [{awaited}], and "
                "jobs here wait for all before them or for none",
                hint="stonewall waits for all before it",
            )
        if not groups or job.flags.get("stonewall") or waits:
            groups.append(_Group())
        groups[-1].jobs.append(job)
    return groups


def _verification(group: _Group) -> Verification | None:
    """Give what jobs side by side have in common: data are stamped for all of them, or none."""
    asked = {
        (job.flags.get("verify"), job.flags.get("do_verify", True) or "verify" not in job.flags)
        for job in group.jobs
    }
    if len(asked) > 1:
        raise UsageError(
            f"{group.jobs[0].place}: verify or do_verify differs between jobs that "
            "run side by side",
            hint="write them into [global], or set the jobs apart by stonewall",
        )
    method, reads_back = asked.pop()
    return None if method is None else Verification(method, reads_back)

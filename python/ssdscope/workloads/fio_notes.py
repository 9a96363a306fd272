"""What is said of a fio job file that runs: what was taken, and what is otherwise than with fio."""

from collections.abc import Sequence

from ssdscope.workloads.fio_options import NEUTRAL, TAKEN
from ssdscope.workloads.fio_section import JobSection


def notes_of(jobs: Sequence[JobSection]) -> list[str]:
    """Say it, a sentence each."""
    taken = dict.fromkeys(name for job in jobs for name in job.taken)
    notes = []
    if taken:
        reasons = "; ".join(f"{name} ({_reason(name)})" for name in taken)
        notes.append(f"taken, as they ask for nothing else than a run does: {reasons}")
    notes += _depths(jobs)
    notes += _files(jobs)
    if not all(job.flags.get("direct") for job in jobs):
        notes.append("requests are direct here, though the file does not say direct=1")
    if any(job.flags.get("time_based") and "runtime_ns" not in job.fields for job in jobs):
        notes.append("time_based says nothing without a runtime, as with fio")
    if any(job.flags.get("rate_process") == "poisson" for job in jobs):
        notes.append(
            "requests come at random whatever has been served: iodepth does not hold them back, "
            "and latencies count from when each came"
        )
    if any(_may_repeat(job) for job in jobs):
        notes.append(
            "random requests of several sizes, or of which some are in order, may repeat a place "
            "here, as with fio's norandommap"
        )
    return notes


def _reason(name: str) -> str:
    return NEUTRAL[name][1] if name in NEUTRAL else TAKEN[name]


def _depths(jobs: Sequence[JobSection]) -> list[str]:
    """Say where a depth means nothing."""
    lost = [job for job in jobs if job.flags.get("asked_depth", 1) > 1]
    if not lost:
        return []
    names = ", ".join(f"[{job.name}]" for job in lost)
    engines = " and ".join(dict.fromkeys(job.engine for job in lost))
    named = all("ioengine" in job.options for job in lost)
    own = "" if named else ", which fio takes by itself,"
    note = f"{names}: {engines}{own} has one request in flight, whatever iodepth says"
    return [f"{note}; ioengine=libaio or io_uring has more"]


def _files(jobs: Sequence[JobSection]) -> list[str]:
    """Say where fio would work on several files."""
    named = {job.options["filename"].text for job in jobs if "filename" in job.options}
    alone = [job for job in jobs if "filename" not in job.options]
    count = sum(job.fields.get("numjobs", 1) for job in alone)
    if len(named) > 1 or (named and alone):
        return ["the jobs name several files; here all of them are on the one target"]
    if count > 1:
        note = (
            "without a filename fio gives each job a file of its own; here all are on the same "
            "part of the target (offset and offset_increment set them apart)"
        )
        return [note]
    return []


def _may_repeat(job: JobSection) -> bool:
    if not job.fields["rw"].startswith("rand") or job.flags.get("norandommap"):
        return False
    if job.flags.get("repeats") or "align_bytes" in job.fields:
        return False
    several = any(name.endswith(("block_split", "_block_bytes")) for name in job.fields)
    return several or any(name.endswith("percentage_random") for name in job.fields)

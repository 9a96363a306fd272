"""What the figures of the detectors have in common: their drives, and their rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdscope.findings import Finding
from ssdscope.probes.bench.ledger import Bench
from ssdscope.studies.detectors import Question, answered
from ssdscope.studies.kuo2009.bench import KIB, MIB, Drives
from ssdscope.studies.record import Claim


@dataclass(frozen=True)
class Subject:
    """A drive that a detector of the paper was tried on.

    Attributes
    ----------
    label
        Its name in rows and pictures.
    drive
        The preset, without ``kuo-``.
    paper
        What the paper found on it, in bytes; None if it says nothing.
    because, tried
        Why the paper, its procedure and our probe do not all say the same, where they do not, and
        the run that shows it.
    """

    label: str
    drive: str
    paper: int | None
    because: str = ""
    tried: str = ""


def subjects(drives: Drives, listed: Sequence[Subject]) -> list[Subject]:
    """Give the drives of the paper, or the target in their place."""
    if drives.target is None:
        return list(listed)
    return [Subject("the target", "", None)]


def bench(drives: Drives, subject: Subject, *sets: str) -> Bench:
    """Put a copy of a drive on a bench, with ``KEY=VALUE`` changes to it."""
    return drives.probed.bench(_uri(subject), sets)


def finding(drives: Drives, subject: Subject, name: str) -> Finding:
    """Give what our probe finds on a drive."""
    return drives.probed.finding(name, _uri(subject))


def row(
    drives: Drives,
    subject: Subject,
    name: str,
    what: str,
    literal: int | None,
    *,
    mib: bool = False,
) -> Claim:
    """Hold the procedure's answer against the paper's, our probe's and the truth."""
    uri = _uri(subject)
    question = Question(
        f"{subject.label}: {what}",
        name,
        subject.paper,
        literal,
        "MB" if mib else "KB",
        MIB if mib else KIB,
        subject.because,
        subject.tried,
    )
    return answered(question, finding(drives, subject, name), drives.probed.truth(name, uri))


def _uri(subject: Subject) -> str:
    return f"sim:kuo-{subject.drive}"

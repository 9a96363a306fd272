"""Many drives on all cores, in whatever order they come."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress
from ssdscope.recovery.blind import Probed, probe_drawn
from ssdscope.recovery.journal import Journal
from ssdscope.recovery.sources import Source
from ssdscope.sweep.processes import in_processes

_NAME = re.compile(r"(?P<seed>\d+):(?P<index>\d+)(?P<source>[fsw]?)")


@dataclass(frozen=True)
class Drive:
    """A drive, or another target, to be drawn."""

    seed: int
    index: int
    source: Source = Source.FIRST

    @property
    def label(self) -> str:
        """`SEED:INDEX`, and the letter of its source."""
        return f"{self.seed}:{self.index}{self.source}"


def named(text: str) -> Drive:
    """Read the name of a drive.

    Raises
    ------
    UsageError
        If it is none.
    """
    match = _NAME.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--only: {text!r} does not name a drawn drive",
            hint="write SEED:INDEX, as in 7:31, with a letter behind it for a drive that is flat "
            "(f), of the second generator (s), or a target without flash (w)",
        )
    return Drive(int(match["seed"]), int(match["index"]), Source(match["source"]))


def probe_all(
    drives: Sequence[Drive],
    journal: Journal,
    progress: StageProgress,
    jobs: int = -1,
    series: Path | None = None,
) -> None:
    """Probe the drives that the journal does not have, and write each there when it is done.

    Parameters
    ----------
    series
        A folder for what is measured, as of `probe_drawn`.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; what is done is in the journal.
    """
    left = [each for each in drives if each.label not in journal.drives]
    done = len(drives) - len(left)
    progress(f"{done} of {len(drives)} drives", done / max(len(drives), 1))
    if not left:
        return
    outcomes = in_processes(partial(_probe, series=series), left, jobs)
    try:
        for probed in outcomes:
            if probed is None:
                raise KeyboardInterrupt
            journal.append(probed)
            done += 1
            progress(f"{done} of {len(drives)} drives", done / len(drives))
    finally:
        outcomes.close()


def _probe(drive: Drive, series: Path | None) -> Probed | None:
    """Probe one, in a process of its own; None after Ctrl-C, which reaches that too."""
    try:
        return probe_drawn(drive.seed, drive.index, drive.source, series)
    except KeyboardInterrupt:
        return None

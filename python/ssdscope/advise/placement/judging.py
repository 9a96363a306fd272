"""Whether a set of workloads may share a drive, each set tried once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdscope.advise.placement.drives import Drive
from ssdscope.advise.placement.limits import Limits, over_latency
from ssdscope.advise.placement.predicting import predicted
from ssdscope.advise.placement.programme import Set
from ssdscope.advise.placement.trying import Trials, Tried
from ssdscope.advise.placement.workloads import Load
from ssdscope.errors import UsageError
from ssdscope.units import significant

LONGER = 6
"""A set that is to be taken is judged again by so many times the stretch of a first trial."""


@dataclass(frozen=True)
class Verdict:
    """What is wrong with a set of workloads on a drive, by limit; nothing if it may be."""

    faults: dict[str, str]

    @property
    def fine(self) -> bool:
        """Whether it may be."""
        return not self.faults


class Judge:
    """Tries sets of workloads on drives, and remembers what it saw.

    Parameters
    ----------
    loads, drives
        What may be placed where.
    duration_ns
        Of the stretch that is tried.
    seed
        Of the requests.
    progress
        Called with the number of trials so far.
    """

    def __init__(
        self,
        loads: Sequence[Load],
        drives: Sequence[Drive],
        *,
        duration_ns: int,
        seed: int,
        progress: Callable[[int], None] = lambda _count: None,
    ) -> None:
        self.loads, self.drives, self.duration_ns = loads, drives, duration_ns
        self.trials = [Trials(each, seed) for each in drives]
        self._seen: dict[tuple[int, Set, int], Tried] = {}
        self._progress = progress

    @property
    def count(self) -> int:
        """How many sets were tried."""
        return len(self._seen)

    def names(self, chosen: Set) -> list[str]:
        """Name the workloads of a set."""
        return [self.loads[n].name for n in sorted(chosen)]

    def tried(self, drive: int, chosen: Set, times: int = 1) -> Tried:
        """Try a set on a drive; by its model only where it has no simulated drive.

        Parameters
        ----------
        times
            How many times `duration_ns` it is tried.
        """
        key = drive, chosen, times
        if key not in self._seen:
            self._seen[key] = self._try(drive, chosen, times)
            self._progress(self.count)
        return self._seen[key]

    def _try(self, drive: int, chosen: Set, times: int) -> Tried:
        loads = [self.loads[n] for n in sorted(chosen)]
        if self.drives[drive].opener is not None:
            return self.trials[drive].run(loads, 0, times * self.duration_ns)
        model = self.drives[drive].model
        found = None if model is None else predicted(model, loads)
        if found is None:
            raise UsageError(
                f"nothing stands for {self.drives[drive].name}: its report has no twin, and "
                + ("there is no model of it" if model is None else "its model knows nothing like "
                   + ", ".join(self.names(chosen))),
                hint='model = "MODEL.json" in the cost file names a model (ssdscope model fit)',
            )  # fmt: skip
        return found

    def verdict(self, drive: int, chosen: Set, limits: Limits, times: int = 1) -> Verdict:
        """Judge a set on a drive; its capacity is not looked at."""
        try:
            tried = self.tried(drive, chosen, times)
        except UsageError as error:  # as requests that are no whole blocks of this drive
            return Verdict({"untried": f"{error.message} ({error.hint})"})
        faults: dict[str, str] = {}
        if not tried.keeps_up:
            faults["speed"] = "it does not serve requests as fast as they come"
        if limits.counts("latency"):
            pairs = zip(sorted(chosen), tried.seen, strict=True)
            late = [over_latency(self.loads[n], seen) for n, seen in pairs if seen]
            if said := next(filter(None, late), None):
                faults["latency"] = said
        if limits.counts("lifetime") and (worn := self._worn(drive, chosen, limits)):
            faults["lifetime"] = worn
        return Verdict(faults)

    def lifetime_s(self, drive: int, chosen: Set) -> float | None:
        """Say how long a drive lasts with these; None where nobody knows, or nothing is written."""
        written = sum(self.loads[n].written_bytes_per_s for n in chosen)
        endures = self.drives[drive].endurance_bytes
        if not written:
            return None
        if endures is not None:
            return endures / written
        opened = self.drives[drive].opened
        flash = None if opened is None else opened.flash_bytes
        waf = self.tried(drive, chosen).waf
        return None if flash is None or not waf else flash / (written * waf)

    def _worn(self, drive: int, chosen: Set, limits: Limits) -> str | None:
        if limits.lifetime_s is None:
            return None
        lasts = self.lifetime_s(drive, chosen)
        if lasts is None or lasts >= limits.lifetime_s:
            return None
        days = 86_400
        return (
            f"it is worn out in {significant(lasts / days)} days, "
            f"{significant(limits.lifetime_s / days)} wanted"
        )

"""One section of a fio job file on its way to a workload."""

from typing import Any

from ssdscope.errors import UsageError, nearest
from ssdscope.workloads.fio_engines import (
    DEFAULT_ENGINE,
    ONE_IN_FLIGHT,
    QUEUING,
    all_engines,
    engine_refusal,
)
from ssdscope.workloads.fio_options import NEUTRAL, REFUSED, TAKEN, neutral_refusal
from ssdscope.workloads.fio_readers import READERS, SWITCHES
from ssdscope.workloads.fio_region import Extent, FioRegion, block_sizes
from ssdscope.workloads.fio_text import ALIASES, Faults, Given, Section
from ssdscope.workloads.flows import Flow
from ssdscope.workloads.workload import MIXES, Workload


class JobSection:
    """A section, read.

    Attributes
    ----------
    name, place
        Of the section.
    fields
        Of the `Workload` that it becomes.
    flags
        What else it says, by fio's names.
    taken
        Options that ask for nothing else than a run does anyway.
    """

    def __init__(self, section: Section, faults: Faults) -> None:
        self.name = section.name
        self.place = section.place
        self.options = section.options
        self.fields: dict[str, Any] = {"rw": "read", "seed": 0}
        self.flags: dict[str, Any] = {}
        self.taken: list[str] = []
        self.engine = DEFAULT_ENGINE
        self.kb_base = 1024
        self._faults = faults

    def read(self) -> "JobSection":
        """Read every option; of an engine that measures something else nothing but that."""
        if not self._read_engine():
            return self
        base = self.options.get("kb_base")
        if base is not None:
            if base.text not in ("1000", "1024"):
                self._faults.add(base.place, f"kb_base={base.text} is neither 1000 nor 1024")
            self.kb_base = 1000 if base.text == "1000" else 1024
        for name, given in self.options.items():
            try:
                self._take(name, given)
            except UsageError as error:
                self._faults.add(given.place, f"{given.name}: {error.message}", error.hint)
        self._settle()
        self._paces()
        return self

    def _read_engine(self) -> bool:
        given = self.options.get("ioengine")
        if given is None:
            return True
        self.engine = given.text or ""
        if self.engine in (*ONE_IN_FLIGHT, *QUEUING):
            return True
        reason = engine_refusal(self.engine)
        why = f"is refused: {reason}" if reason else "is not an engine that is known here"
        hint = None if reason else nearest(self.engine, all_engines())
        self._faults.add(given.place, f"ioengine: {self.engine!r} {why}", hint)
        return False

    def _take(self, name: str, given: Given) -> None:
        if name == "kb_base":
            return
        if name in NEUTRAL:
            reason = neutral_refusal(name, given.text)
            if reason is not None:
                self._refuse(given, reason)
            self.taken.append(name)
        elif name in REFUSED or name.startswith("exec_"):
            self._refuse(given, REFUSED.get(name, REFUSED["exec_prerun"]))
        elif name in TAKEN:
            self._several_files(name, given)
            self.taken.append(name)
        elif name in READERS:
            if given.text is None and name not in SWITCHES:
                raise UsageError("a value is missing", hint=f"write {given.name}=VALUE")
            if "$" in (given.text or ""):
                raise UsageError(
                    f"variables are not expanded in {given.text!r}",
                    hint="write the value itself: a job file reads no environment here",
                )
            READERS[name](self, given.text or "", given)
        else:
            known = (*READERS, *ALIASES, *TAKEN, *NEUTRAL, *REFUSED)
            raise UsageError("there is no such option here", hint=nearest(name, known))

    def _refuse(self, given: Given, reason: str) -> None:
        value = f"={given.text}" if given.text and given.name in NEUTRAL else ""
        self._faults.add(given.place, f"{given.name}{value} is refused: {reason}")

    def _several_files(self, name: str, given: Given) -> None:
        if name == "filename" and ":" in (given.text or "").replace("\\:", ""):
            self._faults.add(
                given.place, f"filename={given.text} is refused: a run is on one target"
            )

    def _settle(self) -> None:
        """Do what depends on several options."""
        fields, flags = self.fields, self.flags
        if fields.get("thinktime_ns", 0) == 0:
            fields.pop("thinktime_every", None)
        if fields.get("random_distribution", 0) is None:
            fields.pop("random_distribution")
        for name in ("rate_bytes", "read_rate_bytes", "write_rate_bytes"):
            if fields.get(name) == 0:
                fields.pop(name)
        if self.engine in ONE_IN_FLIGHT:
            flags["asked_depth"] = fields.pop("iodepth", 1)
        if not fields["rw"].startswith("rand"):
            for name in ("percentage_random", "read_percentage_random", "write_percentage_random"):
                fields.pop(name, None)
            fields.pop("random_distribution", None)
            fields.pop("align_bytes", None)
        size, whole = flags.get("size"), flags.get("filesize")
        if whole is not None and size is not None and (size.bytes or 0) > (whole.bytes or 0):
            self._fault("filesize", "a job that transfers more than its file holds: say io_size")

    @property
    def region(self) -> FioRegion:
        """Where the job works, and when it ends."""
        flags = self.flags
        timed = bool(flags.get("time_based")) and "runtime_ns" in self.fields
        repeats = flags.get("norandommap", False) and not flags.get("lfsr", False)
        repeats = repeats or flags.get("repeats", False) or "align_bytes" in self.fields
        return FioRegion(
            offset=flags.get("offset", Extent(bytes=0)),
            size=flags.get("size", flags.get("filesize")),
            io=flags.get("io_size"),
            loops=flags.get("loops", 1),
            timed=timed,
            mapped=not repeats,
        )

    def _paces(self) -> None:
        """Bound requests as fio does: by bytes of the smallest, each direction by itself."""
        read, write = self.flags.get("rate_iops", (0, 0))
        poisson = self.flags.get("rate_process") == "poisson"
        rw = self.fields["rw"]
        by_bytes = any("rate_bytes" in name for name in self.fields)
        if by_bytes and (read or write):
            self._fault("rate_iops", "fio takes either it or rate, not both")
        split = any(name.endswith("block_split") for name in self.fields)
        rate = write if rw.endswith("write") else read
        if rw not in MIXES and (poisson or not split):
            self.fields |= {"rate_iops": rate} if rate else {}
        elif poisson:
            self._fault("rate_process", "in a mix each direction would come by itself; make two")
        else:
            self._pace_by_bytes(read, write)
        if poisson and rw not in MIXES:
            self._arrive(by_bytes)

    def _pace_by_bytes(self, read: int, write: int) -> None:
        for direction, rate in (("read", read), ("write", write)):
            if rate:
                least = min(block_sizes(Workload(**self.fields | {"rw": direction})))
                self.fields[f"{direction}_rate_bytes"] = rate * least

    def _arrive(self, by_bytes: bool) -> None:
        """Let requests arrive at random, on average at the rate."""
        if by_bytes or "rate_iops" not in self.fields:
            self._fault("rate_process", "poisson needs rate_iops, and no rate in bytes beside it")
        if "thinktime_ns" in self.fields:
            self._fault("rate_process", "requests that arrive by themselves have no pauses")
        self.fields["arrival"] = "poisson"
        self.fields.pop("iodepth", None)  # the drive gets them when they come

    def _fault(self, option: str, message: str) -> None:
        given = self.options[option]
        self._faults.add(given.place, f"{given.name}: {message}")

    def flow(self, name: str, waits_ns: int) -> Flow:
        """Make the flow, which begins so long after those beside it."""
        return Flow(name, Workload(**self.fields, start_delay_ns=waits_ns))


def taken_options() -> tuple[str, ...]:
    """List the options of a job file that mean the same here."""
    return tuple(sorted((*READERS, *ALIASES, "kb_base")))

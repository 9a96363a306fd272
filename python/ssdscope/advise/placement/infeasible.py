"""Why nothing keeps the limits: which workload fits nowhere, or which limit is in the way."""

from collections.abc import Callable

from ssdscope.advise.placement.judging import Judge
from ssdscope.advise.placement.limits import RELAXED, Limits
from ssdscope.errors import UsageError
from ssdscope.units import format_binary

Solvable = Callable[[Limits], bool]


def explain(judge: Judge, limits: Limits, solvable: Solvable) -> UsageError:
    """Say what is in the way, by leaving out each limit in turn.

    Parameters
    ----------
    judge
        Of the workloads and drives.
    limits
        That nothing keeps.
    solvable
        Says whether some placement keeps others.
    """
    homeless = [n for n in range(len(judge.loads)) if not _somewhere(judge, n, limits)]
    if homeless:
        return _no_drive(judge, homeless[0], limits)
    binding = [name for name in limits.given(judge.loads) if solvable(limits.relaxed(name))]
    if not binding:
        return UsageError(
            "no placement keeps the limits, and leaving out one of them is not enough",
            hint="drives that serve more, or fewer workloads",
        )
    ways = "; ".join(f"there would be one if {RELAXED[name]}" for name in binding)
    limit = f"limit{'s' if len(binding) > 1 else ''} of {' or '.join(binding)}"
    return UsageError(f"no placement keeps all limits; in the way: the {limit}", hint=ways)


def _somewhere(judge: Judge, load: int, limits: Limits) -> bool:
    return any(not _fault(judge, load, drive, limits) for drive in range(len(judge.drives)))


def _fault(judge: Judge, load: int, drive: int, limits: Limits) -> str:
    """Say why a drive is not for a workload even alone; nothing if it is."""
    kind, workload = judge.drives[drive], judge.loads[load]
    if workload.size_bytes > kind.capacity_bytes:
        held, taken = format_binary(kind.capacity_bytes), format_binary(workload.size_bytes)
        return f"it holds {held} of {taken}"
    return "; ".join(judge.verdict(drive, frozenset({load}), limits).faults.values())


def _no_drive(judge: Judge, load: int, limits: Limits) -> UsageError:
    name = judge.loads[load].name
    reasons = [
        f"  {judge.drives[drive].name}: {_fault(judge, load, drive, limits)}"
        for drive in range(len(judge.drives))
    ]
    return UsageError(
        "\n".join([f"no drive is for workload {name!r}, even alone:", *reasons]),
        hint="a looser limit, or another drive",
    )

"""A look without writing: what it left out, what writing would add and cost, and the command.

A real target that is open for reading only answers few properties. One line says so, in the
terminal and on the page, with everything that is needed to decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ssdscope.errors import SsdscopeError
from ssdscope.probes.budget import Budget
from ssdscope.probes.info import ProbeInfo
from ssdscope.probes.registry import choose
from ssdscope.probes.session import planned_writes_bytes
from ssdscope.report.spending import unasked_bytes
from ssdscope.targets.endurance import disk_bytes, rated_bytes
from ssdscope.targets.names import shell_words
from ssdscope.targets.opening import identify
from ssdscope.units import format_capacity, format_percent

if TYPE_CHECKING:
    from ssdscope.targets import DeviceInfo, Target

WINDOW_SHARE = 0.25
"""Of a block device, its end: what is written unless --offset and --size say otherwise."""
_REAL = ("file", "block")
_VIRTUAL = ("loop", "nbd", "dm", "md", "partition")


@dataclass(frozen=True)
class LeftOut:
    """What a look without writing left out.

    Attributes
    ----------
    properties
        That only probes which write can tell.
    writes_bytes
        The most that they would write.
    seconds
        The budget: what they would take at most.
    share_of_life
        Of what the drive is rated for; None where nobody says what that is.
    share_of_drive
        Of the target's capacity.
    command
        What would find them.
    """

    properties: tuple[str, ...]
    writes_bytes: int
    seconds: float
    share_of_life: float | None
    share_of_drive: float
    command: str

    def in_words(self) -> str:
        """Say it in one line."""
        life = (
            f"{self.share_of_drive:.2g} times its capacity; --rated-writes gives the share of life"
            if self.share_of_life is None
            else f"{format_percent(self.share_of_life)} of what it is rated for"
        )
        return (
            f"nothing was written, which left out {len(self.properties)} properties "
            f"({', '.join(self.properties)}); writing would add them for up to "
            f"{format_capacity(self.writes_bytes)} ({life}) and {self.seconds:g} s, "
            f"and destroys what is there: {self.command}"
        )

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self) | {
            "properties": list(self.properties),
            "in_words": self.in_words(),
        }


def left_out(
    target: Target,
    budget: Budget,
    verb: Sequence[str],
    rated: int | None = None,
    *,
    named: str | None = None,
) -> LeftOut | None:
    """Say what a look at a target leaves out; None if it is written to, or is no real drive.

    Parameters
    ----------
    verb
        The words of the command in front of the target, such as ``probe all``.
    rated
        Bytes that the user says the drive is rated for.
    named
        What a page calls the target. Then the token is left out: a page that is handed on must
        not allow a drive to be written to.
    """
    info = target.device.info
    if info.writable or info.kind not in _REAL:
        return None
    as_written = _as_written(info)
    chosen = choose("all", budget)
    planned = partial(planned_writes_bytes, info=as_written, full=budget.heavy)
    writing = [each for each in chosen if planned([each]) > 0]
    properties = _only_of(writing, chosen)
    if not properties:
        return None
    writes = planned(chosen)
    life = rated or rated_bytes(target)
    if writes > (unasked_bytes(life, disk_bytes(target)) or writes) and not budget.heavy:
        # So much has to be asked for: then it is the full budget that would add them.
        return left_out(target, Budget.parse("full"), verb, rated, named=named)
    return LeftOut(
        properties,
        writes,
        budget.wall_s,
        writes / life if life else None,
        writes / info.capacity_bytes,
        _command(target, budget, verb, named),
    )


def _as_written(info: DeviceInfo) -> DeviceInfo:
    """Describe the same target, opened for writing: of a block device only its end is written."""
    share = WINDOW_SHARE if info.kind == "block" else 1.0
    capacity = int(info.capacity_bytes * share) // info.logical_block_bytes
    return replace(info, writable=True, capacity_bytes=capacity * info.logical_block_bytes)


def _only_of(writing: Sequence[ProbeInfo], chosen: Sequence[ProbeInfo]) -> tuple[str, ...]:
    """Name the properties that no probe tells which only reads."""
    read = {name for each in chosen if each not in writing for name in each.properties}
    names = dict.fromkeys(name for each in writing for name in each.properties)
    return tuple(name for name in names if name not in read)


def _command(target: Target, budget: Budget, verb: Sequence[str], named: str | None) -> str:
    """Write the command; the token is what `doctor --identify` prints."""
    words = ["ssdscope", *verb, named or target.uri]
    if budget.name != "default":
        words += ["--budget", budget.name]
    try:
        identity = identify(target.place)
    except SsdscopeError:
        identity = {}
    words += ["--destroy-data", (None if named else identity.get("token")) or "TOKEN"]
    if identity.get("kind") == "block" and identity.get("device_type") in _VIRTUAL:
        words.append("--allow-virtual")
    elif identity.get("kind") == "file" and identity["holes_bytes"] < target.capacity_bytes:
        words.append("--overwrite-existing")
    return shell_words(words)

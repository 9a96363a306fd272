"""The twin of a report as a ground: how far it is from the drive, and what it says nothing of."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdscope import stats
from ssdscope.advise.gains import FOUND, USED, misses
from ssdscope.advise.ground import LATER, Ground, NoGainError
from ssdscope.errors import SsdscopeError
from ssdscope.targets.drive_writer import open_drive
from ssdscope.targets.metered import Limits, MeteredDevice

if TYPE_CHECKING:
    from ssdscope.targets import Device

NINTH_ERROR = 0.15
"""A twin that misses more than one latency in ten by more is a sketch."""
MEDIAN_ERROR = 0.10
"""If it misses half of them by more, it cannot say a gain to within ten points."""
DIRECTIONS = frozenset(("read", "write"))
WRITTEN_OVER = "random"
"""The state of a drive that was written all over at random."""
OVERWRITTEN_PAGE_S, LEAST_PAGE_BYTES = 0.5e-6, 512
"""What each page costs to be written so, about; and the smallest one."""
WORN = (WRITTEN_OVER, "steady")


def of_twin(
    twin: Mapping[str, Any] | None, seed: int = 1, work_s: float | None = None
) -> Ground | str:
    """Open the twin of a report.

    Parameters
    ----------
    twin
        The section of the report.
    seed
        Of the streams.
    work_s
        What measuring gains may cost, counted; None for as much as it takes.

    Returns
    -------
    Ground or str
        Or why there is none, in a few words.
    """
    if not isinstance(twin, Mapping) or not isinstance(twin.get("toml"), str):
        return "no twin"
    text, rows = twin["toml"], _rows(twin)
    # A twin that is near as a whole may still miss its writes, and one that says nothing is one.
    unknown = {} if twin.get("sketch") else dict.fromkeys(DIRECTIONS, (0.0, 0.0))
    errors = unknown | _errors(rows)
    near = {name for name, (_, most) in errors.items() if most <= NINTH_ERROR}
    far = {name: middle for name, (middle, _) in errors.items() if middle > MEDIAN_ERROR}
    try:
        device = MeteredDevice(open_drive(text, "twin", seed), Limits(work_s=work_s))
    except SsdscopeError as error:
        return f"the twin cannot be opened: {error.message}"
    likewise = [
        Ground(device.around(other), seed, written_over=_opener(each, seed, device))
        for each in _others(twin)
        if (other := _opened(each, seed)) is not None
    ]
    worn = is_worn(tomllib.loads(text).get("default_state"))
    return Ground(
        device, seed, _fitted_to_writes(twin, rows),
        sketched=frozenset(DIRECTIONS - near), far=far, misses=misses(rows),
        state=USED if worn else FOUND, written_over=None if worn else _opener(text, seed, device),
        others=likewise,
    )  # fmt: skip


def _others(twin: Mapping[str, Any]) -> list[str]:
    """Give drive files that fit as well."""
    told = twin.get("others")
    return [each for each in told if isinstance(each, str)] if isinstance(told, list) else []


def _opened(text: str, seed: int) -> Device | None:
    try:
        return open_drive(text, "twin", seed)
    except SsdscopeError:
        return None


def is_worn(state: str | None) -> bool:
    """Say whether a state is that of a drive in use: written all over at random, or longer."""
    return str(state).partition(":")[0] in WORN


def _opener(text: str, seed: int, meter: MeteredDevice) -> Callable[[], Device]:
    """Open the drive written all over, if there is the time: each page is written without a clock.

    The opener raises `NoGainError` where there is not.
    """
    page_bytes = tomllib.loads(text).get("nand", {}).get("page_bytes", LEAST_PAGE_BYTES)
    needed_s = OVERWRITTEN_PAGE_S * meter.info.capacity_bytes / page_bytes

    def written_over() -> Device:
        if needed_s > meter.left_s():
            raise NoGainError(LATER)
        meter.spent.add(0, 0, 0, needed_s)
        return meter.around(open_drive(text, "twin", seed, state=WRITTEN_OVER))

    return written_over


def _rows(twin: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    held_out = twin.get("held_out")
    rows = held_out if isinstance(held_out, list) else []
    return [each for each in rows if isinstance(each, Mapping)]


def _fitted_to_writes(twin: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether a twin was held to writes: of a drive that was only read it was not."""
    if rows:
        return any("write" in str(row.get("rw")) for row in rows)
    lacking = twin.get("not_modelled")
    told = lacking if isinstance(lacking, list | tuple) else ()
    return not any(str(each).startswith("writes") for each in told)


def _errors(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    """Give the errors of a twin by direction: at the median, and at nine of ten."""
    found = {name: _misses(rows, name) for name in DIRECTIONS}
    return {
        name: (stats.nearest_rank(each, 50), stats.nearest_rank(each, 90))
        for name, each in found.items()
        if each
    }


def _misses(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    pairs = [
        (row.get("predicted_ns"), row.get("mean_ns")) for row in rows if name in str(row.get("rw"))
    ]
    return [
        abs(told / measured - 1)
        for told, measured in pairs
        if isinstance(told, int | float) and isinstance(measured, int | float) and measured > 0
    ]

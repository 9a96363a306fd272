"""Whether a period consists of several RMW units, of what writing them whole would save."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest

from ssdscope.probes import inner_units

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def wholes_of(unit: int) -> Callable[[object, inner_units.Period], list[NDArray[Any]]]:
    """Model of what writing saves: a program for each unit, and a reading unless it is whole."""

    def logs(_writer: object, period: inner_units.Period) -> list[NDArray[Any]]:
        taken = []
        for shift in inner_units.WHOLE_SHIFTS:
            first, end = shift, shift + period.blocks
            touched = -(-end // unit) - first // unit
            whole = max(end // unit - -(-first // unit), 0)
            ns = 250e3 * touched + 25e3 * (touched - whole)
            taken.append(np.log(np.linspace(0.98, 1.02, inner_units.WHOLES) * ns))
        return taken

    return logs


@pytest.mark.parametrize("unit", [4, 6, 8, 12, 24])
def test_what_holds_a_unit_and_a_half_saves_less_than_the_unit(
    monkeypatch: pytest.MonkeyPatch, unit: int
) -> None:
    monkeypatch.setattr(inner_units, "_wholes", wholes_of(unit))
    period = inner_units.Period(24, 0, 400_000.0, serial=True, queued=False)
    assert inner_units._by_wholes(Mock(), period) == unit


def test_two_sizes_that_save_as_much_are_parts_of_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def logs(writer: object, period: inner_units.Period) -> list[NDArray[Any]]:
        return wholes_of(period.blocks if period.blocks in {4, 6} else 1)(writer, period)

    monkeypatch.setattr(inner_units, "_wholes", logs)
    period = inner_units.Period(12, 0, 400_000.0, serial=True, queued=False)
    assert inner_units._by_wholes(Mock(), period) is None


@pytest.mark.parametrize(("period", "unit"), [(192, None), (256, 128), (128, 128)])
def test_half_of_a_period_consists_of_nothing(
    monkeypatch: pytest.MonkeyPatch, period: int, unit: int | None
) -> None:
    """Units of 128 blocks return with their places every 384: half of that was found, and 64."""

    def bursts(_writer: object, held: inner_units.Period, part: int) -> NDArray[Any]:
        at = held.boundary + np.arange(2)[:, None] * part + held.blocks * np.arange(32)
        logs = np.zeros((2, 2, 2, 16))
        costs = np.where(at % 128 == 0, 0.7, 0.0).reshape(2, 2, 16)
        logs[:, :, inner_units.ACROSS] = costs.swapaxes(0, 1)
        return logs

    monkeypatch.setattr(inner_units, "_bursts", bursts)
    found = inner_units.Period(period, 64 if period == 192 else 0, 1e6, serial=False, queued=True)
    assert inner_units._by_bursts_or_wholes(Mock(forced=False), found) == unit

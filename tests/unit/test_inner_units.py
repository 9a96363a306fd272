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

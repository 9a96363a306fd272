"""Configurations beside the best so far: one key or two of it changed a little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssdscope.search.fronts import front
from ssdscope.search.space import Configuration, Knob

if TYPE_CHECKING:
    import numpy as np


class Best:
    """The best so far: within the limits a front, else what breaks them least."""

    def __init__(self) -> None:
        self._kept: list[tuple[Configuration, tuple[float, ...]]] = []
        self._nearest: tuple[Configuration, float] | None = None

    def add(
        self, configuration: Configuration, values: Sequence[float] | None, excess: float
    ) -> None:
        """Look at what became of a configuration."""
        if values is None or excess > 0:
            if self._nearest is None or excess < self._nearest[1]:
                self._nearest = configuration, excess
            return
        every = [*self._kept, (configuration, tuple(values))]
        self._kept = [every[place] for place in front([each for _, each in every])]

    def neighbour(self, space: Sequence[Knob], draws: np.random.Generator) -> Configuration | None:
        """Draw a configuration beside one of the best; None if there is none yet."""
        if self._kept:
            parent = self._kept[int(draws.integers(len(self._kept)))][0]
        elif self._nearest is not None:
            parent = self._nearest[0]
        else:
            return None
        changed = dict(parent)
        count = min(len(space), 1 + int(draws.integers(2)))
        for place in draws.permutation(len(space))[:count]:
            knob = space[place]
            changed[knob.key] = knob.beside(changed[knob.key], draws)
        return changed

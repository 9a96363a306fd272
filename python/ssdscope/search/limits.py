"""Limits on figures: at most so much latency, write amplification or cost, at least such a rate."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.errors import ConfigError, UsageError
from ssdscope.search.figures import fault_of, is_rate
from ssdscope.search.space import dotted
from ssdscope.units import format_duration, parse_duration, significant

Figures = Mapping[str, float]


@dataclass(frozen=True)
class Limit:
    """A bound on a figure; of a rate the least, of anything else the most."""

    of: str
    bound: float

    def excess(self, value: float) -> float:
        """Say how far beyond the bound a value is, as the logarithm of a ratio; 0 if it is not."""
        over, under = (self.bound, value) if is_rate(self.of) else (value, self.bound)
        if over <= under:
            return 0.0
        return math.log(over / under) if under > 0 else math.inf

    def __str__(self) -> str:
        """Write the bound."""
        sign = "at least" if is_rate(self.of) else "at most"
        return f"{sign} {shown(self.of, self.bound)}"


def read_limits(table: Mapping[str, Any], where: str) -> tuple[Limit, ...]:
    """Read limits by the names of their figures.

    Raises
    ------
    ConfigError
        If there is no such figure, or a bound cannot be meant.
    """
    limits = []
    for name, value in dotted(table):
        if hint := fault_of(name):
            raise ConfigError(f"{where}.{name}: there is no such figure", hint=hint)
        limits.append(Limit(name, _bound(name, value, f"{where}.{name}")))
    return tuple(limits)


def excesses(limits: Sequence[Limit], figures: Figures) -> dict[str, float]:
    """Give how far beyond each limit the figures are; of one that is not known nothing."""
    return {each.of: each.excess(figures[each.of]) for each in limits if each.of in figures}


def shown(name: str, value: float) -> str:
    """Write a figure for people."""
    return format_duration(value) if "_ns" in name else significant(value, 4)


def _bound(name: str, value: Any, where: str) -> float:
    if isinstance(value, str) and "_ns" in name:
        try:
            value = parse_duration(value)
        except UsageError as error:
            raise ConfigError(f"{where}: {error.message}", hint=error.hint) from error
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not 0 < value < math.inf:
        times = ', or a time, as "2ms"' if "_ns" in name else ""
        raise ConfigError(f"{where}: {value!r} is no limit", hint=f"write a number above 0{times}")
    return float(value)

"""The space of a search: keys of the drive, and the values each may take.

=============================================  ==================================================
``"gc.policy" = ["greedy", "fifo"]``           one of these
``"nand.channels" = [2, 4, 8]``                one of these; numbers are in order
``"write_buffer.bytes" = "1m:64m"``            a doubling, as in a sweep
``over_provisioning_ratio = {from = 0.07,``    anything between; ``log = true`` gives each
``to = 0.5}``                                  doubling the same weight, ``step`` whole steps
=============================================  ==================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ssdscope.errors import ConfigError, UsageError, nearest
from ssdscope.targets.opening import as_set, drive_keys
from ssdscope.units import parse_duration, parse_size, parse_sizes

if TYPE_CHECKING:
    import numpy as np

Value: TypeAlias = str | bool | int | float
Configuration: TypeAlias = dict[str, Value]
"""A value for each key of the space."""

NEAR = 0.15
"""How far from a number of a range its neighbours are drawn, as a share of the range."""
DIGITS = 4
"""Of a value that is no whole number: more would be noise, and hard to read."""
_UNITS = {"bytes": parse_size, "time": parse_duration}
"""How texts of keys of a type are read."""
_BELOW_ONE = math.nextafter(1, 0)
_RANGE = {"from", "to", "log", "step"}
_FORMS = '[...], "1m:64m", or {from = ..., to = ...}'


@dataclass(frozen=True)
class Choices:
    """One of several values; those of `ordered` lie beside each other in this order."""

    key: str
    values: tuple[Value, ...]
    ordered: bool

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    def at(self, share: float) -> Value:
        """Give the value at a share of the way, below 1."""
        return self.values[int(share * len(self.values))]

    def beside(self, value: Value, draws: np.random.Generator) -> Value:
        """Draw a value beside another: the next one of ordered values, or any other."""
        place = self.values.index(value)
        others = [*self.values[:place], *self.values[place + 1 :]] or [value]
        if self.ordered:
            others = others[max(0, place - 1) : place + 1]
        return others[int(draws.integers(len(others)))]

    def ends(self) -> tuple[Value, ...]:
        """Give the values to try alone."""
        return self.values

    def __str__(self) -> str:
        """List them."""
        return ", ".join(map(str, self.values))


@dataclass(frozen=True)
class Range:
    """Numbers between two, both of them among them; whole ones in steps, or any."""

    key: str
    low: float
    high: float
    log: bool = False
    whole: bool = False
    step: int = 1

    @property
    def size(self) -> float:
        """How many values there are."""
        return (self.high - self.low) // self.step + 1 if self.whole else math.inf

    def at(self, share: float) -> Value:
        """Give the value at a share of the way, below 1."""
        if self.whole and not self.log:
            return int(self.low) + self.step * int(share * self.size)
        if self.log:
            return self.rounded(self.low * (self.high / self.low) ** share)
        return self.rounded(self.low + share * (self.high - self.low))

    def beside(self, value: Value, draws: np.random.Generator) -> Value:
        """Draw a value not far from another: some `NEAR` of the range away."""
        low, high, own = self.low, self.high, float(value)
        if self.log:
            low, high, own = math.log(low), math.log(high), math.log(own)
        share = (own - low) / (high - low) + NEAR * draws.normal()
        return self.at(min(max(share, 0.0), _BELOW_ONE))

    def rounded(self, value: float) -> Value:
        """Write a value of the range as it is set: whole, or with few digits."""
        if self.whole:
            return round(value)
        return min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high)

    def ends(self) -> tuple[Value, ...]:
        """Give the values to try alone."""
        return (self.rounded(self.low), self.rounded(self.high))

    def __str__(self) -> str:
        """Say from where to where, and how."""
        how = (
            ", each doubling alike" if self.log else f", in steps of {self.step}" * (self.step > 1)
        )
        low, high = self.ends()
        return f"{low} to {high}{how}"


Knob: TypeAlias = Choices | Range


def read_space(table: Mapping[str, Any], where: str) -> tuple[Knob, ...]:
    """Read the keys that vary.

    Parameters
    ----------
    table
        As the plan has it; ``nand.channels`` may be written with quotes or without.
    where
        What to call the table in messages.

    Raises
    ------
    ConfigError
        If there is none, a key is no key of a drive, or its values cannot be meant.
    """
    kinds: dict[str, str] = {each["key"]: each["type"] for each in drive_keys()}
    knobs = []
    for key, value in dotted(table, _RANGE):
        if key not in kinds:
            raise ConfigError(f"{where}.{key}: a drive has no such key", hint=nearest(key, kinds))
        knobs.append(_knob(key, value, kinds[key], f"{where}.{key}"))
    if not knobs:
        raise ConfigError(
            f"{where} is empty: nothing varies",
            hint="name keys of the drive and their values, as in over_provisioning_ratio = "
            "{from = 0.07, to = 0.5}; ssdscope drives keys lists them",
        )
    return tuple(knobs)


def dotted(
    table: Mapping[str, Any], leaf: frozenset[str] | set[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """Spread tables in a table over dotted keys; one that has only keys of `leaf` is a value."""
    for key, value in table.items():
        if isinstance(value, dict) and not (value and value.keys() <= leaf):
            yield from ((f"{key}.{name}", each) for name, each in dotted(value, leaf))
        else:
            yield key, value


def combinations(space: Sequence[Knob]) -> float:
    """Count the configurations of a space; infinite where a value may be any number."""
    return math.prod(knob.size for knob in space)


def sets_of(configuration: Mapping[str, Value]) -> tuple[str, ...]:
    """Write a configuration as changes of a drive file."""
    return tuple(as_set(key, value) for key, value in configuration.items())


def _knob(key: str, value: Any, kind: str, where: str) -> Knob:
    if isinstance(value, dict):
        return _range(key, value, kind, where)
    if isinstance(value, str) and ":" in value:
        try:
            return Choices(key, tuple(parse_sizes(value)), ordered=True)
        except UsageError as error:
            raise ConfigError(f"{where}: {error.message}", hint=error.hint) from error
    if not isinstance(value, list) or not value:
        raise ConfigError(
            f"{where} is no list of values, nor a range: {value!r}", hint=f"write {_FORMS}"
        )
    for each in value:
        if not isinstance(each, str | bool | int | float):
            raise ConfigError(f"{where}: {each!r} is not a value of a drive key")
    plain = [_with_unit(each, kind, where) for each in value]
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in plain)
    values = sorted(set(plain)) if numbers else list(dict.fromkeys(plain))
    return Choices(key, tuple(values), ordered=numbers)


def _range(key: str, table: Mapping[str, Any], kind: str, where: str) -> Range:
    for name in ("from", "to"):
        if name not in table:
            raise ConfigError(f"{where}: the range has no {name!r}", hint=f"write {_FORMS}")
    low, high = (_number(table[name], kind, f"{where}.{name}") for name in ("from", "to"))
    log, step = table.get("log", False), table.get("step", 1)
    whole = isinstance(low, int) and isinstance(high, int)
    if not low < high:
        raise ConfigError(f"{where}: a range from {low} to {high} holds nothing to choose from")
    if not isinstance(log, bool):
        raise ConfigError(f"{where}.log is neither true nor false: {log!r}")
    if log and low <= 0:
        raise ConfigError(
            f"{where}: a range with log = true begins above 0, not at {low}",
            hint="leave out log, or begin at a small number",
        )
    step = _number(step, kind, f"{where}.step")
    if not isinstance(step, int) or step < 1 or ("step" in table and (log or not whole)):
        raise ConfigError(
            f"{where}.step: {table['step']!r} does not fit",
            hint="steps are whole, 1 or more, of a range of whole numbers without log",
        )
    if whole:
        high = low + (high - low) // step * step
    return Range(key, low, high, log, whole, step)


def _number(value: Any, kind: str, where: str) -> int | float:
    """Take a number, or a size or time with its unit."""
    value = _with_unit(value, kind, where)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{where} is not a number: {value!r}")
    return value


def _with_unit(value: Any, kind: str, where: str) -> Any:
    """Read a text of a key that holds a size or a time; leave anything else as it is."""
    if not isinstance(value, str) or kind not in _UNITS:
        return value
    try:
        return _UNITS[kind](value)
    except UsageError as error:
        raise ConfigError(f"{where}: {error.message}", hint=error.hint) from error

"""Combinations spread evenly over ranges: the points of a scrambled Sobol sequence.

.. code-block:: toml

    [sobol]
    points = 64
    bs = { low = "4k", high = "1m", log = true }     # even in the logarithm
    iodepth = { low = 1, high = 64 }
    rw = ["randread", "randwrite"]                   # choices
    [sobol.set]
    over_provisioning_ratio = { low = 0.07, high = 0.5 }

Whole numbers and lengths go up in steps: of 1, of a length its lower end, or ``step``. More points
later begin with the same ones, so that a sweep can be made longer.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope.errors import ConfigError, UsageError, nearest
from ssdscope.seeds import stream
from ssdscope.units import parse_duration, parse_size
from ssdscope.workloads.options import OPTIONS, standard

_RANGE_KEYS = ("low", "high", "log", "step")
_FORM = 'write it as a list, or as { low = "4k", high = "1m", log = true }'
_POINTS_MAX = 2**20
_DIGITS = 6

Draw = tuple[dict[str, Any], dict[str, Any]]
"""Options of the workload and keys of the drive."""


@dataclass(frozen=True)
class Range:
    """Numbers between two ends, both among them.

    Attributes
    ----------
    step
        From one to the next; None where every number between counts.
    log
        Whether they are spread evenly by their logarithms.
    write
        A number as a plan would have it.
    """

    low: float
    high: float
    step: float | None
    log: bool
    write: Callable[[float], Any]

    def at(self, unit: float) -> Any:
        """Give the value at a place between 0 and 1."""
        span = self.high - self.low
        if self.log:
            value = self.low * (self.high / self.low) ** unit
        elif self.step is not None:
            return self.write(self.low + self.step * math.floor(unit * (span // self.step + 1)))
        else:
            value = self.low + span * unit
        if self.step is not None:
            value = self.low + self.step * min(
                round((value - self.low) / self.step), span // self.step
            )
        return self.write(value)


@dataclass(frozen=True)
class Choice:
    """One of some values, each as likely as the others."""

    values: Sequence[Any]

    def at(self, unit: float) -> Any:
        """Give the value at a place between 0 and 1."""
        return self.values[min(int(unit * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True)
class Sobol:
    """What is drawn, and how many points.

    Attributes
    ----------
    options, sets
        Ranges and choices of options of the workload, and of keys of the drive.
    """

    points: int
    options: Mapping[str, Range | Choice]
    sets: Mapping[str, Range | Choice]

    def draw(self, seed: int) -> list[Draw]:
        """Draw the points; those of a seed are the same on every machine."""
        from scipy.stats import qmc

        # By their names, so that the order in the file means nothing.
        options, sets = (sorted(each.items()) for each in (self.options, self.sets))
        # A power of two keeps the balance of the sequence; what is too many is left out.
        power = (self.points - 1).bit_length()
        sequence = qmc.Sobol(len(options) + len(sets), rng=stream(seed, "sweep.sobol"))
        rows = sequence.random_base2(power)[: self.points].tolist()
        return [
            (_values(options, row[: len(options)]), _values(sets, row[len(options) :]))
            for row in rows
        ]

    def choices(self, option: str) -> Sequence[Any]:
        """Give the values that an option may have, if it is one of some."""
        drawn = self.options.get(option)
        return drawn.values if isinstance(drawn, Choice) else ()


def _values(ranges: Sequence[tuple[str, Range | Choice]], row: Sequence[float]) -> dict[str, Any]:
    return {name: each.at(unit) for (name, each), unit in zip(ranges, row, strict=True)}


def read_sobol(
    path: str,
    table: Mapping[str, Any],
    keys: Callable[[str, dict[str, Any]], dict[str, Any]],
) -> Sobol:
    """Read the table of a plan.

    Parameters
    ----------
    path
        The plan, for messages.
    keys
        Checks keys of the drive.

    Raises
    ------
    ConfigError
        If something in it is no range and no list.
    """
    rest = dict(table)
    points, sets = rest.pop("points", None), rest.pop("set", {})
    if not isinstance(points, int) or isinstance(points, bool) or not 0 < points <= _POINTS_MAX:
        raise ConfigError(
            f"{path}: sobol.points is not a number from 1 to {_POINTS_MAX:,}: {points!r}",
            hint="write points = 64; powers of two are spread most evenly",
        )
    if not isinstance(sets, dict):
        raise ConfigError(f"{path}: sobol.set is not a table: {sets!r}")
    options = standard(rest, lambda name: f"{path}: sobol.{name}")
    sets = keys("sobol.set", sets)
    if not options and not sets:
        raise ConfigError(f"{path}: sobol has nothing to spread", hint=f"bs, say: {_FORM}")
    return Sobol(
        points,
        {name: _dimension(f"{path}: sobol.{name}", name, each) for name, each in options.items()},
        {name: _dimension(f"{path}: sobol.set.{name}", "", each) for name, each in sets.items()},
    )


def _dimension(where: str, option: str, value: Any) -> Range | Choice:
    if isinstance(value, list) and value:
        return Choice(value)
    if not isinstance(value, dict) or not {"low", "high"} <= value.keys():
        raise ConfigError(f"{where} is not a range, nor a list of choices: {value!r}", hint=_FORM)
    for key in value:
        if key not in _RANGE_KEYS:
            raise ConfigError(f"{where}: a range has no {key!r}", hint=nearest(key, _RANGE_KEYS))
    log = value.get("log", False)
    if not isinstance(log, bool):
        raise ConfigError(f"{where}: log is neither true nor false: {log!r}")
    ends = [value[key] for key in ("low", "high", "step") if key in value]
    numbers, whole, length, write = _numbers(where, option, ends)
    low, high = numbers[:2]
    step = numbers[2] if len(numbers) > 2 else None
    if step is None and whole:
        step = low if length and low > 0 else 1
    if not low < high or (step is not None and step <= 0) or (log and low <= 0):
        raise ConfigError(
            f"{where}: {value!r} is no range",
            hint="low is below high, step above 0, and low above 0 if log is true",
        )
    return Range(low, high, step, log, write)


def _numbers(
    where: str, option: str, ends: Sequence[Any]
) -> tuple[list[float], bool, bool, Callable[[float], Any]]:
    """Read the ends and the step of a range.

    Returns
    -------
    numbers, whole, length, write
        What they are, whether they are whole, whether they are bytes; and how a number between
        them is written.
    """
    if all(isinstance(each, int) and not isinstance(each, bool) for each in ends):
        return list(ends), True, _is_length(option), int
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in ends):
        if all(map(math.isfinite, ends)):
            return list(ends), False, False, _rounded
    elif all(isinstance(each, str | int) and not isinstance(each, bool) for each in ends):
        time = option in OPTIONS and OPTIONS[option].field.endswith("_ns")
        try:
            numbers = [(parse_duration if time else parse_size)(str(each)) for each in ends]
        except UsageError as error:
            raise ConfigError(f"{where}: {error.message}", hint=error.hint) from error
        return list(numbers), True, not time, _nanoseconds if time else int
    raise ConfigError(f"{where}: low, high and step are not numbers of one kind: {ends!r}")


def _is_length(option: str) -> bool:
    return option in OPTIONS and OPTIONS[option].field.endswith("_bytes")


def _rounded(value: float) -> float:
    """Leave out digits that nobody meant."""
    return float(f"{value:.{_DIGITS}g}")


def _nanoseconds(value: float) -> str:
    return f"{int(value)}ns"

"""Seek times of DiskSim's mechanical model, as the three times of a data sheet.

The curves are those of its manual: a constant, Lee's curve through three times, HP Labs' equation
of two branches, and measured times between which it interpolates.
"""

import math
import re
from bisect import bisect_left
from pathlib import Path

from ssdscope.errors import ConfigError, SsdscopeError
from ssdscope.targets.imports.file_text import file_text
from ssdscope.targets.imports.parv import Block
from ssdscope.targets.imports.reading import QUANTITY_MAX, Values, quantity

KINDS = ("constant", "curve", "linear", "hpl", "hplplus10", "extracted")
HPL_TERMS, TEN, LEAST_MEASURED, LEAST_CYLINDERS = 6, 10, 2, 2
_ROW = re.compile(r"^\s*(\d+)\s*[,\s]\s*([\d.]+)(.*)$", re.MULTILINE)
SINGLE, AVERAGE, FULL = "Single cylinder seek time", "Average seek time", "Full strobe seek time"
IGNORED = "the seek type has the times"


def seek_ms(mechanics: Block, given: Values, cylinders: int) -> tuple[float, float, float]:
    """Return the milliseconds of a seek of one cylinder, of the mean one and of the full stroke.

    Parameters
    ----------
    mechanics
        The ``dm_mech_g1``.
    given
        Its single values.
    cylinders
        Of the disk. The mean is over all pairs of different ones.

    Raises
    ------
    ConfigError
        If a value or a file of times is missing or wrong.
    """
    if cylinders < LEAST_CYLINDERS:
        raise ConfigError(f"{given.where}: {cylinders} cylinders have no seek between them")
    kind = given.choose("Seek type", {each: each for each in KINDS})
    if kind == "constant":
        constant = given.take("Constant seek time", quantity)
        return constant, constant, constant
    if kind == "curve":
        single, mean, full = (given.take(each, quantity) for each in (SINGLE, AVERAGE, FULL))
        return single, mean, full
    if kind == "linear":
        single, full = given.take(SINGLE, quantity), given.take(FULL, quantity)
        rise = (full - single) / max(1, cylinders - 2)
        times = [single + rise * (distance - 1) for distance in range(1, cylinders)]
    elif kind == "extracted":
        times = _measured(mechanics, given, cylinders)
    else:
        times = _of_hpl(mechanics, cylinders, ten=kind == "hplplus10")
    given.without_meaning(dict.fromkeys((SINGLE, AVERAGE, FULL), IGNORED))
    mean = _mean(times)
    given.account.note(f"seeks: {_deviation(times, mean)}")
    return times[0], mean, times[-1]


def _mean(times: list[float]) -> float:
    """Return the mean over all pairs of cylinders, of which more are near each other."""
    cylinders = len(times) + 1
    weighted = sum((cylinders - distance) * ms for distance, ms in enumerate(times, start=1))
    return 2 * weighted / (cylinders * (cylinders - 1))


def _deviation(times: list[float], mean: float) -> str:
    """Word how far the simulator's curve is from that of the file.

    It has two branches that meet at a third of the stroke, of a root and of a line, through the
    first time, the mean and the last. So it is a sum of three curves, each 1 at one of its ends.
    """
    last = len(times)
    knee = last / 3
    rise = max(math.sqrt(knee) - 1, 1e-9)
    shares = [
        (min(1.0, (math.sqrt(each) - 1) / rise) if each < knee else (last - each) / (last - knee))
        for each in range(1, last + 1)
    ]
    plain = [times[0] if each < knee else times[-1] for each in range(1, last + 1)]
    fixed = [end * (1 - share) for end, share in zip(plain, shares, strict=True)]
    height = (mean - _mean(fixed)) / max(_mean(shares), 1e-9)
    off = [
        abs(ms - start - height * share)
        for ms, start, share in zip(times, fixed, shares, strict=True)
    ]
    return f"the curve here is {_mean(off):.2f} ms off in the mean, {max(off):.2f} ms at most"


def _of_hpl(mechanics: Block, cylinders: int, *, ten: bool) -> list[float]:
    """Return HP Labs' equation: a root below V1 cylinders, a line from there on."""
    name = "HPL seek equation values"
    knee, short, root, long, slope, single = _numbers(mechanics, name, HPL_TERMS)
    times = [
        short + root * math.sqrt(distance) if distance < knee else long + slope * distance
        for distance in range(1, cylinders)
    ]
    if single >= 0:
        times[0] = single
    if ten:
        first = _numbers(mechanics, "First ten seek times", TEN)
        times = [*first, *times[len(first) :]][: len(times)]
    return times


def _numbers(mechanics: Block, name: str, count: int) -> list[float]:
    values = mechanics.settings.get(name)
    numbers = [each for each in values if isinstance(each, str)] if isinstance(values, list) else []
    try:
        found = [float(each) for each in numbers]
    except ValueError:
        found = []
    if len(found) != count or not all(abs(each) <= QUANTITY_MAX for each in found):
        raise ConfigError(f"{mechanics.where}: {name} are not {count} numbers")
    return found


def _measured(mechanics: Block, given: Values, cylinders: int) -> list[float]:
    """Interpolate between measured times, as DiskSim does."""
    file = given.take("Full seek curve", str)
    path = str(Path(mechanics.path).parent / file)
    try:
        rows = _ROW.findall(file_text(path))
    except SsdscopeError as error:
        raise ConfigError(
            f"{mechanics.where}: Full seek curve: {error.message}",
            hint="the files that a file of DiskSim names must lie beside it",
        ) from None
    if len(rows) < LEAST_MEASURED:
        raise ConfigError(
            f"{path}: holds {len(rows)} seek times; expected lines of cylinders and milliseconds"
        )
    try:
        measured = sorted((int(row[0]), quantity(row[1])) for row in rows)
    except ValueError:
        raise ConfigError(f"{path}: a seek time is no number") from None
    if any(re.search(r"\d", row[2]) for row in rows):
        given.account.note(f"{file}: further columns, as of deviations and of writes, are left out")
    given.account.note(f"{file}: {len(rows)} measured seeks")
    return [_between(measured, distance) for distance in range(1, cylinders)]


def _between(measured: list[tuple[int, float]], distance: int) -> float:
    at = bisect_left(measured, (distance, 0.0))
    if at == 0 or at == len(measured):
        return measured[min(at, len(measured) - 1)][1]
    (low, before), (high, after) = measured[at - 1], measured[at]
    return before + (after - before) * (distance - low) / (high - low) if high > low else after

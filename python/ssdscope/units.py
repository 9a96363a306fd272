"""Sizes, times, percentages and lists as people write them.

Sizes are binary (``4k`` = ``4KiB`` = 4,096 bytes, as fio reads ``k``). What has two readings
is refused with both: ``4KB``, a share without ``%``, a time without a unit but where the option
is fio's, and so has fio's unit. Results are exact
integers of bytes and nanoseconds; nothing passes through floating point.
"""

import re
from fractions import Fraction

from ssdscope.errors import UsageError

KIB, MIB, GIB = 1024, 1024**2, 1024**3

_NUMBER = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[^\W\d_]*|%)")
_SIZE_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_TIME_UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
_MAX_INTEGER = 2**63 - 1
_WHOLE_BELOW = 1e15
_LEAST_PERCENT = 0.0001
"""Larger floats have no digits to tell that they are whole by."""


def parse_size(text: str) -> int:
    """Read a size in bytes.

    Parameters
    ----------
    text
        ``4096``, ``4k``, ``4K``, ``4KiB``, ``1.5g``.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    UsageError
        If the text is no size, is no whole number of bytes, or can be read two ways.

    Examples
    --------
    >>> parse_size("4k"), parse_size("1.5m")
    (4096, 1572864)
    """
    number, unit = _split(text, "a size", "write it as 4096, 4k, 64KiB, 1m or 1.5g")
    prefix = unit.lower().removesuffix("ib") if unit.lower().endswith("ib") else unit.lower()
    if prefix.endswith("b") and prefix[:-1] in _SIZE_POWERS and prefix != "b":
        raise _two_sizes(text, number, _SIZE_POWERS[prefix[:-1]])
    prefix = {"b": ""}.get(prefix, prefix)
    if prefix not in _SIZE_POWERS:
        raise UsageError(
            f"{text!r} is not a size: unit {unit!r} is unknown",
            hint="use k, m, g, t or p (powers of 1024), as in 4k, 64KiB or 1g",
        )
    return _whole(text, number * 1024 ** _SIZE_POWERS[prefix], "bytes")


def parse_duration(text: str, *, bare: str | None = None) -> int:
    """Read a time span in nanoseconds.

    Parameters
    ----------
    text
        ``10s``, ``500ms``, ``80us``, ``2m`` (minutes), ``1h``. ``0`` needs no unit.
    bare
        The unit of a number that has none; refused without one.

    Returns
    -------
    int
        Nanoseconds.

    Raises
    ------
    UsageError
        If the text is no time or has no unit.

    Examples
    --------
    >>> parse_duration("80us")
    80000
    """
    number, unit = _split(text, "a time", "write it as 10s, 500ms, 80us or 2m")
    unit = unit or bare or ""
    if not unit:
        if number == 0:
            return 0
        raise UsageError(
            f"{text!r} is not a time: it has no unit",
            hint=f"write {text}us, {text}ms, {text}s or {text}m (minutes)",
        )
    if unit.lower() not in _TIME_UNITS_NS:
        raise UsageError(
            f"{text!r} is not a time: unit {unit!r} is unknown",
            hint="use ns, us, ms, s, m (minutes), h or d, as in 10s or 80us",
        )
    return _whole(text, number * _TIME_UNITS_NS[unit.lower()], "nanoseconds")


def parse_seconds(text: str) -> int:
    """Read a time span as `parse_duration` does; a number alone is seconds, as of fio's runtime."""
    return parse_duration(text, bare="s")


def parse_microseconds(text: str) -> int:
    """Read a time span as `parse_duration` does; a number alone is us, as of fio's thinktime."""
    return parse_duration(text, bare="us")


def parse_percent(text: str) -> float:
    """Read a share written as a percentage.

    Parameters
    ----------
    text
        ``5%``, ``12.5%``.

    Returns
    -------
    float
        The share: 0.05 for ``5%``.

    Raises
    ------
    UsageError
        If the percent sign is missing or the text is no number.
    """
    number, unit = _split(text, "a percentage", "write it as 5%")
    if unit == "":
        raise UsageError(
            f"{text!r} has no % sign: it can be read as {text}% or as {float(number * 100):g}%",
            hint=f"write {text}% or {float(number * 100):g}%",
        )
    if unit != "%":
        raise UsageError(f"{text!r} is not a percentage", hint="write it as 5%")
    return float(number / 100)


def parse_whole_percent(text: str) -> int:
    """Read a whole percentage of 0 to 100 whose option name says percent: ``70`` or ``70%``.

    Raises
    ------
    UsageError
        If it is not a whole number from 0 to 100.
    """
    digits = text.strip().removesuffix("%")
    if not digits.isascii() or not digits.isdigit() or int(digits) > 100:
        raise UsageError(f"{text!r} is not a whole percentage from 0 to 100", hint="write it as 70")
    return int(digits)


def parse_sizes(text: str) -> list[int]:
    """Read a list of sizes or counts (``1k,4k,16k``), or a range in doublings (``1k:64k``).

    Returns
    -------
    list of int
        Bytes or counts, in the order written.

    Raises
    ------
    UsageError
        If a part is no size, or the range does not end on a doubling of its start.
    """
    if ":" not in text:
        return [parse_size(part) for part in text.split(",")]
    low_text, _, high_text = text.partition(":")
    low, high = parse_size(low_text), parse_size(high_text)
    values = [low]
    while 0 < values[-1] < high:
        values.append(values[-1] * 2)
    if values[-1] != high:
        raise UsageError(
            f"{text!r} is not a range: doubling {low_text} never meets {high_text}",
            hint="a range goes up by doubling, as in 1k:64k; list other values, as in 1k,3k",
        )
    return values


def parse_count(text: str) -> int:
    """Read a positive whole number; commas and underscores between digits are not taken.

    Raises
    ------
    UsageError
        If it is not one.
    """
    if not re.fullmatch(r"[0-9]+", text.strip()) or int(text) == 0 or int(text) > _MAX_INTEGER:
        raise UsageError(f"{text!r} is not a positive whole number", hint="write it as 1 or 20000")
    return int(text)


def format_size(size_bytes: int) -> str:
    """Write bytes so that `parse_size` reads the same number back: ``4k``, ``1g``, ``4097``."""
    for prefix, power in reversed(_SIZE_POWERS.items()):
        if power and size_bytes and size_bytes % 1024**power == 0:
            return f"{size_bytes // 1024**power}{prefix}"
    return str(size_bytes)


def format_binary(size_bytes: float, digits: int = 3) -> str:
    """Write bytes for people in powers of 1024, with so many digits: ``16 KiB``."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes >= scale:
            return f"{significant(size_bytes / scale, digits)} {unit}"
    return f"{size_bytes:g} B"


def significant(number: float, digits: int = 3) -> str:
    """Write so many digits, without an exponent where a reader would not write one."""
    text = f"{number:.{digits}g}"
    return f"{number:,.0f}" if "e" in text and 1 <= abs(number) < 1e15 else text


def format_duration(duration_ns: float) -> str:
    """Write a time for people, in the largest unit that keeps it at or above one."""
    if abs(duration_ns) >= 1e12:
        return f"{duration_ns / 1e9:,.0f} s"
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(duration_ns) >= scale:
            return f"{duration_ns / scale:.4g} {unit}"
    return f"{duration_ns:.4g} ns"


def format_capacity(capacity_bytes: int) -> str:
    """Write a capacity as drives are sold, in powers of 1000: ``512.1 GB``."""
    value = float(capacity_bytes)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000:
            return f"{value:.4g} {unit}"
        value /= 1000
    return f"{value:.4g} PB"


def format_number(value: float | str) -> str:
    """Write a number with six digits, whole ones with all they have: sizes are exact; or a word."""
    if isinstance(value, str):
        return value
    whole = abs(value) < _WHOLE_BELOW and float(value).is_integer()
    return f"{value:,.0f}" if whole else f"{value:,.6g}"


def format_percent(share: float) -> str:
    """Write a share in percent, with two digits that count and no exponent.

    Examples
    --------
    >>> format_percent(0.996), format_percent(0.0213), format_percent(12.34), format_percent(1e-9)
    ('100 %', '2.1 %', '1,200 %', 'less than 0.0001 %')
    """
    percent = float(f"{100 * share:.2g}")
    if 0 < percent < _LEAST_PERCENT:
        return f"less than {_LEAST_PERCENT:.4f} %"
    return f"{percent:,.0f} %" if percent >= 10 else f"{percent:.6f}".rstrip("0").rstrip(".") + " %"


def _split(text: str, what: str, hint: str) -> tuple[Fraction, str]:
    """Part number and unit; the unit may be empty."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not {what}", hint=hint)
    return Fraction(match["number"]), match["unit"]


def _whole(text: str, value: Fraction, unit: str) -> int:
    if value.denominator != 1:
        raise UsageError(f"{text!r} is not a whole number of {unit}")
    if value > _MAX_INTEGER:
        raise UsageError(f"{text!r} is too large: at most {_MAX_INTEGER} {unit}")
    return int(value)


def _two_sizes(text: str, number: Fraction, power: int) -> UsageError:
    binary = _whole(text, number * 1024**power, "bytes")
    decimal = _whole(text, number * 1000**power, "bytes")
    return UsageError(
        f"{text!r} can be read as {binary:,} bytes or as {decimal:,} bytes",
        hint=f"write {format_size(binary)} for the first, {decimal} for the second",
    )

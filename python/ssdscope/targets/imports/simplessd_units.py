"""Numbers as SimpleSSD writes them: with a suffix of decimal, binary or time."""

import re

DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
PICOSECONDS = {"": 1, "ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
_NUMBER = re.compile(r"(\d+(?:\.\d*)?)\s*([A-Za-z]*)")
TRUE = ("t", "true", "y", "yes")


def whole(text: str) -> int:
    """Read a whole number: ``512M`` are binary, ``400m`` decimal millions."""
    value, suffix = _parts(text)
    number = value * ({"": 1} | DECIMAL | BINARY)[suffix]
    if not number.is_integer():
        raise ValueError
    return int(number)


def above_zero(text: str) -> int:
    """Read a whole number above 0."""
    number = whole(text)
    if number == 0:
        raise ValueError
    return number


def nanoseconds(text: str) -> float:
    """Read a time, of picoseconds if it has no unit, in nanoseconds."""
    value, suffix = _parts(text)
    return value * PICOSECONDS[suffix] / 1000


def flag(text: str) -> bool:
    """Read a truth value: any number but 0, or a word for yes."""
    return text.lower() in TRUE or (text.isdigit() and int(text) != 0)


def _parts(text: str) -> tuple[float, str]:
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise ValueError
    return float(found[1]), found[2]

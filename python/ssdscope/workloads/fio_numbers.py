"""Numbers, sizes and times as fio writes them in job files.

fio reads ``k``, ``kb`` and ``ki`` as 1,024 and ``kib`` as 1,000 with ``kb_base=1024``, its
default, and the other way round with ``kb_base=1000``: so fio 3.33 does, tried out. It reads
``1.5k`` as 1; here that is refused.
"""

import re

from ssdscope.errors import UsageError

_NUMBER = re.compile(r"(?P<number>0x[0-9a-fA-F]+|[0-9]+)(?P<unit>[a-zA-Z]*)")
_SIZE_UNIT = re.compile(r"(?P<prefix>[kmgtp])(?P<other>i|b|ib)?|b?")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_TIMES_NS = {
    "us": 1_000,
    "usec": 1_000,
    "ms": 1_000_000,
    "msec": 1_000_000,
    "s": 1_000_000_000,
    "sec": 1_000_000_000,
    "m": 60_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
_LARGEST = 2**63 - 1


def fio_bytes(text: str, kb_base: int) -> int:
    """Read a size or a number with fio's suffixes.

    Raises
    ------
    UsageError
        If it is none.
    """
    number, unit = _split(text)
    match = _SIZE_UNIT.fullmatch(unit)
    if match is None:
        raise UsageError(f"{text!r}: the suffix {unit!r} is unknown", hint="as in 4k, 1m, 2g")
    base = 1024 if (kb_base == 1024) != (match["other"] == "ib") else 1000
    return _whole(text, number * base ** _POWERS[match["prefix"] or ""])


def fio_time_ns(text: str, unit_ns: int) -> int:
    """Read a time; without a suffix it counts units of `unit_ns`.

    Raises
    ------
    UsageError
        If it is none.
    """
    number, unit = _split(text)
    if unit and unit not in _TIMES_NS:
        raise UsageError(f"{text!r}: the suffix {unit!r} is unknown", hint="as in 10s, 5ms, 80us")
    return _whole(text, number * (_TIMES_NS[unit] if unit else unit_ns))


def fio_flag(text: str | None) -> bool:
    """Read a switch, which is on where it stands alone.

    Raises
    ------
    UsageError
        If it is neither 0 nor 1.
    """
    if text in (None, "1", "true"):
        return True
    if text in ("0", "false"):
        return False
    raise UsageError(f"{text!r} is neither 0 nor 1")


def _split(text: str) -> tuple[int, str]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a number as fio writes it")
    number = match["number"]
    return int(number, 16 if number.startswith("0x") else 10), match["unit"].lower()


def _whole(text: str, value: int) -> int:
    if value > _LARGEST:
        raise UsageError(f"{text!r} is not a whole number up to {_LARGEST}")
    return value


def fio_split(text: str, kb_base: int) -> list[tuple[int, int]]:
    """Read sizes with shares, ``4k/60:64k/40``, as fio 3.33 draws them.

    Sizes without a share have an equal part of what is left. Shares count from the smallest up to
    a hundred in all: what is missing goes to the largest, and what is above a hundred is cut.

    Returns
    -------
    list of tuple
        Sizes in bytes, in the order of the text, and their shares, which sum to 100.

    Raises
    ------
    UsageError
        If that cannot be read.
    """
    pairs = [part.partition("/") for part in text.split(":")]
    sizes = [fio_bytes(size, kb_base) for size, _, _ in pairs]
    given = [_share(share) if share.strip() else None for _, _, share in pairs]
    left = 100 - sum(share or 0 for share in given)
    absent = given.count(None)
    if absent and left < 0:
        raise UsageError(f"{text!r}: nothing is left for a size without a share")
    shares = [left // absent if share is None else share for share in given]
    drawn, largest, so_far = [0] * len(shares), 0, 0
    for place in sorted(range(len(shares)), key=lambda place: shares[place]):
        drawn[place] = min(shares[place], 100 - so_far)
        so_far += drawn[place]
        largest = place
    drawn[largest] += 100 - so_far
    return list(zip(sizes, drawn, strict=True))


def _share(text: str) -> int:
    if not text.strip().isdigit():
        raise UsageError(f"{text!r} is not a whole percentage", hint="as in 4k/60:64k/40")
    return int(text)

"""Sizes and places that are drawn for each request, as fio spells them."""

from typing import Any

from ssdscope.errors import UsageError, nearest
from ssdscope.units import parse_size, parse_whole_percent
from ssdscope.workloads.workload import BlockShare

DISTRIBUTIONS = {
    "random": "anywhere alike",
    "zipf": "zipf:1.2, a few blocks get most requests, by Zipf's law",
    "pareto": "pareto:0.2, so that 20 % of the blocks get 80 % of the requests",
    "normal": "normal:20, a bell whose middle is so many % of the blocks wide",
    "zoned": "zoned:60/10:40/90, 60 % of the requests in the first 10 % of the region",
    "zoned_abs": "zoned_abs:60/1g:40/7g, the same with sizes",
}
"""Where random requests fall."""
_ZONED_HINT = DISTRIBUTIONS["zoned"]
_SPLIT_HINT = "write sizes with their shares, as in 4k/60:64k/40"


def parse_split(text: str) -> tuple[BlockShare, ...]:
    """Read sizes with shares: ``4k/60:64k/40``; sizes without one share what is left.

    Raises
    ------
    UsageError
        If that cannot be read, or the shares do not sum to 100.
    """
    pairs = [part.partition("/") for part in text.split(":")]
    sizes = [parse_size(size) for size, _, _ in pairs]
    given = [parse_whole_percent(share) if share else None for _, _, share in pairs]
    return tuple(map(BlockShare, sizes, _filled(given, text, _SPLIT_HINT)))


def _filled(given: list[int | None], text: str, hint: str) -> list[int]:
    """Share what is left of a hundred among those without a share, as fio does: evenly."""
    left = 100 - sum(share or 0 for share in given)
    absent = given.count(None)
    if left < 0 or (left and not absent):
        raise UsageError(f"{text!r}: the shares sum to {100 - left} %, not to 100", hint=hint)
    each, more = divmod(left, absent) if absent else (0, 0)
    rest = iter([each + 1] * more + [each] * (absent - more))
    return [next(rest) if share is None else share for share in given]


def parse_distribution(text: str) -> dict[str, Any] | None:
    """Read a distribution in fio's words; None where all places are alike.

    Raises
    ------
    UsageError
        If it is none.
    """
    name, colon, rest = text.partition(":")
    if name not in DISTRIBUTIONS:
        raise UsageError(f"{text!r} is not a distribution", hint=nearest(name, DISTRIBUTIONS))
    if name == "random":
        if colon:
            raise UsageError(f"{text!r}: random takes no number", hint="write random")
        return None
    if not rest:
        raise UsageError(f"{text!r}: a number is missing", hint=DISTRIBUTIONS[name])
    if name in ("zoned", "zoned_abs"):
        return {name: _zones(name, rest)}
    try:
        return {name: float(rest)}
    except ValueError:
        hint = DISTRIBUTIONS[name]
        if ":" in rest:
            hint = "fio's centre is not taken: hot blocks are scattered over the region"
        raise UsageError(f"{text!r}: {rest!r} is not a number", hint=hint) from None


def _zones(name: str, text: str) -> list[dict[str, int]]:
    hint = DISTRIBUTIONS[name]
    if "," in text:
        raise UsageError(
            f"{text!r}: zones of reads and of writes apart are not taken",
            hint='two flows have zones of their own: --flow "rw=randread ..." --flow ...',
        )
    if name == "zoned_abs" and any(not part.partition("/")[2] for part in text.split(":")):
        raise UsageError(f"{text!r}: a size is missing", hint=hint)
    parse = parse_whole_percent if name == "zoned" else parse_size
    zones: list[dict[str, Any]] = []
    for part in text.split(":"):
        share, slash, extent = part.partition("/")
        if not slash:
            raise UsageError(f"{part!r} is not a zone", hint=hint)
        zones.append(
            {"percent": parse_whole_percent(share), "extent": parse(extent) if extent else None}
        )
    if (total := sum(zone["percent"] for zone in zones)) != 100:
        raise UsageError(f"{text!r}: the shares sum to {total} %, not to 100", hint=hint)
    return _spread(zones, text) if name == "zoned" else zones


def _spread(zones: list[dict[str, Any]], text: str) -> list[dict[str, int]]:
    """Share the rest of the region among zones without an extent, as fio does: evenly."""
    absent = [zone for zone in zones if zone["extent"] is None]
    left = 100 - sum(zone["extent"] or 0 for zone in zones)
    if left < 0:
        raise UsageError(f"{text!r}: the zones span {100 - left} % of the region", hint=_ZONED_HINT)
    for zone in absent:
        zone["extent"] = left // len(absent)
    return zones


def parse_rate(text: str) -> int:
    """Read bytes per second: a size, ``1m``, ``500k/s``."""
    return parse_size(text.strip().removesuffix("/s"))


def parse_direct(text: str) -> bool:
    """Read fio's ``direct``, which is always on here.

    Raises
    ------
    UsageError
        If it is not 1.
    """
    if text in ("1", "True", "true"):
        return True
    if text in ("0", "False", "false"):
        raise UsageError(
            "0 asks for the page cache, and a request that it serves measures memory, not a drive",
            hint="leave it out; a file whose file system refuses direct I/O is read with its "
            "pages dropped, and the result says so",
        )
    raise UsageError(f"{text!r} is neither 0 nor 1", hint="write 1, or leave it out")

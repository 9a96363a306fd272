"""What a configuration costs: a sum of prices times amounts, all of which the plan states.

.. code-block:: toml

    [cost]
    fixed = 4.0                              # of every drive
    raw_bytes = "0.05 per 1g"                # of all its flash, spare area included
    "nand.channels" = 1.5                    # of each
    "write_buffer.bytes" = "0.02 per 1m"     # any key of the drive that is a number

Without a price nothing costs anything: there is no default.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssdscope.errors import ConfigError, UsageError, nearest
from ssdscope.search.space import dotted
from ssdscope.units import parse_size

FIXED, RAW = "fixed", "raw_bytes"
_GEOMETRY = (
    "channels", "ways", "dies", "planes", "blocks_per_plane", "pages_per_block", "page_bytes",
)  # fmt: skip


@dataclass(frozen=True)
class Price:
    """What so much of something costs."""

    of: str
    price: float
    per: int = 1


def read_costs(table: Mapping[str, Any], drive: Mapping[str, Any], where: str) -> tuple[Price, ...]:
    """Read the prices.

    Parameters
    ----------
    table
        As the plan has it.
    drive
        A resolved drive of the search, to know its keys by.
    where
        What to call the table in messages.

    Raises
    ------
    ConfigError
        If something has a price that a drive has not, or a price cannot be meant.
    """
    known = amounts(drive)
    prices = []
    for name, value in dotted(table):
        if name not in known:
            raise ConfigError(
                f"{where}.{name}: the drive has no such number to pay for",
                hint=nearest(name, known),
            )
        prices.append(_price(name, value, f"{where}.{name}"))
    return tuple(prices)


def cost_of(prices: tuple[Price, ...], drive: Mapping[str, Any]) -> float:
    """Add up what a resolved drive costs."""
    has = amounts(drive)
    return math.fsum(each.price * has.get(each.of, 0) / each.per for each in prices)


def amounts(drive: Mapping[str, Any]) -> dict[str, float]:
    """List what a drive has that may have a price: its numbers, under their dotted keys."""
    found: dict[str, float] = {FIXED: 1}
    nand = drive.get("nand")
    if isinstance(nand, dict) and all(name in nand for name in _GEOMETRY):
        found[RAW] = math.prod(nand[name] for name in _GEOMETRY)
    return found | {
        key: value
        for key, value in dotted(drive)
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _price(name: str, value: Any, where: str) -> Price:
    hint = 'write a number, or "0.05 per 1g"'
    if isinstance(value, str):
        amount, per, unit = value.partition(" per ")
        try:
            price, size = float(amount), parse_size(unit.strip()) if per else 0
        except (ValueError, UsageError):
            raise ConfigError(f"{where}: {value!r} is no price", hint=hint) from None
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{where}: {value!r} is no price", hint=hint)
    else:
        price, size = float(value), 1
    if size < 1 or not 0 <= price < math.inf:
        raise ConfigError(f"{where}: {value!r} is no price", hint=hint)
    return Price(name, price, size)

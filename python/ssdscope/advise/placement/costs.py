"""The file of costs: what each drive costs, holds and endures, and how many there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssdscope.advise.placement.drives import Drive
from ssdscope.advise.placement.tables import parsed, require_known
from ssdscope.errors import ConfigError, UsageError, nearest
from ssdscope.models.fitted import FittedModel
from ssdscope.targets.opening import read_text
from ssdscope.targets.toml_files import parse_toml
from ssdscope.units import parse_size

KEYS = ("target", "price", "count", "capacity", "endurance", "model")
HINT = (
    'a cost file has a [[drive]] table for each drive: target = "sim:nvme-tlc", price = 90, and '
    'if wanted count = 2, capacity = "500g", endurance = "600t", model = "MODEL.json"'
)


@dataclass(frozen=True)
class Cost:
    """What the file says of one drive."""

    target: str
    price: float
    count: int = 1
    capacity_bytes: int | None = None
    endurance_bytes: int | None = None
    model: str | None = None

    def applied_to(self, drive: Drive) -> Drive:
        """Give the drive with its price and bounds.

        Raises
        ------
        ConfigError
            If it should hold more than it can.
        """
        if self.capacity_bytes is not None and self.capacity_bytes > drive.capacity_bytes:
            raise ConfigError(
                f"the cost file lets {self.target} hold {self.capacity_bytes:,} bytes, and it has "
                f"{drive.capacity_bytes:,}"
            )
        return replace(
            drive,
            price=self.price,
            count=self.count,
            capacity_bytes=self.capacity_bytes or drive.capacity_bytes,
            endurance_bytes=self.endurance_bytes,
            model=None if self.model is None else FittedModel.load(self.model),
        )


def read_costs(path: str) -> list[Cost]:
    """Read a cost file; targets that are files stand relative to it.

    Raises
    ------
    ConfigError
        If it is none; the message has the table and the key.
    """
    document = parse_toml(read_text(path), path, HINT)
    tables = document.get("drive")
    if not isinstance(tables, list) or not tables or document.keys() != {"drive"}:
        raise ConfigError(f"{path} is no cost file", hint=HINT)
    found = [_cost(each, f"{path}: drive {n}", path) for n, each in enumerate(tables, start=1)]
    names = [each.target for each in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{path}: {twice} stands there twice", hint="count = 2 means two of it")
    return found


def files_of(path: str) -> list[str]:
    """List a cost file and what it names."""
    costs = read_costs(path)
    named = [each.target for each in costs if not _is_uri(each.target)]
    return [path, *named, *(each.model for each in costs if each.model)]


def of_drive(costs: Sequence[Cost], name: str) -> Cost:
    """Find what a file says of a drive.

    Raises
    ------
    UsageError
        If it says nothing.
    """
    wanted = _same(name)
    for each in costs:
        if _same(each.target) == wanted:
            return each
    raise UsageError(
        f"the cost file says nothing of {name}",
        hint=nearest(name, [each.target for each in costs]),
    )


def _same(name: str) -> str:
    return name if _is_uri(name) else str(Path(name).resolve())


def _is_uri(name: str) -> bool:
    return ":" in name and not Path(name).exists()


def _cost(table: Any, where: str, path: str) -> Cost:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where} is not a table", hint=HINT)
    require_known(table, KEYS, where)
    target, price, count = table.get("target"), table.get("price"), table.get("count", 1)
    if not isinstance(target, str) or not target:
        raise ConfigError(f"{where}: target is missing or not a text", hint=HINT)
    if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < 1e15:
        raise ConfigError(f"{where} ({target}): price: {price!r} is not a number from 0 up")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ConfigError(f"{where} ({target}): count: {count!r} is not 1 or more")
    model = table.get("model")
    return Cost(
        target=_beside(path, target),
        price=float(price),
        count=count,
        capacity_bytes=_size(table, "capacity", where),
        endurance_bytes=_size(table, "endurance", where),
        model=None if model is None else _beside(path, str(model)),
    )


def _beside(path: str, name: str) -> str:
    """Find what a file names: targets of the grammar as they are, files beside it."""
    return name if ":" in name else str(Path(path).parent / name)


def _size(table: Mapping[str, Any], key: str, where: str) -> int | None:
    if key not in table:
        return None
    size = parsed(table[key], f"{where}: {key}", parse_size)
    if size == 0:
        raise ConfigError(f"{where}: {key}: it is nothing", hint="leave it out if it is unknown")
    return size

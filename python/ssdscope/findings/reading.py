"""Plain data, written and read: what is malformed is refused with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ssdscope.errors import UsageError

HINT = "as `ssdscope probe -o json` and `ssdscope characterize --json` write it"


def refuse(where: str, what: str) -> NoReturn:
    """Refuse a document.

    Raises
    ------
    UsageError
        With the place in it and what was expected there.
    """
    raise UsageError(f"{where}: {what}", hint=HINT)


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """Take an object with keys."""
    if not isinstance(value, Mapping):
        refuse(where, f"expected an object, not {_named(value)}")
    return value


def listed(value: Any, where: str) -> Sequence[Any]:
    """Take a list."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        refuse(where, f"expected a list, not {_named(value)}")
    return value


def chosen(
    value: Any, where: str, required: Iterable[str], optional: Iterable[str]
) -> dict[str, Any]:
    """Take an object that has all keys of one list, and else only those of another."""
    found, required, optional = mapping(value, where), list(required), set(optional)
    for key in required:
        if key not in found:
            refuse(where, f"{key!r} is missing")
    for key in found:
        if key not in required and key not in optional:
            refuse(where, f"{key!r} is not known here")
    return dict(found)


def text(value: Any, where: str) -> str:
    """Take a text."""
    if not isinstance(value, str):
        refuse(where, f"expected a text, not {_named(value)}")
    return value


def number(value: Any, where: str) -> float:
    """Take a number; null is one that was not finite."""
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(where, f"expected a number, not {_named(value)}")
    return value


def numbers(value: Any, where: str) -> tuple[float, ...]:
    """Take a list of numbers."""
    return tuple(number(each, f"{where}[{at}]") for at, each in enumerate(listed(value, where)))


def plain(value: Any) -> Any:
    """Give what JSON has for a value: lists for tuples, plain numbers for those of arrays."""
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def _named(value: Any) -> str:
    named = {type(None): "null", bool: "a truth value", str: "a text", list: "a list"}
    return named.get(type(value), "an object" if isinstance(value, Mapping) else "a number")

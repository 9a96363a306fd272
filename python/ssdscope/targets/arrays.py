"""Presets that are arrays: a target made of other presets, with what differs in them.

Such a drive file has no ``[nand]`` and no ``[disk]``, but a line ``target = "raid0:..."`` and a
table ``[set]`` of the keys in which the members differ from the presets they are.
"""

from dataclasses import dataclass

from ssdscope.errors import ConfigError
from ssdscope.targets.toml_files import parse_toml


@dataclass(frozen=True)
class Array:
    """What the file of an array says.

    Attributes
    ----------
    target
        The array, as any target is written.
    sets
        ``KEY=VALUE`` for all members.
    """

    description: str
    target: str
    sets: tuple[str, ...]


def read_array(text: str, label: str) -> Array | None:
    """Read the file of an array; None for that of a single drive.

    Raises
    ------
    ConfigError
        If it is of an array, but says anything else.
    """
    try:
        document = parse_toml(text, label)
    except ConfigError:
        return None  # the reader of drive files says where, and why
    if "target" not in document:
        return None
    unknown = document.keys() - {"description", "target", "set"}
    target, table = document["target"], document.get("set", {})
    if unknown or not isinstance(target, str) or not isinstance(table, dict):
        raise ConfigError(
            f"{label}: the file of an array has the keys description, target (text) and set (a "
            f"table)" + (f", not {', '.join(sorted(unknown))}" if unknown else "")
        )
    if not target.startswith("raid0:"):
        raise ConfigError(f"{label}: target: {target!r} is no array; write raid0:A,B?chunk=64k")
    return Array(str(document.get("description", "")), target, tuple(_sets(table, "")))


def _sets(table: dict[str, object], prefix: str) -> list[str]:
    """Flatten a table into ``KEY=VALUE``."""
    sets: list[str] = []
    for key, value in table.items():
        if isinstance(value, dict):
            sets += _sets(value, f"{prefix}{key}.")
        else:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            sets.append(f"{prefix}{key}={text}")
    return sets

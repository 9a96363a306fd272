"""The drives that ship with ssdscope: one TOML file each, beside the package."""

import tomllib
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from ssdscope.errors import UsageError, nearest


def preset_names() -> list[str]:
    """List the names, sorted."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in _folder().iterdir()
        if entry.name.endswith(".toml")
    )


def preset_text(name: str) -> str:
    """Read the file of a preset, as it is.

    Raises
    ------
    UsageError
        If there is no such preset; the hint names the nearest ones.
    """
    names = preset_names()
    if name not in names:
        hint = nearest(name, names, listed_by="ssdscope drives list")
        raise UsageError(f"there is no drive named {name!r}", hint=hint)
    return (_folder() / f"{name}.toml").read_text(encoding="utf-8")


def preset_description(name: str) -> str:
    """Read the one-line description of a preset."""
    return str(preset_file(name).get("description", ""))


def preset_file(name: str) -> dict[str, Any]:
    """Read the keys of a preset's file; what it leaves out is not among them."""
    return tomllib.loads(preset_text(name))


def _folder() -> Traversable:
    return resources.files("ssdscope") / "drives"

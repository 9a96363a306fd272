"""Plain values as TOML, so that what is shown can be fed back."""

import json
from typing import Any

from ssdscope.shown import shown


def to_toml(document: dict[str, Any]) -> str:
    """Write nested dictionaries of numbers, strings, booleans and flat lists as TOML.

    None is left out: TOML has no word for "absent" but absence.
    """
    lines: list[str] = []
    _write(document, (), lines)
    return "\n".join(lines).strip("\n")


def _write(values: dict[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    if path:
        lines += ["", f"[{'.'.join(path)}]"]
    tables = {key: value for key, value in values.items() if isinstance(value, dict)}
    for key, value in values.items():
        if key not in tables and value is not None:
            lines.append(f"{key} = {_scalar(value)}")
    for key, value in tables.items():
        _write(value, (*path, key), lines)


def _scalar(value: Any) -> str:
    # JSON and TOML agree on these forms of strings, numbers, booleans and flat lists.
    text = json.dumps(value, ensure_ascii=False)
    return shown(text).replace("\\x7f", "\\u007f")

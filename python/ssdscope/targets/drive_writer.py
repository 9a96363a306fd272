"""A drive file written from values: the one place above Rust that knows how a drive is spelt."""

import json
from collections.abc import Mapping, Sequence

from ssdscope import _native
from ssdscope.errors import ConfigError
from ssdscope.shown import shown_name
from ssdscope.targets.device import Device, native_of, translated_errors

Value = str | int | float | bool


def drive_toml(
    values: Mapping[str, Value | list[int]],
    header: Sequence[str],
    origins: Mapping[str, str] | None = None,
) -> str:
    """Write a drive file.

    Parameters
    ----------
    values
        By dotted key, as ``nand.read_ns``; keys without a dot come first.
    header
        Lines of comment at the top: where the values come from.
    origins
        By dotted key, where that value comes from.

    Returns
    -------
    str
        TOML. Its keys are checked.

    Raises
    ------
    ConfigError
        If the drive could not work; every fault is named.
    """
    lines = [f"# {shown_name(line)}".rstrip() for line in header] + [""]
    tables: dict[str, list[str]] = {"": []}
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        said = f" # {origins[key]}" if origins and key in origins else ""
        tables.setdefault(table, []).append(f"{name} = {json.dumps(value)}{said}")
    for table, rows in tables.items():
        lines += ([f"[{table}]"] if table else []) + rows + [""]
    text = "\n".join(lines)
    faults = _native.check_drive(text, "drive")
    if faults:
        raise ConfigError("\n".join(faults))
    return text


def open_drive(
    text: str,
    label: str,
    seed: int,
    changes: Mapping[str, str] | None = None,
    state: str | None = None,
) -> Device:
    """Open a drive file that is not on disk yet.

    Parameters
    ----------
    text
        TOML.
    label
        What messages call the file.
    seed
        Of the drive.
    changes
        By dotted key, what takes the place of the file's value; written as after ``--set``.
    state
        Of the drive; that of the file if absent.

    Raises
    ------
    ConfigError
        If it has faults, or a change names no key; all of them are told.
    """
    sets = [f"{key}={value}" for key, value in (changes or {}).items()]
    with translated_errors():
        return Device(_native.open_sim(text, label, sets, state, seed))


def open_striped(members: Sequence[Device], chunk_bytes: int) -> Device:
    """Stripe open drives into one; they belong to it from then on.

    Raises
    ------
    SsdscopeError
        If they cannot be striped so.
    """
    with translated_errors():
        return Device(_native.open_raid0(native_of(members), chunk_bytes))

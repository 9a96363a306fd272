"""The drive file of an import, and what is said if such a drive could not work here."""

import re
from collections.abc import Mapping

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value, drive_toml
from ssdscope.targets.imports.reading import Account

_PLACE = re.compile(r"^drive(:\d+)?: ", re.MULTILINE)


def written(
    values: Mapping[str, Value | list[int]],
    account: Account,
    path: str,
    origins: Mapping[str, str] | None = None,
) -> str:
    """Write the drive file, with the account of the file on top.

    Raises
    ------
    ConfigError
        If the drive could not work here; every fault is named, by the drive file's keys.
    """
    try:
        return drive_toml(values, account.header(path), origins)
    except ConfigError as error:
        faults = _PLACE.sub("", error.message)
        raise ConfigError(
            f"{path}: such a drive could not work here: {faults}",
            hint="--override NAME=VALUE changes a value of the file",
        ) from None

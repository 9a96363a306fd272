"""SimpleSSD 1.0's configuration: no sections, and no times but those of its kind of cell."""

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value
from ssdscope.targets.imports.reading import Account, Values, positive, share
from ssdscope.targets.imports.settings_text import settings
from ssdscope.targets.imports.simplessd_names import (
    NO_OLD_MEANING,
    OLD_BASE_MHZ,
    OLD_COMMAND_NS,
    OLD_GEOMETRY,
    OLD_LETTERS,
    OLD_PAGE_BYTES,
    OLD_PAGE_NS,
    OLD_TIMES,
)

ADDRESS_PARTS = 6


def is_one(text: str) -> bool:
    """Say whether a text is a configuration of version 1.0."""
    names = {line.partition("=")[0].strip() for line in text.splitlines()}
    return {"NumChannel", "SizePage", "NANDType"} <= names


def values(text: str, path: str, account: Account) -> dict[str, Value | list[int]]:
    """Return the keys of a drive.

    Raises
    ------
    ConfigError
        If a value is missing or wrong.
    """
    given = Values(path, settings(text, path), account)
    kept = given.take("FTLOP", share)
    found: dict[str, Value | list[int]] = {
        "description": "imported from a configuration of SimpleSSD 1.0",
        "over_provisioning_ratio": 1 / (1 - kept) - 1,
        "ftl.kind": "page",
        "ftl.allocation": "address",
        "gc.low_water_ratio": given.take("FTLGCThreshold", share),
        "host.interface": "nvme",
    }
    found |= {key: given.take(name, positive) for name, key in OLD_GEOMETRY.items()}
    found |= given.choose("NANDType", OLD_TIMES)
    speed = given.take("DMAMhz", positive) / OLD_BASE_MHZ
    found["channel.ns_per_byte"] = OLD_PAGE_NS / OLD_PAGE_BYTES / speed
    for kind, ns in OLD_COMMAND_NS.items():
        found[f"channel.{kind}_command_ns"] = round(ns / speed)
    account.note("the times are SimpleSSD's constants for its kind of cell, NANDType")
    found |= _order(given)
    degree = given.take("SuperblockDegree", positive)
    if degree > 1:
        account.note(f"SuperblockDegree = {degree}: here blocks are collected one by one")
    given.without_meaning(NO_OLD_MEANING)
    given.name_the_rest()
    return found


def _order(given: Values) -> dict[str, Value | list[int]]:
    """Return the order of planes: the last part of an address advances first."""
    names = [f"AddrSeq{number}" for number in range(ADDRESS_PARTS)]
    parts = [given.take(name, str).upper().removeprefix("ADDR_") for name in names]
    letters = [OLD_LETTERS[part] for part in reversed(parts) if part in OLD_LETTERS]
    if sorted(letters) != sorted(OLD_LETTERS.values()):
        raise ConfigError(
            f"{given.where}: AddrSeq0 to AddrSeq5 are {', '.join(parts)}; expected channel, "
            "package, die, plane, block and page, each once"
        )
    if parts.index("PAGE") < ADDRESS_PARTS - 1 if "PAGE" in parts else True:
        given.account.note("AddrSeq: here pages go round all planes before the next of a block")
    return {"ftl.plane_order": "".join(letters)}

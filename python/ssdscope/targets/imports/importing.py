"""Which file it is, told by its content, and what it becomes."""

from collections.abc import Callable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ssdscope.errors import ConfigError, UsageError
from ssdscope.targets.imports import (
    disksim,
    flashsim,
    mqsim_device,
    mqsim_names,
    mqsim_workload,
    simplessd,
    ssdsim,
    xml_text,
)
from ssdscope.targets.imports.file_text import file_text
from ssdscope.targets.imports.options import ImportOptions
from ssdscope.targets.imports.reading import Account, Entry

HINT = (
    "known are MQSim's device and workload XML, DiskSim's .parv, .diskspecs and .model, SSDsim's "
    "page.parameters, SimpleSSD's .cfg and .xml, and FlashSim's ssd.conf"
)
Writer = Callable[[str, str, Account, ImportOptions], str]
TEXT_FORMATS: tuple[tuple[Callable[[str], bool], Writer], ...] = (
    (disksim.is_one, lambda text, path, account, _: disksim.drive(text, path, account)),
    (ssdsim.is_one, lambda text, path, account, _: ssdsim.drive(text, path, account)),
    (simplessd.is_one, lambda text, path, account, _: simplessd.drive(text, path, account)),
    (flashsim.is_one, flashsim.drive),
)
"""What tells that a text is a file of a simulator, and what writes the drive."""


@dataclass(frozen=True)
class Imported:
    """What a file of another simulator became.

    Attributes
    ----------
    kind
        ``drive`` or ``jobs``.
    toml
        A drive file, or a file for ``run --jobs``.
    notes
        What in the file has no meaning here, or another one; each with the reason.
    account
        What became of each value of the file.
    """

    kind: str
    toml: str
    notes: tuple[str, ...]
    account: tuple[Entry, ...] = ()


def import_file(path: str, options: ImportOptions | None = None) -> Imported:
    """Turn a file of another simulator into one of ours.

    Parameters
    ----------
    path
        The file. Files that it names lie beside it.
    options
        What the user says about it.

    Raises
    ------
    UsageError
        If it cannot be read or is of no known kind, or an override names no value of it.
    ConfigError
        If a value is missing or wrong, or the drive could not work here; with its place.
    """
    asked = options or ImportOptions()
    text, account = _text(path), Account(asked.overrides)
    kind, toml = "drive", ""
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        kind, toml = _from_xml(xml_text.parsed(text, path), path, account, asked)
    else:
        for is_one, write in TEXT_FORMATS:
            if is_one(text):
                toml = write(text, path, account, asked)
                break
        else:
            raise UsageError(f"{path} is of no known simulator", hint=HINT)
    account.check_overrides()
    return Imported(kind, toml, tuple(account.notes), tuple(account.entries))


def _from_xml(
    root: Element, path: str, account: Account, options: ImportOptions
) -> tuple[str, str]:
    if root.tag in mqsim_names.ROOTS:
        return "drive", mqsim_device.drive(root, path, account, options)
    if root.tag == mqsim_workload.ROOT:
        return "jobs", mqsim_workload.jobs(root, path, account, options.scenario)
    if root.tag == simplessd.ROOT:
        return "drive", simplessd.drive_of_xml(root, path, account)
    raise UsageError(f"{path}: an XML of <{root.tag}> is no file of a known simulator", hint=HINT)


def _text(path: str) -> str:
    try:
        return file_text(path)
    except ConfigError as error:
        raise ConfigError(error.message, hint=HINT) from None

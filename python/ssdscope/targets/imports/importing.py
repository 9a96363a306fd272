"""Which file it is, told by its content, and what it becomes."""

from dataclasses import dataclass

from ssdscope.errors import ConfigError, UsageError
from ssdscope.targets.imports import disksim, mqsim_device, mqsim_workload, xml_text
from ssdscope.targets.opening import read_text

BYTES_MAX = 16 * 2**20
HINT = (
    "known are MQSim's device and workload XML, and DiskSim's parameter file with an SSD "
    "of Microsoft's extension"
)


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
    """

    kind: str
    toml: str
    notes: tuple[str, ...]


def import_file(path: str, scenario: int = 1) -> Imported:
    """Turn a file of another simulator into one of ours.

    Parameters
    ----------
    path
        The file.
    scenario
        Which of a workload file's scenarios, from 1.

    Raises
    ------
    UsageError
        If it cannot be read or is of no known kind.
    ConfigError
        If a value is missing or wrong, or the drive could not work here; with its place.
    """
    text, notes = _text(path), list[str]()
    if disksim.is_one(text):
        return Imported("drive", disksim.drive(text, path, notes), tuple(notes))
    if text.lstrip().startswith("<"):
        root = xml_text.parsed(text, path)
        if root.tag == mqsim_device.ROOT:
            return Imported("drive", mqsim_device.drive(root, path, notes), tuple(notes))
        if root.tag == mqsim_workload.ROOT:
            jobs = mqsim_workload.jobs(root, path, scenario, notes)
            return Imported("jobs", jobs, tuple(notes))
        raise UsageError(f"{path}: an XML of <{root.tag}> is no file of MQSim", hint=HINT)
    raise UsageError(f"{path} is of no known simulator", hint=HINT)


def _text(path: str) -> str:
    try:
        return read_text(path, BYTES_MAX)
    except ConfigError as error:
        raise ConfigError(error.message, hint=HINT) from None

"""Drives that workloads may be placed on: what they cost and hold, and a simulated one to try."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from ssdscope.errors import UsageError
from ssdscope.models.fitted import FittedModel
from ssdscope.targets import Device, open_target
from ssdscope.targets.drive_writer import open_drive
from ssdscope.targets.endurance import rated_bytes


@dataclass(frozen=True)
class Opened:
    """A simulated drive, open.

    Attributes
    ----------
    flash_bytes
        What its flash takes in all its life; None where nobody says.
    """

    device: Device
    flash_bytes: int | None = None


@dataclass(frozen=True)
class Drive:
    """A kind of drive that can be had.

    Attributes
    ----------
    name
        As it was named.
    capacity_bytes
        Of one, as far as workloads may use it.
    opener
        Opens a simulated drive that stands for it; None if there is none.
    source
        What stands for it: ``simulated``, ``twin``, ``sketch`` or ``model``.
    price
        Of one, in whatever currency; 0 for one that is there already.
    count
        How many can be had.
    endurance_bytes
        Bytes that the host may write to one in its life; None where nobody says.
    model
        A fitted model of it, if there is one.
    """

    name: str
    capacity_bytes: int
    opener: Callable[[], Opened] | None = field(repr=False)
    source: str = "simulated"
    price: float = 0.0
    count: int = 1
    endurance_bytes: int | None = None
    model: FittedModel | None = None

    @cached_property
    def opened(self) -> Opened | None:
        """The simulated drive, opened once."""
        return None if self.opener is None else self.opener()


def of_target(uri: str, *, state: str | None, seed: int) -> Drive:
    """Take a preset or a drive file.

    Raises
    ------
    UsageError
        If it is not simulated.
    """
    target = open_target(uri, state=state, seed=seed)
    if target.device.info.clock != "virtual" or not target.device.info.snapshot:
        raise UsageError(
            f"{uri} is not simulated: workloads are tried on drives that can be copied",
            hint=f"measure it first: ssdscope characterize {uri} --json report.json; then "
            "--on report.json",
        )
    opened = Opened(target.device, rated_bytes(target))
    return Drive(uri, target.capacity_bytes, lambda: opened)


def of_report(
    name: str, capacity_bytes: int, twin_toml: str | None, *, seed: int, sketch: bool = False
) -> Drive:
    """Take a measured drive, by the twin of its report, which may be no more than a sketch."""
    if twin_toml is None:
        return Drive(name, capacity_bytes, None, source="model")
    source = "sketch" if sketch else "twin"
    return Drive(
        name, capacity_bytes, lambda: Opened(open_drive(twin_toml, name, seed)), source=source
    )

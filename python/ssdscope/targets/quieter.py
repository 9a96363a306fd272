"""What of the machine outside the disk's queue would make a measurement quieter: said, never set.

ssdscope sets attributes of a disk's queue alone, by a fixed list and a journal (docs/quiet.md).
Governors, idle states of cores and power states of links and drives belong to the whole machine.
Each comes with the command that sets it until the next start of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_CPU = "/sys/devices/system/cpu/cpu*"
_SHALLOW = ("POLL", "C1", "C1E", "C1_ACPI")
"""Idle states that a core leaves within some microseconds."""
_SHALLOW_US = 10


@dataclass(frozen=True)
class Quieter:
    """One thing that would make measuring quieter.

    Attributes
    ----------
    what
        What it is about.
    now
        What is set.
    command
        Sets it, as root.
    """

    what: str
    now: str
    command: str

    def in_words(self) -> str:
        """Say it in a line."""
        return f"{self.what}: {self.now}; quieter by: {self.command}"

    def to_json(self) -> dict[str, str]:
        """Give it as plain data."""
        return asdict(self)


def quieter(state: Mapping[str, Any]) -> list[Quieter]:
    """List what is not set for measuring, of a state as `machine_state` gives it.

    What this machine does not have, or lets nobody read, is left out.
    """
    found = [
        _of(state, "governors", "governor of the cores", ("performance",),
            f"{_CPU}/cpufreq/scaling_governor"),
        _idle(state),
        _of(state, "aspm_policy", "power states of PCIe links (ASPM)", ("performance",),
            "/sys/module/pcie_aspm/parameters/policy"),
        *_of_disk(state),
    ]  # fmt: skip
    return [each for each in found if each is not None]


def _of_disk(state: Mapping[str, Any]) -> list[Quieter | None]:
    power, disk = state.get("power") or {}, state.get("disk")
    device = f"/sys/block/{disk}/device"
    return [
        _of(power, "apst_us", "the drive's own power states (APST), longest way back in us", ("0",),
            f"{device}/power/pm_qos_latency_tolerance_us"),
        _of(power, "link", "power states of the SATA link (ALPM)", ("max_performance",),
            "/sys/class/scsi_host/host*/link_power_management_policy"),
        _of(power, "control", "suspending of the idle drive", ("on",), f"{device}/power/control"),
    ]  # fmt: skip


def _of(
    values: Mapping[str, Any], key: str, what: str, wanted: tuple[str, ...], path: str
) -> Quieter | None:
    value = values.get(key)
    now = [value] if isinstance(value, str) else value or []
    if not now or set(now) <= set(wanted):
        return None
    return Quieter(what, ", ".join(now), f"echo {wanted[0]} | sudo tee {path}")


def _idle(state: Mapping[str, Any]) -> Quieter | None:
    deep = [name for name in state.get("idle_states") or [] if name not in _SHALLOW]
    if not deep:
        return None
    command = f"sudo cpupower idle-set --disable-by-latency {_SHALLOW_US}"
    return Quieter("idle states of the cores", ", ".join(deep), command)

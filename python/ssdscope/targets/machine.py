"""What of this machine can disturb a measurement: power states, clocks, and the disk's queue.

Read only, and from plain files, so that tests read trees of their own. A file that is not there
is no fault: virtual machines have few of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ssdscope import _native
from ssdscope.targets.attributes import disk_beneath, read_attributes

_CPU = "devices/system/cpu"
_MOST_NAMES = 8


def machine_state(disk: str | None = None, root: str = "/") -> dict[str, Any]:
    """Read what can disturb a measurement.

    Parameters
    ----------
    disk
        The kernel's name of the disk; without it only the machine is read.
    root
        Where ``sys`` and ``proc`` stand.

    Returns
    -------
    dict
        ``clock_source``, ``clock_overhead_ns``, ``governors``, ``idle_states``, ``aspm_policy``,
        ``nvme_power_states``, ``virtual_machine`` and, of a disk, ``disk``, ``power`` and
        ``queue``. None stands for what this machine does not have.
    """
    sys, proc = Path(root) / "sys", Path(root) / "proc"
    clock = sys / "devices/system/clocksource/clocksource0/current_clocksource"
    state: dict[str, Any] = {
        "clock_source": _text(clock),
        "clock_overhead_ns": _native.clock_overhead_ns(),
        "governors": _words((sys / _CPU).glob("cpu[0-9]*/cpufreq/scaling_governor")),
        "idle_states": _idle_states(sys / _CPU / "cpu0/cpuidle"),
        "aspm_policy": _chosen(_text(sys / "module/pcie_aspm/parameters/policy")),
        "nvme_power_states": _nvme_power(sys),
        "virtual_machine": _is_virtual(sys, proc),
    }
    if disk is not None:
        device = sys / "block" / disk / "device"
        state["disk"] = disk
        state["power"] = {
            "control": _text(device / "power/control"),
            "apst_us": _text(device / "power/pm_qos_latency_tolerance_us"),
            "link": _words(device.glob("../../scsi_host/host*/link_power_management_policy")),
        }
        if root == "/":
            state["queue"] = {"disk": disk, **read_attributes(disk)}
    return state


def state_beneath(uri: str) -> dict[str, Any]:
    """Read what can disturb a measurement of that target."""
    return machine_state(disk_beneath(uri))


def _idle_states(folder: Path) -> list[str] | None:
    """Name the states that a core may rest in; those that are switched off are left out."""
    states = sorted(folder.glob("state[0-9]*"))
    names = [_text(each / "name") for each in states if _text(each / "disable") != "1"]
    return [name for name in names if name] if states else None


def _nvme_power(sys: Path) -> str | None:
    """Say whether NVMe drives may rest by themselves (APST): the longest way back allowed."""
    longest = _text(sys / "module/nvme_core/parameters/default_ps_max_latency_us")
    if longest is None:
        return None
    return "off" if longest == "0" else f"up to {longest} us to wake"


def _is_virtual(sys: Path, proc: Path) -> bool:
    """Whether a host may take the cores away."""
    kind = _text(sys / "hypervisor/type")
    flags = (_text(proc / "cpuinfo") or "").partition("flags")[2].partition("\n")[0].split()
    return kind is not None or "hypervisor" in flags


def _chosen(text: str | None) -> str | None:
    """Take the word in brackets, which is in force."""
    return None if text is None else text.partition("[")[2].partition("]")[0] or text


def _words(files: Iterable[Path]) -> list[str] | None:
    found = {text for each in files if (text := _text(each))}
    return sorted(found)[:_MOST_NAMES] or None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None

"""Why a property cannot be told: the closed list of reasons, and what each means in words.

A refusal says what was seen and what would help. Both depend on where it was met: nobody can make
a simulated drive's machine quieter, and no file has a write cache that we could switch off. The
table in docs/probes.md holds the same reasons; a test compares the two.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Self

from ssdscope.findings import reading


class Reason(StrEnum):
    """Why a property cannot be told; a closed list."""

    WRITE_ACKED_FROM_BUFFER = "write_acked_from_buffer"
    CACHE_NOT_CONTROLLABLE = "cache_not_controllable"
    PLP_NO_FLUSH_EFFECT = "plp_no_flush_effect"
    EFFECT_BELOW_NOISE = "effect_below_noise"
    INTERFERENCE = "interference"
    MACHINE_BUSY = "machine_busy"
    REQUEST_SPLIT = "request_split"
    LINK_BOUND = "link_bound"
    BUDGET_EXHAUSTED = "budget_exhausted"
    RANGE_TOO_SMALL = "range_too_small"
    NOT_A_RAW_DEVICE = "not_a_raw_device"
    NOT_WRITABLE = "not_writable"
    DEVICE_ERRORS = "device_errors"
    MASKED = "masked"
    MODEL_MISFIT = "model_misfit"
    NOT_SUPPORTED = "not_supported"


@dataclass(frozen=True)
class Where:
    """Where a refusal was met, as far as it decides which words are true.

    Attributes
    ----------
    kind
        Of the target, as in `DeviceInfo`.
    virtual
        Whether time is simulated.
    full
        Whether the budget was ``full``.
    left_out
        Probes that look for the same property and only run with a full budget.
    """

    kind: str = "block"
    virtual: bool = False
    full: bool = False
    left_out: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self) | {"left_out": list(self.left_out)}

    @classmethod
    def from_json(cls, value: Any, where: str) -> Self:
        """Read it; what is not there is as of a block device."""
        found = reading.chosen(value, where, (), (each.name for each in fields(cls)))
        left = reading.listed(found.pop("left_out", []), f"{where}.left_out")
        return cls(**found, left_out=tuple(reading.text(each, where) for each in left))


@dataclass(frozen=True)
class Words:
    """What a reason means.

    Attributes
    ----------
    seen
        What was seen; a detail may follow behind a colon.
    helps
        What would help on a real drive.
    simulated, file, block
        What would help on a simulated drive, a file and a block device, where that is another.
    full
        What would help anywhere if the budget was ``full``, where that is another.
    """

    seen: str
    helps: str
    simulated: str | None = None
    file: str | None = None
    block: str | None = None
    full: str | None = None

    def what_would_help(self, where: Where) -> str:
        """Give what would help there."""
        if where.full and self.full is not None:
            return self.full
        if where.virtual and self.simulated is not None:
            return self.simulated
        real = {"file": self.file, "block": self.block}
        return real.get(where.kind) or self.helps


_LEAVE = "--destroy-data with the token that `ssdscope doctor --identify` prints"
_NO_SWITCH = (
    "nothing on a drive that takes no command to switch it; SCSI, SATA and NVMe disks, opened as "
    "root, may take one"
)
_BURSTS = "bursts at depth that last longer than the buffer"
_MORE_TIME = "more time, as --budget full:2h, which measures more often"

WORDS: dict[Reason, Words] = {
    Reason.WRITE_ACKED_FROM_BUFFER: Words(
        "writes end as soon as a buffer has taken them, and it cannot be switched off",
        helps=_NO_SWITCH,
        simulated=f"{_BURSTS}, as larger budgets send them: nobody can switch this one off",
    ),
    Reason.CACHE_NOT_CONTROLLABLE: Words(
        "a cache that cannot be switched off may answer in place of the drive's inside",
        helps=_NO_SWITCH,
        simulated="nothing that is sure: this drive lets nobody switch that cache off",
    ),
    Reason.PLP_NO_FLUSH_EFFECT: Words(
        "a flush behind writes takes no time: the write cache is protected and need not be emptied",
        helps=f"{_BURSTS}, as larger budgets send them",
        full=f"{_BURSTS}, which show more in more time, as --budget full:2h, but not surely",
    ),
    Reason.EFFECT_BELOW_NOISE: Words(
        "{sign} does not stand out from the scatter of what was measured",
        helps="a larger budget, which measures more often, or a quieter machine",
        simulated="a larger budget, which measures more often, or another --seed: other places",
        full=_MORE_TIME,
    ),
    Reason.INTERFERENCE: Words(
        "something else kept the drive busy while it was measured",
        helps="stop whatever else uses the drive or the machine, then repeat",
        simulated="a drive file without others at work ([disturbance]), if it has any",
    ),
    Reason.MACHINE_BUSY: Words(
        "the machine was busy",
        helps="stop what else runs on this machine (docs/quiet.md), then repeat",
    ),
    Reason.REQUEST_SPLIT: Words(
        "requests did not reach the drive as they were made",
        helps="a larger max_sectors_kb of the disk's queue, as far as max_hw_sectors_kb allows",
    ),
    Reason.LINK_BOUND: Words(
        "requests wait for each other wherever they are, and hide what works side by side",
        helps="a faster link to the drive, if it is the link that they wait for",
        simulated="a drive file with a faster link ([host]), if it is the link that they wait for",
    ),
    Reason.BUDGET_EXHAUSTED: Words(
        "not tried: what its probe may spend is used up",
        helps="a larger budget",
        full="a full budget with more time, as --budget full:2h",
    ),
    Reason.RANGE_TOO_SMALL: Words(
        "the target holds too few units of what is looked for to tell them apart",
        helps="a larger drive",
        file="a larger file",
        block="a larger drive, or by --offset and --size a larger window",
    ),
    Reason.NOT_A_RAW_DEVICE: Words(
        "there is no drive behind this target",
        helps="a target with a drive behind it, such as a file or sim:mqsim-8g",
    ),
    Reason.NOT_WRITABLE: Words(
        "the probe writes, and the target is open for reading only",
        helps="a target that is open for writing",
        file=_LEAVE,
        block=_LEAVE,
    ),
    Reason.DEVICE_ERRORS: Words(
        "requests failed while it was measured",
        helps="look at the error log of the drive, and of the kernel",
        simulated="a drive file without faults ([disturbance]), or a drive that is not worn out",
    ),
    Reason.MASKED: Words(
        "another mechanism of the drive hides it, or looks the same",
        helps="nothing that is sure: what hides it is part of the drive",
    ),
    Reason.MODEL_MISFIT: Words(
        "what was measured does not have the shape that defines it",
        helps="nothing that is sure; the page shows what was measured",
    ),
    Reason.NOT_SUPPORTED: Words(
        "the target refuses a command that this needs",
        helps="a drive, and a system, that pass the command on",
        simulated="another drive: this one does not know the command",
        file="a file on a file system that takes the command, as ext4 and xfs take discards",
    ),
}
"""Every reason in words."""


def what_was_seen(reason: Reason, sign: str, detail: str | None = None) -> str:
    """Say what a probe saw that refuses to answer.

    Parameters
    ----------
    reason
        Of the refusal.
    sign
        What the property shows by.
    detail
        What the probe has to add.
    """
    seen = WORDS[reason].seen.format(sign=sign)
    return f"{seen}: {detail}" if detail else seen


def what_would_help(reason: Reason, where: Where) -> str:
    """Say what the user can change to get an answer there."""
    if where.kind == "null":
        reason = Reason.NOT_A_RAW_DEVICE
    helps = WORDS[reason].what_would_help(where)
    if where.left_out and reason in (Reason.EFFECT_BELOW_NOISE, Reason.BUDGET_EXHAUSTED):
        return f"--budget full, which also runs {' and '.join(where.left_out)}"
    return helps

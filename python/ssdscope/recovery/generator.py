"""Random drives: all translation layers, all mechanisms, sizes that are not powers of two.

A draw that cannot work (say, spare space for fewer blocks than collection needs) is thrown away
and drawn again; how often is told.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ssdscope.errors import ConfigError
from ssdscope.recovery.dice import Dice
from ssdscope.recovery.firmware import CAPACITY_BYTES, draw_firmware
from ssdscope.recovery.hardware import draw_chips, draw_disturbance, draw_link
from ssdscope.recovery.memory import draw_map, draw_read_cache, draw_write_buffer
from ssdscope.recovery.shape import shape_of
from ssdscope.targets.device import Device
from ssdscope.targets.drive_writer import Value, drive_toml, open_drive

Filed = Mapping[str, Value | list[int]]
"""What a drive file says, by key."""

DRAWS_MAX = 1000
_NOISE = ("disturbance.noise_sigma", "disturbance.spike_ratio", "disturbance.spike_ns")
_DRIVES, _FLAT = 1, 2
"""Streams of their own, so that flat drives do not shift the others."""


@dataclass(frozen=True)
class Drawn:
    """A drive that was drawn.

    Attributes
    ----------
    seed, index
        Of the study, and of the drive within it: what repeats it.
    values
        What is inside, by key of a drive file.
    disturbance
        What makes its latencies uncertain, likewise.
    flat
        Whether it has nothing to be found.
    redraws
        Draws before this one that no drive can have.
    """

    seed: int
    index: int
    values: Mapping[str, Value]
    disturbance: Mapping[str, Value]
    flat: bool
    redraws: int

    @property
    def label(self) -> str:
        """What `--only` takes."""
        return f"{self.seed}:{self.index}{'f' if self.flat else ''}"

    def filed(self) -> Filed:
        """Give what the drive file says of the inside."""
        return self.values

    def open(self) -> Device:
        """Open the drive, for whoever sees its device alone."""
        return open_drive(self.toml(), "drawn", self.index)

    def open_twin(self, *, noisy: bool) -> Device:
        """Open it undisturbed, or with noise and spikes alone."""
        toml = self.noisy_toml() if noisy else self.twin_toml()
        return open_drive(toml, "twin", self.index)

    def toml(self) -> str:
        """Write its drive file."""
        return drive_toml({**self.filed(), **self.disturbance}, [f"drawn: {self.label}"])

    def twin_toml(self) -> str:
        """Write the file of the same drive without noise, spikes, drift and others' I/O."""
        return drive_toml(self.filed(), [f"drawn: {self.label}, undisturbed"])

    def noisy_toml(self) -> str:
        """Write the file of the same drive with noise and spikes alone."""
        alone = {key: value for key, value in self.disturbance.items() if key in _NOISE}
        return drive_toml({**self.filed(), **alone}, [f"drawn: {self.label}, with noise alone"])


def draw(seed: int, index: int = 0) -> Drawn:
    """Draw a drive of a study.

    Raises
    ------
    RuntimeError
        If no drive came out valid: the generator is wrong.
    """
    dice = Dice(seed, _DRIVES, index)
    for redraws in range(DRAWS_MAX):
        values = _draw_values(dice)
        if values is not None and works(values):
            return Drawn(seed, index, values, draw_disturbance(dice), flat=False, redraws=redraws)
    raise RuntimeError(f"no valid drive in {DRAWS_MAX} draws of {seed}:{index}")


def draw_flat(seed: int, index: int = 0) -> Drawn:
    """Draw a drive whose latency is constant, or linear in size, and in which nothing is to find.

    Its chips are as fast as memory, so that placement, small writes and collection cost nothing;
    what takes time is the link alone.
    """
    dice = Dice(seed, _FLAT, index)
    block = dice.pick((512, 4096))
    capacity = dice.log_uniform(CAPACITY_BYTES[0], CAPACITY_BYTES[1] / 4)
    values: dict[str, Value] = {
        "default_state": "sequential",
        "over_provisioning_ratio": 0.25,
        "nand.channels": 4,
        "nand.pages_per_block": 8,
        "nand.page_bytes": 16_384,
        "nand.blocks_per_plane": round(1.25 * capacity / (4 * 8 * 16_384)),
        "nand.read_ns": 0,
        "nand.program_ns": 0,
        "nand.erase_ns": 0,
        "nand.endurance_erases": 1_000_000_000,
        "channel.ns_per_byte": 0.001,
        "host.logical_block_bytes": block,
        "host.command_ns": round(dice.log_uniform(20_000, 2_000_000)),
        "host.bytes_per_second": 1e15 if dice.chance(0.3) else dice.log_uniform(30e6, 2e9),
        "ftl.kind": "page",
    }
    return Drawn(seed, index, values, draw_disturbance(dice), flat=True, redraws=0)


def _draw_values(dice: Dice) -> dict[str, Value] | None:
    values = draw_chips(dice) | draw_link(dice)
    firmware = draw_firmware(dice, values)
    if firmware is None:
        return None
    if firmware["ftl.kind"] == "log-block":
        del values["nand.bits_per_cell"]
    values |= firmware | {"default_state": "sequential"}
    low, high = CAPACITY_BYTES
    if not low <= shape_of(values).capacity_bytes <= high:
        return None
    for part in (draw_write_buffer, draw_read_cache, draw_map):
        values |= part(dice, values)
    return values


def works(values: Filed) -> bool:
    """Whether a drive file of these values has no fault."""
    try:
        drive_toml(values, [])
    except ConfigError:
        return False
    return True

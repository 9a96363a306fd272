"""Draws the chips, the channels and the host link of a drive."""

from ssdscope.recovery.dice import Dice
from ssdscope.targets.drive_writer import Value

MIB = 1 << 20

_CELLS = {
    # bits per cell: read, program, erase in nanoseconds, as data sheets of their kinds have them
    1: ((20_000, 40_000), (200_000, 350_000), (1_000_000, 2_000_000)),
    2: ((45_000, 70_000), (600_000, 1_000_000), (2_000_000, 3_500_000)),
    3: ((55_000, 95_000), (660_000, 1_500_000), (3_000_000, 6_000_000)),
}


def draw_chips(dice: Dice) -> dict[str, Value]:
    """Draw channels, chips and cells; how many blocks there are is decided with the spare."""
    bits = dice.pick((1, 2, 3))
    read, program, erase = _CELLS[bits]
    values: dict[str, Value] = {
        "nand.channels": dice.pick((1, 2, 3, 4, 4, 6, 8)),
        "nand.ways": dice.pick((1, 1, 2, 2, 3)),
        "nand.dies": dice.pick((1, 1, 2)),
        "nand.planes": dice.pick((1, 1, 2, 3, 4)),
        "nand.pages_per_block": dice.pick((48, 64, 96, 128, 192)),
        "nand.page_bytes": dice.pick((2048, 4096, 4096, 8192, 16384)),
        "nand.read_ns": round(dice.log_uniform(*read)),
        "nand.program_ns": round(dice.log_uniform(*program)),
        "nand.erase_ns": round(dice.log_uniform(*erase)),
        "nand.bits_per_cell": bits,
        "nand.endurance_erases": 1_000_000,
        "channel.ns_per_byte": dice.log_uniform(0.8, 12.0),
        "channel.read_command_ns": dice.whole(0, 500),
        "channel.program_command_ns": dice.whole(0, 500),
        "scheduler.way_interleave": not dice.chance(0.25),
        "scheduler.die_interleave": not dice.chance(0.25),
        "scheduler.multi_plane": not dice.chance(0.25),
        # So that a seed draws the drives that it drew before there was this key.
        "scheduler.data_first": True,
    }
    return values


def draw_link(dice: Dice) -> dict[str, Value]:
    """Draw the host link and what the firmware takes for a command."""
    kind = dice.pick(("simple", "sata", "nvme"))
    values: dict[str, Value] = {
        "host.interface": kind,
        "host.logical_block_bytes": dice.pick((512, 4096)),
        "host.firmware_ns": dice.whole(500, 8_000),
    }
    if kind == "nvme":
        values["host.lanes"] = dice.pick((1, 2, 4))
        values["host.queue_depth"] = dice.pick((64, 256, 1024))
    else:
        values["host.command_ns"] = dice.whole(1_000, 20_000)
        values["host.bytes_per_second"] = dice.pick((150e6, 300e6, 600e6))
        values["host.queue_depth"] = dice.pick((1, 32, 32, 32))
    return values


def draw_disturbance(dice: Dice) -> dict[str, Value]:
    """Draw what makes a measurement uncertain: noise and spikes always, drift and others' I/O."""
    values: dict[str, Value] = {
        "disturbance.noise_sigma": dice.uniform(0.02, 0.15),
        "disturbance.spike_ratio": dice.uniform(0.0, 0.02),
        "disturbance.spike_ns": round(dice.log_uniform(100_000, 2_000_000)),
    }
    if dice.chance(0.4):
        values["disturbance.drift_ratio"] = dice.uniform(0.02, 0.3)
        values["disturbance.drift_period_ns"] = round(dice.log_uniform(1e9, 1e11))
    if dice.chance(0.3):
        values["disturbance.foreign_iops"] = dice.whole(1, 50)
        values["disturbance.foreign_bytes"] = dice.pick((4096, 16_384, 65_536))
        values["disturbance.foreign_write_ratio"] = dice.pick((0.0, 0.0, 0.3))
        on_ns = round(dice.log_uniform(1e8, 1e10))
        values["disturbance.foreign_on_ns"] = on_ns
        values["disturbance.foreign_off_ns"] = round(on_ns * dice.uniform(4.0, 20.0))
    return values

"""Draws targets without flash: hard disks, arrays of them, the null device, regular files.

Nothing of what a flash drive has may be found on them. A file is read and written on whatever the
machine has beneath it, so its answers, unlike all others of the study, may differ from run to run.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ssdscope.recovery.dice import Dice
from ssdscope.recovery.generator import DRAWS_MAX, works
from ssdscope.recovery.hardware import draw_disturbance
from ssdscope.recovery.sources import Source
from ssdscope.targets.device import Device
from ssdscope.targets.drive_writer import Value, drive_toml, open_drive, open_striped
from ssdscope.targets.opening import identify, open_target

KIB = 1 << 10
MIB = 1 << 20
KINDS = ("disk", "like", "disk", "file", "disk", "unlike", "disk", "null", "like", "file")
"""In turn: of twenty targets two are null devices, and four are files."""
DISK_BYTES = (512 * MIB, 16_384 * MIB)
FILE_BYTES = (64 * MIB, 256 * MIB)
CHUNKS_BYTES = (16 * KIB, 64 * KIB, 128 * KIB, 512 * KIB)
_STREAM = 4
_SECTOR_BYTES = 512


@dataclass(frozen=True)
class WithoutFlash:
    """A target that was drawn.

    Attributes
    ----------
    kind
        One of `KINDS`.
    disks
        The drive files of its members, by key; of a disk one, of what is none none.
    size_bytes
        Of a file or a null device.
    redraws
        Draws before this one that no disk can have.
    """

    seed: int
    index: int
    kind: str
    disks: tuple[Mapping[str, Value], ...]
    disturbance: Mapping[str, Value]
    chunk_bytes: int
    size_bytes: int
    redraws: int

    @property
    def label(self) -> str:
        """What `--only` takes."""
        return f"{self.seed}:{self.index}{Source.WITHOUT_FLASH}"

    @property
    def real_time(self) -> bool:
        """Whether requests take as long as they take, so that probing all of it does."""
        return not self.disks

    @contextmanager
    def opened(self) -> Iterator[Device]:
        """Open it; a file is there for as long."""
        if self.kind == "null":
            yield open_target(f"null:{self.size_bytes}").device
        elif self.kind == "file":
            with TemporaryDirectory(prefix="ssdscope-") as folder:
                yield _file(Path(folder) / "file.bin", self.size_bytes)
        else:
            yield self._disks()

    def _disks(self) -> Device:
        opened = [
            open_drive(
                drive_toml({**values, **self.disturbance}, [f"drawn: {self.label}"]),
                "disk", len(self.disks) * self.index + place,
            )
            for place, values in enumerate(self.disks)
        ]  # fmt: skip
        return opened[0] if len(opened) == 1 else open_striped(opened, self.chunk_bytes)


def draw_without_flash(seed: int, index: int = 0) -> WithoutFlash:
    """Draw a target; which kind it is the index says.

    Raises
    ------
    RuntimeError
        If no disk came out valid: the generator is wrong.
    """
    dice, kind = Dice(seed, _STREAM, index), KINDS[index % len(KINDS)]
    disturbance = draw_disturbance(dice)
    if kind in ("null", "file"):
        size = round(dice.log_uniform(*FILE_BYTES)) // MIB * MIB
        return WithoutFlash(seed, index, kind, (), {}, 0, size, 0)
    count = 1 if kind == "disk" else dice.pick((2, 2, 3))
    chunk = dice.pick(CHUNKS_BYTES)
    disks: list[dict[str, Value]] = []
    for draws in range(1, DRAWS_MAX):
        values = _draw_disk(dice, DISK_BYTES[1] / count)
        if works(values):
            disks.append(values)
        if len(disks) == (count if kind == "unlike" else 1):
            redraws = draws - len(disks)
            members = tuple(disks * (count // len(disks)))
            return WithoutFlash(seed, index, kind, members, disturbance, chunk, 0, redraws)
    raise RuntimeError(
        f"no valid disk in {DRAWS_MAX} draws of {seed}:{index}{Source.WITHOUT_FLASH}"
    )


def _draw_disk(dice: Dice, most_bytes: float) -> dict[str, Value]:
    """Draw a hard disk of the kind of the presets, with few cylinders."""
    surfaces, outer = dice.whole(1, 8), dice.whole(600, 2000)
    inner = round(outer * dice.uniform(0.45, 0.9))
    capacity = dice.log_uniform(DISK_BYTES[0], most_bytes)
    cylinders = round(capacity / (surfaces * (outer + inner) / 2 * _SECTOR_BYTES))
    track = round(dice.log_uniform(400_000, 2_000_000))
    full = round(dice.log_uniform(8e6, 25e6))
    segments = dice.pick((1, 2, 4, 8, 12, 16, 32))
    cache = segments * dice.pick((64, 128, 256, 512)) * KIB if dice.chance(0.8) else 0
    return {
        "default_state": "sequential",
        "disk.rpm": dice.pick((4200, 5400, 5900, 7200, 10_000, 15_000)),
        "disk.surfaces": surfaces,
        "disk.cylinders": cylinders,
        "disk.zones": dice.whole(1, 16),
        "disk.outer_sectors_per_track": outer,
        "disk.inner_sectors_per_track": inner,
        "disk.seek_track_ns": track,
        "disk.seek_average_ns": round(track + (full - track) * dice.uniform(0.35, 0.5)),
        "disk.seek_full_ns": full,
        "disk.head_switch_ns": round(dice.log_uniform(400_000, 1_500_000)),
        "disk.write_settle_ns": dice.pick((0, 300_000, 1_000_000)),
        "disk.queue_order": dice.pick(("position", "arrival")),
        "disk.read_cache_bytes": cache,
        "disk.read_cache_segments": segments,
        "disk.read_ahead_bytes": round(cache // segments * dice.pick((0.0, 0.5, 1.0))),
        "disk.write_cache_bytes": dice.pick((0, 1, 4, 8)) * MIB,
        "host.interface": "simple",
        "host.bytes_per_second": dice.pick((100e6, 150e6, 300e6)),
        "host.command_ns": dice.whole(5_000, 50_000),
        "host.queue_depth": dice.pick((1, 32)),
        "host.firmware_ns": dice.whole(50_000, 200_000),
        "host.logical_block_bytes": dice.pick((512, 4096)),
    }


def _file(path: Path, size_bytes: int) -> Device:
    """Make a file that is there in full, and open it for writing."""
    block = bytes(MIB)
    with path.open("wb") as file:
        for _ in range(size_bytes // MIB):
            file.write(block)
    token = str(identify(str(path))["token"])
    return open_target(str(path), destroy_token=token, overwrite_existing=True).device

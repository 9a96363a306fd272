"""The paper's future work: the ten configurations in other simulators, here other firmwares.

Chips, channels, host link, sizes and reserve are the paper's; a drive is filled in order before
it is measured, since the paper's firmware begins with every page written. Each file is written
beside the picture.

*page*: pages are mapped and collected one by one (`ftl.kind = "page"`), with the paper's policies
and its mark, in the background.
*log-block*: blocks are mapped, and log blocks take what is written. It has no mark and no policy:
what is reserved and not kept free are its log blocks, so that the lines of both policies are one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ssdscope.errors import UsageError, nearest
from ssdscope.results.files import write_text
from ssdscope.results.marks import MADE_BY
from ssdscope.studies.machado2015.procedure import (
    CONFIGURATIONS,
    Configuration,
    Line,
)
from ssdscope.studies.record import Claim
from ssdscope.targets import Target, open_target
from ssdscope.targets.drive_writer import Value, drive_toml

NAMES = {"page": "page-mapped", "log-block": "log-block"}
CHIPS = (
    "nand.channels",
    "nand.planes",
    "nand.blocks_per_plane",
    "nand.pages_per_block",
    "nand.page_bytes",
    "nand.read_ns",
    "nand.program_ns",
    "nand.erase_ns",
    "nand.endurance_erases",
    "host.bytes_per_second",
)
"""Keys that are taken over from the paper's drive."""
SPARE = 528 / 512
"""A transfer carries 16 bytes more for each sector, in the paper's firmware by its own rule."""


def known(firmware: str) -> str:
    """Refuse a firmware that there is none of."""
    if firmware not in NAMES:
        raise UsageError(
            f"--drive: there is no firmware {firmware!r}", hint=nearest(firmware, NAMES)
        )
    return firmware


@dataclass(frozen=True)
class Firmware:
    """One of them, and where its drive files go."""

    kind: str
    folder: Path

    def lines(self, seed: int) -> list[Line]:
        """Write the files of figure 1's ten drives, and give their lines."""
        return [
            Line(each.label, partial(_open, self._write(each, seed))) for each in CONFIGURATIONS
        ]

    def _write(self, configuration: Configuration, seed: int) -> Path:
        own = _page if self.kind == "page" else _log_block
        chips = _chips(configuration, seed)
        values: dict[str, Value] = {
            "description": f"{configuration.label}, {NAMES[self.kind]}",
            "default_state": "sequential",
            "over_provisioning_ratio": round(1 / (1 - configuration.reserve_ratio) - 1, 6),
            **chips,
            **own(configuration, chips),
        }
        header = ["A configuration of machado2015 with another firmware.", f"{MADE_BY} reproduce"]
        name = f"{configuration.policy}-{configuration.min_free_percent}-{configuration.size_gb}gb"
        path = self.folder / f"machado2015-{self.kind}-{name}.toml"
        write_text(path, drive_toml(values, header))
        return path


def _open(path: Path, seed: int) -> Target:
    return open_target(str(path), seed=seed)


def _chips(configuration: Configuration, seed: int) -> dict[str, Value]:
    drive = configuration.open(seed).drive or {}
    values = {key: drive[table][name] for key in CHIPS for table, name in [key.split(".")]}
    return values | {"channel.ns_per_byte": drive["channel"]["ns_per_byte"] * SPARE}


def _page(configuration: Configuration, _chips: dict[str, Value]) -> dict[str, Value]:
    mark = configuration.min_free_percent / 100
    return {
        "ftl.kind": "page",
        "ftl.allocation": "order",
        "gc.policy": configuration.policy,
        "gc.low_water_ratio": mark,
        "gc.high_water_ratio": mark,
        "gc.background": True,
        "gc.copyback": True,
    }


def _log_block(configuration: Configuration, chips: dict[str, Value]) -> dict[str, Value]:
    """Give a log block a block of every channel, over which the paper's firmware spreads pages."""
    channels, planes, blocks, pages, page_bytes = (int(chips[key]) for key in CHIPS[:5])
    spare = configuration.reserve_ratio - configuration.min_free_percent / 100
    return {
        "ftl.kind": "log-block",
        "ftl.merge_unit_bytes": channels * pages * page_bytes,
        "ftl.log_blocks": max(1, int(planes * blocks * spare) - 1),
    }


def asked(kind: str, rows: Sequence[Claim]) -> list[Claim]:
    """Keep the rows that a firmware can be asked: of policies only where there are some."""
    return [row for row in rows if kind != "log-block" or row.name != "policies"]


def notes(kind: str) -> list[str]:
    """Say how the paper's settings were taken."""
    found = ["every drive was filled in order before each point"]
    if kind == "log-block":
        found.append("what is reserved and not kept free are log blocks")
        found.append("log blocks are merged by no policy: the lines of both policies are one")
    return found

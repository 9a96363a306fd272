"""A class to compare with: the presets whose measured figures are nearest to the drive's.

The presets' own figures were measured the way the page measures a drive
(`scripts/preset_figures.py`); neither names nor drive files are compared.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ssdscope.findings import Detected, Findings
from ssdscope.report import words
from ssdscope.report.parts import Document, Table, measured
from ssdscope.targets.presets import preset_description, preset_file

DATA = "preset_figures.json"
SHOWN = 3
"""Presets beside the drive."""
LEAST_FIGURES = 2
"""That both have; fewer place nothing."""
ALIKE = 2.0
"""A figure twice another's is another class of drive."""
EQUAL, NEARLY = 1.01, 1.1
"""Below the first figures are equal; below the second they are so many per cent apart, beyond it so
many times."""
BUSES = {"nvme": "NVMe SSD", "sata": "SATA SSD"}
CELLS = {1: "SLC", 2: "MLC", 3: "TLC", 4: "QLC"}
MAPS = {"page": "page-mapped", "log-block": "log blocks", "msr": "DiskSim's firmware"}
UNITS = ("merge_unit_bytes", "rmw_unit_bytes")
"""Findings that say what kind of drive it is; shown beside, where both have them."""


@dataclass(frozen=True)
class Compared:
    """A figure of every drive: one workload, and what of it.

    Attributes
    ----------
    key
        In the data file.
    field
        ``mean_ns``, ``iops`` or ``bandwidth_bytes_per_s`` of the measured point.
    """

    key: str
    name: str
    rw: str
    block_bytes: int
    iodepth: int
    field: str

    def words(self, value: float) -> str:
        """Write a value of it."""
        if self.is_time:
            return words.time(value)
        return words.iops(value) if self.field == "iops" else words.bandwidth(value)

    @property
    def is_time(self) -> bool:
        """Whether less is better."""
        return self.field == "mean_ns"

    def cell(self, point: Mapping[str, Any]) -> str:
        """Write the value of a measured point, with a sign where it is a bound."""
        sign = words.most if self.is_time else words.least
        return sign(self.words(float(point[self.field])), point)

    def bound(self, point: Mapping[str, Any]) -> str:
        """Say the value of a measured point, and whether it is a bound."""
        say = words.at_most if self.is_time else words.at_least
        return say(self.words(float(point[self.field])), point)


FIGURES = (
    Compared("read_ns", "4 KiB random read", "randread", 4096, 1, "mean_ns"),
    Compared("read_iops", "Random reads per second, depth 32", "randread", 4096, 32, "iops"),
    Compared("stream_in", "256 KiB reads in sequence, depth 16", "read", 262_144, 16,
             "bandwidth_bytes_per_s"),
    Compared("write_ns", "4 KiB random write, burst", "randwrite", 4096, 1, "mean_ns"),
    Compared("stream_out", "256 KiB writes in sequence, depth 16, burst", "write", 262_144, 16,
             "bandwidth_bytes_per_s"),
)  # fmt: skip
"""What every drive is compared by, as measured before anything was brought to rest."""


@dataclass(frozen=True)
class Peer:
    """A preset near the drive.

    Attributes
    ----------
    kind
        Its class, in a few words.
    about
        Which drive it is made after.
    apart
        By which factor its figures differ, typically.
    """

    name: str
    kind: str
    about: str
    apart: str


@dataclass(frozen=True)
class Nearest:
    """A sentence, the nearest presets, and a table of the drive beside them."""

    sentence: str
    peers: list[Peer]
    table: Table


def figures(document: Document) -> dict[str, float]:
    """Take the figures of a document that drives are compared by."""
    return _values(compared_points(document))


def _values(points: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    return {each.key: float(points[each.key][each.field]) for each in FIGURES if each.key in points}


def compared_points(document: Document) -> dict[str, Mapping[str, Any]]:
    """Find the measured points that these figures are of, by figure."""
    found = {}
    for each in FIGURES:
        points = measured(
            document, rw=each.rw, block_bytes=each.block_bytes, iodepth=each.iodepth
        )  # fmt: skip
        burst = [point for point in points if point["sort"] != "sustained"]
        if burst and burst[0][each.field]:
            found[each.key] = burst[0]
    return found


@cache
def presets() -> Mapping[str, Mapping[str, Any]]:
    """Give the measured figures of the presets, by name."""
    text = files("ssdscope.report").joinpath(DATA).read_text(encoding="utf-8")
    told: Mapping[str, Mapping[str, Any]] = json.loads(text)["presets"]
    return told


def distance(one: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    """Give the typical factor between two drives: the root mean square of log ratios.

    None if they share too few figures.
    """
    shared = [math.log(one[key] / other[key]) for key in one.keys() & other.keys()]
    if len(shared) < LEAST_FIGURES:
        return None
    return math.exp(math.sqrt(sum(each**2 for each in shared) / len(shared)))


def nearest(document: Document, found: Findings) -> Nearest | None:
    """Place the drive among the presets, by its figures."""
    points = compared_points(document)
    own = _values(points)
    away = {
        name: factor
        for name, each in presets().items()
        if (factor := distance(own, each["figures"])) is not None
    }
    if not away:
        return None
    chosen = sorted(away, key=lambda name: (away[name], name))[:SHOWN]
    peers = [_peer(name, away[name]) for name in chosen]
    sentence = f"{_sentence(chosen, away, len(own))} {words.bounds(points.values())}".strip()
    return Nearest(sentence, peers, _table(points, found, chosen))


def _peer(name: str, factor: float) -> Peer:
    return Peer(name, kind_of(name), preset_description(name), _apart(factor))


def _apart(factor: float) -> str:
    """Say how far figures are apart, in the middle of them."""
    if factor < EQUAL:
        return "equal"
    if factor < NEARLY:
        return f"{words.percent(factor - 1)} apart"
    return f"{words.factor(factor)} times apart"


@cache
def kind_of(name: str) -> str:
    """Name the class of a preset by its file: how it is attached, its cells, and how it maps."""
    file = preset_file(name)
    if "disk" in file:
        return "hard disk"
    host, nand, ftl = (file.get(key, {}) for key in ("host", "nand", "ftl"))
    bus = BUSES.get(host.get("interface"), "SSD")
    cells = CELLS.get(nand.get("bits_per_cell"), "")
    maps = MAPS.get(ftl.get("kind"), "")
    return ", ".join(each for each in (bus, cells, maps) if each)


def _sentence(chosen: list[str], away: Mapping[str, float], count: int) -> str:
    first = chosen[0]
    factor = words.factor(away[first])
    if away[first] >= ALIKE:
        return (
            f"Unlike every preset: the nearest of {len(presets())}, {first}, is a factor of "
            f"{factor} apart in {count} figures."
        )
    rest = [f"{name} ({_apart(away[name])})" for name in chosen[1:] if away[name] < ALIKE]
    then = f", then {' and '.join(rest)}" if rest else ""
    return (
        f"Of {len(presets())} presets it is most like {first} "
        f"({_apart(away[first])} in {count} figures){then}."
    )


def _table(own: Mapping[str, Mapping[str, Any]], found: Findings, chosen: list[str]) -> Table:
    rows = [
        (
            each.name,
            each.cell(own[each.key]),
            *(_cell(each, presets()[name]["figures"].get(each.key))
              for name in chosen),
        )
        for each in FIGURES
        if each.key in own
    ]  # fmt: skip
    units = [_unit_row(key, found, chosen) for key in UNITS if key in found]
    rows += [row for row in units if any(cell != words.NOTHING for cell in row[1:])]
    return Table(("", "this drive", *chosen), rows)


def _cell(each: Compared, theirs: float | None) -> str:
    return words.NOTHING if theirs is None else each.words(theirs)


def _unit_row(key: str, found: Findings, chosen: list[str]) -> tuple[str, ...]:
    mine = found[key]
    own = words.value(mine) if isinstance(mine, Detected) else words.NOTHING
    told = (presets()[name]["findings"].get(key) for name in chosen)
    return (
        f"{mine.about.name} found",
        own,
        *(words.NOTHING if each is None else words.size(each) for each in told),
    )

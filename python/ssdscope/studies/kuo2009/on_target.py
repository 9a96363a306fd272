"""What of the study can be measured on somebody's own drive, and what not, and why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdscope.errors import UsageError
from ssdscope.studies.kuo2009 import block, memory_sizes
from ssdscope.studies.kuo2009.bench import KIB, MIB
from ssdscope.targets import Target

LEAST_BYTES = {
    "9": 300 * MIB,
    "30": block.LEAST_BYTES,
    "31": block.LEAST_BYTES,
    "32": 512 * MIB,
    "35": 64 * MIB,
    "36": 64 * MIB,
    "37": 96 * MIB,
    "38": MIB,
    "40": memory_sizes.REACH,
    "access": 0,
}
"""Figures whose claims need nothing but what a host sees, of one drive, and how much of it."""
TITLES = {"36": "Response time by request size", "40": "Zone detector (table 6)"}
"""Of those whose own titles name a drive."""
READING = ("38", "40", "access")
"""Of these, what is left where writing is not allowed."""
SHIFTED = ("35", "36")
"""Of these, those that begin within a block of 4 KB."""


@dataclass(frozen=True)
class Choice:
    """Figures to measure, and remarks on those that cannot be."""

    figures: list[str]
    left_out: list[str]


@dataclass(frozen=True)
class _Need:
    """What figures need of a target.

    Attributes
    ----------
    met
        Whether the target has it for a figure.
    lacking
        What is said of the others.
    """

    met: Callable[[str], bool]
    lacking: str
    hint: str


def choose(wanted: Sequence[str], target: Target) -> Choice:
    """Choose the figures that can be measured on a target.

    Raises
    ------
    UsageError
        If there are none: what the target lacks for them.
    """
    chosen, left_out = list(wanted), []
    for need in _needs(target):
        without = [name for name in chosen if not need.met(name)]
        chosen = [name for name in chosen if need.met(name)]
        word = "figures" if len(without) > 1 else "figure"
        said = f"{word} {', '.join(without)}: {need.lacking}"
        if not chosen:
            raise UsageError(f"target {target.uri!r} gives no {said}", hint=need.hint)
        if without:
            left_out.append(f"left out: {said}")
    return Choice(chosen, left_out)


def _needs(target: Target) -> list[_Need]:
    info = target.device.info
    block_bytes, capacity = info.logical_block_bytes, target.capacity_bytes
    most = max(LEAST_BYTES.values()) / MIB
    return [
        _Need(
            lambda name: name in LEAST_BYTES,
            "these count inside the paper's own drives",
            f"on a target there are figures {', '.join(LEAST_BYTES)}",
        ),
        _Need(
            lambda name: info.kind != "null" or name == "access",
            "it answers at once and has no times to measure",
            "ssdscope drives list shows simulated drives that have",
        ),
        _Need(
            lambda name: info.writable or name in READING,
            "it is open for reading only, and these write",
            "allow it with --destroy-data TOKEN; doctor --identify prints the token",
        ),
        _Need(
            lambda name: block_bytes <= KIB or name not in SHIFTED,
            f"it takes blocks of {block_bytes} bytes, and these begin requests within one",
            "choose other figures",
        ),
        _Need(
            lambda name: capacity >= LEAST_BYTES[name],
            f"it holds {capacity / MIB:.4g} MiB, which is too little",
            f"all figures need {most:g} MiB",
        ),
    ]

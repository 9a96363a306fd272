"""The second generator: drives drawn by other rules than those of `generator`.

`modern` draws drives by rules of its own, `from_presets` after the presets, `msr_drives` with the
firmware of DiskSim's SSD extension, `arrays` stripes drives of these. The rules were written
without knowing how probes work.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ssdscope.recovery.arrays import MEMBERS, DrawnArray, striped
from ssdscope.recovery.dice import Dice
from ssdscope.recovery.firmware import CAPACITY_BYTES
from ssdscope.recovery.from_presets import draw_after_preset
from ssdscope.recovery.generator import DRAWS_MAX, Drawn, Filed, works
from ssdscope.recovery.hardware import draw_disturbance
from ssdscope.recovery.modern import draw_modern
from ssdscope.recovery.msr_drives import draw_msr
from ssdscope.recovery.shape import Values, number
from ssdscope.recovery.sources import Source
from ssdscope.recovery.truth_of_msr import seen_values
from ssdscope.targets.drive_writer import Value

_STREAM = 3
_MAKES = ("modern",) * 9 + ("preset",) * 5 + ("msr",) * 2 + ("like",) * 2 + ("unlike",) * 2


@dataclass(frozen=True)
class SecondDrawn(Drawn):
    """A drive of the second generator.

    Attributes
    ----------
    make
        By which of its rules.
    more
        What the drive file says besides `values`: times by type of page.
    instead
        What it says instead of them, if it is not of the kind that it looks like.
    """

    make: str
    more: Mapping[str, list[int]]
    instead: Filed | None = None

    @property
    def label(self) -> str:
        """What `--only` takes."""
        return f"{self.seed}:{self.index}{Source.SECOND}"

    def filed(self) -> Filed:
        """Give what the drive file says of the inside."""
        return {**self.values, **self.more} if self.instead is None else self.instead


def draw_second(seed: int, index: int = 0) -> SecondDrawn | DrawnArray:
    """Draw a drive, or an array of drives, of the second generator.

    Raises
    ------
    RuntimeError
        If no drive came out valid: the generator is wrong.
    """
    dice = Dice(seed, _STREAM, index)
    make = dice.pick(_MAKES)
    for redraws in range(DRAWS_MAX):
        drawn = _draw(dice, make, seed, index, redraws)
        if drawn is not None:
            return drawn
    raise RuntimeError(f"no valid drive in {DRAWS_MAX} draws of {seed}:{index}{Source.SECOND}")


def _draw(
    dice: Dice, make: str, seed: int, index: int, redraws: int
) -> SecondDrawn | DrawnArray | None:
    if make not in ("like", "unlike"):
        drawn = _SINGLE[make](dice, CAPACITY_BYTES)
        if drawn is None:
            return None
        values, more, instead = drawn
        disturbance = _whole_blocks(draw_disturbance(dice), values)
        return SecondDrawn(seed, index, values, disturbance, False, redraws, make, more, instead)
    count = dice.pick(MEMBERS)
    sizes = (CAPACITY_BYTES[0] / count, CAPACITY_BYTES[1] / count)
    drawn_members = []
    for _ in range(count if make == "unlike" else 1):
        kind = dice.pick(("modern", "modern", "preset"))
        member = _SINGLE[kind](dice, sizes)
        if member is None:
            return None
        drawn_members.append((member[0], member[1]))
    disturbance = draw_disturbance(dice)
    members = [
        SecondDrawn(seed, index, values, disturbance, False, 0, make, more)
        for values, more in drawn_members * (count // len(drawn_members))
    ]
    return striped(dice, members, redraws)


def _whole_blocks(disturbance: dict[str, Value], values: Values) -> dict[str, Value]:
    """Let the other user ask for whole logical blocks, if one is larger than what was drawn."""
    key, block = "disturbance.foreign_bytes", number(values, "host.logical_block_bytes")
    if key in disturbance:
        disturbance[key] = max(number(disturbance, key), block)
    return disturbance


_Single = tuple[dict[str, Value], Mapping[str, list[int]], Filed | None]


def _modern(dice: Dice, sizes: tuple[float, float]) -> _Single | None:
    drawn = draw_modern(dice, sizes)
    if drawn is None or not works({**drawn[0], **drawn[1]}):
        return None
    return *drawn, None


def _preset(dice: Dice, sizes: tuple[float, float]) -> _Single | None:
    values = draw_after_preset(dice, sizes)
    return None if values is None or not works(values) else (values, {}, None)


def _msr(dice: Dice, sizes: tuple[float, float]) -> _Single | None:
    values = draw_msr(dice, sizes)
    return None if values is None or not works(values) else (seen_values(values), {}, values)


_SINGLE: Mapping[str, Callable[[Dice, tuple[float, float]], _Single | None]] = {
    "modern": _modern,
    "preset": _preset,
    "msr": _msr,
}

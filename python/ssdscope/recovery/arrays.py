"""RAID-0 arrays of drawn drives, as the second generator draws them."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from ssdscope.recovery.dice import Dice
from ssdscope.recovery.generator import Drawn
from ssdscope.recovery.shape import Values, number
from ssdscope.recovery.truth_of_arrays import seen_values
from ssdscope.targets.device import Device
from ssdscope.targets.drive_writer import Value, open_drive, open_striped

KIB = 1 << 10
MEMBERS = (2, 2, 3, 4)
CHUNKS_BYTES = tuple(KIB * n for n in (4, 8, 16, 24, 32, 64, 64, 96, 128, 256, 512, 1024))


@dataclass(frozen=True)
class DrawnArray(Drawn):
    """An array that was drawn; `values` are those of the one drive that it looks like.

    Attributes
    ----------
    members
        In the order of the stripes, each with its own noise.
    looks
        The same as `values`; a twin that has others changes its members likewise.
    """

    members: tuple[Drawn, ...]
    chunk_bytes: int
    looks: Values

    @property
    def label(self) -> str:
        """What `--only` takes."""
        return self.members[0].label

    @property
    def alike(self) -> bool:
        """Whether all members are the same drive."""
        return all(each.filed() == self.members[0].filed() for each in self.members)

    def open(self) -> Device:
        """Open the array, for whoever sees its device alone."""
        return self._striped([each.toml() for each in self.members])

    def open_twin(self, *, noisy: bool) -> Device:
        """Open it undisturbed, or with noise and spikes alone."""
        gone = self.looks.keys() - self.values.keys()
        other = {key: v for key, v in self.values.items() if self.looks.get(key) != v}
        members = [_changed(each, gone, other) for each in self.members]
        return self._striped([each.noisy_toml() if noisy else each.twin_toml() for each in members])

    def _striped(self, files: Sequence[str]) -> Device:
        seeds = range(len(files) * self.index, len(files) * (self.index + 1))
        opened = [open_drive(file, "member", seed) for file, seed in zip(files, seeds, strict=True)]
        return open_striped(opened, self.chunk_bytes)


def striped(dice: Dice, members: Sequence[Drawn], redraws: int) -> DrawnArray | None:
    """Stripe drawn drives; None if a chunk does not hold their logical blocks."""
    chunk = dice.pick(CHUNKS_BYTES)
    if any(chunk % number(each.values, "host.logical_block_bytes", 512) for each in members):
        return None
    values = seen_values([each.values for each in members], chunk)
    first = members[0]
    return DrawnArray(
        first.seed, first.index, values, first.disturbance, False, redraws,
        tuple(members), chunk, values,
    )  # fmt: skip


def _changed(member: Drawn, gone: Set[str], other: Values) -> Drawn:
    values: dict[str, Value] = {k: v for k, v in member.values.items() if k not in gone}
    return replace(member, values=values | {k: v for k, v in other.items() if k in values})

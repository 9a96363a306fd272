"""Named streams of random numbers: the one place where generators are made.

A stream belongs to a seed and to a name, which says what is drawn from it. So a part that draws
more, or a part that is new, shifts no draw of any other.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssdscope.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

SEED_MAX = 2**63 - 1

# These streams are older than the rule for names, and have the words that they were made with.
# Published results, frozen predictions and half-collected tables rest on their draws, and other
# draws would be other results. Those without a word differ by their seeds alone. What is new
# stands in none of these two, and is drawn by its name.
_KEPT: dict[str, tuple[int, ...]] = {
    "models.collecting.order": (),
    "models.collecting.repeats": (0x5EED,),
    "models.designs.off_grid": (0x0FF,),
    "models.designs.sobol": (0x50B01,),
    "models.explaining.importances": (0x1390,),
    "models.fitting.background": (0xBAC,),
    "models.samples.folds": (0xF01D,),
    "report.characterize.held_out": (0xDE51,),
    "stats.bootstrap": (),
    "studies.huang2011.quantile": (),
    "studies.machado2015.random_reads": (2015,),
    "studies.machado2015.wear": (0x3EA5,),
    "studies.recovery.addresses": (),
    "studies.recovery.dice": (),
    "studies.recovery.references": (),
    "studies.recovery.twin": (99,),
    "studies.uflip.random_state": (0,),
    "workloads.grid.subset": (),
    "workloads.synthetic": (),
}
_KEPT_LETTERS = ("studies.kuo2009.", "workloads.patterns.")
"""Likewise: families of streams whose words are the letters of what follows."""


def stream(seed: int | Sequence[int], name: str) -> np.random.Generator:
    """Give the random numbers of a name: the same for the same seed and name, on every machine.

    Parameters
    ----------
    seed
        The seed of the run; several whole numbers where more than that tells draws apart, as the
        index of a drive does.
    name
        What is drawn, as ``"part.module.purpose"``; or of a probe, whose bench says the rest.

    Examples
    --------
    >>> stream(1, "examples.dice").integers(1, 7, size=8)
    array([3, 3, 3, 5, 4, 3, 2, 4])
    >>> stream(1, "examples.coins").integers(1, 7, size=8)
    array([6, 5, 1, 1, 6, 3, 1, 3])
    """
    from numpy.random import PCG64, Generator, SeedSequence

    seeds = tuple(seed) if isinstance(seed, Sequence) else (seed,)
    return Generator(PCG64(SeedSequence((*seeds, *_words(name)))))


def numbered(seed: int, number: int, name: str) -> int:
    """Return the seed of one of several like parts of a run: of part 0 the seed of the run.

    What the seeds of two runs draw has nothing in common, however near they are. By ``seed +
    number`` part 1 of the one would be part 0 of the other.

    Parameters
    ----------
    seed
        Of the run, from 0 to `SEED_MAX`.
    number
        Of the part, from 0.
    name
        What the parts are, as ``"part.module.purpose"``.

    Examples
    --------
    >>> numbered(7, 0, "examples.flows"), numbered(7, 1, "examples.flows") < SEED_MAX
    (7, True)
    """
    if not number:
        return seed
    return int(stream((seed, number), name).integers(SEED_MAX))


def require_seed(seed: int) -> int:
    """Give the seed of a run as it is.

    Raises
    ------
    UsageError
        If it is out of range.
    """
    if not 0 <= seed <= SEED_MAX:
        raise UsageError(f"--seed: {seed} is not between 0 and {SEED_MAX}")
    return seed


def _words(name: str) -> tuple[int, ...]:
    """Write a name as whole numbers."""
    for family in _KEPT_LETTERS:
        if name.startswith(family):
            return tuple(name.removeprefix(family).encode())
    return _KEPT.get(name, (zlib.crc32(name.encode()),))

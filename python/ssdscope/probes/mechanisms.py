"""What disturbs what: the one table of masks.

A mechanism that was found, or that could not be ruled out, may hide another or look like it. Each
row says so once; no family looks at another's findings to decide about its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdscope.findings import Ambiguous, Detected, Evidence, Reason, Undetectable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ssdscope.findings import Finding

__all__ = ["MASKS", "Mask", "masked"]

THERE = (Detected, Ambiguous)
UNCLEAR = (Ambiguous, Undetectable)
NOT_RULED_OUT = (Detected, Ambiguous, Undetectable)


@dataclass(frozen=True)
class Mask:
    """One mechanism that hides others.

    Attributes
    ----------
    by
        The property it shows by.
    when
        Kinds of answers of it that mask.
    hides
        Properties that cannot be told then.
    words
        Why, in a few words.
    """

    by: str
    when: tuple[type, ...]
    hides: tuple[str, ...]
    words: str
    reason: Reason = Reason.MASKED

    def refusal(self, name: str, probe: str) -> Undetectable:
        """Give the finding of a property that it hides."""
        said = Evidence(detail=self.words)
        return Undetectable(name=name, probe=probe, reason=self.reason, evidence=said)


MASKS: tuple[Mask, ...] = ()


def masked(name: str, known: Mapping[str, Finding]) -> Mask | None:
    """Give what hides a property, by what is known of the drive; None if nothing does."""
    hiding = (each for each in MASKS if name in each.hides)
    return next((each for each in hiding if isinstance(known.get(each.by), each.when)), None)

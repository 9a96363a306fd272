"""What disturbs what: the one table of masks, and one of what a mechanism settles.

A mechanism that was found, or that could not be ruled out, may hide another or look like it. Each
row says so once; no family looks at another's findings to decide about its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdscope.findings import (
    PROPERTIES,
    Ambiguous,
    Detected,
    Evidence,
    Finding,
    Reason,
    Undetectable,
)
from ssdscope.findings.families import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = ["IMPLIED", "MASKS", "Mask", "hiding", "implied", "masked"]

THERE = (Detected, Ambiguous)
NOT_KNOWN = (Ambiguous, Undetectable, type(None))


@dataclass(frozen=True)
class Mask:
    """One mechanism that hides others.

    Attributes
    ----------
    by
        The property it shows by.
    when
        Kinds of answers of it that mask; the type of None if it was not asked for.
    hides
        Properties that cannot be told then.
    words
        Why, in a few words.
    unless
        Properties of which any that was detected rules the mechanism out, if it is only unclear.
    shows
        Reasons for which it cannot be told, though something like it is there.
    """

    by: str
    when: tuple[type, ...]
    hides: tuple[str, ...]
    words: str
    reason: Reason = Reason.MASKED
    unless: tuple[str, ...] = ()
    shows: tuple[Reason, ...] = ()

    def disturbs(self, found: Finding | None) -> bool:
        """Say whether it hides others, by what was found of it."""
        return isinstance(found, self.when) or (found is not None and found.reason in self.shows)

    def refusal(self, name: str, probe: str, found: Finding | None = None) -> Undetectable:
        """Give the finding of a property that it hides, by what was found of it.

        What was not tried for want of budget hides nothing: with more the property may be told.
        """
        untried = found is not None and not found.tried
        reason = Reason.BUDGET_EXHAUSTED if untried else self.reason
        said = Evidence(detail=self.words)
        return Undetectable(name=name, probe=probe, reason=reason, evidence=said)


NO_FLASH = tuple(
    name for name in PROPERTIES if name not in (*FAMILIES["disk"], *FAMILIES["latency"])
)
"""All that a drive without flash does not have."""
OF_ARRAYS = ("array_members", "interleave_degree", "trim_effect")
OF_MEMBERS = tuple(name for name in NO_FLASH if name not in OF_ARRAYS)
"""What is true of one member of an array, if it is of any."""

MASKS: tuple[Mask, ...] = (
    Mask("rotation_ns", THERE, NO_FLASH, "it is a hard disk: what is in it turns, and is no flash"),
    Mask("array_members", THERE, OF_MEMBERS, "it is an array: this would be true of one member"),
    Mask(
        "merge_unit_bytes",
        THERE,
        ("pslc_bytes",),
        "the drive merges, and log blocks that are full show as a region does",
    ),
    Mask(
        "pslc_bytes",
        THERE,
        ("gc_period_bytes", "reclaim_unit_bytes", "gc_write_amplification"),
        "data reach their blocks by folding, which programs them again",
        shows=(Reason.MODEL_MISFIT,),
    ),
    Mask(
        "pslc_bytes",
        NOT_KNOWN,
        ("over_provisioning_ratio", "gc_write_amplification"),
        "a region of one bit per cell is not ruled out",
        unless=("merge_unit_bytes", "gc_period_bytes"),
    ),
    Mask(
        "rmw_unit_bytes",
        NOT_KNOWN,
        ("over_provisioning_ratio", "gc_write_amplification"),
        "the RMW unit must be known, or padding would count as data",
    ),
    Mask(
        "merge_unit_bytes",
        NOT_KNOWN,
        ("over_provisioning_ratio", "gc_write_amplification"),
        "it is not known whether the drive merges log blocks",
        unless=("reclaim_unit_bytes",),
    ),
)


IMPLIED: dict[str, tuple[str, str, str]] = {
    "allocation": (
        "merge_unit_bytes",
        "address",
        "the drive merges, and data blocks hold every page at its own place",
    ),
}
"""Properties that another settles, if that was detected: by which, as what, and why."""


def implied(name: str, probe: str, known: Mapping[str, Finding]) -> Detected | None:
    """Return what follows of a property from what is known of the drive; None if nothing does."""
    by, value, words = IMPLIED.get(name, ("", "", ""))
    shown = known.get(by)
    if not isinstance(shown, Detected):
        return None
    said = Evidence(cautions=(words,))
    return Detected(
        name=name, probe=probe, value=value, interval=None, effect=shown.effect, evidence=said
    )


def masked(name: str, known: Mapping[str, Finding]) -> Mask | None:
    """Give what hides a property, by what is known of the drive; None if nothing does."""
    there = {each for each, finding in known.items() if isinstance(finding, Detected)}
    hiding = (each for each in MASKS if name in each.hides and not there & {*each.unless})
    return next((each for each in hiding if each.disturbs(known.get(each.by))), None)


def hiding(name: str) -> set[str]:
    """Give the properties that decide whether one can be told, or what it is."""
    rows = [each for each in MASKS if name in each.hides]
    hidden = {told for each in rows for told in (each.by, *each.unless)}
    return hidden | {by for settled, (by, *_) in IMPLIED.items() if settled == name}

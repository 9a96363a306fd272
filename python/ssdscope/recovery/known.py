"""All that is known of a drawn drive or array: what is true, and what of it can be told."""

from dataclasses import dataclass

from ssdscope.recovery.arrays import DrawnArray
from ssdscope.recovery.generator import Drawn
from ssdscope.recovery.measured import Case
from ssdscope.recovery.observability import CONTRAST_MIN, Visibility, visibility
from ssdscope.recovery.reference_members import members_apart
from ssdscope.recovery.second import SecondDrawn
from ssdscope.recovery.truth import ABSENT, NO_ONE, Truth, page_types
from ssdscope.recovery.truth_of_arrays import TOLD_OF_ARRAYS, UNMEASURED, told
from ssdscope.recovery.truth_of_msr import NO_EFFECT_OF_DISCARDS


@dataclass(frozen=True)
class Known:
    """Truths by property, and of those that are there whether they can be told."""

    truths: dict[str, Truth]
    visible: dict[str, Visibility]


def known(drawn: Drawn) -> Known:
    """Work out and measure everything."""
    case = Case(drawn)
    if isinstance(drawn, SecondDrawn) and drawn.make == "msr":
        case.trimmed = NO_EFFECT_OF_DISCARDS
    if not isinstance(drawn, DrawnArray):
        return Known(case.truths, visibility(case))
    of_types = {page_types(each.filed()) for each in drawn.members}
    of_chunks = told([each.values for each in drawn.members], drawn.chunk_bytes)
    types = of_types.pop() if len(of_types) == 1 else NO_ONE
    members = ABSENT if drawn.alike else Truth(len(drawn.members))
    truths = {**case.truths, **of_chunks, "page_types": types, "array_members": members}
    case.truths = {
        name: ABSENT if each == NO_ONE or name in UNMEASURED else each
        for name, each in truths.items()
    }
    return Known(truths, _as_an_array(drawn, visibility(case)))


def _as_an_array(drawn: DrawnArray, visible: dict[str, Visibility]) -> dict[str, Visibility]:
    """Leave of an array whose members can be told apart what is true of it as a whole."""
    if members_apart(drawn) < CONTRAST_MIN:
        return visible
    return {
        name: each if name in TOLD_OF_ARRAYS else Visibility(("array",), None)
        for name, each in visible.items()
    }

"""Which properties of a drawn drive can be told from outside: `docs/observability.md` as code.

A property is observable if the drive has it, none of the rules that mask it applies, and its
contrast on the undisturbed twin is at least 10 %.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

from ssdscope.recovery import reference_bursts as bursts
from ssdscope.recovery import reference_reads as reads
from ssdscope.recovery import reference_writes as writes
from ssdscope.recovery.addresses import volume_bits
from ssdscope.recovery.arrays import DrawnArray
from ssdscope.recovery.masks import EFFECTLESS, MASKS, YIELDING, Mask, several_in_a_row
from ssdscope.recovery.measured import Case
from ssdscope.recovery.reference_curves import DEPTH_MOST
from ssdscope.recovery.reference_members import members_unlike
from ssdscope.recovery.reference_types import typed
from ssdscope.recovery.shape import answers_for_flash
from ssdscope.recovery.truth import row_bytes
from ssdscope.recovery.twin import Twin

__all__ = ["CONTRAST_MIN", "MASKS", "RULES", "YIELDING", "Mask", "Rule", "Visibility", "visibility"]

CONTRAST_MIN = 0.10


def _bits(case: Case) -> float:
    values, shape = case.drawn.values, case.twin.shape
    return reads.volumes(case.twin, volume_bits(values, shape))


References = ModuleType
"""`reference_writes`, or `reference_bursts` past a protected buffer."""


def _placed(case: Case, by: References = writes) -> float:
    """Give the contrast of rows of pages, or of the unit that is held against them if that is less.

    The merge unit of log blocks, else the RMW unit; that every unit is larger than a single page
    in a row, or no larger than a page, needs neither.
    """
    found = reads.chunk(case.twin)
    if found < CONTRAST_MIN or not several_in_a_row(case.drawn.values, case.twin.shape):
        return found
    if case.truths["merge_unit_bytes"].present:
        return min(found, float(by.merged(case.twin)))
    if case.truths["rmw_unit_bytes"].present:
        return min(found, float(by.shifted(case.twin)))
    return found


def _order(case: Case) -> float:
    """Give what the order does, or would do if the drive placed by order.

    Log blocks cannot: that data lie by address shows there if anything works side by side.
    """
    values, shape = case.drawn.values, case.twin.shape
    if case.truths["allocation"].value == "order":
        return case.order_effect.least
    if values["ftl.kind"] == "page":
        return case.order_effect_by_order.least
    if row_bytes(values, shape) is None:
        return 0.0
    return max(reads.conflict(case.twin), reads.chunk(case.twin))


def _members(case: Case) -> float:
    return members_unlike(case.drawn) if isinstance(case.drawn, DrawnArray) else 0.0


def _phase(case: Case, by: References = writes) -> float:
    found = [float(by.shifted(case.twin))] if case.truths["rmw_unit_bytes"].present else []
    if case.truths["merge_unit_bytes"].present:
        found.append(float(by.merged(case.twin)))
    return max(found)


def _buffer(case: Case) -> float:
    """Give the contrast of single blocks, or of large pieces at depth where that is less."""
    found = writes.knee(case.twin)
    return found if found >= CONTRAST_MIN else max(found, bursts.filled(case.twin))


def _amplified(case: Case) -> float:
    return min(case.amplification - 1, case.overwritten.contrast)


def _period(case: Case, by: References = writes) -> float:
    return float(by.periodic(case.twin, int(case.truths["gc_period_bytes"].value or 0)))


def _rested(case: Case) -> float:
    return _at_depth_too(case, writes.rested)


def _one_bit(case: Case) -> float:
    return _at_depth_too(case, writes.region)


def _at_depth_too(case: Case, reference: Callable[[Twin, int], float]) -> float:
    """Give the contrast of single writes, or past a protected buffer of writes at depth."""
    found = reference(case.twin, 1)
    if found >= CONTRAST_MIN or not answers_for_flash(case.drawn.values):
        return found
    return max(found, reference(case.twin, bursts.DEPTH))


def _streams(case: Case, by: References = writes) -> float:
    return float(by.streams(case.twin, int(case.truths["open_units"].value or 0)))


def _alpha(case: Case) -> float:
    return case.line.alpha_ns / float(case.latencies.mean_ns[0])


def _beta(case: Case) -> float:
    return float(case.latencies.mean_ns[-1] / case.latencies.mean_ns[0]) - 1


def _depths(case: Case) -> float:
    return case.rates.at(DEPTH_MOST) / case.rates.at(1) - 1


@dataclass(frozen=True)
class Rule:
    """One row of the document.

    Attributes
    ----------
    masks
        Names of the rules that hide the property.
    reference
        Name of the reference measurement, and the measurement.
    bursts
        The measurement by deep bursts where one of `YIELDING` applies.
    """

    masks: tuple[str, ...]
    reference: str
    contrast: Callable[[Case], float]
    bursts: Callable[[Case], float] | None = None


RULES: Mapping[str, Rule] = {
    "rmw_unit_bytes": Rule(
        ("protected",), "shifted",
        lambda case: writes.shifted(case.twin), lambda case: bursts.shifted(case.twin),
    ),
    "merge_unit_bytes": Rule(
        ("protected",), "merged",
        lambda case: writes.merged(case.twin), lambda case: bursts.merged(case.twin),
    ),
    "reclaim_unit_bytes": Rule(("region", "few-spans", "in-turn"), "amplification", _amplified),
    "alignment_phase_bytes": Rule(
        ("protected",), "shifted or merged", _phase, lambda case: _phase(case, bursts)
    ),
    "write_buffer_bytes": Rule(
        ("protected",), "knee or filled", _buffer, lambda case: bursts.filled(case.twin)
    ),
    "write_buffer_unit_bytes": Rule(
        ("protected",), "knee",
        lambda case: writes.knee(case.twin), lambda case: bursts.filled_by_blocks(case.twin),
    ),
    "read_cache_bytes": Rule((), "reread", lambda case: reads.reread(case.twin)),
    "read_cache_unit_bytes": Rule((), "reread", lambda case: reads.reread(case.twin)),
    "read_ahead_bytes": Rule((), "ahead", lambda case: reads.ahead(case.twin)),
    "map_zone_bytes": Rule(("cached",), "map_miss", lambda case: reads.map_miss(case.twin)),
    "map_cache_bytes": Rule(("cached",), "map_miss", lambda case: reads.map_miss(case.twin)),
    "allocation": Rule(("stirred",), "order", _order),
    "placement": Rule(
        ("hidden-unit", "straddling"), "chunk", _placed, lambda case: _placed(case, bursts)
    ),
    "placement_pages": Rule(
        ("straddling", "table-in-rows"), "chunk", lambda case: reads.chunk(case.twin)
    ),
    "interleave_degree": Rule(
        ("one-command", "short-zones"), "conflict", lambda case: reads.conflict(case.twin)
    ),
    "internal_volume_bits": Rule(("one-command", "short-zones", "blurred"), "volumes", _bits),
    "page_types": Rule(
        (), "typed", lambda case: typed(case.twin, int(case.truths["page_types"].value or 1))
    ),
    "array_members": Rule((), "unlike", _members),
    "over_provisioning_ratio": Rule(
        ("hidden-logs", "beside"), "overwritten",
        lambda case: case.overwritten.contrast, lambda case: bursts.logs(case.twin),
    ),
    "gc_write_amplification": Rule(("merges", "region"), "amplification", _amplified),
    "gc_period_bytes": Rule(
        ("protected", "region", "in-turn"), "periodic", _period,
        lambda case: _period(case, bursts),
    ),
    "idle_gc_onset_ns": Rule(("busy",), "rested", _rested),
    "pslc_bytes": Rule(("full-region",), "region", _one_bit),
    "open_units": Rule(("protected",), "streams", _streams, lambda case: _streams(case, bursts)),
    "trim_effect": Rule((), "trimmed", lambda case: case.trimmed),
    "read_latency_alpha_ns": Rule(("noisy", "moving-table", "alpha-bent"), "line", _alpha),
    "read_latency_beta_ns_per_byte": Rule(("noisy", "moving-table", "beta-bent"), "line", _beta),
    "queue_depth_knee": Rule(("moving-table", "shallow", "deepened"), "depths", _depths),
}  # fmt: skip


@dataclass(frozen=True)
class Visibility:
    """Whether a property can be told, and why not.

    Attributes
    ----------
    masked_by
        Names of the rules that apply.
    contrast
        On the undisturbed twin; None where it was not needed.
    """

    masked_by: tuple[str, ...]
    contrast: float | None

    @property
    def observable(self) -> bool:
        """Whether a probe is expected to find it."""
        return not self.masked_by and self.contrast is not None and self.contrast >= CONTRAST_MIN


def visibility(case: Case) -> dict[str, Visibility]:
    """Give, for each property that the drive has, whether it can be told."""
    return {name: _seen(case, rule) for name, rule in RULES.items() if case.truths[name].present}


def _seen(case: Case, rule: Rule) -> Visibility:
    masked = tuple(mask for mask in rule.masks if MASKS[mask](case))
    for_good = tuple(mask for mask in masked if mask not in YIELDING)
    if for_good:
        return Visibility(masked, 0.0 if EFFECTLESS & set(masked) else None)
    if not masked:
        return Visibility((), float(rule.contrast(case)))
    contrast = float(rule.bursts(case)) if rule.bursts else 0.0
    return Visibility((), contrast) if contrast >= CONTRAST_MIN else Visibility(masked, None)

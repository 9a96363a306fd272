"""Which properties of a drawn drive can be told from outside: `docs/observability.md` as code.

A property is observable if the drive has it, none of the rules that mask it applies, and its
contrast on the undisturbed twin is at least 10 %.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ssdscope.studies.recovery import reference_reads as reads
from ssdscope.studies.recovery import reference_writes as writes
from ssdscope.studies.recovery.addresses import blurred, volume_bits
from ssdscope.studies.recovery.measured import ORDER_FAINT, ORDER_SHOWS, Case
from ssdscope.studies.recovery.shape import Shape, Values, number
from ssdscope.studies.recovery.truth import row_bytes, seen_page_bytes

CONTRAST_MIN = 0.10
SPANS_MIN = 8
KNEE_SHARP = 1.5
BUSY_PAUSE = 4

Mask = Callable[[Values, Shape], bool]


def _protected(values: Values, _shape: Shape) -> bool:
    kept = bool(values.get("write_buffer.power_loss_protected", False))
    fixed = not values.get("write_buffer.switchable", True)
    return number(values, "write_buffer.bytes") > 0 and kept and fixed


def _one_command(values: Values, _shape: Shape) -> bool:
    return number(values, "host.queue_depth", 256) == 1


def _cached(values: Values, shape: Shape) -> bool:
    held = number(values, "map.zone_bytes", shape.capacity_bytes)
    held *= number(values, "map.resident_zones", 1)
    if values.get("map.kind") == "demand":
        entries = number(values, "map.cache_bytes") // number(values, "map.cached_entry_bytes", 8)
        held = entries * shape.unit_bytes
    return not values.get("read_cache.switchable", True) and (
        number(values, "read_cache.bytes") >= held
    )


def _region(values: Values, _shape: Shape) -> bool:
    return number(values, "pslc.bytes") > 0


def _full_region(values: Values, _shape: Shape) -> bool:
    return not values.get("pslc.fold_when_idle", True)


def _merges(values: Values, _shape: Shape) -> bool:
    return values["ftl.kind"] == "log-block"


def _few_spans(_values: Values, shape: Shape) -> bool:
    return shape.capacity_bytes < SPANS_MIN * shape.span_bytes


def _blurred(values: Values, shape: Shape) -> bool:
    return blurred(values, shape)


def _busy(values: Values, _shape: Shape) -> bool:
    pause = number(values, "disturbance.foreign_off_ns")
    onset = number(values, "gc.idle_ns", 100_000_000)
    return number(values, "disturbance.foreign_iops") > 0 and pause < BUSY_PAUSE * onset


def _short_zones(values: Values, shape: Shape) -> bool:
    held = number(values, "map.zone_bytes") * number(values, "map.resident_zones", 1)
    logs = values["ftl.kind"] == "log-block"
    round_bytes = shape.span_bytes if logs else shape.stripe_bytes
    return values.get("map.kind") == "zones" and held < round_bytes


def several_in_a_row(values: Values, shape: Shape) -> bool:
    """Whether pages follow each other on what works as one, so that a unit may be there whole."""
    return row_bytes(values, shape) != seen_page_bytes(values, shape)


def _hidden_unit(values: Values, shape: Shape) -> bool:
    return _protected(values, shape) and several_in_a_row(values, shape)


def _hidden_logs(values: Values, shape: Shape) -> bool:
    return _protected(values, shape) and _merges(values, shape)


MASKS: Mapping[str, Mask] = {
    "protected": _protected,
    "one-command": _one_command,
    "cached": _cached,
    "region": _region,
    "full-region": _full_region,
    "merges": _merges,
    "few-spans": _few_spans,
    "blurred": _blurred,
    "busy": _busy,
    "short-zones": _short_zones,
    "hidden-unit": _hidden_unit,
    "hidden-logs": _hidden_logs,
}
"""By the names that the document gives them."""

EFFECTLESS = frozenset({"full-region"})
"""Masks that leave nothing a host could notice: whoever says "absent" is right."""


def _bits(case: Case) -> float:
    values, shape = case.drawn.values, case.twin.shape
    return reads.volumes(case.twin, volume_bits(values, shape))


def _placed(case: Case) -> float:
    """Give the contrast of rows of pages, or of the unit that is held against them if that is less.

    The merge unit of log blocks, else the RMW unit; that every unit is larger than a single page
    in a row, or no larger than a page, needs neither.
    """
    found = reads.chunk(case.twin)
    if found < CONTRAST_MIN or not several_in_a_row(case.drawn.values, case.twin.shape):
        return found
    if case.truths["merge_unit_bytes"].present:
        return min(found, writes.merged(case.twin))
    if case.truths["rmw_unit_bytes"].present:
        return min(found, writes.shifted(case.twin))
    return found


def _order(case: Case) -> float:
    effect, values, shape = case.order_effect, case.drawn.values, case.twin.shape
    if values["ftl.kind"] == "log-block":
        if effect.least >= ORDER_SHOWS:
            return 0.0
    elif effect.mean >= ORDER_FAINT:
        return effect.least
    elif row_bytes(values, shape) is None or _region(values, shape):
        return 0.0
    return max(reads.conflict(case.twin), reads.chunk(case.twin))


def _phase(case: Case) -> float:
    found = [writes.shifted(case.twin)] if case.truths["rmw_unit_bytes"].present else []
    if case.truths["merge_unit_bytes"].present:
        found.append(writes.merged(case.twin))
    return max(found)


def _amplified(case: Case) -> float:
    return min(case.amplification - 1, case.overwritten.contrast)


def _period(case: Case) -> float:
    return writes.periodic(case.twin, int(case.truths["gc_period_bytes"].value or 0))


def _streams(case: Case) -> float:
    return writes.streams(case.twin, int(case.truths["open_units"].value or 0))


def _knee(case: Case) -> float:
    true = [float(each) for each in case.truths["queue_depth_knee"].also]
    vague = max(true) > KNEE_SHARP**2 * min(true)
    low, high = reads.knees(case.depths)
    middles = [math.prod(reads.knees(rates)) ** 0.5 for rates in case.noisy_depths]
    moved = max(middles) > KNEE_SHARP * min(middles)
    if max(true) > reads.DEPTHS[-2] or high > KNEE_SHARP * low or vague or moved:
        return 0.0
    return reads.depth_gain(case.depths)


@dataclass(frozen=True)
class Rule:
    """One row of the document.

    Attributes
    ----------
    masks
        Names of the rules that hide the property.
    reference
        Name of the reference measurement, and the measurement.
    """

    masks: tuple[str, ...]
    reference: str
    contrast: Callable[[Case], float]


RULES: Mapping[str, Rule] = {
    "rmw_unit_bytes": Rule(("protected",), "shifted", lambda case: writes.shifted(case.twin)),
    "merge_unit_bytes": Rule(("protected",), "merged", lambda case: writes.merged(case.twin)),
    "reclaim_unit_bytes": Rule(("region", "few-spans"), "amplification", _amplified),
    "alignment_phase_bytes": Rule(("protected",), "shifted or merged", _phase),
    "write_buffer_bytes": Rule(("protected",), "knee", lambda case: writes.knee(case.twin)),
    "write_buffer_unit_bytes": Rule(("protected",), "knee", lambda case: writes.knee(case.twin)),
    "read_cache_bytes": Rule((), "reread", lambda case: reads.reread(case.twin)),
    "read_cache_unit_bytes": Rule((), "reread", lambda case: reads.reread(case.twin)),
    "read_ahead_bytes": Rule((), "ahead", lambda case: reads.ahead(case.twin)),
    "map_zone_bytes": Rule(("cached",), "map_miss", lambda case: reads.map_miss(case.twin)),
    "map_cache_bytes": Rule(("cached",), "map_miss", lambda case: reads.map_miss(case.twin)),
    "allocation": Rule((), "order", _order),
    "placement": Rule(("hidden-unit",), "chunk", _placed),
    "placement_pages": Rule((), "chunk", lambda case: reads.chunk(case.twin)),
    "interleave_degree": Rule(
        ("one-command", "short-zones"), "conflict", lambda case: reads.conflict(case.twin)
    ),
    "internal_volume_bits": Rule(("one-command", "short-zones", "blurred"), "volumes", _bits),
    "over_provisioning_ratio": Rule(
        ("region", "hidden-logs"), "overwritten", lambda case: case.overwritten.contrast
    ),
    "gc_write_amplification": Rule(("merges", "region"), "amplification", _amplified),
    "gc_period_bytes": Rule(("protected", "region"), "periodic", _period),
    "idle_gc_onset_ns": Rule(("busy",), "rested", lambda case: writes.rested(case.twin)),
    "pslc_bytes": Rule(("full-region",), "region", lambda case: writes.region(case.twin)),
    "open_units": Rule(("protected",), "streams", _streams),
    "trim_effect": Rule((), "trimmed", lambda case: case.trim_effect),
    "read_latency_alpha_ns": Rule((), "line", lambda case: case.line[2]),
    "read_latency_beta_ns_per_byte": Rule((), "line", lambda case: case.line[2]),
    "queue_depth_knee": Rule((), "depths", _knee),
}


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
    found = {}
    values = {**case.drawn.values, **case.drawn.disturbance}
    for name, rule in RULES.items():
        if not case.truths[name].present:
            continue
        masked = tuple(mask for mask in rule.masks if MASKS[mask](values, case.twin.shape))
        if masked:
            found[name] = Visibility(masked, 0.0 if EFFECTLESS & set(masked) else None)
        else:
            found[name] = Visibility(masked, float(rule.contrast(case)))
    return found

"""Rules that mask a property, whatever its contrast is: a table of `docs/observability.md` as code.

By the keys of a drive, or by what was measured on its undisturbed twin.
"""

import math
from collections.abc import Callable, Mapping

from ssdscope.findings.properties import TOLERANCE
from ssdscope.recovery.addresses import blurred
from ssdscope.recovery.measured import Case
from ssdscope.recovery.shape import Shape, Values, answers_for_flash, number
from ssdscope.recovery.truth import row_bytes, rows_bytes, seen_page_bytes

SPANS_MIN = 8
BUSY_PAUSE = 4
ORDER_SHOWS = 0.03
MEDIAN_OF_NOISE = 0.6745
"""Of the absolute value of what is standard normal."""
KNEE_SHARES = (0.88, 0.92)
"""Rates that two measurements may take for 90 %."""

KeyMask = Callable[[Values, Shape], bool]
Mask = Callable[[Case], bool]


def _protected(values: Values, _shape: Shape) -> bool:
    return answers_for_flash(values)


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
    """Whether writes reach their blocks by folding, however long they go on without a pause."""
    return number(values, "pslc.bytes") > 0 and values.get("pslc.overflow", "fold") != "direct"


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


def _straddling(values: Values, shape: Shape) -> bool:
    return len(set(rows_bytes(values, shape))) > 1


def _table_in_rows(values: Values, shape: Shape) -> bool:
    """Whether every other page of the table may leave a row on two planes, half on either."""
    superblocks = number(values, "ftl.reclaim_unit_bytes") > shape.block_bytes
    by_address = values.get("ftl.allocation", "address") == "address"
    moved = superblocks and by_address and values.get("map.kind") == "demand"
    unit = max(shape.unit_bytes, seen_page_bytes(values, shape))
    return moved and row_bytes(values, shape) == 2 * unit


def _moving_table(values: Values, _shape: Shape) -> bool:
    writes_too = float(values.get("disturbance.foreign_write_ratio", 0.0)) > 0
    return writes_too and values.get("map.kind") == "demand"


def _noisy(values: Values, _shape: Shape) -> bool:
    sigma = float(values.get("disturbance.noise_sigma", 0.0))
    return math.exp(MEDIAN_OF_NOISE * sigma) > 1 + TOLERANCE


def _by_keys(mask: KeyMask) -> Mask:
    return lambda case: mask(case.values, case.twin.shape)


def _stirred(case: Case) -> bool:
    by_address = case.truths["allocation"].value == "address"
    return by_address and case.order_effect.mean >= ORDER_SHOWS


def _in_turn(case: Case) -> bool:
    return case.turns > 1


def _beside(case: Case) -> bool:
    return case.overwritten.shown > (1 + TOLERANCE) * case.overwritten.share


def _alpha_bent(case: Case) -> bool:
    return _differ(case.line.alpha_ns, case.latencies.lower_half.alpha_ns)


def _beta_bent(case: Case) -> bool:
    return _differ(case.line.beta_ns_per_byte, case.latencies.lower_half.beta_ns_per_byte)


def _shallow(case: Case) -> bool:
    return any(_differ(case.rates.knee, case.rates.depth_of(share)) for share in KNEE_SHARES)


def _deepened(case: Case) -> bool:
    return _differ(case.rates.knee, case.noisy_knee)


def _differ(true: float, other: float) -> bool:
    return abs(other - true) > TOLERANCE * true


MASKS: Mapping[str, Mask] = {
    "protected": _by_keys(_protected),
    "one-command": _by_keys(_one_command),
    "cached": _by_keys(_cached),
    "region": _by_keys(_region),
    "full-region": _by_keys(_full_region),
    "merges": _by_keys(_merges),
    "few-spans": _by_keys(_few_spans),
    "blurred": _by_keys(_blurred),
    "busy": _by_keys(_busy),
    "short-zones": _by_keys(_short_zones),
    "hidden-unit": _by_keys(_hidden_unit),
    "hidden-logs": _by_keys(_hidden_logs),
    "straddling": _by_keys(_straddling),
    "table-in-rows": _by_keys(_table_in_rows),
    "stirred": _stirred,
    "in-turn": _in_turn,
    "beside": _beside,
    "noisy": _by_keys(_noisy),
    "moving-table": _by_keys(_moving_table),
    "alpha-bent": _alpha_bent,
    "beta-bent": _beta_bent,
    "shallow": _shallow,
    "deepened": _deepened,
}
"""By the names that the document gives them."""

YIELDING = frozenset({"protected", "hidden-unit", "hidden-logs"})
"""Masks of what a protected buffer answers for, unless deep bursts show it all the same."""

EFFECTLESS = frozenset({"full-region"})
"""Masks that leave nothing a host could notice: whoever says "absent" is right."""

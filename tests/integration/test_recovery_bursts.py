"""What shows past a protected buffer, by deep bursts: each row of the rule book flips.

The drives are those of `test_recovery_rules`, behind a buffer that answers flushes and forced
writes.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.integration.test_recovery_rules import LOGS, NO_TIME, PAGE, REGION, SPARE, drawn

from ssdscope.recovery import reference_bursts as bursts
from ssdscope.recovery import reference_writes as writes
from ssdscope.recovery.measured import Case
from ssdscope.recovery.observability import MASKS, RULES, YIELDING, Visibility, visibility
from ssdscope.recovery.twin import Twin

PROTECTED: dict[str, Any] = {
    "write_buffer.bytes": 512 << 10,
    "write_buffer.unit_bytes": 4096,
    "write_buffer.power_loss_protected": True,
    "write_buffer.switchable": False,
}
DRIVES = {
    "page": PAGE | PROTECTED | {"nand.blocks_per_plane": 200, "map.kind": "ram"},
    "spare": SPARE | PROTECTED,
    "region": REGION | PROTECTED | {"pslc.overflow": "direct", "pslc.bytes": 8 * 4 * 16 * 4096},
    "logs": LOGS | PROTECTED | {"ftl.log_blocks": 12, "ftl.log_association": "many-to-one"},
    "few-logs": LOGS | PROTECTED | {"write_buffer.bytes": 64 << 10},
}
SHOWN_BY = {
    "merge_unit_bytes": "few-logs",
    "over_provisioning_ratio": "logs",
    "open_units": "few-logs",
    "gc_period_bytes": "spare",
}
"""On the others it is the drive `page`."""
BY_BURSTS = [name for name, rule in RULES.items() if rule.bursts]


@cache
def seen_on(name: str, *, no_time: bool = False) -> dict[str, Visibility]:
    values = DRIVES[name]
    if no_time:
        tables = {key.partition(".")[0] for key in values} | {"host"}
        values = values | {k: v for k, v in NO_TIME.items() if k.partition(".")[0] in tables}
    return visibility(Case(drawn(values)))


@pytest.mark.parametrize("name", BY_BURSTS)
def test_a_property_shows_past_a_protected_buffer_and_not_where_nothing_takes_time(
    name: str,
) -> None:
    drive = SHOWN_BY.get(name, "page")
    shown = seen_on(drive)[name]
    assert shown.observable, shown
    assert shown.masked_by == ()
    hidden = seen_on(drive, no_time=True).get(name)
    assert hidden is None or (not hidden.observable and set(hidden.masked_by) & YIELDING)


def test_what_yields_to_bursts_has_a_measurement_by_bursts() -> None:
    assert {mask for rule in RULES.values() for mask in rule.masks} >= YIELDING
    for rule in RULES.values():
        assert bool(rule.bursts) == bool(set(rule.masks) & YIELDING)


def test_single_writes_show_none_of_it() -> None:
    """Each is answered by the buffer, whichever unit it straddles, as is the flush behind it."""
    twin = Twin(drawn(DRIVES["page"]))
    assert abs(writes.shifted(twin)) < 0.02
    assert bursts.shifted(twin) > 0.5


def test_a_buffer_that_is_larger_than_the_log_blocks_hides_them() -> None:
    twin = Twin(drawn(DRIVES["few-logs"] | {"write_buffer.bytes": 4 << 20}))
    assert bursts.logs(twin) == 0.0
    assert bursts.periodic(twin, twin.shape.collected_bytes) == 0.0


def test_what_takes_longer_than_ten_minutes_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = Twin(drawn(DRIVES["page"]))
    monkeypatch.setattr(bursts, "MOST_NS", 1)
    assert bursts.shifted(twin) == bursts.filled(twin) == 0.0


def test_collection_shows_past_a_buffer_that_takes_every_single_write() -> None:
    """A protected buffer of single writes is emptied in time, whatever is collected behind it."""
    case = Case(drawn(DRIVES["spare"] | {"host.command_ns": 2_000_000}))
    alone = writes.overwritten(Twin(case.drawn))
    assert alone.contrast < 0.05
    assert case.overwritten.share == pytest.approx(alone.share)
    deep = Case(drawn(DRIVES["spare"])).overwritten
    assert deep.contrast > 0.1


def test_a_region_that_is_passed_by_hides_no_collection() -> None:
    """What overflows directly is collected as if there were none; what is folded is not."""
    direct, folded = (
        Case(drawn(DRIVES["region"] | {"pslc.overflow": each})) for each in ("direct", "fold")
    )
    assert [MASKS["region"](each) for each in (direct, folded)] == [False, True]
    assert direct.overwritten.contrast > 0.1
    seen = seen_on("region")
    assert seen["gc_write_amplification"].observable
    assert seen["over_provisioning_ratio"].observable


def test_parts_of_a_period_are_those_of_no_other_length() -> None:
    series = np.tile([1.0] * 30 + [5.0, 1.0], 40)
    assert bursts.above_chance(series, 32) > 0.5
    assert bursts.above_chance(series, 31) < 0.1

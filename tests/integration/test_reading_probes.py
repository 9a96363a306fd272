"""Drives on which probes that only read take seconds."""

from __future__ import annotations

import pytest

from ssdscope.findings import Detected, Undetectable
from ssdscope.probes import session
from ssdscope.probes.bench.ledger import Bench
from ssdscope.probes.budget import Budget, silent
from ssdscope.probes.dies import probe as dies
from ssdscope.recovery.generator import draw
from ssdscope.recovery.measured import Case
from ssdscope.targets import open_target
from ssdscope.targets.drive_writer import open_drive


@pytest.mark.parametrize("name", ["huang-hdd-s", "ryu-hdd"])
def test_an_arm_is_not_counted(name: str) -> None:
    device = open_target(f"sim:{name}", seed=1).device
    bench = Bench(device, Budget.parse("default"), 1)
    for found in session._of_one(dies.PROBE, bench, silent):
        assert isinstance(found, Undetectable)


@pytest.mark.always(1)
@pytest.mark.parametrize(("seed", "index"), [(2_404_294_828, 44), (2_357_922_838, 194)])
def test_blocks_that_a_read_cache_still_holds_do_not_make_a_table_larger(
    seed: int, index: int
) -> None:
    drawn = draw(seed, index)
    device = open_drive(drawn.toml(), "drawn", index)
    found = session.run(["caches", "table"], device, Budget.parse("full"), index)
    table = {each.name: each for each in found}["map_cache_bytes"]
    assert isinstance(table, Detected), table
    truth = Case(drawn).truths["map_cache_bytes"].value
    assert isinstance(truth, int)
    assert table.value == pytest.approx(truth, rel=0.02)

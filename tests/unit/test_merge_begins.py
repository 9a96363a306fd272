"""Beginnings of merge units, where more of them together repeat than one."""

from __future__ import annotations

import numpy as np

from ssdscope.probes import merge_begins, merge_unit, session
from ssdscope.probes.budget import Budget
from ssdscope.studies.recovery.generator import draw
from ssdscope.targets.drive_writer import open_drive


def test_zones_of_several_merge_units_are_told_from_one() -> None:
    """What is written back of the mapping table repeats with zones of seven units of 384 KiB."""
    device = open_drive(draw(775122358, 128).toml(), "drawn", 128)
    found = session.run(["merge_unit"], device, Budget.parse("full"), 128)
    told = {each.name: each.to_json()["value"] for each in found}
    assert told[merge_unit.UNIT] == 393_216


def test_some_kinds_of_writes_wait_or_none() -> None:
    """Where all do, each waits for a log block of its own."""
    fast, slow, either = np.full(16, 1.0), np.full(16, 3.0), np.repeat([1.0, 3.0], 8)
    assert merge_begins._some_wait([fast, slow, fast]) == 1
    assert merge_begins._some_wait([fast, fast]) is None
    assert merge_begins._some_wait([slow, slow]) is None
    assert merge_begins._some_wait([fast, either, slow]) is None

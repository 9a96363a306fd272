"""What heavy probes see behind a buffer that is protected: neither RMW nor merge unit is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.collecting_drives import bench_with, log_block, page_mapped, told

from ssdscope.findings import Reason, Undetectable
from ssdscope.probes.bench.ledger import Bench

PROTECTED = """
[write_buffer]
bytes = 262_144
unit_bytes = 4096
drain = "eager"
ns_per_byte = 0.1
power_loss_protected = true
switchable = false
"""
LARGE: dict[str, Any] = {"blocks": 240, "pages": 192}


def unknown(bench: Bench) -> Bench:
    """Let the usual probes have failed for the buffer."""
    for name in ("rmw_unit_bytes", "merge_unit_bytes", "pslc_bytes"):
        reason = Reason.PLP_NO_FLUSH_EFFECT
        bench.known[name] = Undetectable(name=name, probe="test", reason=reason)
    return bench


def test_the_spare_space_is_not_told_without_the_unit(tmp_path: Path) -> None:
    """Nobody knows how much of a write is its own."""
    for toml in (page_mapped(**LARGE), log_block(**LARGE, logs=20, merge=2 * 192 * 4096)):
        for finding in told("spare", unknown(bench_with(tmp_path, toml + PROTECTED))).values():
            assert isinstance(finding, Undetectable)
            assert finding.reason is Reason.MASKED


@pytest.mark.parametrize("association", ["one-to-one", "many-to-one"])
def test_log_blocks_have_no_reclaim_unit(tmp_path: Path, association: str) -> None:
    toml = log_block(association=association) + PROTECTED
    found = told("collection", unknown(bench_with(tmp_path, toml)))["reclaim_unit_bytes"]
    assert isinstance(found, Undetectable)

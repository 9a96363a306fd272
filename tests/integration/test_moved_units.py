"""The RMW unit by reads: what moves together with a block that is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.collecting_drives import NOISE, bench_with, log_block, page_mapped, told

from ssdscope.probes import Detected, Finding, State, moved_units

UNIT, PHASE = "rmw_unit_bytes", "alignment_phase_bytes"
PROTECTED = """
[write_buffer]
bytes = 262_144
unit_bytes = 4096
drain = "{drain}"
ns_per_byte = 0.1
power_loss_protected = true
switchable = false
"""
EAGER = PROTECTED.format(drain="eager")


def found(folder: Path, toml: str) -> dict[str, Finding]:
    return told("rmw_unit", bench_with(folder, toml))


def mapped(unit: int, phase: int = 0, **keys: str) -> str:
    """Write a drive whose units lie on a chip each: two on one chip are read one by one."""
    more = f"map_unit_bytes = {unit}\nphase_bytes = {phase}\nplacement_pages = {unit // 4096}"
    return page_mapped(channels=4, blocks=300, pages=96, more=more, **keys)


@pytest.mark.always(3)
@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize(("unit", "phase"), [(8192, 0), (12_288, 4096), (16_384, 1536)])
def test_the_unit_and_its_phase(tmp_path: Path, unit: int, phase: int, noise: str) -> None:
    findings = found(tmp_path, mapped(unit, phase) + EAGER + noise)
    for name, value in ((UNIT, unit), (PHASE, phase)):
        finding = findings[name]
        assert isinstance(finding, Detected)
        assert finding.value == value
        assert finding.evidence.figures["by"] == "reads"


def test_common_log_blocks(tmp_path: Path) -> None:
    toml = log_block(
        association="many-to-one",
        merge=2 * 96 * 4096,
        logs=20,
        blocks=600,
        pages=96,
        more="map_unit_bytes = 8192\nplacement_pages = 2",
    )
    unit = found(tmp_path, toml + EAGER)[UNIT]
    assert isinstance(unit, Detected)
    assert unit.value == 8192


@pytest.mark.parametrize(
    "toml",
    [
        pytest.param(mapped(4096) + EAGER, id="as small as the usual unit of memory"),
        pytest.param(mapped(8192, allocation="address") + EAGER, id="stays on its chips"),
        pytest.param(mapped(8192) + PROTECTED.format(drain="full"), id="stays in the buffer"),
        pytest.param(
            mapped(8192) + EAGER + "[read_cache]\nbytes = 4_194_304\nswitchable = false\n",
            id="read from a cache",
        ),
    ],
)
def test_what_reads_do_not_show_has_no_answer(tmp_path: Path, toml: str) -> None:
    bench = bench_with(tmp_path, toml)
    with bench.allowance(moved_units.writes_bytes(bench.info) + bench.info.capacity_bytes):
        bench.enter(State.FILLED)
        assert not moved_units.detect(bench, UNIT, PHASE, "test", None)

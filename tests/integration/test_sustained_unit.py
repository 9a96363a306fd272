"""The RMW unit with the buffer on: by how fast small writes go on once it is full."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.collecting_drives import NOISE, bench_with, page_mapped

from ssdscope.probes import Detected, Finding, State, sustained_unit

BUFFER = """
[write_buffer]
bytes = 65_536
unit_bytes = 4096
drain = "eager"
ns_per_byte = 0.1
power_loss_protected = true
switchable = false
[host]
command_ns = 5_000
bytes_per_second = 1e9
"""


def mapped(unit: int, phase: int = 0) -> str:
    """Write a drive that keeps each address on its chip, so that reads show nothing."""
    more = f"map_unit_bytes = {unit}\nphase_bytes = {phase}"
    return page_mapped(channels=4, blocks=600, pages=96, allocation="address", more=more)


def found(folder: Path, toml: str, held_bytes: int | None = 4096) -> list[Finding]:
    bench = bench_with(folder, toml)
    with bench.allowance(sustained_unit.writes_bytes(bench.info) + bench.info.capacity_bytes):
        bench.enter(State.FILLED)
        return sustained_unit.detect(bench, "unit", "phase", "test", held_bytes)


@pytest.mark.parametrize("noise", ["", NOISE])
@pytest.mark.parametrize("unit", [8192, 16_384])
def test_whole_units_go_on_the_fastest(tmp_path: Path, unit: int, noise: str) -> None:
    findings = found(tmp_path, mapped(unit) + BUFFER + noise)
    assert [each.value for each in findings if isinstance(each, Detected)] == [unit, 0]


@pytest.mark.parametrize(
    ("unit", "phase", "held_bytes"),
    [
        pytest.param(4096, 0, None, id="as small as the usual unit of memory"),
        pytest.param(8192, 0, 8192, id="no larger than a unit of the buffer"),
        pytest.param(16_384, 8192, 4096, id="units begin in the middle of a size"),
        pytest.param(16_384, 1536, 4096, id="units begin anywhere"),
    ],
)
def test_what_it_cannot_tell_has_no_answer(
    tmp_path: Path, unit: int, phase: int, held_bytes: int | None
) -> None:
    assert not found(tmp_path, mapped(unit, phase) + BUFFER, held_bytes)

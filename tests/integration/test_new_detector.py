"""The detector of docs/new-detector.md, as it stands there, on drives of all kinds."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integration.small_drives import FLAT, MIB, NOISE, opened, probed

from ssdscope.findings import PROPERTIES, Detected, Finding, Property, Reason, Undetectable
from ssdscope.findings.families import FAMILIES
from ssdscope.probes import mechanisms, registry, session
from ssdscope.probes.again import decide
from ssdscope.probes.budget import Budget
from ssdscope.probes.record import Record

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "new-detector.md").read_text(encoding="utf-8")
FILE, ROW, ROWS, LINE = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE)
(OUTPUT,) = re.findall(r"(?ms)^```text\n(.*?)^```$", PAGE)
PROBE, WAIT = "suspension", "read_behind_write_ns"

HALF_NS = (400_000 + 4096 * 5) / 2
"""What is left of transfer and program halfway through them."""
SUSPENDS = {"scheduler.suspend": '"program-and-erase"', "scheduler.suspend_ns": 20_000}
BUFFER = {"write_buffer.bytes": MIB, "write_buffer.ns_per_byte": 0.5}
DISTURBED = {
    **NOISE,
    "disturbance.drift_ratio": 0.1,
    "disturbance.drift_period_ns": 2_000_000_000,
}
DRIVES: dict[str, tuple[float | Reason, *tuple[dict[str, Any], ...]]] = {
    "as it is": (HALF_NS,),
    "suspends, 20 us": (20_000, SUSPENDS),
    "as it is, disturbed": (HALF_NS, DISTURBED),
    "suspends, 20 us, disturbed": (20_000, SUSPENDS, DISTURBED),
    "suspends erases alone": (HALF_NS, SUSPENDS, {"scheduler.suspend": '"erase"'}),
    "dies of two planes": (HALF_NS, {"nand.planes": 2, "nand.blocks_per_plane": 150}),
    "a buffer that is switched off": (HALF_NS, BUFFER),
    "a buffer that stays on": (
        Reason.WRITE_ACKED_FROM_BUFFER,
        BUFFER,
        {"write_buffer.switchable": False},
    ),
    "flash that takes no time": (Reason.WRITE_ACKED_FROM_BUFFER, FLAT),
    "a slow controller alone": (Reason.LINK_BOUND, FLAT, {"host.command_ns": 100_000}),
    "suspends, 0 us, noise": (
        Reason.EFFECT_BELOW_NOISE,
        SUSPENDS,
        NOISE,
        {"scheduler.suspend_ns": 0},
    ),
}


def values(block: str, names: dict[str, Any]) -> list[Any]:
    """Give what each expression of a block stands for."""
    found = (ast.unparse(each) for each in ast.parse(block).body)
    return [eval(each, dict(names)) for each in found]


@pytest.fixture(autouse=True)
def _registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the file and the lines of the page where it says that they go."""
    file = tmp_path / f"{PROBE}.py"
    file.write_text(FILE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(PROBE, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, PROBE, module)
    (about,) = values(ROW, {"Property": Property})
    monkeypatch.setitem(PROPERTIES, about.key, about)
    for family in about.families:
        monkeypatch.setitem(FAMILIES, family, (about.key,))
    # NO_FLASH was made of the properties that there were.
    masks = [
        replace(each, hides=(*each.hides, WAIT)) if each.hides == mechanisms.NO_FLASH else each
        for each in mechanisms.MASKS
    ]
    masks += values(ROWS, vars(mechanisms))
    for place in (mechanisms, session):
        monkeypatch.setattr(place, "MASKS", tuple(masks))
    spec.loader.exec_module(module)
    (probe,) = values(LINE, {PROBE: module})
    monkeypatch.setattr(registry, "_PROBES", (*registry._PROBES, probe))


def answer(folder: Path, name: str) -> Finding:
    return probed(PROBE, opened(folder, *DRIVES[name][1:]))[WAIT]


@pytest.mark.parametrize("name", DRIVES)
def test_it_is_right_or_says_why_it_cannot_tell(tmp_path: Path, name: str) -> None:
    found, truth = answer(tmp_path, name), DRIVES[name][0]
    if isinstance(truth, Reason):
        assert isinstance(found, Undetectable), found
        assert found.reason is truth
    else:
        assert isinstance(found, Detected), found
        assert found.value == pytest.approx(truth, rel=0.15 if DISTURBED in DRIVES[name] else 0.05)


def drawn(rng: np.random.Generator) -> tuple[float, dict[str, Any]]:
    """Draw a drive with noise, and what a read waits there."""
    channels, ways, dies, planes = (
        int(rng.choice(each)) for each in ((1, 2, 3, 4, 6, 8, 10), (1, 2, 4), (1, 1, 2), (1, 1, 2))
    )
    program_ns = int(rng.choice((200_000, 600_000, 1_500_000, 3_000_000)))
    suspend_ns = int(rng.choice((5_000, 20_000, 60_000, 100_000)))
    transfer_ns = float(rng.choice((2.5, 5.0, 25.0)))
    page = int(rng.choice((2048, 4096, 4096)))
    keys = {
        "nand.channels": channels,
        "nand.ways": ways,
        "nand.dies": dies,
        "nand.planes": planes,
        "nand.blocks_per_plane": max(60, 1200 // (channels * ways * dies * planes)),
        "nand.program_ns": program_ns,
        "nand.page_bytes": page,
        "channel.ns_per_byte": transfer_ns,
        "host.bytes_per_second": float(rng.choice((300e6, 600e6, 3e9))),
        "host.command_ns": int(rng.choice((1000, 5000, 10_000, 20_000))),
        "ftl.plane_order": f'"{rng.choice(("CWDP", "PDWC", "CPWD", "WCDP"))}"',
        "ftl.allocation": f'"{rng.choice(("order", "address"))}"',
        "scheduler.multi_plane": bool(rng.integers(2)),
    }
    if rng.integers(2):
        return suspend_ns, {**keys, **SUSPENDS, "scheduler.suspend_ns": suspend_ns}
    return (program_ns + page * transfer_ns) / 2, keys


@pytest.mark.calibration
def test_it_is_right_on_drives_that_were_drawn(tmp_path: Path) -> None:
    rng, off = np.random.default_rng(2), []
    for _ in range(60):
        truth, keys = drawn(rng)
        value = probed(PROBE, opened(tmp_path, NOISE, keys))[WAIT].value
        if isinstance(value, float):
            off.append(abs(value / truth - 1))
    assert len(off) > 15
    assert np.quantile(off, 0.9) < PROPERTIES[WAIT].tolerance, sorted(off)


@pytest.mark.parametrize("by", ["rotation_ns", "merge_unit_bytes", "map_zone_bytes"])
def test_what_hides_it_is_in_the_table(by: str) -> None:
    there = Detected(name=by, probe="", value=1.0, interval=None, effect=1.0)
    assert mechanisms.masked(WAIT, {}) is None
    assert mechanisms.masked(WAIT, {by: there}) is not None


def test_the_page_shows_what_it_answers(tmp_path: Path) -> None:
    shown = dict(re.split(r" {2,}", line) for line in OUTPUT.splitlines())
    assert {name: repr(answer(tmp_path, name)) for name in shown} == shown


@pytest.mark.parametrize("name", ["suspends, 20 us, disturbed", "a buffer that stays on"])
def test_it_decides_again_from_its_record(tmp_path: Path, name: str) -> None:
    record, path = Record(), tmp_path / "series.npz"
    budget = Budget.parse("default")
    device = opened(tmp_path, *DRIVES[name][1:])
    (found,) = session.run(["suspension"], device, budget, 1, record=record)
    record.save(path)
    again = {each.name: each for each in decide(Record.load(path))}[WAIT]
    costs = {"bytes_written": found.bytes_written, "requests": found.requests}
    assert replace(again, **costs) == found


@pytest.mark.parametrize("command", [("check",), ("format", "--check")])
def test_the_file_has_the_style_of_the_house(command: tuple[str, ...]) -> None:
    where = "python/ssdscope/probes/suspension/probe.py"
    words = (sys.executable, "-m", "ruff", *command, "--no-cache", "--stdin-filename", where, "-")
    said = subprocess.run(words, input=FILE, capture_output=True, text=True, cwd=ROOT)
    assert said.returncode == 0, said.stdout + said.stderr


def test_lines_of_the_page_are_short() -> None:
    assert max(map(len, FILE.splitlines())) <= 100
    assert max(map(len, PAGE.splitlines())) <= 120

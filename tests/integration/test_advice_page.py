"""The page about advice: its outputs are what the commands print, its table is the registry."""

import json
import re
from pathlib import Path

import pytest
from tests.integration.test_advise_command import document

from ssdscope.advise.knobs import KNOBS
from ssdscope.findings import PROPERTIES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "advice.md"


def table() -> str:
    """Write the registry as the page has it."""
    lines = ["| tool | setting | formula | needs | gain measured |", f"|{' --- |' * 5}"]
    for knob in KNOBS:
        needs = (PROPERTIES[each].name if each in PROPERTIES else each for each in knob.needs)
        gain = "on the twin" if knob.stream else f"no: {knob.no_stream}"
        gain = gain if knob.gain is None else "by the probe"
        cells = (knob.tool, knob.name, knob.formula, ", ".join(needs), gain)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_of_settings_is_the_registry() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("which", [0, 1])
def test_outputs_on_the_page_are_what_the_commands_print(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    words, shown = re.findall(r"```text\n\$ ssdscope (.*?)\n(.*?)```", page, re.DOTALL)[which]
    report = tmp_path / "report.json"
    report.write_text(json.dumps(document()), encoding="utf-8")
    monkeypatch.chdir(ROOT)
    said = cli(*(str(report) if word == report.name else word for word in words.split()))
    assert said.out.rstrip() == shown.rstrip()

"""Every command line in the documentation is one that the command line takes."""

import re
import shlex
from pathlib import Path

import pytest

from ssdscope.targets.presets import preset_names
from ssdscope.workloads.options import ALIASES, OPTIONS

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
PLACEHOLDERS = {"NAME", "TARGET"}


def documented() -> list[tuple[str, str]]:
    """Where, and the line: in blocks of shell."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            found += [(page.name, line) for line in block.splitlines()]
    found = [(where, line.removeprefix("sudo .venv/bin/")) for where, line in found]
    return [(where, line) for where, line in found if line.startswith("ssdscope ")]


@pytest.mark.parametrize(("where", "line"), documented())
def test_a_documented_command_line_is_taken(cli, where: str, line: str) -> None:
    words = shlex.split(line.partition("   ")[0], comments=True)[1:]
    said = cli(*words, "--help")
    assert said.status == 0, f"{where}: {said.err}"
    for word in words:
        if word.startswith("sim:") and word != "sim:NAME":
            assert word.removeprefix("sim:") in preset_names(), where


def test_there_is_something_to_check() -> None:
    assert len(documented()) > 15


def test_the_guide_names_every_option_of_run() -> None:
    text = (ROOT / "docs" / "running.md").read_text(encoding="utf-8").partition("## Several")[0]
    named = {name.replace("-", "_") for name in re.findall(r"--([a-z-]+)", text)}
    others = {"log", "timeline", "timeline_interval", "until_steady", "verify", "do_verify"}
    assert named == OPTIONS.keys() | ALIASES.keys() | others


def test_links_lead_somewhere() -> None:
    for page in (*PAGES, *ROOT.glob("*.md")):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def anchors(page: Path) -> set[str]:
    """Names that headings have as targets of links, by the rule of GitHub."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_into_a_page_name_a_heading_of_it() -> None:
    for page in (*PAGES, *ROOT.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
            aim = page.parent / link if link else page
            assert anchor in anchors(aim), f"{page.name}: {link}#{anchor}"

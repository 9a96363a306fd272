"""Every output on a page of the documentation is what its command prints."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripts.docs_outputs import BLOCK, ROOT, Step, matches, pages, renewed, steps

SCRIPT = ROOT / "scripts" / "docs_outputs.py"
MOVED = ["title", "a  1", "b  2", "c  3", "d  4", "end"]


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_shows_what_its_commands_print(page: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, page], capture_output=True, encoding="utf-8", check=False
    )
    hint = f"renew it: python scripts/docs_outputs.py --renew {page.relative_to(ROOT)}"
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{hint}"


def test_what_newcomers_follow_is_run() -> None:
    assert {"README.md", "tutorial.md", "lesson.md"} <= {page.name for page in pages()}
    for name in ("tutorial.md", "lesson.md"):
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        run = [step for block in BLOCK.findall(text) for step in steps(block)]
        assert len(run) >= 5, name
        assert text.count("$ ssdscope ") == sum(
            step.command.startswith("$ ssdscope ") for step in run
        )


def test_commands_are_told_from_what_they_print() -> None:
    block = "$ ssdscope a \\\n    --b\nfirst\n\nlast\n\n$ ssdscope c\n"
    assert list(steps(block)) == [
        Step("$ ssdscope a \\\n    --b", ("first", "", "last")),
        Step("$ ssdscope c", ()),
    ]


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        (MOVED, True),
        (["title", "…", "end"], True),
        (["…", "c  3", "…"], True),
        (["…"], True),
        ([*MOVED, "…"], True),
        (["title", "…"], True),
        (["title", "end"], False),
        (["…", "c  4", "…"], False),
        (["…", "title"], False),
        (["a  1", "…"], False),
        ([], False),
    ],
)
def test_dots_stand_for_any_lines_and_nothing_else(shown: list[str], same: bool) -> None:
    assert matches(shown, MOVED) is same


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("latency  1.521 ms  1,122 us", True),
        ("latency 1.53 ms 1,121 us", True),
        ("latency  1.54 ms  1,122 us", False),
        ("latency  1.521 us  1,122 us", False),
        ("latency  1.521 ms", False),
    ],
)
def test_what_is_fitted_may_differ_in_its_last_digits(printed: str, same: bool) -> None:
    shown = "latency  1.521 ms  1,122 us"
    assert matches([shown], [printed], near=0.01) is same
    assert matches([shown], [printed]) is (printed == shown)


def test_renewing_shows_the_same_places_again() -> None:
    shown = ["title", "…", "c  9", "…", "end"]
    fresh = renewed(shown, MOVED)
    assert fresh == ["title", "…", "c  3", "…", "end"]
    assert matches(fresh, MOVED)
    assert renewed(["gone"], MOVED) == MOVED
    assert renewed(["…", "ends"], MOVED) == ["…", "end"]

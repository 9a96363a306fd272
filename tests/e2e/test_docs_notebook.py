"""Every output in the notebook of the documentation is what its cell gives."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output
from scripts.notebook import PAGE, ROOT, differences, kept, texts

BYTES_MAX = 200_000
"""A repository keeps every version."""
IN_A_KERNEL = """
import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

SOURCE = '''
import ssdscope as s
from ssdscope.api import progress
progress.DELAY_S = 0
shown = []
write = progress._Cell.write
progress._Cell.write = lambda self, text: shown.append(text) or write(self, text)
s.run("sim:ryu-b", rw="randread", number_ios=500_000{})
len([text for text in shown if "%|" in text]) > 1
'''
for options in ("", ", progress=False"):
    made = new_notebook(cells=[new_code_cell(SOURCE.format(options))])
    NotebookClient(made, timeout=120).execute()
    outputs = made.cells[0].outputs
    print([each.output_type for each in outputs], [each.data["text/plain"] for each in outputs])
"""
"""Shows what a cell leaves that has a bar, and one that has none."""


@pytest.mark.slow
def test_the_notebook_shows_what_its_cells_give() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.notebook"],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def shown() -> NotebookNode:
    return nbformat.read(PAGE, as_version=4)


def test_the_notebook_is_short_and_every_cell_shows_something() -> None:
    cells = [cell for cell in shown().cells if cell.cell_type == "code"]
    assert 10 <= len(cells) <= 20
    assert PAGE.stat().st_size <= BYTES_MAX
    for number, cell in enumerate(cells, start=1):
        assert cell.execution_count == number
        assert texts(cell), cell.source
    pictures = [cell for cell in cells if "image/png" in texts(cell)]
    sheets = [cell for cell in cells if "text/html" in texts(cell)]
    assert len(pictures) >= 3
    assert len(sheets) >= 6


def test_what_it_shows_is_from_no_machine() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert not {"/ho" + "me/", "/ro" + "ot/", "/tm" + "p/"} & {
        text[at : at + 6] for at in range(len(text))
    }


def notebook(text: str, *tags: str) -> NotebookNode:
    result = new_output("execute_result", {"text/plain": text})
    return new_notebook(cells=[new_code_cell("a", outputs=[result], metadata={"tags": [*tags]})])


@pytest.mark.parametrize(
    ("before", "now", "tags", "same"),
    [
        ("5 ms", "5 ms", (), True),
        ("5 ms", "5.01 ms", (), False),
        ("5 ms", "5.01 ms", ("fitted",), True),
        ("5 ms", "5.2 ms", ("fitted",), False),
        ("5 ms", "5 ms\n6 ms", ("fitted",), False),
        ("of 2026-01-01, found in 5.2 s", "of 2027-12-31, found in 7 s", (), True),
    ],
)
def test_a_difference_is_found(before: str, now: str, tags: tuple[str, ...], same: bool) -> None:
    told = differences(notebook(before, *tags), notebook(now, *tags))
    assert (told == []) is same


def test_a_bar_is_shown_in_a_kernel_and_is_no_output(tmp_path: Path) -> None:
    """In a process of its own: the kernel's client warns of what is none of ours."""
    done = subprocess.run(
        [sys.executable, "-c", IN_A_KERNEL],
        cwd=tmp_path, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "['display_data', 'execute_result'] ['', 'True']",
        "['execute_result'] ['False']",
    ], done.stderr


def test_what_a_cell_prints_is_refused() -> None:
    bar = new_output("display_data", {"text/plain": ""})
    result = new_output("execute_result", {"text/plain": "5"})
    assert list(kept([bar, result])) == [result]
    with pytest.raises(RuntimeError, match="a cell printed: 5"):
        list(kept([bar, new_output("stream", text="5\n")]))


def test_a_cell_that_fails_is_told(tmp_path: Path) -> None:
    page = tmp_path / "a.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), page)
    script = f"from pathlib import Path; from scripts.notebook import run; run(Path({str(page)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr

"""Runs the notebook of the documentation and compares its outputs with those that it holds.

    python -m scripts.notebook            # compare
    python -m scripts.notebook --renew    # write what comes out now

It runs in a new folder that holds a copy of `examples/`. Texts and tables are compared but for
dates and times of this machine, pictures by being there. Bars that went away are no output.
Nobody edits an output by hand: change the cell, then renew.
"""

import argparse
import base64
import difflib
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image
from scripts.docs_outputs import FITTED_NEAR, same_line

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorial.ipynb"
TIMEOUT_S = 600
FITTED = "fitted"
"""Tag of a cell that shows a fit, whose last digits are the processor's."""
COLOURS = 64
OF_THIS_MACHINE = re.compile(r"\d{4}-\d\d-\d\d|\bin [\d.]+ s\b")
"""A date, and how long a page took."""
KEPT = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""Of the notebook's metadata; the rest is of whoever ran it."""


def run(page: Path) -> NotebookNode:
    """Run a notebook as a reader does who opens it where it lies, and give it with its outputs.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell fails.
    """
    notebook = nbformat.read(page, as_version=4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        (folder / "docs").mkdir()
        resources = {"metadata": {"path": str(folder / "docs")}}
        client = NotebookClient(
            notebook, timeout=TIMEOUT_S, resources=resources, record_timing=False
        )
        client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [*kept(cell.outputs)]
            cell.metadata.pop("execution", None)
    notebook.metadata = nbformat.from_dict(KEPT)
    return notebook


def kept(outputs: list[NotebookNode]) -> Iterator[NotebookNode]:
    """Give outputs without bars that were shown while a cell ran, and with small pictures.

    Raises
    ------
    RuntimeError
        If a cell printed anything else.
    """
    for each in outputs:
        if each.output_type == "stream":
            raise RuntimeError(f"a cell printed: {each.text}")
        data = each.get("data", {})
        if data == {"text/plain": ""}:  # where a bar was
            continue
        if "image/png" in data:
            data["image/png"] = smaller(data["image/png"])
        yield each


def smaller(picture: str) -> str:
    """Write a picture with few colours: it has few, and a repository keeps every version."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(picture))) as drawn:
        drawn.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
            file, "PNG", optimize=True
        )
    return base64.b64encode(file.getvalue()).decode()


def texts(cell: NotebookNode) -> list[str]:
    """Give the lines of a cell's outputs; of a picture, that it is there."""
    lines: list[str] = []
    for output in cell.get("outputs", []):
        lines += str(output.get("text", "")).split("\n")
        for kind, data in sorted(output.get("data", {}).items()):
            lines.append(kind)
            if kind.startswith("text/"):
                lines += OF_THIS_MACHINE.sub("…", data).split("\n")
    return lines


def same(shown: NotebookNode, made: NotebookNode) -> bool:
    """Compare the outputs of two runs of a cell; numbers of a fit may differ a little."""
    near = FITTED_NEAR if FITTED in shown.metadata.get("tags", []) else 0.0
    before, now = texts(shown), texts(made)
    pairs = zip(before, now, strict=False)
    return len(before) == len(now) and all(same_line(*pair, near) for pair in pairs)


def differences(shown: NotebookNode, made: NotebookNode) -> list[str]:
    """Compare the outputs of two runs of a notebook."""
    told: list[str] = []
    for number, pair in enumerate(zip(shown.cells, made.cells, strict=True), start=1):
        if not same(*pair):
            told.append(f"cell {number}: {pair[0].source}")
            told += difflib.unified_diff(*map(texts, pair), "shown", "made", lineterm="")
    return told


def main() -> None:
    """Compare or renew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--renew", action="store_true", help="write what comes out now")
    asked = parser.parse_args()
    made = run(PAGE)
    found = differences(nbformat.read(PAGE, as_version=4), made)
    print(*found, sep="\n")
    if asked.renew:
        if found:
            nbformat.write(made, PAGE)
    elif found:
        sys.exit("hint: python -m scripts.notebook --renew writes what comes out now")


if __name__ == "__main__":
    main()

"""Runs the commands on the pages of the documentation and compares what they print.

    python scripts/docs_outputs.py                         # compare every page
    python scripts/docs_outputs.py --renew docs/lesson.md  # write what they print now

A ```console block holds commands, which begin with "$ ", and below each what it writes to stdout.
A line "…" stands for any lines. A command that ends with a backslash goes on in the next line. The
blocks of a page run in order, in one new folder that holds a copy of `examples/`. Nobody edits an
output by hand: change the command, then renew the page.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
ANY = "…"
FITTED = "$ ssdscope model "
FITTED_NEAR = 0.01
"""Simulated runs are exact on every machine; the last digits of a fit are the processor's."""
TIMEOUT_S = 300


@dataclass(frozen=True)
class Step:
    """A command of a block, as it stands there, and the lines below it."""

    command: str
    shown: tuple[str, ...]


def pages() -> list[Path]:
    """Give every page that has a block of commands."""
    every = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    return [page for page in every if BLOCK.search(page.read_text(encoding="utf-8"))]


def steps(block: str) -> Iterator[Step]:
    """Give the commands of a block in order."""
    for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        ends = (n for n, line in enumerate(lines, 1) if not line.endswith("\\"))
        length = next(ends, len(lines))
        yield Step("\n".join(lines[:length]), trimmed(lines[length:]))


def trimmed(lines: Sequence[str]) -> tuple[str, ...]:
    """Leave out blanks at the end of lines, and empty lines at either end."""
    return tuple("\n".join(line.rstrip() for line in lines).strip("\n").splitlines())


def matches(shown: Sequence[str], printed: Sequence[str], near: float = 0.0) -> bool:
    """Say whether a command printed what the page shows; numbers may differ by a share `near`."""
    if not shown:
        return not printed
    if shown[0] == ANY:
        return any(matches(shown[1:], printed[n:], near) for n in range(len(printed) + 1))
    same = bool(printed) and same_line(shown[0], printed[0], near)
    return same and matches(shown[1:], printed[1:], near)


def same_line(shown: str, printed: str, near: float) -> bool:
    """Compare two lines; if numbers may differ, their columns may be of other widths, too."""
    if shown == printed or not near:
        return shown == printed
    lines = [shown.split(), printed.split()]
    words, others = ([NUMBER.sub("#", word) for word in line] for line in lines)
    ours, theirs = (
        [float(number.replace(",", "")) for number in NUMBER.findall(" ".join(line))]
        for line in lines
    )
    return words == others and all(
        abs(one - other) <= near * abs(one) for one, other in zip(ours, theirs, strict=True)
    )


def renewed(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Give the lines to show now: as many between two "…" as before, those most like before."""
    shown, printed = trimmed(shown), trimmed(printed)
    if ANY not in shown:
        return list(printed)
    lines: list[str] = []
    begin = 0
    for number, part in enumerate(parts := "\n".join(shown).split(ANY)):
        wanted = part.strip("\n").splitlines()
        if number:
            lines.append(ANY)
        if not wanted:
            continue
        first, last = number == 0, number == len(parts) - 1
        places = range(begin, max(begin, len(printed) - len(wanted)) + 1)
        place = begin if first else places[-1] if last else likest(wanted, printed, places)
        begin = place + len(wanted)
        lines += printed[place:begin]
    return lines


def likest(wanted: Sequence[str], printed: Sequence[str], places: Sequence[int]) -> int:
    """Give the place from which on what was printed is most like what is wanted."""

    def likeness(place: int) -> float:
        pairs = zip(wanted, printed[place:], strict=False)
        return sum(difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs)

    return max(places, key=likeness)


def run(command: str, folder: Path) -> list[str]:
    """Run a command in a shell, with the `ssdscope` of this Python, and give what it prints.

    Raises
    ------
    RuntimeError
        If it fails; with what it wrote to stderr.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command.removeprefix("$ ")],
        cwd=folder,
        env=os.environ | {"PATH": path, "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command}\nended with {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def work_through(page: Path, *, renew: bool) -> list[str]:
    """Run the commands of a page, and give the differences; or write what they print into it."""
    text = page.read_text(encoding="utf-8")
    differences: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")

        def again(block: re.Match[str]) -> str:
            lines: list[str] = []
            for step in steps(block[0]):
                printed = run(step.command, folder)
                near = FITTED_NEAR if step.command.startswith(FITTED) else 0.0
                if not matches(step.shown, trimmed(printed), near):
                    differences.append(difference(page, step, printed))
                shown = renewed(step.shown, printed)
                lines += [*([""] if lines else []), step.command, *shown]
            return "".join(f"{line}\n" for line in lines)

        fresh = BLOCK.sub(again, text)
    if renew and fresh != text:
        page.write_text(fresh, encoding="utf-8")
    return differences


def difference(page: Path, step: Step, printed: Sequence[str]) -> str:
    """Show what a command prints beside what the page says."""
    lines = difflib.unified_diff(
        step.shown, trimmed(printed), f"{page.name}: {step.command}", "printed now", lineterm=""
    )
    return "\n".join(lines)


def main() -> int:
    """Compare or renew the pages that are named, or all; 1 if one is not as its commands print."""
    parser = argparse.ArgumentParser(description="Run the commands on pages of the documentation.")
    parser.add_argument("pages", nargs="*", type=Path, help="README.md, docs/lesson.md, ...")
    parser.add_argument("--renew", action="store_true", help="write what they print into the page")
    given = parser.parse_args()
    found = 0
    for page in given.pages or pages():
        differences = work_through(page.resolve(), renew=given.renew)
        found += len(differences)
        print("\n\n".join(differences) or f"{page.name}: as its commands print")
    return int(found > 0 and not given.renew)


if __name__ == "__main__":
    sys.exit(main())

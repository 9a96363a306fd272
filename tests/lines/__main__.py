"""Try every line that may be advised, and write the table of docs/advice-lines.md.

    python -m tests.lines [--only WORDS] [--left] [--renew]

What needs drivers that this kernel has not is taken from the last `make lab ONLY=lines`
(out/lab.json), if that tried just these lines. What was taken is kept in out/lines.json. Exit
code 1 if a line is refused, or was tried nowhere.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.lines import page
from tests.lines.advised import advised
from tests.lines.devices import NotHereError, RefusedError
from tests.lines.in_lab import digest
from tests.lines.line import Line
from tests.lines.trials import TRIALS

OUT = Path(__file__).parents[2] / "out"
LAB, KEPT = OUT / "lab.json", OUT / "lines.json"


def _in_lab(line: Line) -> bool:
    """Whether the laboratory tried just the lines of this setting, and all passed."""
    if not LAB.exists():
        return False
    same = [each for each in advised() if each.setting == line.setting]
    wanted = digest([each for each in same if each.block_bytes == line.block_bytes])
    return any(
        each["suite"] == "lines" and each["outcome"] == "passed" and each["seen"].endswith(wanted)
        for each in json.loads(LAB.read_text(encoding="utf-8"))["results"]
    )


def tried(lines: list[Line]) -> Iterator[tuple[Line, str]]:
    """Try lines; give each with why it was refused, or nothing."""
    for line in lines:
        trial = TRIALS[line.setting]
        try:
            trial.run(line)
            yield line, ""
        except RefusedError as why:
            yield line, str(why)
        except NotHereError as why:
            yield line, "" if trial.needs_kernel and _in_lab(line) else f"not tried: {why}"


def main() -> int:
    """Try what was asked for; 0 if all was taken."""
    parser = argparse.ArgumentParser(prog="python -m tests.lines", description=__doc__)
    parser.add_argument("--only", default="", help="settings that hold one of these words")
    parser.add_argument("--left", action="store_true", help="only lines that are not kept yet")
    parser.add_argument("--renew", action="store_true", help="write the table")
    asked = parser.parse_args()
    words = asked.only.split(",")
    kept = set(page.load(KEPT)) if KEPT.exists() else set()
    lines = [each for each in advised() if any(word in each.setting for word in words)]
    refused = 0
    for line, why in tried([each for each in lines if not (asked.left and each in kept)]):
        kept.discard(line)
        if why:
            refused += 1
            sys.stdout.write(f"{line.block_bytes}: {line.text}\n  {why}\n")
        else:
            kept.add(line)
            page.save(sorted(kept), KEPT)
    sys.stdout.write(f"{len(lines) - refused} of {len(lines)} lines were taken\n")
    if asked.renew:
        page.write([each for each in advised() if each in kept])
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())

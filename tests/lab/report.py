"""The table at the end: which cases there were, and what was seen."""

import json
from collections import Counter
from pathlib import Path

from tests.lab.cases import FAILED, PASSED, SKIPPED, TIMED_OUT, Result

SEEN_MAX = 160


def one_line(text: str, most: int = SEEN_MAX) -> str:
    """Fit what was seen into a cell of a table."""
    line = " ".join(text.split()).replace("|", "/")
    return line if len(line) <= most else line[: most - 1] + "…"


def summary(results: list[Result]) -> str:
    """Count how cases ended."""
    counts = Counter(result.outcome for result in results)
    parts = (f"{counts[each]} {each}" for each in (PASSED, FAILED, TIMED_OUT, SKIPPED))
    return f"{len(results)} cases: " + ", ".join(parts)


def table(results: list[Result]) -> str:
    """Give a table in Markdown."""
    lines = ["| suite | kind | case | result | seen |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {each.suite} | {each.kind} | {each.name} | {each.outcome} | {one_line(each.seen)} |"
        for each in results
    ]
    return "\n".join(lines)


def is_good(results: list[Result]) -> bool:
    """Whether all that could be tried passed, and something was."""
    outcomes = {result.outcome for result in results}
    return PASSED in outcomes and outcomes <= {PASSED, SKIPPED}


def write(results: list[Result], folder: Path, about: dict[str, str]) -> None:
    """Write lab.md and lab.json."""
    head = "\n".join(f"- {key}: {value}" for key, value in about.items())
    text = f"# make lab\n\n{head}\n- {summary(results)}\n\n{table(results)}\n"
    (folder / "lab.md").write_text(text, encoding="utf-8")
    document = {**about, "results": [result.as_dict() for result in results]}
    (folder / "lab.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")

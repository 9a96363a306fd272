"""The table of lines that were tried: written by the harness, read by tests."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.lines.line import Line
from tests.lines.trials import TRIALS, tool

PAGE = Path(__file__).parents[2] / "docs/advice-lines.md"
HEAD = "| setting | line | values of N | blocks | tried with | outcome |"
Key = tuple[str, str, tuple[int, ...], int]
"""Setting, form, numbers and block of a line that was tried."""


def key(line: Line) -> Key:
    """Return what a line is called in the table."""
    return line.setting, line.form, line.numbers, line.block_bytes


def table(tried: Iterable[Line]) -> str:
    """Write a row for each form of a line and the blocks that it was tried on."""
    blocks: dict[tuple[str, str, tuple[int, ...]], list[int]] = {}
    for line in tried:
        blocks.setdefault(key(line)[:3], []).append(line.block_bytes)
    rows: dict[tuple[str, str, tuple[int, ...]], list[tuple[int, ...]]] = {}
    for (setting, form, numbers), sizes in blocks.items():
        rows.setdefault((setting, form, tuple(sorted(sizes))), []).append(numbers)
    order = list(TRIALS)
    lines = [HEAD, f"|{' --- |' * 6}"]
    for (setting, form, sizes), values in sorted(
        rows.items(), key=lambda each: (order.index(each[0][0]), each[0])
    ):
        cells = (
            setting, f"`{form.replace('|', '¦')}`", _values(values),
            " and ".join(f"{size:,}" for size in sizes), tool(setting), TRIALS[setting].by,
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _values(values: list[tuple[int, ...]]) -> str:
    """Write numbers; those of one line are joined by a slash."""
    return " ".join("/".join(map(str, each)) for each in sorted(values))


def read() -> set[Key]:
    """Read which lines were tried.

    Examples
    --------
    >>> all(len(each) == 4 for each in read())
    True
    """
    found: set[Key] = set()
    text = PAGE.read_text(encoding="utf-8")
    for row in text.partition(HEAD)[2].splitlines()[2:]:
        if not row.startswith("| "):
            break
        setting, form, values, sizes = row.strip("| ").split(" | ")[:4]
        for value, size in ((v, s) for v in values.split(" ") for s in sizes.split(" and ")):
            numbers = tuple(map(int, value.split("/")))
            plain = form.strip("`").replace("¦", "|")
            found.add((setting, plain, numbers, int(size.replace(",", ""))))
    return found


def write(tried: Iterable[Line]) -> None:
    """Put the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(HEAD)
    left = rest.splitlines()
    after = next((n for n, row in enumerate(left) if n and not row.startswith("|")), len(left))
    PAGE.write_text(before + table(tried) + "\n" + "\n".join(left[after:]), encoding="utf-8")


def save(lines: Iterable[Line], path: Path) -> None:
    """Write lines for the guest, where working them out takes minutes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([vars(each) for each in lines]), encoding="utf-8")


def load(path: Path) -> list[Line]:
    """Read them."""
    rows: list[Mapping[str, object]] = json.loads(path.read_text(encoding="utf-8"))
    return [Line(**row) for row in rows]  # type: ignore[arg-type]

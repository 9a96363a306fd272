"""Rules of the source itself. A rule with exceptions keeps them in a list that only shrinks."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.syntax import nodes_of, text_of, tree_of
from tests.violations import Violations

ROOT = Path(__file__).parents[2]
FUNCTION_LINES_MAX = 60
LINE_LENGTH_MAX = {".py": 100, ".rs": 110}
"""rustfmt breaks code at 100 and leaves strings and macros alone."""
LEFTOVERS = re.compile(rf"\b({'|'.join(('FIX' + 'ME', 'TO' + 'DO', 'XX' + 'X', 'HA' + 'CK'))})\b")
FOLDERS_OF_MACHINES = ("/wo" + "rk/", "/ho" + "me/", "/ro" + "ot/")

LONG_FUNCTIONS: dict[str, int] = {}
"""``path::function`` over the limit and how long it may be; take a number down, never up."""


@cache
def sources(suffix: str) -> list[Path]:
    folders = ("python", "crates", "tests", "benchmarks", "examples", "docs", "scripts")
    found = sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob(f"*{suffix}")
        if "target" not in path.parts
    )
    assert len(found) > 100, f"the walk saw {len(found)} {suffix} files"
    return found


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Names of functions with their line, and how many lines from the body's first to its last."""
    if path.suffix == ".py":
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = (
                    node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
                )
                yield (
                    node.name,
                    node.lineno,
                    (node.end_lineno or 0) - body[0].lineno + 1 if body else 0,
                )
        return
    lines = text_of(path).splitlines()
    for start, line in enumerate(lines):
        # rustfmt puts the closing brace of a function under its first word.
        head = re.match(
            r"(?P<indent> *)(?:pub(?:\([a-z]+\))? )?(?:const )?(?:unsafe )?fn (?P<name>\w+)", line
        )
        if head is None or line.rstrip().endswith(("}", ";")):
            continue
        ends = (
            n
            for n in range(start, len(lines))
            if lines[n] in (head["indent"] + "}", head["indent"] + "};")
        )
        end = next(ends, start)
        begin = next((n for n in range(start, end) if lines[n].rstrip().endswith("{")), start)
        yield head["name"], start + 1, end - begin - 1


def test_functions_fit_a_screen() -> None:
    rule = Violations()
    for path in (*sources(".py"), *sources(".rs")):
        for function, line, length in functions(path):
            limit = LONG_FUNCTIONS.get(f"{name_of(path)}::{function}", FUNCTION_LINES_MAX)
            rule.check(length <= limit, f"{name_of(path)}:{line}", f"{function}: {length} lines")
    rule.none(least=1000)


def test_lines_are_short_and_nothing_is_left_over() -> None:
    rule = Violations()
    for path in (*sources(".py"), *sources(".rs")):
        limit = LINE_LENGTH_MAX[path.suffix]
        for number, line in enumerate(text_of(path).splitlines(), start=1):
            where = f"{name_of(path)}:{number}"
            rule.check(len(line) <= limit, where, f"{len(line)} characters")
            rule.check(not LEFTOVERS.search(line), where, line.strip())
    rule.none(least=10_000)


def test_python_files_say_what_they_are_for() -> None:
    rule = Violations()
    for path in sources(".py"):
        rule.check(ast.get_docstring(tree_of(path)), f"{name_of(path)}:1", "no docstring")
    rule.none()


def test_rust_files_say_what_they_are_for() -> None:
    rule = Violations()
    for path in sources(".rs"):
        first = text_of(path).lstrip()
        rule.check(first.startswith("//!"), f"{name_of(path)}:1", "no module doc at the top")
    rule.none()


def prints(node: ast.AST) -> bool:
    """Whether a node is a call of ``print`` or touches one of the streams of `sys`."""
    match node:
        case ast.Call(func=ast.Name(id="print")):
            return True
        case ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr"):
            return True
    return False


def test_only_the_command_line_prints() -> None:
    rule = Violations()
    package = ROOT / "python"
    for path in sources(".py"):
        if path.is_relative_to(package) and not path.is_relative_to(package / "ssdscope/cli"):
            for node in nodes_of(path):
                if isinstance(node, ast.Call | ast.Attribute):
                    rule.check(not prints(node), f"{name_of(path)}:{node.lineno}", "prints")
    rule.none(least=1000)


def test_nothing_names_a_folder_of_some_machine() -> None:
    rule = Violations()
    for path in (*sources(".py"), *sources(".rs")):
        text = text_of(path)
        for folder in FOLDERS_OF_MACHINES:
            line = text.partition(folder)[0].count("\n") + 1
            rule.check(folder not in text, f"{name_of(path)}:{line}", f"names {folder}")
    rule.none()


def test_exceptions_are_still_needed() -> None:
    """A function that got short again leaves the list."""
    for name, limit in LONG_FUNCTIONS.items():
        path, _, function = name.partition("::")
        lengths = [length for found, _, length in functions(ROOT / path) if found == function]
        assert FUNCTION_LINES_MAX < max(lengths) <= limit, f"{name}: {lengths}"


def test_a_rule_names_every_place_that_breaks_it() -> None:
    rule = Violations()
    rule.check(False, "a.py:1", "first")
    rule.check(True, "a.py:2")
    rule.check(None, "b.py:3")
    with pytest.raises(AssertionError, match=r"a\.py:1: first\nb\.py:3$"):
        rule.none()
    with pytest.raises(AssertionError, match="tried in 3 places only"):
        rule.none(least=4)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("print('a')", True),
        ("sys.stderr.write('a')", True),
        ("sys.stdout", True),
        ("file.stdout", False),
        ("self.print('a')", False),
    ],
)
def test_a_line_that_prints_is_seen(source: str, expected: bool) -> None:
    assert any(map(prints, ast.walk(ast.parse(source)))) is expected


def test_the_function_counter_counts(tmp_path: Path) -> None:
    rust = tmp_path / "a.rs"
    rust.write_text(
        "pub fn f(\n    a: u8,\n) -> u8 {\n    let b = a;\n    b\n}\n", encoding="utf-8"
    )
    assert list(functions(rust)) == [("f", 1, 2)]
    python = tmp_path / "a.py"
    python.write_text('def f(a):\n    """Doc."""\n    b = a\n    return b\n', encoding="utf-8")
    assert list(functions(python)) == [("f", 1, 2)]

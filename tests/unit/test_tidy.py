"""Rules of the source itself. A rule with exceptions keeps them in a list that only shrinks."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
LINE_LENGTH_MAX = {".py": 100, ".rs": 110}
"""rustfmt breaks code at 100 and leaves strings and macros alone."""
LEFTOVERS = ("FIX" + "ME", "TO" + "DO", "XX" + "X", "HA" + "CK")

LONG_FILES: dict[str, int] = {}
"""Files over the limit and how long they may be; take a number down, never up."""

LONG_FUNCTIONS: dict[str, int] = {}
"""``path::function`` over the limit and how long it may be; take a number down, never up."""


def sources(*suffixes: str) -> list[Path]:
    folders = ("python", "crates", "tests", "benchmarks", "examples", "docs", "scripts")
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in suffixes and "target" not in path.parts
    )


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


EVERY = pytest.mark.parametrize("path", sources(".py", ".rs"), ids=name_of)
PYTHON = pytest.mark.parametrize("path", sources(".py"), ids=name_of)
RUST = pytest.mark.parametrize("path", sources(".rs"), ids=name_of)


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Names of functions, and how many lines from the body's first to its last."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                yield node.name, (node.end_lineno or 0) - body[0].lineno + 1 if body else 0
        return
    lines = text.splitlines()
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
        yield head["name"], end - begin - 1


@EVERY
def test_files_are_short(path: Path) -> None:
    length = len(path.read_text(encoding="utf-8").splitlines())
    assert length <= LONG_FILES.get(name_of(path), FILE_LINES_MAX), f"{length} lines"


@EVERY
def test_functions_fit_a_screen(path: Path) -> None:
    for function, length in functions(path):
        limit = LONG_FUNCTIONS.get(f"{name_of(path)}::{function}", FUNCTION_LINES_MAX)
        assert length <= limit, f"{function}: {length} lines"


@EVERY
def test_lines_are_short_and_nothing_is_left_over(path: Path) -> None:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        assert len(line) <= LINE_LENGTH_MAX[path.suffix], f"line {number}: {len(line)} characters"
        assert not re.search(rf"\b({'|'.join(LEFTOVERS)})\b", line), (
            f"line {number}: {line.strip()}"
        )


@PYTHON
def test_python_files_say_what_they_are_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@RUST
def test_rust_files_say_what_they_are_for(path: Path) -> None:
    first = path.read_text(encoding="utf-8").lstrip()
    assert first.startswith("//!"), "no module doc at the top"


@PYTHON
def test_only_the_command_line_prints(path: Path) -> None:
    if not path.is_relative_to(ROOT / "python") or path.is_relative_to(
        ROOT / "python/ssdscope/cli"
    ):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno} prints"
        if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr"):
            assert not (isinstance(node.value, ast.Name) and node.value.id == "sys"), (
                f"line {node.lineno} touches sys.{node.attr}"
            )


@EVERY
def test_nothing_names_a_folder_of_some_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for folder in ("/wo" + "rk/", "/ho" + "me/", "/ro" + "ot/"):
        assert folder not in text


def test_exceptions_are_still_needed() -> None:
    """A file or function that got short again leaves the list."""
    for name, limit in LONG_FILES.items():
        length = len((ROOT / name).read_text(encoding="utf-8").splitlines())
        assert FILE_LINES_MAX < length <= limit, f"{name}: {length}"
    for name, limit in LONG_FUNCTIONS.items():
        path, _, function = name.partition("::")
        lengths = [length for found, length in functions(ROOT / path) if found == function]
        assert FUNCTION_LINES_MAX < max(lengths) <= limit, f"{name}: {lengths}"


def test_the_function_counter_counts(tmp_path: Path) -> None:
    rust = tmp_path / "a.rs"
    rust.write_text(
        "pub fn f(\n    a: u8,\n) -> u8 {\n    let b = a;\n    b\n}\n", encoding="utf-8"
    )
    assert list(functions(rust)) == [("f", 2)]
    python = tmp_path / "a.py"
    python.write_text('def f(a):\n    """Doc."""\n    b = a\n    return b\n', encoding="utf-8")
    assert list(functions(python)) == [("f", 2)]

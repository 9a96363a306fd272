"""How much there is to read of the detectors: lines, numbers of their own, files that a file needs.

The bars are what may be; what stands above a bar may fall, and does not grow.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.syntax import nodes_of, text_of, tree_of
from tests.violations import Violations

import ssdscope
from ssdscope.findings.families import FAMILIES

PACKAGE = Path(ssdscope.__file__).parent
PARTS = ("probes", "inference")
LINES, NUMBERS, FILES = 9_000, 200, 12
"""The bars: of both parts together; and of what a file of properties reads of them."""
LINES_NOW, NUMBERS_NOW = 18_228, 728
"""What it is: the most that there may be until it is less."""
BEHIND = 14
BEHIND_NOW = {"buffer": 16, "collection": 16, "dies": 17, "types": 16}
"""Files that a family's `probe` reads, and those read in turn: the bar, and the most above it."""
FREE = {0, 1, 2, 0.5, 8, 512, 1000, 1024, 4096, 10**6, 10**9, 1 << 20, 1 << 30}
"""Numbers that say nothing of a drive: none, one, two, a half, and factors of units."""


def files() -> list[Path]:
    """Sources of both parts, without the procedures of the papers."""
    every = (path for part in PARTS for path in sorted((PACKAGE / part).rglob("*.py")))
    return [path for path in every if "literal" not in path.parts]


def families() -> list[Path]:
    """Folders of the families of properties, and of what they share."""
    every = [PACKAGE / "probes" / name for name in (*FAMILIES, "shared")]
    assert all(folder.is_dir() for folder in every)
    return every


def numbers(path: Path) -> Iterator[float]:
    """Every number in the code of a file that is no factor of a unit."""
    for node in nodes_of(path):
        number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
        if number and node.value not in FREE:
            yield node.value


def read_by(path: Path) -> set[str]:
    """Modules of both parts that a file imports when it is run, not for its types alone."""
    found: set[str] = set()
    for node in tree_of(path).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ssdscope."):
            found |= {_module(str(node.module), alias.name) for alias in node.names}
    return {each for each in found if each.split(".")[1] in PARTS}


def _module(module: str, name: str) -> str:
    """`from a.b import c` names `a.b.c` if that is a module, and `a.b` if not."""
    whole = f"{module}.{name}"
    place = PACKAGE.parent / Path(*whole.split("."))
    is_module = place.with_suffix(".py").exists() or (place / "__init__.py").exists()
    return whole if is_module else module


def behind(path: Path) -> set[Path]:
    """Files of both parts that must be read to know what a file does: its own, and theirs."""
    found, left = set[Path](), [path]
    while left:
        for module in read_by(left.pop()):
            place = PACKAGE.parent / Path(*module.split("."))
            file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
            if file not in found:
                found.add(file)
                left.append(file)
    return found


def test_there_is_no_more_to_read_than_there_was() -> None:
    lines = sum(len(text_of(path).splitlines()) for path in files())
    assert lines > 1_000
    assert lines <= max(LINES, LINES_NOW)


def test_there_are_no_more_numbers_than_there_were() -> None:
    count = sum(1 for path in files() for _ in numbers(path))
    assert count > 100
    assert count <= max(NUMBERS, NUMBERS_NOW)


def test_a_family_reads_few_files() -> None:
    violations = Violations()
    for path in (each for family in families() for each in sorted(family.glob("*.py"))):
        violations.tried += 1
        if len(read := read_by(path)) > FILES:
            violations.found.append(f"{path.name}: {len(read)} files: {', '.join(sorted(read))}")
    violations.none(20)


def test_a_property_takes_few_files_to_understand() -> None:
    violations = Violations()
    for family in FAMILIES:
        read = behind(PACKAGE / "probes" / family / "probe.py")
        names = ", ".join(sorted(each.stem for each in read))
        most = BEHIND_NOW.get(family, BEHIND)
        violations.check(len(read) <= most, family, f"{len(read)} files: {names}")
    violations.none(len(FAMILIES))

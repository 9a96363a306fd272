"""The first law of the house, for Python: arrows point down, and the device is the only door.

Every module of the package is read as a syntax tree; imports inside functions and under
TYPE_CHECKING count like all others.
"""

import ast
from pathlib import Path

import pytest

import ssdscope

PACKAGE = Path(ssdscope.__file__).parent
FLOORS = [
    {"errors"},
    {"units", "seeds"},
    {"targets"},
    {"stats"},
    {"workloads", "results", "sweep"},
    {"plots"},
    {"probes", "models"},
    {"twin"},
    {"advise"},
    {"studies"},
    {"report"},
    {"api", "cli"},
]
"""From the bottom up; a part imports from floors below its own."""

ALLOWED_BESIDE = {("sweep", "workloads"), ("sweep", "results")}
"""Imports on one floor; anything else there is refused, probes and models above all."""

BLACK_BOX = ("probes", "models", "twin")
"""These see a drive through `Device` only."""

DOOR = {
    "ssdscope.targets",
    "ssdscope.targets.device",
    "ssdscope.targets.metered",
    "ssdscope.targets.records",
}
"""What black-box parts may import of `targets`."""

DRIVE_WRITER = ("twin", "ssdscope.targets.drive_writer")
"""The exception: a twin is a drive file, and one module of `targets` writes it."""

DOOR_NAMES_REFUSED = {"Target", "open_target"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(module: str) -> str | None:
    """``ssdscope.probes.latency`` -> ``probes``; None for the package itself and strangers."""
    words = module.split(".")
    return words[1] if words[0] == "ssdscope" and len(words) > 1 else None


def imports(path: Path) -> list[tuple[str, str | None]]:
    """Pairs of module and name imported from it; plain imports have no name."""
    found: list[tuple[str, str | None]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [(node.module or "", alias.name) for alias in node.names]
    return found


def imported_parts(path: Path) -> set[str]:
    """The parts of the package a module imports, ``from ssdscope import stats`` included."""
    parts = set()
    for module, name in imports(path):
        if module == "ssdscope" and name is not None:
            parts.add(name)
        elif (part := part_of(module)) is not None:
            parts.add(part)
    return parts


def floor_of(part: str) -> int:
    for floor, parts in enumerate(FLOORS):
        if part in parts:
            return floor
    raise AssertionError(f"{part} stands on no floor: add it to FLOORS, where SPEC puts it")


def name_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE).with_suffix("")
    return relative.parts[0]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = name_of(path)
    if own == "__init__":
        return  # it names all parts for type checkers; test_library says that it loads none
    for part in imported_parts(path) - {own, "__version__"}:
        if part == "_native":
            assert own == "targets", f"{path} touches the native module"
            continue
        if (own, part) in ALLOWED_BESIDE:
            continue
        assert floor_of(part) < floor_of(own), f"{path} imports upward or sideways: {part}"


@pytest.mark.parametrize(
    "path",
    [path for path in modules() if name_of(path) in BLACK_BOX],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_probes_and_models_never_see_the_inside_of_a_drive(path: Path) -> None:
    for module, name in imports(path):
        if part_of(module) == "targets":
            allowed = module in DOOR or (name_of(path), module) == DRIVE_WRITER
            assert allowed, f"{path} imports {module}"
            assert name not in DOOR_NAMES_REFUSED, f"{path} imports {name}"
        assert (module, name) != ("ssdscope", "targets"), f"{path} imports all of targets"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("drive", "_native"), f"{path}:{node.lineno}: .{node.attr}"


def test_every_part_of_the_package_stands_on_a_floor() -> None:
    parts = {name_of(path) for path in modules()} - {"__init__"}
    for part in parts:
        floor_of(part)


def test_the_walk_sees_what_it_must(tmp_path: Path) -> None:
    source = tmp_path / "bad.py"
    source.write_text(
        "def f():\n    from ssdscope import cli\n    import ssdscope.report.page\n",
        encoding="utf-8",
    )
    assert imported_parts(source) == {"cli", "report"}

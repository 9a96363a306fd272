"""The first law of the house, for Python: arrows point down, and the device is the only door.

Every module of the package is read as a syntax tree; imports inside functions and under
TYPE_CHECKING count like all others.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.syntax import nodes_of
from tests.violations import Violations

import ssdscope
from ssdscope.findings.families import FAMILIES

PACKAGE = Path(ssdscope.__file__).parent
FLOORS = [
    {"errors"},
    {"units", "seeds", "shown"},
    {"targets"},
    {"stats"},
    {"findings", "inference"},
    {"workloads", "results", "sweep"},
    {"search"},
    {"plots"},
    {"probes", "models"},
    {"twin"},
    {"advise", "recovery"},
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
    "ssdscope.targets.copies",
    "ssdscope.targets.crew",
    "ssdscope.targets",
    "ssdscope.targets.device",
    "ssdscope.targets.metered",
    "ssdscope.targets.pieces",
    "ssdscope.targets.quiet",
    "ssdscope.targets.records",
    "ssdscope.targets.work",
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


def imports(path: Path) -> Iterator[tuple[int, str, str | None]]:
    """Line, module and name imported from it; plain imports have no name."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, None
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            for alias in node.names:
                yield node.lineno, node.module or "", alias.name


def imported_parts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and part of the package that it imports, ``from ssdscope import stats`` included."""
    for line, module, name in imports(path):
        if module == "ssdscope" and name is not None:
            yield line, name
        elif (part := part_of(module)) is not None:
            yield line, part


def floor_of(part: str) -> int:
    for floor, parts in enumerate(FLOORS):
        if part in parts:
            return floor
    raise AssertionError(f"{part} stands on no floor: add it to FLOORS, where SPEC puts it")


def name_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE).with_suffix("")
    return relative.parts[0]


def points_down(own: str, part: str) -> bool:
    """Whether a module of the part ``own`` may import ``part``."""
    if own == "__init__":
        return True  # it names all parts for type checkers; test_library says that it loads none
    if part in (own, "__version__") or (own, part) in ALLOWED_BESIDE:
        return True
    if part == "_native":
        return own == "targets"
    return floor_of(part) < floor_of(own)


def test_imports_point_down() -> None:
    rule = Violations()
    for path in modules():
        for line, part in imported_parts(path):
            what = f"imports upward or sideways: {part}"
            rule.check(points_down(name_of(path), part), f"{path}:{line}", what)
    rule.none(least=500)


def through_the_door(own: str, module: str, name: str | None) -> bool:
    """Whether a black-box part may import this."""
    if part_of(module) == "targets":
        allowed = module in DOOR or (own, module) == DRIVE_WRITER
        return allowed and name not in DOOR_NAMES_REFUSED
    return (module, name) != ("ssdscope", "targets")


def test_probes_and_models_never_see_the_inside_of_a_drive() -> None:
    rule = Violations()
    for path in modules():
        own = name_of(path)
        if own not in BLACK_BOX:
            continue
        for line, module, name in imports(path):
            what = f"imports {module}, {name}"
            rule.check(through_the_door(own, module, name), f"{path}:{line}", what)
        for node in nodes_of(path):
            if isinstance(node, ast.Attribute):
                inside = node.attr in ("drive", "_native")
                rule.check(not inside, f"{path}:{node.lineno}", f"sees .{node.attr}")
    rule.none(least=1000)


def family_of(module: str) -> str | None:
    """The folder of a family of properties that a module lies in; None outside of all."""
    words = module.split(".")
    own = words[:2] == ["ssdscope", "probes"] and len(words) > 2 and words[2] in FAMILIES
    return words[2] if own else None


def test_no_family_of_properties_sees_another() -> None:
    rule = Violations()
    for path in modules():
        module = ".".join(("ssdscope", *path.relative_to(PACKAGE).with_suffix("").parts))
        if (family := family_of(module)) is None:
            continue
        for line, imported, _ in imports(path):
            other = family_of(imported)
            what = f"imports {imported}: what several families ask for is in probes.shared"
            rule.check(other in (None, family), f"{path}:{line}", what)
    rule.none(least=300)


def test_an_engine_that_one_family_asks_lies_beside_it() -> None:
    asking: dict[str, set[str | None]] = {}
    for path in modules():
        module = ".".join(("ssdscope", *path.relative_to(PACKAGE).with_suffix("").parts))
        for _, imported, _ in imports(path):
            if imported.startswith("ssdscope.inference."):
                asking.setdefault(imported, set()).add(family_of(module))
    alone = [engine for engine, families in asking.items() if len(families) < 2]
    assert len(asking) > 5
    assert alone == []


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
    assert set(imported_parts(source)) == {(2, "cli"), (3, "report")}


def test_what_points_up_or_past_the_door_is_refused() -> None:
    assert points_down("cli", "report")
    assert points_down("sweep", "workloads")
    assert points_down("targets", "_native")
    assert not points_down("report", "cli")
    assert not points_down("probes", "models")
    assert not points_down("workloads", "sweep")
    assert not points_down("probes", "_native")
    assert through_the_door("probes", "ssdscope.targets.device", "Device")
    assert through_the_door(*DRIVE_WRITER, "write")
    assert not through_the_door("probes", DRIVE_WRITER[1], "write")
    assert not through_the_door("models", "ssdscope.targets", "open_target")
    assert not through_the_door("models", "ssdscope.targets.presets", "preset_text")
    assert not through_the_door("twin", "ssdscope", "targets")

"""The package as a whole: one version, examples that run, a start that costs little."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ssdscope
from ssdscope.targets.native_build import native_build

ROOT = Path(__file__).parents[2]
HEAVY = (
    "numpy",
    "scipy",
    "sklearn",
    "pyarrow",
    "matplotlib",
    "rich",
    "pydantic",
    "jinja2",
    "optuna",
)


def test_there_is_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    assert ssdscope.__version__ == project["project"]["version"]
    assert ssdscope.__version__ == workspace["workspace"]["package"]["version"]


def test_the_module_names_the_interface_that_it_is_compiled_for() -> None:
    manifest = (ROOT / "crates" / "python" / "Cargo.toml").read_text(encoding="utf-8")
    (feature,) = tomllib.loads(manifest)["dependencies"]["pyo3"]["features"]
    stable, _, python = feature.partition("-py")
    assert native_build().interface == f"{stable} cp{python}"


def documented_modules() -> list[str]:
    """Modules with an example in a docstring."""
    return [
        module.name
        for module in pkgutil.walk_packages(ssdscope.__path__, "ssdscope.")
        if ">>>" in (source := _source(module.name)) and source
    ]


def _source(name: str) -> str:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return ""
    return Path(spec.origin).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", documented_modules())
def test_examples_in_docstrings_run(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0


AT_ONCE = (
    ("--help",),
    ("run", "null:", "--bs", "4KB"),
    ("run", "sim:mqsim-9g"),
    ("drives", "list"),
    ("drives", "check", "mqsim-8g"),
    ("drives", "keys", "-o", "json"),
    ("config", "show", "sim:mqsim-8g"),
    ("doctor", "--identify", "missing.bin"),
    ("run", "sim:mqsim-8g", "--rw", "randread", "--number-ios", "10", "--seed", "1"),
)


def test_what_is_done_at_once_loads_nothing_heavy() -> None:
    """All in one process: none may load what no one before it did."""
    script = (
        "import sys; from ssdscope.cli.app import run_cli\n"
        f"for words in {AT_ONCE!r}:\n"
        "    run_cli(words)\n"
        f"    loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "    print('after', *words, loaded, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    seen = [line for line in done.stderr.splitlines() if line.startswith("after ")]
    assert seen == [f"after {' '.join(words)} []" for words in AT_ONCE]


def test_a_command_starts_without_the_others() -> None:
    script = (
        "import sys; from ssdscope.cli import app, commands\n"
        "modules = [commands.module_of(name) for name in commands.LISTED]\n"
        "for words in (['--help'], ['twin', '--help']):\n"
        "    app.run_cli(words)\n"
        "    print([name for name in modules if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr.splitlines() == ["[]", "['ssdscope.cli.twin']"]

"""The first law of the house, for Rust: sim and host know only io, and no pure crate Python."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED = {
    "ssdscope-io": set(),
    "ssdscope-sim": {"ssdscope-io"},
    "ssdscope-host": {"ssdscope-io"},
    "ssdscope-python": {"ssdscope-io", "ssdscope-sim", "ssdscope-host"},
}
PYTHON_CRATES = {"pyo3", "numpy"}


@pytest.fixture(scope="module")
def dependencies() -> dict[str, dict[str, str | None]]:
    """Crate -> what it depends on -> kind (None, dev or build)."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    answer = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    packages = json.loads(answer.stdout)["packages"]
    return {
        package["name"]: {each["name"]: each["kind"] for each in package["dependencies"]}
        for package in packages
    }


def test_crates_depend_downward(dependencies: dict[str, dict[str, str | None]]) -> None:
    assert dependencies.keys() == ALLOWED.keys()
    for crate, needed in dependencies.items():
        ours = {name for name in needed if name.startswith("ssdscope-")}
        assert ours <= ALLOWED[crate], f"{crate} depends on {ours - ALLOWED[crate]}"


def test_only_the_glue_knows_python(dependencies: dict[str, dict[str, str | None]]) -> None:
    for crate, needed in dependencies.items():
        if crate != "ssdscope-python":
            assert not PYTHON_CRATES & needed.keys(), f"{crate} depends on Python"

"""The wheel in an environment of its own, away from the repository; and built from the archive.

`make check-wheel` builds both first, which takes longer than all else that `make test` does.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DIST = os.environ.get("SSDSCOPE_DIST")
UV = shutil.which("uv") or shutil.which("uv", path=ROOT / ".venv-tools" / "bin")
MODULE = "_native.abi3.so"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(DIST is None, reason="make check-wheel builds the wheel and tries it"),
    pytest.mark.skipif(UV is None, reason="uv is not installed"),
]

Ran = subprocess.CompletedProcess[str]
Command = Callable[..., Any]


def the_only(pattern: str) -> Path:
    found = list(Path(str(DIST)).glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


@pytest.fixture(scope="module")
def wheel() -> Path:
    return the_only("ssdscope-*.whl")


@pytest.fixture(scope="module")
def archive() -> Path:
    return the_only("ssdscope-*.tar.gz")


def files_of_the_package() -> dict[str, bytes]:
    """Every file of the source tree that a user of the package needs."""
    package = ROOT / "python"
    return {
        str(path.relative_to(package)): path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so"
    }


def away_from_here() -> dict[str, str]:
    """An environment that finds neither this repository nor a compiler."""
    kept = ("HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
    given = {name: value for name, value in os.environ.items() if name in kept}
    return given | {name: os.environ[name] for name in os.environ if name.startswith("UV_")}


def uv(*words: str, cwd: Path, **variables: str) -> Ran:
    return subprocess.run(
        [str(UV), *words],
        cwd=cwd,
        env=away_from_here() | {"PATH": "/usr/bin:/bin"} | variables,
        capture_output=True,
        text=True,
        timeout=1800,
    )


def install(wheel: Path, folder: Path) -> None:
    """Install it with what it needs: from what uv has kept, else from the index."""
    assert uv("venv", "--python", sys.executable, "env", cwd=folder).returncode == 0
    tested = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    until = ["--exclude-newer", tested["tool"]["uv"]["exclude-newer"]]
    words = ["pip", "install", "--python", "env", "--only-binary", ":all:", *until, str(wheel)]
    kept = uv(*words, "--offline", cwd=folder)
    if kept.returncode == 0:
        return
    fetched = uv(*words, cwd=folder)
    if fetched.returncode and re.search("error sending request|[Cc]onnect|dns", fetched.stderr):
        pytest.skip(f"no package index: {fetched.stderr.strip().splitlines()[-1]}")
    assert fetched.returncode == 0, fetched.stderr


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The command, installed from the wheel."""
    folder = tmp_path_factory.mktemp("away")
    install(wheel, folder)

    def run(*words: str) -> Ran:
        return subprocess.run(
            [folder / "env" / "bin" / "ssdscope", *words],
            cwd=folder,
            env=away_from_here() | {"PATH": "/nowhere"},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    held = files_in(wheel)
    wanted = files_of_the_package()
    assert {"ssdscope/py.typed", "ssdscope/_native.pyi"} <= wanted.keys()
    assert wanted == {name: held[name] for name in held if ".dist-info" not in name}
    licences = {Path(name).name for name in held if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE-APACHE", "LICENSE-MIT"}
    assert re.search(r"-cp311-abi3-\w+\.whl", wheel.name)


def test_the_installed_command_says_what_it_is(installed: Command) -> None:
    said = installed("--version")
    assert said.returncode == 0, said.stderr
    commit = subprocess.run(
        ["git", "describe", "--always", "--exclude=*", "--abbrev=7", "--dirty= with changes"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    wanted = commit.stdout.strip() if commit.returncode == 0 else "unknown"
    assert f"(commit {wanted}, rustc " in said.stdout
    doctor = installed("doctor", "-o", "json")
    assert doctor.returncode == 0, doctor.stderr
    environment = json.loads(doctor.stdout)["environment"]
    assert environment["build"]["commit"] == wanted
    assert "missing" not in environment["libraries"].values()


def test_the_installed_command_simulates_and_probes(installed: Command, cli: Command) -> None:
    run = ("run", "sim:mqsim-8g", "--rw", "randread", "--number-ios", "2000", "--seed", "7")
    ran = installed(*run, "-o", "json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == json.loads(cli(*run, "-o", "json").out)
    probed = installed("probe", "latency", "sim:kuo-samsung-slc", "--seed", "7", "-o", "json")
    assert probed.returncode == 0, probed.stderr
    findings = {each["property"]: each for each in json.loads(probed.stdout)["findings"]}
    assert findings["read_latency_alpha_ns"]["outcome"] == "detected"


def test_the_installed_command_ships_its_drives_and_writes_a_page(
    installed: Command, tmp_path: Path
) -> None:
    listed = installed("drives", "list", "-o", "json")
    assert listed.returncode == 0, listed.stderr
    for path in (ROOT / "python" / "ssdscope" / "drives").glob("*.toml"):
        assert f'"{path.stem}"' in listed.stdout
    page = tmp_path / "page.html"
    # A simulated drive: a real target ends with exit 3 where the machine is busy, as it should.
    words = ("characterize", "sim:msr-4gb", "--budget", "4s", "--seed", "1")
    made = installed(*words, "-O", str(page))
    assert made.returncode == 0, made.stderr
    assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")


@pytest.fixture
def unpacked() -> Iterator[Path]:
    """A folder that is the same each time, so that cargo keeps what it compiled.

    It lies inside the repository: the commit has to be that of the archive all the same.
    """
    folder = Path(str(DIST)) / "source"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_the_archive_builds_the_same_wheel(
    archive: Path, wheel: Path, unpacked: Path, tmp_path: Path
) -> None:
    with tarfile.open(archive) as content:
        content.extractall(unpacked, filter="data")
    for path in unpacked.rglob("*"):
        path.touch()  # all files of an archive are equally old: cargo would see no change
    (source,) = unpacked.iterdir()
    built = uv(
        "build", "--wheel", "--out-dir", str(tmp_path / "again"), str(source),
        cwd=tmp_path,
        PATH=os.environ["PATH"],
        CARGO_TARGET_DIR=str(ROOT / "target"),
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    again = tmp_path / "again" / wheel.name
    assert files_in(again) == files_in(wheel)
    assert commit_of(again, tmp_path / "again") == commit_of(wheel, tmp_path / "first")


def files_in(wheel: Path) -> dict[str, bytes]:
    """What a wheel holds, less what differs with the folder that it is built in."""
    with zipfile.ZipFile(wheel) as content:
        return {
            name: content.read(name)
            for name in content.namelist()
            if Path(name).name not in (MODULE, "RECORD") and "/sboms/" not in name
        }


def commit_of(wheel: Path, folder: Path) -> str:
    """What the module in a wheel says of itself."""
    with zipfile.ZipFile(wheel) as content:
        content.extract(f"ssdscope/{MODULE}", folder)
    done = subprocess.run(
        [sys.executable, "-c", "import _native; print(_native.build())"],
        cwd=folder / "ssdscope",
        env=away_from_here(),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout

"""The database of the tutorial on two served drives; everything is undone."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "database.py"
TOOLS = ("nbdfuse", "losetup", "mkfs.ext4")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting a served drive needs root"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder of its own with a short name: the path of a socket has room for 107 bytes."""
    with TemporaryDirectory(prefix="db-") as name:
        yield Path(name)


def own_mounts(folder: Path) -> list[str]:
    """Mounts and loop devices below a folder; others on this machine are nobody's business here."""
    mounts = Path("/proc/mounts").read_text(encoding="utf-8")
    loops = subprocess.run(["losetup", "--all"], capture_output=True, text=True, check=True).stdout
    return [line for line in (mounts + loops).splitlines() if str(folder) in line]


def test_a_database_runs_on_both_drives_and_leaves_nothing(tmp_path: Path, short: Path) -> None:
    page = tmp_path / "database.html"
    words = ("--rows", "20000", "--transactions", "40", "--page", str(page))
    done = subprocess.run(
        [sys.executable, SCRIPT, *words],
        capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"TMPDIR": str(short)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = re.findall(r"(\d+)% spare: .* amplification ([\d.]+), mean write", done.stdout)
    assert [ratio for ratio, _ in found] == ["7", "28"]
    assert all(float(waf) >= 1 for _, waf in found)
    text = page.read_text(encoding="utf-8")
    assert "7% spare" in text
    assert text.count("<rect") > 8
    assert own_mounts(short) == []


def test_ended_from_outside_it_undoes_its_mounts(tmp_path: Path, short: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, SCRIPT, "--page", str(tmp_path / "database.html")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(short)},
    )  # fmt: skip
    end = time.monotonic() + 60
    while not any(" ext4 " in line for line in own_mounts(short)):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    process.terminate()
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert own_mounts(short) == []

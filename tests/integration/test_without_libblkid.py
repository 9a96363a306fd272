"""Without libblkid nobody can say what a block device carries: it is read, and never written."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.conftest import COMMAND
from tests.integration.loop_devices import NEEDS_LOOP_DEVICES, attached, done

pytestmark = [
    *NEEDS_LOOP_DEVICES,
    pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed"),
]


def library() -> str:
    """Where the loader finds the library."""
    lines = done("ldconfig", "-p").splitlines()
    found = [line.rpartition(" => ")[2] for line in lines if "libblkid.so.1 " in line]
    if not found:
        pytest.skip("libblkid is not installed")
    return found[0]


def without_it(*words: str) -> subprocess.CompletedProcess[str]:
    """Run ssdscope where an empty file lies in the library's place, for it alone."""
    hide = 'mount --bind /dev/null "$0" && exec "$@"'
    inside = ["unshare", "--mount", "sh", "-c", hide, library(), *COMMAND, *words]
    return subprocess.run(inside, capture_output=True, text=True, timeout=60, check=False)


def test_a_device_is_read_and_not_written(tmp_path: Path) -> None:
    image = tmp_path / "scratch.img"
    with image.open("wb") as file:
        file.truncate(16 * 2**20)
    with attached(image) as device:
        run = ("run", device, "--number-ios", "20", "--seed", "1", "--rw")
        allowed = ("--destroy-data", "LOOP:scratch.img", "--allow-virtual", "--overwrite-existing")
        assert without_it(*run, "randread").returncode == 0
        refused = without_it(*run, "randwrite", *allowed)
    assert refused.returncode == 1
    assert "libblkid cannot be used" in refused.stderr
    assert "libblkid1" in refused.stderr, "the hint names the package"
    assert not any(image.read_bytes())

"""A block device that the kernel makes of a file: what it counts is what we say."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("losetup") is None, reason="losetup is not installed"),
    pytest.mark.skipif(os.geteuid() != 0, reason="a loop device needs root"),
]

FILE_BYTES = 16 << 20
CONTENT = bytes(range(256)) * (FILE_BYTES // 256)


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """A loop device over a file with data."""
    path = tmp_path / "backing.bin"
    path.write_bytes(CONTENT)
    made = subprocess.run(
        ["losetup", "--find", "--show", str(path)], capture_output=True, text=True, timeout=30
    )
    if made.returncode:
        pytest.skip(f"no loop device here: {made.stderr.strip()}")
    device = made.stdout.strip()
    yield device
    subprocess.run(["losetup", "--detach", device], check=True, timeout=30)
    assert path.read_bytes() == CONTENT


def completed(device: str) -> tuple[int, int, int]:
    """Reads, sectors read and writes that the kernel has counted."""
    counts = Path(f"/sys/block/{Path(device).name}/stat").read_text(encoding="ascii").split()
    return int(counts[0]), int(counts[2]), int(counts[4])


@pytest.mark.parametrize(("depth", "block", "count"), [(1, 4096, 200), (8, 16384, 150)])
def test_the_kernel_counts_the_reads_we_report(
    cli: Callable[..., Any], loop: str, depth: int, block: int, count: int
) -> None:
    before = completed(loop)
    said = cli(
        "run", loop, "--rw", "randread", "--bs", str(block), "--iodepth", str(depth),
        "--number-ios", str(count), "--seed", "1", "-o", "json",
    )  # fmt: skip
    assert said.status == 0, said.err
    assert said.document["target"]["kind"] == "block"
    assert said.document["target"]["capacity_bytes"] == FILE_BYTES
    assert said.document["read"]["requests"] == count
    reads, sectors, writes = (now - then for now, then in zip(completed(loop), before, strict=True))
    # Whatever else looks at a new device (udev does) reads too, and never writes.
    assert reads >= count
    assert sectors * 512 >= count * block
    assert writes == 0


def test_a_block_device_with_data_is_not_written(cli: Callable[..., Any], loop: str) -> None:
    for words in ((), ("--destroy-data", "LOOP:backing.bin")):
        said = cli("run", loop, "--rw", "randwrite", "--number-ios", "1", *words)
        assert said.status == 2
        assert "error: " in said.err


def test_what_others_read_on_the_device_is_told(loop: str) -> None:
    """Ours is left out, another process's is counted."""
    from ssdscope.targets import open_target

    device = open_target(loop, seed=1).device
    if device.foreign_bytes() is None:
        pytest.skip("no direct I/O on loop devices here, and so no count")
    offsets = [4096 * each for each in range(256)]
    device.run_list([0] * 256, offsets, [4096] * 256)
    quiet = device.foreign_bytes()
    read = ["dd", f"if={loop}", "of=/dev/null", "bs=64k", "count=32", "iflag=direct"]
    subprocess.run(read, check=True, capture_output=True, timeout=30)
    grown = device.foreign_bytes()
    assert quiet is not None
    assert grown is not None
    assert quiet.read_bytes < 256 * 4096, "our own reads are not a neighbour's"
    assert grown.read_bytes - quiet.read_bytes >= 32 * 65536
    assert grown.written_bytes == quiet.written_bytes

"""``serve --qemu``: QEMU itself takes the line that is printed, and finds the drive behind it."""

import json
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ssdscope.targets import qemu
from ssdscope.targets.serving import Serving

pytestmark = pytest.mark.e2e

NEEDS_MACHINE = pytest.mark.skipif(
    shutil.which("qemu-system-x86_64") is None, reason="qemu-system-x86_64 is not installed"
)
NEEDS_TOOLS = pytest.mark.skipif(
    shutil.which("qemu-io") is None, reason="qemu-io (qemu-utils) is not installed"
)
MACHINE = (
    *("qemu-system-x86_64", "-S", "-nodefaults", "-display", "none"),
    *("-machine", "pc,accel=tcg", "-qmp", "stdio"),
)
SIZE_BYTES = 16 * 2**20
ODD = "a, b 'c'=d.sock"


@contextmanager
def serving(
    spawn: Callable[..., subprocess.Popen[str]], *words: str, target: str = "null:16m"
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Serve with ``--qemu``; give the words of its line, and fill in the document at the end."""
    server = spawn("serve", target, "--qemu", "--seed", "1", "-o", "json", *words)
    document: dict[str, Any] = {}
    assert server.stderr is not None
    try:
        line = next(line for line in server.stderr if line.startswith("  qemu-system-x86_64 "))
        yield shlex.split(line)[1:], document
    finally:
        server.send_signal(signal.SIGTERM)
        out, _ = server.communicate(timeout=60)
    document |= json.loads(out)


def blocks(arguments: list[str]) -> list[dict[str, Any]]:
    """Ask a machine that has these arguments, and never starts, for its drives."""
    asks = '{"execute": "qmp_capabilities"}\n{"execute": "query-block"}\n{"execute": "quit"}\n'
    ran = subprocess.run(
        [*MACHINE, *arguments], input=asks, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    return next(each["return"] for each in answers if isinstance(each.get("return"), list))


@NEEDS_MACHINE
@pytest.mark.parametrize("export", ["", "x,y z"])
def test_qemu_takes_the_line_of_an_odd_socket(spawn: Any, tmp_path: Path, export: str) -> None:
    place = tmp_path / ODD
    with serving(spawn, "--socket", str(place), "--export", export) as (words, document):
        (drive,) = blocks(words)
    assert drive["inserted"]["image"]["virtual-size"] == SIZE_BYTES
    assert drive["inserted"]["ro"] is False
    assert document["served"]["qemu"] == words


@NEEDS_MACHINE
def test_qemu_takes_a_port_and_what_is_read_only(spawn: Any) -> None:
    with serving(spawn, "--port", "0", "--read-only") as (words, _):
        (drive,) = blocks(words)
    assert drive["inserted"]["image"]["virtual-size"] == SIZE_BYTES
    assert drive["inserted"]["ro"] is True


@NEEDS_MACHINE
def test_lines_of_two_servers_stand_together(spawn: Any, tmp_path: Path) -> None:
    with (
        serving(spawn, "--socket", str(tmp_path / "a")) as (first, _),
        serving(spawn, "--socket", str(tmp_path / "b"), target="null:32m") as (second, _),
    ):
        drives = blocks(first + second)
    sizes = sorted(drive["inserted"]["image"]["virtual-size"] for drive in drives)
    assert sizes == [SIZE_BYTES, 2 * SIZE_BYTES]


@NEEDS_TOOLS
def test_data_go_there_and_back(spawn: Any, tmp_path: Path) -> None:
    target = "sim:sata-tlc"
    with serving(spawn, "--socket", str(tmp_path / ODD), target=target) as (words, document):
        options = words[words.index("-drive") + 1]
        image = options.replace("if=none,", "").replace(options.split("id=")[1].split(",")[0], "")
        image = image.replace("id=,", "")
        commands = ["write -P 7 4096 8192", "flush", "read -P 7 4096 8192", "discard 4096 4096"]
        asked = [word for each in commands for word in ("-c", each)]
        ran = subprocess.run(
            ["qemu-io", "--image-opts", image, *asked], capture_output=True, text=True, timeout=60
        )
        assert ran.returncode == 0, ran.stderr + ran.stdout
        assert "verification failed" not in ran.stdout
    assert document["write"]["bytes"] == 8192
    assert document["lateness_ns"]["p50"] >= 0


def test_blocks_of_4096_bytes_are_said_and_a_relative_socket_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = qemu.arguments(
        Serving(socket="s"), None, read_only=False, logical_block_bytes=4096
    )  # fmt: skip
    assert words[3].endswith(",logical_block_size=4096,physical_block_size=4096")
    assert f"file.server.path={tmp_path}/s," in words[1]

"""Clients of a served file or device lose nobody's data: each request is refused alone."""

import errno
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.integration.holders import holding
from tests.integration.kept_content import MIB, digest, holes, precious, put, zeros
from tests.integration.loop_devices import attached, needs_loop_devices
from tests.integration.nbd_requests import FUA, TRIM, WRITE_ZEROES, Requests, connected

Spawn = Callable[..., subprocess.Popen[str]]

DATA = b"years of work, without any signature. " * 14
SECTOR = DATA[:512]
BLOCK = b"a" * 4096
WINDOW = 192 * MIB
PLACE = 208 * MIB
"""In the last quarter of 256 MiB, in one of 16,384 blocks: the sample misses it."""
REFUSED = {errno.EPERM, errno.EIO}


@contextmanager
def serving(spawn: Spawn, target: str | Path, *words: str, folder: Path) -> Iterator[Requests]:
    """Serve a target, and give a client of it. The process is under `Requests.server`."""
    place = folder / "socket"
    process = spawn("serve", str(target), "--socket", str(place), *words)
    try:
        end = time.monotonic() + 30
        while not place.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)
        with connected(place) as client:
            yield client
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 0, err
        assert "Traceback" not in err
    finally:
        process.kill()
        process.communicate()


@contextmanager
def served_device(spawn: Spawn, folder: Path, *words: str) -> Iterator[Requests]:
    """Serve the last quarter of a sparse loop device, in which one sector holds data."""
    image = holes(folder / "scratch.img", 256 * MIB)
    put(image, PLACE, SECTOR)
    with attached(image, "--direct-io=on") as name:
        leave = ("--destroy-data", "LOOP:scratch.img", "--allow-virtual", *words)
        with serving(spawn, name, *leave, folder=folder) as client:
            assert client.size_bytes == 64 * MIB
            yield client


Ask = Callable[[Requests, int], int]
AT = PLACE - WINDOW


def over(client: Requests, at: int) -> int:
    return client.write(at, BLOCK)


def durable(client: Requests, at: int) -> int:
    return client.write(at, BLOCK, FUA)


def reaching_in(client: Requests, at: int) -> int:
    """Its last sector meets the data."""
    return client.write(at - 3584, BLOCK)


def large(client: Requests, at: int) -> int:
    return client.write(at - 8 * MIB, b"a" * (16 * MIB))


def trimmed(client: Requests, at: int) -> int:
    return client.ask(TRIM, at - 4096, 16384)[0]


def zeroed(client: Requests, at: int) -> int:
    return client.ask(WRITE_ZEROES, at - 4096, 16384)[0]


def zeroed_with_data(client: Requests, at: int) -> int:
    no_hole = 2
    return client.ask(WRITE_ZEROES, at - 4096, 16384, flags=no_hole)[0]


def trimmed_far(client: Requests, _at: int) -> int:
    return client.ask(TRIM, 0, 64 * MIB)[0]


ASKS: list[Ask] = [
    over, durable, reaching_in, large, trimmed, zeroed, zeroed_with_data, trimmed_far
]  # fmt: skip


@needs_loop_devices
@pytest.mark.parametrize("ask", ASKS)
def test_a_request_over_data_is_refused_and_the_next_one_is_not(
    spawn: Spawn, tmp_path: Path, ask: Ask
) -> None:
    with served_device(spawn, tmp_path) as client:
        assert client.write(AT - 12 * MIB, BLOCK) == 0
        before = client.read(AT - MIB, 2 * MIB)
        assert ask(client, AT) in REFUSED
        if ask is not large:  # its data come in pieces, and the first may be on the drive by then
            assert client.read(AT - MIB, 2 * MIB) == before, "none of it was written"
        assert client.read(AT, 512) == SECTOR
        assert client.write(AT + 4096, BLOCK) == 0
        assert client.write(AT + 4096, BLOCK[::-1] * 2) == 0, "our own session's data"
        assert client.ask(TRIM, AT + 4096, 4096)[0] == 0
    with (tmp_path / "scratch.img").open("rb") as file:
        file.seek(PLACE)
        assert file.read(512) == SECTOR


@needs_loop_devices
def test_with_the_word_clients_write_over_it(spawn: Spawn, tmp_path: Path) -> None:
    with served_device(spawn, tmp_path, "--overwrite-existing") as client:
        assert over(client, AT) == 0
        assert client.read(AT, 512) == BLOCK[:512]


@needs_loop_devices
def test_two_clients_know_what_either_wrote(spawn: Spawn, tmp_path: Path) -> None:
    with served_device(spawn, tmp_path) as client, connected(tmp_path / "socket") as other:
        assert other.write(MIB, BLOCK) == 0
        assert client.write(MIB, BLOCK * 2) == 0
        assert other.write(AT, BLOCK) in REFUSED


def test_a_file_with_data_is_not_served_for_writing(spawn: Spawn, tmp_path: Path) -> None:
    """Data that the look at its opening meets."""
    file = precious(tmp_path / "scratch.img", 4 * MIB)
    process = spawn(
        "serve", str(file), "--socket", str(tmp_path / "socket"), "--destroy-data",
        "FILE:scratch.img",
    )  # fmt: skip
    try:
        _, err = process.communicate(timeout=15)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 2, err
    assert "--overwrite-existing" in err


def test_a_request_over_data_of_a_file_is_refused(spawn: Spawn, tmp_path: Path) -> None:
    """Data that come after the look at its opening."""
    file = holes(tmp_path / "scratch.img", 256 * MIB)
    leave = ("--destroy-data", "FILE:scratch.img")
    with serving(spawn, file, *leave, folder=tmp_path) as client:
        put(file, PLACE, SECTOR)
        for ask in (over, reaching_in, trimmed, zeroed):
            assert ask(client, PLACE) in REFUSED
        assert client.write(PLACE + 4096, BLOCK) == 0
    with file.open("rb") as opened:
        opened.seek(PLACE)
        assert opened.read(4096) == SECTOR + bytes(3584)


def test_data_that_come_to_a_served_file_are_kept(spawn: Spawn, tmp_path: Path) -> None:
    """Another program writes into it and is gone again, before a client gets there."""
    file = zeros(tmp_path / "scratch.img", 4 * MIB)
    with serving(spawn, file, "--destroy-data", "FILE:scratch.img", folder=tmp_path) as client:
        assert client.write(0, BLOCK) == 0
        put(file, 2 * MIB, SECTOR)
        assert client.write(2 * MIB, BLOCK) in REFUSED
        assert client.ask(TRIM, 0, 4 * MIB)[0] in REFUSED
        assert client.write(MIB, BLOCK) == 0
    content = file.read_bytes()
    assert content[2 * MIB : 2 * MIB + 512] == SECTOR
    assert content[:4096] == BLOCK


def test_an_opener_that_comes_later_ends_the_writing(spawn: Spawn, tmp_path: Path) -> None:
    """A server may stand for days: before it writes after a pause, it asks again."""
    file = zeros(tmp_path / "scratch.img", 4 * MIB)
    with serving(spawn, file, "--destroy-data", "FILE:scratch.img", folder=tmp_path) as client:
        assert client.write(0, BLOCK) == 0
        with holding("file = os.open(sys.argv[1], os.O_RDWR)", file):
            time.sleep(1.2)
            before = digest(file)
            assert client.write(MIB, BLOCK) != 0
            assert digest(file) == before
            assert client.read(0, 4096) == BLOCK, "it can be read on"


def test_what_clients_wrote_is_not_ours(
    cli: Callable[..., Any], spawn: Spawn, tmp_path: Path
) -> None:
    file = zeros(tmp_path / "scratch.img", 4 * MIB)
    with serving(spawn, file, "--destroy-data", "FILE:scratch.img", folder=tmp_path) as client:
        assert client.write(MIB, BLOCK) == 0
    said = cli("run", str(file), "--rw", "write", "--destroy-data", "FILE:scratch.img")
    assert said.status == 2, said.err
    assert file.read_bytes()[MIB : MIB + 4096] == BLOCK


def test_without_a_token_nothing_is_written(spawn: Spawn, tmp_path: Path) -> None:
    file = precious(tmp_path / "scratch.img", 4 * MIB)
    before = digest(file)
    with serving(spawn, file, folder=tmp_path) as client:
        for ask in ASKS[:-1]:
            assert ask(client, 9 * MIB if ask is large else 2 * MIB) != 0
    assert digest(file) == before


def test_a_backing_file_has_one_user(spawn: Spawn, tmp_path: Path) -> None:
    """The store of a simulated drive is opened like a target: not while others use it."""
    file = tmp_path / "store.img"
    with ExitStack() as undo:
        file.write_bytes(b"")
        undo.enter_context(holding("file = os.open(sys.argv[1], os.O_RDWR)", file))
        process = spawn(
            "serve", "sim:mqsim-8g", "--socket", str(tmp_path / "socket"), "--backing", str(file)
        )
        try:
            _, err = process.communicate(timeout=10)
        finally:
            process.kill()
            process.communicate()
    assert process.returncode == 2, err
    assert file.stat().st_size == 0

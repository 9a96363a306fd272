"""``ssdscope serve`` and NBD exports as targets: what is served is the drive, and nothing hangs."""

import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ssdscope.cli import interrupts
from ssdscope.cli import serve as command
from ssdscope.errors import UsageError
from ssdscope.targets import open_target
from ssdscope.targets.exports import Export, read_export
from ssdscope.targets.serving import Serving, exported
from ssdscope.workloads import Workload

DRIVE = "sim:mqsim-8g"
Serve = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def serve(spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> Iterator[Serve]:
    """Start a server on a socket of its own; it is listening when this returns."""
    started: list[subprocess.Popen[str]] = []

    def start(target: str = DRIVE, *words: str) -> tuple[subprocess.Popen[str], str]:
        place = tmp_path / "socket"
        process = spawn("serve", target, "--socket", str(place), "--seed", "1", *words)
        started.append(process)
        end = time.monotonic() + 30
        while not answers(place):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)
        return process, str(place)

    yield start
    for process in started:
        process.kill()
        process.communicate()


def answers(place: Path) -> bool:
    """Say whether somebody listens there; a dead server leaves its socket."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(place)) == 0


def reads(count: int, depth: int = 1) -> Workload:
    return Workload(rw="randread", block_bytes=4096, iodepth=depth, requests=count, seed=1)


def finish(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> tuple[str, str]:
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == (130 if number == signal.SIGINT else 0), err
    assert "Traceback" not in err
    return out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_with_what_it_has_seen(serve: Serve, tmp_path: Path, number: int) -> None:
    stats = tmp_path / "seen.json"
    process, place = serve(DRIVE, "--stats", str(stats), "-o", "json")
    assert Path(place).stat().st_mode & 0o777 == 0o600
    target = open_target(f"nbd+unix:///?socket={place}")
    assert target.kind == "nbd"
    seen = target.device.run(reads(200))
    process.send_signal(signal.SIGUSR1)
    end = time.monotonic() + 30
    while not stats.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    assert json.loads(stats.read_text(encoding="utf-8"))["requests"] == 200
    out, err = finish(process, number)
    assert not Path(place).exists()
    documents = list(_documents(out))
    assert [each["read"]["requests"] for each in documents] == [200, 200]
    assert documents[-1] == json.loads(stats.read_text(encoding="utf-8"))
    last = documents[-1]
    assert last["counters"]["host_bytes_read"] == 200 * 4096
    drawn = last["read"]
    parts = sum(drawn["attribution_ns"].values())
    assert parts == pytest.approx(drawn["latency_ns"]["mean"])
    # The client sees each of these times, and the way there and back on top.
    assert seen.read is not None
    assert seen.read.latency_ns.min >= drawn["latency_ns"]["min"]
    assert seen.read.latency_ns.mean > drawn["latency_ns"]["mean"]
    assert f"fio --name=try --ioengine=nbd --uri='nbd+unix:///?socket={place}'" in err


def _documents(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    while text.strip():
        document, used = decoder.raw_decode(text := text.lstrip())
        yield document
        text = text[used:]


def test_a_served_drive_is_the_drive() -> None:
    """One at a time, each read takes the drive exactly as long as it does in this process."""
    alone = open_target(DRIVE, seed=3).device.run(reads(300)).only()
    served = open_target(DRIVE, seed=3)
    with exported(served, None) as uri:
        through = open_target(uri).device.run(reads(300)).only()
    assert served.device.counters()["host_bytes_read"] == 300 * 4096
    assert through.latency_ns.min >= alone.latency_ns.min
    assert through.latency_ns.p50 >= alone.latency_ns.p50


def test_a_slow_down_cancels_out(tmp_path: Path) -> None:
    how = Serving(socket=str(tmp_path / "s"), export="slow disk", slow_down=10.0)
    begun = time.monotonic()
    with exported(open_target(DRIVE, seed=3), how) as uri:
        assert uri.startswith("nbd+unix:///slow%20disk?")
        client = open_target(f"{uri}&slow-down=10")
        result = client.device.run(reads(100))
        lasted_ns = (time.monotonic() - begun) * 1e9
    alone = open_target(DRIVE, seed=3).device.run(reads(100))
    assert alone.elapsed_ns <= result.elapsed_ns <= lasted_ns / 10
    assert client.describe()["access"]["slow_down"] == 10


def test_writing_to_an_export_needs_its_token() -> None:
    writes = Workload(rw="randwrite", block_bytes=4096, iodepth=4, requests=50, seed=1)
    target = open_target(DRIVE, seed=1)
    how_named: dict[str, Any] = {"destroy_token": "NBD:", "allow_virtual": True}
    with exported(target) as uri:
        with pytest.raises(UsageError, match="reading only"):
            open_target(uri).device.run(writes)
        with pytest.raises(UsageError, match="cannot be seen"):
            open_target(uri, destroy_token="NBD:")
        with pytest.raises(UsageError, match="token"):
            open_target(uri, destroy_token="NBD:x", allow_virtual=True)
        open_target(uri, **how_named).device.run(writes)
    assert target.device.counters()["host_bytes_written"] == 50 * 4096
    with exported(open_target(DRIVE), Serving(port=0, read_only=True)) as uri:
        assert uri.startswith("nbd://127.0.0.1:")
        with pytest.raises(UsageError, match="read-only"):
            open_target(uri, **how_named)


def test_a_server_that_goes_away_leaves_what_was_measured(serve: Serve, cli) -> None:
    process, place = serve()
    threading.Timer(0.7, process.kill).start()
    said = cli("run", f"nbd+unix:///?socket={place}", "--rw", "randread", "--runtime", "60s",
               "--seed", "1", "-o", "json")  # fmt: skip
    assert said.status == 1
    assert "in flight" in said.err
    assert said.document["requests"] > 0
    assert Path(place).exists(), "killed, it could not remove its socket"
    process.wait(timeout=30)  # until then its socket may still answer
    finish(serve()[0])


def test_a_server_that_is_ended_while_it_introduces_itself_ends_as_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def introduce(_uris: list[str], *, read_only: bool) -> None:
        del read_only
        interrupts.came.append(signal.SIGTERM)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_introduce", introduce)
    place = tmp_path / "socket"
    how = Serving(str(place))
    assert command._serve(open_target(DRIVE), how, 1, "normal", None, qemu=False) == 0
    assert not place.exists()
    interrupts.came.clear()


def test_a_live_server_keeps_its_socket(serve: Serve, cli, tmp_path: Path) -> None:
    _, place = serve()
    said = cli("serve", DRIVE, "--socket", place, "--seed", "1")
    assert (said.status, said.out) == (2, "")
    assert "another server listens there" in said.err
    note = tmp_path / "note"
    note.write_text("mine", encoding="utf-8")
    assert "not a socket" in cli("serve", DRIVE, "--socket", str(note), "--seed", "1").err
    assert note.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((DRIVE,), "nowhere to listen"),
        ((DRIVE, "--port", "70000"), "not a port"),
        ((DRIVE, "--socket", "s", "--slow-down", "0"), "not a slow-down"),
        ((DRIVE, "--socket", "s", "--slow-down", "nan"), "not a slow-down"),
        ((DRIVE, "--socket", "s", "--memory", "much"), "much"),
        ((DRIVE, "--socket", "x" * 200), "99 bytes"),
        ((DRIVE, "--socket", "s", "--backing", "small.img"), "the drive has"),
        ((DRIVE, "--socket", "s", "--backing", "."), "not a regular file"),
        (("small.img", "--socket", "s", "--backing", "other.img"), "has its data itself"),
        (("small.img", "--socket", "s", "--slow-down", "2"), "answers as fast as it can"),
        (("small.img", "--socket", "s", "--destroy-data", "FILE:x"), "is not this target's"),
        (("raid0:small.img,small.img", "--socket", "s"), "cannot be served"),
    ],
)
def test_what_cannot_be_served_is_refused(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.img").write_bytes(bytes(2**20))
    said = cli("serve", *words, "--seed", "1")
    assert (said.status, said.out) == (2, "")
    assert expected in said.err
    assert [each.name for each in tmp_path.iterdir()] == ["small.img"]


def test_addresses_of_exports() -> None:
    assert read_export("nbd://localhost/a%2Fb") == Export(None, 10_809, "a/b")
    assert read_export("nbd+unix:///?socket=a+b%20c&slow-down=2").socket == "a+b c"
    for wrong in (
        "nbd://example.org/x", "nbd://127.0.0.1:99999/", "nbd+unix:///x", "nbd+unix:///?socket=",
        "nbd+unix:///?socket=s&slow-down=0", "nbd+unix:///?socket=s&slow-down=x",
        "nbd+unix:///?socket=s&more=1", "nbd+unix:///?socket=s&socket=t",
        "nbd+unix://host/?socket=s", "nbd://127.0.0.1/?socket=s",
    ):  # fmt: skip
        with pytest.raises(UsageError):
            read_export(wrong)


@pytest.mark.parametrize("read_only", [False, True])
def test_an_export_says_what_it_is_and_its_token(cli: Any, serve: Serve, read_only: bool) -> None:
    _, place = serve(DRIVE, "--export", "disk", *(["--read-only"] if read_only else []))
    uri = f"nbd+unix:///disk?socket={place}"
    known = cli("doctor", "--identify", uri, "-o", "json").document["identity"]
    assert known["capacity_bytes"] == open_target(DRIVE).capacity_bytes
    assert (known["token"], known["read_only"]) == ("NBD:disk", read_only)
    assert known["write_needs"] == ["--allow-virtual"]
    assert bool(known["write_refusal"]) == read_only
    missing = cli("doctor", "--identify", f"nbd+unix:///other?socket={place}")
    assert missing.status == 2
    assert "no export" in missing.err

"""The glue: conversions, errors by class, Ctrl-C, and a free interpreter meanwhile."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ssdscope import _native

MIB = 1 << 20
SECOND_NS = 1_000_000_000
WHOLE = (False, None, None, False)
"""Nothing virtual, the whole file, as much as is asked, with new content."""
READ_ONLY = (None, False, *WHOLE)
ENDLESS = {"rw": "randread", "runtime_ns": 60 * SECOND_NS}

DRIVE = """
over_provisioning_ratio = 0.2
[nand]
channels = 2
blocks_per_plane = 64
pages_per_block = 32
page_bytes = 4096
read_ns = 50000
program_ns = 500000
erase_ns = 2000000
[channel]
ns_per_byte = 2.5
[host]
interface = "simple"
bytes_per_second = 3e9
[ftl]
kind = "page"
"""


def open_drive(seed: int = 1, state: str | None = None) -> _native.Device:
    return _native.open_sim(DRIVE, "small.toml", [], state, seed)


def run(
    device: _native.Device,
    workload: dict[str, Any],
    progress: Callable[[str], None] | None = None,
    chunk: Callable[[dict[str, npt.NDArray[Any]]], None] | None = None,
) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(device.run(json.dumps(workload), progress, chunk))
    return summary


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.join()


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    path = tmp_path / "data.img"
    path.write_bytes(os.urandom(4 * MIB))
    return path


def test_a_log_has_typed_columns_that_attribute_every_nanosecond() -> None:
    chunks: list[dict[str, npt.NDArray[Any]]] = []
    summary = run(open_drive(), {"rw": "randrw", "requests": 70_000}, chunk=chunks.append)
    assert [len(chunk["op"]) for chunk in chunks] == [65_536, 70_000 - 65_536]
    log = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}
    assert log["op"].dtype == np.uint8
    assert log["error"].dtype == np.int32
    assert not log["error"].any()
    parts = [column for name, column in log.items() if name.startswith("attr_")]
    assert len(parts) == 14
    latency_ns = log["complete_ns"] - log["submit_ns"]
    np.testing.assert_array_equal(np.sum(parts, axis=0), latency_ns)
    reads = latency_ns[log["op"] == 0]
    assert summary["read"]["requests"] == len(reads)
    assert summary["read"]["latency_ns"]["mean"] == pytest.approx(reads.mean())


def test_a_list_comes_back_whole_with_its_order() -> None:
    device = open_drive()
    count = 100
    ops = np.arange(count, dtype=np.uint8) % 2
    offsets = np.arange(count, dtype=np.uint64)[::-1] * np.uint64(8192)
    lengths = np.full(count, 4096, np.uint64)
    interrupted, quiet, log = device.run_list(ops, offsets.copy(), lengths, None, None, 8, 0, None)
    assert (interrupted, quiet) == (False, None)
    order = np.argsort(log["index"])
    np.testing.assert_array_equal(log["op"][order], ops)
    np.testing.assert_array_equal(log["offset_bytes"][order], offsets)

    arrivals = np.arange(count, dtype=np.uint64) * np.uint64(1_000_000)
    _, _, log = device.run_list(ops, offsets.copy(), lengths, arrivals, None, 1, 0, None)
    np.testing.assert_array_equal(np.diff(np.sort(log["submit_ns"])), 1_000_000)


def test_arrays_of_another_type_or_with_gaps_are_refused() -> None:
    device = open_drive()
    column = np.zeros(4, np.uint64)
    with pytest.raises(TypeError):
        device.run_list(column, column, column, None, None, 1, 0, None)  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError)):
        device.run_list(np.zeros(2, np.uint8), column[::2], column[:2], None, None, 1, 0, None)


def test_snapshots_forks_and_idle_time() -> None:
    device = open_drive()
    before = device.snapshot()
    write = {"rw": "randwrite", "requests": 500}
    first = run(device, write)
    twin = device.fork()
    device.idle(SECOND_NS)
    assert device.now_ns() - twin.now_ns() == SECOND_NS
    device.restore(before)
    assert run(device, write) == first
    null = _native.open_null(MIB)
    for refused in (null.snapshot, null.fork):
        with pytest.raises(_native.UsageError, match="does not support"):
            refused()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: _native.open_sim("x = 1", "a.toml", [], None, 1), "ConfigError", "a.toml:1"),
        (lambda: _native.open_sim(DRIVE, "a", [], "soggy", 1), "UsageError", "soggy"),
        (lambda: _native.resolve_drive(DRIVE, "a", ["gc.polcy=greedy"]), "ConfigError", "--set"),
        (lambda: open_drive().run("{}", None, None), "UsageError", "rw"),
        (lambda: run(open_drive(), {"rw": "read", "block_bytes": 100}), "UsageError", "512"),
        (lambda: open_drive().replay("/nowhere", "{}", None, None), "TraceError", "/nowhere"),
        (lambda: open_drive().replay("/nowhere", '{"mod": 1}', None, None), "UsageError", "mod"),
        (lambda: _native.sniff_trace("/nowhere", "{}"), "TraceError", "/nowhere"),
        (lambda: _native.open_file("/nowhere", *READ_ONLY), "UsageError", "no such file"),
        (lambda: _native.open_file("/dev/null", *READ_ONLY), "UsageError", "character device"),
        (lambda: _native.identify("/tmp"), "UsageError", "directory"),
        (lambda: _native.open_raid0([], 65_536), "UsageError", "at least one"),
    ],
)
def test_every_error_is_of_its_class(call: Callable[[], object], kind: str, message: str) -> None:
    with pytest.raises(getattr(_native, kind), match=message) as raised:
        call()
    assert type(raised.value) is getattr(_native, kind)
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is type(raised.value), "errors cross process borders"


def test_a_real_file_is_measured_and_protected(data_file: Path) -> None:
    device = _native.open_file(str(data_file), *READ_ONLY)
    access = json.loads(device.access() or "null")
    assert access["engine"] in {"io_uring", "threads"}
    assert open_drive().access() is None
    summary = run(device, {"rw": "randread", "requests": 200, "iodepth": 4})
    assert summary["read"]["requests"] == 200
    assert summary["counters"] is None
    identity = json.loads(_native.identify(str(data_file)))
    assert identity["token"] == "FILE:data.img"
    with pytest.raises(_native.UsageError, match="did not write") as raised:
        _native.open_file(str(data_file), identity["token"], False, *WHOLE)
    assert "\n\nhint: " in str(raised.value)
    before = data_file.read_bytes()
    device = _native.open_file(str(data_file), identity["token"], True, *WHOLE)
    run(device, {"rw": "write", "block_bytes": 65_536})
    del device
    after = data_file.read_bytes()
    assert len(after) == len(before)
    sectors = range(0, len(before), 512)
    assert all(before[each : each + 16] != after[each : each + 16] for each in sectors)


def test_members_belong_to_the_array_and_only_once() -> None:
    one, other = open_drive(), open_drive(2)
    with pytest.raises(_native.UsageError, match="two members"):
        _native.open_raid0([one, other, one], 65_536)
    array = _native.open_raid0([one, other], 65_536)
    assert run(array, {"rw": "randread", "requests": 100})["requests"] == 100
    for former in (one, other):
        with pytest.raises(_native.UsageError, match="part of another"):
            former.info()


def test_progress_is_told_now_and_then() -> None:
    told: list[dict[str, Any]] = []
    device = _native.open_null(MIB)
    begun = time.monotonic()
    half_a_second = {"rw": "read", "runtime_ns": SECOND_NS // 2}
    run(device, half_a_second, lambda text: told.append(json.loads(text)))
    assert 2 <= len(told) <= (time.monotonic() - begun) / 0.1
    assert all(set(told[0]) == set(each) for each in told)
    assert told[-1]["fraction"] > told[0]["fraction"] > 0
    assert told[-1]["requests"] > told[0]["requests"]


@pytest.mark.parametrize("kind", ["file", "null", "simulated"])
def test_ctrl_c_ends_a_run_with_its_results(kind: str, data_file: Path) -> None:
    match kind:
        case "file":
            device = _native.open_file(str(data_file), *READ_ONLY)
        case "null":
            device = _native.open_null(MIB)
        case _:
            device = open_drive()
    endless = {"rw": "randread", "runtime_ns": 10**18} if kind == "simulated" else ENDLESS
    begun = time.monotonic()
    with interrupt_after(0.2):
        summary = run(device, endless)
    assert time.monotonic() - begun < 5
    assert summary["interrupted"]
    assert summary["stopped_by"] == "interrupted"
    assert summary["requests"] > 0
    assert run(device, {"rw": "randread", "requests": 10})["requests"] == 10, "it lives on"


INTERRUPTED_WHILE_NUMPY_LOADS = """
import signal
import numpy

class Version(numpy.lib.NumpyVersion):
    def __init__(self, text):
        signal.raise_signal(signal.SIGINT)
        super().__init__(text)

numpy.lib.NumpyVersion = Version  # the bindings of Rust ask for it once, with the first chunk
from ssdscope import _native

summary = _native.open_null(1 << 20).run('{"rw": "read", "requests": 100000}', None, lambda _: None)
assert '"interrupted":true' in summary.replace(" ", ""), summary
"""


def test_ctrl_c_while_numpy_loads_ends_a_run_with_its_results() -> None:
    told = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_NUMPY_LOADS], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr


def test_ctrl_c_ends_waiting_and_opening(data_file: Path) -> None:
    device = _native.open_file(str(data_file), *READ_ONLY)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), interrupt_after(0.2):
        device.idle(60 * SECOND_NS)
    large = DRIVE.replace("blocks_per_plane = 64", "blocks_per_plane = 4096")
    large = large.replace("pages_per_block = 32", "pages_per_block = 256")
    with pytest.raises(KeyboardInterrupt), interrupt_after(0.2):
        _native.open_sim(large, "large.toml", [], "steady", 1)
    assert time.monotonic() - begun < 5


def test_an_exception_of_a_callback_ends_the_run() -> None:
    def refuse(_: object) -> None:
        raise LookupError("enough")

    begun = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        run(_native.open_null(MIB), ENDLESS, progress=refuse)
    with pytest.raises(LookupError, match="enough"):
        run(_native.open_null(MIB), ENDLESS, chunk=refuse)
    assert time.monotonic() - begun < 5


def test_other_threads_work_meanwhile_but_not_on_the_same_device() -> None:
    device = _native.open_null(MIB)
    errors: list[Exception] = []

    def meddle() -> None:
        try:
            device.now_ns()
        except _native.DeviceError as error:
            errors.append(error)

    meddler = threading.Timer(0.1, meddle)
    meddler.start()
    run(device, {"rw": "read", "runtime_ns": SECOND_NS // 3})
    meddler.join()
    assert len(errors) == 1
    assert "busy" in str(errors[0])

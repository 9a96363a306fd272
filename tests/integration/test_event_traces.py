"""Recordings of events: blktrace's binary files, blkparse's text of them, ftrace and perf.

The recordings are of a loop device under Linux 6.18: 80 requests of fio, writes of `dd` that are
merged and split, a discard, flushes. blkparse 1.2.0 printed the text from the same files.
"""

import gzip
import re
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ssdscope.targets.traces import LATENCY_UNKNOWN, Trace, TraceOptions, read_trace

ROOT = Path(__file__).parents[2]
BINARY = ROOT / "examples/blktrace"
TEXT = ROOT / "tests/data/blktrace"
HEAD = "IIQQIIIIIHH"
COLUMNS = ("arrival_ns", "op", "volume", "offset_bytes", "bytes", "latency_ns")
FLUSH = 2
needs_blkparse = pytest.mark.skipif(
    shutil.which("blkparse") is None,
    reason="no blkparse: its reading of the same binary files is not compared",
)


def unpacked(name: Path) -> bytes:
    return gzip.decompress(name.read_bytes())


def same_requests(one: Trace, other: Trace) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one.rows, name), getattr(other.rows, name), name)


@pytest.fixture(scope="module")
def recording() -> Trace:
    return read_trace(str(BINARY / "loop"))


@pytest.fixture(scope="module")
def printed() -> str:
    return unpacked(TEXT / "loop.blkparse.gz").decode()


def summed(printed: str, what: str) -> int:
    """The number that blkparse's summary of all processors has behind some words."""
    return int(re.findall(rf"{what}: +(\d+)", printed.rpartition("Total ")[2])[0])


def test_binary_and_text_are_the_same_requests(recording: Trace, printed: str) -> None:
    assert "Input file " in printed.splitlines()[-1], "the text is as blkparse leaves it"
    text = read_trace(str(TEXT / "loop.blkparse.gz"))
    assert (recording.about["format"], text.about["format"]) == ("blktrace", "blkparse")
    assert (recording.about["files"], text.about["files"]) == (2, 1)
    assert recording.about["noted"] == text.about["noted"]
    same_requests(recording, text)


def test_counts_are_those_of_blkparse(recording: Trace, printed: str) -> None:
    rows, noted = recording.rows, recording.about["noted"]
    moves = rows.bytes > 0
    assert np.sum(moves & (rows.op == 0)) == summed(printed, "Reads Queued")
    assert np.sum(rows.op != 0) == summed(printed, "Writes Queued"), "flushes are among them"
    assert noted["back_merges"] == summed(printed, "Write Merges")
    kib = int(re.findall(r"Reads Completed: +\d+, +(\d+)KiB", printed)[-1])
    assert int(rows.bytes[rows.op == 0].sum()) == kib * 1024
    assert np.all(rows.latency_ns[moves] != LATENCY_UNKNOWN)
    assert noted.get("missing_events", 0) == 0


def test_latency_is_from_the_dispatch_to_the_completion(recording: Trace, printed: str) -> None:
    """Reads that were neither merged nor split, one at a place at a time, matched by hand."""
    events = [line.split() for line in printed.splitlines() if re.match(r" +7,0 ", line)]
    sent: dict[str, float] = {}
    expected = []
    for fields in events:
        place = " ".join(fields[7:10])
        if fields[6].startswith("R") and fields[5] == "D":
            sent[place] = float(fields[3])
        elif fields[6].startswith("R") and fields[5] == "C":
            expected.append(round((float(fields[3]) - sent.pop(place)) * 1e9))
    reads = recording.rows.latency_ns[recording.rows.op == 0]
    whole = sorted(set(expected) & {int(each) for each in reads})
    assert len(whole) > 60
    assert len(reads) - len(whole) < 12, "only parts of split reads differ"


@needs_blkparse
@pytest.mark.parametrize("order", ["<", ">"])
def test_blkparse_reads_the_same_in_either_byte_order(
    recording: Trace, tmp_path: Path, order: str
) -> None:
    for cpu in (0, 1):
        raw, swapped, at = unpacked(BINARY / f"loop.blktrace.{cpu}.gz"), b"", 0
        while at < len(raw):
            fields = struct.unpack_from("<" + HEAD, raw, at)
            end = at + 48 + fields[-1]
            swapped += struct.pack(order + HEAD, *fields) + raw[at + 48 : end]
            at = end
        (tmp_path / f"x.blktrace.{cpu}").write_bytes(swapped)
    same_requests(recording, read_trace(str(tmp_path / "x.blktrace.1")))
    with (tmp_path / "x.txt").open("w") as text:
        command = ["blkparse", "-i", "x", "-d", "x.dump"]
        subprocess.run(command, cwd=tmp_path, stdout=text, check=True)
    same_requests(recording, read_trace(str(tmp_path / "x.txt")))
    same_requests(recording, read_trace(str(tmp_path / "x.dump")))


def test_ftrace_and_perf_have_the_events_of_the_kernel() -> None:
    ftrace, perf = (read_trace(str(TEXT / f"loop.{name}.gz")) for name in ("ftrace", "perf"))
    queued = re.findall(r"block_bio_queue: 7,0 \S+ \d+ \+ (\d+)", unpacked(
        TEXT / "loop.ftrace.gz"
    ).decode())  # fmt: skip
    assert len(ftrace.rows) == len(queued)
    assert int(ftrace.rows.bytes.sum()) == 512 * sum(map(int, queued))
    issued = re.findall(r"block_rq_issue: 7,0 [RWD]\S* (\d+)", unpacked(
        TEXT / "loop.perf.gz"
    ).decode())  # fmt: skip
    assert np.sum(perf.rows.op != FLUSH) == len(issued)
    assert int(perf.rows.bytes.sum()) == sum(map(int, issued))
    for trace in (ftrace, perf):
        assert trace.about["format"] == "ftrace"
        assert np.all(trace.rows.latency_ns[trace.rows.op != FLUSH] != LATENCY_UNKNOWN)


def test_times_are_chosen(recording: Trace) -> None:
    chosen = {
        times: read_trace(str(BINARY / "loop"), TraceOptions(times=times)).rows
        for times in ("issued", "completed")
    }
    queued = recording.rows
    assert len(chosen["issued"]) == len(chosen["completed"]) == len(queued)
    reads = {times: rows.arrival_ns[rows.op == 0] for times, rows in chosen.items()}
    took = np.sort(queued.latency_ns[queued.op == 0])
    assert reads["issued"].mean() < reads["completed"].mean()
    # Both count from the first request, which the means of latency show.
    between = reads["completed"].mean() - reads["issued"].mean()
    first = int(queued.latency_ns[0])
    assert between == pytest.approx(took.mean() - first, abs=took.mean())


def test_a_recording_is_replayed_and_a_cut_one_says_where(cli, tmp_path: Path) -> None:
    whole = cli("replay", "null:1g", str(BINARY / "loop"), "--times", "issued", "--seed", "1")
    assert whole.status == 0, whole.err
    cut = tmp_path / "x.blktrace.0"
    cut.write_bytes(unpacked(BINARY / "loop.blktrace.0.gz")[:1000])
    (tmp_path / "x.blktrace.1").write_bytes(unpacked(BINARY / "loop.blktrace.1.gz"))
    refused = cli("replay", "null:1g", str(cut))
    assert refused.status == 2
    assert "x.blktrace.0 ends within an event" in refused.err
    assert "--skip-bad" in refused.err
    used = cli("replay", "null:1g", str(cut), "--skip-bad", "-o", "json")
    assert used.status == 3
    assert used.document["trace"]["truncated"]
    assert "ends within an event" in used.document["trace"]["damage"]
    assert "the file breaks off: " in used.err


@pytest.mark.parametrize("name", ["dmself", "mdself"])
def test_a_device_that_passes_bios_on_has_latencies_from_the_queue(cli, name: str) -> None:
    path = ROOT.parent / "shared/traces/blkparse-6.1" / f"{name}.txt"
    if not path.exists():
        pytest.skip(f"{path.name} is not here: no recording of dm and md themselves is read")
    said = cli("trace", "show", str(path))
    assert said.status == 0, said.err
    assert "run from queueing (Q) to completion (C)" in said.err
    assert "without completion" not in said.out
    trace = read_trace(str(path))
    assert np.all(trace.rows.latency_ns != LATENCY_UNKNOWN)

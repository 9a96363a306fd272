"""``ssdscope replay``: what the document says of a trace, and refusals that say what to do."""

import gzip
from pathlib import Path

import pytest


@pytest.fixture
def mqsim(tmp_path: Path) -> Path:
    """A trace of 200 reads and writes, a microsecond apart, in MQSim's form.

    Its times are large enough to be nanoseconds only.
    """
    path = tmp_path / "trace.txt"
    lines = [f"{10**15 + i * 1000} 0 {i * 64} 8 {i % 2}" for i in range(200)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def spc(tmp_path: Path) -> Path:
    """A trace of two volumes in SPC's form; some requests are off a 4 KiB grid."""
    path = tmp_path / "trace.spc"
    lines = [
        f"{i % 2},{i * 3},{512 * (1 + i % 9)},{'rw'[i % 2]},{i * 0.001:.6f}" for i in range(100)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("mode", ["open", "closed", "asap"])
def test_a_replay_is_a_run_with_a_trace(cli, mqsim: Path, mode: str) -> None:
    said = cli("replay", "sim:mqsim-8g", str(mqsim), "--mode", mode, "--seed", "1", "-o", "json")
    assert said.status == 0, said.err
    document = said.document
    assert document["requests"] == 200
    assert document["read"]["requests"] == document["write"]["requests"] == 100
    assert document["workload"]["replay"] == str(mqsim)
    trace = document["trace"]
    assert trace["requests"] == 200
    assert trace["skipped"] == trace["expanded"] == trace["wrapped"] == 0
    assert trace["span_ns"] == 199_000


def test_time_is_scaled(cli, mqsim: Path) -> None:
    words = ("replay", "sim:mqsim-8g", str(mqsim), "--seed", "1", "-o", "json", "--time-scale")
    slow = cli(*words, "1000").document["elapsed_ns"]
    assert slow >= 199_000_000
    assert cli(*words, "1").document["elapsed_ns"] < slow / 2


def test_compressed_traces_are_read(cli, mqsim: Path) -> None:
    packed = mqsim.with_suffix(".gz")
    packed.write_bytes(gzip.compress(mqsim.read_bytes()))
    words = ("--seed", "1", "-o", "json")
    plain = cli("replay", "sim:mqsim-8g", str(mqsim), *words).document
    unpacked = cli("replay", "sim:mqsim-8g", str(packed), *words).document
    assert unpacked["read"] == plain["read"]


def test_what_does_not_fit_is_refused_with_a_count_and_the_way_out(cli, spc: Path) -> None:
    words = ("replay", "sim:msr-4gb", str(spc), "--seed", "1", "-o", "json")
    refused = cli(*words)
    assert refused.status == 2
    assert "hint: " in refused.err
    assert "expand" in refused.err
    fitted = cli(*words, "--align", "expand")
    assert fitted.status == 0, fitted.err
    assert fitted.document["trace"]["expanded"] > 0
    assert fitted.document["trace"]["volumes"] == 2


def test_two_readings_are_refused_with_both(cli, tmp_path: Path) -> None:
    path = tmp_path / "small-times.txt"
    path.write_text("".join(f"{i * 1000} 0 {i * 8} 8 1\n" for i in range(50)), encoding="utf-8")
    said = cli("replay", "sim:mqsim-8g", str(path))
    assert said.status == 2
    assert "as disksim 50 requests span 49.0 s, as mqsim 50 requests span 49.0 us" in said.err
    assert "hint: choose with --format disksim or mqsim" in said.err
    chosen = cli("replay", "sim:mqsim-8g", str(path), "--format", "mqsim", "-o", "json")
    assert chosen.document["trace"]["span_ns"] == 49_000


def test_a_malformed_line_is_told_with_its_number_and_text(cli, mqsim: Path) -> None:
    lines = mqsim.read_text(encoding="utf-8").splitlines()
    lines[41] = "what is this"
    mqsim.write_text("\n".join(lines) + "\n", encoding="utf-8")
    refused = cli("replay", "sim:mqsim-8g", str(mqsim), "--seed", "1")
    assert refused.status == 2
    assert "42" in refused.err
    assert "what is this" in refused.err
    skipped = cli("replay", "sim:mqsim-8g", str(mqsim), "--skip-bad", "--seed", "1", "-o", "json")
    assert skipped.document["trace"]["skipped"] == 1
    assert skipped.document["requests"] == 199


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\x00\xff" * 100, b"hello world\n" * 50])
def test_a_file_that_is_no_trace_is_refused(cli, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd"
    path.write_bytes(content)
    said = cli("replay", "sim:mqsim-8g", str(path))
    assert said.status == 2, said.err
    assert str(path) in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--mode", "sideways"), "--mode"),
        (("--align", "round"), "--align"),
        (("--fit", "squeeze"), "--fit"),
        (("--time-scale", "0"), "--time-scale"),
        (("--time-scale", "nan"), "--time-scale"),
        (("--format", "xls"), "xls"),
        (("--offset", "4KB"), "--offset"),
        (("--iodepth", "0"), "iodepth"),
    ],
)
def test_bad_options_are_refused(cli, mqsim: Path, words: tuple[str, ...], expected: str) -> None:
    said = cli("replay", "sim:mqsim-8g", str(mqsim), *words)
    assert said.status == 2, said.err
    assert expected in said.err


def test_a_missing_trace_is_refused_before_the_drive_is_prepared(cli) -> None:
    said = cli("replay", "sim:mqsim-8g", "missing.spc")
    assert said.status == 2
    assert "cannot read the trace missing.spc: No such file or directory" in said.err


def test_writes_of_a_trace_are_refused_on_a_file_opened_for_reading(
    cli, mqsim: Path, tmp_path: Path
) -> None:
    file = tmp_path / "zeros.bin"
    file.write_bytes(bytes(8 * 2**20))
    said = cli(
        "replay", str(file), str(mqsim), "--mode", "asap", "--align", "expand", "--seed", "1"
    )
    assert said.status == 2, said.err
    assert file.read_bytes() == bytes(8 * 2**20)


def test_a_name_is_not_taken_for_markup(cli, mqsim: Path) -> None:
    odd = mqsim.rename(mqsim.with_name("[bold] odd.txt"))
    said = cli("replay", "sim:mqsim-8g", str(odd), "--progress", "always", "--seed", "1")
    assert said.status == 0, said.err
    assert "replay [bold] odd" in said.err.partition("repeat:")[0]


MSR = "".join(
    f"{128166385290000000 + i * 10_000},hm,0,{('Write', 'Read')[i % 2]},{i * 8192},4096,{250 + i}\n"
    for i in range(100)
)


def test_the_traces_own_latency_stands_beside_the_drives(cli, tmp_path: Path) -> None:
    path = tmp_path / "hm_0.csv"
    path.write_text(MSR, encoding="utf-8")
    document = cli("replay", "sim:mqsim-8g", str(path), "--seed", "1", "-o", "json").document
    trace = document["trace"]
    assert (trace["format"], trace["requests"], trace["bad_lines"]) == ("msr", 100, 0)
    assert trace["latency_ns"]["read"]["min"] == 25_100
    assert trace["latency_ns"]["write"]["max"] == 34_800
    shown = cli("replay", "sim:mqsim-8g", str(path), "--seed", "1").out
    assert [line.split()[0] for line in shown.splitlines() if "as traced" in line] == [
        "read,",
        "write,",
    ]


def test_lines_left_out_are_shown(cli, tmp_path: Path) -> None:
    path = tmp_path / "broken.csv"
    path.write_text(MSR + "rubbish\n" * 7, encoding="utf-8")
    said = cli("replay", "sim:mqsim-8g", str(path), "--skip-bad", "--seed", "1")
    assert said.status == 0, said.err
    assert said.err.count("left out: expected seven fields") == 5
    assert "line 101 left out" in said.err
    assert "2 more malformed lines left out" in said.err


def test_what_a_truncated_file_holds_is_used_on_request(cli, tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    packed = gzip.compress((MSR * 40).encode())
    path.write_bytes(packed[: len(packed) // 2])
    refused = cli("replay", "sim:mqsim-8g", str(path), "--seed", "1")
    assert refused.status == 2
    assert "the gzip file is cut short" in refused.err
    used = cli("replay", "sim:mqsim-8g", str(path), "--skip-bad", "--seed", "1", "-o", "json")
    assert used.status == 3, used.err
    assert used.document["trace"]["truncated"]
    assert 0 < used.document["requests"] < 4000
    assert "the file breaks off" in used.err


def test_a_trace_that_is_mostly_rubbish_is_not_to_be_trusted(cli, tmp_path: Path) -> None:
    path = tmp_path / "rubbish.csv"
    for rubbish, status in ((25, 0), (26, 3)):
        path.write_text(MSR + "rubbish\n" * rubbish, encoding="utf-8")
        words = ("replay", "sim:mqsim-8g", str(path), "--skip-bad", "--format", "msr")
        assert cli(*words, "--seed", "1", "-o", "json").status == status


def test_requests_of_one_second_are_spread_on_request(cli, tmp_path: Path) -> None:
    path = tmp_path / "cbs.csv"
    lines = (f"{1538323200 + i // 50},{i * 8},8,{i % 2},0\n" for i in range(100))
    path.write_text("".join(lines), encoding="utf-8")
    words = ("replay", "sim:mqsim-8g", str(path), "--seed", "1", "-o", "json")
    burst = cli(*words).document
    spread = cli(*words, "--spread-ties").document
    assert burst["trace"]["format"] == spread["trace"]["format"] == "tencent"
    assert burst["elapsed_ns"] < 1.2e9 < 1.9e9 < spread["elapsed_ns"]
    assert spread["write"]["latency_ns"]["mean"] < burst["write"]["latency_ns"]["mean"]


def test_columns_of_any_table_are_named(cli, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("what;when;where;how much\n0;1.5;8;16\n1;2.5;80;8\n", encoding="utf-8")
    words = ("replay", "sim:mqsim-8g", str(path), "--seed", "1", "-o", "json", "--columns")
    document = cli(*words, "op=0w:1,time=ms:2,offset=sectors:3,size=sectors:4").document
    assert document["trace"]["format"] == "csv"
    assert document["trace"]["span_ns"] == 1_000_000
    assert (document["write"]["bytes"], document["read"]["bytes"]) == (8192, 4096)
    wrong = cli(*words, "op=0w:1,time:2,offset=sectors:3,size=sectors:4")
    assert wrong.status == 2
    assert "`time:2`" in wrong.err


@pytest.fixture
def in_bytes(tmp_path: Path) -> Path:
    """Lines of milliseconds, device, offset, size and operation, with 13 GB of bytes."""
    path = tmp_path / "bytes.txt"
    lines = [f"{i * 2.5} 0 {i * 131_072_000} {4096 << i % 3} {i % 2}" for i in range(100)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


AS_BYTES = "time=ms:1,volume:2,offset:3,size:4,op=0w:5"


@pytest.mark.parametrize("fit", ["refuse", "wrap", "compact"])
def test_bytes_are_not_taken_for_blocks_in_silence(cli, in_bytes: Path, fit: str) -> None:
    said = cli("replay", "sim:mqsim-8g", str(in_bytes), "--fit", fit, "--seed", "1")
    assert said.status == 2
    assert "6.0 TiB (requests of up to 8.0 MiB)" in said.err
    assert "12.0 GiB (requests of up to 16.0 KiB)" in said.err
    assert f"--format disksim, or --columns {AS_BYTES} for bytes" in said.err


def test_the_columns_that_are_offered_read_bytes(cli, in_bytes: Path) -> None:
    words = ("replay", "sim:mqsim-8g", str(in_bytes), "--fit", "wrap", "--seed", "1", "-o", "json")
    document = cli(*words, "--columns", AS_BYTES).document
    assert document["read"]["requests"] == document["write"]["requests"] == 50
    assert document["read"]["bytes"] + document["write"]["bytes"] == 4096 * (34 + 2 * 33 + 4 * 33)
    assert document["trace"]["address_span_bytes"] < 13_000_000_000


def test_reads_alone_need_no_leave_to_write(cli, mqsim: Path, tmp_path: Path) -> None:
    target = tmp_path / "file.bin"
    target.write_bytes(b"x" * (8 << 20))
    words = ("replay", str(target), str(mqsim), "--seed", "1", "-o", "json")
    refused = cli(*words)
    assert refused.status == 2
    assert "--reads-only" in refused.err
    document = cli(*words, "--reads-only").document
    assert document["write"] is None
    assert document["read"]["requests"] == 100
    assert document["trace"]["not_reads"] == 100


def test_the_host_thinks_between_requests(cli, mqsim: Path) -> None:
    words = ("replay", "sim:mqsim-8g", str(mqsim), "--seed", "1", "-o", "json")
    plain = cli(*words, "--mode", "asap").document["elapsed_ns"]
    slow = cli(*words, "--mode", "asap", "--thinktime", "1ms").document["elapsed_ns"]
    assert slow == pytest.approx(plain + 199 * 1_000_000, rel=0.05)

"""Units, operations and volumes of a table; a trace on the page of `characterize`."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def two_volumes(tmp_path: Path) -> Path:
    """Two volumes of which each alone fits 64 MiB."""
    path = tmp_path / "two.trace"
    rows = (f"{i * 1000000} {i % 2} {(i * 7919) % 100000} 8 {i % 3 // 2}\n" for i in range(50))
    path.write_text("".join(rows) + "60000000000000 0 8 8 1\n", encoding="utf-8")
    return path


def test_places_in_bytes_beside_sizes_in_sectors_have_two_readings(cli, tmp_path: Path) -> None:
    path = tmp_path / "mixed.trace"
    rows = (f"{i}.5 0 {(i * 104729 % 3000000) * 4096} 8 1\n" for i in range(100))
    path.write_text("".join(rows), encoding="utf-8")
    refused = cli("trace", "show", str(path))
    assert refused.status == 2
    assert "as disksim 100 requests" in refused.err
    assert "with places in bytes and sizes in sectors" in refused.err
    columns = "time=ms:1,volume:2,offset:3,size=sectors:4,op=0w:5"
    assert f"--columns {columns} for places in bytes" in refused.err
    shown = cli("trace", "show", str(path), "--columns", columns, "-o", "json")
    assert shown.status == 0, shown.err
    assert shown.document["trace"]["address_span_bytes"] < 3_000_000 * 4096 + 4096


def test_columns_take_the_size_of_an_lba_and_names_of_operations(cli, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("5,28,2,1\n6,2A,0x10,2\n7,12,0,0\n8,35,0,0\n", encoding="utf-8")
    columns = "time=us:1,op=28/read+2a/write+35/flush+12/none:2,offset=4096:3,size=4096:4"
    shown = cli("trace", "show", str(path), "--columns", columns, "-o", "json")
    assert shown.status == 0, shown.err
    about = shown.document["trace"]
    assert (about["requests"], about["writes"], about["noted"]["other_operations"]) == (3, 1, 1)
    assert about["address_span_bytes"] == 18 * 4096


def test_volumes_lie_over_one_another_by_an_option_that_the_refusal_names(
    cli, two_volumes: Path
) -> None:
    refused = cli("replay", "null:64m", str(two_volumes), "--format", "mqsim")
    assert refused.status == 2
    assert "--overlay-volumes" in refused.err
    words = ("--format", "mqsim", "--overlay-volumes", "-o", "json")
    replayed = cli("replay", "null:64m", str(two_volumes), "--mode", "asap", *words)
    assert replayed.status == 0, replayed.err
    about = replayed.document["trace"]
    assert (about["volumes"], about["noted"]["volumes_overlaid"]) == (1, 2)
    assert about["address_span_bytes"] <= 64 << 20


def test_what_is_left_out_is_counted_by_kind(cli, tmp_path: Path) -> None:
    path = tmp_path / "some.spc"
    path.write_text(
        "0,8,512,r,0\n0,8,512,w,1\n0,8,0,r,2\n0,8,512,r,3\n1,8,512,r,4\n0,8,512,x,5\n",
        encoding="utf-8",
    )
    words = ("--volume", "0", "--skip-bad", "--reads-only", "-o", "json")
    replayed = cli("replay", "null:64m", str(path), *words)
    assert replayed.document["trace"]["dropped"] == {
        "malformed: expected an opcode R or W (field 4)": 1,
        "of_other_volumes": 1,
        "reads_of_no_bytes": 1,
        "writes": 1,
    }


def test_a_page_tells_in_its_plan_that_a_trace_cannot_run(cli, two_volumes: Path) -> None:
    given = ("characterize", "sim:kuo-samsung-slc", "--trace", str(two_volumes), "--dry-run")
    said = cli(*given, "--format", "mqsim", "--fit", "wrap", "-o", "json")
    assert said.status == 0, said.err
    assert said.document["plan"]["trace_refused"] is None
    with two_volumes.open("a", encoding="utf-8") as trace:
        trace.write("rubbish\n")
    said = cli(*given, "--format", "mqsim")
    assert said.status == 0, said.err
    assert "the trace cannot be replayed: " in said.out
    assert "line 52" in said.out
    said = cli(*given, "--format", "mqsim", "--skip-bad", "-o", "json")
    assert said.document["plan"]["trace_refused"] is None


def test_a_page_takes_a_trace_as_it_is_asked_to(cli, two_volumes: Path, tmp_path: Path) -> None:
    with two_volumes.open("a", encoding="utf-8") as trace:
        trace.write("rubbish\n")
    out = tmp_path / "page.json"
    said = cli(
        "characterize", "null:64m", "--trace", str(two_volumes), "--format", "mqsim",
        "--fit", "wrap", "--skip-bad", "--budget", "1s",
        "-O", str(tmp_path / "page.html"), "--json", str(out), "--progress", "never",
    )  # fmt: skip
    document = json.loads(out.read_text(encoding="utf-8"))
    replayed = document["performance"]["trace"]
    assert replayed["options"]["fit"] == "wrap", said.err
    assert replayed["trace"]["bad_lines"] == 1
    assert "--fit wrap --skip-bad" in document["provenance"]["command"]

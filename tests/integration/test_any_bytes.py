"""Names of files that are not UTF-8: every command takes them, and tells them apart."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ssdscope.results import read_log
from ssdscope.targets.names import printable, shell_words

TRACE = "0,0,512,r,0.0\n0,8,512,r,0.5\n"
SEED = ("--seed", "1")


def odd(name: str) -> str:
    """Give a name a byte that is not UTF-8."""
    return os.fsdecode(name.encode() + b"\xfe")


BIN, SPC, TOML = odd("b") + ".bin", odd("t") + ".spc", odd("d") + ".toml"


@pytest.fixture
def place(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    try:
        Path(BIN).write_bytes(os.urandom(2**20))
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    Path(SPC).write_text(TRACE, encoding="utf-8")
    Path(TOML).write_text(cli("drives", "show", "mqsim-8g", "--toml").out, encoding="utf-8")
    Path(odd("j") + ".toml").write_text('[a]\nrw = "randread"\nnumber_ios = 10\n', encoding="utf-8")
    Path(odd("p") + ".toml").write_text(
        'targets = ["sim:mqsim-8g"]\n[workload]\nrw = "randread"\nnumber_ios = 10\n',
        encoding="utf-8",
    )
    Path(odd("q") + ".toml").write_text(
        'target = "sim:mqsim-8g"\nstate = "fresh"\nminimise = "read.latency_ns.mean"\ntrials = 2\n'
        '[workload]\nrw = "randread"\nnumber_ios = 10\n[space]\nnand.ways = [2, 4]\n',
        encoding="utf-8",
    )
    return tmp_path


RUN = ("--rw", "randread", "--number-ios", "10", *SEED)


@pytest.mark.parametrize(
    "words",
    [
        ("run", BIN, *RUN),
        ("run", f"raid0:{BIN},null:1m", *RUN),
        ("run", TOML, *RUN),
        ("run", BIN, "--jobs", odd("j") + ".toml", *SEED),
        ("replay", BIN, SPC, "--align", "expand", *SEED),
        ("trace", "show", SPC),
        ("trace", "windows", SPC, "-O", odd("w") + ".parquet", "--window", "1s"),
        ("trace", "make", "financial1", "--span", "1s", "-O", odd("synthetic"), *SEED),
        ("sweep", odd("p") + ".toml", "-O", odd("s") + ".jsonl", "--jobs", "1", *SEED),
        (
            "search",
            odd("q") + ".toml",
            "-O",
            odd("s") + ".jsonl",
            "--jobs",
            "1",
            *SEED,
            "--plot",
            odd("s") + ".svg",
            "--write-drive",
            odd("f") + ".toml",
        ),
        ("drives", "check", TOML),
        ("drives", "show", TOML),
        ("config", "show", TOML),
        ("doctor", "--identify", BIN),
        ("reproduce", "ryu2009", "--figure", "12", "-O", odd("out"), *SEED),
    ],
    ids=lambda words: " ".join(each for each in words if each.isascii())[:30],
)
@pytest.mark.parametrize("form", [(), ("-o", "json")], ids=["", "json"])
def test_every_command_takes_any_name(
    cli, place: Path, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    said = cli(*words, *form)
    assert said.status == 0, said.err
    assert "defect" not in said.err
    (said.out + said.err).encode()
    if form:
        json.loads(said.out)
    if "repeat:" in said.err and len(words) > len(RUN) + 1:
        assert "$'" in said.err or form == ()
    assert place.exists()


def test_the_name_is_kept_in_all_that_is_written(cli, place: Path) -> None:
    log = place / (odd("l") + ".parquet")
    said = cli("run", BIN, *RUN, "--log", str(log), "-o", "json")
    assert os.fsencode(said.document["target"]["uri"]) == b"b\xfe.bin"
    assert read_log(log)[1] == said.document
    assert json.loads(log.with_suffix(".json").read_text("ascii")) == said.document
    assert rf"$'{place}/l\xfe.parquet'" in said.err
    words = ("sweep", odd("p") + ".toml", "-O", odd("s") + ".jsonl", "--jobs", "1", *SEED)
    assert cli(*words).status == 0
    with (place / (odd("s") + ".parquet")).open("rb") as file:
        assert pq.read_table(file).num_rows == 1
    assert "1 of them done before" in cli(*words).err


def test_a_collection_goes_on_under_any_name(cli, place: Path) -> None:
    words = (
        "model", "collect", TOML, "--points", "2", "--test", "0", "--repeats", "0",
        "--runtime", "5ms", "-O", odd("c") + ".parquet", "--jobs", "1", *SEED,
    )  # fmt: skip
    assert cli(*words).status in (0, 3)
    assert r"2 of the runs are in c\xfe.parquet already" in cli(*words).err
    assert place.exists()


def test_two_names_are_told_apart_by_their_tokens(cli, place: Path) -> None:
    other = os.fsdecode(b"b\xff.bin")
    Path(other).write_bytes(bytes(2**20))
    token = cli("doctor", "--identify", other, "-o", "json").document["identity"]["token"]
    assert token == r"FILE:b\xff.bin"
    write = ("--rw", "randwrite", "--number-ios", "1", *SEED, "--destroy-data")
    assert cli("run", BIN, *write, token).status == 2
    assert cli("run", other, *write, token).status == 0
    assert cli("run", other, *write, os.fsdecode(b"FILE:b\xff.bin")).status == 0
    assert place.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", odd("none")), r"none\xfe: no such file or device"),
        (("run", BIN, "--rw", "randwrite", "--number-ios", "1"), r"'b\xfe.bin' is open for"),
        (("run", BIN, "--rw", odd("read")), r"'read\xfe' is not an access pattern"),
        (("run", "sim:mqsim-8g", "--set", odd("a=")), r"'a=\xfe' is not text in UTF-8"),
        (("replay", BIN, odd("none")), r"cannot read the trace none\xfe: No such file"),
        (("sweep", odd("none")), r"cannot read none\xfe: No such file"),
        (("model", "predict", odd("none")), r"cannot read none\xfe: No such file"),
        (("trace", "show", SPC, "--format", odd("spc")), r"spc\xfe"),
        (("replay", BIN, SPC, "--columns", odd("x")), r"x\xfe"),
        ((odd("comm"),), r"there is no command 'comm\xfe'"),
    ],
)
def test_messages_name_what_was_meant(cli, place: Path, words: tuple[str, ...], told: str) -> None:
    said = cli(*words, *(SEED if words[0] in ("run", "replay") else ()))
    assert said.status == 2, said.err
    assert told in said.err
    assert place.exists()


def test_names_as_text() -> None:
    name = os.fsdecode(b"it's \xfe\\")
    assert printable(name) == "it's \\xfe\\"
    assert shell_words(["a b", name]) == r"'a b' $'it\'s \xfe\\'"

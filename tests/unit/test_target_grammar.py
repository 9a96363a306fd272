"""The text of a target: every form, nesting, and refusals that say what is expected."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdscope.errors import UsageError
from ssdscope.targets.grammar import (
    DEFAULT_CHUNK_BYTES,
    NULL_CAPACITY_BYTES,
    DriveFile,
    Nbd,
    Null,
    Path,
    Preset,
    Raid0,
    Spec,
    parse_target,
)

MQSIM = Preset("mqsim-8g")


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("sim:mqsim-8g", MQSIM),
        ("my.toml", DriveFile("my.toml")),
        ("./sim:odd", Path("./sim:odd")),
        ("/dev/nvme0n1", Path("/dev/nvme0n1")),
        ("data/big.bin", Path("data/big.bin")),
        ("null:", Null(NULL_CAPACITY_BYTES)),
        ("null:1g", Null(2**30)),
        ("nbd+unix:///x?socket=/tmp/s", Nbd("nbd+unix:///x?socket=/tmp/s")),
        ("raid0:sim:mqsim-8g,big.bin", Raid0((MQSIM, Path("big.bin")), DEFAULT_CHUNK_BYTES)),
        ("raid0:sim:mqsim-8g,null:?chunk=128k", Raid0((MQSIM, Null(NULL_CAPACITY_BYTES)), 131072)),
        (
            "raid0:(raid0:null:1g,null:1g?chunk=4k),sim:mqsim-8g?chunk=64k",
            Raid0((Raid0((Null(2**30), Null(2**30)), 4096), MQSIM), 65536),
        ),
        (
            "raid0:nbd+unix:///x?socket=P,null:1g",
            Raid0((Nbd("nbd+unix:///x?socket=P"), Null(2**30)), DEFAULT_CHUNK_BYTES),
        ),
    ],
)
def test_forms(text: str, spec: Spec) -> None:
    assert parse_target(text) == spec


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("sim:", "not the name of a drive"),
        ("sim:a/b", "not the name of a drive"),
        ("ssd:foo", "unknown kind 'ssd:'"),
        ("raid0:", "two members"),
        ("raid0:sim:a", "two members"),
        ("raid0:sim:a,sim:b?chunk=4KB", "can be read as"),
        ("raid0:sim:a,sim:b?stripe=4k", "not the name of a drive"),
        ("raid0:(sim:a,sim:b", "parentheses"),
        ("raid0:sim:a),(sim:b", "parentheses"),
        ("raid0:sim:a,,sim:b", "empty"),
        ("null:-1", "not a size"),
    ],
)
def test_refusals_name_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_target(text)
    assert words in refusal.value.message


@given(st.text(alphabet="raid0:sim:null:()?,=chunk./k4", max_size=24))
def test_any_text_is_a_target_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        parse_target(text)

"""TOML that no person writes is refused by its shape, with file and line, at once."""

import pytest

from ssdscope.errors import ConfigError
from ssdscope.targets.toml_files import parse_toml


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n" + "a." * 50_000 + "a = 1", "x.toml:2: a key of more than 32 parts"),
        ("a = " + "[" * 50_000 + "]" * 50_000, "x.toml:1: lists or tables"),
        ("a = " + "{a=" * 50_000, "x.toml:1: lists or tables"),
        ("[a]\n" * 200_000, "x.toml:20001: more than 20000 keys and tables"),
        ("a = " + "9" * 5_000, "x.toml: not TOML"),
        ("a = ", "x.toml: not TOML"),
    ],
    ids=["parts", "lists", "tables", "headings", "digits", "cut"],
)
def test_what_is_too_much_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=r"x\.toml") as refused:
        parse_toml(text, "x.toml", "as in y")
    assert str(refused.value).startswith(said)
    assert refused.value.hint == "as in y"


def test_what_people_write_is_read() -> None:
    assert parse_toml("[a.b]\nc = [[1], [2]]", "x.toml") == {"a": {"b": {"c": [[1], [2]]}}}

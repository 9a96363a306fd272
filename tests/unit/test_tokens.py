"""Tokens of arrays: one for each real member, in order, and nothing else will do."""

import pytest

from ssdscope.errors import UsageError
from ssdscope.targets.grammar import Raid0, parse_target
from ssdscope.targets.tokens import joined_tokens, real_leaves, shared_tokens


def array(text: str) -> Raid0:
    spec = parse_target(text)
    assert isinstance(spec, Raid0)
    return spec


def test_each_real_member_gets_its_own() -> None:
    two = array("raid0:a.bin,/dev/sda")
    assert shared_tokens("FILE:a.bin,SERIAL:1234", two) == ["FILE:a.bin", "SERIAL:1234"]
    assert shared_tokens(None, two) == [None, None]
    nested = array("raid0:(raid0:a,b),nbd+unix:///x?socket=/s")
    assert len(real_leaves(nested)) == 3
    assert shared_tokens("FILE:a,FILE:b,NBD:x", nested) == ["FILE:a,FILE:b", "NBD:x"]


def test_a_token_with_a_comma_stands_in_parentheses() -> None:
    tokens = ["FILE:a,b.bin", "FILE:c(1).bin", "FILE:d"]
    text = joined_tokens(tokens)
    assert text == "(FILE:a,b.bin),(FILE:c(1).bin),FILE:d"
    assert shared_tokens(text, array("raid0:(a,b.bin),c(1).bin,d")) == tokens
    assert joined_tokens(["FILE:a,b.bin"]) == "FILE:a,b.bin"


@pytest.mark.parametrize("text", ["FILE:a", "FILE:a,FILE:b,FILE:c", ""])
def test_too_few_or_too_many_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="2 real members") as refused:
        shared_tokens(text, array("raid0:a,b"))
    assert "--identify" in (refused.value.hint or "")


def test_parentheses_must_match() -> None:
    with pytest.raises(UsageError, match="parentheses do not match"):
        shared_tokens("(FILE:a,FILE:b", array("raid0:a,b"))


def test_simulated_members_need_none() -> None:
    assert shared_tokens("anything", array("raid0:sim:mqsim-8g,sim:mqsim-8g")) == [None, None]

"""A file that cannot be written: each reason has its own hint."""

import errno

import pytest

from ssdscope.results import reasons
from ssdscope.results.files import unwritable


@pytest.mark.parametrize(
    ("number", "part"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permissions"),
        (errno.EDQUOT, "quota"),
        (errno.EFBIG, "ulimit -f"),
        (errno.ENAMETOOLONG, "shorter name"),
        (errno.EIO, "dmesg"),
        (errno.ENOENT, "name another place"),
    ],
)
def test_the_hint_is_of_the_reason(number: int, part: str) -> None:
    told = unwritable("x", OSError(number, "no"))
    assert part in str(told.hint)
    assert ("free some space" in str(told.hint)) == (number == errno.ENOSPC)


def test_what_says_nothing_has_no_hint_of_its_own() -> None:
    assert reasons.known_hint(OSError(errno.ENOENT, "no")) is None
    assert reasons.reason(OSError("odd")) == "odd"

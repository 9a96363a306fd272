"""Advised lines that drivers have to take: md, bcache, dm-thin, dm-crypt, F2FS."""

from collections.abc import Callable

from tests.lab.cases import Case, Skipped
from tests.lines import in_lab
from tests.lines.devices import NotHereError, RefusedError
from tests.lines.line import BLOCKS


def _case(setting: str, block_bytes: int) -> Callable[[], str]:
    def run() -> str:
        from tests.lab.tools import module

        module("loop")
        try:
            return in_lab.attempt(setting, block_bytes)
        except NotHereError as why:
            raise Skipped(str(why)) from None
        except RefusedError as why:
            raise AssertionError(str(why)) from None

    return run


CASES = [
    Case("lines", f"loop-{size}", setting, _case(setting, size), patience_s=1200)
    for size in BLOCKS
    for setting in in_lab.SETTINGS
]

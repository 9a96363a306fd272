"""What tests share: the command line in this process, and as a process of its own."""

import gc
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import settings
from tests import always

from ssdscope.cli.app import run_cli

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

COMMAND = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    always.mark_others(items)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Try a test of data that no sample meets once more where the sample met them.

    It is drawn anew at each opening, by nobody's seed, and meets a sector in one of 130 drives.
    """
    if not pyfuncitem.path.name.startswith("test_no_way_round"):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    given = {name: pyfuncitem.funcargs[name] for name in names}
    try:
        pyfuncitem.obj(**given)
    except Exception as error:
        if "data that ssdscope did not write (found at byte" not in str(error):
            raise
        if "tmp_path" in given:
            given["tmp_path"] = given["tmp_path"] / "again"
            given["tmp_path"].mkdir()
        pyfuncitem.obj(**given)
    return True


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Hear Ctrl-C, also where these tests run in the background of a shell, which has it ignored.

    What they start inherits that.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@dataclass(frozen=True)
class Said:
    """What a command line did."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        assert self.out, self.err
        return json.loads(self.out)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run a command line in this process."""

    def run(*words: str) -> Said:
        capsys.readouterr()
        status = run_cli(words)
        if status:
            gc.collect()  # a failure holds what was open, which a process of its own closes
        captured = capsys.readouterr()
        return Said(status, captured.out, captured.err)

    return run


@pytest.fixture
def spawn() -> Callable[..., subprocess.Popen[str]]:
    """Start a command line as a process of its own."""

    def start(*words: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    return start

"""What is made of a verdict: `verified`, with a device that says what it is told to."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ssdscope.cli.running import exit_code
from ssdscope.errors import DeviceError
from ssdscope.targets import open_target
from ssdscope.workloads import Workload
from ssdscope.workloads.verifying import Verification, verified

RUN = open_target("null:1m").device.run(Workload(rw="write", requests=20))
FINE = {
    "written_bytes": 8192, "checked_bytes": 8192, "mismatched_bytes": 0, "first": None,
    "elapsed_ns": 1, "failed_requests": 0, "interrupted": False, "broken": None,
}  # fmt: skip
WRONG = {"offset_bytes": 512, "expected": "write 1", "found": "zeros"}


class Device:
    """Remembers what was asked of it, and gives the verdict that it was made with."""

    def __init__(self, verdict: dict[str, Any]) -> None:
        self.verdict = {**FINE, **verdict}
        self.compared: list[bool] = []

    def access(self) -> None:
        return None

    def verify(self, *, compare_reads: bool) -> None:
        self.compared.append(compare_reads)

    def take_verdict(self) -> dict[str, Any]:
        return {key: self.verdict[key] for key in ("checked_bytes", "mismatched_bytes", "first")}

    def read_back(self, *, progress: Any) -> dict[str, Any]:
        assert progress is None
        return self.verdict


def outcome(verdict: dict[str, Any], *, writes: bool = True, **how: Any) -> tuple[int, Any]:
    """Give the exit code, and what the document says."""
    target: Any = SimpleNamespace(device=Device(verdict))
    result = verified(target, Verification(**how), lambda: RUN, writes=writes)
    assert target.device.compared == [not writes, False]
    record = {**result.summary, "target": {"kind": "file"}, "workload": {}}
    return exit_code(record), result.summary["verify"]


@pytest.mark.parametrize(
    ("verdict", "code", "state", "words"),
    [
        ({}, 0, "done", ""),
        ({"mismatched_bytes": 512, "first": WRONG}, 1, "done", "the first at byte 512: expected"),
        ({"checked_bytes": 4096, "failed_requests": 1}, 1, "done", "4,096 bytes could not be read"),
        ({"checked_bytes": 0, "broken": "gone"}, 1, "broken", "could not be read back: gone"),
        ({"checked_bytes": 512, "interrupted": True}, 130, "interrupted", "interrupted after"),
        (
            {"checked_bytes": 512, "interrupted": True, "mismatched_bytes": 512, "first": WRONG},
            130, "interrupted", "the first at byte 512",
        ),
    ],
)  # fmt: skip
def test_the_exit_code_says_what_became_of_the_data(
    capsys: pytest.CaptureFixture[str], verdict: dict[str, Any], code: int, state: str, words: str
) -> None:
    found, about = outcome(verdict)
    assert (found, about["state"], about["method"]) == (code, state, "crc32c")
    assert words in " ".join(capsys.readouterr().err.split())


def test_reading_back_may_be_left_to_a_later_run() -> None:
    assert outcome({}, reads_back=False)[1]["state"] == "skipped"
    code, about = outcome({"mismatched_bytes": 512, "first": WRONG}, writes=False)
    assert (code, about["state"], about["first"]) == (1, "done", WRONG)


def test_a_run_that_breaks_keeps_its_figures_and_says_that_nothing_was_compared() -> None:
    target: Any = SimpleNamespace(device=Device({}))

    def breaks() -> Any:
        error = DeviceError("gone")
        error.partial = replace(RUN, requests=3)
        raise error

    with pytest.raises(DeviceError) as broken:
        verified(target, Verification(), breaks, writes=True)
    assert broken.value.partial is not None
    assert broken.value.partial.requests == 3
    assert broken.value.partial.summary["verify"]["state"] == "skipped"

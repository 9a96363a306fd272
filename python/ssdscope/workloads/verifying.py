"""``run --verify``: what was written is read back and compared, as fio's verify does.

The host device stamps every sector that it writes with its place, the number of the write and a
checksum (``crates/host/src/contents``). The door to the drive still carries no data: this module
says when to stamp and when to compare, and gets a verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ssdscope.errors import SsdscopeError, UsageError, nearest

if TYPE_CHECKING:
    from ssdscope.targets import RunResult, Target
    from ssdscope.targets.device import ProgressCallback

METHODS = {
    "crc32c": "place, number of the write and a CRC-32C in every sector of 512 bytes",
    "crc32c-intel": "the same: fio's name for the form that the processor calculates",
}
"""Methods of fio that are here, and what each checks."""

_CHECKSUM = "every byte that this run wrote is compared; another checksum would find no more"
_FIXED = (
    "data that are alike everywhere hide lost and misplaced writes, and let a drive that "
    "compresses look fast"
)
REFUSED = {
    **dict.fromkeys(("md5", "crc64", "crc32", "crc16", "crc7", "xxhash", "sha1"), _CHECKSUM),
    **dict.fromkeys(("sha256", "sha512"), _CHECKSUM),
    **dict.fromkeys((f"sha3-{bits}" for bits in (224, 256, 384, 512)), _CHECKSUM),
    "meta": "every stamp holds what it checks, and a checksum",
    "pattern": _FIXED,
    "pattern_hdr": _FIXED,
    "null": "it compares nothing",
}
"""Methods of fio that are refused, and why."""


@dataclass(frozen=True)
class Verification:
    """How to verify.

    Attributes
    ----------
    method
        One of `METHODS`.
    reads_back
        Read back what a run wrote, at its end; fio's ``do_verify``. Without it, a later run that
        reads with a `Verification` compares with what the stamps say.

    Raises
    ------
    UsageError
        If the method is none of `METHODS`; with the reason where fio has it.
    """

    method: str = "crc32c"
    reads_back: bool = True

    def __post_init__(self) -> None:
        if self.method in REFUSED:
            raise UsageError(
                f"{self.method!r} is refused: {REFUSED[self.method]}", hint="write crc32c"
            )
        if self.method not in METHODS:
            raise UsageError(
                f"{self.method!r} is not a method of verifying", hint=nearest(self.method, METHODS)
            )


def verified(
    target: Target,
    how: Verification,
    run: Callable[[], RunResult],
    *,
    writes: bool,
    progress: ProgressCallback | None = None,
) -> RunResult:
    """Run, and compare what the drive holds with what was written.

    A run that writes is read back at its end. One that only reads is compared as it goes.

    Parameters
    ----------
    run
        Runs the workload.
    writes
        Whether it writes.
    progress
        As of `Device.run`; told of the reading back, too.

    Returns
    -------
    RunResult
        Interrupted, if the reading back was. Its summary has ``verify``: ``method``; ``state``
        (``done``, ``skipped``, ``interrupted`` or ``broken``); ``written_bytes, checked_bytes,
        mismatched_bytes, unread_bytes``; ``first``: ``offset_bytes, expected, found``, or None.

    Raises
    ------
    UsageError
        If the target stores no data of ours.
    DeviceError
        If the drive fails in the run.
    """
    if (target.device.access() or {}).get("preserves_content"):
        raise UsageError(
            "--verify writes data of its own, and --preserve-content writes none",
            hint="leave out one of the two",
        )
    target.device.verify(compare_reads=not writes)
    try:
        result = run()
    except SsdscopeError as error:
        if error.partial is not None:
            error.partial = _with(error.partial, how, _nothing("skipped"))
        raise
    finally:
        verdict = target.device.take_verdict()
        target.device.verify(compare_reads=False)
    if not writes:
        return _with(result, how, {**_nothing("done"), "written_bytes": 0, **verdict})
    if result.interrupted or not how.reads_back:
        return _with(result, how, _nothing("skipped"))
    found = _read_back(target, progress)
    if found["state"] == "interrupted":
        summary = {**result.summary, "interrupted": True}
        result = replace(result, interrupted=True, summary=summary)
    return _with(result, how, found)


def _read_back(target: Target, progress: ProgressCallback | None) -> dict[str, Any]:
    found = target.device.read_back(progress=progress)
    state = "interrupted" if found["interrupted"] else "broken" if found["broken"] else "done"
    keys = ("written_bytes", "checked_bytes", "mismatched_bytes", "first", "elapsed_ns")
    told = {"state": state, **{key: found[key] for key in keys}}
    told["unread_bytes"] = found["written_bytes"] - found["checked_bytes"]
    return told | ({"reason": found["broken"]} if found["broken"] else {})


def _nothing(state: str) -> dict[str, Any]:
    return {"state": state, "checked_bytes": 0, "mismatched_bytes": 0, "first": None}


def _with(result: RunResult, how: Verification, found: dict[str, Any]) -> RunResult:
    told = {"method": how.method, **found}
    return replace(result, summary={**result.summary, "verify": told})

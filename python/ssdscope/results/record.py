"""The JSON document of a run: its keys are an interface that scripts rely on."""

import json
import math
from typing import Any

from ssdscope.results.marks import TOOL
from ssdscope.results.unsettled import unsettled
from ssdscope.targets import RunResult, Target

SCHEMA_VERSION = 1


def envelope(*, seed: int | None = None) -> dict[str, Any]:
    """Give the head that every JSON document of ours begins with."""
    head: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "tool": TOOL,
    }
    if seed is not None:
        head["seed"] = seed
    return head


def strict_json(document: Any) -> str:
    """Write a document as strict JSON: what is not a finite number becomes null."""
    text = json.dumps(_finite(document), indent=2, allow_nan=False, default=float)
    return text.replace("\x7f", "\\u007f")  # the one control character that JSON leaves as it is


def run_record(
    target: Target,
    workload: dict[str, Any],
    result: RunResult,
    *,
    seed: int,
    steady_state: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Compose the document of one run or replay.

    Parameters
    ----------
    target
        What it ran on.
    workload
        The plan. Where the driver resolved it further, the document has the driver's.
    result
        What came back. Its own keys follow unchanged, so that a rate in the document is the
        rate the driver measured.
    seed
        The seed of the drive and of the plan.
    steady_state
        How the drive came to rest before, if that was asked for.

    Returns
    -------
    dict
        Ready for JSON.
    """
    record = {
        **envelope(seed=seed),
        "target": target.describe(),
        "workload": workload,
        **result.summary,
    }
    if "timeline" in record:
        from ssdscope.results.drops import with_drops

        record["timeline"] = with_drops(record["timeline"])
    if steady_state is not None:
        return record | {"steady_state": steady_state}
    about = unsettled(target, record)
    return record | {"unsettled": about} if about else record


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

"""The JSON document of a run: its keys are an interface that scripts rely on."""

from typing import Any

from ssdscope import __version__
from ssdscope.targets import RunResult, Target

SCHEMA_VERSION = 1


def envelope(*, seed: int | None = None) -> dict[str, Any]:
    """Give the head that every JSON document of ours begins with."""
    head: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "ssdscope", "version": __version__},
    }
    if seed is not None:
        head["seed"] = seed
    return head


def run_record(
    target: Target, workload: dict[str, Any], result: RunResult, *, seed: int
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

    Returns
    -------
    dict
        Ready for JSON.
    """
    return {
        **envelope(seed=seed),
        "target": target.describe(),
        "workload": workload,
        **result.summary,
    }

"""The files that a search reads."""

from ssdscope.search.plan import Plan, read_plan
from ssdscope.targets.sources import files_of


def read_by(plan: str | Plan) -> list[str]:
    """List the files that a search reads: its plan, the drive and the trace in it."""
    loaded = read_plan(plan) if isinstance(plan, str) else plan
    traces = [] if loaded.trace is None else [loaded.trace.get("file")]
    return [
        loaded.source,
        *files_of(loaded.target),
        *(each for each in traces if isinstance(each, str)),
    ]

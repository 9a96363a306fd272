"""What a trial runs: a workload or a trace, whole or its first part."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdscope.errors import ConfigError, UsageError, nearest
from ssdscope.targets import Device, RunResult
from ssdscope.targets.sources import require_file
from ssdscope.targets.traces import TraceOptions, scan_trace
from ssdscope.workloads import Workload
from ssdscope.workloads.options import standard, workload_from_options
from ssdscope.workloads.replaying import ReplayOptions, replay_options

_OF_REPLAY = (
    "format", "columns", "mode", "iodepth", "thinktime", "time_scale", "align", "fit", "volume",
    "reads_only", "skip_bad", "limit", "spread_ties", "offset", "size", "times", "overlay_volumes",
)  # fmt: skip
_OF_TRACE = (
    "format", "columns", "volume", "skip_bad", "limit", "spread_ties", "reads_only", "times",
    "overlay_volumes",
)  # fmt: skip


def read_workload(table: Mapping[str, Any], seed: int, where: str) -> dict[str, Any]:
    """Read the options of `run`; give the load of a trial.

    Raises
    ------
    UsageError
        If there is no such option, or it cannot be read.
    """

    def place(name: str) -> str:
        return f"{where}.{name}"

    return workload_from_options(standard(table, place), seed=seed, where=place).to_plan()


def read_trace(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Read which trace, and how `replay` is to run it; give the load of a trial.

    The trace is read once: its requests are counted, and its content is a part of the load, so
    that another trace under the same name is another load.

    Raises
    ------
    UsageError
        If there is no such option, or it cannot be read.
    TraceError
        If the trace cannot be read.
    """
    for name in table:
        if name not in ("file", *_OF_REPLAY):
            hint = nearest(name, ("file", *_OF_REPLAY))
            raise ConfigError(f"{where}.{name}: there is no such option", hint=hint)
    options = dict(table)
    path = options.pop("file", None)
    if not isinstance(path, str):
        raise ConfigError(f"{where} has no file", hint='write file = "trace.csv.gz"')
    texts: dict[str, Any] = {name: options.pop(name, None) for name in ("thinktime", "size")}
    try:
        plan = replay_options(**texts, offset=str(options.pop("offset", 0)), **options)
    except (UsageError, TypeError) as error:
        told = error.hint if isinstance(error, UsageError) else None
        raise ConfigError(f"{where}: {error}", hint=told) from error
    require_file(path)
    scanned = TraceOptions(**{name: getattr(plan, name) for name in _OF_TRACE})
    requests = scan_trace(path, scanned, lambda _rows: None)["requests"]
    with Path(path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"replay": path, "digest": digest, "requests": requests, **plan.to_dict()}


def run(device: Device, load: Mapping[str, Any], part: float = 1.0) -> RunResult:
    """Run a load, or so much of it from its beginning.

    Raises
    ------
    UsageError
        If it does not fit the drive.
    DeviceError
        If the drive fails.
    """
    if "replay" not in load:
        whole = Workload(**load).within(device.info.capacity_bytes)
        return device.run(_first(whole, part) if part < 1 else whole)
    own = {name: load[name] for name in load if name not in ("replay", "digest", "requests")}
    options = ReplayOptions(**own)
    if part < 1:
        options = replace(options, limit=max(1, math.ceil(part * load["requests"])))
    return device.replay(load["replay"], options)


def _first(whole: Workload, part: float) -> Workload:
    """Shorten a workload: whichever of its limits it has; or one pass over a part of its region."""

    def less(value: int | None) -> int | None:
        return None if value is None else max(1, math.ceil(part * value))

    unit = whole.block_bytes
    amount = whole.io_bytes
    if amount is None and whole.requests is None and whole.runtime_ns is None:
        amount = whole.size_bytes
    if amount is not None:
        amount = max(unit, int(part * amount) // unit * unit)
    return replace(
        whole, requests=less(whole.requests), runtime_ns=less(whole.runtime_ns), io_bytes=amount
    )

"""From a name on the command line to an open drive.

In reading order:

`grammar`
    The text of a target, parsed: ``sim:NAME``, a ``.toml``, ``/dev/...``, a file, ``null:``,
    ``raid0:A,B?chunk=64k``.
`presets`
    The drive files shipped with the package.
`opening`
    A parsed target, opened.
`names`
    Names of files as text, whatever bytes they hold.
`sources`
    The files behind a target.
`holes`
    What of a file was never written.
`traces`
    What a trace file is.
`device`
    `Device`: everything that probes, models and twins ever see of a drive.
`copies`
    Many runs at a time, each on a copy of a drive, over all cores.
`native_build`
    What the compiled module is made from.
`records`
    What a drive gives back: `DeviceInfo`, `RunResult`, `Log`.

This is the only package that touches the native module. It knows nothing of workloads beyond
"a plan that can be written as JSON", and nothing of statistics.
"""

from ssdscope.targets.device import Device, Plan, Snapshot
from ssdscope.targets.opening import Target, open_target
from ssdscope.targets.records import (
    ATTRIBUTION_CAUSES,
    DeviceInfo,
    DirectionStats,
    LatencySummary,
    Log,
    Progress,
    RunResult,
)

__all__ = [
    "ATTRIBUTION_CAUSES",
    "Device",
    "DeviceInfo",
    "DirectionStats",
    "LatencySummary",
    "Log",
    "Plan",
    "Progress",
    "RunResult",
    "Snapshot",
    "Target",
    "open_target",
]

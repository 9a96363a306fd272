"""What comes back from a run, in memory and on disk.

`Log` and `RunResult` are the records a device gives; they live with the device and are
offered here, where the rest of the code looks for them.

`record`
    The JSON document of a run: everything needed to repeat it.
`files`
    Where files of ours may go, and how they get there.
`claims`
    One writer for one output: locks, and what was judged at a place.
`publishing`, `renaming`
    How files that belong together get to their places, and how no rename replaces anything else.
`guard`
    What an output may replace: no input, and nothing that we did not write.
`marks`
    How a file says that we wrote it.
`remarks`
    What a reader has to know beside figures, and whether they are to be trusted.
`parquet`
    A log on disk, one row per request, written while the run goes on.
"""

from ssdscope.results.parquet import LogWriter, read_log
from ssdscope.results.record import SCHEMA_VERSION, envelope, run_record
from ssdscope.targets import (
    ATTRIBUTION_CAUSES,
    DirectionStats,
    LatencySummary,
    Log,
    RunResult,
)

__all__ = [
    "ATTRIBUTION_CAUSES",
    "SCHEMA_VERSION",
    "DirectionStats",
    "LatencySummary",
    "Log",
    "LogWriter",
    "RunResult",
    "envelope",
    "read_log",
    "run_record",
]

"""Which trace formats and times there are, by the names that ``--format`` and ``--times`` take.

The compiled module knows how to read them; a test holds this list against its own.
"""

TRACE_FORMATS = {
    "spc": "UMass (Financial, WebSearch): ASU, LBA, bytes, R|W, seconds",
    "msr": "MSR Cambridge: filetime, host, disk, Read|Write, offset, bytes, response",
    "systor": "Systor '17: seconds, response, R|W, LUN, offset, bytes",
    "alibaba": "Alibaba: device, R|W, offset, bytes, microseconds",
    "tencent": "Tencent: seconds, sector, sectors, 0|1, volume",
    "fiu": "FIU: nanoseconds pid process sector sectors R|W major minor md5",
    "blktrace": "blktrace's binary events, of all processors; what `blkparse -d` writes",
    "blkparse": "what blkparse prints: events of requests",
    "ftrace": "the kernel's block events as ftrace, trace-cmd or `perf script` print them",
    "biosnoop": "bcc's biosnoop: a line for each request that is done",
    "fio": "fio's iolog, version 2 or 3",
    "disksim": "DiskSim: milliseconds device block blocks flags",
    "mqsim": "MQSim, SSDsim: nanoseconds device sector sectors 0|1",
    "vscsi1": "CloudPhysics: binary records of 32 bytes",
    "vscsi2": "CloudPhysics: binary records of 40 bytes",
    "csv": "a table whose columns have names, in its first line or by --columns",
}
"""Each format: where it is from, and what a request has in it."""

TIMES = {
    "queued": "when the host asked for it",
    "issued": "when the device first got it, or a part of it",
    "completed": "when all of it was done",
}
"""The times of a request that a trace of events has."""

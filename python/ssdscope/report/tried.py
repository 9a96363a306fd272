"""On what kinds of targets the statements of a page were tried, one sentence each.

A unit test holds each sentence to the tests that it rests on. Who adds such a test changes the
sentence, and who removes one has to.
"""

TRIED: dict[str, str] = {
    "Simulated drives": (
        "Every probe was tried on drives drawn at random whose inside is known; how often it was "
        "right is in docs/recovery.md."
    ),
    "Files": (
        "Reading, writing with a token, traces, and all probes that only read were tried; what is "
        "inside the drive below was not known, so no answer was checked."
    ),
    "Loop devices": (
        "The kernel counted the reads that a run reported, and every reason to refuse a write was "
        "tried; no probe was."
    ),
    "NBD exports": (
        "Reading, and writing with a token, were tried on drives that ssdscope serves itself; no "
        "probe was."
    ),
    "Hardware": "No statement was checked on a drive of hardware yet, neither SATA nor NVMe.",
}

"""The papers' own procedures, letter by letter, over a `Bench` that counts what they write.

They are not among the probes: what the papers leave undefined is settled here by a constant that
its file names, they always answer, and they never say how sure they are. The studies run them
beside the probes, to show what they find and where they fail.

`shift_write`, `allocation`, `placement`
    ryu2009: figure 6 as printed and as repaired, T1 and T2, equations (1) and (2).
`effective_block`, `effective_page`, `buffers`, `zone`
    kuo2009: tables 3 to 6.

In every file a frozen class holds the settings and runs on a bench within its allowance, and a pure
function of the response times gives the answer.
"""

from ssdscope.probes.literal import (
    allocation,
    buffers,
    effective_block,
    effective_page,
    placement,
    shift_write,
    zone,
)

__all__ = [
    "allocation",
    "buffers",
    "effective_block",
    "effective_page",
    "placement",
    "shift_write",
    "zone",
]

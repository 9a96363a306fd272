"""What we do to a drive: plans, and the preparation of a drive by plain I/O.

`workload`
    `Workload`: one synthetic workload, under fio's names where fio has one.
`replaying`
    `ReplayOptions`: how a trace is read, fitted to a drive and paced.
`preconditioning`
    Filling and ageing a drive through its front door, simulated or real.
"""

from ssdscope.workloads.preconditioning import fill_sequentially, overwrite_randomly
from ssdscope.workloads.replaying import ReplayOptions
from ssdscope.workloads.workload import Workload

__all__ = ["ReplayOptions", "Workload", "fill_sequentially", "overwrite_randomly"]

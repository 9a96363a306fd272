"""What we do to a drive: plans, and the preparation of a drive by plain I/O.

`workload`
    `Workload`: one synthetic workload, under fio's names where fio has one.
`flows`
    `Flows`: several of them at the same time, each with a name and its own statistics.
`options`, `flow_options`
    A workload, or several, as people write them, on a command line or in a file.
`replaying`
    `ReplayOptions`: how a trace is read, fitted to a drive and paced.
`windows`
    What the requests of a trace are like, minute by minute. Imported by its own name, as are
    those below.
`synthetic`
    Traces made up after published statistics.
`patterns`
    Traces made up after what servers do: steady, daily, bursts, batch, moving, mix.
`preconditioning`
    Filling and ageing a drive through its front door, simulated or real: reading a plan shall
    not load what drives need.
`steady`
    Running what writes until its rate has come to rest.
`execution`
    One plan on an open target: brought to rest first, if that is asked for, and run.
`figures`, `sustained`
    A run as figures that say what they rest on; a workload brought to rest, and then measured.
`grid`
    The 12,000 workloads of huang2011, subsets of them, when a run ends and what it comes to.
`filling`
    How much fills a drive's buffer, and writing it full.
`measuring`
    Runs of such workloads on a drive, or on copies of it.
"""

from ssdscope.workloads.flows import Flow, Flows
from ssdscope.workloads.replaying import ReplayOptions
from ssdscope.workloads.workload import Workload

__all__ = ["Flow", "Flows", "ReplayOptions", "Workload"]

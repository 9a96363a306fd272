"""The best configuration of a simulated drive for a workload or a trace, under limits.

`figures`
    The figures of a run that can be minimised or limited, by their names.
`space`
    The keys of the drive that vary, and the values each may take.
`costs`
    What a configuration costs, by prices that the plan states.
`plan`
    A TOML file into all of these.
`loads`
    The workload or the trace, whole or a part of it.
`stopping`
    When a trial is hopeless after a part of the load.
`trying`
    One trial: the part on a fork of the drive, then the whole on the drive itself.
`proposing`
    Which configuration is tried next (Optuna).
`fronts`
    Which trials are best, and which came nearest where none keeps the limits.
`running`
    All of it, with the journal and the table of a sweep.
"""

from ssdscope.search.plan import Plan, read_plan
from ssdscope.search.running import Found, search

__all__ = ["Found", "Plan", "read_plan", "search"]

"""Many runs: every combination of a plan, on all cores, resumable.

`plan`
    A TOML file into points: which drive, which workload, which seed.
`runner`
    Points into outcomes, in any order, as they come.
`processes`
    The processes that they run in.
`journal`
    Outcomes on disk: one JSON document a line, appended; what is there is not run again.
`running`
    All of it: what the journal does not hold is run.
"""

from ssdscope.sweep.journal import Journal
from ssdscope.sweep.plan import Plan, read_plan
from ssdscope.sweep.points import Point, points_of
from ssdscope.sweep.runner import Outcome, run_points

__all__ = ["Journal", "Outcome", "Plan", "Point", "points_of", "read_plan", "run_points"]

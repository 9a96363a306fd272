"""A simulated drive that behaves like a measured one, and how far it is off.

Reading order:

`structure`, `starts`, `staircase`
    What findings say of the inside; what the curves say of units and times.
`noise`
    How far equal requests differ.
`design`
    Structure and times as a drive file.
`likeness`, `search`, `questions`
    A design runs what the drive ran; times by least squares; what else is tried.
`fitting`, `settling`, `build`
    Reads, writes, both; what is kept up; the file, held to workloads it was not fitted to.
`asking`
    A twin opened as it stands, and what would be otherwise if it were changed.
"""

from ssdscope.twin.asking import WhatIf, open_twin, what_if
from ssdscope.twin.build import Twin, build
from ssdscope.twin.staircase import Staircase, fit_staircase

__all__ = [
    "Staircase",
    "Twin",
    "WhatIf",
    "build",
    "fit_staircase",
    "open_twin",
    "what_if",
]

"""A simulated drive that behaves like a measured one, and how far it is off.

`staircase`
    What the measurements say: units that work side by side, and what each read costs.
`build`
    The drive file with those values, opened and held to workloads it was not fitted to.
`asking`
    A twin opened as it stands, and what would be otherwise if it were changed.

So far a twin has the read path only; what it lacks is written into its file and on the page.
"""

from ssdscope.twin.asking import WhatIf, open_twin, what_if
from ssdscope.twin.build import NOT_MODELLED, Twin, build
from ssdscope.twin.staircase import Staircase, fit_staircase

__all__ = [
    "NOT_MODELLED",
    "Staircase",
    "Twin",
    "WhatIf",
    "build",
    "fit_staircase",
    "open_twin",
    "what_if",
]

"""A simulated drive that behaves like a measured one, and how far it is off.

Reading order:

`design`, `smaller`
    A drive file as values; the same drive with less of it, to be simulated in no time.
`rows`, `running`
    What a drive did, as numbers; designs that run the same.
`found`, `noise`, `begin`
    What findings say of the inside; how far equal requests differ; drawn drives to begin with.
`free`, `fit`, `choices`
    Numbers by least squares; what is no number by trial.
`fitting`, `build`
    All of that in turn; the file, held to workloads it was not fitted to.
`asking`
    A twin opened as it stands, and what would be otherwise if it were changed.
"""

from ssdscope.twin.asking import WhatIf, open_twin, what_if
from ssdscope.twin.build import Twin, build

__all__ = ["Twin", "WhatIf", "build", "open_twin", "what_if"]

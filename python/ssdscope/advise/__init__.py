"""What to set, where, and why: computed from what was detected, and from nothing else.

Reading order:

`addresses`
    Where requests of a trace lie: volumes end to end, whole units, packed.
`facts`
    What formulas may use; and why not, where something was not detected.
`streams`
    The requests that a tool sends with a setting.
`gains`
    What one gains over another, and how sure that is.
`ground`
    A simulated drive that these are run on, as found and in use.
`twinned`
    The twin of a report as such a drive.
`knobs`
    The table: a file for each family of tools.
`advice`
    The table applied to one drive.

A setting whose findings are missing is listed with the property and the reason. A setting that
gains nothing on the twin is listed without a command. Commands are quoted for a shell and shown;
nothing here runs them.
"""

from ssdscope.advise.advice import Advice, advise, of_document, require_tools, tools
from ssdscope.advise.gains import Gain
from ssdscope.advise.ground import Ground
from ssdscope.advise.twinned import of_twin

__all__ = [
    "Advice",
    "Gain",
    "Ground",
    "advise",
    "of_document",
    "of_twin",
    "require_tools",
    "tools",
]

"""What to set, where, and why: knobs computed from what was detected, and from nothing else.

`knobs`
    The table: tool, setting, formula, the findings it needs.
`advice`
    The table applied to the findings of one drive.

A setting whose findings are missing is listed with the tool's own default and the property
that was not detected. Commands are quoted for a shell and shown; nothing here runs them.
"""

from ssdscope.advise.advice import Advice, advise, tools

__all__ = ["Advice", "advise", "tools"]

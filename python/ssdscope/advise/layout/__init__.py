"""The layout adviser of kuo2009 3.6: requests of a trace, placed so that a drive has less to do.

Reading order:

`requests`
    Requests as columns, and the objects that they make up.
`steps`
    What an application could do otherwise: begin at an edge of a page, write whole pages, and
    keep what is written in order apart from what is hot.
`counting`
    Pages written, pages read first, and log blocks: by the addresses alone.
`running`
    Both layouts on a simulated drive: merges, and the time that they take.
"""

from ssdscope.advise.layout.counting import Count, count
from ssdscope.advise.layout.requests import FITS, Requests, fitted, of_trace
from ssdscope.advise.layout.running import LayoutAdvice, Outcome, advise_layout, run
from ssdscope.advise.layout.steps import STEPS, aligned, grouped, laid_out, whole_pages

__all__ = [
    "FITS",
    "STEPS",
    "Count",
    "LayoutAdvice",
    "Outcome",
    "Requests",
    "advise_layout",
    "aligned",
    "count",
    "fitted",
    "grouped",
    "laid_out",
    "of_trace",
    "run",
    "whole_pages",
]

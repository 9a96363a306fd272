"""Results side by side: reports, runs, or sweeps; ranked, with intervals, on one page.

`inputs`
    A file read: what kind it is, and its workloads with what was measured of each.
`speeds`
    Relative speeds with intervals, and the ranking.
`sides`
    Findings, sustained rates, twins and settings side by side, differences first.
`figures`
    Curves of all on the same axes.
`comparing`
    Those put together, as a document and as a page (`templates/comparison.html.j2`).
"""

from ssdscope.report.comparison.comparing import Comparison, compare, render
from ssdscope.report.comparison.inputs import Source

__all__ = ["Comparison", "Source", "compare", "render"]

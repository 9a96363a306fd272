"""What is known of a drive, typed: from the probe that measured it to the page that shows it.

Reading order:

`properties`
    Every property there is: unit, name, exact or with a tolerance.
`reasons`
    Why a property cannot be told: the closed list, and its words.
`series`, `fits`, `evidence`
    What was measured; what was fitted to it, by kind; both together.
`finding`
    One answer: detected, absent, ambiguous or undetectable.
`several`
    The answers of several probes, by property.

All of it is plain data: no device, no array, no drawing. Whatever is written as JSON is read back
equal, and what is malformed is refused with its place.
"""

from ssdscope.findings.evidence import DEPTH_SWEEP, SIZE_SWEEP, Evidence, Exhibit
from ssdscope.findings.finding import Absent, Ambiguous, Detected, Finding, Undetectable
from ssdscope.findings.fits import (
    Contrast,
    Course,
    Fit,
    Line,
    Partition,
    Period,
    Recurrence,
    Step,
)
from ssdscope.findings.properties import PROPERTIES, Property
from ssdscope.findings.reasons import Reason, Where
from ssdscope.findings.series import Axis, Series, series
from ssdscope.findings.several import Findings

__all__ = [
    "DEPTH_SWEEP",
    "PROPERTIES",
    "SIZE_SWEEP",
    "Absent",
    "Ambiguous",
    "Axis",
    "Contrast",
    "Course",
    "Detected",
    "Evidence",
    "Exhibit",
    "Finding",
    "Findings",
    "Fit",
    "Line",
    "Partition",
    "Period",
    "Property",
    "Reason",
    "Recurrence",
    "Series",
    "Step",
    "Undetectable",
    "Where",
    "series",
]

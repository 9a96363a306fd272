"""The page about a drive, and everything on it as JSON.

`characterize`
    The main job: measure, detect, model, twin, advise; each stage kept as soon as it is done.
`stages`, `outcome`
    What each stage does; what it came to, in a line, and what it left out.
`resuming`, `document`
    A document that is gone on with; any of them, read back.
`performance`
    What is measured for the page beyond the probes.
`replay`
    A trace replayed, and its rate and latency over time.
`over_time`
    The rate over time of any run: its chart, and its page.
`probing`
    Probes alone, within a plan.
`identity`
    Whose drive the page is about: how much it says of that.
`spending`
    What a budget allows, and what was used of it.
`words`
    Numbers and findings as a reader wants them.
`verdict`, `summary`, `drawing`, `nearest`
    What the drive is at a glance: a sentence, six lines, its inside, presets like it.
`parts`, `sections`, `evidence`, `figures`, `heat`, `writes`, `breakdown`
    The document turned into cards, tables, charts and maps.
`twins`, `advising`, `downloads`
    The twin and the advice as they are shown; the data to take along.
`page`
    Those put into one self-contained HTML file (`templates/`).

The page is made from the document alone, so it can be made again from a saved JSON.
"""

from ssdscope.report.characterize import (
    Characterization,
    Watch,
    characterize,
    growing_file,
    planned,
    stages_left,
)
from ssdscope.report.identity import Disclosure
from ssdscope.report.page import render

__all__ = [
    "Characterization",
    "Disclosure",
    "Watch",
    "characterize",
    "growing_file",
    "planned",
    "render",
    "stages_left",
]

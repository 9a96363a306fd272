"""The picture of the study: one bar per property, of what became of it on all drives."""

from collections.abc import Sequence
from pathlib import Path

from ssdscope.plots import export, style
from ssdscope.studies.recovery import tally
from ssdscope.studies.recovery.blind import Probed
from ssdscope.studies.recovery.judge import Outcome
from ssdscope.studies.recovery.truth import KINDS

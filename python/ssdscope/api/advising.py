"""Settings that follow from a report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ssdscope import advise as advising
from ssdscope.advise import Advice
from ssdscope.api.characterizing import Report
from ssdscope.api.keywords import keyworded
from ssdscope.api.opening import SEED
from ssdscope.report import document
from ssdscope.seeds import require_seed


@keyworded()
def advice(
    report: Report | str | os.PathLike[str],
    /,
    *,
    tools: Sequence[str] | str = (),
    device: str | None = None,
    seed: int = SEED,
) -> list[Advice]:
    """Compute settings of file systems, databases, arrays and the kernel for a measured drive.

    Parameters
    ----------
    report
        What `characterize` gave, or the path of its JSON.
    tools
        Only these, as ``"ext4"`` or ``["ext4", "postgres"]``; all of them if empty.
    device
        Path of the device for the commands; the measured one if absent.
    seed
        Of the requests that gains are measured with, on the report's twin.

    Returns
    -------
    list of Advice
        One per setting. `Advice.command` is None where the tool's default should stay:
        `Advice.because` says why. `Advice.gain` has ``ratio``, ``low`` and ``high``, or is None:
        `Advice.gain_remark` says why.

    Raises
    ------
    UsageError
        If there is no advice for a tool, or the report is none.
    """
    wanted = tools.split(",") if isinstance(tools, str) and tools else tools
    used_seed = require_seed(seed)
    advising.require_tools(list(wanted))
    if isinstance(report, Report):
        read = document.parsed(report.document, str(report.page))
    else:
        read = document.read(Path(report))
    ground = advising.of_twin(read.document.get("twin"), used_seed)
    return advising.of_document(
        read.document, read.findings, list(wanted), device=device, ground=ground
    )

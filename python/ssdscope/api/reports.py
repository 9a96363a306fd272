"""Reports read back, and their twins."""

from __future__ import annotations

import os
from pathlib import Path

from ssdscope.api.characterizing import Report
from ssdscope.api.keywords import keyworded
from ssdscope.report import document


@keyworded()
def read_report(path: str | os.PathLike[str], /) -> Report:
    """Read what `characterize` wrote as JSON.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Report
        With its findings and its twin.

    Raises
    ------
    UsageError
        If it cannot be read, or is no report of this version.

    Examples
    --------
    >>> import ssdscope as s
    >>> s.read_report("missing.json")
    Traceback (most recent call last):
        ...
    ssdscope.errors.UsageError: cannot read missing.json: No such file or directory
    """
    place = Path(path)
    return Report(place, dict(document.read(place).document))

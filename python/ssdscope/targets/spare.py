"""How much spare area and buffers a drive may have at most, where nobody says how much it has."""

import os

from ssdscope.targets import grammar
from ssdscope.targets.opening import Target

SPARE_SHARE = 0.5
"""Of the capacity: more than drives have."""


def spare_bytes(target: Target) -> int | None:
    """Bound the spare area and buffers below a target that is smaller than its drive.

    Of a file the file system says how large its drive is at least; a drive of which it is a part
    may be larger.

    Returns
    -------
    int or None
        None for what is the whole of a drive, and where nobody can say.
    """
    if target.members:
        every = [spare_bytes(member) for member in target.members]
        known = [each for each in every if each is not None]
        return sum(known) if len(known) == len(every) else None
    spec = grammar.parse_target(target.uri)
    if target.kind != "file" or not isinstance(spec, grammar.Path):
        return None
    try:
        beneath = os.statvfs(spec.path)
    except OSError:
        return None
    return round(SPARE_SHARE * beneath.f_blocks * beneath.f_frsize)

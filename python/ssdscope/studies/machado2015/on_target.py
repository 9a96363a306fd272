"""Which of the paper's claims hold on a drive that is not the paper's.

Claims about sizes, policies and shares kept free compare drives, so they cannot be asked of one.
The others are `claims`' own, at all sizes that the drive takes.
"""

from ssdscope.studies import judging
from ssdscope.studies.machado2015 import claims
from ssdscope.studies.machado2015.procedure import Cells
from ssdscope.studies.record import Claim


def compare(cells: Cells) -> list[Claim]:
    """Give every claim whose patterns were measured."""
    patterns = {pattern for _, pattern, _ in cells}
    asked = (
        ({"read", "randread"}, claims.random_reads_slower),
        ({"write", "randread"}, claims.random_reads_like_writes),
        ({"write", "randwrite"}, claims.random_writes),
    )
    rows = [claims.confidence(cells)]
    rows += [claim(cells) for needed, claim in asked if needed <= patterns]
    return [judging.of_another_drive(row) for row in rows]

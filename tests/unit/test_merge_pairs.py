"""How often one block can be written from one merge to the next, from the waits alone."""

from __future__ import annotations

import numpy as np

from ssdscope.probes.merge_pairs import _merges


def test_writes_that_all_wait_are_no_merges() -> None:
    """Others may write for a while, and have every write wait: a log block takes more than one."""
    waits = np.zeros(100, bool)
    waits[:7] = waits[[20, 52, 53, 84]] = True
    np.testing.assert_array_equal(_merges(waits), [20, 52, 84])

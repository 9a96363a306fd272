"""Reference measurements of the recovery study that are not to hang on the moment they begin."""

from __future__ import annotations

import numpy as np
import pytest

from ssdscope.recovery import reference_reads as reads
from ssdscope.recovery import reference_writes
from ssdscope.recovery.generator import draw
from ssdscope.recovery.measured import Case
from ssdscope.recovery.observability import MASKS
from ssdscope.recovery.reference_curves import Rates
from ssdscope.recovery.truth import NO_ONE, Truth
from ssdscope.recovery.twin import Twin, write


def test_what_discards_gain_does_not_hang_on_when_a_fifo_drive_is_asked() -> None:
    """Soon after the first fill this one gains 3 %, and later on 5 to 6 %, whenever it is asked."""
    twin = Twin(draw(1344975435, 85))
    early = reference_writes.trimmed(twin)
    places = np.random.default_rng(1).integers(1, twin.shape.capacity_bytes // 32768 - 1, 10_000)
    write(twin.turned_over, places.astype(np.uint64) * np.uint64(32768), 32768)
    late = reference_writes.trimmed(twin)
    assert min(early, late) > 0.045
    assert max(early, late) < 0.075


@pytest.mark.always(1)
@pytest.mark.parametrize(("seed", "index"), [(856441233, 16), (1470267960, 7)])
def test_long_writes_to_shared_log_blocks_gain_more_by_discards(seed: int, index: int) -> None:
    """Writes of one unit gain 2.5 and 7 %: each log block holds units of nearly everywhere."""
    assert reference_writes.trimmed(Twin(draw(seed, index))) > 0.08


@pytest.mark.always(1)
@pytest.mark.parametrize(
    ("seed", "index", "times"), [(1694533168, 152, 2), (1694533168, 153, 2), (2357922838, 130, 1)]
)
def test_planes_of_blind_drives_come_to_collect_in_turn(seed: int, index: int, times: int) -> None:
    """Two superblocks are filled side by side; who chooses victims collects both at once."""
    case = Case(draw(seed, index))
    span = case.twin.shape.span_bytes
    assert reference_writes.collected_apart(case.twin) == times
    assert case._period(Truth(span)) == (NO_ONE if times > 1 else Truth(span))
    assert MASKS["in-turn"](case) == (times > 1)


def test_collection_that_begins_beside_the_writes_is_not_observable() -> None:
    """The first 1 % take 9 to 14 % longer, the next 1.5 % only 6 to 8 %, and all else 250 %."""
    case = Case(draw(7301177, 76))
    assert case.overwritten.share + 0.015 < case.overwritten.shown < case.overwritten.share + 0.03
    assert MASKS["beside"](case)
    assert case._spare() == Truth(case.overwritten.share)


def test_collection_that_never_takes_a_tenth_longer_shows_nowhere() -> None:
    """The next 4.5 % of the capacity take at most 1 % longer, and all behind it 6 to 9 %."""
    case = Case(draw(990_001, 241))
    assert case.overwritten.contrast == pytest.approx(0.065, abs=0.01)
    assert case.overwritten.shown > case.overwritten.share + 0.09
    assert MASKS["beside"](case)


def test_a_deep_queue_counts_once_its_dies_no_longer_keep_step() -> None:
    """For 20,000 reads those of a fresh queue of 256 are a fifth faster than they stay."""
    rates = Rates(Twin(draw(1979078943, 146)))
    plateau = [rates.at(depth) for depth in (96, 128, 192, 256)]
    assert max(plateau) < 1.02 * min(plateau)


def test_what_order_does_hangs_on_no_single_order() -> None:
    """The address chooses three dies of nine, and the order one of them: 0 to 9 % by a single one.

    Which is 4 to 6 % in the mean: too little to be seen.
    """
    case = Case(draw(1254718265, 132))
    effects = [reads.order(case.twin).mean for _ in range(5)]
    assert max(effects) - min(effects) < 0.04
    assert case.order_effect.least < 0.1


def test_reads_that_follow_each_other_end_on_the_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = Twin(draw(3869781435, 129))
    unit, capacity = twin.shape.unit_bytes, twin.shape.capacity_bytes
    starts = np.array([3, 90, capacity // unit - 2], np.uint64) * np.uint64(unit)
    monkeypatch.setattr(twin, "resident_units", lambda _count: starts)
    assert reads.ahead(twin) > 0.1

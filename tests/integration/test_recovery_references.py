"""Reference measurements of the recovery study that are not to hang on the moment they begin."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ssdscope.studies.recovery import observability, reference_writes
from ssdscope.studies.recovery import reference_reads as reads
from ssdscope.studies.recovery.generator import draw
from ssdscope.studies.recovery.measured import Case
from ssdscope.studies.recovery.truth import Truth
from ssdscope.studies.recovery.twin import Twin, write


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


def test_what_others_write_moves_the_table_that_reads_need() -> None:
    """In 6 pages, which a region of one bit per cell holds from then on."""
    case = Case(draw(1344975435, 15))
    alone, beside = (
        reads.latency_line(each)[0].value for each in (case.noisy, case.others_wrote[0])
    )
    assert float(alone or 0) > 1.15 * float(beside or np.inf)
    assert Case(draw(1344975435, 85)).others_wrote == ()


def test_a_table_written_back_late_stays_in_fast_cells() -> None:
    """Others write 91 times in a burst, with few reads between: the table is folded last."""
    case = Case(draw(856441233, 20))
    *driven_out, late = (reads.latency_line(each)[0].value for each in case.others_wrote)
    assert float(late or np.inf) < 0.9 * min(float(each or 0) for each in driven_out)


def test_reads_between_writes_of_others_move_a_table_to_every_other_die() -> None:
    """Each write is followed by its entry, written back: of four dies two come to hold the table,
    and reads, which all ask it, are served by few dies at most."""
    case = Case(draw(1010025818, 139))
    alone, *beside = (reads.depth_rates(each).max() for each in (case.noisy, *case.others_wrote))
    assert min(beside) < 0.8 * alone
    knee = case.truths["queue_depth_knee"]
    assert min(knee.also) < 7 < 9 < max(knee.also)


@pytest.mark.always(1)
@pytest.mark.parametrize(
    ("seed", "index", "times"), [(1694533168, 152, 2), (1694533168, 153, 2), (2357922838, 130, 1)]
)
def test_planes_of_blind_drives_come_to_collect_in_turn(seed: int, index: int, times: int) -> None:
    """Two superblocks are filled side by side; who chooses victims collects both at once."""
    case = Case(draw(seed, index))
    span = case.twin.shape.span_bytes
    assert reference_writes.collected_apart(case.twin) == times
    assert case.truths["gc_period_bytes"] == Truth(span, (span // times,) if times > 1 else ())
    assert case.truths["reclaim_unit_bytes"] == case.truths["gc_period_bytes"]


def test_collection_beside_writes_does_not_show_where_it_begins_on_all_planes() -> None:
    """The first 1 % take 9 to 14 % longer, the next 1.5 % only 6 to 8 %, and all else 250 %."""
    found = reference_writes.overwritten(Twin(draw(7301177, 76)))
    assert all(found.share + 0.015 < each < found.share + 0.03 for each in found.shown)
    assert found.shown


def test_collection_that_takes_a_tenth_longer_may_show_or_not() -> None:
    """Blocks that are wholly stale cost 10.1 % of a write, and with noise 8; then room is short."""
    found = reference_writes.overwritten(Twin(draw(2267026688, 147)))
    (shown,) = found.shown
    assert found.share == pytest.approx(0.047, abs=0.001)
    assert 0.065 < shown < 0.073


def test_collection_that_never_takes_a_tenth_longer_shows_where_it_takes_any() -> None:
    """The next 4.5 % of the capacity take at most 1 % longer, and all behind it 6 to 9 %."""
    found = reference_writes.overwritten(Twin(draw(990_001, 241)))
    assert found.contrast == pytest.approx(0.065, abs=0.01)
    assert found.shown == (pytest.approx(found.share + 0.045, abs=0.001),)


def test_a_knee_that_others_move_by_half_is_not_observable() -> None:
    depths = np.array(reads.DEPTHS, dtype=float)
    early, late = (np.minimum(depths, knee) for knee in (10, 20))
    truths = {"queue_depth_knee": Truth(9.0, (8.9, 18.2))}
    contrast = observability.RULES["queue_depth_knee"].contrast
    for moved, seen in (([early, early], True), ([early, late], False)):
        case: Any = SimpleNamespace(truths=truths, depths=early, noisy_depths=moved)
        assert (contrast(case) > 1) == seen


def test_a_knee_that_noise_and_drift_move_far_is_not_observable() -> None:
    """Without both it is at 4, with both the curve is so shallow that 32 is as true."""
    case = Case(draw(55120931, 14))
    low, high = reads.knees(case.depths)
    assert high < observability.KNEE_SHARP * low
    assert observability.RULES["queue_depth_knee"].contrast(case) == 0.0


def test_a_deep_queue_counts_once_its_dies_no_longer_keep_step() -> None:
    """For 20,000 reads those of a fresh queue of 256 are a fifth faster than they stay."""
    plateau = reads.depth_rates(Twin(draw(1979078943, 146)))[np.array(reads.DEPTHS) >= 96]
    assert plateau.max() < 1.02 * plateau.min()


def test_what_order_does_hangs_on_no_single_order() -> None:
    """The address chooses three dies of nine, and the order one of them: 0 to 9 % by a single one.

    Which is 4 to 6 % in the mean: both answers are true.
    """
    twin = Twin(draw(1254718265, 132))
    effects = [reads.order(twin).mean for _ in range(5)]
    assert max(effects) - min(effects) < 0.04
    truth = Case(draw(1254718265, 132)).truths["allocation"]
    assert {truth.value, *truth.also} == {"order", "address"}


def test_order_that_a_protected_buffer_hides_may_be_told() -> None:
    """It holds 18 MB and lets go of them in order; whoever writes more at random sees past it."""
    case = Case(draw(3869781435, 106))
    assert case.order_effect.mean < 0.01
    assert case.truths["allocation"].value == "address"
    assert "order" in case.truths["allocation"].also


def test_reads_that_follow_each_other_end_on_the_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = Twin(draw(3869781435, 129))
    unit, capacity = twin.shape.unit_bytes, twin.shape.capacity_bytes
    starts = np.array([3, 90, capacity // unit - 2], np.uint64) * np.uint64(unit)
    monkeypatch.setattr(twin, "resident_units", lambda _count: starts)
    assert reads.ahead(twin) > 0.1

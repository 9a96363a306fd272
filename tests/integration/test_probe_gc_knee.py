"""The probe `gc_knee`: spare space of drives whose inside is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.integration.collecting_drives import (
    FLAT,
    NOISE,
    bench_with,
    log_block,
    page_mapped,
    told,
)

from ssdscope.findings import Evidence
from ssdscope.probes import Absent, Ambiguous, Detected, Finding, Reason, Undetectable, gc_knee
from ssdscope.probes.bench import Stopped
from ssdscope.probes.knees_agree import (
    begun_before,
    detected_spare,
    judged,
    never_rests,
    slow_as_found,
)
from ssdscope.probes.slow_writes import Knee, slower_from
from ssdscope.studies.recovery.generator import draw

BLOCKS, LOW_BLOCKS, OPEN_BLOCKS = 160, 4, 1


def visible(spare: float) -> float:
    """Share that a host can overwrite before collection, of a drive with so much spare space.

    All blocks but those the drive keeps free and the one it writes to hold data or are spare.
    """
    return (1 + spare) * (1 - (LOW_BLOCKS - 1 + OPEN_BLOCKS) / BLOCKS) - 1


@pytest.mark.parametrize("spare", [0.15, 0.3, 0.45])
@pytest.mark.parametrize("noise", ["", NOISE])
def test_the_spare_space_is_what_a_host_can_use(tmp_path: Path, spare: float, noise: str) -> None:
    toml = page_mapped(spare=spare) + noise
    found = told("gc_knee", bench_with(tmp_path, toml, rmw_unit_bytes=4096, merge_unit_bytes=None))
    share = found[gc_knee.SPARE]
    assert isinstance(share, Detected)
    assert share.value == pytest.approx(visible(spare), rel=0.1)
    assert share.interval is not None
    assert share.interval[0] < share.value < share.interval[1]


def test_a_drive_found_empty_does_not_pass_for_one_of_much_spare_space(tmp_path: Path) -> None:
    """As found all of it is free, each time; filled, only the spare is."""
    bench = bench_with(tmp_path, page_mapped(), state="fresh", rmw_unit_bytes=4096)
    share = told("gc_knee", bench)[gc_knee.SPARE]
    assert isinstance(share, Ambiguous)
    assert min(share.candidates) == pytest.approx(visible(0.3), rel=0.1)


@pytest.mark.parametrize("logs", [6, 13])
@pytest.mark.parametrize("noise", ["", NOISE])
def test_common_log_blocks_are_spare_space(tmp_path: Path, logs: int, noise: str) -> None:
    """All but the one that is kept for a sequential stream."""
    merge = 2 * 48 * 4096
    toml = log_block(association="many-to-one", logs=logs) + noise
    bench = bench_with(tmp_path, toml, rmw_unit_bytes=4096, merge_unit_bytes=merge)
    found = told("gc_knee", bench)
    share = found[gc_knee.SPARE]
    assert isinstance(share, Detected)
    assert share.value == pytest.approx((logs - 1) * merge / bench.info.capacity_bytes, rel=0.02)


READERS = """
[disturbance]
foreign_iops = 100
foreign_bytes = 65_536
foreign_write_ratio = 0.0
foreign_on_ns = 100_000_000
foreign_off_ns = 150_000_000
"""


def test_who_reads_meanwhile_fills_no_log_blocks(tmp_path: Path) -> None:
    """Where writes wait is counted, not how long."""
    merge, logs = 2 * 48 * 4096, 13
    toml = log_block(association="many-to-one", logs=logs) + READERS
    bench = bench_with(tmp_path, toml, rmw_unit_bytes=4096, merge_unit_bytes=merge)
    share = told("gc_knee", bench)[gc_knee.SPARE]
    assert any(bench.foreign)
    assert isinstance(share, Detected)
    assert share.value == pytest.approx((logs - 1) * merge / bench.info.capacity_bytes, rel=0.02)


def test_a_log_block_for_each_unit_is_next_to_none(tmp_path: Path) -> None:
    known = {"rmw_unit_bytes": 4096, "merge_unit_bytes": 2 * 48 * 4096}
    bench = bench_with(tmp_path, log_block(logs=6), map_cache_bytes=None, **known)
    assert isinstance(told("gc_knee", bench)[gc_knee.SPARE], Absent)
    unsure = told("gc_knee", bench_with(tmp_path, log_block(logs=6), **known))
    assert isinstance(unsure[gc_knee.SPARE], Undetectable)


def test_log_blocks_are_not_counted_in_one_merge_unit(tmp_path: Path) -> None:
    """It fills a log block of its own where there is one for each, and so never the others."""
    merge = 2 * 48 * 4096
    bench = bench_with(
        tmp_path,
        log_block(logs=6),
        rmw_unit_bytes=4096,
        merge_unit_bytes=merge,
        map_cache_bytes=2 * merge,
    )
    assert isinstance(told("gc_knee", bench)[gc_knee.SPARE], Undetectable)


def test_a_region_of_one_bit_per_cell_hides_collection(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, page_mapped(), pslc_bytes=1 << 22)
    for finding in told("gc_knee", bench).values():
        assert isinstance(finding, Undetectable)
        assert finding.reason is Reason.MASKED
    assert bench.bytes_written == 0


def test_a_drive_without_collection_shows_none(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, FLAT, rmw_unit_bytes=None)
    for finding in told("gc_knee", bench).values():
        assert isinstance(finding, Undetectable)


@pytest.mark.always(2)
@pytest.mark.parametrize("known_to_hold", [True, False])
@pytest.mark.parametrize(("held", "drain"), [(64, "high-water"), (1000, "full"), (1000, "idle")])
def test_what_a_buffer_holds_is_no_spare_space(
    tmp_path: Path, held: int, drain: str, known_to_hold: bool
) -> None:
    """It stays on, and each write is flushed past it, whether or not it is known how much it is."""
    buffer = (
        f"[write_buffer]\nbytes = {held * 4096}\nunit_bytes = 4096\nswitchable = false\n"
        f'drain = "{drain}"\norder = "lru"\n'
    )
    known = {"rmw_unit_bytes": 4096, "merge_unit_bytes": None}
    if known_to_hold:
        known["write_buffer_bytes"] = held * 4096
    bench = bench_with(tmp_path, page_mapped(blocks=960) + buffer + NOISE, **known)
    share = told("gc_knee", bench)[gc_knee.SPARE]
    assert isinstance(share, Detected)
    spare = 1.3 * (1 - 0.02 - OPEN_BLOCKS / 960) - 1
    assert share.value == pytest.approx(spare, rel=0.03)


@pytest.mark.parametrize("unit", [4096, 16_384])
def test_padding_is_not_counted_as_data(tmp_path: Path, unit: int) -> None:
    """Without the RMW unit nobody knows how much of one write is its own, but of five sizes."""
    blocks = 960
    toml = page_mapped(blocks=blocks, pages=192, more=f"map_unit_bytes = {unit}") + NOISE
    share = told("gc_knee", bench_with(tmp_path, toml, pslc_bytes=None))[gc_knee.SPARE]
    assert isinstance(share, Detected)
    kept = 0.02 * blocks + OPEN_BLOCKS
    assert share.value == pytest.approx(1.3 * (1 - kept / blocks) - 1, rel=0.1)
    assert share.evidence.figures["padding_bytes"] == unit - 512


def test_without_the_unit_a_region_must_be_ruled_out(tmp_path: Path) -> None:
    unsure = told("gc_knee", bench_with(tmp_path, page_mapped()))[gc_knee.SPARE]
    assert isinstance(unsure, Undetectable)


def test_a_tiny_drive_is_refused(tmp_path: Path) -> None:
    bench = bench_with(tmp_path, page_mapped(), rmw_unit_bytes=1 << 18)
    for finding in told("gc_knee", bench).values():
        assert isinstance(finding, Undetectable)
        assert finding.reason is Reason.RANGE_TOO_SMALL


@pytest.mark.parametrize(
    ("afresh", "again", "value"),
    [
        (0.201, 0.201, 0.2),
        (0.17, 0.199, 0.2),  # filled afresh it keeps more free
        (0.23, 0.199, 0.2),  # it erases all along then, and begins to copy unseen
        (0.22, 0.221, 0.22),  # seen early as found, by chance
        (0.3, 0.301, 0.3),
        (None, 0.201, 0.2),  # it never rests then
        (0.17, 0.185, None),
        (0.3, 0.2, None),
        (0.2, None, None),
    ],
)
def test_two_beginnings_must_show_the_same(
    afresh: float | None, again: float | None, value: float | None
) -> None:
    capacity = 1 << 31
    first, second, third = (
        None if share is None else Knee(*[share * capacity] * 3, 4.0)
        for share in (0.2, afresh, again)
    )
    assert first is not None
    if second is not None and second == third:
        third = second
    found = judged(first, second, third, capacity, Evidence())
    if value is None:
        assert isinstance(found, Undetectable)
    else:
        assert isinstance(found, Detected)
        assert found.value == pytest.approx(value, rel=0.01)


def test_a_knee_that_only_the_first_beginning_shows_may_be_where_collection_begins() -> None:
    """It is sooner by no more than is kept free."""
    first, afresh, again = (Knee(*[share] * 3, 4.0) for share in (0.112, 0.135, 0.139))
    found = judged(first, afresh, again, 1, Evidence())
    assert isinstance(found, Ambiguous)
    assert found.candidates == (0.112, pytest.approx(0.137))


UNIT, WRITES, PLACE = 4096, 20_000, 10_000


def course(*waiting: tuple[int, float, float]) -> NDArray[np.float64]:
    """Latencies of writes, of which from a place on so large a share takes so long."""
    rng = np.random.default_rng(1)
    latencies = rng.normal(1.0, 0.05, WRITES)
    for place, share, long in waiting:
        latencies[place:][rng.random(WRITES - place) < share] = long
    return latencies


def knee_at(place: int) -> Knee:
    return Knee(*[float(place * UNIT)] * 3, 1.2)


COLLECTS, ERASES = (0.01, 31.0), (0.01, 3.0)


@pytest.mark.parametrize(
    ("afresh", "sooner", "restless", "erases"),
    [
        (course((0, *COLLECTS)), None, True, False),
        (course((0, *COLLECTS)), 1500, True, False),
        (course((2000, *ERASES), (PLACE, *COLLECTS)), 2000, False, True),
        (course((2000, *COLLECTS)), 2000, False, False),  # it was found empty in part
        (course((0, *ERASES), (2000, *COLLECTS)), 2000, False, False),
    ],
)
def test_why_a_drive_that_was_filled_afresh_collects_sooner(
    afresh: NDArray[np.float64], sooner: int | None, restless: bool, erases: bool
) -> None:
    knee = knee_at(PLACE)
    filled = (None if sooner is None else knee_at(sooner), afresh)
    assert never_rests((knee, course((PLACE, *COLLECTS))), filled, UNIT) is restless
    assert slow_as_found(knee, filled, UNIT) is erases


@pytest.mark.parametrize("begun", [8700, 5000])
def test_collection_that_has_begun_beside_the_writes_is_seen_before_the_knee(begun: int) -> None:
    """All are 1.3 times slower then, and wait 3.4 times as long from the knee on."""
    beside, plain = course((begun, 1.0, 1.3), (PLACE, 1.0, 3.4)), course((PLACE, 1.0, 3.4))
    knee, other = knee_at(PLACE), knee_at(PLACE // 3)
    found = begun_before([(knee, beside), (other, plain), (knee, beside)], knee, UNIT)
    assert found is not None
    assert found.low_bytes < begun * UNIT < found.high_bytes
    assert found.spare_bytes == pytest.approx(begun * UNIT, rel=0.03)
    for once in ([(knee, beside), (knee, plain)], [(knee, beside), (other, beside)]):
        with pytest.raises(Stopped, match="only once"):
            begun_before(once, knee, UNIT)


def test_what_goes_into_a_buffer_at_first_is_not_faster_than_before_collection() -> None:
    into_buffer, behind = np.full(2000, 0.1), course((PLACE, 1.0, 3.4))
    latencies, knee = np.concatenate([into_buffer, behind]), knee_at(PLACE + into_buffer.size)
    courses = [(knee, latencies), (knee, latencies)]
    assert begun_before(courses, knee, UNIT, skipped=into_buffer.size) is None


def test_a_drift_is_no_collection_beside_the_writes() -> None:
    plain, knee = course((PLACE, 1.0, 3.4)), knee_at(PLACE)
    rising = plain * np.linspace(1.0, 1.4, plain.size)
    assert begun_before([(knee, rising), (knee, plain)], knee, UNIT) is None
    assert begun_before([(knee, plain), (knee, plain)], knee, UNIT) is None
    # A drive may be returned to the same phase of its drift.
    assert begun_before([(knee, rising), (knee, rising)], knee, UNIT) is None


def test_a_drift_among_much_noise_is_none_either() -> None:
    """By and by it rises, though neighbours now and then differ by as much as half of it."""
    writes, place, rng = 2500, 1800, np.random.default_rng(1)
    rising, knee = np.linspace(1.0, 1.2, writes), knee_at(place)
    rising[place:] *= 3.4
    drifts, steps = (
        [
            slower_from(longer * rng.lognormal(0.0, 0.13, writes), knee, UNIT) is not None
            for _ in range(40)
        ]
        for longer in (rising, np.where(np.arange(writes) < 900, 1.0, 1.1))
    )
    assert sum(drifts) < 0.1 * len(drifts)
    assert sum(steps) > 0.9 * len(steps)


def test_a_drift_that_comes_and_goes_is_none_wherever_it_ends() -> None:
    """The last of its rises looks like a step, as it has no fall behind it."""
    rng, place = np.random.default_rng(2), 30_000
    drift = 0.24 - 0.24 * np.abs(np.arange(place) % 7900 - 3950) / 3950
    drifting, knee = np.exp(drift) * rng.lognormal(0.0, 0.06, place), knee_at(place)
    assert slower_from(drifting, knee, UNIT) is None
    stepping = np.where(np.arange(place) < 26_000, 1.0, 1.1) * rng.lognormal(0.0, 0.06, place)
    assert slower_from(stepping, knee, UNIT) is not None


def test_a_drift_that_begins_low_is_no_collection_from_the_first_writes_on() -> None:
    """They are the faster ones then, but a step nearly anywhere else fits as well."""
    place = 70_000
    drift = 0.2 * np.abs((np.arange(place) + 3300) % 7900 / 3950 - 1)
    knee = knee_at(place)
    for seed in range(5):
        noise = np.random.default_rng(seed).lognormal(0.0, 0.06, place)
        assert slower_from(np.exp(drift) * noise, knee, UNIT) is None


@pytest.mark.parametrize(("high", "kind"), [(1200.0, Detected), (1400.0, Undetectable)])
def test_a_knee_that_may_be_nearly_anywhere_is_not_told(high: float, kind: type[Finding]) -> None:
    assert isinstance(detected_spare(Knee(1000.0, 960.0, high, 3.0), 10_000, {}), kind)


def test_what_goes_into_a_buffer_at_first_says_nothing_of_rest() -> None:
    """Over the time that those writes take all others seem to wait."""
    into_buffer = np.full(1000, 0.02)
    found = np.concatenate([into_buffer, course((PLACE, *COLLECTS))])
    afresh = np.concatenate([into_buffer, course((0, *COLLECTS))])
    knee = knee_at(into_buffer.size + PLACE)
    assert never_rests((knee, found), (None, afresh), UNIT, into_buffer.size)
    assert not never_rests((knee, found), (None, found), UNIT, into_buffer.size)


@pytest.mark.parametrize("afresh", [None, 0.03])
def test_a_drive_that_never_rests_shows_its_knee_as_found(afresh: float | None) -> None:
    """Though it is slowed down by less than others' requests may come to."""
    first, second, again = (
        None if share is None else Knee(*[share] * 3, 1.2) for share in (0.2, afresh, 0.2)
    )
    assert first is not None
    assert isinstance(judged(first, second, again, 1, Evidence(), restless=True), Detected)
    assert not isinstance(judged(first, second, again, 1, Evidence()), Detected)


def test_log_blocks_that_were_overlooked_are_no_spare_space(tmp_path: Path) -> None:
    """What begins a merge unit is merged for before the log blocks are full, of which it is one."""
    known = {"rmw_unit_bytes": 32_768, "alignment_phase_bytes": 16_384, "pslc_bytes": None}
    bench = bench_with(tmp_path, draw(2357922838, 188).toml(), map_cache_bytes=None, **known)
    why = Reason.EFFECT_BELOW_NOISE
    bench.known["merge_unit_bytes"] = Undetectable(
        name="merge_unit_bytes", probe="test", reason=why
    )
    found = told("gc_knee", bench)["over_provisioning_ratio"]
    assert isinstance(found, Undetectable), found
    assert "log blocks" in (found.evidence.detail or "")


def test_collection_that_begins_before_it_must_is_no_padding(tmp_path: Path) -> None:
    """All writes are a little slower from there on, which only some sizes of requests show."""
    known = dict.fromkeys(("merge_unit_bytes", "pslc_bytes", "map_cache_bytes"))
    bench = bench_with(tmp_path, draw(990_002, 432).toml(), **known)
    found = told("gc_knee", bench)[gc_knee.SPARE]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(0.0431, rel=0.05)


def test_a_large_buffer_that_stays_on_does_not_hide_where_collection_begins(tmp_path: Path) -> None:
    """It holds 1.7 % of the capacity, and takes what few writes wait for at first."""
    known = {"rmw_unit_bytes": 49_152, "alignment_phase_bytes": 32_768, "pslc_bytes": None}
    known |= {"merge_unit_bytes": None, "write_buffer_bytes": 20_463_616}
    bench = bench_with(tmp_path, draw(990_001, 1643).toml(), **known)
    found = told("gc_knee", bench)[gc_knee.SPARE]
    assert isinstance(found, Detected), found
    assert found.value == pytest.approx(0.1397, rel=0.05)

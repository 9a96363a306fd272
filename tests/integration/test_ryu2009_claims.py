"""Claims of ryu2009 on made-up rows: each agrees, each differs, and only a try explains."""

from collections.abc import Mapping

import numpy as np
import pytest

from ssdscope.probes.literal.shift_write import Answer, Sweep
from ssdscope.studies import Claim, Verdict
from ssdscope.studies.ryu2009 import (
    ageing,
    ageing_claims,
    allocation,
    channels,
    management_block,
    memory,
    shift_write,
)
from ssdscope.studies.ryu2009.detecting import A, C, Readings

AGREES, DIFFERS, EXPLAINED = Verdict.AGREES, Verdict.DIFFERS, Verdict.EXPLAINED
KIB, MIB = 1 << 10, 1 << 20


def verdicts(claims: list[Claim]) -> list[Verdict]:
    return [claim.verdict for claim in claims]


def life(name: str, new: float, aged: Mapping[str, float]) -> ageing.Life:
    keys = [(pattern, 4) for pattern in ageing.PATTERNS]
    subject = ageing.Subject(name, name, ())
    return ageing.Life(
        subject, dict.fromkeys(keys, new), {key: new * aged.get(key[0], 1.0) for key in keys}
    )


@pytest.mark.parametrize(
    ("name", "kept", "expected"),
    [
        ("ryu-a", {"write": 0.5, "randwrite": 0.5}, [AGREES, AGREES]),
        ("ryu-a", {"read": 0.8, "randread": 0.8}, [AGREES, DIFFERS]),
        ("ryu-a", {}, [DIFFERS, AGREES]),
        # One pattern of four that loses a fifth is not the drive as a whole.
        ("ryu-a", {"randwrite": 0.8}, [DIFFERS, AGREES]),
        ("ryu-c", {"write": 0.5, "randwrite": 0.5}, [AGREES, DIFFERS]),
        ("ryu-c", {"read": 0.8, "randread": 0.95, "write": 0.5}, [AGREES, DIFFERS]),
        ("ryu-c", {"read": 0.8, "randread": 0.8, "write": 0.5}, [AGREES, AGREES]),
    ],
)
def test_claims_of_one_drive_s_ageing(
    name: str, kept: Mapping[str, float], expected: list[Verdict]
) -> None:
    assert verdicts(ageing_claims.of_drive(life(name, 1e6, kept))) == expected


@pytest.mark.parametrize(("shares", "verdict"), [((0.8, 0.9, 0.5), AGREES), ((0.8,) * 3, DIFFERS)])
def test_the_three_drives_must_be_in_order(shares: tuple[float, ...], verdict: Verdict) -> None:
    names = ("ryu-a", "ryu-b", "ryu-c")
    three = [life(name, 1e6, {"randwrite": each}) for name, each in zip(names, shares, strict=True)]
    assert ageing_claims.drives_by_block(three).verdict == verdict


def test_two_drives_that_treat_small_writes_alike_differ_from_the_paper() -> None:
    a, c = life("ryu-a", 1e6, {}), life("ryu-c", 1e6, {})
    assert ageing_claims.small_writes([a, c]).verdict == DIFFERS
    slow = {**a.new, ("randwrite", 4): 2e5}
    assert ageing_claims.small_writes([ageing.Life(a.subject, slow, slow), c]).verdict == AGREES


def swept(random: list[float], speeds: list[float]) -> list[ageing.Life]:
    kept = np.linspace(0.1, 0.4, len(random))
    return [
        life(f"{index} KB", speed, {"write": float(ordered), "randwrite": share})
        for index, (speed, ordered, share) in enumerate(zip(speeds, kept, random, strict=True))
    ]


RISING = [0.1, 0.12, 0.2, 0.19, 0.25, 0.3, 0.4]
FLAT = [0.15, 0.19, 0.26, 0.19, 0.18, 0.17, 0.16]
FALLING = [7e6, 6e6, 5e6, 4e6, 3e6, 2e6, 1e6]


def test_the_sweep_of_blocks_is_judged_by_rank_and_explained_by_a_second_sweep() -> None:
    good, flat = swept(RISING, FALLING), swept(FLAT, FALLING)
    assert verdicts(ageing_claims.sweep(good, flat)) == [AGREES, AGREES, AGREES]
    assert verdicts(ageing_claims.sweep(flat, good)) == [AGREES, EXPLAINED, AGREES]
    assert verdicts(ageing_claims.sweep(flat, flat)) == [AGREES, DIFFERS, AGREES]
    backwards = swept(RISING[::-1], FALLING[::-1])[::-1]
    assert ageing_claims.larger_lose_less("write", backwards).verdict == DIFFERS
    assert ageing_claims.sweep(swept(RISING, FALLING[::-1]), good)[-1].verdict == DIFFERS


def drive(value: float) -> ageing.Bandwidths:
    return {(pattern, size): value for pattern in ageing.PATTERNS for size in ageing.SIZES_KIB}


@pytest.mark.parametrize(
    ("ten", "four", "as_c", "verdict"),
    [
        (3e6, 1e6, 1e6, AGREES),
        (1e6, 3e6, 3e6, EXPLAINED),
        (1e6, 1e6, 3e6, EXPLAINED),  # of the two exchanges one is not enough
        (1e6, 3e6, 1e6, DIFFERS),
    ],
)
def test_channels_are_the_cause_only_if_c_then_leads_no_more(
    ten: float, four: float, as_c: float, verdict: Verdict
) -> None:
    found = channels.Compared(drive(1e6), drive(3e6), drive(ten), drive(four), drive(as_c))
    assert channels.due_to_channels(found).verdict == verdict


def test_a_difference_that_is_not_there_is_due_to_nothing() -> None:
    alike = channels.Compared(*[drive(1e6)] * 5)
    assert channels.due_to_channels(alike).verdict != AGREES


def tried(kib_per_s: float, mean_ns: list[float]) -> memory.Tried:
    sweep = Sweep(4 * KIB, 2 * KIB, 48 * KIB, 1)
    return memory.Tried(4, kib_per_s, 1699, shift_write.Points(A, sweep, np.array(mean_ns)))


BLOCKS_OF_16_KB, NO_BLOCKS = [2.0, 1, 1, 1, 1, 1, 1, 1] * 6, [1.0] * 48


def test_a_buffer_is_explained_away_only_if_it_would_contradict_the_paper() -> None:
    assert memory.row(A, 32 * MIB, tried(1700, BLOCKS_OF_16_KB)).verdict == AGREES
    assert memory.row(A, None, tried(1700, BLOCKS_OF_16_KB)).verdict == DIFFERS
    assert memory.row(A, None, tried(5900, BLOCKS_OF_16_KB)).verdict == EXPLAINED
    assert memory.row(A, None, tried(1700, NO_BLOCKS)).verdict == EXPLAINED
    assert memory.row(A, 20 * MIB, tried(1700, BLOCKS_OF_16_KB)).verdict == DIFFERS


def gap(index: int, percent: float) -> allocation.Gap:
    return allocation.Gap(allocation.SUBJECTS[index], 100 + percent, 100)


def test_gaps_between_two_orders_can_differ() -> None:
    told = allocation.compare([gap(0, 1), gap(1, 8), gap(2, 14)], [])
    assert verdicts(told) == [AGREES, DIFFERS, AGREES]
    assert allocation.row(gap(2, 11)).verdict == DIFFERS
    assert allocation.row(gap(2, 11), gap(2, 14)).verdict == EXPLAINED
    assert allocation.row(gap(2, 11), gap(2, 12)).verdict == DIFFERS
    assert allocation.as_one_of_the_paper_s(gap(2, 15)).verdict == AGREES
    assert allocation.as_one_of_the_paper_s(gap(2, 8)).verdict == DIFFERS


def test_the_order_of_writing_shows_in_c_alone() -> None:
    # B's log blocks hold so small a range; it takes the whole gigabyte to wear them out.
    a, c = (allocation.gap(allocation.SUBJECTS[index], 1, 32 << 20) for index in (0, 2))
    faster = allocation.gap(allocation.SUBJECTS[2], 1, 32 << 20, allocation.FASTER)
    assert verdicts(allocation.compare([a, c], [faster])) == [AGREES, EXPLAINED]


def readings(printed: int | None, repaired: int | None, differences: int | None) -> Readings:
    answers = [Answer("slow", (1,), size) for size in (printed, repaired, differences)]
    return Readings(answers[0], answers[1], answers[2], np.ones(8))


SMALL_WRITES = Sweep(4 * KIB, 2 * KIB, MIB, 64)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (readings(None, 16 * KIB, None), AGREES),
        (readings(None, 2 * KIB, 16 * KIB), EXPLAINED),
        (readings(None, 2 * KIB, 2 * KIB), DIFFERS),
        (readings(None, None, None), DIFFERS),
    ],
)
def test_the_repaired_reading_can_be_wrong(found: Readings, verdict: Verdict) -> None:
    assert management_block.repaired_row(A, SMALL_WRITES, found).verdict == verdict


def test_the_printed_reading_is_explained_only_if_the_repaired_one_works_on_every_drive() -> None:
    right, mended = readings(16 * KIB, None, None), readings(None, 16 * KIB, None)
    nothing = readings(None, None, None)
    assert management_block.printed_row({(A, SMALL_WRITES): right}).verdict == AGREES
    assert management_block.printed_row({(A, SMALL_WRITES): mended}).verdict == EXPLAINED
    two = {(A, SMALL_WRITES): mended, (C, SMALL_WRITES): nothing}
    assert management_block.printed_row(two).verdict == DIFFERS

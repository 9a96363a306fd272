"""What the paper says of figures 2 and 3 and concludes from them, beside what these runs say."""

from collections.abc import Iterable, Sequence

import numpy as np

from ssdscope.studies.record import Claim, Verdict
from ssdscope.studies.ryu2009.ageing import PATTERNS, Life

SAME = 0.05
"""A loss below this share is called none."""
CLEAR = 0.10
"""A loss above this share is called clear."""


def of_drive(life: Life) -> list[Claim]:
    """Say how each pattern fared on one drive: figure 2 for A, figure 3 for C."""
    reads = reads_stay if life.subject.name == "ryu-a" else reads_fall
    return [slower(life), reads(life)]


def slower(life: Life) -> Claim:
    """Ask whether any pattern lost speed."""
    kept = {pattern: _kept(life, pattern) for pattern in PATTERNS}
    return _claim(
        f"{life.subject.name}: slower as a whole after three months",
        "yes",
        ", ".join(f"{pattern} {_percent(shares)}" for pattern, shares in kept.items()),
        any(np.mean(shares) < 1 - SAME for shares in kept.values()),
        "no pattern lost speed",
    )


def reads_stay(life: Life) -> Claim:
    """Ask whether reads are as fast as before: figure 2."""
    holds = min([*_kept(life, "read"), *_kept(life, "randread")]) > 1 - SAME
    return _of_reads(life, "reads stay as fast", holds)


def reads_fall(life: Life) -> Claim:
    """Ask whether reads are clearly slower than before: figure 3."""
    holds = min(_kept(life, "read")) < 1 - CLEAR and min(_kept(life, "randread")) < 1 - SAME
    return _of_reads(life, "sequential and random reads become clearly slower", holds)


def _of_reads(life: Life, what: str, holds: bool) -> Claim:
    ordered, random = (_percent(_kept(life, pattern)) for pattern in ("read", "randread"))
    told = f"sequential {ordered}, random {random}"
    return _claim(f"{life.subject.name}: {what}", "yes", told, holds, "these runs say otherwise")


def small_writes(lives: Sequence[Life]) -> Claim:
    """Compare random with sequential writes on new drives, from the smallest request on."""
    ratios = {life.subject.name: life.new["write", 4] / life.new["randwrite", 4] for life in lives}
    holds = ratios["ryu-a"] > 2 * ratios["ryu-c"]
    return _claim(
        "new, 4 KB: sequential against random writes are another matter on C than on A",
        "clearly different",
        ", ".join(f"{name}: {ratio:.2f} times as fast" for name, ratio in ratios.items()),
        holds,
        "both drives treat them alike",
    )


def drives_by_block(lives: Sequence[Life]) -> Claim:
    """Compare what is left of writes on B, A and C: blocks of 1 MB, 16 and 4 KB."""
    kept = {life.subject.name: _writes_kept(life) for life in lives}
    holds = kept["ryu-b"] > kept["ryu-a"] > kept["ryu-c"]
    return _claim(
        "larger management blocks degrade less: B (1 MB), A (16 KB), C (4 KB), writes",
        "B least, C most",
        ", ".join(f"{name} keeps {100 * share:.0f} %" for name, share in kept.items()),
        holds,
        "the order of the three is another one",
    )


def sweep(lives: Sequence[Life]) -> list[Claim]:
    """Ask whether larger management blocks degrade less when nothing else differs."""
    kept = [_writes_kept(life) for life in lives]
    speeds = [life.new["randwrite", 4] / 1024 for life in lives]
    names = [life.subject.name for life in lives]
    falls = all(np.diff(speeds) < 0)
    return [
        _larger_lose_less(names, kept),
        _claim(
            "but the larger, the slower small random writes are to begin with",
            "yes",
            "; ".join(f"{n}: {s:,.0f} KiB/s" for n, s in zip(names, speeds, strict=True)),
            falls,
            "the speed does not fall with the block",
        ),
    ]


def _larger_lose_less(names: Sequence[str], kept: Sequence[float]) -> Claim:
    """Say how far the claim holds on one drive whose blocks are collected, not merged in place."""
    what = "drive A with other management blocks: the larger, the less writes lose"
    told = "; ".join(f"{n}: {100 * k:.0f} % kept" for n, k in zip(names, kept, strict=True))
    if all(np.diff(kept) > 0):
        return Claim(what, "yes", told, "", Verdict.AGREES)
    if max(kept[1:]) > kept[0] + SAME:
        why = (
            "larger than a page is better, but not the larger the better: here collection copies "
            "as many pages whatever the block; B, which merges its blocks in place, loses least"
        )
        return Claim(what, "yes", told, "", Verdict.EXPLAINED, why)
    why = "the share that is kept does not grow with the block"
    return Claim(what, "yes", told, "", Verdict.DIFFERS, why)


def _writes_kept(life: Life) -> float:
    """Average what is left of sequential and of random writes."""
    return float(np.mean([*_kept(life, "write"), *_kept(life, "randwrite")]))


def _kept(life: Life, pattern: str) -> list[float]:
    return [life.kept(pattern, size) for each, size in life.new if each == pattern]


def _percent(shares: Iterable[float]) -> str:
    values = [100 * share for share in shares]
    return f"{min(values):.0f} to {max(values):.0f} % kept"


def _claim(what: str, paper: str, ours: str, holds: bool, why: str) -> Claim:
    verdict = Verdict.AGREES if holds else Verdict.DIFFERS
    return Claim(what, paper, ours, "", verdict, "" if holds else why)

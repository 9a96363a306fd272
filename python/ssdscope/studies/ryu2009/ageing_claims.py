"""What the paper says of figures 2 and 3 and concludes from them, beside what these runs say."""

from collections.abc import Iterable, Sequence

import numpy as np

from ssdscope.studies.judging import claim, explained, similar
from ssdscope.studies.record import Claim, Verdict
from ssdscope.studies.ryu2009.ageing import PATTERNS, Life

SAME = 0.05
"""A loss below this share is called none."""
CLEAR = 0.10
"""A loss above this share is called clear."""
CHANCE = 0.05
"""A curve rises if its order would come by chance more seldom than this."""
MAP_HIDES = (
    "on A a random write waits for the map, new or aged, so that small blocks seem to lose less "
    "than their flash does"
)


def of_drive(life: Life) -> list[Claim]:
    """Say how each pattern fared on one drive: figure 2 for A, figure 3 for C."""
    reads = reads_stay if life.subject.name == "ryu-a" else reads_fall
    return [slower(life), reads(life)]


def slower(life: Life) -> Claim:
    """Ask whether a drive lost speed as a whole: over all patterns and sizes."""
    kept = {pattern: _kept(life, pattern) for pattern in PATTERNS}
    whole = float(np.exp(np.mean(np.log([share for shares in kept.values() for share in shares]))))
    return claim(
        f"{life.subject.name}: slower as a whole after three months",
        "yes",
        f"{100 * whole:.0f} % kept as a whole: "
        + ", ".join(f"{pattern} {_percent(shares)}" for pattern, shares in kept.items()),
        "",
        holds=whole < 1 - CLEAR,
    )


def reads_stay(life: Life) -> Claim:
    """Ask whether reads are as fast as before: figure 2."""
    holds = min([*_kept(life, "read"), *_kept(life, "randread")]) > 1 - SAME
    return _of_reads(life, "reads stay as fast", holds)


def reads_fall(life: Life) -> Claim:
    """Ask whether reads, of either order, are clearly slower than before: figure 3."""
    holds = all(min(_kept(life, pattern)) < 1 - CLEAR for pattern in ("read", "randread"))
    return _of_reads(life, "sequential and random reads become clearly slower", holds)


def _of_reads(life: Life, what: str, holds: bool) -> Claim:
    ordered, random = (_percent(_kept(life, pattern)) for pattern in ("read", "randread"))
    told = f"sequential {ordered}, random {random}"
    return claim(f"{life.subject.name}: {what}", "yes", told, "", holds=holds)


def small_writes(lives: Sequence[Life]) -> Claim:
    """Compare random with sequential writes on new drives, from the smallest request on."""
    ratios = {life.subject.name: life.new["write", 4] / life.new["randwrite", 4] for life in lives}
    return claim(
        "new, 4 KB: sequential against random writes are clearly another matter on C than on A",
        "yes",
        ", ".join(f"{name}: {ratio:.2f} times as fast" for name, ratio in ratios.items()),
        "",
        holds=not similar(ratios["ryu-a"], ratios["ryu-c"]),
    )


def drives_by_block(lives: Sequence[Life]) -> Claim:
    """Compare what is left of writes on B, A and C: blocks of 1 MB, 16 and 4 KB."""
    kept = {life.subject.name: writes_kept(life) for life in lives}
    return claim(
        "larger management blocks degrade less: B (1 MB), A (16 KB), C (4 KB), writes",
        "B least, C most",
        ", ".join(f"{name} keeps {100 * share:.0f} %" for name, share in kept.items()),
        "",
        holds=kept["ryu-b"] > kept["ryu-a"] > kept["ryu-c"],
    )


def sweep(lives: Sequence[Life], without_map: Sequence[Life]) -> list[Claim]:
    """Ask whether larger management blocks degrade less when nothing else differs.

    Parameters
    ----------
    lives, without_map
        Of `ageing.SWEEP` and `ageing.SWEEP_WITHOUT_MAP`, from the smallest block on.
    """
    speeds = [life.new["randwrite", 4] / 1024 for life in lives]
    names = [life.subject.name for life in lives]
    random = larger_lose_less("randwrite", lives)
    again = larger_lose_less("randwrite", without_map)
    if again.verdict == Verdict.AGREES:
        random = explained(random, MAP_HIDES, f"without the map's cost: {again.ours}")
    return [
        larger_lose_less("write", lives),
        random,
        claim(
            "but the larger, the slower random writes of 4 KB are to begin with",
            "yes",
            "; ".join(f"{n}: {s:,.0f} KiB/s" for n, s in zip(names, speeds, strict=True)),
            "",
            holds=falling(speeds),
        ),
    ]


def larger_lose_less(pattern: str, lives: Sequence[Life]) -> Claim:
    """Ask whether what is left of writes grows with the block, by rank."""
    kept = [mean_kept(life, pattern) for life in lives]
    name = {"write": "sequential", "randwrite": "random"}[pattern]
    told = "; ".join(
        f"{life.subject.name.split(',')[0]}: {100 * share:.0f} % kept"
        for life, share in zip(lives, kept, strict=True)
    )
    what = f"drive A with other management blocks: the larger, the less {name} writes lose"
    return claim(what, "yes", told, "", holds=rising(kept))


def rising(values: Sequence[float]) -> bool:
    """Say whether values rise: Kendall's rank correlation with their order, one-sided."""
    from scipy.stats import kendalltau

    found = kendalltau(np.arange(len(values)), values, alternative="greater")
    return bool(found.pvalue < CHANCE)


def falling(values: Sequence[float]) -> bool:
    """Say whether values fall, by the same rule."""
    return rising([-value for value in values])


def mean_kept(life: Life, pattern: str) -> float:
    """Average what is left of a pattern over the request sizes."""
    return float(np.mean(_kept(life, pattern)))


def writes_kept(life: Life) -> float:
    """Average what is left of sequential and of random writes."""
    return float(np.mean([*_kept(life, "write"), *_kept(life, "randwrite")]))


def _kept(life: Life, pattern: str) -> list[float]:
    return [life.kept(pattern, size) for each, size in life.new if each == pattern]


def _percent(shares: Iterable[float]) -> str:
    values = [100 * share for share in shares]
    return f"{min(values):.0f} to {max(values):.0f} % kept"

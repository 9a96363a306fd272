"""What a model is told of a workload: the eight characteristics as columns of numbers.

Five sets, each of which a reader in another language can compute from the characteristics
(`FORMULAS`): ``basic``, the four that models of hard disks have; ``extended``, the eight of
huang2011; ``physics``, these and what a drive makes of them: pages asked for, bytes in flight,
parts of pages, less than a page, whether starts stay on round addresses, whether requests in
flight meet on one part of the drive, how seldom a direction or a jump is; ``service``, these and
what times are proportional to, for the models that add times up; ``times``, the latter beside
``extended`` alone, for the tree that does. Sizes and depths enter as
binary logarithms, in which latency is nearly straight.

Pages touched and cut are means over a run. Starts advance by whole steps (a size, or a size and a
gap), so that they come to lie on all multiples of g = gcd(step, page) within a page alike: then
a request of s bytes touches 1 + (s - g) / page pages, and of a longer one each end cuts one but
for the share g / page of starts. Chunks are touched in the same way.

Where chunks lie on members (of an array, or channels) in turn, requests in flight overlap unless
they meet on one. That depends on the step: one of 128 KiB comes back to the same of two members
with chunks of 64 KiB each time, one of 64 KiB never twice. As in the statistics of directions
(Mardia and Jupp 2000), each request is an arrow to its place in a period of 128 KiB, and how far
those in flight lie together is the length of their mean: 1 if all are in one place, near 0 if
they are spread evenly. Of n in flight those k steps apart count (1 - 1 / n)**k, in which only those
that no jump has parted have places that go together; the mean of such a series is a closed form.
A request that is long itself spreads over the period, which shortens its arrow: to nothing where
it covers whole periods.

At a share of writes of 0 or 100 % one direction's characteristics mean nothing. There they take
the other direction's values, so that workloads that are the same are the same to a model too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError, nearest
from ssdscope.workloads.grid import COLUMNS, Vector

Array = npt.NDArray[Any]
Columns = Mapping[str, Array]
PAGE_BYTES = 4096
CHUNK_BYTES = 65536
"""What an array puts on a member before it goes on to the next: the usual size."""
PERIOD_BYTES = 2 * CHUNK_BYTES
UNIT_BYTES = 65536
"""Bytes are counted in so many where times are proportional to them."""
SELDOM = 0.01
"""Added to shares before their logarithm: one request in a hundred already moves a disk's arm."""
_PHYSICS: dict[str, str] = {
    "wr_share": "wr_ratio / 100",
    "rand_share": "(1 - wr_share) * rd_rand_share + wr_share * wr_rand_share",
    "log2_q_dep": "log2(q_dep)",
    "log2_size": "log2((1 - wr_share) * rd_size + wr_share * wr_size)",
    "log2_size_of_both": "log2((rd_size + wr_size) / 2)",
    "rand_share_of_both": "(rd_rand_share + wr_rand_share) / 2",
    "log2_wr_size": "log2(wr_size)",
    "log2_rd_size": "log2(rd_size)",
    "wr_rand_share": "wr_rand / 100",
    "rd_rand_share": "rd_rand / 100",
    "log2_wr_stride": "log2(1 + wr_stride / 1024)",
    "log2_rd_stride": "log2(1 + rd_stride / 1024)",
    "mix": "wr_share * (1 - wr_share)",
    "wr_byte_share": "wr_share * wr_size / 2**log2_size",
    "log2_flight": "log2(q_dep * 2**log2_size)",
    "log2_wr_pages": "log2(1 + wr_share * q_dep * ceil(wr_size / 4096))",
    "log2_rd_pages": "log2(1 + (1 - wr_share) * q_dep * ceil(rd_size / 4096))",
    "wr_part": "wr_share * ((-wr_size) mod 4096) / 4096",
    "rd_part": "(1 - wr_share) * ((-rd_size) mod 4096) / 4096",
    "wr_small": "wr_share if wr_size < 4096 else 0",
    "rd_small": "1 - wr_share if rd_size < 4096 else 0",
    "wr_random": "wr_share * wr_rand_share",
    "rd_random": "(1 - wr_share) * rd_rand_share",
    "wr_sequential": "wr_share if wr_rand == 0 and wr_stride == 0 else 0",
    "rd_sequential": "1 - wr_share if rd_rand == 0 and rd_stride == 0 else 0",
    "wr_step_4k": "1 if (wr_size + wr_stride) mod 4096 == 0 else 0",
    "wr_step_64k": "1 if (wr_size + wr_stride) mod 65536 == 0 else 0",
    "wr_step_128k": "1 if (wr_size + wr_stride) mod 131072 == 0 else 0",
    "rd_step_4k": "1 if (rd_size + rd_stride) mod 4096 == 0 else 0",
    "rd_step_64k": "1 if (rd_size + rd_stride) mod 65536 == 0 else 0",
    "rd_step_128k": "1 if (rd_size + rd_stride) mod 131072 == 0 else 0",
    "wr_cut": (
        "wr_touched if wr_size < 4096 else "
        "min(wr_touched, wr_share * (2 - gcd(wr_size + wr_stride, 4096) / 2048))"
    ),
    "rd_cut": (
        "rd_touched if rd_size < 4096 else "
        "min(rd_touched, (1 - wr_share) * (2 - gcd(rd_size + rd_stride, 4096) / 2048))"
    ),
    "log2_wr_share": "log2(0.01 + wr_share)",
    "log2_rd_share": "log2(0.01 + 1 - wr_share)",
    "log2_wr_random": "log2(0.01 + wr_random)",
    "log2_rd_random": "log2(0.01 + rd_random)",
    "log2_wr_touched": "log2(0.001 + wr_touched)",
    "log2_rd_touched": "log2(0.001 + rd_touched)",
    "log2_wr_chunks": "log2(wr_chunks)",
    "log2_rd_chunks": "log2(rd_chunks)",
    "wr_together": (
        "wr_share * abs(sin(pi * wr_size / 131072)) / (pi * wr_size / 131072) / (wr_flight * "
        "sqrt(1 + wr_chain**2 - 2 * wr_chain * cos(2 * pi * (wr_size + wr_stride) / 131072)))"
    ),
    "rd_together": (
        "rd_share * abs(sin(pi * rd_size / 131072)) / (pi * rd_size / 131072) / (rd_flight * "
        "sqrt(1 + rd_chain**2 - 2 * rd_chain * cos(2 * pi * (rd_size + rd_stride) / 131072)))"
    ),
}
_ON_THE_WAY: dict[str, str] = {
    "wr_chunks": "max(1, 1 + (wr_size - gcd(wr_size + wr_stride, 65536)) / 65536)",
    "rd_chunks": "max(1, 1 + (rd_size - gcd(rd_size + rd_stride, 65536)) / 65536)",
    "wr_flight": "1 + (q_dep - 1) * wr_share",
    "rd_flight": "1 + (q_dep - 1) * rd_share",
    "wr_chain": "(1 - 1 / wr_flight) * (1 - wr_rand_share)",
    "rd_chain": "(1 - 1 / rd_flight) * (1 - rd_rand_share)",
}
"""In no set by themselves: chunks touched, requests of the direction in flight with one of it, and
the share of them that are still a step apart."""
_PROPORTIONAL: dict[str, str] = {
    "wr_touched": "wr_share * max(1, 1 + (wr_size - gcd(wr_size + wr_stride, 4096)) / 4096)",
    "rd_touched": "(1 - wr_share) * max(1, 1 + (rd_size - gcd(rd_size + rd_stride, 4096)) / 4096)",
    "rd_share": "1 - wr_share",
    "wr_bytes": "wr_share * wr_size / 65536",
    "rd_bytes": "rd_share * rd_size / 65536",
    "wr_random_bytes": "wr_bytes * wr_rand_share",
    "rd_random_bytes": "rd_bytes * rd_rand_share",
    "wr_gaps": "wr_share if wr_stride > 0 else 0",
    "rd_gaps": "rd_share if rd_stride > 0 else 0",
    "mix_wr_bytes": "mix * wr_size / 65536",
    "mix_rd_bytes": "mix * rd_size / 65536",
    "wr_parts": "wr_share * min(2, wr_chunks)",
    "rd_parts": "rd_share * min(2, rd_chunks)",
    "wr_together_bytes": "wr_together * wr_size / 65536",
    "rd_together_bytes": "rd_together * rd_size / 65536",
}
TERMS_ALONE = (
    "wr_share", "rd_share", "wr_bytes", "rd_bytes", "wr_touched", "rd_touched", "wr_cut", "rd_cut",
    "wr_random", "rd_random", "wr_random_bytes", "rd_random_bytes", "wr_gaps", "rd_gaps",
    "mix", "mix_wr_bytes", "mix_rd_bytes", "wr_parts", "rd_parts", "wr_together", "rd_together",
    "wr_together_bytes", "rd_together_bytes",
)  # fmt: skip
TERMS = (*(f"q_{name}" for name in TERMS_ALONE), *TERMS_ALONE)
"""What times are proportional to: of all that are in flight with a request, and of it alone."""
FORMULAS: dict[str, str] = {
    **_PHYSICS,
    **_ON_THE_WAY,
    **_PROPORTIONAL,
    **{f"q_{name}": f"q_dep * {name}" for name in TERMS_ALONE},
}
"""Each feature from the characteristics (in % and bytes) and from other features."""

EXTENDED = (
    "wr_share",
    "log2_q_dep",
    "log2_wr_size",
    "log2_rd_size",
    "wr_rand_share",
    "rd_rand_share",
    "log2_wr_stride",
    "log2_rd_stride",
)
AVERAGED = ("wr_share", "log2_q_dep", "log2_size_of_both", "rand_share_of_both")
"""Basic models that are given one size and one randomness, whichever direction they are of."""
PHYSICS = (*EXTENDED, *(name for name in _PHYSICS if name not in (*EXTENDED, *AVERAGED)))
SETS: dict[str, tuple[str, ...]] = {
    "basic": ("wr_share", "log2_q_dep", "log2_size", "rand_share"),
    "extended": EXTENDED,
    "physics": PHYSICS,
    "service": (*PHYSICS, *TERMS),
    "times": (*EXTENDED, *TERMS),
}
SETS_ABOUT = {
    "basic": "share of writes, depth, one size and one randomness for reads and writes",
    "extended": "the eight characteristics of huang2011",
    "physics": "those, and sums and products that times grow with",
    "service": "those, and the parts of service times; the model service alone takes them",
    "times": "extended, and the parts of service times; service-guide alone takes them",
}
"""What each set holds."""

WORKLOADS: dict[str, str] = {
    "all": "every workload",
    "rd_only": "reads only",
    "wr_only": "writes only",
    "rand_only": "random places only",
    "seq_only": "in order only",
    "rand_rd": "random reads",
    "rand_wr": "random writes",
    "seq_rd": "reads in order",
    "seq_wr": "writes in order",
}
"""The eight special cases of huang2011, and all."""


def inputs(vectors: Sequence[Vector], *, as_asked: bool = False) -> Array:
    """Write workloads as rows of `grid.COLUMNS`; shape (n, 8).

    What no request of a workload shows takes the value of the other direction, unless it is to
    stay as it was asked for.
    """
    rows = np.array([astuple(vector) for vector in vectors], dtype=float).reshape(-1, len(COLUMNS))
    if as_asked:
        return rows
    for empty, hidden, shown in ((0, "wr", "rd"), (100, "rd", "wr")):
        mask = rows[:, 0] == empty
        for what in ("size", "rand", "stride"):
            column = COLUMNS.index(f"{hidden}_{what}")
            rows[mask, column] = rows[mask, COLUMNS.index(f"{shown}_{what}")]
    return rows


def columns(name: str, rows: Array) -> Array:
    """Compute the features of a set from `inputs`; shape (n, features).

    Raises
    ------
    UsageError
        If there is no such set.
    """
    sets = SETS | {"averaged": AVERAGED}
    if name not in sets:
        raise UsageError(f"there is no set of features {name!r}", hint=nearest(name, SETS))
    known = _everything(dict(zip(COLUMNS, rows.T, strict=True)))
    return np.column_stack([known[each] for each in sets[name]])


def _everything(given: Columns) -> dict[str, Array]:
    write = given["wr_ratio"] / 100
    read = 1 - write
    size = read * given["rd_size"] + write * given["wr_size"]
    found = {
        "wr_share": write,
        "rand_share": read * given["rd_rand"] / 100 + write * given["wr_rand"] / 100,
        "log2_q_dep": np.log2(given["q_dep"]),
        "log2_size": np.log2(size),
        "log2_size_of_both": np.log2((given["rd_size"] + given["wr_size"]) / 2),
        "rand_share_of_both": (given["rd_rand"] + given["wr_rand"]) / 200,
        "mix": write * read,
        "wr_byte_share": write * given["wr_size"] / size,
        "log2_flight": np.log2(given["q_dep"] * size),
    }
    for way, share in (("wr", write), ("rd", read)):
        found |= _direction(way, share, given)
        found |= _times(way, share, write * read, given)
        found |= _meeting(way, share, given)
    return found | {f"q_{name}": given["q_dep"] * found[name] for name in TERMS_ALONE}


def _times(way: str, share: Array, mix: Array, given: Columns) -> dict[str, Array]:
    """Compute what the times of one direction's requests are proportional to."""
    size, random, stride = (given[f"{way}_{what}"] for what in ("size", "rand", "stride"))
    common = np.gcd((size + stride).astype(np.int64), PAGE_BYTES)
    touched = np.maximum(1, 1 + (size - common) / PAGE_BYTES)
    cut = np.where(size < PAGE_BYTES, touched, np.minimum(2 - 2 * common / PAGE_BYTES, touched))
    amount = share * size / UNIT_BYTES
    return {
        f"{way}_share": share,
        f"{way}_touched": share * touched,
        f"{way}_cut": share * cut,
        f"log2_{way}_touched": np.log2(0.001 + share * touched),
        f"{way}_bytes": amount,
        f"{way}_random_bytes": amount * random / 100,
        f"{way}_gaps": share * (stride > 0),
        f"mix_{way}_bytes": mix * size / UNIT_BYTES,
    }


def _meeting(way: str, share: Array, given: Columns) -> dict[str, Array]:
    """Tell how requests of one direction spread over chunks that lie on members in turn."""
    size, random, stride = (given[f"{way}_{what}"] for what in ("size", "rand", "stride"))
    common = np.gcd((size + stride).astype(np.int64), CHUNK_BYTES)
    chunks = np.maximum(1, 1 + (size - common) / CHUNK_BYTES)
    flight = 1 + (given["q_dep"] - 1) * share
    chain = (1 - 1 / flight) * (1 - random / 100)
    turn = 2 * np.pi * (size + stride) / PERIOD_BYTES
    near = 1 / (flight * np.sqrt(1 + chain**2 - 2 * chain * np.cos(turn)))
    together = share * np.abs(np.sinc(size / PERIOD_BYTES)) * near
    return {
        f"log2_{way}_chunks": np.log2(chunks),
        f"{way}_together": together,
        f"{way}_together_bytes": together * size / UNIT_BYTES,
        f"{way}_parts": share * np.minimum(2, chunks),
    }


def _direction(way: str, share: Array, given: Columns) -> dict[str, Array]:
    size, random, stride = (given[f"{way}_{what}"] for what in ("size", "rand", "stride"))
    pages = share * given["q_dep"] * np.ceil(size / PAGE_BYTES)
    steps = {"4k": 4096, "64k": 65536, "128k": 131072}
    return {
        f"log2_{way}_size": np.log2(size),
        f"{way}_rand_share": random / 100,
        f"log2_{way}_stride": np.log2(1 + stride / 1024),
        f"log2_{way}_pages": np.log2(1 + pages),
        f"{way}_part": share * (-size % PAGE_BYTES) / PAGE_BYTES,
        f"{way}_small": share * (size < PAGE_BYTES),
        f"{way}_random": share * random / 100,
        f"log2_{way}_share": np.log2(SELDOM + share),
        f"log2_{way}_random": np.log2(SELDOM + share * random / 100),
        f"{way}_sequential": share * ((random == 0) & (stride == 0)),
        **{
            f"{way}_step_{name}": ((size + stride) % step == 0).astype(float)
            for name, step in steps.items()
        },
    }


def belongs(workload: str, rows: Array) -> Array:
    """Tell which rows of `inputs` are of one of `WORKLOADS`; booleans of shape (n,).

    Raises
    ------
    UsageError
        If there is no such kind.
    """
    if workload not in WORKLOADS:
        raise UsageError(
            f"there is no kind of workload {workload!r}", hint=nearest(workload, WORKLOADS)
        )
    given = dict(zip(COLUMNS, rows.T, strict=True))
    # Where there is one direction only, the other has its values (see `inputs`).
    random = (given["wr_rand"] == 100) & (given["rd_rand"] == 100)
    straight = (given["wr_stride"] == 0) & (given["rd_stride"] == 0)
    ordered = (given["wr_rand"] == 0) & (given["rd_rand"] == 0) & straight
    tests = {
        "rd": given["wr_ratio"] == 0,
        "wr": given["wr_ratio"] == 100,
        "rand": random,
        "seq": ordered,
    }
    mask = np.ones(len(rows), dtype=bool)
    for word in workload.split("_"):
        if word in tests:
            mask &= tests[word]
    return mask

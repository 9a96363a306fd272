"""Write a synthetic trace in SPC format: a minute of a database with checkpoints.

    python examples/make_trace.py out/checkpoints.spc

Reads and writes of 8 KiB arrive at random, most of them to a tenth of the space; every ten
seconds a checkpoint writes 64 KiB requests in a row. It stands for no real system.
"""

import random
import sys
from pathlib import Path

SECONDS = 60
REQUESTS_PER_SECOND = 250
READ_SHARE = 0.7
SPACE_BLOCKS = 4 * 2**30 // 8192
HOT_BLOCKS = SPACE_BLOCKS // 10
HOT_SHARE = 0.8
CHECKPOINT_EVERY_S = 10
CHECKPOINT_WRITES = 200
CHECKPOINT_S = 2.0


def requests(rng: random.Random) -> list[tuple[float, int, int, str]]:
    """Give (second, sector, bytes, r or w) of every request."""
    made = []
    now = 0.0
    while (now := now + rng.expovariate(REQUESTS_PER_SECOND)) < SECONDS:
        block = rng.randrange(HOT_BLOCKS if rng.random() < HOT_SHARE else SPACE_BLOCKS)
        made.append((now, block * 16, 8192, "r" if rng.random() < READ_SHARE else "w"))
    for start in range(CHECKPOINT_EVERY_S, SECONDS, CHECKPOINT_EVERY_S):
        first = rng.randrange(SPACE_BLOCKS // 8 - CHECKPOINT_WRITES) * 128
        made += [
            (start + CHECKPOINT_S * i / CHECKPOINT_WRITES, first + 128 * i, 65536, "w")
            for i in range(CHECKPOINT_WRITES)
        ]
    return sorted(made)


def main() -> None:
    """Write the trace to the path given."""
    rows = requests(random.Random(2015))
    text = "".join(f"0,{lba},{size},{op},{second:.6f}\n" for second, lba, size, op in rows)
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

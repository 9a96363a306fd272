"""Input that benchmarks make up, the same at every run."""

from random import Random


def spc_lines(lines: int) -> str:
    """Return an SPC trace of so many requests, a millisecond apart, on four volumes."""
    random = Random(1)
    made = []
    for line in range(lines):
        asu, lba = random.randrange(4), random.randrange(1 << 24)
        bytes_, opcode = 512 << random.randrange(6), random.choice("rRwW")
        made.append(f"{asu},{lba},{bytes_},{opcode},{line / 1000:.6f}\n")
    return "".join(made)

"""All figures of speed and memory in one table; `make bench`.

Those beside fio and nbdkit are short here: few pairs, so their bounds are wide. In full each is a
command of its own, `python benchmarks/host.py` and `python benchmarks/serving.py`.

Exit code 1 if a binding bar (instructions, bytes) is missed.
"""

import sys

import host
import instructions
import memory
import misses
import models
import rates
import serving
import start
import sweeps
import traces
from harness import show

PARTS = (
    *(instructions, misses, memory, rates, start),
    *(models, traces, sweeps, host, serving),
)

if __name__ == "__main__":
    sys.exit(show([figure for part in PARTS for figure in part.figures()]))

"""All figures of speed and memory in one table; `make bench`.

Exit code 1 if a binding bar (instructions, bytes) is missed.
"""

import sys

import instructions
import memory
import models
import rates
import start
import traces
from harness import show

PARTS = (instructions, memory, rates, start, models, traces)

if __name__ == "__main__":
    sys.exit(show([figure for part in PARTS for figure in part.figures()]))

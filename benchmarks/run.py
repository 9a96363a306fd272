"""All figures of speed and memory in one table; `make bench`.

Exit code 1 if a binding bar (instructions, bytes) is missed.
"""

import sys

import instructions
import memory
import models
import rates
from harness import show

if __name__ == "__main__":
    sys.exit(
        show([*instructions.figures(), *memory.figures(), *rates.figures(), *models.figures()])
    )

"""How long commands take to start: processor time of the whole process, interpreter included."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from harness import ROOT, Figure, interpreted, show

TIMES = 5
RUN = ["run", "sim:mqsim-8g", "--rw", "randread", "--number-ios", "10", "--seed", "1"]
COMMANDS = {
    "ssdscope --help": (["--help"], 0.15),
    "ssdscope run, ten requests": (RUN, 0.3),
}
"""What is run, and the seconds that it should take at most."""


def cpu_seconds(words: list[str]) -> float:
    """Return the processor time of one command."""
    before = os.times()
    command = [Path(sys.executable).with_name("ssdscope"), *words]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    after = os.times()
    return (
        after.children_user
        + after.children_system
        - (before.children_user + before.children_system)
    )


def figures() -> list[Figure]:
    """Measure; this takes a few seconds."""
    return [
        Figure(
            what, median(cpu_seconds(words) for _ in range(TIMES)), "CPU s", most, by=interpreted()
        )
        for what, (words, most) in COMMANDS.items()
    ]


if __name__ == "__main__":
    sys.exit(show(figures()))

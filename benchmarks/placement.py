"""The shown placement with several seeds: how far what was predicted is from what was replayed.

    python benchmarks/placement.py

Ten workloads on six drives, as in docs/placement.md. The bar is 15 % for every workload; the
placement is replayed on requests that it was not chosen by. Half a minute a seed.
"""

import json
import subprocess
import sys
from pathlib import Path

from harness import COMMAND

EXAMPLE = Path(__file__).parents[1] / "examples" / "placement"
SEEDS = (1, 2, 3, 4)
BAR = 0.15


def errors(seed: int) -> dict[str, float]:
    """Place with a seed, and give each workload's error."""
    words = [
        "place", str(EXAMPLE / "workloads.toml"), "--cost", str(EXAMPLE / "drives.toml"),
        "--lifetime", "5y", "--seed", str(seed), "-o", "json", "--progress", "never",
    ]  # fmt: skip
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True)
    placement = json.loads(done.stdout)["placement"]
    return {row["workload"]: row["error"] for row in placement["replay"]}


def main() -> int:
    """Print the errors; 1 if one is beyond the bar."""
    worst = 0.0
    for seed in SEEDS:
        found = errors(seed)
        worst = max(worst, *map(abs, found.values()))
        told = ", ".join(f"{name} {100 * each:+.1f}" for name, each in found.items())
        print(f"seed {seed}, error in %: {told}")
    print(f"worst {100 * worst:.1f} %, allowed {100 * BAR:.0f} %")
    return int(worst > BAR)


if __name__ == "__main__":
    sys.exit(main())

"""Draw drives, and write down what each does: where the search for a twin begins.

    python -m scripts.twin_table FILE --count 10000 [--begin 0] [--jobs 2] [--into DRAWN.npz]

A drive of a seed is drawn by the generators of the recovery study, and does what a survey does in
its first bursts. Lines are added to FILE as they are done, so that a run that ends goes on. With
--into all that FILE holds is packed for the program, but for drives that could not run half of it.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from ssdscope.recovery.arrays import DrawnArray
from ssdscope.recovery.generator import draw
from ssdscope.recovery.second import draw_second
from ssdscope.recovery.without_flash import draw_without_flash
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.twin.begin import asked, packed
from ssdscope.twin.design import BLOCKS, Design, Value
from ssdscope.twin.running import Runner

SEED = 770_000
"""Of the drives; nothing else draws from it."""
LEAST_RUN = 0.5
"""Of the numbers of a drive that is kept."""
DISKS = 10
"""One drive of so many is a hard disk."""


def drawn(index: int) -> tuple[Mapping[str, Value], int] | None:
    """Draw a drive, and say how large it is; None for an array.

    Of ten one is a hard disk; two thirds of the others are the first generator's.
    """
    if index % DISKS == DISKS - 1:
        # Of those without flash every other one is a disk, or several.
        values = draw_without_flash(SEED, 2 * (index // DISKS)).disks[0]
        return values, open_drive(drive_toml(values, []), "drawn", 0).info.capacity_bytes
    drive = draw(SEED, index) if index % 3 < 2 else draw_second(SEED, index)
    if isinstance(drive, DrawnArray):
        return None
    kept = {key: value for key, value in drive.filed().items() if key != BLOCKS}
    return kept, drive.open().info.capacity_bytes


def simulated(index: int) -> dict[str, object] | None:
    """Return a drive and what it does."""
    found = drawn(index)
    if found is None:
        return None
    values, capacity = found
    runner = Runner(asked(), SEED + index)
    (logs,) = runner.logs([Design(values, capacity)])
    rounded = [None if np.isnan(each) else round(float(each), 3) for each in logs]
    return {"index": index, "capacity": capacity, "values": values, "logs": rounded,
            "counted_s": round(runner.spent_s, 3)}  # fmt: skip


def lines(indices: Sequence[int], jobs: int) -> Iterator[dict[str, object]]:
    """Draw and run, several at a time."""
    tasks = (delayed(simulated)(index) for index in indices)
    for each in Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks):
        if each is not None:
            yield each


def pack(lines: Sequence[str], into: Path) -> None:
    """Write what was drawn as the program reads it."""
    told = sorted((json.loads(line) for line in lines), key=lambda each: each["index"])
    logs = np.array([each["logs"] for each in told], dtype=np.float64)
    ran = np.isfinite(logs).mean(axis=1) > LEAST_RUN
    designs = [Design(each["values"], each["capacity"]) for each in told]
    kept = [design for design, each in zip(designs, ran, strict=True) if each]
    np.savez_compressed(into, **packed(kept, logs[ran]))


def main() -> None:
    """Add what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    kept = options.file.read_text().splitlines() if options.file.exists() else []
    done = {json.loads(line)["index"] for line in kept}
    wanted = [n for n in range(options.begin, options.begin + options.count) if n not in done]
    with options.file.open("a") as file:
        for each in lines(wanted, options.jobs):
            file.write(json.dumps(each) + "\n")
            file.flush()
    if options.into:
        pack(options.file.read_text().splitlines(), options.into)


if __name__ == "__main__":
    main()

"""What a changed twin says of a changed drive: spare space, a buffer doubled, dies doubled.

    python benchmarks/what_if.py FOLDER [--drawn N]

Drives are those that `benchmarks/twins.py` draws, of both generators in turn; their reports lie in
FOLDER and are made once. Both the drive and its twin are changed alike, and the ratio of what a
workload takes before and after is compared. A change is told if the two ratios are within 10 % of
each other, and a drive if all of its changes are. Results go to FOLDER/what-if.jsonl as drives are
done; drives that stand there are left out.
"""

import argparse
import json
import math
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from journal import Journal
from reports import report_of
from twins import drawn

from ssdscope.errors import SsdscopeError
from ssdscope.targets import Device
from ssdscope.targets.drive_writer import open_drive
from ssdscope.workloads import Workload
from ssdscope.workloads.figures import counted, run_stretch
from ssdscope.workloads.sustained import sustain

SEED, JUDGED_SEED = 1, 9_100_000
SPARES = ("0.07", "0.28")
WITHIN = 0.10
RANDOM_WRITES = Workload(rw="randwrite", block_bytes=4096, iodepth=16, seed=JUDGED_SEED)
DEEP_READS = replace(RANDOM_WRITES, rw="randread", iodepth=64)
BUFFERS, MOST_REQUESTS = 2, 20_000
"""Times a buffer, that a burst writes; and its requests at most."""
REQUESTS = 2000
MOST_COST = 30e9
"""Nanoseconds of counted work until writes come to rest."""


def changed_drive(text: str, changes: Mapping[str, str]) -> Device:
    """Open a drive with changes."""
    return open_drive(text, "drive", SEED, changes)


def value(text: str, key: str) -> int:
    """Look up a whole number of a drive file; 0 where it is not."""
    table, _, name = key.partition(".")
    return int(tomllib.loads(text).get(table, {}).get(name, 0))


def at_rest_ns(device: Device) -> float:
    """Bring small random writes to rest."""
    found = sustain(device, RANDOM_WRITES, most_cost=MOST_COST).figures
    return found["write"].mean_ns if "write" in found else math.nan


def mean_ns(device: Device, workload: Workload, requests: int) -> float:
    """Run a workload from the state that a drive is in."""
    (part,) = run_stretch(device, counted(workload, requests)).parts.values()
    return float(part.latency_ns.mean())


def ratios(text: str, burst: int) -> Iterator[tuple[str, float]]:
    """Return by change what it does to a drive: the time after it, over that before.

    Parameters
    ----------
    text
        Its file.
    burst
        Requests of the burst that a buffer is asked with.
    """
    if tomllib.loads(text).get("ftl", {}).get("kind") == "page":
        before, after = (
            at_rest_ns(changed_drive(text, {"over_provisioning_ratio": each})) for each in SPARES
        )
        yield "spare", after / before
    if size := value(text, "write_buffer.bytes"):
        doubled = {"write_buffer.bytes": str(2 * size)}
        yield "buffer", _changed(text, doubled, RANDOM_WRITES, burst)
    if channels := value(text, "nand.channels"):
        doubled = {"nand.channels": str(2 * channels)}
        yield "dies", _changed(text, doubled, DEEP_READS, REQUESTS)


def _changed(text: str, changes: Mapping[str, str], workload: Workload, requests: int) -> float:
    before, after = (
        mean_ns(changed_drive(text, each), workload, requests) for each in ({}, changes)
    )
    return after / before


def judge(folder: Path, path: str) -> dict[str, Any]:
    """Hold a twin's ratios to the drive's."""
    document = report_of(folder, path, SEED).document
    twin, drive = document["twin"], Path(path).read_text()
    if not twin.get("toml"):
        return {"passes": False, "reason": twin["reason"]}
    burst = min(BUFFERS * value(drive, "write_buffer.bytes") // 4096, MOST_REQUESTS)
    own, theirs = (dict(ratios(each, max(burst, REQUESTS))) for each in (drive, twin["toml"]))
    # A twin without a buffer says that doubling it changes nothing.
    changes = {name: (own[name], theirs.get(name, 1.0)) for name in own}
    apart = {name: abs(math.log(other / one)) for name, (one, other) in changes.items()}
    return {"passes": max(apart.values()) <= math.log1p(WITHIN), "changes": changes}


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge drawn drives; print a line for each, and how many are told."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--drawn", type=int, default=20)
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(options.folder / "what-if.jsonl")
    every = list(drawn(options.folder, options.drawn))
    for name, path in every:
        if name not in journal.done:
            try:
                journal.add(name, judge(options.folder, path))
            except SsdscopeError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
        print(json.dumps(journal.done[name]), flush=True)
    print(f"{sum(each['passes'] for each in journal.done.values())} of {len(every)} are told")
    return 0


if __name__ == "__main__":
    sys.exit(main())

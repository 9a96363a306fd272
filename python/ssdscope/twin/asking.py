"""A twin opened as it stands, and what would be otherwise if it were changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdscope import stats
from ssdscope.errors import ConfigError, UsageError
from ssdscope.targets.drive_writer import open_drive
from ssdscope.twin.running import LABEL
from ssdscope.workloads.figures import counted, run_stretch
from ssdscope.workloads.sustained import sustain

if TYPE_CHECKING:
    from ssdscope.targets import Device
    from ssdscope.workloads import Workload

REPEATS = 5
"""Runs of each, from the same state with the same seed on both; how far their ratios differ is
the interval. Of other designs one is enough."""
REQUESTS = 1000
MOST_COST = 4e9
"""Nanoseconds of counted work until writes come to rest."""


@dataclass(frozen=True)
class WhatIf:
    """One workload on a twin as it is, and on the changed one.

    Attributes
    ----------
    workload
        Its pattern, size, depth and, of a mix, share of reads.
    sustained
        Whether the writes were brought to rest first.
    original_ns, changed_ns
        Mean latencies.
    ratio, low, high
        Of the changed over the original, with its interval of 95 %; below 1 is faster.
    least, most
        Of the ratios of the twin and of other designs that the measured drive may be as well.
    """

    workload: dict[str, Any]
    sustained: bool
    original_ns: float
    changed_ns: float
    ratio: float
    low: float
    high: float
    least: float
    most: float

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def open_twin(toml: str, seed: int, changes: Mapping[str, str] | None = None) -> Device:
    """Open a twin in the state that the measured drive was in.

    Parameters
    ----------
    toml
        The twin's drive file.
    seed
        Of the drive.
    changes
        By dotted key, values in the place of the file's, written as after ``--set``.

    Raises
    ------
    ConfigError
        If the file or a change has faults.
    """
    return open_drive(toml, LABEL, seed, changes)


def what_if(
    toml: str,
    changes: Mapping[str, str],
    workloads: Sequence[Workload],
    seed: int,
    *,
    sustained: bool = False,
    others: Sequence[str] = (),
) -> list[WhatIf]:
    """Run workloads on a twin as it is and as it would be, from the same state and seeds.

    Parameters
    ----------
    toml
        The twin's drive file.
    changes
        By dotted key, as in `open_twin`.
    workloads
        What to run; without a limit of its own a thousand requests count.
    seed
        Of the drives and the runs.
    sustained
        Bring workloads that write to rest first, on each of the two by itself.
    others
        Drive files that the measured drive may be as well; one that cannot be changed so is left
        out.

    Returns
    -------
    list of WhatIf
        One for each workload, in their order.

    Raises
    ------
    ConfigError
        If the file or a change has faults.
    UsageError
        If nothing is changed.
    DeviceError
        If a drive fails.
    """
    if not changes:
        raise UsageError(
            "nothing to change", hint="give KEY=VALUE, as in over_provisioning_ratio=0.28"
        )
    pairs = [(open_twin(toml, seed), open_twin(toml, seed, changes))]
    pairs += _changed_likewise(others, seed, changes)
    return [_asked(pairs, each, seed, sustained) for each in workloads]


def _changed_likewise(
    others: Sequence[str], seed: int, changes: Mapping[str, str]
) -> Iterator[tuple[Device, Device]]:
    """Open other designs as they are and changed, those that can be."""
    for toml in others:
        try:
            yield open_twin(toml, seed), open_twin(toml, seed, changes)
        except ConfigError:
            continue


def _asked(
    pairs: Sequence[tuple[Device, Device]], workload: Workload, seed: int, sustained: bool
) -> WhatIf:
    settled = sustained and workload.writes
    ran = [
        [
            _means(_settled(device, workload, seed) if settled else device, workload, seed, repeats)
            for device in pair
        ]
        for pair, repeats in zip(pairs, [REPEATS] + [1] * (len(pairs) - 1), strict=True)
    ]
    original, changed = ran[0]
    every = [float(after.mean() / before.mean()) for before, after in ran]
    ratios = stats.student(np.log(changed / original))
    told = {key: getattr(workload, key) for key in ("rw", "block_bytes", "iodepth", "read_percent")}
    return WhatIf(
        workload=told,
        sustained=settled,
        original_ns=float(original.mean()),
        changed_ns=float(changed.mean()),
        ratio=math.exp(ratios.mean),
        low=math.exp(ratios.low),
        high=math.exp(ratios.high),
        least=min(every),
        most=max(every),
    )


def _settled(device: Device, workload: Workload, seed: int) -> Device:
    """Return a copy that the workload has brought to rest, as far as its share of work goes."""
    copy = device.fork()
    sustain(copy, workload.seeded(seed), most_cost=MOST_COST)
    return copy


def _means(device: Device, workload: Workload, seed: int, repeats: int) -> np.ndarray:
    limited = any((workload.requests, workload.io_bytes, workload.runtime_ns))
    plan = workload if limited else counted(workload, REQUESTS)
    means = []
    for repeat in range(repeats):
        stretch = run_stretch(device.fork(), plan.seeded(seed + repeat))
        latencies = np.concatenate([part.latency_ns for part in stretch.parts.values()])
        means.append(latencies.mean())
    return np.array(means)

"""Runs of a drive that is a formula: what models are tried on, where the truth is known."""

from typing import Any

import numpy as np

from ssdscope.models import designs, features
from ssdscope.models.table import Collected
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads.grid import Row, Vector

KIB = 1024
HEADER: dict[str, Any] = {"target": "a formula", "design": "sobol", "seed": 1}


def info(*, writable: bool = True, logical_block_bytes: int = 512) -> DeviceInfo:
    return DeviceInfo(
        kind="simulated",
        capacity_bytes=1 << 30,
        logical_block_bytes=logical_block_bytes,
        clock="virtual",
        writable=writable,
        discard=True,
        attribution=True,
        snapshot=True,
    )


def latency_ns(vector: Vector) -> float:
    """Four units side by side; writes cost more, small random ones most."""
    write = vector.wr_ratio / 100
    penalty = 2.0 if vector.wr_rand > 50 and vector.wr_size < 64 * KIB else 1.0
    alone = (1 - write) * (60_000 + 3 * vector.rd_size)
    alone += write * (200_000 + 8 * vector.wr_size) * penalty
    return alone * max(1.0, vector.q_dep / 4)


def run(split: str, vector: Vector, rng: np.random.Generator, sigma: float) -> Collected:
    latency = latency_ns(vector) * rng.lognormal(0, sigma)
    iops = vector.q_dep / latency * 1e9
    size = features.columns("basic", features.inputs([vector]))[0, 2]
    row = Row(
        vector,
        requests=1000,
        latency_ns=latency,
        iops=iops,
        bandwidth_bytes_per_s=iops * 2**size,
        elapsed_ns=10**9,
        read_p99_ns=None if vector.wr_ratio == 100 else round(3 * latency),
        write_p99_ns=None if vector.wr_ratio == 0 else round(5 * latency),
        ci_reached=True,
    )
    return Collected(split, row)


def collection(
    points: int, test: int = 0, repeats: int = 0, sigma: float = 0.03, seed: int = 1
) -> list[Collected]:
    rng = np.random.default_rng(seed)
    train = designs.sobol(info(), points, seed)
    held = designs.off_grid(info(), test, seed + 1)
    rows = [run("train", vector, rng, sigma) for vector in train]
    rows += [run("test", vector, rng, sigma) for vector in held]
    return rows + [run("repeat", vector, rng, sigma) for vector in train[:repeats]]

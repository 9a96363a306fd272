"""The plan of a sweep: a TOML file, every combination of which is a run.

.. code-block:: toml

    targets = ["sim:msr-4gb"]
    state = "random"            # optional, as --state
    seed = 1                    # optional, as --seed
    repeats = 3                 # optional: each combination with so many seeds

    [workload]                  # options of `run` that all runs share
    rw = "randwrite"
    number_ios = 300

    [grid]                      # options of `run` to combine: lists, or ranges in doublings
    bs = ["4k", "64k"]
    iodepth = "1:8"

    [set]                       # keys of the drive to combine, as --set
    "gc.policy" = ["greedy", "wear-aware"]
"""

import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from ssdscope.errors import ConfigError, UsageError
from ssdscope.targets.grammar import DriveFile, Preset, parse_target
from ssdscope.targets.opening import as_set, canonical_state, read_drive, read_text
from ssdscope.units import parse_sizes
from ssdscope.workloads.options import standard, workload_from_options

_TYPES = {
    "targets": list,
    "state": str,
    "seed": int,
    "repeats": int,
    "workload": dict,
    "grid": dict,
    "set": dict,
}


@dataclass(frozen=True)
class Plan:
    """A plan as written, with its parts checked one by one."""

    source: str
    targets: tuple[str, ...]
    state: str | None = None
    seed: int | None = None
    repeats: int = 1
    workload: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, list[Any]] = field(default_factory=dict)
    sets: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Point:
    """One run of a sweep.

    Attributes
    ----------
    varied
        What distinguishes it from the other runs, for tables.
    workload
        The resolved workload, as fields of `Workload`.
    drive_digest
        Digest of the drive file, so that a run on an edited drive is another run.
    """

    target: str
    state: str | None
    sets: tuple[str, ...]
    seed: int
    workload: dict[str, Any]
    varied: dict[str, Any]
    drive_digest: str | None

    @cached_property
    def key(self) -> str:
        """What tells this run from all others, in any sweep."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    @property
    def label(self) -> str:
        """The run in a line."""
        varied = " ".join(f"{name}={value}" for name, value in self.varied.items())
        return f"{self.target} {varied} seed={self.seed}"


def read_plan(path: str) -> Plan:
    """Read a plan and check its form.

    Raises
    ------
    ConfigError
        If a key is unknown or of the wrong type.
    UsageError
        If the file cannot be read.
    """
    try:
        document = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    for key, value in document.items():
        if key not in _TYPES:
            raise ConfigError(
                f"{path}: there is no key {key!r}", hint=f"the keys are {', '.join(_TYPES)}"
            )
        if not isinstance(value, _TYPES[key]) or isinstance(value, bool):
            raise ConfigError(f"{path}: {key} is not a {_TYPES[key].__name__}: {value!r}")
    targets = document.get("targets", [])
    if not targets or not all(isinstance(target, str) for target in targets):
        raise ConfigError(
            f"{path}: targets is not a list of targets", hint='write targets = ["sim:mqsim-8g"]'
        )
    if document.get("repeats", 1) < 1:
        raise ConfigError(f"{path}: repeats is not 1 or more: {document['repeats']}")

    def options(table: str) -> dict[str, Any]:
        return standard(document.get(table, {}), lambda name: f"{path}: {table}.{name}")

    return Plan(
        source=path,
        targets=tuple(targets),
        state=canonical_state(document.get("state")),
        seed=document.get("seed"),
        repeats=document.get("repeats", 1),
        workload=options("workload"),
        grid=_lists(path, "grid", options("grid")),
        sets=_lists(path, "set", document.get("set", {})),
    )


def points_of(plan: Plan, seed: int) -> list[Point]:
    """Lay out every run of a plan.

    Repetition n has the same seed in every combination, so that combinations are compared on
    the same random numbers.

    Raises
    ------
    UsageError
        If a target or a workload cannot be meant.
    """
    points = []
    for target, options, sets, repeat in itertools.product(
        plan.targets, _combinations(plan.grid), _combinations(plan.sets), range(plan.repeats)
    ):
        run_seed = _derived_seed(seed, repeat)
        workload = workload_from_options(
            plan.workload | options, seed=run_seed, where=lambda name: f"{plan.source}: {name}"
        )
        points.append(
            Point(
                target=target,
                state=plan.state,
                sets=tuple(as_set(key, value) for key, value in sets.items()),
                seed=run_seed,
                workload=workload.to_dict(),
                varied=options | sets,
                drive_digest=_drive_digest(target),
            )
        )
    return points


def _lists(path: str, table: str, values: dict[str, Any]) -> dict[str, list[Any]]:
    """Take lists as they are, and write ranges out."""
    return {key: _list(f"{path}: {table}.{key}", key, value) for key, value in values.items()}


def _list(where: str, key: str, value: Any) -> list[Any]:
    if isinstance(value, str) and ":" in value:
        try:
            return parse_sizes(value)
        except UsageError as error:
            raise ConfigError(f"{where}: {error.message}", hint=error.hint) from error
    if not isinstance(value, list) or not value:
        raise ConfigError(
            f"{where} is not a list of values, nor a range: {value!r}",
            hint=f'write {key} = [...] or "1k:64k", or move it to [workload] if all runs share it',
        )
    return value


def _combinations(lists: dict[str, list[Any]]) -> Iterable[dict[str, Any]]:
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def _derived_seed(seed: int, repeat: int) -> int:
    digest = hashlib.blake2b(f"{seed}/sweep/{repeat}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big")


def _drive_digest(target: str) -> str | None:
    if not isinstance(parse_target(target), Preset | DriveFile):
        return None
    text, _ = read_drive(target)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

"""The runs of a plan: parts combined, workloads resolved, each with a key of its own."""

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property, reduce
from pathlib import Path
from typing import Any

from ssdscope.errors import ConfigError, TraceError
from ssdscope.sweep.plan import TRACE, Part, Plan
from ssdscope.targets.grammar import DriveFile, Preset, parse_target
from ssdscope.targets.opening import as_set, read_drive
from ssdscope.targets.sources import drive_texts, require_file
from ssdscope.workloads.options import workload_from_options
from ssdscope.workloads.replaying import replay_from_options

REPLAY = "replay"
"""Where the resolved workload of a run has its trace, if it replays one."""


@dataclass(frozen=True)
class Point:
    """One run of a sweep.

    Attributes
    ----------
    varied
        What distinguishes it from the other runs, for tables.
    workload
        The resolved workload: fields of `Workload`; or ``replay``, a trace, and fields of
        `ReplayOptions`.
    drive_digest
        Digest of the drive file, so that a run on an edited drive is another run.
    trace_digest
        Likewise of the trace; None where there is none.
    """

    target: str
    state: str | None
    sets: tuple[str, ...]
    seed: int
    workload: dict[str, Any]
    varied: dict[str, Any]
    drive_digest: str | None
    trace_digest: str | None = field(default=None, kw_only=True)

    def to_json(self) -> dict[str, Any]:
        """Give what makes the run; a point without a trace has no digest of one."""
        told = asdict(self)
        if self.trace_digest is None:
            del told["trace_digest"]
        return told

    @cached_property
    def key(self) -> str:
        """What tells this run from all others, in any sweep."""
        return _digest(json.dumps(self.to_json(), sort_keys=True).encode())

    @property
    def label(self) -> str:
        """The run in a line."""
        varied = " ".join(f"{name}={value}" for name, value in self.varied.items())
        return f"{self.target} {varied} seed={self.seed}"


RUNS_MAX = 2**20


def points_of(plan: Plan, seed: int) -> list[Point]:
    """Lay out every run of a plan, in its order; what it says twice is run once.

    Repetition n has the same seed in every combination, so that combinations are compared on
    the same random numbers.

    Raises
    ------
    UsageError
        If a target or a workload cannot be meant.
    """
    _require_not_too_many(plan)
    drives = {target: _drive_digest(target) for target in plan.targets}
    seeds = [_derived_seed(seed, repeat) for repeat in range(plan.repeats)]
    points: dict[str, Point] = {}
    for part in _combinations(plan, seed):
        target = str(part.target)
        for run_seed in seeds:
            workload = _workload(plan, part.options, run_seed)
            point = Point(
                target=target,
                state=part.state,
                sets=tuple(as_set(key, value) for key, value in part.sets.items()),
                seed=run_seed,
                workload=workload,
                varied=dict(part.varied),
                drive_digest=drives[target],
                trace_digest=_digest_of_trace(workload[REPLAY]) if REPLAY in workload else None,
            )
            points.setdefault(point.key, point)
    return list(points.values())


def _require_not_too_many(plan: Plan) -> None:
    """Refuse what would never end, or not fit into memory."""
    lists = (*plan.parts, *plan.grid.values(), *plan.sets.values())
    runs = math.prod(map(len, lists)) * plan.repeats * (plan.sobol.points if plan.sobol else 1)
    if runs > RUNS_MAX:
        raise ConfigError(
            f"{plan.source}: these are {runs:,} runs; a sweep has {RUNS_MAX:,} at most",
            hint="[sobol] spreads as many points as are wanted over all combinations",
        )


def _combinations(plan: Plan, seed: int) -> Iterable[Part]:
    """Combine the parts of a plan, one of each kind."""
    kinds: list[Sequence[Part]] = list(plan.parts)
    if plan.sobol is not None:
        kinds.append(
            [
                Part(options=options, sets=sets, varied=options | sets, where="sobol")
                for options, sets in plan.sobol.draw(seed)
            ]
        )
    kinds.append([Part(options=each, varied=each, where="grid") for each in _product(plan.grid)])
    kinds.append([Part(sets=each, varied=each, where="set") for each in _product(plan.sets)])
    for parts in itertools.product(*kinds):
        yield reduce(lambda one, other: _together(plan.source, one, other), parts, Part())


def _product(lists: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def _together(source: str, one: Part, other: Part) -> Part:
    """Put two parts together.

    Raises
    ------
    ConfigError
        If both say the same thing.
    """
    twice = [*(one.options.keys() & other.options.keys()), *(one.sets.keys() & other.sets.keys())]
    twice += [name for name in ("target", "state") if getattr(one, name) and getattr(other, name)]
    if twice:
        raise ConfigError(
            f"{source}: {min(twice)} stands in {other.where} and in what is combined with it "
            f"({one.where})",
            hint="parts of a plan multiply, so each option and key stands in one of them",
        )
    return Part(
        target=one.target or other.target,
        state=one.state or other.state,
        options={**one.options, **other.options},
        sets={**one.sets, **other.sets},
        varied={**one.varied, **other.varied},
        where=", ".join(filter(None, (one.where, other.where))),
    )


def _workload(plan: Plan, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Resolve the workload of a run, or how it replays a trace."""
    named = {**plan.workload, **options}

    def where(name: str) -> str:
        return f"{plan.source}: {name}"

    if TRACE not in named:
        return workload_from_options(named, seed=seed, where=where).to_plan()
    trace = str(named.pop(TRACE))
    return {REPLAY: trace, **replay_from_options(named, where=where).to_dict()}


def _derived_seed(seed: int, repeat: int) -> int:
    digest = hashlib.blake2b(f"{seed}/sweep/{repeat}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big")


def _drive_digest(target: str) -> str | None:
    """Tell drives apart by all their files; None where nothing describes them."""
    texts = drive_texts(target)
    if isinstance(parse_target(target), Preset | DriveFile) and texts.keys() <= {target}:
        return _digest(read_drive(target)[0].encode())
    return _digest(json.dumps(texts, sort_keys=True).encode()) if texts else None


def require_same_trace(trace: str, digest: str | None) -> None:
    """Refuse a trace that is not what the plan meant: changed since, or another on this machine.

    Raises
    ------
    UsageError
        If it is not there, or not the same.
    """
    if _digest_of_trace(trace) != digest:
        raise TraceError(f"the trace {trace} is not the one that the sweep was planned with")


def _digest_of_trace(trace: str) -> str:
    require_file(trace)
    about = Path(trace).stat()
    return _trace_digest(trace, about.st_mtime_ns, about.st_size)


@cache
def _trace_digest(trace: str, _mtime_ns: int, _size_bytes: int) -> str:
    """Read a trace once in a process, as long as it does not change."""
    with Path(trace).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()

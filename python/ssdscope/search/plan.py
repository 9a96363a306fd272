"""The plan of a search: a TOML file.

.. code-block:: toml

    target = "sim:nvme-tlc"      # a simulated drive, as of `run`
    state = "random"             # optional, as --state
    seed = 1                     # optional, as --seed
    trials = 60                  # how many configurations are run
    minimise = ["write.latency_ns.p99", "cost"]

    [workload]                   # options of `run`; or [trace]: file, and options of `replay`
    rw = "randwrite"
    number_ios = 20_000

    [space]                      # keys of the drive that vary
    over_provisioning_ratio = {from = 0.07, to = 0.5}
    "gc.policy" = ["greedy", "cost-benefit"]

    [limits]                     # optional: the most of a figure, of a rate the least
    waf = 3

    [cost]                       # optional: prices
    raw_bytes = "0.05 per 1g"
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ssdscope.errors import ConfigError, UsageError, nearest
from ssdscope.search import loads
from ssdscope.search.costs import Price, read_costs
from ssdscope.search.figures import COSTS, fault_of, is_rate
from ssdscope.search.limits import Limit, read_limits
from ssdscope.search.space import Knob, Value, read_space, sets_of
from ssdscope.seeds import require_seed, stream
from ssdscope.targets.opening import (
    array_behind,
    canonical_state,
    read_drive,
    read_text,
    resolve_drive,
)
from ssdscope.targets.toml_files import parse_toml

TRIALS, AT_ONCE, PART = 60, 4, 0.1
SAMPLERS = {
    "tpe": "proposes what resembles the best trials so far",
    "random": "proposes anything alike",
}
"""How the next configuration is chosen."""
_NUMBER = (int, float)
_TRIES = 64
_ALWAYS = "--set: "
"""So begin faults of a value that are none of how values go together."""
_TYPES: dict[str, tuple[type, ...]] = {
    "target": (str,),
    "state": (str,),
    "seed": (int,),
    "trials": (int,),
    "at_once": (int,),
    "part": _NUMBER,
    "sampler": (str,),
    "minimise": (str, list),
    "workload": (dict,),
    "trace": (dict,),
    "space": (dict,),
    "limits": (dict,),
    "cost": (dict,),
}


@dataclass(frozen=True)
class Plan:
    """A plan, checked.

    Attributes
    ----------
    source
        The file.
    trials
        How many configurations are run.
    at_once
        How many are proposed at a time, and may run beside each other. The results depend on it,
        and not on how many cores there are.
    part
        Share of the load that is run on a fork of the drive first; 0 for none.
    minimise
        Figures; several for a front.
    workload, trace
        One of both, as written.
    """

    source: str
    target: str
    minimise: tuple[str, ...]
    space: tuple[Knob, ...]
    state: str | None = None
    seed: int | None = None
    trials: int = TRIALS
    at_once: int = AT_ONCE
    part: float = PART
    sampler: str = "tpe"
    workload: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None
    limits: tuple[Limit, ...] = ()
    prices: tuple[Price, ...] = ()

    @cached_property
    def figures(self) -> tuple[str, ...]:
        """What counts: all that is minimised or limited."""
        return tuple(dict.fromkeys((*self.minimise, *(each.of for each in self.limits))))

    @cached_property
    def simulated(self) -> tuple[str, ...]:
        """Those of them that only a run tells."""
        return tuple(name for name in self.figures if name not in COSTS)

    def load(self, seed: int) -> dict[str, Any]:
        """Give what each trial runs.

        Raises
        ------
        UsageError
            If it cannot be meant.
        """
        if self.trace is not None:
            return loads.read_trace(self.trace, f"{self.source}: trace")
        return loads.read_workload(self.workload or {}, seed, f"{self.source}: workload")


def read_plan(path: str) -> Plan:
    """Read a plan and check all of it that needs no drive to run.

    Raises
    ------
    ConfigError
        If a key is unknown, or something in it cannot be meant.
    UsageError
        If the file cannot be read.
    """
    document = parse_toml(read_text(path), path)
    _require_types(document, path)
    _require_numbers(document, path)
    target = _target(document, path)
    space = read_space(document.get("space", {}), f"{path}: space")
    drive = _some_drive(target, space, path)
    prices = read_costs(document.get("cost", {}), drive, f"{path}: cost")
    limits = read_limits(document.get("limits", {}), f"{path}: limits")
    minimise = _minimise(document, path)
    for name in (*minimise, *(each.of for each in limits)):
        if name in COSTS and not prices:
            raise ConfigError(
                f"{path}: {name} is wanted, and nothing has a price",
                hint='a table [cost] states prices, as raw_bytes = "0.05 per 1g"',
            )
    plain = ("seed", "trials", "at_once", "part", "sampler", "workload", "trace")
    return Plan(
        source=path,
        target=target,
        state=canonical_state(document.get("state")),
        minimise=minimise,
        space=space,
        limits=limits,
        prices=prices,
        **{name: document[name] for name in plain if name in document},
    )


def _require_types(document: dict[str, Any], path: str) -> None:
    for key, value in document.items():
        if key not in _TYPES:
            raise ConfigError(f"{path}: there is no key {key!r}", hint=nearest(key, _TYPES))
        if not isinstance(value, _TYPES[key]) or isinstance(value, bool):
            names = " or ".join(each.__name__ for each in _TYPES[key])
            raise ConfigError(f"{path}: {key} is not a {names}: {value!r}")
    if ("workload" in document) == ("trace" in document):
        raise ConfigError(
            f"{path}: a search needs a table [workload] or a table [trace], and not both",
            hint='[workload] has options of run, as rw = "randwrite"; [trace] has file = "FILE"',
        )


def _require_numbers(document: dict[str, Any], path: str) -> None:
    for key in ("trials", "at_once"):
        if document.get(key, 1) < 1:
            raise ConfigError(f"{path}: {key} is not 1 or more: {document[key]}")
    if not 0 <= document.get("part", 0) < 1:
        raise ConfigError(
            f"{path}: part is not a share from 0 to below 1: {document['part']}",
            hint="0.1 runs a tenth of the load first; 0 runs the whole at once",
        )
    if (sampler := document.get("sampler", "tpe")) not in SAMPLERS:
        raise ConfigError(
            f"{path}: sampler {sampler!r} is unknown", hint=nearest(sampler, SAMPLERS)
        )
    if "seed" in document:
        try:
            require_seed(document["seed"])
        except UsageError as error:
            raise ConfigError(f"{path}: {error.message.removeprefix('--')}") from error


def _target(document: dict[str, Any], path: str) -> str:
    target = document.get("target")
    if not isinstance(target, str):
        raise ConfigError(f"{path}: there is no target", hint='write target = "sim:mqsim-8g"')
    read_drive(target)  # refuses what is not simulated
    if array_behind(target) is not None:
        raise ConfigError(
            f"{path}: target {target} is an array; a search varies a single drive",
            hint="name one of its members",
        )
    return target


def _minimise(document: dict[str, Any], path: str) -> tuple[str, ...]:
    given = document.get("minimise")
    names = [given] if isinstance(given, str) else given
    if not names or not all(isinstance(name, str) for name in names):
        raise ConfigError(
            f"{path}: minimise names no figure",
            hint='write minimise = ["write.latency_ns.p99"], or several for a front',
        )
    for name in names:
        if hint := fault_of(name):
            raise ConfigError(f"{path}: minimise: there is no figure {name!r}", hint=hint)
        if is_rate(name):
            raise ConfigError(
                f"{path}: minimise: of {name} more is better",
                hint=f"minimise a latency, and write {name} = 10_000 in [limits] for the least",
            )
    return tuple(dict.fromkeys(names))


def _some_drive(target: str, space: tuple[Knob, ...], path: str) -> dict[str, Any]:
    """Resolve the drive with some configuration of the space that works.

    Raises
    ------
    ConfigError
        If a key cannot have one of its values, whatever the others are; or if none of many
        configurations works.
    """
    for knob in space:
        for value in knob.ends():
            if (fault := fault_of_set(target, {knob.key: value})) and fault.startswith(_ALWAYS):
                raise ConfigError(f"{path}: space.{fault.removeprefix(_ALWAYS)}")
    shares = stream(0, "search.plan.tries").random((_TRIES, len(space)))
    faults = Counter[str]()
    for row in shares:
        configuration = {knob.key: knob.at(share) for knob, share in zip(space, row, strict=True)}
        fault = fault_of_set(target, configuration)
        if fault is None:
            return resolve_drive(target, sets_of(configuration))
        faults[fault] += 1
    raise ConfigError(
        f"{path}: space: no configuration of {_TRIES} drawn works: {faults.most_common(1)[0][0]}",
        hint="widen the space, or set what is in the way in the drive file",
    )


def fault_of_set(target: str, configuration: Mapping[str, Value]) -> str | None:
    """Say why a configuration cannot work, in a line; None if it can."""
    try:
        resolve_drive(target, sets_of(configuration))
    except UsageError as error:
        return error.message.splitlines()[0]
    return None

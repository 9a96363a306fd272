"""The plan of a sweep: a TOML file, every combination of which is a run.

.. code-block:: toml

    targets = ["sim:msr-4gb"]
    states = ["fresh", "random"]    # optional, as --state; or one for all: state = "random"
    seed = 1                        # optional, as --seed
    repeats = 3                     # optional: each combination with so many seeds

    [workload]                      # options of `run` that all runs share
    number_ios = 300

    [[workloads]]                   # several workloads, each with a name
    name = "writer"
    rw = "randwrite"
    [[workloads]]                   # a trace takes options of `replay` instead
    name = "web"
    trace = "web.spc"

    [grid]                          # options to combine: lists, or ranges in doublings
    bs = ["4k", "64k"]
    iodepth = "1:8"

    [set]                           # keys of the drive to combine, as --set
    "gc.policy" = ["greedy", "wear-aware"]

    [[list]]                        # combinations one by one: options, and target, state, set
    bs = "4k"
    iodepth = 32
    set = { "gc.policy" = "greedy" }

    [sobol]                         # combinations spread evenly: see `sobol`
    points = 64
    bs = { low = "4k", high = "1m", log = true }

Parts multiply: each row of the list, for one, is run with each target, state and workload.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdscope.errors import ConfigError, UsageError, nearest
from ssdscope.sweep.sobol import Sobol, read_sobol
from ssdscope.targets.opening import canonical_state, drive_keys, read_text
from ssdscope.targets.toml_files import parse_toml
from ssdscope.units import parse_sizes
from ssdscope.workloads.options import standard

_TYPES = {
    "targets": list,
    "state": str,
    "states": list,
    "seed": int,
    "repeats": int,
    "workload": dict,
    "workloads": list,
    "grid": dict,
    "set": dict,
    "list": list,
    "sobol": dict,
}
TRACE = "trace"
"""The option that makes a workload a replay."""
_KINDS = {list: "a list", str: "a text", int: "a whole number", dict: "a table"}


@dataclass(frozen=True)
class Part:
    """Some of what makes a run; parts of all kinds together make one.

    Attributes
    ----------
    target, state
        The drive and how it was used; None if this part does not say.
    options, sets
        Options of the workload and keys of the drive.
    varied
        What tells it from others, for tables.
    where
        Where it stands in the plan, for messages.
    """

    target: str | None = None
    state: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    sets: Mapping[str, Any] = field(default_factory=dict)
    varied: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True)
class Plan:
    """A plan as written, with its parts checked one by one.

    Attributes
    ----------
    targets
        Every drive, also those that only rows of the list name.
    workload
        Options that all runs share.
    parts
        What is combined: lists of parts, one of each of which makes a run.
    grid, sets
        Options and keys of the drive to combine.
    """

    source: str
    targets: tuple[str, ...]
    seed: int | None = None
    repeats: int = 1
    workload: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[tuple[Part, ...], ...] = ()
    sobol: Sobol | None = None
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    sets: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def traces(self) -> list[str]:
        """The traces that it replays."""
        options = [self.workload, *(part.options for parts in self.parts for part in parts)]
        named = [each[TRACE] for each in options if TRACE in each]
        drawn = self.sobol.choices(TRACE) if self.sobol else ()
        return list(dict.fromkeys(map(str, [*named, *self.grid.get(TRACE, ()), *drawn])))


def read_plan(path: str) -> Plan:
    """Read a plan and check its form.

    Raises
    ------
    ConfigError
        If a key is unknown or of the wrong type.
    UsageError
        If the file cannot be read.
    """
    document = parse_toml(read_text(path), path)
    for key, value in document.items():
        if key not in _TYPES:
            raise ConfigError(f"{path}: there is no key {key!r}", hint=nearest(key, _TYPES))
        if not isinstance(value, _TYPES[key]) or isinstance(value, bool):
            raise ConfigError(f"{path}: {key} is not {_KINDS[_TYPES[key]]}: {value!r}")
        if value == []:
            raise ConfigError(f"{path}: {key} is empty", hint="leave it out, or list something")
    if document.get("repeats", 1) < 1:
        raise ConfigError(f"{path}: repeats is not 1 or more: {document['repeats']}")
    return _Reader(path, document).plan()


@dataclass(frozen=True)
class _Reader:
    """Reads the parts of a plan, and says where in the file something is wrong."""

    path: str
    document: Mapping[str, Any]

    def plan(self) -> Plan:
        rows = self._rows()
        targets = self._targets(rows)
        kinds = (targets, self._states(), self._workloads(), rows)
        sobol = self.document.get("sobol")
        return Plan(
            source=self.path,
            targets=tuple(dict.fromkeys(str(part.target) for part in targets or rows)),
            seed=self.document.get("seed"),
            repeats=self.document.get("repeats", 1),
            workload=self._options("workload", self.document.get("workload", {})),
            parts=tuple(parts for parts in kinds if parts),
            sobol=None if sobol is None else read_sobol(self.path, sobol, self._keys),
            grid=self._lists("grid", self._options("grid", self.document.get("grid", {}))),
            sets=self._lists("set", self._keys("set", self.document.get("set", {}))),
        )

    def _targets(self, rows: Sequence[Part]) -> tuple[Part, ...]:
        """Give the drives; none where every row of the list has its own."""
        targets = self.document.get("targets", [])
        if not all(isinstance(target, str) for target in targets):
            raise ConfigError(
                f"{self.path}: targets is not a list of targets",
                hint='write targets = ["sim:mqsim-8g"]',
            )
        if not targets and not (rows and all(row.target for row in rows)):
            raise ConfigError(
                f"{self.path}: targets is missing: what shall be measured?",
                hint='write targets = ["sim:mqsim-8g"], or a target in every row of [[list]]',
            )
        return tuple(Part(target=target, where="targets") for target in targets)

    def _states(self) -> tuple[Part, ...]:
        """Give the states: one for all is not what tells runs apart, several are."""
        if "state" in self.document and "states" in self.document:
            raise ConfigError(
                f"{self.path}: state and states are both there", hint="leave one of them out"
            )
        if "state" in self.document:
            return (Part(state=self._state("state", self.document["state"]), where="state"),)
        return tuple(
            Part(state=self._state("states", state), varied={"state": state}, where="states")
            for state in self.document.get("states", [])
        )

    def _state(self, where: str, state: Any) -> str | None:
        if not isinstance(state, str):
            raise ConfigError(
                f"{self.path}: {where}: {state!r} is not a state",
                hint='write a text, as in "random" or "steady:1g"',
            )
        try:
            return canonical_state(state)
        except UsageError as error:
            raise ConfigError(f"{self.path}: {where}: {error.message}", hint=error.hint) from error

    def _workloads(self) -> tuple[Part, ...]:
        """Give the workloads that have a name."""
        parts: dict[str, Part] = {}
        for number, table in enumerate(self.document.get("workloads", []), start=1):
            where = f"workloads, number {number}"
            self._require_table(where, table, 'name = "reader" and rw = "randread"')
            name = table.get("name")
            if not isinstance(name, str) or not name or name in parts:
                said = "is there twice" if name in parts else "is no name"
                raise ConfigError(
                    f"{self.path}: {where}: {name!r} {said}",
                    hint='each of [[workloads]] has a name of its own, as in name = "reader"',
                )
            own = {key: value for key, value in table.items() if key != "name"}
            where = f"workload {name!r}"
            parts[name] = Part(
                options=self._options(where, own), varied={"workload": name}, where=where
            )
        return tuple(parts.values())

    def _rows(self) -> tuple[Part, ...]:
        """Give the rows of the list."""
        parts = []
        for number, table in enumerate(self.document.get("list", []), start=1):
            where = f"list, row {number}"
            self._require_table(where, table, 'bs = "4k" and iodepth = 8')
            row = dict(table)
            target, state = row.pop("target", None), row.pop("state", None)
            sets = row.pop("set", {})
            if target is not None and not isinstance(target, str):
                raise ConfigError(f"{self.path}: {where}: target is not a text: {target!r}")
            if not isinstance(sets, dict):
                raise ConfigError(f"{self.path}: {where}: set is not a table: {sets!r}")
            options = self._options(where, row)
            sets = self._keys(f"{where}: set", sets)
            varied = options | sets if state is None else {"state": state} | options | sets
            state = None if state is None else self._state(where, state)
            parts.append(Part(target, state, options, sets, varied, where))
        return tuple(parts)

    def _require_table(self, where: str, table: Any, example: str) -> None:
        if not isinstance(table, dict) or not table:
            raise ConfigError(
                f"{self.path}: {where} is not a table: {table!r}",
                hint=f"write it as [[{where.partition(',')[0]}]], with {example} below",
            )

    def _options(self, where: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Call options by their first names."""
        return standard(options, lambda name: f"{self.path}: {where}.{name}")

    def _keys(self, where: str, sets: dict[str, Any]) -> dict[str, Any]:
        """Refuse a key that no drive has, before anything is run with it."""
        if sets:
            known = [each["key"] for each in drive_keys()]
            for key in sets:
                if key not in known:
                    raise ConfigError(
                        f"{self.path}: {where}: no drive has a key {key!r}",
                        hint=nearest(key, known, listed_by="ssdscope drives keys"),
                    )
        return sets

    def _lists(self, table: str, values: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
        """Take lists as they are, and write ranges out."""
        return {
            key: listed(f"{self.path}: {table}.{key}", key, value) for key, value in values.items()
        }


def listed(where: str, key: str, value: Any) -> Sequence[Any]:
    """Take a list as it is, and write a range out.

    Raises
    ------
    ConfigError
        If it is neither.
    """
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

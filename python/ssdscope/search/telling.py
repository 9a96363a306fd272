"""What a search found, for scripts and as a drive file."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ssdscope.results.marks import MADE_BY
from ssdscope.search.limits import shown
from ssdscope.search.plan import Plan
from ssdscope.search.running import Found, Row
from ssdscope.search.space import combinations, dotted
from ssdscope.search.trials import (
    DONE,
    FAILED,
    REFUSED,
    STOPPED_EARLY,
    TOO_DEAR,
    Trial,
    keeps_limits,
)
from ssdscope.targets.drive_writer import drive_toml
from ssdscope.targets.opening import STATES

STATUSES = (DONE, STOPPED_EARLY, FAILED, REFUSED, TOO_DEAR)


def to_json(found: Found) -> dict[str, Any]:
    """Give everything under the keys of the JSON output."""
    numbers = {id(each): place for place, each in enumerate(found.trials, start=1)}

    def told(trial: Trial, again: Trial | None = None) -> dict[str, Any]:
        return {
            "trial": numbers[id(trial)],
            "set": trial.configuration,
            "figures": dict(trial.figures),
            "again": None if again is None else dict(again.figures),
        }

    return {
        "search": plan_json(found.plan),
        "trials": {status: found.count(status) for status in STATUSES},
        "best": [told(row.trial, row.again) for row in found.best],
        "nearest": None if found.nearest is None else told(found.nearest),
        "reasons": dict(reasons(found)),
        "exhausted": found.exhausted,
        "out": found.out,
        "table": found.table,
    }


def plan_json(plan: Plan) -> dict[str, Any]:
    """Give what is searched."""
    size = combinations(plan.space)
    return {
        "plan": plan.source,
        "target": plan.target,
        "state": plan.state,
        "trials": plan.trials,
        "minimise": list(plan.minimise),
        "limits": {each.of: each.bound for each in plan.limits},
        "space": {knob.key: str(knob) for knob in plan.space},
        "configurations": int(size) if math.isfinite(size) else None,
    }


def reasons(found: Found) -> Counter[str]:
    """Count why proposals were refused, and runs failed."""
    return Counter(each.reason or "" for each in found.trials if each.status in (REFUSED, FAILED))


def broken_again(found: Found) -> list[Row]:
    """Give the best that broke a limit, or failed, when they were run again."""
    return [
        row
        for row in found.best
        if row.again is not None and not keeps_limits(found.plan, row.again)
    ]


def drive_file(found: Found, row: Row) -> str:
    """Write one of the best as a drive file: a target for every other command.

    Raises
    ------
    ConfigError
        If the drive could not work.
    """
    plan, trial = found.plan, row.trial
    values: dict[str, Any] = {
        key: each for key, each in dotted(trial.drive or {}) if each is not None
    }
    values["description"] = f"{values.get('description', plan.target)}; found by a search"
    if plan.state in STATES:
        values["default_state"] = plan.state
    header = [
        f"{MADE_BY} search {plan.source} --seed {found.seed}",
        f"from {plan.target}, with what the search found:",
        *(f"  {key} = {value}" for key, value in trial.configuration.items()),
        *(f"{name}: {_with_again(name, trial.figures[name], row)}" for name in trial.figures),
    ]
    return drive_toml(values, header)


def _with_again(name: str, value: float, row: Row) -> str:
    again: Mapping[str, float] = row.again.figures if row.again is not None else {}
    text = shown(name, value)
    if name not in again or again[name] == value:
        return text
    return f"{text}, and {shown(name, again[name])} with another seed"

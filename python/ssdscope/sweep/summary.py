"""The results of a sweep, a row per combination: means over its seeds, with intervals."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdscope import stats
from ssdscope.errors import UsageError, nearest
from ssdscope.sweep.journal import read_outcome
from ssdscope.sweep.table import flattened

USUAL = ("iops", "latency_ns.mean", "latency_ns.p99")
"""Of each direction, where nothing else is asked for."""
_NO_FIGURES = ("target", "workload")
HINT = "a sweep's results are what `ssdscope sweep FILE.toml -O results.jsonl` writes"


@dataclass
class Combination:
    """What its runs came to.

    Attributes
    ----------
    varied
        What tells it from others: target, options, keys of the drive.
    values
        By metric: one value per seed.
    failed
        Reasons of runs that failed.
    """

    varied: dict[str, Any]
    values: dict[str, list[float]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def mean(self, metric: str) -> stats.MeanInterval | None:
        """Give the mean over the seeds with its 95 % interval (Student), if there is any."""
        values = self.values.get(metric)
        return stats.student(values) if values else None

    def to_json(self, metrics: Sequence[str]) -> dict[str, Any]:
        """Give a row."""
        return {
            "varied": self.varied,
            "runs": max((len(each) for each in self.values.values()), default=0),
            "failed": self.failed,
            "metrics": {name: _interval(self.mean(name)) for name in metrics},
        }


def read_results(path: str) -> list[dict[str, Any]]:
    """Read the outcomes of a sweep in the order of its plan: of a point run again, the last.

    Raises
    ------
    UsageError
        If the file cannot be read or is no journal of a sweep.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text", hint=HINT) from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", hint=HINT) from None
    latest: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, start=1):
        document = read_outcome(line)
        if document is None:
            if number == len(lines) > 1:
                break  # the line that was begun when the machine stopped
            raise UsageError(f"{path}, line {number} is not an outcome of a sweep", hint=HINT)
        latest[document["key"]] = document
    if not latest:
        raise UsageError(f"{path} holds no outcome", hint=HINT)
    return sorted(latest.values(), key=lambda document: int(document.get("place", 0)))


def combined(outcomes: Sequence[Mapping[str, Any]]) -> list[Combination]:
    """Put the seeds of each combination together, in the order of the plan."""
    found: dict[str, Combination] = {}
    for each in outcomes:
        point = each["point"]
        varied = {"target": point["target"]} | point["varied"]
        one = found.setdefault(json.dumps(varied), Combination(varied))
        if each["record"] is None:
            one.failed.append(str(each["error"]))
            continue
        for name, value in _numbers(each["record"]).items():
            one.values.setdefault(name, []).append(value)
    return list(found.values())


def varied_names(combinations: Sequence[Combination]) -> list[str]:
    """Name what differs between combinations."""
    names = dict.fromkeys(name for each in combinations for name in each.varied)
    return [
        name
        for name in names
        if len({json.dumps(each.varied.get(name)) for each in combinations}) > 1
    ]


def chosen_metrics(combinations: Sequence[Combination], asked: Sequence[str]) -> list[str]:
    """Give the metrics to show: those that are asked for, or the usual ones that are there.

    Raises
    ------
    UsageError
        If one that is asked for is in no run.
    """
    there = list(dict.fromkeys(name for each in combinations for name in each.values))
    if asked and not there:
        raise UsageError(
            "no run has any figure: none has succeeded",
            hint="ssdscope sweep summary without --metric lists the reasons",
        )
    for name in asked:
        if name not in there:
            raise UsageError(f"no run has {name!r}", hint=nearest(name, there))
    if asked:
        return list(asked)
    usual = [f"{way}.{name}" for way in ("read", "write") for name in USUAL]
    return [name for name in (*usual, "counters.waf") if name in there]


def _numbers(record: Mapping[str, Any]) -> dict[str, float]:
    """Give the numbers of a record under dotted names; the target and the plan are none."""
    found = flattened({key: each for key, each in record.items() if key not in _NO_FIGURES})
    return {
        name: float(each)
        for name, each in found.items()
        if isinstance(each, int | float) and not isinstance(each, bool)
    }


def _interval(mean: stats.MeanInterval | None) -> dict[str, float | None] | None:
    return None if mean is None else {"mean": mean.mean, "low": mean.low, "high": mean.high}

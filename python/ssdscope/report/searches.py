"""What a search found, as a table: a row for each of the best, with a run again beside it."""

from ssdscope.report.parts import Table
from ssdscope.search.figures import COSTS
from ssdscope.search.limits import shown
from ssdscope.search.running import Found
from ssdscope.search.telling import STATUSES
from ssdscope.search.trials import DONE, Trial
from ssdscope.units import format_number


def counts(found: Found) -> str:
    """Count the trials by what became of them."""
    told = [
        f"{found.count(status)} {status}"
        for status in STATUSES
        if found.count(status) or status == DONE
    ]
    return ", ".join(told)


def best(found: Found) -> Table:
    """Lay out the best: keys, then figures; those of a run with a run again beside them."""
    if not found.best:
        return Table(("row",), [])
    keys = [knob.key for knob in found.plan.space]
    names = list(found.best[0].trial.figures)
    header = ["row", *keys]
    for name in names:
        header += [name] if name in COSTS else [name, "again"]
    rows = []
    for number, each in enumerate(found.best, start=1):
        row = [str(number), *values(each.trial, keys)]
        for name in names:
            row.append(figure(each.trial, name))
            row += [] if name in COSTS else [figure(each.again, name)]
        rows.append(tuple(row))
    return Table(tuple(header), rows)


def values(trial: Trial, keys: list[str]) -> list[str]:
    """Write what a trial was configured with."""
    given = (trial.configuration[key] for key in keys)
    return [str(each) if isinstance(each, bool | str) else format_number(each) for each in given]


def figure(trial: Trial | None, name: str) -> str:
    """Write a figure of a trial with its unit."""
    if trial is None or name not in trial.figures:
        return "-"
    return shown(name, trial.figures[name])

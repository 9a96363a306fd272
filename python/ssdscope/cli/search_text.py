"""The words and tables of ``ssdscope search``."""

from typing import TYPE_CHECKING

from ssdscope.cli.layout import table
from ssdscope.units import format_number

if TYPE_CHECKING:
    from ssdscope.search import Found, Plan
    from ssdscope.search.running import Row
    from ssdscope.search.trials import Trial


def plan_text(plan: "Plan") -> str:
    """Write what would be searched."""
    from ssdscope.search.space import combinations

    size = combinations(plan.space)
    many = "any number of" if size == float("inf") else f"{size:,.0f}"
    state = f", {plan.state}" if plan.state else ""
    lines = [
        f"{plan.target}{state}: {plan.trials} trials of {many} configurations",
        f"minimise {', '.join(plan.minimise)}",
        *(f"limit {each.of}: {each}" for each in plan.limits),
    ]
    rows = [(knob.key, str(knob)) for knob in plan.space]
    return "\n".join([*lines, "", table(("key", "values"), rows, left=2)])


def found_text(found: "Found") -> str:
    """Write how many trials there were, and the best; or the nearest."""
    counts = [
        f"{found.count(status)} {status}"
        for status in ("done", "stopped", "failed", "refused", "too dear")
        if found.count(status) or status == "done"
    ]
    lines = [f"{found.plan.target}: {', '.join(counts)}"]
    if found.exhausted:
        lines.append("there was nothing new to try")
    if found.best:
        front = len(found.plan.minimise) > 1
        lines.append(f"the front of {len(found.best)}:" if front else "the best:")
        return "\n".join([*lines, "", _best_table(found)])
    if found.nearest is not None:
        table_text = _nearest_table(found, found.nearest)
        lines += ["nothing keeps all limits; the nearest:", "", table_text]
    return "\n".join(lines)


def words(trial: "Trial") -> str:
    """Write the configuration of a trial in a line."""
    return " ".join(f"{key}={value}" for key, value in trial.configuration.items())


def why_nothing(found: "Found") -> str:
    """Say in a line why there is no result."""
    if found.nearest is None:
        return "no configuration could be run"
    from ssdscope.search.limits import shown

    broken = [
        f"{limit.of} is {shown(limit.of, found.nearest.figures[limit.of])}, the limit is {limit}"
        for limit in found.plan.limits
        if limit.of in found.nearest.figures and limit.excess(found.nearest.figures[limit.of])
    ]
    return f"nothing keeps all limits; of the nearest {'; '.join(broken)}"


def _best_table(found: "Found") -> str:
    """Lay out the best: keys, then figures; those of a run with a run again beside them."""
    from ssdscope.search.figures import COSTS

    keys = [knob.key for knob in found.plan.space]
    figures = list(found.best[0].trial.figures)
    header = ["row", *keys]
    for name in figures:
        header += [name] if name in COSTS else [name, "again"]
    rows = [
        [str(number), *_values(each.trial, keys), *_figures(each, figures)]
        for number, each in enumerate(found.best, start=1)
    ]
    if len(rows) == 1:  # one row reads better from top to bottom
        return table(("", "best"), list(zip(header[1:], rows[0][1:], strict=True)))
    return table(header, rows, left=1 + len(keys))


def _values(trial: "Trial", keys: list[str]) -> list[str]:
    values = (trial.configuration[key] for key in keys)
    return [str(each) if isinstance(each, bool | str) else format_number(each) for each in values]


def _figures(row: "Row", names: list[str]) -> list[str]:
    from ssdscope.search.figures import COSTS
    from ssdscope.search.limits import shown

    cells = []
    for name in names:
        cells.append(shown(name, row.trial.figures[name]))
        if name not in COSTS:
            again = row.again.figures.get(name) if row.again is not None else None
            cells.append("-" if again is None else shown(name, again))
    return cells


def _nearest_table(found: "Found", nearest: "Trial") -> str:
    from ssdscope.search.limits import shown

    keys = [knob.key for knob in found.plan.space]
    bounds = {each.of: str(each) for each in found.plan.limits}
    rows = [(key, value, "") for key, value in zip(keys, _values(nearest, keys), strict=True)]
    rows += [
        (name, shown(name, value), bounds.get(name, "")) for name, value in nearest.figures.items()
    ]
    return table(("", "nearest", "limit"), rows)

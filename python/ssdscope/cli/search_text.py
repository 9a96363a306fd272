"""The words and tables of ``ssdscope search``."""

from typing import TYPE_CHECKING

from ssdscope.cli.layout import table
from ssdscope.units import format_number

if TYPE_CHECKING:
    from ssdscope.search import Found, Plan
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
    if len(found.best) == 1:
        (row,) = found.best
        return "\n".join([*lines, "the best:", "", _one_table(found, "best", row.trial, row.again)])
    if found.best:
        return "\n".join([*lines, f"the front of {len(found.best)}:", "", _front_table(found)])
    if found.nearest is not None:
        table_text = _one_table(found, "nearest", found.nearest)
        lines += ["nothing keeps all limits; the nearest:", "", table_text]
    return "\n".join(lines)


def words(trial: "Trial") -> str:
    """Write the configuration of a trial in a line."""
    return " ".join(f"{key}={value}" for key, value in trial.configuration.items())


def why_nothing(found: "Found") -> tuple[str, str]:
    """Say why there is no result, and what to do."""
    if found.nearest is None:
        return "no configuration could be run", "the reasons stand above"
    from ssdscope.search.limits import shown

    broken = [
        f"{limit.of} is {shown(limit.of, found.nearest.figures[limit.of])}, the limit is {limit}"
        for limit in found.plan.limits
        if limit.of in found.nearest.figures and limit.excess(found.nearest.figures[limit.of])
    ]
    return (
        f"nothing keeps all limits; of the nearest {'; '.join(broken)}",
        "loosen that limit, widen the space, or try more configurations (--trials)",
    )


def _front_table(found: "Found") -> str:
    """Lay out a front: keys, then figures; those of a run with a run again beside them."""
    keys = [knob.key for knob in found.plan.space]
    figures = list(found.best[0].trial.figures)
    header = ["row", *keys]
    for name in figures:
        header += [name] if _is_cost(name) else [name, "again"]
    rows = []
    for number, each in enumerate(found.best, start=1):
        row = [str(number), *_values(each.trial, keys)]
        for name in figures:
            row.append(_figure(each.trial, name))
            row += [] if _is_cost(name) else [_figure(each.again, name)]
        rows.append(row)
    return table(header, rows, left=1 + len(keys))


def _one_table(found: "Found", heading: str, trial: "Trial", again: "Trial | None" = None) -> str:
    """Lay out one configuration: a line for each key, then for each figure with its limit."""
    keys = [knob.key for knob in found.plan.space]
    bounds = {each.of: str(each) for each in found.plan.limits}
    rows = [(key, value, "", "") for key, value in zip(keys, _values(trial, keys), strict=True)]
    for name in trial.figures:
        other = "" if _is_cost(name) or again is None else _figure(again, name)
        rows.append((name, _figure(trial, name), other, bounds.get(name, "")))
    if again is None:
        return table(("", heading, "limit"), [(row[0], row[1], row[3]) for row in rows])
    return table(("", heading, "again", "limit"), rows)


def _is_cost(name: str) -> bool:
    """Say whether a figure is the same with every seed."""
    from ssdscope.search.figures import COSTS

    return name in COSTS


def _values(trial: "Trial", keys: list[str]) -> list[str]:
    values = (trial.configuration[key] for key in keys)
    return [str(each) if isinstance(each, bool | str) else format_number(each) for each in values]


def _figure(trial: "Trial | None", name: str) -> str:
    from ssdscope.search.limits import shown

    if trial is None or name not in trial.figures:
        return "-"
    return shown(name, trial.figures[name])

"""The words and tables of ``ssdscope search``."""

from typing import TYPE_CHECKING

from ssdscope.cli.layout import table

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
    from ssdscope.report.searches import best, counts

    lines = [f"{found.plan.target}: {counts(found)}"]
    if found.exhausted:
        lines.append("there was nothing new to try")
    if len(found.best) == 1:
        (row,) = found.best
        return "\n".join([*lines, "the best:", "", _one_table(found, "best", row.trial, row.again)])
    if found.best:
        front = best(found)
        shown = table(front.head, list(front.rows), left=1 + len(found.plan.space))
        return "\n".join([*lines, f"the front of {len(found.best)}:", "", shown])
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


def _one_table(found: "Found", heading: str, trial: "Trial", again: "Trial | None" = None) -> str:
    """Lay out one configuration: a line for each key, then for each figure with its limit."""
    from ssdscope.report.searches import figure, values

    keys = [knob.key for knob in found.plan.space]
    bounds = {each.of: str(each) for each in found.plan.limits}
    rows = [(key, value, "", "") for key, value in zip(keys, values(trial, keys), strict=True)]
    for name in trial.figures:
        other = "" if _is_cost(name) or again is None else figure(again, name)
        rows.append((name, figure(trial, name), other, bounds.get(name, "")))
    if again is None:
        return table(("", heading, "limit"), [(row[0], row[1], row[3]) for row in rows])
    return table(("", heading, "again", "limit"), rows)


def _is_cost(name: str) -> bool:
    """Say whether a figure is the same with every seed."""
    from ssdscope.search.figures import COSTS

    return name in COSTS

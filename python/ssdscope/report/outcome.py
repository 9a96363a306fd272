"""What a stage came to, in a line for whoever waits; and what of it was left out, and why."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ssdscope.findings import Detected, Findings
from ssdscope.probes.budget import Budget
from ssdscope.report import words
from ssdscope.report.parts import Document, best_known, measured
from ssdscope.report.untried import tried
from ssdscope.targets.metered import TIME_OVER

SEPARATOR = " · "
NAMED = 6
"""More names than so many are counted."""
FIRST = 6
"""Figures that are looked for first (`order.first`), half of them of writes."""
SMALL = {"block_bytes": 4096, "iodepth": 1}


def found_so_far(found: Findings) -> str:
    """Say what was detected, the newest first: merge unit 4 MiB · write buffer 128 KiB."""
    detected = [each for each in found.values() if isinstance(each, Detected)]
    return SEPARATOR.join(
        f"{words.in_a_sentence(each.about.name)} {words.value(each)}" for each in reversed(detected)
    )


def doubts(document: Document) -> list[str]:
    """Say why a report is not to be trusted, in a sentence each; nothing of one that is.

    What is looked for first is only a bound, as the machine was busy; or nothing could be told.
    """
    said = []
    rows = [row for row in document["performance"]["points"] if row["failure"] is None]
    first = rows[: FIRST if document["target"]["info"]["writable"] else FIRST // 2]
    if held := [row for row in first if row.get("waited_share")]:
        said.append(
            f"the machine was busy: {len(held)} of the first {len(first)} figures are bounds, not "
            "values"
        )
    told = [each for each in document["findings"] if each["outcome"] != "undetectable"]
    if not rows and not told:
        said.append("nothing at all could be told of this target")
    return said


def line(name: str, document: Document) -> str | None:
    """Say in a line what a stage came to; None of one that had nothing to do."""
    return _LINES[name](document)


def left_out(name: str, document: Document, budget: Budget) -> list[str]:
    """Say what a stage left out of what it is for, and why.

    Parameters
    ----------
    name
        Of the stage.
    document
        As the stage left it.
    budget
        Of the whole.

    Returns
    -------
    list of str
        A part of a sentence each; empty where nothing was left out.
    """
    look = _LEFT_OUT.get(name)
    return [] if look is None else [each for each in look(document, budget) if each]


def _overview(document: Document) -> str | None:
    rows = [row for row in document["performance"]["points"] if row["failure"] is None]
    return SEPARATOR.join(_first_figure(row) for row in rows) or None


def _first_figure(row: Mapping[str, Any]) -> str:
    """Tell what is looked for first: how long one request takes, or how many are served."""
    what = f"{words.pattern(row['rw'])} of {words.size(row['block_bytes'])}"
    if row["rw"] in ("read", "write"):
        return f"{what} {words.at_least(words.bandwidth(row['bandwidth_bytes_per_s']), row)}"
    if row["iodepth"] == 1:
        return f"{what} {words.at_most(words.time(row['mean_ns']), row)}"
    return f"at depth {row['iodepth']} {words.at_least(words.iops(row['iops']) + ' IOPS', row)}"


def _findings(document: Document) -> str:
    found = Findings.from_json(document["findings"])
    counts = Counter(each.outcome for each in found.values())
    known = found_so_far(found)
    told = f"{counts['detected']} of {len(found)} properties detected"
    return f"{told}: {known}" if known else told


def _performance(document: Document) -> str:
    rows = document["performance"]["points"]
    served = [row for row in rows if row["failure"] is None]
    told = [f"{len(served)} workloads measured"]
    for rw in ("randread", "randwrite"):
        for row in measured(document, rw=rw, **SMALL)[:1]:
            sort = "" if rw == "randread" else f" ({row['sort']})"
            took = words.at_most(words.time(row["mean_ns"]), row)
            told.append(f"{words.pattern(rw)} of 4 KiB {took}{sort}")
    return SEPARATOR.join(told)


def _sustained(document: Document) -> str | None:
    rows = document["performance"]["sustained"]
    if not rows:
        return None
    reached = sum(row["reached"] for row in rows)
    told = [f"{reached} of {len(rows)} kinds of writes became steady"]
    small = best_known(measured(document, rw="randwrite", **SMALL))
    told += [
        f"random writes of 4 KiB {words.time(row['mean_ns'])}"
        for row in small
        if row["sort"] == "sustained"
    ]
    return SEPARATOR.join(told)


def _distribution(document: Document) -> str | None:
    rows = [each for each in document["performance"]["distributions"] if "failure" not in each]
    if not rows:
        return None
    tails = ((each["name"], (each["percentiles_ns"] or {}).get("99")) for each in rows)
    return SEPARATOR.join(f"p99 of {name} {words.time(tail)}" for name, tail in tails if tail)


def _trace(document: Document) -> str | None:
    trace = document["performance"]["trace"]
    if trace is None or "failure" in trace:
        return None
    return f"{trace['requests']:,} requests of {trace['name']} replayed"


def _models(document: Document) -> str | None:
    for each in document["models"]:
        rows = [row for row in each["rows"] if row["name"] == each["name"]]
        held = next((row for row in rows if row["split"] == "off-grid"), None)
        off = "" if held is None else f", off by {words.percent(held['mre'])} on unseen runs"
        return f"{each['name']} of {each['usable']} runs{off}"
    return None


def _twin(document: Document) -> str | None:
    errors = (document["twin"] or {}).get("errors")
    if not errors:
        return None
    return f"off by {words.percent(errors['median_ape'])} in the median on unseen workloads"


def _advice(document: Document) -> str | None:
    rows = document["advice"]
    given = sum(each["outcome"] == "set" for each in rows)
    return f"{given} of {len(rows)} settings" if rows else None


_LINES: dict[str, Callable[[Document], str | None]] = {
    "overview": _overview,
    "findings": _findings,
    "performance": _performance,
    "sustained": _sustained,
    "distribution": _distribution,
    "trace": _trace,
    "models": _models,
    "twin": _twin,
    "advice": _advice,
}


def _properties_left(document: Document, budget: Budget) -> Iterable[str]:
    reached = tried(Findings.from_json(document["findings"]), budget)
    if reached.not_tried:
        yield f"{_some(list(reached.not_tried))}: {reached.in_words()}"


def _points_left(document: Document, _budget: Budget) -> Iterable[str]:
    rows = document["performance"]["points"]
    yield from _failed(rows, "workloads")
    if held := [row for row in rows if row.get("waited_share")]:
        share = max(row["waited_share"] for row in held)
        yield (
            f"exact figures of {len(held)} workloads, which are bounds: the machine was busy, and "
            f"we waited for a core for up to {words.percent(share)} of the time"
        )


def _rest_left(document: Document, budget: Budget) -> Iterable[str]:
    info, rows = document["target"]["info"], document["performance"]["sustained"]
    if not info["writable"]:
        yield "what it keeps up of writes: nothing may be written"
    elif not rows and info["clock"] == "wall" and not budget.heavy and info["kind"] != "null":
        yield "what it keeps up of writes: only with --budget full"
    unsteady = sum(not row["reached"] and row["failure"] is None for row in rows)
    if unsteady:
        yield f"{unsteady} kinds of writes: not steady within what may be spent"
    yield from _failed(rows, "kinds of writes")


def _distributions_left(document: Document, _budget: Budget) -> Iterable[str]:
    yield from _failed(document["performance"]["distributions"], "distributions")


def _trace_left(document: Document, _budget: Budget) -> Iterable[str]:
    trace = document["performance"]["trace"] or {}
    if "failure" in trace:
        yield f"the trace: {trace['failure']}"
    elif trace.get("cut_off"):
        yield "the end of the trace: the time of this stage was over"


def _model_left(document: Document, _budget: Budget) -> Iterable[str]:
    if not document["models"]:
        yield "the model: no drive, or too few runs that can be used"
    elif document["models"][0].get("cut_short"):
        yield f"further runs than {document['models'][0]['runs']}: {TIME_OVER}"


def _twin_left(document: Document, _budget: Budget) -> Iterable[str]:
    if reason := (document["twin"] or {}).get("reason"):
        yield f"the twin: {reason}"
    elif (document["twin"] or {}).get("cut_short"):
        yield f"likenesses that might come nearer: {TIME_OVER}"


_LEFT_OUT: dict[str, Callable[[Document, Budget], Iterable[str]]] = {
    "findings": _properties_left,
    "performance": _points_left,
    "sustained": _rest_left,
    "distribution": _distributions_left,
    "trace": _trace_left,
    "models": _model_left,
    "twin": _twin_left,
}


def _failed(rows: Iterable[Mapping[str, Any]], what: str) -> Iterable[str]:
    """Count rows that hold no figures, by the reason."""
    reasons = Counter(row["failure"] for row in rows if row.get("failure") is not None)
    for reason, count in reasons.items():
        yield f"{count} {what}: {reason}"


def _some(names: list[str]) -> str:
    """Name a few, and count many."""
    if len(names) <= NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"

"""``ssdscope sweep summary`` and ``sweep plot``: what a sweep came to."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from ssdscope.cli import options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.errors import EXIT_DONE, UsageError, nearest

if TYPE_CHECKING:
    from ssdscope.sweep.summary import Combination

SUMMARY_EXAMPLES = """
A row per combination, means over its seeds:
  ssdscope sweep summary sizes.jsonl
Other figures of the runs, for a script:
  ssdscope sweep summary sizes.jsonl --metric write.iops -o json
"""
PLOT_EXAMPLES = """
Latency against size, a line per depth:
  ssdscope sweep plot sizes.jsonl -O sizes.svg --x bs --metric write.latency_ns.mean
The first metric against what was varied first:
  ssdscope sweep plot sizes.jsonl -O sizes.png
"""
ENDINGS = (".svg", ".png", ".pdf")
ROUNDING = 1e-9

Results = Annotated[
    str,
    typer.Argument(metavar="RESULTS.jsonl", help="What a sweep wrote, or is still writing."),
    Input(),
]


def register(app: typer.Typer) -> None:
    """Add both commands."""
    command(app, short="Show what a sweep came to.", examples=SUMMARY_EXAMPLES)(summary)
    command(app, short="Draw what a sweep came to.", examples=PLOT_EXAMPLES)(plot)


def summary(
    results: Results,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="KEY",
            help="A figure of a run under its keys in the JSON; repeatable.",
            show_default="IOPS, latency, WAF",
        ),
    ] = None,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Show a row per combination: means over its seeds, with 95 % intervals of the mean.

    An interval needs two seeds or more (`repeats` of the plan). Runs that failed are listed with
    their reason.
    """
    from ssdscope.results.record import envelope
    from ssdscope.sweep import summary as summing

    combinations = summing.combined(summing.read_results(results))
    metrics = summing.chosen_metrics(combinations, metric or ())
    if output_format == "json":
        rows = [each.to_json(metrics) for each in combinations]
        emit_json({**envelope(), "results": results, "combinations": rows})
        return EXIT_DONE
    names = summing.varied_names(combinations) or ["target"]
    lines = [_row(each, names, metrics) for each in combinations]
    headings = [name.replace("latency_ns", "latency_us") for name in metrics]
    emit(table((*names, "runs", *headings), lines, left=len(names)))
    for each in combinations:
        for reason, count in Counter(each.failed).items():
            label = " ".join(f"{name}={each.varied.get(name)}" for name in names)
            note(f"{label}: {count} failed: {reason}")
    return EXIT_DONE


def plot(
    context: typer.Context,
    results: Results,
    out: Annotated[
        str,
        typer.Option("--out", "-O", metavar="FILE.svg", help="Where it goes: .svg, .png or .pdf."),
        Output(ENDINGS),
    ] = "sweep.svg",
    x: Annotated[
        str | None,
        typer.Option(
            "--x",
            metavar="NAME",
            help="What goes along the axis: a name that was varied.",
            show_default="the first one",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="KEY",
            help="A figure of a run under its keys in the JSON.",
            show_default="the first of the summary",
        ),
    ] = None,
    force: options.Force = False,
) -> int:
    """Draw a figure of the runs against something that was varied, a line per combination."""
    from ssdscope.plots import LIGHT, save
    from ssdscope.plots.sweeps import against, lines_of
    from ssdscope.sweep import summary as summing

    guard(context, force=force)
    combinations = summing.combined(summing.read_results(results))
    metrics = summing.chosen_metrics(combinations, [metric] if metric else ())
    names = summing.varied_names(combinations)
    if not metrics or not names:
        raise UsageError("nothing was varied, or no run succeeded: there is nothing to draw")
    if x is not None and x not in names:
        raise UsageError(f"--x: {x!r} was not varied", hint=nearest(x, names))
    along = x or names[0]
    rows = [
        each.to_json(metrics[:1]) | {"varied": {name: each.varied.get(name) for name in names}}
        for each in combinations
    ]
    save(against(lines_of(rows, metrics[0], along), along, metrics[0], LIGHT), out)
    emit(out)
    return EXIT_DONE


def _row(each: "Combination", names: list[str], metrics: list[str]) -> list[str]:
    told = each.to_json(metrics)
    values = [_shown(told["metrics"][name], 1e3 if "latency_ns" in name else 1) for name in metrics]
    return [str(each.varied.get(name, "-")) for name in names] + [str(told["runs"]), *values]


def _shown(interval: dict[str, float] | None, over: float) -> str:
    """Write a mean with half the width of its interval, if that is known and not nothing."""
    if interval is None:
        return "-"
    mean, half = interval["mean"] / over, (interval["high"] - interval["mean"]) / over
    known = half < float("inf")
    width = f" ± {half:,.3g}" if known and half > ROUNDING * abs(mean) else ""
    return f"{mean:,.5g}{width}"

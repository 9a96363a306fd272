"""``ssdscope sweep summary`` and ``sweep plot``: what a sweep came to."""

from collections import Counter
from typing import Annotated

import typer

from ssdscope.cli import options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.errors import EXIT_DONE

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
    from ssdscope.report import sweeps
    from ssdscope.results.record import envelope
    from ssdscope.sweep import summary as summing

    combinations = summing.combined(summing.read_results(results))
    metrics = summing.chosen_metrics(combinations, metric or ())
    if output_format == "json":
        rows = [each.to_json(metrics) for each in combinations]
        emit_json({**envelope(), "results": results, "combinations": rows})
        return EXIT_DONE
    names = sweeps.names(combinations)
    told = sweeps.table(combinations, metrics)
    emit(table(told.head, list(told.rows), left=len(names)))
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
    from ssdscope.plots.sweeps import Wanted, picture
    from ssdscope.sweep import summary as summing

    guard(context, force=force)
    combinations = summing.combined(summing.read_results(results))
    save(picture(combinations, Wanted.of(combinations, metric, x), LIGHT), out)
    emit(out)
    return EXIT_DONE

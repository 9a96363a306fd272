"""``ssdscope model predict``: what a drive does with a workload."""

from typing import Annotated, Any

import typer

from ssdscope.cli import options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input
from ssdscope.errors import EXIT_DONE, EXIT_NOT_TRUSTWORTHY

EXAMPLES = """
A mix of small writes and larger reads:
  ssdscope model predict ssd-i.json --wr-ratio 0.3 --q-dep 16 --wr-size 4k --rd-size 64k
Random reads, as JSON:
  ssdscope model predict ssd-i.json --q-dep 32 --rd-size 4k --rd-rand 100% -o json
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    short = "Predict what a drive does with a workload."
    command(app, short=short, examples=EXAMPLES)(predict)


def _share(name: str, text: str) -> Any:
    text = f"{text}: 0.3 or 30%."
    return typer.Option(f"--{name}", metavar="SHARE", help=text, show_default="0, none")


def _size(name: str, text: str, default: str) -> Any:
    return typer.Option(f"--{name}", metavar="SIZE", help=text, show_default=default)


def predict(
    model: Annotated[
        str, typer.Argument(metavar="MODEL.json", help="A model that model fit wrote."), Input()
    ],
    wr_ratio: Annotated[str, _share("wr-ratio", "Writes among requests")] = "0",
    q_dep: Annotated[
        int,
        typer.Option("--q-dep", metavar="N", help="Requests in flight.", show_default="1 request"),
    ] = 1,
    wr_size: Annotated[str, _size("wr-size", "Size of a write.", "4k, 4096 bytes")] = "4k",
    rd_size: Annotated[str, _size("rd-size", "Size of a read.", "4k, 4096 bytes")] = "4k",
    wr_rand: Annotated[str, _share("wr-rand", "Writes at random offsets")] = "0",
    rd_rand: Annotated[str, _share("rd-rand", "Reads at random offsets")] = "0",
    wr_stride: Annotated[str, _size("wr-stride", "Gap from write to write.", "0 bytes")] = "0",
    rd_stride: Annotated[str, _size("rd-stride", "Gap from read to read.", "0 bytes")] = "0",
    output_format: options.OutputFormat = "normal",
) -> int:
    """Predict latency, rate, bandwidth and tails of a workload, with intervals.

    The interval holds the answer for nine in ten workloads like those that were measured. A
    workload beyond those gets a warning and exit code 3: its interval cannot be trusted.
    """
    from ssdscope.models import asking
    from ssdscope.models.fitted import FittedModel

    given: dict[str, int | float | str] = {
        "wr_ratio": wr_ratio,
        "wr_rand": wr_rand,
        "rd_rand": rd_rand,
        "q_dep": q_dep,
        "wr_size": wr_size,
        "rd_size": rd_size,
        "wr_stride": wr_stride,
        "rd_stride": rd_stride,
    }
    vector = asking.vector(given, lambda name: f"--{name.replace('_', '-')}")
    fitted = FittedModel.load(model)
    answers = fitted.answers(vector)
    outside = fitted.outside(vector)
    if output_format == "json":
        from dataclasses import asdict

        from ssdscope.results.record import envelope

        document = {**envelope(), "model": model, "workload": asdict(vector)}
        emit_json({**document, "coverage": 0.9, "predicted": answers, "outside": outside})
    else:
        rows = [
            (name, *(amount(name, each[key]) for key in ("value", "low", "high")))
            for name, each in answers.items()
        ]
        emit(table(("predicted", "value", "90 % from", "to"), rows))
    if outside:
        note(
            f"warning: outside of what the model was fitted on: {', '.join(outside)}; "
            "measure there and fit again"
        )
    return EXIT_NOT_TRUSTWORTHY if outside else EXIT_DONE


def amount(name: str, value: float) -> str:
    """Write a quantity with its unit."""
    from ssdscope.units import format_duration

    if name.endswith("_ns"):
        return format_duration(value)
    return f"{value:,.0f} /s" if name == "iops" else f"{value / 2**20:,.4g} MiB/s"

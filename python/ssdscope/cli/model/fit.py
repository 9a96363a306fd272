"""``ssdscope model fit``: collected runs into a model."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE

if TYPE_CHECKING:
    from ssdscope.models.fitted import FittedModel

EXAMPLES = """
The kind of model that predicts best:
  ssdscope model fit ssd-i.parquet -O ssd-i.json
A tree after GUIDE, as in huang2011:
  ssdscope model fit ssd-i.parquet --model guide --features extended -O tree.json
What fio measured of a drive, a folder of its JSON:
  ssdscope model fit benchmark_data/PM883 -O pm883.json
"""


def _files(data: str) -> list[str]:
    from ssdscope.results.fio.folders import files_in

    return files_in(data)


DataArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Runs that model collect wrote (.parquet), or a folder of results of fio on a drive.",
    ),
    Input(_files),
]
TargetOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="NAME",
        help="What is predicted.",
        autocompletion=choices.QUANTITIES.complete,
    ),
    choices.QUANTITIES,
]
WorkloadOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--workload",
        metavar="KIND",
        help="Which workloads.",
        autocompletion=choices.KINDS.complete,
    ),
    choices.KINDS,
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, short="Fit a model to collected runs.", examples=EXAMPLES)(fit)


def fit(
    context: typer.Context,
    data: DataArgument,
    out: Annotated[
        str,
        typer.Option("--out", "-O", metavar="FILE.json", help="Where the model goes."),
        Output(),
    ] = "model.json",
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Which kind of model.",
            autocompletion=choices.MODEL.complete,
        ),
        choices.MODEL,
    ] = "best",
    features: Annotated[
        str,
        typer.Option(
            "--features",
            metavar="SET",
            help="What a model knows of a workload.",
            autocompletion=choices.FEATURES.complete,
        ),
        choices.FEATURES,
    ] = "best",
    target: TargetOption = "latency",
    workload: WorkloadOption = "all",
    force: options.Force = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Fit a model to collected runs, by default the kind that predicts unseen runs best.

    Cross-validation of the runs to learn from finds the best kind and the 90 % interval; no
    workload is on both sides. The runs to test with are not touched.
    """
    from ssdscope.models import fitting
    from ssdscope.models.imported import load

    session: Session = context.obj
    fitting.require_known(model, features, target, workload)
    guard(context, force=force)
    header, rows = load(data)
    note_left(header)
    used_seed = session.seed(seed)
    with stage_progress(progress) as stage:
        fitted = fitting.fit(
            rows,
            header,
            model=model,
            feature_set=features,
            target=target,
            workload=workload,
            seed=used_seed,
            progress=stage,
        )
    fitted.save(out)
    for remark in fitted.about["remarks"]:
        note(remark)
    if output_format == "json":
        from ssdscope.results.record import envelope

        grouped = {name: each.grouped for name, each in fitted.predictions.items()}
        about = {"model": fitted.model, "features": fitted.feature_set, "out": out}
        emit_json({**envelope(seed=used_seed), **about, "grouped": grouped, **fitted.about})
    else:
        emit(_text(fitted, out))
    session.repeat(used_seed)
    return EXIT_DONE


def note_left(header: dict[str, Any]) -> None:
    """Say which results of fio are no runs for a model, and why."""
    for why, count in header.get("left", {}).items():
        note(f"{count:,} results left out: {why}")


def _text(fitted: "FittedModel", out: str) -> str:
    compared = [
        (each["model"], each["features"], f"{100 * each['grouped_mre']:.1f} %")
        for each in fitted.about["chosen_from"]
    ]
    kept = [
        (
            each.name,
            f"{100 * each.grouped['mre']:.1f} %",
            f"{100 * each.grouped['median_ape']:.1f} %",
        )
        for each in fitted.predictions.values()
    ]
    return "\n".join(
        [
            table(("model", "features", "error on unseen runs"), compared, left=2),
            "",
            f"{out}: {fitted.model} on {fitted.feature_set} features, {fitted.about['rows']} runs",
            table(("predicts", "mean error", "median"), kept),
        ]
    )

"""``ssdscope model evaluate``: how good models are, on runs that they have not seen too."""

from typing import Annotated, Any

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.model.fit import DataArgument, TargetOption, WorkloadOption, note_left
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE

EXAMPLES = """
Three kinds of models, on the features that times grow with:
  ssdscope model evaluate ssd-i.parquet --model gp,guide,ols --features physics
How well all kinds predict the rate:
  ssdscope model evaluate ssd-i.parquet --target iops -o json
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, short="Show how good models are.", examples=EXAMPLES)(evaluate)


def evaluate(
    context: typer.Context,
    data: DataArgument,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME,...",
            help="Which kinds of models, separated by commas.",
            autocompletion=choices.SEVERAL_MODELS.complete,
        ),
        choices.SEVERAL_MODELS,
    ] = "all",
    features: Annotated[
        str,
        typer.Option(
            "--features",
            metavar="SET,...",
            help="What models know of a workload; sets separated by commas.",
            autocompletion=choices.SEVERAL_FEATURES.complete,
        ),
        choices.SEVERAL_FEATURES,
    ] = "extended,physics",
    target: TargetOption = "latency",
    workload: WorkloadOption = "all",
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Evaluate kinds of models in-sample, on unseen folds, and off the grid.

    The same table has the noise floor, from workloads that ran twice, and naive baselines; a line
    in logarithms between measured workloads is one, where they lie on a grid. For
    iops and bandwidth it also has rows for what follows from a model of the latency.
    """
    from ssdscope.models import evaluation, fitting, registry
    from ssdscope.models.imported import load
    from ssdscope.models.screening import Screening

    session: Session = context.obj
    sets = [each.strip() for each in features.split(",")]
    names = [each.strip() for each in model.split(",")]
    for each in sets:
        fitting.require_known("best", each, target, workload)
    for name in names if names != ["all"] else []:
        registry.family(name)
    header, rows = load(data)
    note_left(header)
    used_seed = session.seed(seed)
    if names == ["all"]:
        names = evaluation.every_model(sum(1 for each in rows if each.split == "train"))
    fits = fitting.Fits()
    with stage_progress(progress) as stage:
        found = evaluation.evaluate(
            rows,
            models=names,
            feature_sets=sets,
            target=target,
            workload=workload,
            seed=used_seed,
            progress=stage,
            fits=fits,
        )
    for remark in (*Screening.of(rows).remarks(), *fits.remarks()):
        note(remark)
    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(seed=used_seed), "models": found})
    else:
        emit(_text(found))
    session.repeat(used_seed)
    return EXIT_DONE


def _text(rows: list[dict[str, Any]]) -> str:
    header = ["model", "features", "split", "mean %", "median", "p90", "R2", "in 90 %", "skill"]
    header += ["fit s", "us/row"]
    return table(header, [_cells(row) for row in rows], left=3)


def _cells(row: dict[str, Any]) -> list[str]:
    def told(key: str, scale: float = 1.0, form: str = ".1f") -> str:
        return "-" if row[key] is None else f"{scale * row[key]:{form}}"

    return [
        row["name"],
        row["features"] or "-",
        f"{row['split']} ({row['n_test']})",
        *(told(key, 100) for key in ("mre", "median_ape", "p90_ape")),
        told("r2", 1, ".3f"),
        told("coverage90", 100),
        told("skill", 1, ".2f"),
        told("fit_s", 1, ".2f"),
        told("predict_us", 1, ".2g"),
    ]

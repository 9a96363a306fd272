"""``ssdscope model explain``: what a model has learnt, for people."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json
from ssdscope.cli.outputs import Input, Output, guard
from ssdscope.cli.terminal import paragraph
from ssdscope.errors import EXIT_DONE

if TYPE_CHECKING:
    from ssdscope.models.fitted import FittedModel

EXAMPLES = """
As text:
  ssdscope model explain ssd-i.json
And as a picture:
  ssdscope model explain ssd-i.json -O ssd-i.svg
"""
ENDINGS = (".svg", ".png", ".pdf")


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, short="Show what a model has learnt.", examples=EXAMPLES)(explain)


def explain(
    context: typer.Context,
    model: Annotated[
        str, typer.Argument(metavar="MODEL.json", help="A model that model fit wrote."), Input()
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-O", metavar="FILE.svg", help="Where a picture goes: .svg, .png or .pdf."
        ),
        Output(ENDINGS),
    ] = None,
    force: options.Force = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Show which characteristics matter, how predictions depend on them, and a tree to read.

    The tree is small, and less exact than the model; the errors of both are shown.
    """
    from ssdscope.models import explaining
    from ssdscope.models.fitted import FittedModel

    guard(context, force=force)
    fitted = FittedModel.load(model)
    found = explaining.explained(fitted)
    if out is not None:
        _draw(fitted, found, out)
    if output_format == "json":
        from ssdscope.results.record import envelope

        errors = {"grouped_mre": _own(fitted), "tree_grouped_mre": fitted.tree["grouped_mre"]}
        emit_json({**envelope(), "model": model, "out": out, **errors, **found})
    else:
        emit(_text(fitted, found, out))
    return EXIT_DONE


def _own(fitted: "FittedModel") -> float:
    return float(fitted.predictions[fitted.target].grouped["mre"])


def _draw(fitted: "FittedModel", found: dict[str, Any], out: str) -> None:
    from ssdscope.plots import LIGHT, save
    from ssdscope.report.model_figures import explanation

    save(explanation(fitted, found, LIGHT), out)


def _text(fitted: "FittedModel", found: dict[str, Any], out: str | None) -> str:
    from ssdscope.cli.model.predict import amount

    name = fitted.predictions[fitted.target].name
    importances = [(each, f"x {factor:.2f}") for each, factor in found["importances"].items()]
    dependences = [
        (
            each,
            ", ".join(f"{point['value']:g}: {amount(name, point['predicted'])}" for point in row),
        )
        for each, row in found["dependences"].items()
    ]
    trained = fitted.about["trained_on"]["target"]
    head = (
        f"{fitted.model} on {fitted.feature_set} features, {fitted.about['rows']} runs of "
        f"{trained}; {100 * _own(fitted):.1f} % off on unseen runs"
    )
    parts = [
        paragraph(head),
        "",
        table(("exchanging it", "moves predictions"), importances),
        "",
        f"Average {name} where only this is set:",
        *(paragraph(f"  {each}: {row}") for each, row in dependences),
        "",
        f"A tree to read ({100 * fitted.tree['grouped_mre']:.1f} % off on unseen runs):",
        *(paragraph(f"  {rule}") for rule in found["rules"]),
        *([] if out is None else ["", f"drawn: {out}"]),
    ]
    return "\n".join(parts)

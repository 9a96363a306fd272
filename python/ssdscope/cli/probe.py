"""``ssdscope probe``: one detector on a drive, or all of them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import options
from ssdscope.cli.output import emit, emit_json, note, table
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.running import TargetOptions
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE, EXIT_INTERRUPTED, UsageError
from ssdscope.units import format_capacity

if TYPE_CHECKING:
    from ssdscope.probes import ProbeInfo
    from ssdscope.targets import DeviceInfo

EXAMPLES = """\b
Examples:
  ssdscope probe list
  ssdscope probe latency sim:mqsim-8g --seed 1 -o json
  ssdscope probe all big.bin --budget 10m
"""

BudgetOption = Annotated[
    str,
    typer.Option("--budget", metavar="BUDGET", help="What may be spent: default, 10m, 1h, full."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Detect properties of a drive.", epilog=EXAMPLES)(probe)


def probe(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A probe, `all`, or `list` to see them.")
    ],
    target: Annotated[
        str | None, typer.Argument(metavar="TARGET", help="Where to probe; as for run.")
    ] = None,
    budget: BudgetOption = "default",
    state: options.State = None,
    sets: options.Sets = None,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Detect properties of a drive from the outside.

    Every answer is detected with an interval, absent with a bound, ambiguous with candidates,
    or undetectable with the reason; each of them is a success.
    """
    from ssdscope import probes

    if name == "list":
        return _list(output_format)
    if target is None:
        raise UsageError(
            f"probe {name}: on which target?", hint=f"ssdscope probe {name} sim:mqsim-8g"
        )
    session: Session = context.obj
    spend = probes.Budget.parse(budget)
    chosen = probes.choose(name, spend)
    used_seed = session.seed(seed)
    opened = TargetOptions(target, state, sets or (), destroy_data, overwrite_existing).open(
        used_seed
    )
    _declare(chosen, opened.device.info)
    findings: list[dict[str, Any]] = []
    interrupted = False
    with stage_progress(progress) as stage:
        try:
            found = probes.each([name], opened.device, spend, used_seed, stage)
            findings.extend(finding.to_json() for finding in found)
        except KeyboardInterrupt:
            interrupted = True
    if output_format == "json":
        from ssdscope.results.record import envelope

        head = {**envelope(seed=used_seed), "target": opened.describe()}
        emit_json({**head, "findings": findings, "interrupted": interrupted})
    else:
        emit(findings_text(findings))
    session.repeat(used_seed)
    if interrupted:
        note(f"interrupted; {len(findings)} findings were complete")
        return EXIT_INTERRUPTED
    return EXIT_DONE


def findings_text(findings: list[dict[str, Any]]) -> str:
    """Lay out findings, one per line."""
    return table(
        ("property", "outcome", "value", "95 % interval", "unit"),
        [
            (
                finding["property"],
                finding["outcome"],
                _value(finding),
                _interval(finding["interval"]),
                finding["unit"],
            )
            for finding in findings
        ],
        left=2,
    )


def _declare(chosen: "list[ProbeInfo]", info: "DeviceInfo") -> None:
    """Tell beforehand what will be written."""
    written = sum(each.declared_writes_bytes(info) for each in chosen)
    if written:
        note(f"will write up to {format_capacity(written)}")


def _list(output_format: str) -> int:
    from ssdscope import probes

    known = probes.registry().values()
    if output_format == "json":
        from ssdscope.results.record import envelope

        listed = [
            {
                "name": each.name,
                "class": each.weight,
                "summary": each.summary,
                "properties": list(each.properties),
            }
            for each in known
        ]
        emit_json({**envelope(), "probes": listed})
    else:
        rows = [(each.name, each.weight, each.summary) for each in known]
        emit(table(("name", "class", "what it finds"), rows, left=3))
    return EXIT_DONE


def _value(finding: dict[str, Any]) -> str:
    match finding["outcome"]:
        case "detected":
            return _number(finding["value"])
        case "absent":
            return f"below {_number(finding['bound'])}"
        case "ambiguous":
            return " or ".join(_number(each) for each in finding["candidates"])
    return str(finding["reason"])


def _interval(interval: list[float] | None) -> str:
    return "-" if interval is None else f"{_number(interval[0])} to {_number(interval[1])}"


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.6g}"

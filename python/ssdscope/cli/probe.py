"""``ssdscope probe``: one detector on a drive, or all of them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import options
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, error, note
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.running import TargetOptions
from ssdscope.cli.session import Session
from ssdscope.cli.terminal import paragraph
from ssdscope.errors import (
    EXIT_DONE,
    EXIT_INTERRUPTED,
    DeviceError,
    SsdscopeError,
    UsageError,
)
from ssdscope.units import format_capacity

if TYPE_CHECKING:
    from ssdscope.probes import Finding, ProbeInfo
    from ssdscope.targets import DeviceInfo

EXAMPLES = """\b
Examples:
  ssdscope probe list
  ssdscope probe latency sim:mqsim-8g --seed 1 -o json
  ssdscope probe all big.bin --budget 10m
"""

WHOLE_BELOW = 1e15

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
        return _list(target, output_format)
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
    found: list[Finding] = []
    failure: SsdscopeError | None = None
    interrupted = False
    with stage_progress(progress) as stage:
        try:
            found.extend(probes.each([name], opened.device, spend, used_seed, stage))
        except KeyboardInterrupt:
            interrupted = True
        except DeviceError as broken:
            failure = broken
    findings = [finding.to_json() for finding in probes.reconciled(found)]
    if output_format == "json":
        from ssdscope.results.record import envelope

        head = {**envelope(seed=used_seed), "target": opened.describe()}
        emit_json({**head, "findings": findings, "interrupted": interrupted})
    else:
        emit(findings_text(findings))
    session.repeat(used_seed)
    if failure is not None:
        error(failure.message, failure.hint)
        note(f"{len(findings)} findings were complete")
        return failure.exit_code
    if interrupted:
        note(f"interrupted; {len(findings)} findings were complete")
        return EXIT_INTERRUPTED
    return EXIT_DONE


def findings_text(findings: list[dict[str, Any]]) -> str:
    """Lay out findings, one per line, and below them why some could not be told."""
    rows = table(
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
    return "\n\n".join([rows, *_refusals(findings)])


def _refusals(findings: list[dict[str, Any]]) -> list[str]:
    """Say what was seen where nothing can be told, and what would help; once for equal words."""
    from ssdscope.probes.reasons import in_words

    alike: dict[str, list[str]] = {}
    for finding in findings:
        if finding["outcome"] == "undetectable":
            alike.setdefault(in_words(finding), []).append(finding["property"])
    return [paragraph(f"{', '.join(names)}: {words}") for words, names in alike.items()]


def _declare(chosen: "list[ProbeInfo]", info: "DeviceInfo") -> None:
    """Tell beforehand what will be written."""
    from ssdscope.probes import planned_writes_bytes

    written = planned_writes_bytes(chosen, info) if info.writable else 0
    if written:
        note(f"will write up to {format_capacity(written)}")


def _list(target: str | None, output_format: str) -> int:
    """List the probes; with a target, what each would write to it."""
    from ssdscope import probes

    info = (
        None if target is None else TargetOptions(target, None, (), None, False).open(1).device.info
    )
    rows = [_described(each, info) for each in probes.registry().values()]
    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(), "probes": rows})
    else:
        heads = ("name", "class", "begins with", "writes", "costs", "what it finds")
        texts = [
            (
                row["name"],
                row["class"],
                row["state"],
                "-" if row["writes_bytes"] is None else format_capacity(row["writes_bytes"]),
                row["cost"],
                row["summary"],
            )
            for row in rows
        ]
        columns = [index for index in range(len(heads)) if info is not None or index != 3]
        picked = [tuple(text[index] for index in columns) for text in texts]
        emit(table(tuple(heads[index] for index in columns), picked, left=len(columns)))
    return EXIT_DONE


def _described(probe: "ProbeInfo", info: "DeviceInfo | None") -> dict[str, Any]:
    return {
        "name": probe.name,
        "class": probe.weight,
        "state": probe.state.value,
        "writes_bytes": None if info is None else probe.planned_writes_bytes(info),
        "cost": probe.cost,
        "summary": probe.summary,
        "properties": list(probe.properties),
    }


def _value(finding: dict[str, Any]) -> str:
    match finding["outcome"]:
        case "detected":
            return _number(finding["value"])
        case "absent":
            return "none"
        case "ambiguous":
            return " or ".join(_number(each) for each in finding["candidates"])
    return "-"


def _interval(interval: list[float] | None) -> str:
    return "-" if interval is None else f"{_number(interval[0])} to {_number(interval[1])}"


def _number(value: float | str) -> str:
    """Write a number with six digits, whole ones with all they have: sizes are exact."""
    if isinstance(value, str):
        return value
    whole = abs(value) < WHOLE_BELOW and float(value).is_integer()
    return f"{value:,.0f}" if whole else f"{value:,.6g}"

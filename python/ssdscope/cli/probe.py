"""``ssdscope probe``: one detector on a drive, or all of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import choices, options, recording
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, error, note
from ssdscope.cli.outputs import Output, guard
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.running import TargetOptions, set_quiet_queue, window_of
from ssdscope.cli.session import Session
from ssdscope.cli.target_names import complete_target
from ssdscope.cli.terminal import paragraph
from ssdscope.errors import EXIT_DONE, EXIT_INTERRUPTED, UsageError
from ssdscope.units import format_capacity, format_percent
from ssdscope.units import format_number as _number

if TYPE_CHECKING:
    from ssdscope.findings import Finding, Findings
    from ssdscope.probes.info import ProbeInfo
    from ssdscope.report.looking import LeftOut
    from ssdscope.report.probing import Probed
    from ssdscope.report.spending import Plan
    from ssdscope.report.untried import Tried
    from ssdscope.targets import DeviceInfo, Target

NOT_TRIED = "not tried"
EXAMPLES = """
Which probes there are:
  ssdscope probe list
One of them; a property or a family works too:
  ssdscope probe latency sim:mqsim-8g --seed 1 -o json
What all of them would write, before that:
  ssdscope probe all sim:nvme-tlc --budget full --dry-run
Keep what was measured; without the target it is decided upon again:
  ssdscope probe all sim:ryu-a --record ryu-a.npz
"""

BudgetOption = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Time to spend: 90s, 5m, 2h. With full (15 minutes) or full:2h probes that write "
        "more than the capacity run, too.",
        show_default="1 minute",
        autocompletion=choices.BUDGETS.complete,
    ),
]


RecordOption = Annotated[
    str | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Keep what was measured there, and measure only what it does not have yet. "
        "Without a target: decide again upon what it has.",
    ),
    Output(resumed=True),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(probe)


def probe(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Which probe; or a property, or a family of them, that probes answer. "
            "`ssdscope probe list` says what each probe finds, writes and costs.",
            autocompletion=choices.PROBES.complete,
        ),
        choices.PROBES,
    ],
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help=options.TARGET_HELP, autocompletion=complete_target),
        options.TARGET,
    ] = None,
    budget: BudgetOption = "default",
    dry_run: options.DryRun = False,
    rated_writes: options.RatedWrites = None,
    state: options.State = None,
    sets: options.Sets = None,
    destroy_data: options.DestroyData = None,
    overwrite_existing: options.OverwriteExisting = False,
    allow_virtual: options.AllowVirtual = False,
    preserve_content: options.PreserveContent = False,
    offset: options.WindowOffset = None,
    size: options.WindowSize = None,
    write_limit: options.WriteLimit = None,
    quiet_queue: options.QuietQueue = False,
    record: RecordOption = None,
    force: options.Force = False,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Detect properties of a drive from the outside.

    Every property is detected with an interval, absent with a bound, ambiguous with candidates,
    or undetectable with the reason. Each of these answers ends with exit code 0.
    """
    from ssdscope.probes import registry
    from ssdscope.probes.budget import Budget
    from ssdscope.report import spending
    from ssdscope.report.looking import left_out
    from ssdscope.report.probing import run_probes
    from ssdscope.report.untried import tried

    if name == "list":
        return _list(target, output_format)
    if target is None and record is not None:
        return _tell_again(name, record, output_format)
    if target is None:
        raise UsageError(
            f"probe {name}: on which target?", hint=f"ssdscope probe {name} sim:mqsim-8g"
        )
    session: Session = context.obj
    guard(context, force=force)
    spend = Budget.parse(budget)
    chosen = registry.choose(name, spend)
    before = recording.kept_in(record)
    used_seed = session.seed(recording.seed_of(before) if seed is None else seed)
    set_quiet_queue(context, target, asked=quiet_queue and not dry_run)
    opened = TargetOptions.typed(context.params, window_of(offset, size)).open(used_seed)
    plan = spending.of_probes(opened, spend, chosen, spending.rated(rated_writes))
    if dry_run:
        return tell_plan(plan, output_format)
    plan.require_asked()
    kept = None if record is None else recording.record_of(before, record, opened, used_seed, spend)
    if plan.writes_bytes:
        note(spending.plan_in_words(plan))
    with stage_progress(progress) as stage:
        probed = run_probes(opened, [name], plan, seed=used_seed, progress=stage, record=kept)
    if kept is not None and record is not None:
        kept.save(Path(record))
    findings, used = probed.findings.led_by(name), probed.spent
    looked = left_out(opened, spend, ["probe", "all"], spending.rated(rated_writes))
    look = looked if name == "all" else None
    whole = not probed.interrupted and probed.failure is None
    reached = tried(findings, spend, [name]) if whole else None
    if output_format == "json":
        _emit_document(opened, used_seed, probed, findings, look, reached, simulated=plan.simulated)
    else:
        emit(findings_text(findings, reached.in_words() if reached and reached.adds else ""))
        note(f"used {spending.in_words(used)}")
    if look is not None:
        note(look.in_words())
    session.repeat(used_seed)
    if probed.failure is not None:
        error(probed.failure.message, probed.failure.hint)
        note(f"{len(findings)} findings were complete")
        return probed.failure.exit_code
    if probed.interrupted:
        note(f"interrupted; {len(findings)} findings were complete")
        return EXIT_INTERRUPTED
    return EXIT_DONE


def _emit_document(
    opened: "Target",
    seed: int,
    probed: "Probed",
    findings: "Findings",
    look: "LeftOut | None",
    reached: "Tried | None",
    *,
    simulated: bool,
) -> None:
    """Print everything as a document."""
    from ssdscope.results.record import envelope

    # What is measured on a simulated drive is the same each time, and holds no time of ours.
    spent = probed.spent | ({"used_seconds": None, "stages": []} if simulated else {})
    emit_json(
        {
            **envelope(seed=seed),
            "target": opened.describe(),
            "findings": findings.to_json(),
            "spent": spent,
            "interrupted": probed.interrupted,
            "left_out": None if look is None else look.to_json(),
            "tried": None if reached is None else reached.to_json(),
        }
    )


def _tell_again(name: str, path: str, output_format: str) -> int:
    """Show what is decided upon a record, without the drive."""
    findings, seed = recording.decided(path, name)
    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(seed=seed), "record": path, "findings": findings.to_json()})
    else:
        emit(findings_text(findings))
        note(f"decided upon what {path} has; nothing was measured")
    return EXIT_DONE


def findings_text(findings: "Findings", reached: str = "") -> str:
    """Lay out findings, a line each, the surest first, and below why some could not be told.

    What was not tried for want of budget is called so, and stands last.

    Parameters
    ----------
    reached
        How many properties were tried, and what would add more.
    """
    rows = table(
        ("property", "outcome", "value", "95 % interval", "unit"),
        [
            (
                finding.name,
                finding.outcome if finding.tried else NOT_TRIED,
                _value(finding),
                _interval(finding.interval),
                finding.unit,
            )
            for finding in sorted(findings.values(), key=_rank)
        ],
        left=2,
    )
    said = [paragraph(reached)] if reached else []
    return "\n\n".join([rows, *said, *_refusals(findings)])


def _rank(finding: "Finding") -> tuple[bool, int]:
    """Order findings: the surest first, and last what was not tried."""
    from ssdscope.findings.finding import OUTCOMES

    return not finding.tried, OUTCOMES.index(finding.outcome)


def _refusals(findings: "Findings") -> list[str]:
    """Say what was seen where nothing can be told, and what would help; once for equal words."""
    from ssdscope.findings import Undetectable

    alike: dict[str, list[str]] = {}
    for finding in sorted(findings.values(), key=_rank):
        if isinstance(finding, Undetectable):
            alike.setdefault(finding.in_words(), []).append(finding.name)
    return [paragraph(f"{', '.join(names)}: {words}") for words, names in alike.items()]


def tell_plan(plan: "Plan", output_format: str) -> int:
    """Show what would be spent, part by part, and whether a full budget is needed."""
    from ssdscope.report import spending
    from ssdscope.results.record import envelope

    if output_format == "json":
        emit_json({**envelope(), "plan": plan.to_json()})
        return EXIT_DONE
    emit(table(("part", "takes", "writes at most", "of its life"), _planned(plan)))
    emit(f"\n{plan.uri} {spending.plan_in_words(plan)}")
    if plan.needs_full:
        most = format_capacity(plan.unasked_bytes or 0)
        emit(f"that is more than {most}, and has to be asked for: --budget full")
    return EXIT_DONE


def _planned(plan: "Plan") -> list[tuple[str, ...]]:
    """Lay out a plan, a row for each part."""
    rows: list[tuple[str, ...]] = []
    for part in plan.parts:
        life = plan.share_of(part.writes_bytes)
        rows.append(
            (
                part.name,
                "-" if part.seconds is None else f"{part.seconds:.3g} s",
                format_capacity(part.writes_bytes),
                "-" if life is None else format_percent(life),
            )
        )
    return rows


def _list(target: str | None, output_format: str) -> int:
    """List the probes; with a target, what each would write to it."""
    from ssdscope.probes import registry

    info = (
        None if target is None else TargetOptions(target, None, (), None, False).open(1).device.info
    )
    rows = [_described(each, info) for each in registry.every().values()]
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
        emit(f"\n{paragraph('properties and earlier names are names, too:')}")
        emit(table(("name", "earlier names", "properties"), [*map(_names, rows)], left=3))
    return EXIT_DONE


def _names(row: dict[str, Any]) -> tuple[str, str, str]:
    """Lay out what else a probe is asked for by."""
    return row["name"], ", ".join(row["earlier_names"]) or "-", ", ".join(row["properties"])


def _described(probe: "ProbeInfo", info: "DeviceInfo | None") -> dict[str, Any]:
    from ssdscope.findings.earlier_names import EARLIER_NAMES

    return {
        "name": probe.name,
        "class": probe.weight,
        "state": probe.state.value,
        "writes_bytes": None if info is None else probe.planned_writes_bytes(info),
        "cost": probe.cost,
        "summary": probe.summary,
        "properties": list(probe.properties),
        "earlier_names": [
            name
            for name, current in EARLIER_NAMES.items()
            if current in (probe.name, *probe.properties)
        ],
    }


def _value(finding: "Finding") -> str:
    if finding.value is not None:
        return _number(finding.value)
    if finding.candidates is not None:
        return " or ".join(_number(each) for each in finding.candidates)
    return finding.about.absence if finding.outcome == "absent" else "-"


def _interval(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"{_number(interval[0])} to {_number(interval[1])}"

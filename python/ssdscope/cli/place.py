"""``ssdscope place``: which workload belongs on which drive."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdscope.cli import choices, options
from ssdscope.cli.help import READING, command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json, note
from ssdscope.cli.outputs import Input
from ssdscope.cli.progress import stage_progress
from ssdscope.cli.session import Session
from ssdscope.errors import EXIT_DONE, EXIT_NOT_TRUSTWORTHY, UsageError

if TYPE_CHECKING:
    from ssdscope.advise.placement.costs import Cost
    from ssdscope.advise.placement.drives import Drive
    from ssdscope.advise.placement.placing import Placement
    from ssdscope.advise.placement.ranking import Ranking

EXAMPLES = """
The cheapest placement of a list of workloads on the drives of a cost file:
  ssdscope place workloads.toml --cost drives.toml --latency 5ms --lifetime 5y
Would an SSD help the workload of a trace, and which:
  ssdscope place trace.spc.gz --on presets --fit compact --align expand
Workloads on a measured drive and on a preset:
  ssdscope place rw=randread,bs=4k,rate_iops=500,size=10g --on report.json --on sim:sata-tlc
"""
ALL_PRESETS = "presets"


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(place)


def _workload_files(word: str) -> list[str]:
    from ssdscope.advise.placement.reading import files_of

    return files_of(word)


def _drive_files(word: str) -> list[str]:
    from ssdscope.targets.sources import files_of

    if word == ALL_PRESETS:
        return []
    return [word] if word.endswith(".json") else files_of(word)


def _cost_files(path: str) -> list[str]:
    from ssdscope.advise.placement.costs import files_of

    return files_of(path)


def place(
    context: typer.Context,
    workloads: Annotated[
        list[str],
        typer.Argument(
            metavar="WORKLOAD...",
            help="Lists of workloads (.toml, .json; docs/placement.md has one), traces, or "
            "options of run with a rate and a size: rw=randread,bs=4k,rate_iops=200,size=10g.",
        ),
        Input(_workload_files),
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="DRIVE",
            help="A drive: a report of characterize (.json), sim:NAME, a drive .toml, or presets "
            "for all that ship; repeatable.",
            show_default="those of the cost file",
        ),
        Input(_drive_files),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            "--cost",
            metavar="FILE.toml",
            help="What each drive costs, holds and endures. Without it drives are ranked for each "
            "workload, and nothing is placed.",
        ),
        Input(_cost_files),
    ] = None,
    latency: Annotated[
        str | None,
        typer.Option(
            "--latency",
            metavar="TIME",
            help="Bound on the mean latency of workloads that have none of their own: 5ms.",
        ),
    ] = None,
    lifetime: Annotated[
        str | None,
        typer.Option("--lifetime", metavar="TIME", help="How long each drive must last: 5y, 180d."),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="N", min=0, help="The most that all drives may cost."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="DRIVE",
            help="What drives are ranked against, if a trace has no response times of its own.",
            show_default="each other",
        ),
        Input(_drive_files),
    ] = None,
    duration: Annotated[
        str,
        typer.Option(
            "--duration",
            metavar="TIME",
            help="How much of each workload is tried at first; a placement is tried, and replayed "
            "on requests it was not chosen by, for six times as long.",
        ),
    ] = "20s",
    align: Annotated[
        str,
        typer.Option(
            "--align",
            metavar="HOW",
            help="Requests of traces that are no whole sectors of a drive.",
            rich_help_panel=READING,
            autocompletion=choices.ALIGNMENTS.complete,
        ),
        choices.ALIGNMENTS,
    ] = "refuse",
    fit: Annotated[
        str,
        typer.Option(
            "--fit",
            metavar="HOW",
            help="Addresses of traces; packed or taken modulo, a trace takes what it touches.",
            rich_help_panel=READING,
            autocompletion=choices.FITS.complete,
        ),
        choices.FITS,
    ] = "refuse",
    time_scale: Annotated[
        float,
        typer.Option(
            "--time-scale",
            metavar="FACTOR",
            help="Multiply the times of traces; 0.5 is twice as fast.",
            rich_help_panel=READING,
        ),
    ] = 1.0,
    trace_format: options.TraceFormat = None,
    limit: options.Limit = None,
    state: options.State = None,
    seed: options.Seed = None,
    output_format: options.OutputFormat = "normal",
    progress: options.ProgressMode = "auto",
) -> int:
    """Find the cheapest placement of workloads on drives, or rank drives for each workload.

    Workloads that share a drive are run on it together: on a simulated drive, or on the twin of a
    measured one. The placement is replayed on requests that it was not chosen by, and both are
    shown. If no placement keeps the limits, the error names the limit that is in the way.
    """
    from ssdscope.advise.placement import placing, ranking
    from ssdscope.advise.placement.costs import read_costs
    from ssdscope.advise.placement.limits import Limits, parse_lifetime
    from ssdscope.advise.placement.reading import Reading, read_loads
    from ssdscope.results.record import envelope

    session: Session = context.obj
    duration_ns = _time("--duration", duration)
    latency_ns = None if latency is None else _time("--latency", latency)
    limits = Limits(None if lifetime is None else parse_lifetime(lifetime), max_cost)
    _require_cost(cost, limits)
    if time_scale <= 0:
        raise UsageError(f"--time-scale: {time_scale} is not a number above zero")
    given = Reading(latency_ns, fit, align, time_scale, limit, trace_format)
    costs = [] if cost is None else read_costs(cost)
    loads = read_loads(workloads, given)
    used_seed = session.seed(seed)
    drives = _drives(on or [], costs, state, used_seed)
    document: dict[str, Any] = {**envelope(seed=used_seed), "duration_ns": duration_ns}
    document["workloads"] = [_about(each) for each in loads]
    common: dict[str, Any] = {"duration_ns": duration_ns, "seed": used_seed}
    with stage_progress(progress) as stage:
        if costs:
            found = placing.place(loads, drives, limits, progress=stage, **common)
            document["placement"], text = found.to_json(), _placement_text(found)
            trusted = _kept(found)
        else:
            beside = None if reference is None else _drive(reference, None, used_seed)
            ranked = ranking.rank(loads, drives, beside, progress=stage, **common)
            document["rankings"] = [each.to_json() for each in ranked]
            text, trusted = "\n\n".join(map(_ranking_text, ranked)), True
    if output_format == "json":
        emit_json(document)
    else:
        emit(text)
    session.repeat(used_seed)
    if not trusted:
        note("warning: replayed, the placement breaks a limit; a longer --duration judges better")
    return EXIT_DONE if trusted else EXIT_NOT_TRUSTWORTHY


def _time(option: str, text: str) -> int:
    from ssdscope.units import parse_duration

    try:
        found = parse_duration(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", hint=error.hint) from error
    if found <= 0:
        raise UsageError(f"{option}: {text} is no time", hint="as in 20s or 5ms")
    return found


def _require_cost(cost: str | None, limits: Any) -> None:
    if cost is not None:
        return
    for option, value in (("--lifetime", limits.lifetime_s), ("--max-cost", limits.cost)):
        if value is not None:
            raise UsageError(
                f"{option} is a limit of a placement, and nothing is placed without --cost FILE",
                hint="--cost names a file with a [[drive]] table for each drive and its price",
            )


def _drives(on: list[str], costs: "list[Cost]", state: str | None, seed: int) -> "list[Drive]":
    """Open the drives that are named, or all of the cost file."""
    from ssdscope.advise.placement.costs import of_drive
    from ssdscope.targets.presets import preset_names

    names = [
        name
        for word in on
        for name in ([f"sim:{each}" for each in preset_names()] if word == ALL_PRESETS else [word])
    ] or [each.target for each in costs]
    if not names:
        raise UsageError("there is no drive", hint="--on DRIVE names one, --on presets all")
    names = list(dict.fromkeys(names))
    priced = [of_drive(costs, name) for name in names] if costs else []
    drives = [_drive(name, state, seed) for name in names]
    if not priced:
        return drives
    return [cost.applied_to(each) for cost, each in zip(priced, drives, strict=True)]


def _drive(name: str, state: str | None, seed: int) -> "Drive":
    from pathlib import Path

    from ssdscope.advise.placement.drives import of_report, of_target
    from ssdscope.report import document

    if not name.endswith(".json"):
        return of_target(name, state=state, seed=seed)
    report = document.read(Path(name))
    if report.sketch:
        note(f"warning: the twin of {name} is a sketch: what it predicts may be far off")
    return of_report(
        name, report.info.capacity_bytes, report.twin_toml, seed=seed, sketch=report.sketch
    )


def _about(load: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "name": load.name,
        "source": load.source,
        "size_bytes": load.size_bytes,
        "requests_per_s": load.rate,
        "written_bytes_per_s": load.written_bytes_per_s,
        "latency_limit_ns": load.latency_limit_ns,
        "vector": asdict(load.vector),
    }


def _kept(found: "Placement") -> bool:
    """Say whether the replay kept what was asked for."""
    return not any(row["kept"] is False or row["keeps_up"] is False for row in found.replay)


def _placement_text(found: "Placement") -> str:
    from ssdscope.units import format_binary, significant

    def years(row: dict[str, Any]) -> str:
        lasts = row["lasts_years"]
        return "-" if lasts is None else f"{significant(lasts, 2)} years"

    drives = [
        (
            row["drive"],
            f"{row['price']:,g}",
            f"{format_binary(row['used_bytes'])} of {format_binary(row['capacity_bytes'])}",
            years(row),
            ", ".join(row["workloads"]),
        )
        for row in found.drives
    ]
    workloads = [
        (
            row["workload"],
            row["drive"],
            _mean(row["predicted"]),
            _interval(row["predicted"]),
            row["source"],
            _mean(row["replayed"]),
            "-" if row["error"] is None else f"{100 * row['error']:+.1f} %",
            _limit(row),
        )
        for row in found.replay
    ]
    heads = ("drive", "price", "used", "lasts", "workloads")
    seen = ("workload", "drive", "predicted", "interval", "by", "replayed", "error", "limit")
    tried = f"proven in {found.rounds} rounds, {found.trials} sets of workloads tried"
    return "\n".join(
        [
            f"the cheapest placement costs {found.cost:,g} ({tried})",
            "",
            table(heads, drives, left=5),
            "",
            table(seen, workloads, left=2),
            "",
            "each workload alone on each drive:",
            _pairs(found.pairs),
        ]
    )


def _pairs(pairs: list[dict[str, Any]]) -> str:
    """Lay out what each workload sees of each drive that it has for itself."""
    drives = list(dict.fromkeys(row["drive"] for row in pairs))
    cells: dict[str, list[str]] = {}
    for row in pairs:
        cells.setdefault(row["workload"], []).append(_pair(row))
    return table(("workload", *drives), [(name, *row) for name, row in cells.items()])


def _pair(row: dict[str, Any]) -> str:
    from ssdscope.advise.placement.pairs import TOO_SMALL

    if row["reason"]:
        return TOO_SMALL if row["reason"].startswith(TOO_SMALL) else "not tried"
    if not row["keeps_up"]:
        return "too slow"
    marked = " (model)" if row["source"] == "model" else ""
    return f"{_mean(row['seen'])} {_interval(row['seen'])}{marked}"


def _ranking_text(found: "Ranking") -> str:
    rows = [
        (
            row["drive"],
            _mean(row["seen"]) if row["keeps_up"] else "-",
            _interval(row["seen"]) if row["keeps_up"] else "-",
            "-" if not row["times_faster"] else f"{row['times_faster']:,.3g}",
            row["source"] or "-",
            row["reason"] or ("" if row["keeps_up"] else "does not keep up"),
        )
        for row in found.rows
    ]
    heads = (found.workload, "mean", "interval", "times as fast", "by", "")
    return f"{found.verdict}\n\n{table(heads, rows)}"


def _mean(seen: dict[str, Any] | None) -> str:
    from ssdscope.units import format_duration

    return "-" if seen is None else format_duration(seen["mean_ns"])


def _interval(seen: dict[str, Any] | None) -> str:
    """Write half of an interval as a share of its mean."""
    if seen is None or seen["low_ns"] is None or not seen["mean_ns"]:
        return "-"
    return f"±{50 * (seen['high_ns'] - seen['low_ns']) / seen['mean_ns']:.1f} %"


def _limit(row: dict[str, Any]) -> str:
    from ssdscope.units import format_duration

    if row["limit_ns"] is None:
        return "-"
    words = {True: "kept", False: "broken", None: ""}
    return f"{format_duration(row['limit_ns'])} {words[row['kept']]}".strip()

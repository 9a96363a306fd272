"""Where workloads belong: what was asked for read and opened, placed or ranked, and laid out."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ssdscope.advise.placement import placing, ranking
from ssdscope.advise.placement.costs import Cost, of_drive, read_costs
from ssdscope.advise.placement.drives import Drive, of_report, of_target
from ssdscope.advise.placement.limits import Limits, parse_lifetime
from ssdscope.advise.placement.pairs import TOO_SMALL
from ssdscope.advise.placement.placing import Placement
from ssdscope.advise.placement.ranking import Ranking
from ssdscope.advise.placement.reading import Reading, read_loads
from ssdscope.advise.placement.workloads import Load
from ssdscope.errors import UsageError
from ssdscope.probes.budget import StageProgress, silent
from ssdscope.report import document
from ssdscope.report.document import Report
from ssdscope.report.parts import Table
from ssdscope.results.record import envelope
from ssdscope.targets.presets import preset_names
from ssdscope.units import format_binary, format_duration, parse_duration, significant

ALL_PRESETS = "presets"
REPORTS = (".json", ".html")
"""How files of reports end."""
DURATION = "20s"
"""Of each workload that is tried at first, if nothing else is said."""


@dataclass(frozen=True)
class Asked:
    """What is to be placed where, in the words of the command line.

    Attributes
    ----------
    workloads
        Lists of workloads, traces, or options of a run.
    on
        Drives: files of reports or reports read, ``sim:NAME``, drive files, or ``presets``.
    cost
        A file with what drives cost; without it drives are ranked.
    reading
        How traces are read.
    """

    workloads: Sequence[str]
    on: Sequence[str | Report] = ()
    cost: str | None = None
    latency: str | None = None
    lifetime: str | None = None
    max_cost: float | None = None
    reference: str | None = None
    duration: str = DURATION
    reading: Reading = field(default_factory=Reading)
    state: str | None = None


@dataclass(frozen=True)
class Job:
    """What was asked for, read; nothing is opened yet.

    Attributes
    ----------
    asked
        As it was asked.
    duration_ns
        How much of each workload is tried at first.
    limits
        What must hold.
    costs
        What drives cost; none if they are ranked.
    loads
        The workloads.
    """

    asked: Asked
    duration_ns: int
    limits: Limits
    costs: list[Cost]
    loads: list[Load]


@dataclass(frozen=True)
class Placed:
    """What came of it.

    Attributes
    ----------
    document
        All of it, for JSON.
    placement
        The cheapest placement; None where drives were ranked.
    rankings
        The drives for each workload; none where workloads were placed.
    cautions
        What a reader must know besides.
    """

    document: dict[str, Any]
    placement: Placement | None
    rankings: Sequence[Ranking]
    cautions: Sequence[str] = ()

    @property
    def trustworthy(self) -> bool:
        """Whether the replay kept what was asked for; a ranking promises nothing."""
        rows = [] if self.placement is None else self.placement.replay
        return not any(row["kept"] is False or row["keeps_up"] is False for row in rows)


def read(asked: Asked) -> Job:
    """Read what was asked for.

    Raises
    ------
    UsageError
        If it cannot be meant, or a file cannot be read.
    """
    duration_ns = _time("--duration", asked.duration)
    lifetime_s = None if asked.lifetime is None else parse_lifetime(asked.lifetime)
    limits = Limits(lifetime_s, asked.max_cost)
    _require_cost(asked.cost, limits)
    if not asked.reading.time_scale > 0:
        scale = asked.reading.time_scale
        raise UsageError(f"--time-scale: {scale} is not a number above zero")
    costs = [] if asked.cost is None else read_costs(asked.cost)
    loads = read_loads(list(asked.workloads), asked.reading)
    return Job(asked, duration_ns, limits, costs, loads)


def place(job: Job, *, seed: int, progress: StageProgress = silent) -> Placed:
    """Find the cheapest placement of workloads on drives, or rank drives for each workload.

    Parameters
    ----------
    job
        What was asked for.
    seed
        Of the drives and the requests.
    progress
        Called with the stage and the share that is done.

    Raises
    ------
    UsageError
        If a drive cannot be opened, or nothing keeps the limits; the message names the limit.
    """
    asked, loads = job.asked, job.loads
    drives = _drives(asked.on, job.costs, asked.state, seed)
    told: dict[str, Any] = {**envelope(seed=seed), "duration_ns": job.duration_ns}
    told["workloads"] = [_about(each) for each in loads]
    common: dict[str, Any] = {"duration_ns": job.duration_ns, "seed": seed, "progress": progress}
    cautions = [_sketch(each.name) for each in drives if each.source == "sketch"]
    if job.costs:
        found = placing.place(loads, drives, job.limits, **common)
        return Placed(told | {"placement": found.to_json()}, found, (), cautions)
    beside = None if asked.reference is None else _drive(asked.reference, None, seed)
    if beside is not None and beside.source == "sketch":
        cautions.append(_sketch(beside.name))
    ranked = ranking.rank(loads, drives, beside, **common)
    told["rankings"] = [each.to_json() for each in ranked]
    return Placed(told, None, ranked, cautions)


def reading_of(latency: str | None, **given: Any) -> Reading:
    """Say how traces are read, and what bounds workloads that have no bound of their own."""
    return Reading(None if latency is None else _time("--latency", latency), **given)


def _time(option: str, text: str) -> int:
    try:
        found = parse_duration(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", hint=error.hint) from error
    if found <= 0:
        raise UsageError(f"{option}: {text} is no time", hint="as in 20s or 5ms")
    return found


def _require_cost(cost: str | None, limits: Limits) -> None:
    if cost is not None:
        return
    for option, value in (("--lifetime", limits.lifetime_s), ("--max-cost", limits.cost)):
        if value is not None:
            raise UsageError(
                f"{option} is a limit of a placement, and nothing is placed without --cost FILE",
                hint="--cost names a file with a [[drive]] table for each drive and its price",
            )


def _drives(
    on: Sequence[str | Report], costs: list[Cost], state: str | None, seed: int
) -> list[Drive]:
    """Open the drives that are named, or all of the cost file."""
    given = dict(named for each in on for named in _named(each))
    given = given or {each.target: each.target for each in costs}
    if not given:
        raise UsageError("there is no drive", hint="--on DRIVE names one, --on presets all")
    priced = [of_drive(costs, name) for name in given] if costs else []
    drives = [_drive(each, state, seed) for each in given.values()]
    if not priced:
        return drives
    return [cost.applied_to(each) for cost, each in zip(priced, drives, strict=True)]


def _named(drive: str | Report) -> list[tuple[str, str | Report]]:
    """Give what stands for a word under its name: all presets for ``presets``."""
    if drive == ALL_PRESETS:
        return [(f"sim:{each}", f"sim:{each}") for each in preset_names()]
    return [(drive.where if isinstance(drive, Report) else drive, drive)]


def _drive(drive: str | Report, state: str | None, seed: int) -> Drive:
    """Open a drive, or the twin of its report."""
    if isinstance(drive, str) and not drive.endswith(REPORTS):
        return of_target(drive, state=state, seed=seed)
    report = document.read(Path(drive)) if isinstance(drive, str) else drive
    capacity_bytes, toml = report.info.capacity_bytes, report.twin_toml
    return of_report(report.where, capacity_bytes, toml, seed=seed, sketch=report.sketch)


def _sketch(name: str) -> str:
    return f"the twin of {name} is a sketch: what it predicts may be far off"


def _about(load: Load) -> dict[str, Any]:
    return {
        "name": load.name,
        "source": load.source,
        "size_bytes": load.size_bytes,
        "requests_per_s": load.rate,
        "written_bytes_per_s": load.written_bytes_per_s,
        "latency_limit_ns": load.latency_limit_ns,
        "vector": asdict(load.vector),
    }


def headline(found: Placement) -> str:
    """Say what a placement costs, and how it was proven."""
    tried = f"proven in {found.rounds} rounds, {found.trials} sets of workloads tried"
    return f"the cheapest placement costs {found.cost:,g} ({tried})"


def drives_table(found: Placement) -> Table:
    """Give the drives that are taken, with their workloads, how full and how worn they get."""
    rows = [
        (
            row["drive"],
            f"{row['price']:,g}",
            f"{format_binary(row['used_bytes'])} of {format_binary(row['capacity_bytes'])}",
            _years(row["lasts_years"]),
            ", ".join(row["workloads"]),
        )
        for row in found.drives
    ]
    return Table(("drive", "price", "used", "lasts", "workloads"), rows)


def replay_table(found: Placement) -> Table:
    """Give what each workload sees where it was placed: as predicted, and as replayed."""
    heads = ("workload", "drive", "predicted", "interval", "by", "replayed", "error", "limit")
    rows = [
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
    return Table(heads, rows)


def pairs_table(found: Placement) -> Table:
    """Lay out what each workload sees of each drive that it has for itself."""
    drives = list(dict.fromkeys(row["drive"] for row in found.pairs))
    cells: dict[str, list[str]] = {}
    for row in found.pairs:
        cells.setdefault(row["workload"], []).append(_pair(row))
    return Table(("workload", *drives), [(name, *row) for name, row in cells.items()])


def ranking_table(found: Ranking) -> Table:
    """Give the drives for a workload, the fastest first."""
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
    return Table((found.workload, "mean", "interval", "times as fast", "by", ""), rows)


def _years(years: float | None) -> str:
    return "-" if years is None else f"{significant(years, 2)} years"


def _pair(row: dict[str, Any]) -> str:
    if row["reason"]:
        return TOO_SMALL if row["reason"].startswith(TOO_SMALL) else "not tried"
    if not row["keeps_up"]:
        return "too slow"
    marked = " (model)" if row["source"] == "model" else ""
    return f"{_mean(row['seen'])} {_interval(row['seen'])}{marked}"


def _mean(seen: dict[str, Any] | None) -> str:
    return "-" if seen is None else format_duration(seen["mean_ns"])


def _interval(seen: dict[str, Any] | None) -> str:
    """Write half of an interval as a share of its mean."""
    if seen is None or seen["low_ns"] is None or not seen["mean_ns"]:
        return "-"
    return f"±{50 * (seen['high_ns'] - seen['low_ns']) / seen['mean_ns']:.1f} %"


def _limit(row: dict[str, Any]) -> str:
    if row["limit_ns"] is None:
        return "-"
    words = {True: "kept", False: "broken", None: ""}
    return f"{format_duration(row['limit_ns'])} {words[row['kept']]}".strip()

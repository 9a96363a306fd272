"""Figures 10 and 11: how blocks are placed, by the paper's means and by our probes.

Figure 10's rule, that a line says k = 1, is held against B with other k in its file. Figure 11's
equations are fitted to B's curve, and to simulated drives whose design is known.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ssdscope.probes.budget import StageProgress
from ssdscope.probes.literal import placement
from ssdscope.probes.literal.placement import Fit, Placement
from ssdscope.recovery.truth import Truth, judged_right
from ssdscope.seeds import stream
from ssdscope.stats import fit_line
from ssdscope.studies.detectors import refusal, value_of
from ssdscope.studies.measuring import at, counted, in_columns
from ssdscope.studies.record import Columns, Measured, Reading, Table
from ssdscope.studies.ryu2009 import pictures
from ssdscope.studies.ryu2009.bench import A_PLAIN, MIB, NO_HOST, PAPER, RAW, B, Bench, Subject
from ssdscope.targets import Device

UNITS = (1, 2, 4, 8)
FITS_WITHIN = 0.05
FORMS = ("as printed", "corrected", "with a link")
"""Of equation (2); the last one has a term for the link, too."""
HOSTS: Mapping[str, tuple[str, ...]] = {
    "over figure 13's host": (),
    "with 20 us a command": (RAW,),
    "behind a host that is no bound": NO_HOST,
}
KS = (1, 2, 4, 8, 16)
READS = 64
SIZES_KIB = (2, 4, 8, 16, 32, 64, 128, 256)
DESIGN = (
    *NO_HOST, *A_PLAIN, "nand.ways=1", "nand.read_ns=59000", "channel.ns_per_byte=10",
    "nand.blocks_per_plane=512", "over_provisioning_ratio=0.3",
)  # fmt: skip
"""Figure 12's drive: four channels, pages of 4 KB, 100 us for each."""
WHOLE_PAGES = 64
"""Management block of design (b) there: several rounds of the channels."""
PAGES = tuple(range(1, 65))
FURTHER = (1, 2, 3, 4)
"""Pages of a request, each on a channel of its own."""
IN_BUFFER = 6
"""Requests that C's buffer holds, of the largest of these."""


def answered(
    bench: Bench, subject: Subject, name: str, what: str, literal: str | int | None
) -> dict[str, Reading]:
    """Hold a procedure's answer against our probe and the truth; of a target, against the probe."""
    uri, sets = f"sim:{subject.drive}", bench.sets(subject.drive, subject.sets)
    finding = bench.probed.finding(name, uri, sets)
    truth = bench.probed.truth(name, uri, sets)
    value = value_of(finding)
    said = refusal(finding) if value is None else str(value)
    text = "no answer" if literal is None else str(literal)
    same = value is not None and value == literal
    if truth is None:
        return {f"another's design: {what}": Reading(f"{said}, by the procedure {text}", same)}
    row = PAPER.rows.get(f"{name} of {subject.label}")
    right = value is not None and judged_right(name, truth, value)
    paper = row is not None and judged_right(name, Truth(value), _typed(row.paper, value))
    reading = Reading(said, same and right and paper, literal=text, truth=str(truth.value))
    return {f"{name} of {subject.label}": reading}


def _typed(paper: object, value: object) -> float | str:
    return str(paper) if isinstance(value, str) or value is None else float(str(paper))


def placed(bench: Bench, subject: Subject) -> dict[str, Reading]:
    """One channel or several, and k, by the paper's rule and by our probes."""
    line = placement.straight(subject.pages, bench.curve(subject))
    multi, one = ("multi-channel", 1) if line else (None, None)
    named = f"{subject.label}: placement"
    return answered(bench, subject, "placement", named, multi) | answered(
        bench, subject, "placement_pages", f"{subject.label}: k", one
    )


def design(bench: Bench, subject: Subject) -> dict[str, Reading]:
    """Ask it of drives of which the paper says it, and of a target."""
    return placed(bench, subject) if bench.target or subject == B else {}


def unclaimed(bench: Bench) -> Table:
    """Give placement and k of the drives of which the paper says neither."""
    others = [each for each in bench.subjects if not bench.target and each != B]
    rows = tuple(
        (name, str(reading.literal), str(reading.ours), str(reading.truth))
        for subject in others
        for name, reading in placed(bench, subject).items()
    )
    return Table(("not said by the paper", "its procedure", "our probe", "truth"), rows)


def figure_10(bench: Bench, progress: StageProgress) -> Measured:
    """Read by size, and ask of each k whether the curve is a line."""
    read: dict[str, Reading] = {}
    for done, subject in enumerate(bench.subjects, start=1):
        read |= design(bench, subject)
        progress(f"figure 10: {subject.label}", done / len(bench.subjects))
    if bench.target is None:
        read |= {f"a line says k = 1: {where}": rule(bench, host) for where, host in HOSTS.items()}
        read |= {f"channels of a block: {case}": busy(bench, case) for case in BUSY}
        times = by_k(bench)
        read |= {"larger k": larger_k(times), "placement matters": matters(times)}
    picture = partial(pictures.straight, {s: bench.curve(s) for s in bench.subjects})
    return Measured(read, picture, columns(bench), table=unclaimed(bench))


def rule(bench: Bench, host: tuple[str, ...]) -> Reading:
    """Return the k whose curve is a line, by the paper's rule: the largest, if 1 is among them."""
    off = {
        k: fit_line(B.pages, bench.curve(B, f"ftl.placement_pages={k}", *host)).max_relative_error
        for k in KS
    }
    lines = {k for k, each in off.items() if each <= placement.STRAIGHT_WITHIN}
    said = ", ".join(f"k = {k}: {100 * each:.1f} %" for k, each in off.items())
    answer = f"{{{', '.join(map(str, sorted(lines)))}}}" if lines else "none"
    return Reading(f"{answer}; furthest from a line, {said}", max(lines) if 1 in lines else 0.0)


BUSY = {"1-channel": (4, 4), "multi-channel": (WHOLE_PAGES, 1)}
"""Pages of a management block, and k."""


def busy(bench: Bench, case: str) -> Reading:
    """Count the channels at work while one management block is read."""
    unit, k = BUSY[case]
    device = figure_12_drive(bench, unit, k)
    _, grown = counted(device, at, "read", [0], unit * 4096)
    return Reading(int(np.count_nonzero(grown["channel_busy_ns"])))


def by_k(bench: Bench) -> dict[int, list[float]]:
    """Read B at random behind a host that is no bound, with every k; times by size in us."""
    times = {}
    for k in KS[:4]:
        device = bench.open("ryu-b", (f"ftl.placement_pages={k}", *NO_HOST))
        rng = stream(bench.seed, "studies.ryu2009.placing.by_k")
        places = rng.integers(0, device.info.capacity_bytes // MIB - 1, 4 * READS) * MIB
        times[k] = [at(device, "read", places, size * 1024) for size in SIZES_KIB]
    return times


def larger_k(times: Mapping[int, Sequence[float]]) -> Reading:
    """Return by how much a larger k makes reads longer where it does most; at no size shorter."""
    table = np.array(list(times.values()))
    grown = np.diff(table, axis=0) / table[:-1]
    said = "; ".join(f"k = {k}: " + ", ".join(f"{t:.0f}" for t in row) for k, row in times.items())
    sizes = ", ".join(map(str, SIZES_KIB))
    return Reading(f"us at {sizes} KB: {said}", _if(grown.min() > -0.02, 100 * grown.max()))


def _if(so: object, value: float) -> float:
    return float(value) if so else float("nan")


def matters(times: Mapping[int, Sequence[float]]) -> Reading:
    """Return the slowest over the fastest placement, at the size where that is most."""
    table = np.array(list(times.values()))
    ratios = table.max(axis=0) / table.min(axis=0)
    where = SIZES_KIB[int(ratios.argmax())]
    return Reading(f"{ratios.max():.2f} times as long at {where} KB", float(ratios.max()))


def fits_of(subject: Subject, curve: npt.NDArray[np.float64], form: str) -> list[Fit]:
    """Fit a form of equation (2) to a curve; the best first."""
    known = [Placement("b", unit, subject.channels, subject.page_bytes) for unit in UNITS]
    printed, link = form == "as printed", form == "with a link"
    return placement.fits(subject.pages, curve, known, printed=printed, link=link)


def columns(bench: Bench) -> Columns:
    """Return every curve, with its best fit."""
    best = {s: fits_of(s, bench.curve(s), "with a link")[0] for s in bench.subjects}
    rows = [
        (s.label, pages * s.page_bytes, float(mean), float(fitted), fit.placement.unit_pages)
        for s, fit in best.items()
        for pages, mean, fitted in zip(
            s.pages, bench.curve(s), placement.predicted(fit, s.pages), strict=True
        )
    ]
    return in_columns("drive read_bytes mean_ns best_fit_ns k", rows)


def figure_11(bench: Bench, progress: StageProgress) -> Measured:
    """Fit equation (2) to B's reads, and both equations to drives of known design."""
    mended, curve = bool(bench.settings.get("mended_equations")), bench.curve(B)
    read = {
        f"fit: B: equation (2) {form}": fit(
            B, curve, "corrected" if mended and form == "as printed" else form
        )
        for form in FORMS
    }
    read |= known_designs(bench, progress)
    found = {form: fits_of(B, curve, form) for form in FORMS}
    return Measured(read, partial(pictures.fits, B, curve, found), columns(bench))


def fit(subject: Subject, curve: npt.NDArray[np.float64], form: str, k: int = 1) -> Reading:
    """Ask whether a k fits a curve, and better than any other."""
    fits = fits_of(subject, curve, form)
    said = ", ".join(
        f"k = {each.placement.unit_pages}: {100 * each.residual:.1f} %"
        for each in sorted(fits, key=lambda each: each.placement.unit_pages)
    )
    best = fits[0]
    return Reading(said, best.placement.unit_pages == k and best.residual <= FITS_WITHIN)


def figure_12_drive(bench: Bench, unit_pages: int, k: int) -> Device:
    """Open figure 12's drive with a management block and a k, in pages."""
    unit = f"ftl.map_unit_bytes={unit_pages * 4096}"
    return bench.open("ryu-a", (*DESIGN, unit, f"ftl.placement_pages={k}"), "sequential")


def known_designs(bench: Bench, progress: StageProgress) -> dict[str, Reading]:
    """Fit the equations to drives whose placement is known, and compare the two designs."""
    best, curves = {}, {}
    for design in ("a", "b"):
        for unit in UNITS:
            device = figure_12_drive(bench, unit if design == "a" else WHOLE_PAGES, unit)
            rng = stream(bench.seed, "studies.ryu2009.placing.known")
            step = WHOLE_PAGES * 4096
            places = rng.integers(0, device.info.capacity_bytes // step - 1, READS // 4) * step
            curve = np.array([1e3 * at(device, "read", places, n * 4096) for n in PAGES])
            known = [Placement("b", each, 4, 4096) for each in UNITS]
            best[design, unit] = placement.fits(PAGES, curve, known)[0]
            curves[design, unit] = curve
        progress("figure 11: drives of known design", 0.5 if design == "a" else 1.0)
    read = {f"equations: {name}": right(best, design) for name, design in EQUATIONS.items()}
    overheads = {
        design: [100 * best[design, u].times_ns[1] / best[design, u].times_ns[0] for u in UNITS]
        for design in ("a", "b")
    }
    ratios = [float(np.mean(curves["a", u] / curves["b", u])) for u in UNITS]
    a, b = (", ".join(f"{each:.1f}" for each in overheads[design]) for design in ("a", "b"))
    read["overhead"] = Reading(f"{b} % of a page, with k of 1, 2, 4 and 8", overheads["b"])
    read["overhead of (a)"] = Reading(
        f"(a) {a} and (b) {b} % of a page, units of 1, 2, 4 and 8 pages",
        [x / y for x, y in zip(overheads["a"], overheads["b"], strict=True)],
    )
    said = ", ".join(f"{each:.3f}" for each in ratios)
    read["(a) is faster"] = Reading(f"{said} times (b)'s, units of 1, 2, 4 and 8 pages", ratios)
    return read | {"overhead hides in writes": hidden(bench)}


EQUATIONS = {"(1) corrected, 1-channel placement": "a", "(2) corrected, multi-channel": "b"}


def right(best: Mapping[tuple[str, int], Fit], design: str) -> Reading:
    """Ask whether the equation finds the unit of each drive, and the time of its page."""
    fits = {unit: best[design, unit] for unit in UNITS}
    found = [fit.placement.unit_pages for fit in fits.values()]
    worst = max(fit.residual for fit in fits.values())
    pages = [fit.times_ns[0] / 1e3 for fit in fits.values()]
    said = (
        f"units {', '.join(map(str, found))} found of {', '.join(map(str, UNITS))}; at most "
        f"{100 * worst:.1f} % off; a page in {min(pages):.0f} to {max(pages):.0f} us (100)"
    )
    well = worst <= FITS_WITHIN and all(90 <= each <= 110 for each in pages)
    return Reading(said, found == list(UNITS) and well)


def hidden(bench: Bench) -> Reading:
    """Ask whether a further channel costs reads something, and buffered writes nothing."""
    sets = (*NO_HOST, "nand.blocks_per_plane=208")
    buffered = bench.open("ryu-c", sets, "sequential")
    bare = bench.open("ryu-c", (*sets, "write_buffer.bytes=0"), "sequential")
    places, costs = np.arange(IN_BUFFER) * MIB, {}
    for rw in ("read", "write"):
        page = at(bare.fork(), rw, places, 4096)
        times = [at(buffered.fork(), rw, places, pages * 4096) for pages in FURTHER]
        costs[rw] = 100 * (times[-1] - times[0]) / (len(FURTHER) - 1) / page
    said = f"a further channel costs {costs['read']:.1f} % of a page read, {costs['write']:.1f} %"
    return Reading(f"{said} of one written to the buffer", _if(costs["write"] < 5, costs["read"]))

"""One self-contained HTML file: it loads nothing, every text is escaped, and one script helps.

The script only answers to the pointer and the keyboard: without it the page is complete.
"""

from collections.abc import Mapping
from typing import Any

from ssdscope.findings import Findings
from ssdscope.report import (
    advising,
    breakdown,
    downloads,
    drawing,
    evidence,
    figures,
    heat,
    mixed,
    model_figures,
    nearest,
    sections,
    spending,
    summary,
    templating,
    twins,
    untried,
    uses,
    verdict,
    words,
    writes,
)
from ssdscope.report.tried import TRIED
from ssdscope.targets.quieter import quieter

IDENTITY = {
    "anonymous": "left out: host, kernel build, paths, and serial numbers but for four digits",
    "masked": "left out: the host's name, and serial numbers but for four digits",
    "whole": "shown in full",
}
"""How much the page says of whose drive it is about."""


def render(document: Mapping[str, Any]) -> str:
    """Make the page of a document.

    Parameters
    ----------
    document
        As `characterize` writes it; parts that hold nothing leave their section out.

    Returns
    -------
    str
        HTML.
    """
    found = Findings.from_json(document["findings"])
    return templating.fill(
        "page.html.j2",
        script="figures.js",
        document=document,
        title=_title(document),
        verdict=verdict.verdict(document, found),
        lines=summary.lines(document, found),
        inside=drawing.inside(document, found),
        nearest=nearest.nearest(document, found),
        uses=uses.uses(document),
        **_findings(found),
        reached=untried.of_document(document, found),
        **_performance(document, found),
        attribution=breakdown.attribution(document),
        models=model_figures.charts(document),
        model_rows=model_figures.rows(document),
        importances=model_figures.importances(document),
        twin=twins.twin(document),
        advice=advising.advice(document),
        downloads=downloads.downloads(document, found),
        **_how(document),
    )


def _title(document: Mapping[str, Any]) -> str:
    """Name a real drive by its model, any other by its target."""
    declared = document["target"].get("declared") or {}
    return str(declared.get("model") or document["target"]["uri"])


def _findings(found: Findings) -> dict[str, Any]:
    return {
        "findings": sections.counts(found),
        "cards": evidence.cards(found),
        "doubtful": evidence.doubtful(found),
        "absent": evidence.absent(found),
        "refused": evidence.refused(found),
        "untried": evidence.refused(found, tried=False),
        "cautions": evidence.cautions(found),
    }


def _performance(document: Mapping[str, Any], found: Findings) -> dict[str, Any]:
    return {
        "performance": figures.performance_charts(document),
        "heat": heat.latency(document),
        "mixture": heat.mixture(document),
        "mixed": mixed.table(document),
        "filling": figures.filling_chart(document, found),
        "settling": figures.settling_chart(document),
        "writes": writes.table(document),
        "writes_lead": writes.lead(document),
        "trace": figures.trace_chart(document),
        "trace_failure": sections.trace_failure(document),
        "failures": sections.failures(document),
    }


def _how(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "identity": _identity(document),
        "declared": _declared(document),
        "drive": sections.flat(document["target"]["drive"]),
        "provenance": _provenance(document),
        "command": str(document["provenance"]["command"]),
        "stages": sections.stages(document),
        "left_out": sections.left_out(document),
        "tried": TRIED.items(),
    }


def _identity(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    target = document["target"]
    info = target["info"]
    rows = [
        ("Target", str(target["uri"])),
        ("Kind", words.kind(target["kind"])),
        (
            "Capacity",
            f"{words.capacity(info['capacity_bytes'])} ({info['capacity_bytes']:,} bytes)",
        ),
        ("Logical block", words.size(info["logical_block_bytes"])),
        ("Open for", "reading and writing" if info["writable"] else "reading only"),
        ("Discard", "supported" if info["discard"] else "not supported"),
        ("Clock", "simulated time" if info["clock"] == "virtual" else "this machine's"),
    ]
    access = target.get("access")
    if access:
        direct = "direct I/O" if access["direct_io"] else "through the page cache"
        why = f" ({access['engine_note']})" if access.get("engine_note") else ""
        rows.append(("Engine", f"{access['engine']}, {direct}{why}"))
    if access and access.get("window"):
        start, size = access["window"]
        rows.append(("Part measured", f"bytes {start:,} to {start + size - 1:,}"))
    if target["state"]:
        rows.append(("State at the start", str(target["state"])))
    return rows


def _declared(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Give what the kernel says of a real target."""
    return sections.flat(document["target"]["declared"])


def _budget(document: Mapping[str, Any]) -> str:
    used = document["provenance"].get("spent")
    name = str(document["provenance"]["budget"])
    return name if used is None else f"{name}: {spending.in_words(used)}"


def _build(build: Mapping[str, str] | None) -> str:
    return "" if build is None else f" (commit {build['commit']}, {build['compiler']})"


def _quieter(machine: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Say what of the machine was not set for measuring, and what sets it."""
    said = quieter(machine) if machine else []
    return [("Not set for measuring", f"{each.what}: {each.now} ({each.command})") for each in said]


def _provenance(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    given = document["provenance"]
    tool = document["tool"]
    seconds = given.get("seconds")
    host = f"{given['host']}, " if "host" in given else ""
    return [
        ("Tool", f"{tool['name']} {tool['version']}{_build(given.get('build'))}"),
        ("Seed", str(document["seed"])),
        ("Budget", _budget(document)),
        ("Started", str(given["started"])),
        ("Took", words.NOTHING if seconds is None else f"{seconds:.1f} s"),
        ("Machine", f"{host}{given['machine']}, {given['kernel']}, Python {given['python']}"),
        *_quieter(document["target"].get("machine")),
        *([("Identity", IDENTITY[given["identity"]])] if "identity" in given else []),
        ("Stages done", ", ".join(given["stages_done"]) or "none"),
        *([("Left out", str(given["left_out"]["in_words"]))] if given.get("left_out") else []),
    ]

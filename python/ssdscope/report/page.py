"""One self-contained HTML file: no script, no request to anywhere, every text escaped."""

from collections.abc import Mapping
from typing import Any

from ssdscope.findings import Findings
from ssdscope.report import (
    breakdown,
    figures,
    model_figures,
    sections,
    spending,
    templating,
    words,
    writes,
)
from ssdscope.report.tried import TRIED

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
        document=document,
        tiles=sections.tiles(document, found),
        findings=sections.findings(found),
        cautions=sections.cautions(found),
        evidence=figures.evidence_charts(found),
        performance=figures.performance_charts(document),
        writes=writes.table(document),
        writes_lead=writes.lead(document),
        attribution=breakdown.attribution(document),
        models=model_figures.charts(document),
        model_rows=model_figures.rows(document),
        twin=figures.twin_chart(document),
        trace=figures.trace_chart(document),
        trace_failure=sections.trace_failure(document),
        failures=sections.failures(document),
        identity=_identity(document),
        description=(document["target"]["drive"] or {}).get("description"),
        declared=_declared(document),
        drive=sections.flat(document["target"]["drive"]),
        provenance=_provenance(document),
        stages=sections.stages(document),
        tried=TRIED.items(),
    )


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
        rows.append(("Engine", f"{access['engine']}, {direct}"))
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


def _provenance(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    given = document["provenance"]
    tool = document["tool"]
    seconds = given.get("seconds")
    host = f"{given['host']}, " if "host" in given else ""
    return [
        ("Tool", f"{tool['name']} {tool['version']}{_build(given.get('build'))}"),
        ("Command", str(given["command"])),
        ("Seed", str(document["seed"])),
        ("Budget", _budget(document)),
        ("Started", str(given["started"])),
        ("Took", words.NOTHING if seconds is None else f"{seconds:.1f} s"),
        ("Machine", f"{host}{given['machine']}, {given['kernel']}, Python {given['python']}"),
        *([("Identity", IDENTITY[given["identity"]])] if "identity" in given else []),
        ("Stages done", ", ".join(given["stages_done"]) or "none"),
        *([("Left out", str(given["left_out"]["in_words"]))] if given.get("left_out") else []),
    ]

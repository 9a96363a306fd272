"""What a notebook shows of findings, reports and advice: the page's words, in short."""

from collections.abc import Mapping, Sequence
from typing import Any

from ssdscope.findings import Absent, Ambiguous, Detected, Finding, Findings
from ssdscope.report import (
    advising,
    evidence,
    figures,
    model_figures,
    sections,
    summary,
    verdict,
    words,
)
from ssdscope.report.parts import Chart, Document, Table
from ssdscope.report.sheet import Code, Sheet


def of_findings(found: Findings) -> Sheet:
    """Show what has a value, then what is absent, then what could not be told, with reasons."""
    told = [each for each in found.values() if isinstance(each, Detected | Ambiguous)]
    table = Table(
        ("", "property", "value", "95 % interval", "what it is"),
        [_row(each, found) for each in told],
    )
    mark = words.OUTCOME_MARKS
    remarks = [
        f"{mark['absent']} absent: {each.names} ({each.short})" for each in evidence.absent(found)
    ]
    remarks += [
        f"{mark['undetectable']} undetectable: {each.names}: {each.short}"
        for each in evidence.refused(found)
    ]
    remarks += [
        f"{words.NOT_TRIED_MARK} {words.NOT_TRIED}: {each.names}: {each.short}"
        for each in evidence.refused(found, tried=False)
    ]
    return Sheet(_counted(found), tables=[table], remarks=remarks)


def _counted(found: Findings) -> str:
    told = ", ".join(f"{count} {kind}" for kind, _, count in sections.counts(found))
    return told or "no findings"


def _row(finding: Finding, found: Findings) -> tuple[str, ...]:
    said = evidence.answer(finding, found)
    what = " ".join(filter(None, (said.meaning, _sentence(said.remark))))
    return f"{said.mark} {said.outcome}", said.name, said.value, words.interval(finding), what


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].removesuffix('.')}." if text else ""


def of_finding(finding: Finding) -> Sheet:
    """Show one answer: what it is, how sure, and what it cost."""
    said = evidence.answer(finding, Findings([finding]))
    cost = [f"{finding.requests:,} requests"] if finding.requests else []
    cost += [f"{words.written(finding)} written"] if finding.bytes_written else []
    lines = [
        ("", f"{said.mark} {said.outcome}"),
        ("value", said.value if isinstance(finding, Detected | Ambiguous) else ""),
        ("95 % interval", "" if finding.interval is None else words.interval(finding)),
        ("what it is", said.meaning),
        ("bound", _bound(finding)),
        ("remark", _sentence(said.remark)),
        ("probe", ", ".join([finding.probe, *cost])),
    ]
    cautions = [sections.caution(each) for each in finding.evidence.cautions]
    title = f"{said.name} ({finding.name})"
    return Sheet(title, [line for line in lines if line[1]], remarks=cautions)


def _bound(finding: Finding) -> str:
    return f"any effect is below {words.percent(finding.bound)}" if (
        isinstance(finding, Absent) and finding.bound is not None
    ) else ""  # fmt: skip


def of_report(document: Document, page: str) -> Sheet:
    """Show what the page says first: its sentence, its lines, and how much was found."""
    found = Findings.from_json(document["findings"])
    said = verdict.verdict(document, found)
    lines = [*summary.lines(document, found), ("Findings", _counted(found))]
    remarks = [*said.more]
    if document["provenance"].get("interrupted"):
        remarks.append("Interrupted: this is what was measured until then.")
    named = [("Target", str(document["target"]["uri"])), *lines]
    return Sheet(said.sentence, named, remarks=remarks, link=page)


def pictures(document: Document) -> list[Chart]:
    """Give every picture of the page, in its order but that performance stands first."""
    single = (
        figures.settling_chart(document),
        figures.trace_chart(document),
        figures.twin_chart(document),
    )
    found = Findings.from_json(document["findings"])
    return [
        *figures.performance_charts(document),
        *(each for each in single if each is not None),
        *model_figures.charts(document),
        *evidence.pictures(found.values()),
    ]


def of_advice(given: Sequence[Mapping[str, Any]]) -> Sheet:
    """Show what to set and what it gains; then what stays as it is, with the reasons."""
    told = advising.advice({"advice": given})
    if told is None:
        return Sheet("no advice")
    table = Table(
        ("tool", "setting", "command", "gain", "measured", "why"),
        [
            (
                each.tool,
                each.knob,
                Code(each.command) if each.command else each.habit,
                "; ".join(each.gains) or words.NOTHING,
                each.streams or each.effect,
                each.why,
            )
            for each in told.settings
        ],
    )
    stays = [f"Stays as it is: {each.names}: {each.why}" for each in told.stays]
    title = f"advice: {len(told.settings)} of {len(given)} settings"
    return Sheet(title, tables=[table], remarks=stays)

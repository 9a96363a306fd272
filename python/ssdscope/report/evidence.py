"""Findings on the page: what was detected beside the picture that shows it, the rest in a line.

Properties that rest on the same pictures share a card: one measurement answered them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ssdscope.advise.facts import MERGE, PHASE, RMW, Facts
from ssdscope.findings import Absent, Ambiguous, Detected, Exhibit, Finding, Findings, Undetectable
from ssdscope.plots import findings as drawn
from ssdscope.report import figures, sections, words
from ssdscope.report.parts import Chart


@dataclass(frozen=True)
class Answer:
    """One property of a card, or a line of its own."""

    key: str
    name: str
    value: str
    interval: str
    meaning: str
    remark: str
    outcome: str
    mark: str


@dataclass(frozen=True)
class Card:
    """Answers that one measurement gave, the picture that convinces, and the others."""

    answers: list[Answer]
    picture: Chart | None
    others: list[Chart]
    cautions: list[str]


@dataclass(frozen=True)
class Line:
    """Refusals or absences that share their words: names, one line, and the rest of it."""

    names: str
    short: str
    long: str
    charts: list[Chart]


def cards(found: Findings) -> list[Card]:
    """Give a card for each measurement that detected something, the strongest effect first."""
    groups: dict[tuple[str, ...], list[Detected]] = {}
    for each in found.values():
        if isinstance(each, Detected):
            groups.setdefault(_exhibits_of(each) or (each.name,), []).append(each)
    told = sorted(groups.values(), key=lambda group: -max(each.effect for each in group))
    taken: set[str] = set()
    everywhere = set(cautions(found))
    return [_card(group, taken, everywhere, found) for group in told]


def cautions(found: Findings) -> list[str]:
    """Give the cautions that hold for more than one measurement; the others stand in its card."""
    held: dict[str, set[tuple[str, ...]]] = {}
    for each in found.values():
        for text in each.evidence.cautions:
            held.setdefault(sections.caution(text), set()).add(_exhibits_of(each) or (each.name,))
    lone = {name for each in found.values() if isinstance(each, Detected)
            for name in (_exhibits_of(each) or (each.name,))}  # fmt: skip
    return [text for text, where in held.items()
            if len(where) > 1 or not all(lone & set(each) for each in where)]  # fmt: skip


def _exhibits_of(finding: Finding) -> tuple[str, ...]:
    return tuple(each.name for each in _shown(finding))


def _shown(finding: Finding) -> list[Exhibit]:
    """Give the exhibits that hold something to see, what was fitted first."""
    some = [each for each in finding.evidence.exhibits if any(s.x for s in each.series)]
    return sorted(some, key=lambda each: not each.fitted)


def _card(
    group: Sequence[Detected], taken: set[str], everywhere: set[str], found: Findings
) -> Card:
    pictures = [figure_of(each) for each in _shown(group[0]) if each.name not in taken]
    taken |= set(_exhibits_of(group[0]))
    said = [sections.caution(text) for each in group for text in each.evidence.cautions]
    return Card(
        answers=[answer(each, found) for each in group],
        picture=next(iter(pictures), None),
        others=pictures[1:],
        cautions=[text for text in dict.fromkeys(said) if text not in everywhere],
    )


def pictures(found: Iterable[Finding]) -> list[Chart]:
    """Give the picture of each exhibit of some findings, once; of a finding the best one first."""
    every = {each.name: each for finding in found for each in _shown(finding)}
    return [figure_of(each) for each in every.values()]


def picture_names(found: Iterable[Finding]) -> dict[str, str]:
    """Name the picture of each finding that has one, by its property."""
    return {each.name: _id_of(_shown(each)[0]) for each in found if _shown(each)}


def _id_of(shown: Exhibit) -> str:
    return f"evidence-{shown.name}"


def figure_of(shown: Exhibit) -> Chart:
    """Draw an exhibit."""
    return Chart(
        _id_of(shown),
        shown.title,
        f"{shown.caption} {words.fitted(shown)}".strip(),
        partial(drawn.exhibit, shown),
        figures.numbers(shown),
    )


def answer(finding: Finding, found: Findings) -> Answer:
    """Give the answer of a finding in words."""
    meaning = finding.about.meaning
    return Answer(
        key=finding.name,
        name=finding.about.name,
        value=words.value(finding),
        interval=_interval(finding),
        meaning=meaning[:1].upper() + meaning[1:] + ".",
        remark="; ".join(filter(None, (_begins(finding, found), words.remark(finding)))),
        outcome=finding.outcome,
        mark=words.OUTCOME_MARKS[finding.outcome],
    )


def _begins(finding: Finding, found: Findings) -> str:
    """Say where a partition should begin, of the property that decides it."""
    facts = Facts(found)
    if finding.name != PHASE or not (facts.known(MERGE) or facts.known(RMW)):
        return ""
    return f"the first whole one begins at {words.size(facts.start_bytes)}: partitions should, too"


def _interval(finding: Finding) -> str:
    """Write the interval; one whose ends read alike says only how narrow it is."""
    if finding.interval is None:
        return ""
    low, high = (words.value(_at(finding, end)) for end in finding.interval)
    return (
        "95 % interval within the last digit" if low == high else f"95 %: {words.interval(finding)}"
    )


def _at(finding: Finding, value: float) -> Finding:
    return Detected(name=finding.name, probe=finding.probe, value=value, interval=None, effect=0.0)


def doubtful(found: Findings) -> list[Answer]:
    """Give what has several answers."""
    return [answer(each, found) for each in found.values() if isinstance(each, Ambiguous)]


def absent(found: Findings) -> list[Line]:
    """Give what is not there, those with one reason in one line."""
    groups: dict[str, list[Finding]] = {}
    for each in found.values():
        if isinstance(each, Absent):
            groups.setdefault(each.reason, []).append(each)
    return list(_lines(found, groups, lambda one: (str(one.reason), _bound(one))))


def _bound(finding: Finding) -> str:
    if finding.bound is None:
        return ""
    return f"If there is an effect, it is smaller than {words.percent(finding.bound)}."


def refused(found: Findings, *, tried: bool = True) -> list[Line]:
    """Give what could not be told, or was not tried; those with one reason in one line."""
    groups: dict[str, list[Finding]] = {}
    for each in found.values():
        if isinstance(each, Undetectable) and each.tried == tried:
            seen = each.evidence.detail or each.what_was_seen
            groups.setdefault(f"{each.reason} {seen}", []).append(each)
    return list(_lines(found, groups, _of_refusal))


def _of_refusal(finding: Finding) -> tuple[str, str]:
    assert isinstance(finding, Undetectable)  # noqa: S101 - sorted out by `refused`
    short = finding.evidence.detail or finding.what_was_seen
    long = f"{finding.what_was_seen}. Would help: {finding.what_would_help}."
    return short, long[0].upper() + long[1:]


def _lines(found: Findings, groups: dict[str, list[Finding]],
           said: Callable[[Finding], tuple[str, str]]) -> Iterator[Line]:  # fmt: skip
    """Give a line for each group; its pictures are those that no card shows."""
    shown = {name for each in found.values() if isinstance(each, Detected)
             for name in _exhibits_of(each)}  # fmt: skip
    for group in groups.values():
        short, long = said(group[0])
        charts = []
        for exhibit in (exhibit for each in group for exhibit in _shown(each)):
            if exhibit.name not in shown:
                shown.add(exhibit.name)
                charts.append(figure_of(exhibit))
        yield Line(", ".join(each.about.name for each in group), short, long, charts)

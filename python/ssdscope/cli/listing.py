"""``ssdscope reproduce list``: which studies there are, and what their sources state."""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json
from ssdscope.cli.terminal import width
from ssdscope.errors import EXIT_DONE, UsageError

if TYPE_CHECKING:
    from ssdscope.studies.paper import Paper, Statement

_LINE_WIDTH = 96
_MARGIN = "  "


def show(key: str | None, output_format: str) -> int:
    """Tell which studies there are; or what the source of one states.

    Raises
    ------
    UsageError
        If there is no such study, or it has no source.
    """
    if key is None:
        return _studies(output_format)
    from ssdscope.studies import require_study
    from ssdscope.studies.paper import load, sources

    require_study(key)
    listed = sources()
    if key not in listed:
        raise UsageError(
            f"{key} has no source whose statements are listed",
            hint=f"these have: {', '.join(listed)}",
        )
    return _statements(load(key), output_format)


def _studies(output_format: str) -> int:
    from ssdscope.studies import registry

    if output_format == "json":
        from ssdscope.results.record import envelope

        studies = [
            {"study": key, "summary": each.summary, "figures": each.figures}
            for key, each in registry().items()
        ]
        emit_json({**envelope(), "studies": studies})
        return EXIT_DONE
    parts = []
    for key, each in registry().items():
        parts.append(f"{key}: {each.summary}")
        parts.append(table(["figure", "shows"], [[*row] for row in each.figures.items()], left=2))
    emit("\n\n".join(parts))
    return EXIT_DONE


def _statements(paper: "Paper", output_format: str) -> int:
    if output_format == "json":
        from ssdscope.results.record import envelope

        emit_json({**envelope(), "study": paper.key, **_document(paper)})
        return EXIT_DONE
    counts = ", ".join(f"{count} {name}" for name, count in paper.counted().items())
    stated = "numbered figures, tables and sentences that state a result"
    made = f"Verdicts are of {paper.verdicts.made}."
    heads = [paper.title, f"{len(paper.statements)} {stated}; {counts}. {made}"]
    room = min(width() or _LINE_WIDTH, _LINE_WIDTH)
    parts = [textwrap.fill(each, room) for each in heads]
    parts += [
        "\n".join(
            textwrap.fill(line, room, subsequent_indent=_MARGIN) for line in _lines(paper, each)
        )
        for each in paper.statements
    ]
    emit("\n\n".join(parts))
    return EXIT_DONE


def _lines(paper: "Paper", statement: "Statement") -> Iterator[str]:
    page = f" (page {statement.page})" if statement.page else ""
    yield f"{statement.number}{page}: {statement.says}"
    yield f"{_MARGIN}{statement.quote}"
    yield f"{_MARGIN}{paper.outcome(statement)}"


def _document(paper: "Paper") -> dict[str, Any]:
    return {
        "title": paper.title,
        "made": paper.verdicts.made,
        "statements": [
            {
                "number": each.number,
                "page": each.page,
                "quote": each.quote,
                "says": each.says,
                "figures": paper.figures_of(each),
                "verdict": paper.verdict(each),
                "unmeasured": each.unmeasured or None,
                "repeats": each.repeats or None,
            }
            for each in paper.statements
        ],
    }

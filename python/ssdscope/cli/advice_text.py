"""Advice as text: the line to type, what it gains, and why; the rest in a line for each reason."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ssdscope.cli import terminal
from ssdscope.cli.layout import table
from ssdscope.units import format_binary, format_duration

if TYPE_CHECKING:
    from ssdscope.advise import Advice, Ground
    from ssdscope.advise.layout import LayoutAdvice

COLUMNS = 80
"""Of lines, where there is no terminal that says otherwise."""
INDENT = "  "
COLUMNS_MEAN = (
    "pages: RMW units written; RMW: of these read, modified and written; blocks: merge units "
    "touched, each of which takes a log block"
)


def advice_text(given: Sequence["Advice"], ground: "Ground | str") -> str:
    """Lay out settings: those to make, those that make no difference, those not known."""
    parts = [_setting(each) for each in given if each.outcome == "set"]
    if not parts:
        parts = ["Nothing to set."]
    if isinstance(ground, str):
        parts.append(_filled(f"Gains were not measured: {ground}.", ""))
    parts += _listed(
        "No difference on this drive", [each for each in given if each.outcome == "no effect"]
    )
    parts += _not_known([each for each in given if each.outcome == "not known"])
    return "\n\n".join(parts)


def _setting(each: "Advice") -> str:
    lines = [f"{each.tool}: {each.knob} = {each.value}{_default(each)}"]
    lines += [f"{INDENT}{line}" for line in (each.command or "").splitlines()]
    said = [("in", each.typed_in), ("do", each.habit), *_gained(each), ("why", each.because)]
    lines += [_filled(f"{name:<4}  {text}", INDENT) for name, text in said if text]
    return "\n".join(lines)


def _default(each: "Advice") -> str:
    if each.default is None:
        return ""
    of = f" ({each.default_of})" if each.default_of else ""
    return f" instead of {each.default}{of}"


def _gained(each: "Advice") -> Iterator[tuple[str, str]]:
    """Say how much faster in either state, when, and by which requests; or why that is open."""
    if each.gains:
        gain = each.gains[0]
        yield "gain", "; ".join(one.in_words() for one in each.gains)
        yield "only", gain.at_most
        where = "" if gain.of == "twin" else f", on the {gain.of}"
        yield "of", f"{gain.after}; before, {gain.before}{where}"
    elif each.gain_remark not in (None, "no twin"):
        yield "gain", f"not measured: {each.gain_remark}"


def _listed(heading: str, those: Sequence["Advice"]) -> list[str]:
    if not those:
        return []
    lines = [_filled(f"{each.tool} {each.knob}: {each.because}", INDENT) for each in those]
    return ["\n".join([f"{heading}:", *lines])]


def _not_known(those: Sequence["Advice"]) -> list[str]:
    """Give each reason once, with the settings that it leaves open."""
    reasons: dict[str, list[str]] = {}
    for each in those:
        reasons.setdefault(each.because, []).append(f"{each.tool} {each.knob}")
    lines = [
        _filled(f"{reason} ({', '.join(settings)})", INDENT) for reason, settings in reasons.items()
    ]
    heading = "No advice, as what it rests on is not known:"
    return ["\n".join([heading, *lines])] if lines else []


def _filled(text: str, indent: str) -> str:
    room = terminal.width() or COLUMNS
    return textwrap.fill(
        text,
        max(room, 40),
        initial_indent=indent,
        subsequent_indent=indent + INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def layout_text(advice: "LayoutAdvice", trace: str) -> str:
    """Lay out what each layout of a trace comes to."""
    from ssdscope.advise.layout import STEPS

    units = f"RMW unit {format_binary(advice.page_bytes)}"
    if advice.block_bytes is not None:
        units += f", merge unit {format_binary(advice.block_bytes)}"
    header = ["layout", "writes", "pages", "RMW"]
    header += ["blocks"] if advice.block_bytes is not None else []
    header += ["merges", "write mean", "gain"] if advice.outcomes else []
    parts = [
        f"{trace}: {units}",
        table(header, list(_rows(advice))),
        "\n".join(_filled(f"{name}: {STEPS[name]}", "") for name in advice.counts),
        _filled(COLUMNS_MEAN, ""),
    ]
    if advice.outcomes:
        parts.append(f"Merges, write mean and gain: {advice.run_requests:,} requests on the twin")
    if advice.remark:
        parts.append(f"Not run on a twin: {advice.remark}")
    return "\n\n".join(parts)


def _rows(advice: "LayoutAdvice") -> Iterable[list[str]]:
    gains = advice.gains()
    for name, counted in advice.counts.items():
        row = [name, f"{counted.writes:,}", f"{counted.page_writes:,}", f"{counted.read_first:,}"]
        row += [] if counted.blocks is None else [f"{counted.blocks:,}"]
        if name in advice.outcomes:
            outcome = advice.outcomes[name]
            row += [
                f"{sum(outcome.merges.values()):,}",
                format_duration(outcome.write_mean_ns),
                f"{gains[name]:.3g}",
            ]
        yield row

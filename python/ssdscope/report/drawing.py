"""The inside of the drive, drawn: each part with its size, and how sure we are of it.

Narrow, so that a phone shows it as it is. What is sure, doubtful, not there and not known differs
in its border and a mark as well as in its colour: it reads in black and white.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from ssdscope.findings import Ambiguous, Detected, Finding, Findings
from ssdscope.report import verdict, words
from ssdscope.report.parts import Document, measured

WIDTH = 420
MARGIN, GAP = 10, 8
WIDTH_OF_LETTER = 7.6
"""About, of a value."""
MOST_UNITS = 16
"""Drawn side by side; of more the number alone says."""
MARKS = words.OUTCOME_MARKS | {"unknown": "·"}
STATES = ("detected", "ambiguous", "absent", "undetectable")
LEGEND = {"detected": "sure", "ambiguous": "doubtful", "absent": "not there",
          "undetectable": "not known"}  # fmt: skip
Part = tuple[str, str, str, str]
PARTS: tuple[Part, ...] = (
    ("Write buffer", "write_buffer_bytes", "write_buffer_unit_bytes", "units of {}"),
    ("Read cache", "read_cache_bytes", "read_cache_unit_bytes", "units of {}"),
    ("Map in RAM for", "map_cache_bytes", "map_zone_bytes", "zones of {}"),
)
"""Of the controller: name, size, unit, and how the unit is told."""
DISK_PARTS: tuple[Part, ...] = (
    ("Read cache", "disk_cache_bytes", "disk_cache_segments", "segments: {}"),
)
"""The same of a disk."""
SEEN = ("detected", "ambiguous")
MOST_TOLD = 3
"""Beside a disk."""
DRAWN = (
    *(key for _, *keys, _ in PARTS for key in keys), "interleave_degree", "placement",
    "merge_unit_bytes", "reclaim_unit_bytes", "rmw_unit_bytes", "over_provisioning_ratio",
    "pslc_bytes", "rotation_ns", "seek_full_ns", "disk_cache_bytes",
)  # fmt: skip
SPARE_WIDTH = 0.30
"""Of the bar of the whole flash, at most for the spare space: it would not be seen to scale."""


@dataclass
class _Sheet:
    """SVG elements, and how far down they reach."""

    parts: list[str] = field(default_factory=list)
    y: float = MARGIN

    def box(self, x: float, y: float, w: float, h: float, state: str, radius: float = 5) -> None:
        """Draw a part in the look of how sure it is."""
        self.parts.append(
            f'<rect class="part {state}" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" '
            f'height="{h:.1f}" rx="{radius}"/>'
        )

    def text(self, x: float, y: float, said: str, look: str = "", anchor: str = "start") -> None:
        """Write words; they are escaped here."""
        self.parts.append(
            f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
            f"{escape(said)}</text>"
        )

    def labelled(self, x: float, w: float, h: float, name: str, finding: Finding | None,
                 note: str = "") -> None:  # fmt: skip
        """Draw a part with its name, its mark and value, and a note."""
        state = state_of(finding)
        self.box(x, self.y, w, h, state)
        self.text(x + 8, self.y + 15, f"{MARKS[state]} {name}", "name")
        self.text(x + 8, self.y + 31, _fitting(finding, w - 16), "value")
        if note:
            self.text(x + 8, self.y + 45, note, "note")


def state_of(finding: Finding | None) -> str:
    """Give how sure we are: an outcome; what was not probed is not known."""
    return "undetectable" if finding is None else finding.outcome


def value_of(finding: Finding | None) -> str:
    """Write a value, or that there is none."""
    if finding is None:
        return "not probed"
    unknown = "not known" if finding.tried else words.NOT_TRIED
    return unknown if finding.outcome == "undetectable" else words.value(finding)


def _fitting(finding: Finding | None, room: float) -> str:
    """Write a value, or of candidates that take too much room how many they are."""
    told = value_of(finding)
    if len(told) * WIDTH_OF_LETTER <= room or not isinstance(finding, Ambiguous):
        return told
    return f"{len(finding.candidates)} candidates"


def inside(document: Document, found: Findings) -> str | None:
    """Draw the inside; None where nothing was looked for, or nothing to draw was found.

    Returns
    -------
    str
        An SVG element of this module's own words and escaped values.
    """
    if not any(key in found and state_of(found[key]) != "undetectable" for key in DRAWN):
        return None
    sheet = _Sheet()
    moving = state_of(found.get("rotation_ns")) in SEEN or verdict.moving_parts(document)
    _controller(sheet, found, DISK_PARTS if moving else PARTS)
    if moving:
        _platter(sheet, document, found)
    else:
        _units(sheet, found)
        _sizes(sheet, found)
        _space(sheet, document, found)
    _legend(sheet)
    height = sheet.y + MARGIN
    said = escape(in_words(found), quote=True)
    return (
        f'<svg class="inside" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{said}">'
        f"{_PATTERN}{''.join(sheet.parts)}</svg>"
    )


def in_words(found: Findings) -> str:
    """Say what the drawing shows, for who does not see it."""
    told = [f"{each.about.name}: {value_of(each)}" for each in found.values()]
    return "Inside of the drive. " + "; ".join(told)


_PATTERN = (
    '<defs><pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="6" height="6" fill="var(--surface)"/>'
    '<line x1="0" y1="0" x2="0" y2="6" stroke="var(--warn)" stroke-width="1.2" '
    'stroke-opacity="0.4"/></pattern></defs>'
)
"""Of what is doubtful."""


def _controller(sheet: _Sheet, found: Findings, parts: Sequence[Part]) -> None:
    """Draw what lies between the host and the flash: buffer, cache, map."""
    sheet.text(MARGIN, sheet.y + 10, "Controller", "head")
    sheet.y += 17
    width = (WIDTH - 2 * MARGIN - (len(parts) - 1) * GAP) / len(parts)
    for place, (name, key, unit, note) in enumerate(parts):
        of = found.get(unit)
        told = note.format(words.value(of)) if isinstance(of, Detected) else ""
        x = MARGIN + place * (width + GAP)
        sheet.labelled(x, width, 52, name, found.get(key), told)
    sheet.y += 52 + 16
    sheet.parts.append(
        f'<path class="wire" d="M{WIDTH / 2:.0f} {sheet.y - 15:.0f}v12m-4-5l4 5l4-5"/>'
    )


def _platter(sheet: _Sheet, document: Document, found: Findings) -> None:
    """Draw a disk and its arm: nothing is said of flash where there is none."""
    sheet.text(MARGIN, sheet.y + 10, "✓ A disk that turns, and an arm", "head")
    sheet.y += 20
    radius, x = 62.0, MARGIN + 74.0
    y = sheet.y + radius
    sheet.parts.append(
        f'<circle class="part detected" cx="{x}" cy="{y:.0f}" r="{radius}"/>'
        f'<circle class="part absent" cx="{x}" cy="{y:.0f}" r="9"/>'
        f'<path class="arm" d="M{x + 86} {y + 48:.0f}L{x + 26} {y - 14:.0f}"/>'
        f'<circle class="part absent" cx="{x + 86}" cy="{y + 48:.0f}" r="7"/>'
    )
    told = [("Capacity", words.capacity(document["target"]["info"]["capacity_bytes"]))]
    for key, name in (("rotation_ns", "One turn"), ("seek_full_ns", "Full stroke")):
        told += [(name, words.value(found[key]))] if state_of(found.get(key)) in SEEN else []
    for rw, name in (("randread", "A read at random"), ("read", "A read in sequence")):
        points = measured(document, rw=rw, iodepth=1)
        told += [(name, words.time(points[0]["mean_ns"]))] if points else []
    told = told[:MOST_TOLD]
    for place, (name, value) in enumerate(told):
        sheet.text(x + 116, sheet.y + 18 + 40 * place, name, "name")
        sheet.text(x + 116, sheet.y + 34 + 40 * place, value, "value")
    sheet.y += 2 * radius + 16


def _units(sheet: _Sheet, found: Findings) -> None:
    """Draw what works side by side: dies over channels, as many as are known."""
    degree = found.get("interleave_degree")
    state = state_of(degree)
    known = isinstance(degree, Detected) and isinstance(degree.value, int | float)
    count = int(float(degree.value)) if known and degree is not None and degree.value else 0
    sheet.text(MARGIN, sheet.y + 10, f"{MARKS[state]} {_side_by_side(state, count)}", "head")
    placement = found.get("placement")
    if isinstance(placement, Detected):
        sheet.text(WIDTH - MARGIN, sheet.y + 10, _placed(placement, found), "note", "end")
    sheet.y += 17
    drawn = min(count, MOST_UNITS) or 4
    gap = 4
    width = (WIDTH - 2 * MARGIN - (drawn - 1) * gap) / drawn
    for place in range(drawn):
        x = MARGIN + place * (width + gap)
        sheet.box(x, sheet.y, width, 30, state, 3)
        if place == drawn - 1 and count > drawn:
            sheet.text(x + width / 2, sheet.y + 19, "…", "name", "middle")
    sheet.y += 30 + 14


def _side_by_side(state: str, count: int) -> str:
    if count:
        return f"{count} units read at the same time"
    if state == "ambiguous":
        return "Units that read at the same time: doubtful"
    return "How many dies read at the same time is not known"


def _placed(placement: Finding, found: Findings) -> str:
    pages = found.get("placement_pages")
    if isinstance(pages, Detected):
        return f"{words.value(placement)}, {words.value(pages)} in a row"
    return words.value(placement)


def _sizes(sheet: _Sheet, found: Findings) -> None:
    """Draw the spans that writes are rewritten and merged in, one within the other."""
    sheet.text(MARGIN, sheet.y + 10, "What a write moves", "head")
    sheet.y += 17
    chain: Sequence[tuple[str, str, str]] = (
        ("merge_unit_bytes", "Merge unit", "rewritten as a whole when a log block is full"),
        ("reclaim_unit_bytes", "Reclaim unit", "collected and erased as one"),
        ("rmw_unit_bytes", "RMW unit (page)", "rewritten by the smallest write"),
    )
    probed = [each for each in chain if each[0] in found]
    top, inset = sheet.y, 0.0
    heights = 42.0
    for depth, (key, name, note) in enumerate(probed):
        y = top + depth * heights
        state = state_of(found[key])
        left = len(probed) - depth
        width, height = WIDTH - 2 * (MARGIN + inset), heights * left + 6 * (left - 1)
        sheet.box(MARGIN + inset, y, width, height, state)
        sheet.text(MARGIN + inset + 8, y + 16, f"{MARKS[state]} {name}", "name")
        sheet.text(WIDTH - MARGIN - inset - 8, y + 16, value_of(found[key]), "value", "end")
        sheet.text(MARGIN + inset + 8, y + 31, note, "note")
        inset += 12
    sheet.y = top + heights * len(probed) + 6 * max(0, len(probed) - 1) + 14
    if not probed:
        sheet.text(MARGIN + 8, sheet.y, "not probed", "note")
        sheet.y += 14


def _space(sheet: _Sheet, document: Document, found: Findings) -> None:
    """Draw what is exported, and what is spare or written fast."""
    spare, fast = found.get("over_provisioning_ratio"), found.get("pslc_bytes")
    sheet.text(MARGIN, sheet.y + 10, "Space", "head")
    sheet.y += 17
    whole = WIDTH - 2 * MARGIN
    if isinstance(spare, Detected) and isinstance(spare.value, int | float):
        share = spare.value / (1 + spare.value)
    else:
        share = SPARE_WIDTH
    beside = max(118.0, whole * share)
    state = state_of(spare)
    sheet.box(MARGIN, sheet.y, whole - beside - 4, 46, "detected")
    sheet.text(MARGIN + 8, sheet.y + 16, "✓ Exported", "name")
    sheet.text(MARGIN + 8, sheet.y + 33,
               words.capacity(document["target"]["info"]["capacity_bytes"]), "value")  # fmt: skip
    x = MARGIN + whole - beside
    sheet.box(x, sheet.y, beside, 46, state)
    sheet.text(x + 8, sheet.y + 16, f"{MARKS[state]} Spare space", "name")
    told = value_of(spare)
    if isinstance(spare, Detected) and isinstance(spare.value, int | float):
        told = words.percent(spare.value)
    sheet.text(x + 8, sheet.y + 33, told, "value")
    if fast is not None:
        fast_state = state_of(fast)
        sheet.text(
            MARGIN + whole - beside - 12, sheet.y + 33,
            f"{MARKS[fast_state]} fast region: {value_of(fast)}", "note", "end",
        )  # fmt: skip
    sheet.y += 46 + 12


def _legend(sheet: _Sheet) -> None:
    width = (WIDTH - 2 * MARGIN) / len(STATES)
    for place, state in enumerate(STATES):
        x = MARGIN + place * width
        sheet.box(x, sheet.y, 14, 12, state, 2)
        sheet.text(x + 19, sheet.y + 10, f"{MARKS[state]} {LEGEND[state]}", "note")
    sheet.y += 12

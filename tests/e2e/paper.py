"""Where on its sheets a printed page has words: enough of PDF to see what is cut or left empty."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

Matrix = tuple[float, float, float, float, float, float]
TOKEN = re.compile(rb"\[.*?\]|<[^>]*>|\((?:\\.|[^\\)])*\)|/[^\s/\[<(]+|[^\s\[\]<>()/]+", re.DOTALL)
HEADING = 1.3
"""Times the usual size of words."""
OPERANDS = (b"/", b"<", b"[", b"(")


@dataclass(frozen=True)
class Sheet:
    """A sheet; where words begin on it, in points from its lower left corner, and their size."""

    width: float
    height: float
    words: list[tuple[float, float, float]]

    @property
    def filled(self) -> float:
        """Down to which share of the sheet there are words."""
        return 1 - min(y for _, y, _ in self.words) / self.height

    @property
    def orphaned(self) -> bool:
        """Whether it ends with a heading: large words, and no line of others below them."""
        usual = median(size for *_, size in self.words)
        large = [y for _, y, size in self.words if size > HEADING * usual]
        return bool(large) and min(y for _, y, _ in self.words) >= min(large) - 1


def sheets(pdf: bytes) -> list[Sheet]:
    """Read the sheets of a PDF that Chromium printed, in order."""
    parts = {int(m[1]): m[2] for m in re.finditer(rb"(\d+) 0 obj\s*(.*?)endobj", pdf, re.DOTALL)}
    root = next(body for body in parts.values() if b"/Catalog" in body)
    return [_sheet(parts, body) for body in _leaves(parts, _reference(root, b"Pages"))]


def _reference(body: bytes, key: bytes) -> int:
    found = re.search(rb"/" + key + rb"\s+(\d+) 0 R", body)
    assert found is not None, f"no {key!r} in {body[:80]!r}"
    return int(found[1])


def _leaves(parts: dict[int, bytes], at: int) -> Iterator[bytes]:
    kids = re.search(rb"/Kids\s*\[(.*?)\]", parts[at], re.DOTALL)
    if kids is None:
        yield parts[at]
        return
    for kid in re.findall(rb"(\d+) 0 R", kids[1]):
        yield from _leaves(parts, int(kid))


def _sheet(parts: dict[int, bytes], body: bytes) -> Sheet:
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", body)
    assert box is not None
    told = parts[_reference(body, b"Contents")]
    data = re.search(rb"stream\r?\n(.*?)\r?\nendstream", told, re.DOTALL)
    assert data is not None
    # A return that ends the data may be taken for the line's end: only the checksum misses it then.
    code = zlib.decompressobj().decompress(data[1]) if b"FlateDecode" in told else data[1]
    return Sheet(float(box[1]), float(box[2]), list(_words(code)))


def _words(code: bytes) -> Iterator[tuple[float, float, float]]:
    """Follow the transformations of a drawing, and give where it writes, and how large."""
    now: Matrix = (1, 0, 0, 1, 0, 0)
    kept: list[Matrix] = []
    text: Matrix | None = None
    size = 1.0
    numbers: list[float] = []
    for token in TOKEN.findall(code):
        try:
            numbers.append(float(token))
            continue
        except ValueError:
            pass
        match token:
            case b"q":
                kept.append(now)
            case b"Q":
                now = kept.pop()
            case b"cm":
                now = _times(numbers, now)
            case b"Tf":
                size = numbers[-1]
            case b"Tm":
                text = _times(numbers, now)
            case b"Tj" | b"TJ" if text is not None:
                yield text[4], text[5], size * abs(text[3])
        if not token.startswith(OPERANDS):
            numbers = []


def _times(numbers: list[float], m: Matrix) -> Matrix:
    a, b, c, d, e, f = numbers[-6:]
    return (
        a * m[0] + b * m[2], a * m[1] + b * m[3], c * m[0] + d * m[2], c * m[1] + d * m[3],
        e * m[0] + f * m[2] + m[4], e * m[1] + f * m[3] + m[5],
    )  # fmt: skip

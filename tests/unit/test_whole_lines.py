"""Files of whole lines: read where they begin, added to at once, whatever a disk takes."""

from pathlib import Path

import pytest

from ssdscope.errors import UsageError
from ssdscope.results.whole_lines import WholeLines


def test_lines_are_read_where_they_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssdscope.results.whole_lines._CHUNK_BYTES", 4)
    path = tmp_path / "a.jsonl"
    path.write_bytes("one\nzwölf\n\ncut short".encode())
    with WholeLines(path) as lines:
        assert lines.lines == ["one", "zwölf", ""]
        assert [place for place, _ in lines.placed()] == [0, 4, 11]
        place = lines.append("four")
        assert lines.read(4) == "zwölf"
        assert lines.append("five") == place + 5
        assert (lines.read(place), lines.read(place + 5)) == ("four", "five")
        assert lines.lines == ["one", "zwölf", ""], "what it held when it was opened"
    assert path.read_bytes() == "one\nzwölf\n\nfour\nfive\n".encode()
    path.write_bytes(b"\xff\n")
    with WholeLines(path) as lines, pytest.raises(UsageError, match="holds no text"):
        list(lines.placed())

"""Where the values of a drive file come from: what its comments say of each.

A comment speaks for the key whose line it ends, or that it stands right above. One that ends the
line of a ``[table]``, or stands right above or below it, speaks for the keys of that table that
have none of their own; the comment that opens the file, for all that is left.
"""

import re
from dataclasses import dataclass, field

_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|#.*|[\[\]{}]|.')
_KEY = re.compile(r"(?P<key>[\w.\"' -]+?)\s*=")
_TABLE = re.compile(r"\[(?P<table>[\w.]+)\]")

SOURCES = ("line", "table", "head", "default")
"""What speaks for a value: its own line, its table, the head of the file, or nobody: a default."""


@dataclass(frozen=True)
class Origin:
    """What a drive file says of one value.

    Attributes
    ----------
    source
        One of `SOURCES`.
    said
        The comment, in one line; empty for a default and where the file says nothing.
    line
        Where the value stands, counted from 1; None for a default.
    """

    source: str
    said: str = ""
    line: int | None = None


DEFAULT = Origin("default")


@dataclass
class Comments:
    """The comments of one drive file.

    Attributes
    ----------
    head
        The comment that opens the file, in one line.
    """

    head: str = ""
    _tables: dict[str, str] = field(default_factory=dict)
    _keys: dict[str, tuple[int, str]] = field(default_factory=dict)

    def origin(self, key: str) -> Origin:
        """Say where the value of a dotted key comes from."""
        parts = key.split(".")
        # A table may be written inline: then its own line speaks for its keys.
        for length in range(len(parts), 0, -1):
            found = self._keys.get(".".join(parts[:length]))
            if found is None:
                continue
            line, said = found
            if said:
                return Origin("line", said, line)
            table = self._tables.get(".".join(parts[:-1]), "")
            return Origin("table", table, line) if table else Origin("head", self.head, line)
        return DEFAULT

    def overridden_by(self, others: "Comments", table: str) -> "Comments":
        """Let another file speak for the keys that it sets in `table`, and be the head."""
        start = f"{table}."
        own = {
            key.removeprefix(start): told
            for key, told in others._keys.items()
            if key.startswith(start)
        }
        return Comments(others.head, self._tables, {**self._keys, **own})


def read_comments(text: str) -> Comments:
    r"""Read the comments of a drive file that parses.

    Examples
    --------
    >>> comments = read_comments("# By X.\n[nand] # data sheet\nways = 2\ndies = 1 # guess\n")
    >>> comments.origin("nand.ways").said, comments.origin("nand.dies").said
    ('data sheet', 'guess')
    >>> comments.origin("nand.planes").source
    'default'
    """
    comments = Comments()
    table, depth = "", 0
    above: list[str] = []
    key, opened = "", False  # the key whose value goes on; whether a table was just opened
    for number, line in enumerate(text.splitlines(), start=1):
        code, said, change = _split(line)
        if depth > 0:
            comments._keys[key] = (comments._keys[key][0], _join(comments._keys[key][1], said))
        elif (start := _TABLE.match(code)) is not None:
            table, opened = start["table"], True
            comments._tables[table] = _join(*above, said)
            above, change = [], 0
        elif (start := _KEY.match(code)) is not None:
            key = _dotted(table, start["key"])
            comments._keys[key] = (number, _join(*above, said))
            above, opened = [], False
        elif code or not said:
            above, opened = [], False
        elif opened:
            comments._tables[table] = _join(comments._tables[table], said)
        elif number == 1 or (comments.head and not comments._keys and not table and not above):
            comments.head = _join(comments.head, said)
        else:
            above.append(said)
        depth += change
    return comments


def _split(line: str) -> tuple[str, str, int]:
    """Part code and comment, and say how many brackets the code leaves open."""
    code, said, depth = "", "", 0
    for part in _PARTS.findall(line):
        if part.startswith("#"):
            said = part.lstrip("#").strip()
        else:
            code += part
            depth += (part in "[{") - (part in "]}")
    return code.strip(), said, depth


def _dotted(table: str, key: str) -> str:
    plain = re.sub(r"[\"' ]", "", key)
    return f"{table}.{plain}" if table else plain


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)

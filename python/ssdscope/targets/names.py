r"""Names of files as text: Linux allows any bytes in them, and not all are UTF-8.

Python carries such bytes through as lone surrogates, by which the file is found again. They are
kept as long as a name is a name, and in JSON (``"b\udcfe.bin"``, which Python reads back). Where
text is for people, or for something that takes UTF-8 alone, each is written as ``\xfe``.
"""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

_BYTE = re.compile("[\udc80-\udcff]")


def printable(text: str) -> str:
    r"""Write bytes that are not UTF-8 as ``\xfe``.

    Examples
    --------
    >>> print(printable("b\udcfe.bin"))
    b\xfe.bin
    """
    return _BYTE.sub(_escaped, text)


def options_json(options: Mapping[str, Any]) -> str:
    """Write options as JSON for the compiled module, which takes UTF-8 alone."""
    return json.dumps(
        {key: printable(each) if isinstance(each, str) else each for key, each in options.items()}
    )


def shell_words(words: list[str]) -> str:
    """Quote words for a shell; those that are not UTF-8 as bash and its like read them."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    if not _BYTE.search(word):
        return shlex.quote(word)
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{printable(plain)}'"


def _escaped(byte: re.Match[str]) -> str:
    return f"\\x{ord(byte[0]) - 0xDC00:02x}"

r"""Names of files as text: Linux allows any bytes in them, and not all are UTF-8.

Python carries such bytes through as lone surrogates, by which the file is found again. They are
kept as long as a name is a name, and in JSON (``"b\udcfe.bin"``, which Python reads back). Where
text is for people, or for something that takes UTF-8 alone, each is written as ``\xfe``.
What a terminal would obey in them is written in digits by `ssdscope.shown`.
"""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from ssdscope.shown import IN_NAME, in_digits

_BYTE = re.compile("[\udc80-\udcff]")


def printable(text: str) -> str:
    r"""Write bytes that are not UTF-8 as ``\xfe``.

    Examples
    --------
    >>> print(printable("b\udcfe.bin"))
    b\xfe.bin
    """
    return _BYTE.sub(in_digits, text)


def options_json(options: Mapping[str, Any]) -> str:
    """Write options as JSON for the compiled module, which takes UTF-8 alone."""
    return json.dumps(
        {key: printable(each) if isinstance(each, str) else each for key, each in options.items()}
    )


def shell_words(words: list[str]) -> str:
    """Quote words for a shell."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    r"""Quote a word for a shell; what is no plain text in it as bash and its like read bytes.

    Examples
    --------
    >>> print(shell_word("it's \x1b[2J"), shell_word("/dev/sda"))
    $'it\'s \x1b[2J' /dev/sda
    """
    if not IN_NAME.search(word):
        return shlex.quote(word)
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{IN_NAME.sub(_in_bytes, plain)}'"


def _in_bytes(found: re.Match[str]) -> str:
    """Write a character as its bytes."""
    return "".join(f"\\x{byte:02x}" for byte in found[0].encode(errors="surrogateescape"))

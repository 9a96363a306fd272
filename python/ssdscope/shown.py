r"""Text from outside, written so that it says what it is and orders a terminal nothing.

A name may hold what a terminal obeys: escape sequences, a line break, marks that turn the order of
the letters round. `shown` and `shown_name` write those in digits, for whatever is read by people;
data for programs keep them, quoted as their format has it.
"""

import re

_ORDERS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
"""What a terminal takes as orders, or shows nothing of: control characters of ASCII and of C1,
marks of direction, separators of lines, marks of order and notes, and tags."""
_IN_TEXT = re.compile(f"[{_ORDERS}\udc80-\udcff]|\r(?!\n)")
IN_NAME = re.compile(f"[{_ORDERS}\udc80-\udcff\t\n\r]")


def shown(text: str) -> str:
    r"""Write text of several lines so that nothing in it is an order to a terminal.

    Examples
    --------
    >>> print(shown("a\x1b[2Jb\x9b,\nc"))
    a\x1b[2Jb\u009b,
    c
    """
    return _IN_TEXT.sub(in_digits, text)


def shown_name(text: str) -> str:
    r"""Write a name so that it stays in its line, and nothing in it is an order to a terminal.

    Examples
    --------
    >>> print(shown_name("a\nerror: b"))
    a\x0aerror: b
    """
    return IN_NAME.sub(in_digits, text)


def in_digits(found: re.Match[str]) -> str:
    r"""Write a character as ``\xfe`` or ``\u202e``; a byte that is no text as itself."""
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

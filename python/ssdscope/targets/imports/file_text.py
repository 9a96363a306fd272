"""The text of a file to be imported, also of one whose comments are in an encoding of their own."""

from pathlib import Path

from ssdscope.errors import ConfigError
from ssdscope.targets.opening import read_text

BYTES_MAX = 16 * 2**20
ASCII_LEAST = 0.6
"""Share of a text that is ASCII: names and values are, comments may be GBK or Latin-1."""


def file_text(path: str) -> str:
    """Read a text file.

    Raises
    ------
    UsageError
        If it cannot be read.
    ConfigError
        If it is no text, or far more than anyone writes.
    """
    try:
        text = read_text(path, BYTES_MAX)
    except ConfigError:
        size = Path(path).stat().st_size
        raw = Path(path).read_bytes() if size <= BYTES_MAX else b"\0"
        plain = sum(byte < 128 for byte in raw)
        if 0 in raw or plain < ASCII_LEAST * len(raw):
            raise
        text = raw.decode("latin-1")
    if "\0" in text:
        raise ConfigError(f"{path}: not a text file: it holds a zero byte")
    return text

"""A line that is advised, and what it is called in tables."""

import re
from dataclasses import dataclass

BLOCKS = (512, 4096)
"""Logical blocks of the devices that lines are tried on."""
NUMBER = re.compile(r"(?<![A-Za-z])\d+")


@dataclass(frozen=True, order=True)
class Line:
    """One line, or several that are typed together.

    Attributes
    ----------
    setting
        Tool and knob.
    text
        As it is advised.
    block_bytes
        Logical block of the device that it is advised for.
    capacity_bytes
        Of the smallest drive that it is advised for.
    typed_in
        A shell, a file or a program.
    """

    setting: str
    text: str
    block_bytes: int
    capacity_bytes: int
    typed_in: str

    @property
    def tool(self) -> str:
        """What ``--for`` calls it."""
        return self.setting.split(" ", 1)[0]

    @property
    def form(self) -> str:
        """The line without its numbers."""
        return form_of(self.text)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers in it, in order."""
        return tuple(map(int, NUMBER.findall(self.text)))


def form_of(text: str) -> str:
    """Replace the numbers of a line by N, and write it on one line."""
    return NUMBER.sub("N", text).replace("\n", " ; ")

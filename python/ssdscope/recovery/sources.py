"""Where the targets of the study come from."""

from enum import StrEnum


class Source(StrEnum):
    """What draws a target; its value ends the target's label."""

    FIRST = ""
    FLAT = "f"
    SECOND = "s"
    WITHOUT_FLASH = "w"

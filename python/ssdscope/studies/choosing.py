"""Which figures of a study are wanted, as people write them, and what a study may write."""

from collections.abc import Collection

from ssdscope.errors import UsageError, nearest
from ssdscope.results.marks import LIST


def parse_figures(text: str, known: Collection[str]) -> list[str]:
    """Read a list of figures: numbers, spans of numbers and names, as in ``3-7,9,wear``.

    Raises
    ------
    UsageError
        If a part is none of the study's figures.
    """
    figures: dict[str, None] = {}
    for part in (each.strip() for each in text.split(",")):
        low, dash, high = part.partition("-")
        span = dash and low.isdecimal() and high.isdecimal()
        if span and int(low) > int(high):
            raise UsageError(f"--figure: {part!r} runs backwards", hint=f"write {high}-{low}")
        for name in map(str, range(int(low), int(high) + 1)) if span else [part]:
            if name not in known:
                raise UsageError(
                    f"--figure: {part!r} is no figure of this study"
                    + (f": there is no {name}" if span else ""),
                    hint=nearest(name, known),
                )
            figures[name] = None
    return list(figures)


def written_names(key: str) -> list[str]:
    """Give the patterns of the names of all that a study may write into its folder."""
    return [f"{key}-*", "synthetic-*", LIST]

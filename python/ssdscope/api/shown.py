"""What results have in common in a notebook: they show themselves, and draw their pictures.

What is shown and drawn is decided where the page about a drive decides it (`ssdscope.report`,
`ssdscope.plots`): a picture of a notebook has the series, axes and title of the page's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from ssdscope.errors import UsageError, nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ssdscope.report.parts import Chart
    from ssdscope.report.sheet import Sheet


T = TypeVar("T")


def shown_as(kind: type[T], found: Any) -> T:
    """Give a frozen dataclass of a part below as one of a class here, which can be shown."""
    made = object.__new__(kind)
    for each in fields(found):
        object.__setattr__(made, each.name, getattr(found, each.name))
    return made


class Shown(ABC):
    """A result that a notebook shows as HTML, and everything else as text."""

    @abstractmethod
    def _sheet(self) -> Sheet:
        """Lay out what is shown."""

    def _repr_html_(self) -> str:
        """Write the HTML; all text in it is escaped."""
        from ssdscope.report.sheet import html

        return html(self._sheet())


class Pictured(ABC):
    """A result that has pictures."""

    @abstractmethod
    def _charts(self) -> Sequence[Chart]:
        """List the pictures, the one first that is drawn without a name."""

    def _aliases(self) -> dict[str, str]:
        """Give other names of pictures."""
        return {}

    @property
    def pictures(self) -> dict[str, str]:
        """Titles of the pictures, by the names that `plot` takes."""
        return {each.id: each.title for each in self._charts()}

    def plot(self, name: str | None = None) -> Figure:
        """Draw a picture, as the page does.

        A notebook shows it. ``figure.savefig("picture.svg")`` writes it.

        Parameters
        ----------
        name
            One of `pictures`; the first of them without.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        UsageError
            If there is no such picture, or nothing to draw.
        """
        charts = {each.id: each for each in self._charts()}
        if not charts:
            raise UsageError(f"there is nothing to draw: {self._nothing()}")
        if name is None:
            return next(iter(charts.values())).figure()
        known = self._aliases()
        chart = charts.get(known.get(name, name))
        if chart is None:
            raise UsageError(f"there is no picture {name!r}", hint=nearest(name, [*charts, *known]))
        return chart.figure()

    def _nothing(self) -> str:
        """Say why there is no picture."""
        return "no figures were measured"

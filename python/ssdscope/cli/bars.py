"""Progress bars with a line below them; apart, because what draws them takes time to load."""

from collections.abc import Iterable

from rich.console import RenderableType
from rich.progress import Progress
from rich.text import Text


class Bar(Progress):
    """Bars, and a line below them.

    Attributes
    ----------
    below
        The line, cut where the terminal ends; nothing where it is empty.
    """

    below = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Give what is drawn."""
        yield from super().get_renderables()
        if self.below:
            yield Text(self.below, style="dim", no_wrap=True, overflow="ellipsis")

"""Progress bars with a line below them; apart, because what draws them takes time to load."""

from collections.abc import Iterable

from rich.console import RenderableType
from rich.progress import Progress, Task, TextColumn
from rich.text import Text

from ssdscope.shown import shown_name


class Description(TextColumn):
    """What a bar is called; nothing in it is an order to the terminal."""

    def __init__(self, *, markup: bool) -> None:
        super().__init__("{task.description}", markup=markup)

    def render(self, task: Task) -> Text:
        """Give the text of one bar."""
        task.description = shown_name(task.description)
        return super().render(task)


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
            yield Text(shown_name(self.below), style="dim", no_wrap=True, overflow="ellipsis")

"""A figure that a notebook shows, whether matplotlib's own way into it was set up or not."""

import io

from matplotlib.figure import Figure

DPI = 144
"""On the screen of a notebook."""
SHARP = 2
"""Dots of the picture for one of the screen: those of today have two."""


class Picture(Figure):
    """Matplotlib's figure. IPython shows a plain one only once pyplot was imported."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        drawn = io.BytesIO()
        self.savefig(drawn, format="png", dpi=SHARP * DPI)
        width, height = (round(inches * DPI) for inches in self.get_size_inches())
        return drawn.getvalue(), {"width": width, "height": height}

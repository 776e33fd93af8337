"""Figures that are saved as papers want them, whoever saves them."""

from __future__ import annotations

from typing import Any

import matplotlib
from matplotlib.figure import Figure


class PaperFigure(Figure):
    """A figure whose PDF and PostScript embed TrueType fonts."""

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """Save the figure, as `matplotlib.figure.Figure.savefig` does."""
        # Publishers refuse Type 3 fonts.
        with matplotlib.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(*args, **kwargs)

"""`Reported`: a result that writes a page about itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fastfair._lib.arguments import checked

from .report import TITLE, report


class Reported:
    """A result with a page of its own."""

    _page_title = TITLE

    @checked
    def report(self, path: str | Path, *, title: str | None = None, inputs: Sequence[str | Path] = ()) -> None:
        """Write the result as one page; see `report`.

        Parameters
        ----------
        path : path
            The HTML file to write.
        title : str, optional
            The title of the page; by default one that says what kind of result it is.
        inputs : sequence of path
            Files that the comparisons were read from; the page names them with their SHA-256.
        """
        report([self], path, title=self._page_title if title is None else title, inputs=inputs)

"""What results that hold a table have in common: a data frame of it, and everything as JSON."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import frames
from .arguments import checked
from .notebook import Shown
from .tables import write_json

_MOST_COLUMNS = 8  # that a notebook shows

if TYPE_CHECKING:
    from pathlib import Path


class Tabular(Shown):
    """A result with a table."""

    @abstractmethod
    def _columns(self) -> dict[str, list[Any]]:
        """Return the columns of the table."""

    @abstractmethod
    def _content(self) -> dict[str, Any]:
        """Return all that JSON holds."""

    def _shown(self) -> tuple[Sequence[str], Mapping[str, Sequence[Any]]]:
        columns = dict(list(self._columns().items())[:_MOST_COLUMNS])
        return self.summary().splitlines() if hasattr(self, "summary") else (), columns

    @checked
    def to_frame(self, backend: str | None = None) -> Any:
        """Return the table of the result as a data frame: one row for each group, rate, effect or study.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
        """
        return frames.build(self._columns(), backend)

    @checked
    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything but replicates as strict JSON, with null for numbers that there are none of.

        Parameters
        ----------
        path : path, optional
            File to which the JSON is written as well.

        Returns
        -------
        str
        """
        return write_json(self._content(), path)

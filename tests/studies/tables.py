"""Tables of studies, as the documentation has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

Found = TypeVar("Found")


def lines(heads: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int = 1) -> Iterable[str]:
    """Yield the lines of a table whose first columns are text, and others numbers."""
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * n_texts + "--:|" * (len(heads) - n_texts)
    for cells in rows:
        yield "| " + " | ".join(cells) + " |"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int = 1) -> str:
    """Lay out a table."""
    return "\n".join(lines(heads, rows, n_texts))


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int = 1) -> None:
    """Print each row of a table as soon as it is known."""
    for line in lines(heads, rows, n_texts):
        print(line, flush=True)


def by_population(
    studies: Mapping[str, Found],
    columns: Iterable[tuple[str, ...]],
    cell: Callable[..., str],
    head: str = "Population",
) -> str:
    """Lay out a row for each study and a column for each head, with the cell of what else is said
    of the column."""
    columns = list(columns)
    rows = (
        [name, *(cell(found, *what) for _, *what in columns)] for name, found in studies.items()
    )
    return table([head, *(name for name, *_ in columns)], rows)


def percents(shares: Iterable[float]) -> list[str]:
    """Write shares in per cent, and a dash for those that are not known."""
    return ["–" if math.isnan(share) else f"{100 * share:.1f}" for share in shares]


def percent_of(part: float, whole: float) -> str:
    """Write the share of a whole that there may be nothing of."""
    return f"{100 * part / whole:.1f}" if whole else "–"

"""`Shown`: what a notebook shows of a result, a few sentences and a short table, with every label escaped."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from fastfair.errors import visible

from .text import cell, shortened

_MOST_ROWS = 20
_LONGEST = 120  # characters of a sentence in the short form


class Shown(ABC):
    """A result that shows itself in notebooks."""

    @abstractmethod
    def _shown(self) -> tuple[Sequence[str], Mapping[str, Sequence[Any]]]:
        """Return sentences and the columns of a table, either of which may be empty."""

    def __repr__(self) -> str:
        sentences, columns = self._shown()
        n_rows = len(next(iter(columns.values()), ()))
        about = visible(sentences[0]) if sentences else f"{n_rows:,} row{'s' * (n_rows != 1)}"
        return f"{type(self).__name__}({shortened(about, _LONGEST)})"

    def _repr_html_(self) -> str:
        sentences, columns = self._shown()
        rows = list(zip(*columns.values(), strict=True))
        parts = [f"<strong>{type(self).__name__}</strong>", *(f"<div>{_escaped(text)}</div>" for text in sentences)]
        if rows:
            head = "".join(f"<th>{_escaped(name.replace('_', ' '))}</th>" for name in columns)
            body = "".join(
                f"<tr>{''.join(f'<td>{_escaped(cell(value))}</td>' for value in row)}</tr>" for row in rows[:_MOST_ROWS]
            )
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        if len(rows) > _MOST_ROWS:
            parts.append(f"<div>and {len(rows) - _MOST_ROWS:,} rows more</div>")
        return f"<div>{''.join(parts)}</div>"


def _escaped(text: str) -> str:
    return html.escape(visible(text))

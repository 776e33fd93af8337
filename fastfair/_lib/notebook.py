"""`Shown`: what a notebook shows of a result, a few sentences and a short table, with every label
escaped.
"""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Sequence

from fastfair.errors import visible

from .text import shortened

_MOST_ROWS = 20  # that are seen at a glance
_LONGEST = 120  # characters of a sentence in the short form


class Shown(ABC):
    """A result that shows itself in notebooks."""

    @abstractmethod
    def _shown(self) -> Sequence[str]:
        """Return sentences, at least one."""

    @abstractmethod
    def _shown_tables(self) -> Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
        """Return a title, headings and rows of each table."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shortened(visible(self._shown()[0]), _LONGEST)})"

    def _repr_html_(self) -> str:
        parts = [f"<strong>{type(self).__name__}</strong>"]
        parts += [f"<div>{_escaped(text)}</div>" for text in self._shown() if text]
        for title, headings, rows in self._shown_tables():
            parts += [f"<div>{_escaped(title)}</div>"] if title else []
            if headings:
                body = "".join(_row(row, "td") for row in rows[:_MOST_ROWS])
                parts.append(
                    f"<table><thead>{_row(headings, 'th')}</thead><tbody>{body}</tbody></table>"
                )
            if len(rows) > _MOST_ROWS:
                parts.append(f"<div>and {len(rows) - _MOST_ROWS:,} rows more</div>")
        return f"<div>{''.join(parts)}</div>"


def _row(cells: Sequence[str], kind: str) -> str:
    return f"<tr>{''.join(f'<{kind}>{_escaped(cell)}</{kind}>' for cell in cells)}</tr>"


def _escaped(text: str) -> str:
    return html.escape(visible(text))

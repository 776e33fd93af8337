"""The parts of a page: chapters of sections, which hold sentences, pictures and tables; all of them plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row names it.

    Attributes
    ----------
    caption : str
        What the table shows.
    columns : sequence of str
        Heading of each column.
    rows : sequence of sequence of str
        The cells.
    text_columns : sequence of int
        Columns that hold sentences, counted from 0; the others hold numbers.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: Sequence[int] = ()


@dataclass(frozen=True)
class Picture:
    """A drawing.

    Attributes
    ----------
    svg : str
        The drawing, as `vector.svg_of` makes it.
    alt : str
        What it shows, for those who do not see it.
    caption : str
        How to read it.
    is_wide : bool
        Whether it takes the page's whole width.
    """

    svg: str
    alt: str
    caption: str
    is_wide: bool = False


@dataclass(frozen=True)
class Section:
    """A part of a chapter: sentences, then pictures, then tables."""

    title: str
    sentences: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Chapter:
    """What a page says of one result.

    Attributes
    ----------
    title : str
        The title.
    summary : sequence of str
        The most important sentences, which the page begins with.
    sections : sequence of Section
        The sections.
    settings : mapping
        The arguments of the call and the seed.
    numbers : str
        The result as JSON.
    remarks : mapping of str to sequence of str
        For each remark, the numbers that it is about.
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    settings: Mapping[str, Any] = field(default_factory=dict)
    numbers: str = "{}"
    remarks: Mapping[str, Sequence[str]] = field(default_factory=dict)

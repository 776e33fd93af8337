"""Write a page: one HTML file that needs no other file, no network and no JavaScript."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

from fastfair._lib import validation
from fastfair._lib.tables import by_columns
from fastfair._lib.text import cell
from fastfair._version import __version__
from fastfair.errors import visible

from .cards import VERDICTS, Card
from .notes import Notes, kind_of
from .parts import Cell, Chapter, Column, FirstScreen, Picture, Table
from .vector import placed
from .words import METHOD, glossary

_MOST_NUMBERS = 6  # that a remark lists; the JSON has all


def render(
    title: str, chapters: Sequence[Chapter], cards: Sequence[Card], files: Mapping[str, str], numbers: Sequence[Chapter]
) -> str:
    """Return the text of a page.

    Parameters
    ----------
    title : str
        The title.
    chapters : sequence of Chapter
        What it shows, in this order.
    cards : sequence of Card
        Requirements for the first screen.
    files : mapping of str to str
        SHA-256 by the name of each file that results were computed from.
    numbers : sequence of Chapter
        All chapters in the order of the results, whose numbers the page holds as JSON.

    Returns
    -------
    str
    """
    jinja2 = validation.require("jinja2", "cli", "a report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_tied
    )
    pictures, notes = itertools.count(1), Notes()
    environment.filters |= {
        "drawn": lambda one: _drawn(one, next(pictures)),
        "laid_out": lambda one: _laid_out(one, notes),
    }
    template = environment.from_string(resources.files(__package__).joinpath("page.html").read_text("utf-8"))
    content: dict[str, Any] = {
        "title": visible(title),
        "first": _first_screen(chapters),
        "cards": cards,
        "verdicts": " · ".join(
            f"{n} {one}" for one in VERDICTS if (n := sum(card.verdict == one for card in cards))
        ),
        "chapters": chapters,
        "notes": notes.listed,
        "remarks": _remarks(chapters),
        "method": METHOD,
        "glossary": glossary(" ".join(chapter.numbers for chapter in numbers)),
        "files": {visible(name): digest for name, digest in files.items()},
        "settings": _settings(numbers),
        "version": __version__,
        "numbers": _embedded(numbers, files),
    }  # fmt: skip
    return str(template.render(content))


def _first_screen(chapters: Sequence[Chapter]) -> FirstScreen:
    """Put together what was tested and the answer: of several evaluations, overall numbers stand once."""
    firsts = [chapter.first for chapter in chapters if chapter.first is not None]
    largest = max(firsts, key=lambda one: one.size, default=FirstScreen())
    of_groups = [said for one in firsts if one is not largest or len(firsts) < 3 for said in one.groups]
    others = [
        (chapter.title if k == 0 else "", sentence)
        for chapter in chapters if chapter.first is None
        for k, sentence in enumerate(chapter.summary)
    ]  # fmt: skip
    return replace(largest, overall=[*largest.overall, *of_groups, *largest.limits, *others])


def _tied(value: Any) -> Any:
    """Keep lines from breaking before a per cent sign; what is markup already stays as it is."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value


def _drawn(picture: Picture, number: int) -> str:
    return placed(picture.svg if isinstance(picture.svg, str) else picture.svg(), number)


def _laid_out(table: Table, notes: Notes) -> dict[str, Any]:
    """Return the columns and cells of a table with their classes and the letters of their notes."""
    columns = [
        one if isinstance(one, Column) else Column(one, "text" if k in table.text_columns else "number")
        for k, one in enumerate(table.columns)
    ]

    def cells(row: Sequence[str | Cell]) -> list[dict[str, Any]]:
        given = [one if isinstance(one, Cell) else Cell(one) for one in row]
        return [
            {
                "cell": one, "column": column, "letters": notes.letters(one.notes, given[0].text) if one.notes else [],
                "look": " ".join(filter(None, (column.kind, f"s{column.side}", one.look.replace(" ", "-")))),
            }
            for one, column in zip(given, columns, strict=True)
        ]  # fmt: skip

    foot = cells(table.foot) if table.foot else []
    return {"columns": columns, "rows": [cells(row) for row in table.rows], "foot": foot}


def _remarks(chapters: Sequence[Chapter]) -> list[tuple[str, str]]:
    """Gather the remarks that no cell has, each kind once with the numbers that it is about."""
    found: dict[str, dict[str, None]] = {}
    for chapter in chapters:
        for remark, about in chapter.remarks.items():
            found.setdefault(visible(kind_of(remark)), {}).update(dict.fromkeys(map(visible, about)))
    return [
        (kind, "; ".join(about) if len(about) <= _MOST_NUMBERS else f"{len(about)} numbers; the JSON names them")
        for kind, about in found.items()
        if kind
    ]


def _settings(chapters: Sequence[Chapter]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Write the settings of each result: those that several share stand once."""
    written = [
        {
            name: ", ".join(map(cell, value)) if isinstance(value, list | tuple) else cell(value)
            for name, value in chapter.settings.items()
        }
        for chapter in chapters
    ]
    with_settings = [one for one in written if one]
    shared = {
        name: value for name, value in (with_settings[0].items() if len(with_settings) > 1 else ())
        if all(one.get(name) == value for one in with_settings)
    }  # fmt: skip
    listed = [("all results", list(shared.items()))] if shared else []
    for chapter, one in zip(chapters, written, strict=True):
        own = [(name, value) for name, value in one.items() if name not in shared]
        if own:
            listed.append((chapter.title, own))
    return listed


def _embedded(chapters: Sequence[Chapter], files: Mapping[str, str]) -> str:
    """Return the numbers as JSON in which no character ends the element that holds it."""
    content = {
        "fastfair": __version__,
        "inputs": dict(files),
        "results": [{"title": chapter.title} | by_columns(json.loads(chapter.numbers)) for chapter in chapters],
    }
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")

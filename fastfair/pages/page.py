"""Write a page: one HTML file that needs no other file, no network and no JavaScript."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from fastfair._lib import validation
from fastfair._lib.tables import by_columns
from fastfair._lib.text import cell
from fastfair._version import __version__
from fastfair.errors import visible

from .parts import Chapter
from .vector import placed
from .words import GLOSSARY

LIMITS = (
    "Intervals tell how far numbers may be off because other people could have been in the data. They know nothing of "
    "wrong labels, of people who were not asked, or of use under other conditions.",
    "Groups are those of the labels given. Within a group, subgroups may differ.",
    "What is fair is for people to say: the page states differences and how certain they are, and passes no verdict.",
)


def render(
    title: str, chapters: Sequence[Chapter], files: Mapping[str, str], limits: Mapping[str, Sequence[str]]
) -> str:
    """Return the text of a page.

    Parameters
    ----------
    title : str
        The title.
    chapters : sequence of Chapter
        What it shows.
    files : mapping of str to str
        SHA-256 by the name of each file that results were computed from.
    limits : mapping of str to sequence of str
        For each remark about the data, the numbers that it is about.

    Returns
    -------
    str
    """
    jinja2 = validation.require("jinja2", "cli", "a report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_tied
    )
    numbers = itertools.count(1)
    environment.filters["placed"] = lambda svg: placed(svg, next(numbers))
    template = environment.from_string(resources.files(__package__).joinpath("page.html").read_text("utf-8"))
    content: dict[str, Any] = {
        "title": visible(title),
        "chapters": chapters,
        "limits": limits,
        "general_limits": LIMITS,
        "glossary": GLOSSARY,
        "files": {visible(name): digest for name, digest in files.items()},
        "settings": [(chapter.title, _settings(chapter.settings)) for chapter in chapters],
        "version": __version__,
        "numbers": _embedded(chapters, files),
    }
    return str(template.render(content))


def _tied(value: Any) -> Any:
    """Keep lines from breaking before a per cent sign; what is markup already stays as it is."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value


def _settings(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, ", ".join(map(cell, value)) if isinstance(value, list | tuple) else cell(value))
        for name, value in settings.items()
    ]


def _embedded(chapters: Sequence[Chapter], files: Mapping[str, str]) -> str:
    """Return the numbers as JSON in which no character ends the element that holds it."""
    content = {
        "fastfair": __version__,
        "inputs": dict(files),
        "results": [{"title": chapter.title} | by_columns(json.loads(chapter.numbers)) for chapter in chapters],
    }
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")

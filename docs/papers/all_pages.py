"""All pages and their index, written to a folder."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fastfair import __version__
from fastfair.errors import FastfairWarning
from papers.figure_style import style
from papers.page_files import write_html, write_page, write_text
from papers.settings import Settings

NAMES = ("sed", "garbe", "pitfalls", "fnmr_groups", "uncertainty", "choosing")
_INDEX_TITLE = "Five papers, ours beside theirs"


def write_pages(folder: Path, names: Sequence[str], settings: Settings) -> list[Path]:
    """Make pages of the papers, ours beside theirs.

    Parameters
    ----------
    folder : Path
        For the pages, and for their figures and tables below it.
    names : sequence of str
        Some of `NAMES`.
    settings : Settings
        How much work goes into them.

    Returns
    -------
    list of Path
        The files written: ``index.md``, a Markdown page each and one for each section of long ones,
        every one as HTML too, figures as PNG and SVG, and tables as CSV.
    """
    files: list[Path] = []
    titles: dict[str, str] = {}
    with style(), warnings.catch_warnings():
        # Pages say themselves what few errors and missing groups do to their numbers.
        warnings.simplefilter("ignore", FastfairWarning)
        for name in names:
            made = importlib.import_module(f"papers.{name}").page(settings)
            titles[made.name] = made.title
            files += write_page(replace(made, ending=f"---\n\n*{_effort(settings)}*"), folder)
    return [*_write_index(titles, settings, folder), *files]


def _effort(settings: Settings) -> str:
    """Say how much work the numbers are made of."""
    less = " A complete run (without `--quick`) has more of each." if settings.quick else ""
    return (
        f"Made by `python docs/papers` with fastfair {__version__}, {settings.n_resamples:,}"
        f" bootstrap replicates, {settings.n_seeds:,} sets of synthetic systems and"
        f" {settings.n_datasets:,} simulated data sets, seed {settings.seed}.{less}"
    )


def _write_index(titles: dict[str, str], settings: Settings, folder: Path) -> list[Path]:
    lines = [f"# {_INDEX_TITLE}", "", _effort(settings), ""]
    lines += [f"- [{title}]({name}.md)" for name, title in titles.items()]
    index = folder / "index.md"
    write_text(index, "\n".join(lines) + "\n")
    return [index, write_html(index, _INDEX_TITLE)]

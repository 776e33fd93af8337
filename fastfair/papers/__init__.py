"""The five papers on this engine: their tables and figures made anew, the printed ones beside them.

Pages are made by `write_papers` and by the command `fastfair papers`.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fastfair import __version__
from fastfair._lib import validation, whole_files
from fastfair._lib.arguments import checked
from fastfair.data.embeddings import Embeddings
from fastfair.errors import FastfairWarning

from . import _drawing
from ._settings import Settings, Tell
from ._writing import write_html, write_page

__all__ = ["write_papers"]
_INDEX_TITLE = "Five papers, ours beside theirs"
PAGES = {
    "1": "paper1",
    "2": "paper2",
    "3": "paper3",
    "4": "paper4",
    "5": "paper5",
    "choosing": "choosing",
}


@checked
def write_papers(
    output: str | Path,
    pages: Sequence[str | int] | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
    embeddings: Embeddings | None = None,
    tell: Tell | None = None,
) -> list[Path]:
    """Make the pages of the papers, ours beside theirs.

    Parameters
    ----------
    output : path
        Folder for the pages, and for their figures and tables below it.
    pages : sequence of {1, 2, 3, 4, 5, "choosing"}, optional
        The papers' numbers, and the page on choosing measures; all by default.
    quick : bool, default False
        With fewer replicates, seeds and data sets: a minute and a half instead of ten.
    seed : int, default 0
        Of all random numbers.
    embeddings : Embeddings, optional
        Your own; the page of paper 5 then ends with its curves and measures for them.
    tell : callable, optional
        Is told of every step before it begins.

    Returns
    -------
    list of Path
        The files written: ``index.md`` and a Markdown page each, every one as HTML too, figures as PNG and SVG, and
        tables as CSV.

    Raises
    ------
    InputError
        For a page that does not exist.
    MissingDependencyError
        Where the scores of VoxCeleb1-H (extra ``demo``) or what draws and writes (extra ``cli``) are not installed.
    OutputError
        Where nothing can be written to the folder.
    """
    wanted = list(PAGES) if pages is None else [validation.choice("pages", str(page), PAGES) for page in pages]
    settings = Settings.of(quick=quick, seed=seed, tell=tell, embeddings=embeddings)
    folder = whole_files.ready_folder(output)
    files: list[Path] = []
    titles: dict[str, str] = {}
    with _drawing.style(), warnings.catch_warnings():
        # Pages say themselves what few errors and missing groups do to their numbers.
        warnings.simplefilter("ignore", FastfairWarning)
        for name in wanted:
            module = importlib.import_module(f"{__name__}.{PAGES[name]}")
            made = module.page(settings)
            titles[made.name] = made.title
            made = replace(made, parts=[*made.parts, f"---\n\n*{_effort(settings)}*"])
            files += write_page(made, folder)
    return [*_write_index(titles, settings, folder), *files]


def _effort(settings: Settings) -> str:
    """Say how much work the numbers are made of."""
    less = " A complete run (`fastfair papers`) has more of each." if settings.quick else ""
    return (
        f"Made by `fastfair papers` {__version__} with {settings.n_resamples:,} bootstrap replicates, "
        f"{settings.n_seeds:,} sets of synthetic systems and {settings.n_datasets:,} simulated data sets, seed "
        f"{settings.seed}.{less}"
    )


def _write_index(titles: dict[str, str], settings: Settings, folder: Path) -> list[Path]:
    lines = [f"# {_INDEX_TITLE}", "", _effort(settings), ""]
    lines += [f"- [{title}]({name}.md)" for name, title in titles.items()]
    index = folder / "index.md"
    whole_files.write_text(index, "\n".join(lines) + "\n")
    return [index, write_html(index, _INDEX_TITLE)]

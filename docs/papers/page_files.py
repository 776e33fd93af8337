"""Pages as files: Markdown and HTML, figures as PNG and SVG, tables as CSV."""

from __future__ import annotations

import csv
import html
import io
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from markdown_it import MarkdownIt

from papers.page_parts import Cell, Figure, Page, Range, Table

_CSS = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 85%; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
"""
_FORMULA = re.compile(r"'*[=+\-@\t\r]")  # what begins so is computed by spreadsheets
_PAGE_LINK = re.compile(r'href="([^":]+)\.md(?=["#])')  # no other site's
_SECTION = re.compile(r"<h2>(.*?)</h2>")
_LONG = 3  # sections, from which on each is a page of its own
_RESOLUTION = 130  # of PNG, dots an inch


def write_page(page: Page, folder: Path) -> list[Path]:
    """Write a page with its tables and figures, its sections as pages of their own where it is
    long.

    Parameters
    ----------
    page : Page
        The page.
    folder : Path
        Where to write it; tables and figures stand in folders there.

    Returns
    -------
    list of Path
        The files: the page first, then those of its sections, as Markdown and as HTML, then figures
        and tables.
    """
    files: list[Path] = []
    lines: list[str] = []
    for part in page.parts:
        match part:
            case str():
                lines += [*part.strip().split("\n"), ""]
            case Table():
                path = folder / "tables" / f"{page.name}_{part.name}.csv"
                _write_csv(part, path)
                files.append(path)
                lines += [*_table_lines(part, path.relative_to(folder)), ""]
            case Figure():
                paths = [
                    folder / "figures" / f"{page.name}_{part.name}.{ending}"
                    for ending in ("png", "svg")
                ]
                _save(part, paths)
                files += paths
                png, svg = (path.relative_to(folder).as_posix() for path in paths)
                lines += [
                    f"![{_alt(part.caption)}]({png})",
                    "",
                    f"{part.caption} ([SVG]({svg}))",
                    "",
                ]
    return [*_write_sections(page, lines, folder), *files]


def _write_sections(page: Page, lines: list[str], folder: Path) -> list[Path]:
    """Write the lines of a page; a long page ends with links to its sections, which are pages,
    too.
    """
    begins = [k for k, line in enumerate(lines) if line.startswith("## ")]
    if len(begins) < _LONG:
        return _write_text_page(page.name, page.title, [*lines, page.ending], folder)
    titles = [lines[k].removeprefix("## ") for k in begins]
    names = [f"{page.name}_{_file_name(title)}" for title in titles]
    links = [f"[{title}]({name}.md)" for title, name in zip(titles, names, strict=True)]
    contents = ["Sections:", "", *(f"- {link}" for link in links), ""]
    files = _write_text_page(
        page.name, page.title, [*lines[: begins[0]], *contents, page.ending], folder
    )
    for k, (begin, end) in enumerate(itertools.pairwise([*begins, len(lines)])):
        place = f"Section {k + 1} of {len(links)} of [{page.title}]({page.name}.md)"
        following = f"; next: {links[k + 1]}" if k + 1 < len(links) else ""
        # What was a part of the section is one of its page.
        body = [
            line.removeprefix("#") if line.startswith("###") else line
            for line in lines[begin + 1 : end]
        ]
        files += _write_text_page(
            names[k], titles[k], [f"{place}{following}.", *body, page.ending], folder
        )
    return files


def _write_text_page(name: str, title: str, lines: list[str], folder: Path) -> list[Path]:
    markdown = folder / f"{name}.md"
    write_text(markdown, "\n".join([f"# {title}", "", *lines]).rstrip() + "\n")
    return [markdown, write_html(markdown, title)]


def _file_name(title: str) -> str:
    """Name the file of a section by its title, without what stands there in parentheses."""
    return re.sub(r"[^a-z0-9]+", "-", title.partition(" (")[0].lower()).strip("-")


def write_html(markdown: Path, title: str) -> Path:
    """Write a page of Markdown as HTML beside it, links between pages included."""
    parser = MarkdownIt("commonmark").enable("table")
    body = _PAGE_LINK.sub(r'href="\1.html', parser.render(markdown.read_text(encoding="utf-8")))
    body = _SECTION.sub(
        lambda found: f'<h2 id="{_anchor(html.unescape(found[1]))}">{found[1]}</h2>', body
    )
    path = markdown.with_suffix(".html")
    write_text(
        path,
        '<!doctype html>\n<html lang="en">\n<meta'
        f' charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        f"<style>\n{_CSS}</style>\n{body}</html>\n",
    )
    return path


def _anchor(title: str) -> str:
    """Name a section as Markdown readers do, so that links to it work everywhere."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def write_text(path: Path, text: str) -> None:
    """Write a file of text."""
    with _whole(path) as file:
        file.write(text.encode())


def ready_folder(path: Path) -> None:
    """Make a folder, and find out that files can be written there."""
    path.mkdir(parents=True, exist_ok=True)
    TemporaryFile(dir=path).close()


@contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to that takes its name when all is written, so that no half of one is
    left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _table_lines(table: Table, csv_file: Path) -> list[str]:
    def line(cells: list[str]) -> str:
        return (
            "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
        )

    body = [line(row) for row in table.written()]
    caption = f"{table.caption} ([CSV]({csv_file.as_posix()}))"
    return [caption, "", line(list(table.columns)), line(["---"] * len(table.columns)), *body]


def _write_csv(table: Table, path: Path) -> None:
    """Write numbers as they are, a range in three columns."""
    ranged = [
        any(isinstance(row[k], Range) for row in table.rows) for k in range(len(table.columns))
    ]
    header: list[str] = []
    for column, wide in zip(table.columns, ranged, strict=True):
        header += [column, f"{column} low", f"{column} high"] if wide else [column]
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(header)
    for row in table.rows:
        cells: list[Cell] = []
        for cell, wide in zip(row, ranged, strict=True):
            if isinstance(cell, Range):
                cells += [cell.value, cell.low, cell.high]
            else:
                cells += [cell, None, None] if wide else [cell]
        writer.writerow(map(_no_formula, cells))
    write_text(path, lines.getvalue())


def _no_formula(cell: Cell) -> Cell:
    """Put an apostrophe before text, as of groups' names, that a spreadsheet would compute."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def _save(figure: Figure, paths: list[Path]) -> None:
    for path in paths:
        # No date: the same figure makes the same file.
        kind = path.suffix[1:]
        date = {"Date": None} if kind == "svg" else {}
        with _whole(path) as file:
            figure.drawing.savefig(file, format=kind, dpi=_RESOLUTION, metadata=date)
        figure.drawing.set_layout_engine(
            "none"
        )  # all is in its place: laying out anew would take as long as drawing


def _alt(caption: str) -> str:
    return caption.partition(". ")[0].replace("[", "(").replace("]", ")")

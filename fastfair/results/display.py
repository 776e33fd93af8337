"""Tables to hand on: what pages show, at their rounding, for papers, web pages, notebooks and office
programs.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from fastfair._lib import whole_files
from fastfair._lib.arguments import checked
from fastfair._lib.text import NONE, in_lines
from fastfair._lib.warnings import require
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.errors import InputError, visible
from fastfair.pages.parts import Cell, Table

_LATEX = str.maketrans({
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "–": "--", "≤": r"$\leq$", "≥": r"$\geq$",
})  # fmt: skip
_MARKDOWN = str.maketrans({"|": r"\|", "*": r"\*", "_": r"\_", "<": "&lt;", "\n": " "})
_NUMBER = re.compile(r"-?\d[\d,]*(\.(\d+))?")
_LONGEST_SHEET = 31  # characters of a name, in Excel
_HEADINGS = 3  # the row of a sheet that has them
_NOT_IN_SHEETS = re.compile(r"[\\/*?:\[\]]")


@dataclass(frozen=True)
class DisplayTable:
    """A table as people read it: text at the rounding of pages.

    Attributes
    ----------
    title : str
        What it shows.
    columns : tuple of str
        The headings.
    rows : tuple of tuple of str
        The cells; a row of one cell is a heading of the rows below.
    is_text : tuple of bool
        Which columns hold words.
    note : str
        How to read it.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
    >>> table = ff.evaluate(c, ff.at_threshold(0.35), n_resamples=0).table("rates")
    >>> print(table.to_csv().splitlines()[0])
    Group,People,"FNMR, %",Errors,"FMR, %",Errors
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_text: tuple[bool, ...]
    note: str = ""

    @classmethod
    def _of(cls, table: Table) -> DisplayTable:
        """Make the table of one of a page, without its drawings; stars mark rates of few errors."""
        columns = table.headed
        kept = [k for k, column in enumerate(columns) if column.kind != "drawing"]
        rows = tuple(
            (row[0].text,)
            if isinstance(row[0], Cell) and row[0].look == "title"
            else tuple(text_of(row[k]) for k in kept)
            for row in table.rows
        )
        is_text = tuple(k == 0 or columns[k].kind == "text" for k in kept)
        has_stars = any(cell.endswith("*") for row in rows for cell in row)
        said = FEW_ERRORS if has_stars and table.look.startswith("rates") else ""
        return cls(table.caption, tuple(columns[k].title for k in kept), rows, is_text, said)

    def _to(self, path: str | Path | None, text: str) -> str:
        if path is not None:
            whole_files.write_text(path, text + "\n")
        return text

    @checked
    def to_latex(self, path: str | Path | None = None) -> str:
        """Write the table for LaTeX, with the rules of the package booktabs.

        Parameters
        ----------
        path : path, optional
            File to which the table is written as well.

        Returns
        -------
        str
        """
        sides = "".join("l" if is_text else "r" for is_text in self.is_text)
        lines = booktabs(sides, self.columns, self.rows)
        if self.title:
            lines = [
                r"\begin{table}",
                rf"\caption{{{self.title.translate(_LATEX)}}}",
                *lines,
                *([rf"\\ {self.note.translate(_LATEX)}"] if self.note else []),
                r"\end{table}",
            ]
        return self._to(path, "\n".join(lines))

    @checked
    def to_html(self, path: str | Path | None = None) -> str:
        """Write the table for web pages.

        Parameters
        ----------
        path : path, optional
            File to which the table is written as well.

        Returns
        -------
        str
        """

        def row(cells: Sequence[str], kind: str) -> str:
            if len(cells) < len(self.columns):
                wide = f'<th scope="rowgroup" colspan="{len(self.columns)}">'
                return f"<tr>{wide}{html.escape(visible(cells[0]))}</th></tr>"
            sides = ("left" if is_text else "right" for is_text in self.is_text)
            return "<tr>{}</tr>".format(
                "".join(
                    f'<{kind} style="text-align: {side}">{html.escape(visible(cell))}</{kind}>'
                    for cell, side in zip(cells, sides, strict=True)
                )
            )

        lines = ["<table>"]
        lines += [f"<caption>{html.escape(self.title)}</caption>"] if self.title else []
        lines += [f"<thead>{row(self.columns, 'th')}</thead>", "<tbody>"]
        lines += [*(row(cells, "td") for cells in self.rows), "</tbody>", "</table>"]
        lines += [f"<p>{html.escape(self.note)}</p>"] if self.note else []
        return self._to(path, "\n".join(lines))

    _repr_html_ = to_html

    @checked
    def to_markdown(self, path: str | Path | None = None) -> str:
        """Write the table for Markdown, as GitHub and Pandoc read it.

        Parameters
        ----------
        path : path, optional
            File to which the table is written as well.

        Returns
        -------
        str
        """

        def line(cells: Sequence[str]) -> str:
            return f"| {' | '.join(visible(cell).translate(_MARKDOWN) for cell in cells)} |"

        lines = [f"{self.title.translate(_MARKDOWN)}\n"] if self.title else []
        lines += [
            line(self.columns),
            f"| {' | '.join('---' if is_text else '---:' for is_text in self.is_text)} |",
        ]
        empty = "  |" * (len(self.columns) - 1)
        lines += [
            line(cells)
            if len(cells) == len(self.columns)
            else f"| **{visible(cells[0]).translate(_MARKDOWN)}** |{empty}"
            for cells in self.rows
        ]
        lines += [f"\n{self.note.translate(_MARKDOWN)}"] if self.note else []
        return self._to(path, "\n".join(lines))

    @checked
    def to_csv(self, path: str | Path | None = None) -> str:
        """Write the table as CSV, without title and note; a cell that a spreadsheet would compute
        begins with an apostrophe.

        Parameters
        ----------
        path : path, optional
            File to which the table is written as well.

        Returns
        -------
        str
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for row in (self.columns, *self.rows):
            empty = [""] * (len(self.columns) - len(row))
            writer.writerow([*map(_harmless, row), *empty])
        return self._to(path, text.getvalue().removesuffix("\n"))

    @checked
    def to_xlsx(self, path: str | Path) -> None:
        """Write the table as a workbook; numbers are numbers, shown as here.

        Parameters
        ----------
        path : path
            The file to write.

        Raises
        ------
        MissingDependencyError
            Where openpyxl is not installed.
        OutputError
            Where the file cannot be written.
        """
        write_tables([self], path, "xlsx")

    @checked
    def to_docx(self, path: str | Path) -> None:
        """Write the table as a document of Word.

        Parameters
        ----------
        path : path
            The file to write.

        Raises
        ------
        MissingDependencyError
            Where python-docx is not installed.
        OutputError
            Where the file cannot be written.
        """
        write_tables([self], path, "docx")

    def __str__(self) -> str:
        rows = [[*row, *[""] * (len(self.columns) - len(row))] for row in self.rows]
        said = [self.title, *in_lines(self.columns, rows), self.note]
        return "\n".join(filter(None, said))


FEW_ERRORS = (
    f"* fewer than {ENOUGH_ERRORS} errors behind the rate (Doddington's rule of {ENOUGH_ERRORS})"
)


def text_of(cell: str | Cell) -> str:
    """Write a cell of a page as text; a star marks a rate of few errors."""
    if isinstance(cell, str):
        return cell
    star = "*" if cell.look.startswith("few") and cell.text not in ("", NONE) else ""
    return " ".join(filter(None, (cell.text, cell.interval))) + star


def booktabs(sides: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write the lines of a table for LaTeX; sides: "l" or "r" for each column."""

    def line(cells: Sequence[str]) -> str:
        if len(cells) < len(headings):
            title = rf"\textit{{{visible(cells[0]).translate(_LATEX)}}}"
            return rf"\multicolumn{{{len(headings)}}}{{l}}{{{title}}} \\"
        return " & ".join(visible(cell).translate(_LATEX) for cell in cells) + r" \\"

    return [
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        line(headings),
        r"\midrule",
        *map(line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _harmless(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    is_formula = cell[:1] in ("=", "+", "@", "\t", "\r") or re.match(r"-[^\d ]", cell)
    return f"'{cell}" if is_formula else cell


def _to_xlsx(tables: Sequence[DisplayTable], file: Any) -> None:
    openpyxl = require("openpyxl", "tables", "a workbook")
    styles = require("openpyxl.styles", "tables", "a workbook")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for k, table in enumerate(tables, 1):
        name = _NOT_IN_SHEETS.sub(" ", f"{k} {table.title}" if len(tables) > 1 else table.title)
        sheet = book.create_sheet(name[:_LONGEST_SHEET].strip() or "Table")
        inside = range(_HEADINGS, _HEADINGS + 1 + len(table.rows))
        lines = [[table.title], [], table.columns, *table.rows, [], [table.note]]
        for row, cells in enumerate(lines, 1):
            is_heading = row == _HEADINGS or (row in inside and len(cells) < len(table.columns))
            for column, text in enumerate(cells, 1):
                cell, is_text = sheet.cell(row, column), table.is_text[column - 1]
                number = None if is_text or row not in inside[1:] else _NUMBER.fullmatch(text)
                if number:
                    cell.value = float(text.replace(",", ""))
                    places = f".{'0' * len(number[2])}" if number[2] else ""
                    cell.number_format = f"#,##0{places}" if "," in text else f"0{places}"
                else:
                    cell.value, cell.data_type = visible(text), "s"  # and never a formula
                side = "right" if row in inside and not is_text else "left"
                cell.alignment = styles.Alignment(horizontal=side)
                cell.font = styles.Font(bold=row == 1 or is_heading)
        whole = [row for row in (table.columns, *table.rows) if len(row) == len(table.columns)]
        for column, texts in enumerate(zip(*whole, strict=True), 1):
            letter = openpyxl.utils.get_column_letter(column)
            sheet.column_dimensions[letter].width = max(map(len, texts)) + 2
        sheet.freeze_panes = f"B{_HEADINGS + 1}"
    book.save(file)


def _to_docx(tables: Sequence[DisplayTable], file: Any) -> None:
    docx = require("docx", "tables", "a document of Word")
    right = require("docx.enum.text", "tables", "a document of Word").WD_ALIGN_PARAGRAPH.RIGHT
    document = docx.Document()
    for table in tables:
        if table.title:
            document.add_paragraph(visible(table.title), style="Caption")
        made = document.add_table(0, len(table.columns), style="Light List")
        for number, cells in enumerate((table.columns, *table.rows)):
            row = made.add_row().cells
            for k, text in enumerate(cells):
                paragraph = row[k].paragraphs[0]
                run = paragraph.add_run(visible(text))
                run.bold = not number or len(cells) < len(table.columns)
                run.font.size = docx.shared.Pt(8)
                if not table.is_text[k]:
                    paragraph.alignment = right
            if len(cells) < len(table.columns):
                row[0].merge(row[-1])
        document.add_paragraph(table.note)
    document.save(file)


_TEXTS: dict[str, Callable[[DisplayTable], str]] = {
    "tex": DisplayTable.to_latex,
    "html": DisplayTable.to_html,
    "md": DisplayTable.to_markdown,
    "csv": DisplayTable.to_csv,
}
_FILES: dict[str, Callable[[Sequence[DisplayTable], Any], None]] = {
    "xlsx": _to_xlsx,
    "docx": _to_docx,
}
KINDS = (*_FILES, *_TEXTS)


def kind_of(path: str | Path) -> str:
    """Return the kind of a file of tables, by its suffix."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise InputError(
            f"tables are written as {', '.join(KINDS[:-1])} or {KINDS[-1]}, by the suffix of the"
            f" file, not as {str(path)!r}"
        )
    return kind


def write_tables(tables: Sequence[DisplayTable], path: str | Path, kind: str = "") -> None:
    """Write tables to one file: a sheet for each, or one below the other."""
    kind = kind or kind_of(path)
    if kind in _FILES:
        whole = io.BytesIO()
        _FILES[kind](tables, whole)
        with whole_files.written(path) as file:
            file.write(whole.getvalue())
        return
    parts = [_TEXTS[kind](table) for table in tables]
    if kind == "csv" and len(tables) > 1:
        parts = [
            f"{_harmless(shown_table.title)}\n{part}"
            for shown_table, part in zip_longest(tables, parts)
        ]
    whole_files.write_text(path, "\n\n".join(parts) + "\n")

"""`Result`: what every analysis returns, a dataclass that is shown, tabulated, written, read, drawn
and reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastfair._lib import frames, validation, whole_files
from fastfair._lib.arguments import checked
from fastfair._lib.notebook import Shown
from fastfair._lib.tables import columns_of, write_json
from fastfair._lib.text import (
    NONE,
    cell,
    interval_of_rate,
    number_with_interval,
    p_value,
    rate_with_interval,
    typed,
    written_level,
)
from fastfair._version import __version__
from fastfair.data.exclusions import Exclusion, sentences_on_exclusions
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError, visible
from fastfair.measures._registry import printed_name
from fastfair.pages.drawings import drawing, svg_of
from fastfair.pages.parts import Chapter, Column, Picture, Section, Table
from fastfair.pages.report import TITLE, report
from fastfair.uncertainty.quantities import is_in_per_cent

from . import written
from .display import DisplayTable, booktabs, write_tables
from .written import SCHEMA_VERSION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST_ON_PAPER = 8  # columns; with more, cells are smaller


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(Shown):
    """What an analysis returns: a frozen dataclass, whose attributes JSON has under their names.

    Attributes
    ----------
    left_out : tuple of Exclusion
        What was left out of the data that it is of, which every summary and page says.
    """

    kinds: ClassVar[dict[str, type[Result]]] = {}
    _page_title: ClassVar[str] = TITLE
    _title: ClassVar[str] = ""  # of its chapter, a question that the result answers
    _rows: ClassVar[str] = "rows"  # the attribute that the table is made of
    _properties: ClassVar[str] = ""  # of these rows, which the table has, too
    # or the attributes with a number of each group that it is made of
    _per_group: ClassVar[str] = ""
    _table_name: ClassVar[str] = "numbers"  # of its table to hand on
    _derived: ClassVar[tuple[str, ...]] = ()  # properties that JSON has, too
    _printed: ClassVar[str] = ""  # columns that the terminal prints; by default all
    _estimate: ClassVar[str] = "estimate"  # the column whose interval is from "low" to "high"

    left_out: tuple[Exclusion, ...] = field(default=(), repr=False)

    if TYPE_CHECKING:
        plot: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Result.kinds[cls.__name__] = cls

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        return "\n".join(
            map(visible, [*self._sentences(), *sentences_on_exclusions(self.left_out)])
        )

    def _sentences(self) -> Sequence[str]:
        """Return the sentences of the summary."""
        raise NotImplementedError

    def _columns(self) -> dict[str, list[Any]]:
        """Return the columns of the table."""
        if self._per_group:
            arrays = {name: getattr(self, name).tolist() for name in self._per_group.split()}
            return {"group": list(vars(self)["groups"])} | arrays
        rows = getattr(self, self._rows)
        return columns_of(rows) | {
            name: [getattr(row, name) for row in rows] for name in self._properties.split()
        }

    def _tables(self) -> list[Printed]:
        """Return the tables that the terminal prints below the summary."""
        columns = self._columns()
        return [printed(columns, self._printed.split() or columns, of=self._estimate)]

    def _figures(self) -> Mapping[str, Axes | Figure]:
        """Return what `--plots` draws, by the names of the files; "" stands for that of the
        result.
        """
        return {"": self.plot()} if hasattr(self, "plot") else {}

    def _content(self) -> dict[str, Any]:
        """Return what JSON has."""
        about = {"fastfair": __version__, "kind": type(self).__name__, "schema": SCHEMA_VERSION}
        derived = {name: written.to_plain(getattr(self, name)) for name in self._derived}
        return about | written.to_plain(self) | derived

    @classmethod
    def _read(cls, content: Mapping[str, Any]) -> Self:
        """Make the result of what JSON has."""
        made: Self = written.from_plain(content, cls)
        return made

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of what `to_json` writes.

        Returns
        -------
        dict
        """
        about = {
            "fastfair": {"type": "string"},
            "kind": {"const": cls.__name__},
            "schema": {"const": SCHEMA_VERSION},
        }
        derived = {name: written.schema_of_property(cls, name) for name in cls._derived}
        return written.schema_of(cls, about | derived)

    def _parts(self) -> Sequence[Result]:
        """Return the results that a page shows one by one."""
        return [self]

    def _shown(self) -> Sequence[str]:
        return self.summary().splitlines()

    def _shown_tables(self) -> Sequence[Printed]:
        return self._tables() or [
            printed(self._columns(), self._printed.split() or self._columns())
        ]

    @checked
    def to_frame(self, backend: frames.Backend | None = None) -> Any:
        """Return the table of the result as a data frame: one row for each group, rate, effect or
        study.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
        """
        return frames.build(self._columns(), backend)

    @checked
    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything but replicates as strict JSON, which `read_results` reads.

        Parameters
        ----------
        path : path, optional
            File to which the JSON is written as well.

        Returns
        -------
        str
            Each attribute under its name. Infinite numbers are "Infinity" and "-Infinity"; null
            stands for numbers that there are none of.
        """
        return write_json(self._content(), path)

    def _numbers(self) -> str:
        """Return what `to_json` writes, for a page."""
        return write_json(self._content(), None, indent=None)

    @checked
    def to_latex(
        self, path: str | Path | None = None, *, columns: Sequence[str] | None = None
    ) -> str:
        r"""Write the table of the result for LaTeX, with the rules of the package booktabs.

        Parameters
        ----------
        path : path, optional
            File to which the table is written as well.
        columns : sequence of str, optional
            The columns of `to_frame` to write; by default all.

        Returns
        -------
        str

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> print(ff.evaluate(c, ff.at_threshold(0.35), n_resamples=0).to_latex(columns=["name", "estimate"]))
        \begin{tabular}{lr}
        \toprule
        name & estimate \\
        \midrule
        threshold & 0.35 \\
        fmr & 0.5 \\
        fnmr & 0.5 \\
        eer & 0.5 \\
        min\_dcf & 0.025 \\
        \bottomrule
        \end{tabular}
        """
        of_all = self._columns()
        names = [
            validation.choice("columns", column, list(of_all))
            for column in (of_all if columns is None else columns)
        ]
        sides = [
            "l" if any(isinstance(value, str) for value in of_all[name]) else "r" for name in names
        ]
        rows = [list(map(cell, row)) for row in zip(*(of_all[name] for name in names), strict=True)]
        headings = [name.replace("_", " ") for name in names]
        text = "\n".join(booktabs("".join(sides), headings, rows))
        if path is not None:
            whole_files.write_text(path, text + "\n")
        return text

    def _display(self) -> Mapping[str, Sequence[tuple[OperatingPoint | None, Table]]]:
        """Return the tables to hand on, by their names, each with its operating point."""
        tables = [(None, on_page(*table)) for table in self._tables() if table[1]]
        return {self._table_name: tables}

    @checked
    def table(self, name: str | None = None, at: OperatingPoint | None = None) -> DisplayTable:
        """Return a table as pages show it, to write to LaTeX, HTML, Markdown, CSV, XLSX or DOCX.

        `to_frame` has all numbers with all their digits.

        Parameters
        ----------
        name : str, optional
            Of an evaluation "rates", "measures", "metrics", "accuracy", "tmr" or "failures"; of
            tests "tests"; of a check "requirements"; of other results "numbers". By default the
            first.
        at : OperatingPoint, optional
            The operating point; by default the first.

        Returns
        -------
        DisplayTable

        Raises
        ------
        InputError
            Where there is no such table.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> table = ff.evaluate(c, ff.at_threshold(0.35), n_resamples=0).table("rates")
        >>> print(table.to_markdown().splitlines()[2])
        | Group | People | FNMR, % | Errors | FMR, % | Errors |
        """
        tables = {
            word: tables_there for word, tables_there in self._display().items() if tables_there
        }
        named = validation.choice("name", next(iter(tables)) if name is None else name, tables)
        tables_there = [table for point, table in tables[named] if at is None or point == at]
        if not tables_there:
            points = ", ".join(str(point) for point, _ in tables[named])
            raise InputError(f"there is no table {named!r} at {at}: the points are {points}")
        return DisplayTable._of(tables_there[0])

    @checked
    def write_tables(self, path: str | Path) -> None:
        """Write all tables that `table` returns to one file.

        Parameters
        ----------
        path : path
            A file whose suffix says what it holds: .xlsx, .docx, .tex, .html, .md or .csv.
        """
        write_tables(display_tables([self]), path)

    @checked
    def report(
        self, path: str | Path, *, title: str | None = None, inputs: Sequence[str | Path] = ()
    ) -> None:
        """Write the result as one page; see `fastfair.report`.

        Parameters
        ----------
        path : path
            The HTML file to write.
        title : str, optional
            The title of the page; by default one that says what kind of result it is.
        inputs : sequence of path
            Files that the comparisons were read from; the page names them with their SHA-256.
        """
        report([self], path, title=title, inputs=inputs)

    def _question(self) -> str:
        """Return the title of the result's chapter."""
        return self._title

    def _chapter(self) -> Chapter:
        """Return what a page says of the result: its sentences, its plots and its tables."""
        return self._chapter_with(drawing()(self._pictures)())

    def _chapter_with(self, pictures: Sequence[Picture]) -> Chapter:
        """Return the chapter with some pictures, or with none."""
        title, tables = self._question(), self._tables()
        notes = [said for said, headings, _ in tables if not headings]
        sentences = [
            visible(line) for text in self._sentences() for line in text.splitlines() if line
        ]
        shown = [on_page(*table) for table in tables if table[1]]
        section = Section("Numbers", notes, pictures, shown)
        return Chapter(title, sentences, [section], getattr(self, "settings", {}), self._numbers())

    def _pictures(self) -> list[Picture]:
        """Draw what `--plots` draws, too."""
        alt = f"{self._question()} A plot of the table below."
        caption = "The table below has the numbers."
        figures: Mapping[str, Any] = self._figures()
        return [
            Picture(
                svg_of(drawn.get_figure(root=True)),
                alt,
                name.replace("_", " ").capitalize() or caption,
            )
            for name, drawn in figures.items()
        ]


def display_tables(results: Iterable[Result]) -> list[DisplayTable]:
    """Return all tables of results to hand on."""
    return [
        DisplayTable._of(table)
        for result in results
        for tables in result._display().values()
        for _, table in tables
    ]


def on_page(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table of the terminal as one of a page: columns without numbers hold text."""
    columns = [
        Column(
            heading,
            (
                "text"
                if k and not any(cell.lstrip("-–<> ")[:1].isdigit() for cell in cells)
                else "number"
            ),
        )
        for k, (heading, *cells) in enumerate(zip(headings, *rows, strict=True))
    ]
    look = "dense" if len(headings) > _MOST_ON_PAPER else ""
    return Table(title or "Estimates, with intervals in brackets", columns, rows, look=look)


def read(content: dict[str, Any]) -> Result:
    """Make a result of what JSON has of it."""
    return Result.kinds[content["kind"]]._read(content)


Printed = tuple[str, list[str], list[list[str]]]  # a title, which may be empty, headings, and rows
# Columns in per cent; where rows have a name, only those of rates.
_RATES = (
    "fmr", "fnmr", "frr", "fta", "fte", "fnir", "fpir", "apcer", "bpcer", "iapar", "limit",
    "decided_by", "limit_assured", "independent_limit", "assurance", "margin", "power", "estimate",
    "bound", "fraction", "discarded", "raw", "shrunken", "borrowed", "given", "target", "reached",
    "difference", "uncertainty", "wanted_margin", "wanted_assurance", "wanted_power", "first",
    "second",
)  # fmt: skip
_HEADINGS = {
    "operating_point": "at", "pvalue": "p", "group_pvalue": "p", "pvalue_adjusted": "adjusted p",
    "group_pvalue_adjusted": "adjusted p", "name": "quantity", "title": "quantity", "given": "for this very threshold",
    "independent_limit": "if independent", "fmr": "FMR", "fnmr": "FNMR", "fta": "FTA", "fte": "FTE",
    "frr": "FRR", "fnir": "FNIR", "fpir": "FPIR", "apcer": "APCER", "bpcer": "BPCER", "iapar": "IAPAR",
    "cllr": "Cllr", "loss_high": "loss at most", "decided_by": "judged limit",
    "decided_at": "at level", "extra_room": "with room of",
}  # fmt: skip


def printed(
    columns: Mapping[str, Sequence[Any]], names: Iterable[str], *, of: str = "estimate"
) -> Printed:
    """Write columns as a table; the interval "low" to "high" is that of the column `of`."""
    n = len(next(iter(columns.values()), ()))
    kinds = columns.get("name", [None] * n)
    headings, cells = [], []
    for name in names:
        ends = ("low", "high") if name == of else (f"{name}_low", f"{name}_high")
        values, low, high = (columns.get(heading, [None] * n) for heading in (name, *ends))
        written = [
            _written(name, kind, *row, is_interval=name not in columns)
            for kind, row in zip(kinds, zip(values, low, high, strict=True), strict=True)
        ]
        if any(written):
            headings.append(_HEADINGS.get(name, name.removeprefix("n_").replace("_", " ")))
            cells.append(written)
    return "", headings, [list(row) for row in zip(*cells, strict=True)]


def _written(
    name: str,
    kind: str | None,
    value: Any,
    low: float | None,
    high: float | None,
    *,
    is_interval: bool,
) -> str:
    if name == "group" and value is None:
        return "all"
    if name == "name":
        return printed_name(value)
    # with all its digits, as it is typed
    if (kind, name) == ("threshold", "estimate") and not math.isnan(value):
        return " ".join([typed(value), *number_with_interval(value, low, high).split(" ", 1)[1:]])
    if is_interval:
        return interval_of_rate(low, high)
    if not isinstance(value, float):
        return "" if value is None else cell(value)
    if "pvalue" in name:
        return p_value(value)
    if name.startswith("n_"):
        return NONE if math.isnan(value) else f"{value:,.1f}".removesuffix(".0")
    if name == "decided_at":
        return written_level(value)
    is_rate = name in _RATES and (kind is None or is_in_per_cent(kind))
    return (
        rate_with_interval(value, low, high) if is_rate else number_with_interval(value, low, high)
    )

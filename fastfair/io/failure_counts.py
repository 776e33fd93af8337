"""`read_failure_counts` and `read_rates`: tables of subjects or of their attempts, and tables of
error rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastfair._lib import label_codes
from fastfair._lib.arguments import checked
from fastfair._lib.frames import FrameColumns
from fastfair.data import side_columns
from fastfair.data.group_labels import COMPLETE, MissingLabels
from fastfair.errors import FileFormatError, InputError
from fastfair.evaluation.failure_counts import FailureCounts, RateOfFailure

from . import files, tables, text

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

_PER_CENT = r"^[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?\s*[%‰]$"


@files.refuse_changes()
@checked
def read_failure_counts(
    path: str | Path | IntoDataFrame,
    failures: str | None = None,
    attempts: str | None = None,
    groups: str | Sequence[str] = "group",
    *,
    failed: str | None = None,
    subject: str | None = None,
    rate: RateOfFailure = "fnmr",
    failed_value: str | None = None,
    missing_labels: MissingLabels = "error",
) -> FailureCounts:
    r"""Read failures and attempts from a table with one row for each subject, or with one row for
    each attempt.

    Parameters
    ----------
    path : path or data frame
        CSV, TSV or Parquet, or any data frame.
    failures : str, optional
        Column of failed attempts of each subject, by default "failures".
    attempts : str, optional
        Column of all attempts of each subject, by default "attempts".
    groups : str or sequence of str, default "group"
        Columns that make the groups. Several make intersections.
    failed : str, optional
        Column that says of each attempt whether it failed (1 or 0, true or false), by default
        "failed". With this or `subject`, rows are attempts.
    subject : str, optional
        Column with the subject of each attempt, by default "subject".
    rate : {"fnmr", "fta", "fte"}, default "fnmr"
        What failures are: false non-matches, or failures to acquire or to enrol. With "fte" a table
        of attempts has one enrolment for each subject, which failed if all of the subject's
        attempts did.
    failed_value : str, optional
        Where the column `failed` holds labels, that of attempts that failed.
    missing_labels : {"error", "drop", "unknown"}
        What to do with rows that lack a label of a group: raise an error, leave them out with a
        warning that counts them, or take "unknown" for it.

    Returns
    -------
    FailureCounts

    Raises
    ------
    FileFormatError
        For a file that is missing, empty or no table.
    InputError
        For columns that do not exist (the message suggests the nearest names), text in place of
        numbers, columns of both kinds of tables, a label of failed attempts that no row has, and as
        `FailureCounts` does.

    Examples
    --------
    >>> import fastfair as ff
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "counts.csv").write_text("failures,attempts,sex\n0,4,f\n2,4,f\n1,3,m\n")
    >>> ff.read_failure_counts(folder / "counts.csv", groups="sex")
    FailureCounts(3 subjects, 11 attempts, 3 failures, 2 groups)
    >>> _ = (folder / "decisions.csv").write_text("subject,failed,sex\nann,0,f\nann,1,f\nbob,0,m\n")
    >>> ff.read_failure_counts(folder / "decisions.csv", failed="failed", groups="sex")
    FailureCounts(2 subjects, 3 attempts, 1 failure, 2 groups)
    """
    of_attempts = failed is not None or subject is not None or failed_value is not None
    if of_attempts and (failures is not None or attempts is not None):
        raise InputError(
            "⟦failures=⟧ and ⟦attempts=⟧ are columns of a table with one row for each subject,"
            " ⟦failed=⟧, ⟦failed_value=⟧ and ⟦subject=⟧ are of one with one row for each attempt:"
            " name those of one table"
        )
    table = tables.read_source(path, "path", "the data frame")
    attributes = side_columns.names_of_groups(groups)
    given = (
        {"failed": failed, "subject": subject}
        if of_attempts
        else {"failures": failures, "attempts": attempts}
    )
    first, second = columns = [table.require(role, name or role) for role, name in given.items()]
    frame = FrameColumns(
        table.columns([*columns, *(table.require("groups", name) for name in attributes)])
    )
    with table.placed():
        labels: dict[str, Any] = {
            name: frame.labels(name, COMPLETE) if missing_labels == "error" else frame.entries(name)
            for name in attributes
        }
        failures_of: Any = (
            frame.labels(first) if failed_value is not None else _numbers(table, frame, first)
        )
        if not of_attempts:
            attempts_of = _numbers(table, frame, second)
            return FailureCounts(
                failures_of, attempts_of, labels, rate=rate, missing_labels=missing_labels
            )
        who = frame.labels(second)
        return FailureCounts.from_decisions(
            failures_of,
            who,
            labels,
            rate=rate,
            failed_value=failed_value,
            missing_labels=missing_labels,
        )


def _numbers(table: tables.Table, frame: FrameColumns, name: str) -> Any:
    """Return a column of numbers, or of true and false, which text files hold as text."""
    column = frame.polars([name])[name]
    if column.dtype != files.polars().String:
        return frame.values(name)
    words = column.str.strip_chars().str.to_lowercase().replace({"true": "1", "false": "0"})
    return text.numbers(table.place, f"column {name!r}", words, table.lines)


@files.refuse_changes()
def read_rates(path: Path, labels: Sequence[str]) -> pl.DataFrame:
    """Read a table whose columns are numbers but for some labels; columns with other text stay
    text.

    Parameters
    ----------
    path : path
        CSV, TSV or Parquet.
    labels : sequence of str
        Columns of labels.

    Returns
    -------
    pl.DataFrame
        Missing numbers are null.
    """
    table = tables.read_source(path, "path", "the table")
    frame = table.columns(table.names)
    return frame.with_columns(
        _rates(table, frame[name]) for name in table.names if name not in labels
    )


def _rates(table: tables.Table, column: Any) -> Any:
    """Return a column of text as numbers, or as it is if it holds other text; refuse those with a
    sign of per cent.
    """
    pl = files.polars()
    if column.dtype != pl.String:
        return column
    missing = column.is_in([*label_codes.MISSING_TEXTS, ""])
    texts = column.filter(~missing)
    if not all(map(text.is_number, texts)):
        in_per_cent = column.str.contains(_PER_CENT).fill_null(False)
        if in_per_cent.any() and all(map(text.is_number, column.filter(~missing & ~in_per_cent))):
            row = int(in_per_cent.arg_max() or 0)
            raise FileFormatError(
                f"{table.place}: {table.where(row)}: column {column.name!r} must hold numbers, not"
                f" {column[row]!r}: write all rates as fractions, or all in per cent without the"
                " sign, with ⟦percent=True⟧ (--percent)"
            )
        return column
    return column.set(missing, None).cast(pl.Float64)

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
from fastfair._lib.warnings import warn
from fastfair.data import side_columns
from fastfair.data.group_labels import COMPLETE, UNKNOWN, MissingLabels
from fastfair.data.label_bands import NO_BANDS, banded, read_bands
from fastfair.errors import (
    FileFormatError,
    InputError,
    NarrowIntervalsWarning,
    NotComputableWarning,
)
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
    other_subject: str | None = None,
    other_groups: str | Sequence[str] = (),
    totals: bool = False,
    rate: RateOfFailure = "fnmr",
    failed_value: str | None = None,
    missing_labels: MissingLabels = "error",
    session: str | None = None,
    bands: str | Sequence[str] = (),
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
        Columns that make the groups. Several make intersections; with () there are no groups.
    failed : str, optional
        Column that says of each attempt whether it failed (1 or 0, true or false), by default
        "failed". With this, or `subject` alone, rows are attempts.
    subject : str, optional
        Column with the subject of each attempt, by default "subject"; or of each row of counts,
        where several may be of one subject.
    other_subject, other_groups : str, or sequence of str, optional
        Of "fmr" and "far": column with the person that the subject is compared with, and columns
        with that person's groups.
    totals : bool, default False
        Whether rows are totals of several people, such as those of a group.
    rate : {"fnmr", "fmr", "frr", "far", "fta", "fte", "fnir", "fpir", "apcer", "bpcer", "iapar"}
        What failures are, by the rate that counts them. With "fte" a table of attempts has one
        enrolment for each subject, which failed if all of the subject's attempts did.
    failed_value : str, optional
        Where the column `failed` holds labels, that of attempts that failed.
    missing_labels : {"error", "drop", "unknown"}
        What to do with rows that lack a label of a group: raise an error, leave them out with a
        warning that counts them, or take "unknown" for it.
    session : str, optional
        Column of what the attempts of a row share with those of other people, such as their day,
        device or site. Rows of counts are then of a subject in a session.
    bands : str or sequence of str
        Bands of an attribute that has numbers, as in "age=0,20,35,50,65".

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
    are_counted = failures is not None or attempts is not None or totals
    of_attempts = failed is not None or failed_value is not None
    if of_attempts and are_counted:
        raise InputError(
            "⟦failures=⟧, ⟦attempts=⟧ and ⟦totals=⟧ are of a table with one row for each subject,"
            " ⟦failed=⟧ and ⟦failed_value=⟧ of one with one row for each attempt: name those of one"
            " table"
        )
    of_attempts |= subject is not None and not are_counted
    table = tables.read_source(path, "path", "the data frame")
    sides = [side_columns.names_of_groups(names) for names in (groups, other_groups)]
    if sides[1] and len(sides[1]) != len(sides[0]):
        raise InputError(
            f"⟦groups=⟧ names {len(sides[0])} columns and ⟦other_groups=⟧ {len(sides[1])}: give one"
            " of each for every attribute"
        )
    given = (
        {"failed": failed, "subject": subject}
        if of_attempts
        else {"failures": failures, "attempts": attempts}
    )
    first, second = (table.require(role, name or role) for role, name in given.items())
    named = {"subject": subject, "other_subject": other_subject, "session": session}
    people = {role: table.require(role, name) for role, name in named.items() if name is not None}
    if of_attempts:
        people["subject"] = second
    read = [first, second, *people.values()]
    may_repeat = not (of_attempts or totals or subject) and table.names.count("subject") == 1
    read += ["subject"] if may_repeat else []
    for argument, names in zip(("groups", "other_groups"), sides, strict=True):
        read += [table.require(argument, name) for name in names]
    of_bands = read_bands(bands, sides[0])
    frame = FrameColumns(table.columns(list(dict.fromkeys(read))))
    if may_repeat:
        _warn_of_repeated_people(table, frame)
    with table.placed():
        labels: list[Any] = [
            {
                called: _labels_of(frame, name, (called, of_bands), missing_labels)
                for called, name in zip(sides[0], names, strict=bool(names))
            }
            or None
            for names in sides
        ]
        failures_of: Any = (
            frame.labels(first) if failed_value is not None else _numbers(table, frame, first)
        )
        more: dict[str, Any] = {"rate": rate, "missing_labels": missing_labels}
        more |= {role: frame.labels(name) for role, name in people.items()}
        if not of_attempts:
            counts = FailureCounts(
                failures_of,
                _numbers(table, frame, second),
                labels[0],
                other_group=labels[1],
                totals=totals,
                **more,
            )
            if subject is None:
                _warn_of_totals(table, counts)
            return counts
        return FailureCounts.from_decisions(
            failures_of, group=labels[0], failed_value=failed_value, other_group=labels[1], **more
        )


def _warn_of_repeated_people(table: tables.Table, frame: FrameColumns) -> None:
    """Warn where a column of subjects that is not named has several rows of one person."""
    named = frame.polars(["subject"])["subject"].drop_nulls()
    if named.dtype == files.polars().Object:  # which polars does not compare
        return
    repeated = named.filter(named.is_duplicated())
    if repeated.len():
        warn(
            f"{table.place} has several rows of one person in its column 'subject', such as"
            f" {str(repeated[0])!r}, but each row is taken for a person of its own, which makes"
            ' intervals too narrow: give ⟦subject="subject"⟧',
            NarrowIntervalsWarning,
        )


def _warn_of_totals(table: tables.Table, counts: FailureCounts) -> None:
    """Warn where each group is one row of several attempts, as totals are that are not called so."""
    is_one_row_each = counts.failures.size == max(1, len(counts.groups))
    if is_one_row_each and counts.are_clusters and counts.attempts.min() > 1:
        warn(
            f"{table.place} has one row for {'each group' if counts.groups else 'all'}, which is"
            " taken for one person, so that there is no interval: if rows are totals of several"
            " people, say so with ⟦totals=True⟧",
            NotComputableWarning,
        )


def _labels_of(
    frame: FrameColumns, name: str, about: tuple[str, dict[str, str]], policy: str
) -> Any:
    """Return a column of labels, in bands where these are given, which may lack some as policy
    allows; about: the attribute, and bands of attributes.
    """
    attribute, bands = about
    if policy == "error":
        return banded({attribute: frame.labels(name, COMPLETE)}, bands)[attribute]
    if bands.get(attribute, NO_BANDS) == NO_BANDS:
        return frame.entries(name)
    ((coded, lacking),) = label_codes.encode_with_missing([name], [frame.entries(name)], UNKNOWN)
    coded = banded({attribute: coded}, bands)[attribute]
    labels = coded.labels.astype(object)[coded.codes]
    labels[lacking] = None
    return labels


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

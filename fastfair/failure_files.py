"""`read_failure_counts`: tables of subjects, or of their attempts, in; `FailureCounts` out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _formats, _kinds, _validation
from ._arguments import checked
from ._frames import FrameColumns
from ._subjects import read_table
from .errors import InputError
from .failure_counts import FailureCounts

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame


@checked(path=_kinds.source)
def read_failure_counts(
    path: str | Path | IntoDataFrame,
    failures: str | None = None,
    attempts: str | None = None,
    groups: str | Sequence[str] = "group",
    *,
    failed: str | None = None,
    subject: str | None = None,
) -> FailureCounts:
    r"""Read a table of failed and all attempts with one row a subject, or of decisions with one row an attempt.

    Parameters
    ----------
    path : path or data frame
        CSV, TSV or Parquet, or any data frame.
    failures, attempts : str, optional
        Columns of a table with one row a subject; by default those of the same names.
    groups : str or sequence of str, default "group"
        Columns that make the groups. Several make intersections.
    failed, subject : str, optional
        Columns of a table with one row an attempt: whether it failed (1 or 0, true or false), and whose it was. Where
        one of the two is given, rows are attempts, and the other is by default the column of the same name.

    Returns
    -------
    FailureCounts

    Raises
    ------
    FileFormatError
        For a file that is missing, empty or no table.
    InputError
        For columns that are not there (the nearest names are offered), text where a number belongs, columns of both
        kinds of tables, and as `FailureCounts` does.

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
    of_attempts = failed is not None or subject is not None
    if of_attempts and (failures is not None or attempts is not None):
        raise InputError(
            "failures= and attempts= are columns of a table with one row a subject, failed= and subject= of one with "
            "one row an attempt: name those of one table"
        )
    is_file = isinstance(path, str | Path)
    frame = read_table(Path(str(path))) if is_file else _formats.as_polars(path)
    try:
        names = [_named(frame, "groups", name) for name in ([groups] if isinstance(groups, str) else groups)]
        labels = {name: FrameColumns(frame).labels(name) for name in names}
        if of_attempts:
            who = FrameColumns(frame).labels(_named(frame, "subject", subject or "subject"))
            return FailureCounts.from_decisions(_numbers(frame, "failed", failed), who, labels)
        return FailureCounts(_numbers(frame, "failures", failures), _numbers(frame, "attempts", attempts), labels)
    except InputError as error:
        raise type(error)(f"{path if is_file else 'the data frame'}: {error}", error.row) from None


def _named(frame: pl.DataFrame, role: str, name: str) -> str:
    """Check that there is such a column."""
    if name not in frame.columns:
        raise InputError(
            f"there is no column {name!r}{_validation.did_you_mean(name, frame.columns)}: name one with {role}=; the "
            f"columns are {', '.join(frame.columns)}"
        )
    return name


def _numbers(frame: pl.DataFrame, role: str, name: str | None) -> Any:
    """Return a column of numbers or of true and false, which text files have as text."""
    pl = _formats.polars()
    name = _named(frame, role, name or role)
    column = frame[name]
    if column.dtype != pl.String:
        return FrameColumns(frame).values(name)
    numbers = column.str.to_lowercase().replace({"true": "1", "false": "0"}).cast(pl.Float64, strict=False)
    wrong = numbers.is_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(
            f"column {name!r} must hold numbers, but row {row} (counted from 0) holds {column[row] or 'nothing'!r}",
            row=row,
        )
    return numbers.to_numpy()

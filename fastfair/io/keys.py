"""Keys of trials that are tables with named columns, as NIST's are, joined with scores by the
columns they share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair.errors import FileFormatError, InputError

from . import files, tables, text

if TYPE_CHECKING:
    import polars as pl

_NAMED = 3  # columns that a message names


def table_with(names: Sequence[str], file: Path | text.Text) -> tables.Table | None:
    """Return the table of a file or text whose columns have these names; None where it has no such
    columns.
    """
    if isinstance(file, Path):
        table = tables.of_parquet(file)
    elif (separator := tables.separator_of(file)) is not None and all(
        name in file.first for name in names
    ):
        table = tables.read_text(file, separator)
    else:
        return None
    return table if set(names) <= set(table.names) else None


def content_of(path: Path, failures: bool | None = None) -> Path | text.Text:
    """Return the text of a file, or the path of a Parquet file, which is none."""
    return path if path.suffix.lower() == ".parquet" else text.read(path, failures)


def join_scores(
    key: tables.Table, path: Path, roles: Mapping[str, str], failures: bool
) -> tables.Table:
    """Add to each row of a key its score, from a table with the same columns, or from a list in the
    key's order.

    Parameters
    ----------
    key : Table
        The key, with a row for each trial.
    path : path
        The file of scores.
    roles : dict of str to str
        The columns of "score", "mated", "reference" and "probe".
    failures : bool
        Whether scores of comparisons that failed may be missing.

    Returns
    -------
    Table
        The columns of the key, and the scores.

    Raises
    ------
    FileFormatError
        For trials without a score, scores without a trial, and trials with several; the first is
        named.
    InputError
        For files that share too few columns.
    """
    score = roles["score"]
    if score in key.names:
        raise InputError(
            f"{key.place} has the column {score!r} itself: give it as path, and leave ⟦trials=⟧ out"
        )
    names = [name for name in key.names if name != roles["mated"]]
    trials = key.columns(key.names)
    content = content_of(path, failures)
    scores = table_with((roles["reference"], roles["probe"]), content)
    if scores is None:
        values = _in_order(path, content, key, trials.height)
    else:
        shared = [name for name in names if name in scores.names]
        values = _looked_up(key, trials, scores, scores.require("score", score), shared)
    pl = files.polars()
    whole = trials.with_columns(pl.Series(score, values))
    return tables.Table(
        key.place, whole.columns, lambda wanted, *_: whole.select(wanted), lines=key.lines
    )


def _in_order(path: Path, content: Path | text.Text, key: tables.Table, n: int) -> Any:
    """Return the scores of a list of n."""
    if (
        isinstance(content, Path)
        or len(text.fields_of(content.first)) != 1
        or tables.separator_of(content)
    ):
        raise InputError(
            f"{path} has no columns called as those of {key.place}, by which the two are joined:"
            " name the columns of both with ⟦reference=⟧ and ⟦probe=⟧, or join the two tables"
            " first"
        )
    frame, lines = content.rows
    if frame.height != n:
        raise FileFormatError(f"{path} has {frame.height} scores, but {key.place} has {n} trials")
    return text.numbers(path, "the score", frame.to_series(), lines, content.failures)


def _looked_up(
    key: tables.Table, trials: pl.DataFrame, scores: tables.Table, score: str, shared: list[str]
) -> Any:
    """Return the score of each trial, from the row that has the same in all columns that both
    tables have.
    """
    pl = files.polars()
    as_text = pl.col(shared).cast(pl.String)
    rows = scores.columns([*shared, score], numbers=[score])
    trials = trials.select(as_text)
    rows = rows.with_columns(as_text)
    for table, frame in ((key, trials), (scores, rows)):
        twice = np.flatnonzero(frame.select(shared).is_duplicated().to_numpy())
        if twice.size:
            what = _named(frame, int(twice[0]), shared)
            raise FileFormatError(
                f"{table.place}: {table.where(int(twice[0]))}: {what} is there more than once"
            )
    return score_of_each(trials, rows, shared, (key, scores), score)


def score_of_each(
    trials: pl.DataFrame,
    scores: pl.DataFrame,
    shared: list[str],
    places: tuple[tables.Rows, tables.Rows],
    score: str = "score",
) -> pl.Series:
    """Return the score of each trial, from the one row that has the same in some columns.

    places: where the rows of trials, and those of scores, come from.

    Raises
    ------
    FileFormatError
        For trials without a score, and scores without a trial.
    """
    of_trials, of_scores = places
    scores = scores.with_row_index("row of scores")
    scored = trials.join(scores, on=shared, how="left", maintain_order="left")
    lost = scored["row of scores"].is_null().arg_true().to_list()
    if lost:
        raise FileFormatError(
            f"{len(lost)} of {trials.height} trials of {of_trials.place} have no score in"
            f" {of_scores.place}, first {_named(trials, lost[0], shared)} in"
            f" {of_trials.where(lost[0])}"
        )
    unlisted = scores.join(trials, on=shared, how="anti", maintain_order="left")
    if unlisted.height:
        raise FileFormatError(
            f"{unlisted.height} scores of {of_scores.place} have no trial in {of_trials.place},"
            f" first {_named(unlisted, 0, shared)} in"
            f" {of_scores.where(unlisted['row of scores'][0])}"
        )
    return scored[score]


def _named(frame: pl.DataFrame, row: int, columns: list[str]) -> str:
    return " ".join(str(frame[name][row]) for name in columns[:_NAMED])

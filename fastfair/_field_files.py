"""Score files of white-space separated fields: bob's 4 and 5 columns, VoxCeleb and Kaldi trial lists."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._formats import LABELS, ScoreTable, check_file, first_line, is_number, polars, reading
from .errors import FileFormatError, InputError

if TYPE_CHECKING:
    import polars as pl

VOXCELEB_SUBJECT = r"^([^/]+)/"


def read_bob_columns(path: Path, n_columns: int) -> ScoreTable:
    """Read bob's 4 columns (claimed real test score) or 5 (claimed model real test score)."""
    names = ["claimed", "real", "test", "score"] if n_columns == 4 else ["claimed", "model", "real", "test", "score"]
    frame, lines = _read_fields(path, names)
    samples = None if n_columns == 4 else ("model", "test")
    frame = _with_numbers(path, frame, "score", lines)
    return ScoreTable(frame, "score", None, "claimed", "real", samples=samples, lines=lines)


def read_trials(path: Path, kind: str, trials: Path | None) -> ScoreTable:
    """Read a VoxCeleb or Kaldi trial list with its scores."""
    pattern = VOXCELEB_SUBJECT if kind == "voxceleb" else None
    if trials is None:
        if kind == "kaldi":
            raise InputError("format 'kaldi' needs the trial list: trials=")
        names = ["label", "enrol", "test", "score"]
        frame, lines = _read_fields(path, names)
        frame = _with_labels(path, _with_numbers(path, frame, "score", lines), lines)
        return ScoreTable(frame, "score", "label", "enrol", "test", pattern, lines=lines)
    order = ["label", "enrol", "test"] if kind == "voxceleb" else ["enrol", "test", "label"]
    listed, lines = _read_fields(check_file(trials), order)
    listed = _with_labels(trials, listed, lines)
    first = first_line(path).split()
    if len(first) == 1:
        scores, score_lines = _read_fields(path, ["score"])
        scores = _with_numbers(path, scores, "score", score_lines)
        if scores.height != listed.height:
            raise FileFormatError(f"{path} has {scores.height} scores, but {trials} has {listed.height} trials")
        return ScoreTable(listed.hstack(scores), "score", "label", "enrol", "test", pattern, lines=score_lines)
    if len(first) != 3:
        raise FileFormatError(
            f"{path}: line 1: a score file has 'score' or 'enrol test score', not {' '.join(first)!r}"
        )
    order = (
        ["score", "enrol", "test"] if is_number(first[0]) and not is_number(first[2]) else ["enrol", "test", "score"]
    )
    scores, score_lines = _read_fields(path, order)
    scores = _with_numbers(path, scores, "score", score_lines).unique(maintain_order=True)
    key = ["enrol", "test"]
    twice = scores.filter(scores.select(key).is_duplicated())
    if twice.height:
        raise FileFormatError(
            f"{path} has several scores for {twice['enrol'][0]} {twice['test'][0]} ({twice.height} such rows)"
        )
    unscored = listed.join(scores, on=key, how="anti")
    if unscored.height:
        raise FileFormatError(
            f"{unscored.height} of {listed.height} trials of {trials} have no score in {path}, "
            f"first {unscored['enrol'][0]} {unscored['test'][0]}"
        )
    unlisted = scores.join(listed, on=key, how="anti")
    if unlisted.height:
        raise FileFormatError(
            f"{unlisted.height} scores of {path} have no trial in {trials}, "
            f"first {unlisted['enrol'][0]} {unlisted['test'][0]}"
        )
    joined = listed.join(scores, on=key, how="left", maintain_order="left")
    return ScoreTable(joined, "score", "label", "enrol", "test", pattern, lines=lines)


def _read_fields(path: Path, names: list[str]) -> tuple[pl.DataFrame, np.ndarray[Any, Any]]:
    """Read a file of white-space separated fields, and the line number of each row."""
    pl = polars()
    with reading(path):
        text = pl.read_csv(
            path, separator="\x01", quote_char=None, has_header=False, new_columns=["line"], infer_schema=False
        )
    rows = text.with_row_index("number", offset=1).with_columns(pl.col("line").str.strip_chars())
    rows = rows.filter(pl.col("line").is_not_null() & (pl.col("line") != "") & ~pl.col("line").str.starts_with("#"))
    if rows.height == 0:
        raise FileFormatError(f"{path} holds nothing but blank lines and comments")
    parts = rows["line"].str.replace_all(r"\s+", " ")
    wrong = (parts.str.count_matches(" ", literal=True) != len(names) - 1).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise FileFormatError(
            f"{path}: line {rows['number'][row]}: expected {len(names)} fields ({' '.join(names)}), "
            f"found {parts[row]!r} ({len(wrong)} such lines)"
        )
    split = parts.str.split_exact(" ", len(names) - 1).struct.rename_fields(names).struct.unnest()
    return split, rows["number"].to_numpy()


def _with_numbers(path: Path, frame: pl.DataFrame, name: str, lines: np.ndarray[Any, Any]) -> pl.DataFrame:
    pl = polars()
    numbers = frame[name].cast(pl.Float64, strict=False)
    wrong = numbers.is_null().arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise FileFormatError(
            f"{path}: line {lines[row]}: the {name} must be a number, not {frame[name][row]!r} "
            f"({len(wrong)} such lines)"
        )
    return frame.with_columns(numbers)


def _with_labels(path: Path, frame: pl.DataFrame, lines: np.ndarray[Any, Any]) -> pl.DataFrame:
    pl = polars()
    words = frame["label"].str.to_lowercase()
    wrong = (~words.is_in(list(LABELS))).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise FileFormatError(
            f"{path}: line {lines[row]}: the label must be one of {', '.join(LABELS)}, not {frame['label'][row]!r} "
            f"({len(wrong)} such lines)"
        )
    return frame.with_columns(
        words.replace_strict(list(LABELS), list(LABELS.values()), return_dtype=pl.Boolean).alias("label")
    )

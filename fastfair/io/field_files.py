"""Read score files of fields separated by white space: bob's 4 and 5 columns, VoxCeleb, Kaldi, matrices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.frames import FrameColumns
from fastfair._lib.warnings import warn
from fastfair.errors import DroppedWarning, FileFormatError, InputError

from . import text_files
from .formats import FIELDS, ScoreTable
from .reading import polars
from .subject_patterns import VOXCELEB_SUBJECT
from .text_files import Text, is_number

if TYPE_CHECKING:
    import polars as pl

_TRIAL = ["enrol", "test"]
_Lines = NDArray[np.int64]


def read_bob_columns(text: Text, kind: str) -> ScoreTable:
    """Read bob's 4 columns (claimed real test score) or 5 (claimed model real test score)."""
    frame, lines = _read_fields(text, FIELDS[kind])
    samples = None if kind == "bob-4" else ("model", "test")
    return ScoreTable(text.path, frame, "score", None, "claimed", "real", samples=samples, lines=lines)


def read_trials(
    text: Text,
    kind: str,
    trials: Text | None,
    *,
    scored: bool = True,
    mated_value: object = None,
    unmatched: str = "error",
) -> ScoreTable:
    """Read a list of trials with its scores, or, if it is not `scored`, the list alone."""
    pattern = VOXCELEB_SUBJECT if kind == "voxceleb" else None
    if scored and trials is None:
        if kind == "kaldi":
            raise InputError("format 'kaldi' needs the trial list: trials=")
        listed, lines = _read_fields(text, FIELDS[kind], mated_value)
    else:
        listing = trials or text
        listed, lines = _read_fields(
            listing, "label enrol test" if kind == "voxceleb" else "enrol test label", mated_value
        )
    label = "label" if "label" in listed.columns else None
    if label:
        _refuse_contradictions((trials or text).path, listed, lines)
    if trials is not None:
        listed, keep = _with_scores(text, listed, trials.path, unmatched)
        lines = lines if keep is None else lines[keep]
    score = "score" if scored else None
    return ScoreTable((trials or text).path, listed, score, label, "enrol", "test", pattern, lines=lines)


def read_pairs_of_lfw(text: Text) -> ScoreTable:
    """Read LFW's pairs.txt: "name number number" of mated pairs, and "name number name number" of others.

    Samples are called as the files are, "Ann_Lee_0001".
    """
    rows, lines = [], []
    for number, line in enumerate(text.data.decode().splitlines()[1:], text.number + 1):
        fields = text_files.fields_of(line)
        if not fields:
            continue
        mated = len(fields) == 3
        others = fields[1:] if mated else fields[1::2]
        if len(fields) not in (3, 4) or not all(map(str.isdigit, others)):
            raise FileFormatError(
                f"{text.path}: line {number}: expected 'name number number' or 'name number name number', "
                f"found {line!r}"
            )
        names = (fields[0], fields[0]) if mated else (fields[0], fields[2])
        rows.append((*(f"{name}_{int(k):04d}" for name, k in zip(names, others, strict=True)), mated))
        lines.append(number)
    frame = polars().DataFrame(rows, schema=["enrol", "test", "label"], orient="row")
    return ScoreTable(text.path, frame, None, "label", "enrol", "test", r"^(.+)_\d+$", lines=np.array(lines))


def read_scores(text: Text) -> NDArray[np.float64]:
    """Read a list of scores alone, one on each line."""
    return _read_fields(text, "score")[0]["score"].to_numpy()


def read_matrix(text: Text) -> NDArray[np.float64]:
    """Read a matrix of numbers with blanks or commas between them."""
    frame, lines = text_files.split(text, "," if "," in text.first else None, flat=True)
    n_columns = frame.height // lines.size
    _refuse_data_in_comments(text, n_columns, lambda fields: all(map(is_number, fields)))
    values = text_files.numbers(text.path, "a score", frame.to_series(), np.repeat(lines, n_columns), text.failures)
    return values.reshape(lines.size, n_columns)


def _with_scores(
    text: Text, listed: pl.DataFrame, trials: Path, unmatched: str
) -> tuple[pl.DataFrame, NDArray[np.bool_] | None]:
    """Add a score to each trial; score files have them in the order of the trial list, or beside the trials' names.

    Returns the trials, and which were kept, None for all.
    """
    path, first = text.path, text_files.fields_of(text.first)
    if len(first) == 1:
        scores, _ = _read_fields(text, "score")
        if scores.height != listed.height:
            raise FileFormatError(f"{path} has {scores.height} scores, but {trials} has {listed.height} trials")
        return listed.hstack(scores), None
    if len(first) != 3:
        raise FileFormatError(
            f"{path}: line {text.number}: a score file has 'score' or 'enrol test score', not {' '.join(first)!r}"
        )
    score_first = is_number(first[0]) and not is_number(first[2])
    scores, lines = _read_fields(text, "score enrol test" if score_first else "enrol test score")
    pairs = _pairs(listed)
    if scores.height == listed.height and (pairs == _pairs(scores)).all() and pairs.n_unique() == pairs.len():
        return listed.hstack([scores["score"]]), None
    scores = scores.with_columns(line=lines).unique([*_TRIAL, "score"], keep="first", maintain_order=True)
    several = _of_several(scores)
    if several is not None:
        raise FileFormatError(
            f"{path}: {several['enrol'][0]} {several['test'][0]} has the score {several['score'][0]} in line "
            f"{several['line'][0]} and {several['score'][1]} in line {several['line'][1]}"
        )
    unscored = listed.join(scores, on=_TRIAL, how="anti")
    unlisted = scores.join(listed, on=_TRIAL, how="anti", maintain_order="left")
    if unmatched == "drop" and unscored.height + unlisted.height:
        warn(
            f"{unscored.height} of {listed.height} trials of {trials} have no score in {path}, and {unlisted.height} "
            "scores no trial: these are left out",
            DroppedWarning,
        )
        found = listed.join(scores.drop("line"), on=_TRIAL, how="left", maintain_order="left")
        keep = found["score"].is_not_null().to_numpy()
        if not keep.any():
            raise FileFormatError(f"no trial of {trials} has a score in {path}")
        return found.filter(keep), keep
    if unscored.height:
        raise FileFormatError(
            f"{unscored.height} of {listed.height} trials of {trials} have no score in {path}, "
            f"first {unscored['enrol'][0]} {unscored['test'][0]}; "
            'unmatched="drop" leaves them out'
        )
    if unlisted.height:
        raise FileFormatError(
            f"{unlisted.height} scores of {path} have no trial in {trials}, "
            f"first {unlisted['enrol'][0]} {unlisted['test'][0]} in line {unlisted['line'][0]}; "
            'unmatched="drop" leaves them out'
        )
    return listed.join(scores.drop("line"), on=_TRIAL, how="left", maintain_order="left"), None


def _read_fields(text: Text, names: str, mated_value: object = None) -> tuple[pl.DataFrame, _Lines]:
    """Read the named fields and the line of each row; check that "score" is a number and "label" a known word."""
    pl = polars()
    fields = names.split()

    def is_label(word: str) -> bool:
        return mated_value is not None or validation.mated_pair([validation.mated_word(word)]) is not None

    checks: dict[str, Callable[[str], bool]] = {"score": is_number, "label": is_label}
    telling = [(k, checks[name]) for k, name in enumerate(fields) if name in checks]
    _refuse_data_in_comments(text, len(fields), lambda found: all(check(found[k]) for k, check in telling))
    frame, lines = text_files.split(text, None, names)
    frame.columns = fields
    if "score" in fields:
        numbers = text_files.numbers(text.path, "the score", frame["score"], lines, text.failures)
        frame = frame.with_columns(score=pl.Series(numbers))
    if "label" in fields:
        wrong = None if mated_value is not None else _row_of_no_label(frame["label"])
        if wrong is not None:
            raise FileFormatError(
                f"{text.path}: line {lines[wrong]}: the label must say mated or non-mated, as 1 and 0 or target and "
                f"nontarget do, not {frame['label'][wrong]!r}; other words need mated_value="
            )
        values = FrameColumns(frame).values("label")
        frame = frame.with_columns(label=pl.Series(validation.mated_flags(values, mated_value)))
    # As codes, which all frames share, names are compared and looked up faster.
    return frame.with_columns(pl.col(name).cast(pl.Categorical) for name in _TRIAL if name in fields), lines


def _row_of_no_label(labels: pl.Series) -> int | None:
    """Return the first row whose word is not of the pair of words of those before it; None where there is none."""
    distinct = labels.unique(maintain_order=True).to_list()
    words = [validation.mated_word(word) for word in distinct]
    for k in range(len(words)):
        if validation.mated_pair(words[: k + 1]) is None:
            return int((labels == distinct[k]).arg_max() or 0)
    return None


def _refuse_contradictions(path: Path, listed: pl.DataFrame, lines: _Lines) -> None:
    """Refuse a trial listed as both target and nontarget; one listed twice with one label stays two comparisons."""
    if _pairs(listed).n_unique() == listed.height:
        return
    marked = listed.with_columns(line=lines).unique([*_TRIAL, "label"], keep="first", maintain_order=True)
    both = _of_several(marked)
    if both is not None:
        line = dict(zip(both["label"], both["line"], strict=True))
        raise FileFormatError(
            f"{path}: {both['enrol'][0]} {both['test'][0]} is a target trial in line {line[True]} and a nontarget one "
            f"in line {line[False]}"
        )


def _pairs(rows: pl.DataFrame) -> pl.Series:
    """Return the pair that each row is about, as a number that differs where the pairs do."""
    pl = polars()
    enrol, test = (rows[name].to_physical().cast(pl.UInt64) for name in _TRIAL)
    return enrol * 2**32 + test


def _of_several(rows: pl.DataFrame) -> pl.DataFrame | None:
    """Return the rows of the first trial with more than one row, or None."""
    twice = rows.filter(rows.select(_TRIAL).is_duplicated())
    return twice.join(twice[:1], on=_TRIAL, how="semi", maintain_order="left") if twice.height else None


def _refuse_data_in_comments(text: Text, n_fields: int, is_data: Callable[[list[str]], Any]) -> None:
    """Refuse a comment before the first row that looks like a row whose first field begins with "#"."""
    for number, line in text.comments:
        found = text_files.fields_of(line)
        if found[0] != "#" and len(found) == n_fields and is_data(found):
            raise FileFormatError(
                f"{text.path}: line {number}: {line[:120]!r} begins as comments do, but reads as data; if it is a "
                "comment, put a blank after the '#', and if it is data, let another row come first"
            )

"""Scores, mated flags and vectors as callers give them, checked and converted."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import validation
from fastfair._lib.arrays import AnyFloats, Flags
from fastfair._lib.label_codes import Coded, Labels, encode
from fastfair._lib.text import list_some
from fastfair.errors import InputError

LOG_LIKELIHOOD_RATIO = "log-likelihood-ratio"
_DECIMAL_RATIO = "log10-likelihood-ratio"
ScoreKind = Literal["similarity", "distance", "log-likelihood-ratio", "log10-likelihood-ratio"]
Similarity = Literal["cosine", "inner_product", "negative_euclidean"]
FAILURES_DO = (
    '⟦failures="exclude"⟧ leaves failed comparisons out and counts them, ⟦failures="non-match"⟧'
    " counts them as non-matches"
)
_BLOCK_BYTES = 16 * 2**20  # of vectors that are checked at once

# Pairs of words in use for (non-mated, mated), in lower case.
_MATED_PAIRS = (
    ("non-mated", "mated"), ("nonmated", "mated"), ("impostor", "genuine"), ("imposter", "genuine"), ("imp", "gen"),
    ("nontarget", "target"), ("non-target", "target"), ("nontgt", "tgt"), ("nontar", "tar"), ("non", "tgt"),
    ("non", "tar"), ("imp", "tgt"), ("imp", "tar"), ("impostor", "target"), ("imp", "target"), ("false", "true"),
    ("f", "t"), ("no", "yes"), ("n", "y"), ("different", "same"), ("diff", "same"), ("non-match", "match"),
    ("nonmatch", "match"), ("negative", "positive"), ("neg", "pos"), ("0", "1"), ("-1", "1"),
)  # fmt: skip


_NO_LABELS = (
    "na",
    "n/a",
    "#n/a",
    "null",
    "none",
    "-",
    ".",
)  # what programs write where there is none


def same_length(columns: Mapping[str, int], entry: str = "comparison") -> None:
    """Check that named columns have the same length, one value for each entry."""
    if len(set(columns.values())) > 1:
        sizes = ", ".join(f"{name} has {size}" for name, size in columns.items())
        raise InputError(f"all columns need one value for each {entry}, but {sizes}")


def with_nan(values: Any) -> Any:
    """Return numbers with NaN in place of None and of pandas' NA, which stand for what failed."""
    holds_objects = str(getattr(values, "dtype", "")) == "object" and getattr(values, "ndim", 1) > 0
    if not holds_objects and not isinstance(values, list | tuple):
        return values
    return [
        math.nan if value is None or type(value).__name__ == "NAType" else value for value in values
    ]


def scores(values: ArrayLike) -> AnyFloats:
    """Convert scores to a contiguous array of floats; NaN and infinity are refused after the
    sort.
    """
    array = validation.one_dimensional("scores", validation.numbers_in("scores", with_nan(values)))
    if array.size == 0:
        raise InputError("scores is empty: there is nothing to evaluate")
    kind = array.dtype.newbyteorder("=")
    if kind in (np.float32, np.float16):
        return validation.contiguous(array, kind)
    return validation.contiguous(validation.floats("scores", array))


_LARGEST_OF_FLOAT32 = float(np.finfo(np.float32).max)
_LARGEST_OF_INT32 = 2**31 - 1  # a distance of binary codes
_ROUNDED = 2e-6  # as text with six digits is


def are_fillers(values: AnyFloats) -> Flags:
    """Return which scores are the largest or smallest of a type, which programs put where there is
    none.
    """
    sizes = np.abs(values.astype(np.float64))
    of_type = (sizes == _LARGEST_OF_INT32) | (sizes == float(np.finfo(values.dtype).max))
    return of_type | np.isclose(sizes, _LARGEST_OF_FLOAT32, _ROUNDED, 0)


def require_no_fillers(values: AnyFloats, failed: Flags | None) -> None:
    """Refuse the largest and smallest numbers of float32 as scores of comparisons that did not
    fail.
    """
    scores = values if failed is None else values[~failed]
    largest = max(-float(scores.min(initial=0)), float(scores.max(initial=0)))
    if largest < _LARGEST_OF_FLOAT32 * (1 - _ROUNDED):
        return
    is_wrong = np.isclose(np.abs(values.astype(np.float64)), _LARGEST_OF_FLOAT32, _ROUNDED, 0)
    wrong = np.flatnonzero(is_wrong if failed is None else is_wrong & ~failed)
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"the score {float(values[row]):.8g} in row {row} (counted from 0) and {wrong.size} in"
            " all is the largest number of float32, which programs write where there is no score:"
            " leave such rows out, or declare those of failed comparisons with ⟦failure_score=⟧:"
            f" {FAILURES_DO}",
            row=row,
        )


def kept_kind(score_kind: str) -> str:
    """Return what scores of a kind are once they are checked: logarithms of ratios are natural
    ones.
    """
    return LOG_LIKELIHOOD_RATIO if score_kind == _DECIMAL_RATIO else score_kind


def natural(values: AnyFloats, score_kind: str) -> AnyFloats:
    """Turn logarithms of likelihood ratios to base 10 into natural ones; other scores stay."""
    return values.astype(np.float64) * math.log(10) if score_kind == _DECIMAL_RATIO else values


def vectors(values: ArrayLike) -> AnyFloats:
    """Convert vectors to a contiguous float32 or float64 array, one row for each sample; copy only
    if needed.
    """
    array = validation.numbers_in("vectors", values)
    if array.ndim != 2:
        raise InputError(
            "vectors must be two-dimensional, one row for each sample, but its shape is"
            f" {array.shape}"
        )
    n, d = array.shape
    if n < 2 or d == 0:
        raise InputError(
            f"vectors needs at least 2 rows and 1 column, but its shape is {array.shape}"
        )
    if array.dtype.kind == "f":
        return validation.contiguous(
            array, np.float32 if array.dtype.itemsize == 2 else array.dtype
        )
    largest = max(abs(float(array.min())), abs(float(array.max())))
    if largest <= 2**24:  # float32 holds whole numbers exactly up to here
        return validation.contiguous(array, np.float32)
    return validation.contiguous(validation.floats("vectors", array))


def unusable(vectors: AnyFloats, similarity: str) -> Flags:
    """Tell which vectors are not finite, or zero where the similarity is the cosine."""
    return np.concatenate(
        [
            ~np.isfinite(block).all(axis=1)
            | (~block.any(axis=1) if similarity == "cosine" else False)
            for block in _blocks(vectors)
        ]
    )


def require_usable(vectors: AnyFloats, similarity: str) -> None:
    """Refuse vectors that are not finite or for which the similarity is undefined."""
    rows = np.flatnonzero(unusable(vectors, similarity))
    if rows.size:
        is_zero = np.isfinite(vectors[rows]).all(axis=1)
        rows = rows[is_zero] if is_zero.all() else rows[~is_zero]
        what = "zero and have no cosine" if is_zero.all() else "not finite"
        raise InputError(
            f"{rows.size} of {len(vectors)} vectors are {what}: rows {list_some(rows.tolist())}"
            ' (counted from 0); leave those rows out, with ⟦failures="exclude"⟧; in searches and lists of trials'
            ' ⟦failures="non-match"⟧ counts them',
            row=int(rows[0]),
        )
    if similarity != "cosine":
        _require_range(vectors, similarity)


def _blocks(vectors: AnyFloats) -> Iterator[AnyFloats]:
    step = max(1, _BLOCK_BYTES // (vectors.shape[1] * vectors.itemsize))
    return (vectors[start : start + step] for start in range(0, len(vectors), step))


def _require_range(vectors: AnyFloats, similarity: str) -> None:
    """Refuse vectors whose inner products, or squared distances, are out of range for their
    floats.
    """
    largest = max(float(np.abs(block).max()) for block in _blocks(vectors))
    kind = np.finfo(vectors.dtype if similarity == "inner_product" else np.float64)
    lowest = float(kind.tiny)
    highest = min(float(kind.max) / 4, validation.LARGEST)
    # distances are rounded to it
    if similarity == "negative_euclidean" and vectors.dtype == np.float32:
        lowest = float(np.finfo(np.float32).tiny) ** 2
        highest = (float(np.finfo(np.float32).max) / 4) ** 2
    if largest == 0 or lowest <= largest * largest <= highest / vectors.shape[1]:
        return
    # The vectors are divided by their largest number, so that squares neither overflow nor vanish.
    squares = np.concatenate(
        [np.square(block / np.float64(largest)).sum(axis=1) for block in _blocks(vectors)]
    )
    longest = float(squares.max()) * largest * largest
    if not lowest <= longest <= highest:
        row = int(squares.argmax())
        how = "large" if longest > highest else "small"
        raise InputError(
            f"vectors are too {how} for the similarity {similarity!r} in {vectors.dtype}: the"
            f" squared length of row {row} (counted from 0), the longest, is {longest:.3g}, and"
            f" must lie between {lowest:.2g} and {highest:.2g}; scale all vectors by one number,"
            " which changes no order",
            row=row,
        )


def not_usable(values: AnyFloats) -> InputError:
    """Return the error that names a score that is not finite or too large."""
    bad = np.flatnonzero(~np.isfinite(values))
    if not bad.size:
        row = int(np.argmax(np.abs(values)))
        return InputError(
            f"scores must lie between -{validation.LARGEST:g} and {validation.LARGEST:g}, so that"
            f" their sums and squares are numbers, but row {row} (counted from 0) is"
            f" {float(values[row])}; if this is that of failed comparisons, declare it with"
            f" ⟦failure_score=⟧: {FAILURES_DO}",
            row=row,
        )
    row = int(bad[0])
    more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
    return InputError(
        f"scores must be finite, but row {row} (counted from 0) is {float(values[row])}{more}"
        + (
            f"; {FAILURES_DO}"
            if math.isnan(values[row])
            else ": mark failed comparisons with NaN or an empty field"
        ),
        row=row,
    )


def mated_flags(values: Labels, mated_value: object = None) -> Flags:
    """Convert any common two-valued coding of mated and non-mated to booleans, or one whose mated
    value is told.
    """
    if isinstance(values, Coded):
        coded = values
    else:
        array = validation.column("mated", values)
        if array.dtype == np.bool_ and mated_value is None:
            return validation.contiguous(array)
        coded = encode("mated", array)
    labels = coded.labels.tolist()
    words = [mated_word(label) for label in labels]
    if mated_value is not None:
        mated = [word == mated_word(mated_value) for word in words]
        if not any(mated):
            raise InputError(
                f"⟦mated_value⟧ {mated_value!r} is not among the values of mated: {list_some(labels)}"
            )
        if len(set(words)) > 2:
            raise InputError(
                f"mated has {len(set(words))} values, {list_some(labels)}: which of the others mean"
                " non-mated is not known; leave the other rows out"
            )
        return np.array(mated)[coded.codes]
    pair = mated_pair(words)
    if pair is not None:
        return np.array([word == pair[1] for word in words])[coded.codes]
    missing = [label for label, word in zip(labels, words, strict=True) if word in _NO_LABELS]
    if missing and mated_pair([word for word in words if word not in _NO_LABELS]) is not None:
        raise InputError(
            f"mated is missing in some rows, as {missing[0]!r} says: leave these rows out"
        )
    raise InputError(
        "mated must be two-valued (True/False, 1/0, 1/-1, yes/no, same/different, mated/non-mated,"
        f" genuine/impostor, target/nontarget), but holds {list_some(labels)}: say which one means"
        " mated with ⟦mated_value=⟧"
    )


def mated_word(label: object) -> str:
    """Return what says mated or non-mated in lower case; whole numbers, also those written 1.0,
    without decimals.
    """
    text = str(label).strip().lower()
    with contextlib.suppress(ValueError, OverflowError):
        number = float(text)
        return str(int(number)) if number == int(number) else text
    return text


def mated_pair(words: Iterable[str]) -> tuple[str, str] | None:
    """Return the words for non-mated and for mated among which all of these are; None if there are
    no such.
    """
    distinct = set(words)
    return next((pair for pair in _MATED_PAIRS if distinct <= set(pair)), None)

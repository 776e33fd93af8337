"""Check values that callers give: numbers, rates, choices, columns, scores and vectors."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import math
import numbers
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair.errors import InputError, MissingDependencyError

from . import arrays
from .arrays import column as column
from .label_codes import Coded as Coded
from .label_codes import Labels as Labels
from .label_codes import encode as encode
from .label_codes import encode_together as encode_together
from .label_codes import is_missing as is_missing
from .text import shown as shown

LOG_LIKELIHOOD_RATIO = "log-likelihood-ratio"
ScoreKind = Literal["similarity", "distance", "log-likelihood-ratio"]
Similarity = Literal["cosine", "inner_product", "negative_euclidean"]
INTERSECTION = " & "
LARGEST_SCORE = 1e150  # so that float64 holds sums, squares and differences of scores
FAILURES_DO = (
    'failures="exclude" leaves failed comparisons out and counts them, failures="non-match" counts them as non-matches'
)
_TOO_MANY = 2**63  # the first whole number too large for int64
_BLOCK_BYTES = 16 * 2**20

# Pairs of words in use for (non-mated, mated), in lower case.
_MATED_PAIRS = (
    ("non-mated", "mated"), ("nonmated", "mated"), ("impostor", "genuine"), ("imposter", "genuine"), ("imp", "gen"),
    ("nontarget", "target"), ("non-target", "target"), ("nontgt", "tgt"), ("nontar", "tar"), ("non", "tgt"),
    ("non", "tar"), ("imp", "tgt"), ("imp", "tar"), ("impostor", "target"), ("imp", "target"), ("false", "true"),
    ("no", "yes"), ("n", "y"), ("different", "same"), ("diff", "same"), ("non-match", "match"),
    ("nonmatch", "match"), ("negative", "positive"), ("neg", "pos"), ("0", "1"), ("-1", "1"),
)  # fmt: skip


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or raise an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependencyError(
            f'{purpose} needs the package {module.split(".")[0]}; pip install "fastfair[{extra}]" brings it'
        ) from None


def choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Check that a value is one of its choices."""
    choices = tuple(choices)
    if isinstance(value, str) and value in choices:
        return str(value)
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, not {shown(value)}{hint}")


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """Return a hint with the nearest known names, or "" if none is near."""
    by_lower = {str(name).lower(): name for name in known}
    word = str(value).lower()
    near = [name for name in by_lower if word and name.startswith(word)][:5]
    near = near or difflib.get_close_matches(word, by_lower, n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(repr(by_lower[name]) for name in near)}?)" if near else ""


_LISTED = 20  # names in a message


def not_there(place: object, name: object, known: Iterable[str], *, role: str = "", kind: str = "column") -> str:
    """Return the message that a file or data frame lacks a name, with the nearest names, and all where they are few."""
    known = list(known)
    would_do = f": name one with {role}=" if role else ""
    others = f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED + 1 else ""
    listed = ", ".join(known[:_LISTED] if others else known) or "none"
    return f"{place} has no {kind} {name!r}{did_you_mean(name, known)}{would_do}; its {kind}s are {listed}{others}"


def rate(name: str, value: object, *, one_allowed: bool = False) -> float:
    """Check one rate, a fraction and not a percentage."""
    number = real(name, value)
    if 0 <= number < 1 or (one_allowed and number == 1):
        return number
    bounds = "[0, 1]" if one_allowed else "[0, 1)"
    hint = f"; for {number:g} % write {number / 100:g}" if 1 <= number <= 100 else ""
    raise InputError(f"{name} is a rate, a fraction in {bounds}, not {number:g}{hint}")


def real(name: str, value: object) -> float:
    """Check one finite number."""
    with contextlib.suppress(OverflowError):
        plain = _plain(value)
        if not isinstance(plain, bool) and isinstance(plain, numbers.Real) and math.isfinite(plain):
            return float(plain)
    raise InputError(f"{name} must be a finite number, not {shown(value)}")


def positive(name: str, value: object) -> float:
    """Check one finite number above zero."""
    number = real(name, value)
    if number > 0:
        return number
    raise InputError(f"{name} must be above 0, not {number:g}")


def count(name: str, value: object, least: int = 0) -> int:
    """Check one whole number of at least `least`."""
    plain = _plain(value)
    if isinstance(plain, int | np.integer) and not isinstance(plain, bool) and plain >= least:
        if plain < _TOO_MANY:
            return int(plain)
        raise InputError(f"{name} must be a whole number below 2**63, not {shown(value)}")
    raise InputError(f"{name} must be a whole number of at least {least}, not {shown(value)}")


def _plain(value: object) -> object:
    """Return the number in an array without dimensions, and any other value as it is."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def counts(name: str, values: ArrayLike | None, least: int) -> NDArray[np.int64]:
    """Check an array of whole numbers of at least `least`, of any shape; floats may hold them."""
    array = numbers_of(name, values)
    good = (array >= least) & (array == np.floor(array)) & (array <= 2**53)
    if not good.all():
        raise InputError(f"{name} must be whole numbers of at least {least}, not {array[~good][0]:g}")
    return array.astype(np.int64)


def fractions(name: str, values: ArrayLike, *, ends: bool) -> NDArray[np.float64]:
    """Check an array of fractions, of any shape; `ends` says whether 0 and 1 are allowed."""
    array = numbers_of(name, values)
    good = (array >= 0) & (array <= 1) if ends else (array > 0) & (array < 1)
    if not good.all():
        found = array[~good][0]
        hint = f"; for {found:g} % write {found / 100:g}" if 1 <= found <= 100 else ""
        raise InputError(f"{name} must be fractions in {'[0, 1]' if ends else '(0, 1)'}, not {found:g}{hint}")
    return array


def open_fraction(name: str, value: object) -> float:
    """Check one fraction that is neither 0 nor 1."""
    return float(fractions(name, real(name, value), ends=False))


def numbers_of(name: str, values: ArrayLike | None) -> NDArray[np.float64]:
    """Convert one number or many, of any shape, to an array."""
    if values is None:
        raise InputError(f"{name} must be a number or an array of them, not None")
    array = arrays.floats(name, values)
    if array.size == 0:
        raise InputError(f"{name} must be a number or an array of them, but is empty")
    return array


def same_length(columns: Mapping[str, int], entry: str = "comparison") -> None:
    """Check that named columns have the same length, one value for each entry."""
    if len(set(columns.values())) > 1:
        found = ", ".join(f"{name} has {size}" for name, size in columns.items())
        raise InputError(f"all columns need one value for each {entry}, but {found}")


def scores(values: ArrayLike) -> NDArray[np.floating[Any]]:
    """Convert scores to a contiguous float32 or float64 array; NaN and infinity are refused after the sort."""
    if isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.dtype == object):
        values = [math.nan if value is None else value for value in values]  # of a comparison that failed
    array = arrays.one_dimensional("scores", arrays.numbers_in("scores", values))
    if array.size == 0:
        raise InputError("scores is empty: there is nothing to evaluate")
    if array.dtype in (np.float32, np.float16):
        return arrays.contiguous(array, np.float32)
    return arrays.contiguous(arrays.floats("scores", array))


def vectors(values: ArrayLike) -> NDArray[np.floating[Any]]:
    """Convert vectors to a contiguous float32 or float64 array, one row for each sample; copy only if needed."""
    array = arrays.numbers_in("vectors", values)
    if array.ndim != 2:
        raise InputError(f"vectors must be two-dimensional, one row for each sample, but its shape is {array.shape}")
    n, d = array.shape
    if n < 2 or d == 0:
        raise InputError(f"vectors needs at least 2 rows and 1 column, but its shape is {array.shape}")
    if array.dtype.kind == "f":
        return arrays.contiguous(array, np.float32 if array.dtype.itemsize == 2 else array.dtype)
    largest = max(abs(float(array.min())), abs(float(array.max())))
    if largest <= 2**24:  # float32 holds whole numbers exactly up to here
        return arrays.contiguous(array, np.float32)
    return arrays.contiguous(arrays.floats("vectors", array))


def unusable(vectors: NDArray[np.floating[Any]], similarity: str) -> NDArray[np.bool_]:
    """Tell which vectors are not finite, or zero where the similarity is the cosine, reading a block at a time."""
    found = np.empty(len(vectors), np.bool_)
    step = max(1, _BLOCK_BYTES // (vectors.shape[1] * vectors.itemsize))
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        found[start : start + step] = ~np.isfinite(block).all(axis=1)
        if similarity == "cosine":
            found[start : start + step] |= ~block.any(axis=1)
    return found


def require_usable(vectors: NDArray[np.floating[Any]], similarity: str) -> None:
    """Refuse vectors that are not finite or for which the similarity is undefined, reading a block at a time."""
    zero_allowed = similarity != "cosine"
    largest = 0.0
    step = max(1, _BLOCK_BYTES // (vectors.shape[1] * vectors.itemsize))
    wrong: dict[str, list[NDArray[np.intp]]] = {"not finite": [], "zero": []}
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        wrong["not finite"].append(start + np.flatnonzero(~np.isfinite(block).all(axis=1)))
        if not zero_allowed:
            wrong["zero"].append(start + np.flatnonzero(~block.any(axis=1)))
        largest = max(largest, float(block.max()), -float(block.min()))
    hints = {"not finite": "", "zero": " and have no cosine"}
    for what, blocks in wrong.items():
        rows = np.concatenate(blocks) if blocks else np.empty(0, np.intp)
        if rows.size:
            listed = ", ".join(map(str, rows[:5])) + (", ..." if rows.size > 5 else "")
            raise InputError(
                f"{rows.size} of {len(vectors)} vectors are {what}{hints[what]}: rows {listed} (counted from 0); "
                "leave those rows out; with lists of trials, failures= says what such samples are",
                row=int(rows[0]),
            )
    if similarity != "cosine":
        _require_range(vectors, similarity, largest, step)


def _require_range(vectors: NDArray[np.floating[Any]], similarity: str, largest: float, step: int) -> None:
    """Refuse vectors whose inner products, or squared distances, are out of range for their floats."""
    kind = np.finfo(vectors.dtype if similarity == "inner_product" else np.float64)
    lowest, highest = float(kind.tiny), min(float(kind.max) / 4, LARGEST_SCORE)
    if similarity == "negative_euclidean" and vectors.dtype == np.float32:  # distances are rounded to it
        lowest, highest = float(np.finfo(np.float32).tiny) ** 2, (float(np.finfo(np.float32).max) / 4) ** 2
    if largest == 0 or (largest * largest * vectors.shape[1] <= highest and largest * largest >= lowest):
        return
    # The vectors are divided by their largest number, so that squares neither overflow nor vanish.
    squares = np.concatenate([
        np.square(vectors[start : start + step] / np.float64(largest)).sum(axis=1)
        for start in range(0, len(vectors), step)
    ])  # fmt: skip
    longest = float(squares.max()) * largest * largest
    if not lowest <= longest <= highest:
        row, how = int(squares.argmax()), "large" if longest > highest else "small"
        raise InputError(
            f"vectors are too {how} for the similarity {similarity!r} in {vectors.dtype}: the squared length of row "
            f"{row} (counted from 0), the longest, is {longest:.3g}, and must lie between {lowest:.2g} and "
            f"{highest:.2g}; scale all vectors by one number, which changes no order",
            row=row,
        )


def not_usable(values: NDArray[np.floating[Any]]) -> InputError:
    """Return the error that names a score that is not finite or too large."""
    bad = np.flatnonzero(~np.isfinite(values))
    if not bad.size:
        row = int(np.argmax(np.abs(values)))
        return InputError(
            f"scores must lie between -{LARGEST_SCORE:g} and {LARGEST_SCORE:g}, so that their sums and squares are "
            f"numbers, but row {row} (counted from 0) is {float(values[row])}; if "
            f"this is the score of failed comparisons, declare it with failure_score=: {FAILURES_DO}",
            row=row,
        )
    row = int(bad[0])
    more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
    return InputError(
        f"scores must be finite, but row {row} (counted from 0) is {float(values[row])}{more}"
        + (f"; {FAILURES_DO}" if math.isnan(values[row]) else ": mark failed comparisons with NaN or an empty field"),
        row=row,
    )


def mated_flags(values: Labels, mated_value: object = None) -> NDArray[np.bool_]:
    """Convert any common two-valued coding of mated and non-mated to booleans, or one whose mated value is told."""
    if isinstance(values, Coded):
        coded = values
    else:
        array = column("mated", values)
        if array.dtype == np.bool_ and mated_value is None:
            return arrays.contiguous(array)
        coded = encode("mated", array)
    found = coded.labels.tolist()
    words = [mated_word(label) for label in found]
    if mated_value is not None:
        mated = [word == mated_word(mated_value) for word in words]
        if not any(mated):
            raise InputError(f"mated_value {mated_value!r} is not among the values of mated: {_listed(found)}")
        if len(set(words)) > 2:
            raise InputError(
                f"mated has {len(set(words))} values, {_listed(found)}: which of the others mean non-mated is not "
                "known; leave the other rows out"
            )
        return np.asarray(np.array(mated)[coded.codes])
    pair = mated_pair(words)
    if pair is not None:
        return np.asarray(np.array([word == pair[1] for word in words])[coded.codes])
    raise InputError(
        "mated must be two-valued (True/False, 1/0, 1/-1, yes/no, same/different, mated/non-mated, genuine/impostor, "
        f"target/nontarget), but holds {_listed(found)}: say which one means mated with mated_value="
    )


def mated_word(label: object) -> str:
    """Return what says mated or non-mated in lower case; whole numbers, also those written 1.0, without decimals."""
    text = str(label).strip().lower()
    with contextlib.suppress(ValueError, OverflowError):
        number = float(text)
        return str(int(number)) if number == int(number) else text
    return text


def mated_pair(words: Iterable[str]) -> tuple[str, str] | None:
    """Return the words for non-mated and for mated among which all of these are; None if there are no such."""
    distinct = set(words)
    return next((pair for pair in _MATED_PAIRS if distinct <= set(pair)), None)


def _listed(values: list[Any]) -> str:
    return ", ".join(map(repr, values[:5])) + (", ..." if len(values) > 5 else "")

"""Scores as integer keys that sort alike, as `fastfair.kernels.sorting` defines them, and short
thresholds.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arrays import AnyFloats, Floats
from fastfair._lib.text import shown
from fastfair.errors import InputError

Keys = NDArray[np.signedinteger[Any]]


def _key(name: str, value: Any) -> Any:
    if type(value) in (np.int32, np.int64):
        return value
    raise InputError(f"{name} must be a key: an int32 or int64 of NumPy, not {shown(value)}")


Key = Annotated[np.signedinteger[Any], _key]


def magnitude(keys: Keys) -> np.signedinteger[Any]:
    """Return all bits but the sign, of the keys' type."""
    return keys.dtype.type(np.iinfo(keys.dtype).max)


def integer_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the integer type as wide as a float type, or as an integer type itself."""
    return np.dtype(f"i{dtype.itemsize}")


def float_type(keys: Keys) -> np.dtype[Any]:
    """Return the type of the scores behind keys."""
    return np.dtype(f"f{keys.dtype.itemsize}")


def encode(scores: AnyFloats) -> Keys:
    """Turn finite floats into keys."""
    keys = (scores + scores.dtype.type(0)).view(integer_type(scores.dtype))  # -0.0 + 0.0 is 0.0
    flipped = keys >> (8 * keys.itemsize - 1)
    flipped &= magnitude(keys)
    keys ^= flipped
    return np.asarray(keys)


def decode(keys: Keys) -> AnyFloats:
    """Turn keys into the floats they stand for."""
    return np.asarray(keys ^ ((keys >> (8 * keys.itemsize - 1)) & magnitude(keys))).view(
        float_type(keys)
    )


def failed_key(keys: Keys) -> np.signedinteger[Any]:
    """Return the key of comparisons that failed, which lies below those of all scores, in the type
    of `keys`.
    """
    return encode(np.array([-np.inf], float_type(keys)))[0]


def count_failed(keys: Keys) -> int:
    """Count the comparisons that failed among ascending keys."""
    return count_below(keys, int(failed_key(keys)) + 1)


def first_keys_at_least(thresholds: Floats, keys: Keys) -> Keys:
    """Return the lowest key of scores >= each of several thresholds."""
    kind = float_type(keys).type
    with np.errstate(over="ignore"):
        rounded = thresholds.astype(kind)
    return encode(np.where(rounded < thresholds, np.nextafter(rounded, kind(np.inf)), rounded))


def given_similarities(thresholds: Floats, dtype: np.dtype[Any]) -> Floats:
    """Round thresholds that somebody gives to the type of the scores, as NumPy does where it
    compares them.

    A score of 0.7 that is kept as float32 is the number next to 0.7 there, which a threshold of 0.7
    is meant to accept.
    """
    with np.errstate(over="ignore"):
        rounded = thresholds.astype(dtype)
    # -inf would accept comparisons that failed
    return np.maximum(rounded, np.finfo(dtype).min).astype(np.float64)


def count_below(keys: Keys, key: int) -> int:
    """Count the ascending keys below another one."""
    most = (1 << (8 * keys.itemsize - 1)) - 1
    if key > most:
        return keys.size
    # In another type than theirs NumPy would copy all keys to it.
    return int(keys.searchsorted(keys.dtype.type(max(key, ~most))))


_FEW_DIGITS = 6  # of a score that is typed as it is, as on a grid of scores
_MOST_DIGITS = 17  # every float is a number of so many
_NEAR = 0.01  # share of the lowest score, below which no threshold is looked for
_CONTEXT = Context(prec=60, rounding=ROUND_FLOOR)


def typed_threshold(
    rejected: float | None, accepted: float | None, kind: Any = np.float64
) -> float:
    """Return a short decimal above the highest rejected similarity, and at most the lowest accepted
    one.

    A whole number, and a score of few digits, is taken as it is; of others the shortest decimal
    between the two, the highest of these. Where nothing is accepted, it is the shortest decimal
    above all scores, and of whole numbers the next one.

    Parameters
    ----------
    rejected, accepted : float or None
        The two similarities; None where nothing is rejected, or accepted. One of them is given.
    kind : type
        The type of the scores: rounded to it, as where scores are compared in it, the threshold
        lies between the two, too.

    Returns
    -------
    float

    Examples
    --------
    >>> from fastfair.data.score_keys import typed_threshold
    >>> typed_threshold(134.0, 135.0), typed_threshold(0.7129381, 0.7341229), typed_threshold(0.98765, None)
    (135.0, 0.73, 1.0)
    """
    if accepted is None:
        assert rejected is not None
        if rejected.is_integer() and float(kind(rejected + 1)) > rejected:
            return rejected + 1
        return _above(rejected, kind)
    n_digits = len(Decimal(repr(accepted)).normalize().as_tuple().digits)
    if accepted.is_integer() or n_digits <= _FEW_DIGITS:
        return accepted
    lower = accepted - abs(accepted) * _NEAR if rejected is None else rejected
    if lower < 0 < accepted:
        return 0.0
    for n_digits in range(1, _MOST_DIGITS):
        rounded = float(_floor(accepted, n_digits))
        if (
            lower < rounded <= accepted
            and (rejected is None or kind(rounded) > rejected)
            and kind(rounded) <= accepted
        ):
            return rounded
    return accepted


def _floor(number: float, n_digits: int) -> Decimal:
    """Return the highest decimal of so many digits, in the place of the number's first, that is not
    above it.
    """
    exact = Decimal(number)
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - n_digits + 1), context=_CONTEXT)


def _above(number: float, kind: Any) -> float:
    """Return the lowest decimal above a number that has as few digits as possible."""
    for n_digits in range(1, _MOST_DIGITS + 1):
        floor = _floor(number, n_digits)
        step = Decimal(1).scaleb(Decimal(number).adjusted() - n_digits + 1)
        # the first may be the number itself, as 0.6 is
        for nearby in (
            float(floor + step),
            float(floor + 2 * step),
        ):
            with np.errstate(over="ignore"):
                is_above = nearby > number and kind(nearby) > number
            if is_above:
                return nearby
    return float(np.nextafter(kind(number), kind(np.inf)))

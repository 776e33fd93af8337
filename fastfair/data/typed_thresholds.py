"""Thresholds that a person can type, between the highest score that is rejected and the lowest that is accepted."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np

_FEW_DIGITS = 6  # of a score that is typed as it is, as on a grid of scores
_MOST_DIGITS = 17  # every float is a number of so many
_NEAR = 0.01  # share of the lowest score, below which no threshold is looked for
_CONTEXT = Context(prec=60, rounding=ROUND_FLOOR)


def typed_threshold(rejected: float | None, accepted: float | None, kind: Any = np.float64) -> float:
    """Return a short decimal above the highest rejected similarity, and at most the lowest accepted one.

    A whole number, and a score of few digits, is taken as it is; of others the shortest decimal between the two, the
    highest of these. Where nothing is accepted, it is the shortest decimal above all scores, and of whole numbers the
    next one.

    Parameters
    ----------
    rejected, accepted : float or None
        The two similarities; None where nothing is rejected, or accepted. One of them is given.
    kind : type
        The type of the scores: rounded to it, as where scores are compared in it, the threshold lies between the two,
        too.

    Returns
    -------
    float

    Examples
    --------
    >>> from fastfair.data.typed_thresholds import typed_threshold
    >>> typed_threshold(134.0, 135.0), typed_threshold(0.7129381, 0.7341229), typed_threshold(0.98765, None)
    (135.0, 0.73, 1.0)
    """
    if accepted is None:
        assert rejected is not None
        if rejected.is_integer() and rejected + 1 > rejected:
            return rejected + 1
        return _above(rejected, kind)
    if accepted.is_integer() or _n_digits(accepted) <= _FEW_DIGITS:
        return accepted
    lower = accepted - abs(accepted) * _NEAR if rejected is None else rejected
    if lower < 0 < accepted:
        return 0.0
    for n_digits in range(1, _MOST_DIGITS):
        found = float(_floor(accepted, n_digits))
        if lower < found <= accepted and (rejected is None or kind(found) > rejected) and kind(found) <= accepted:
            return found
    return accepted


def _n_digits(number: float) -> int:
    return len(Decimal(repr(number)).normalize().as_tuple().digits)


def _floor(number: float, n_digits: int) -> Decimal:
    """Return the highest decimal of so many digits, in the place of the number's first, that is not above it."""
    exact = Decimal(number)
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - n_digits + 1), context=_CONTEXT)


def _above(number: float, kind: Any) -> float:
    """Return the lowest decimal above a number that has as few digits as possible."""
    for n_digits in range(1, _MOST_DIGITS + 1):
        floor = _floor(number, n_digits)
        found = float(floor + Decimal(1).scaleb(Decimal(number).adjusted() - n_digits + 1))
        with np.errstate(over="ignore"):
            above = found > number and kind(found) > number
        if above:
            return found
    return float(np.nextafter(kind(number), kind(np.inf)))

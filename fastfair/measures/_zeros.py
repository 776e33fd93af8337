"""Replace error rates of zero, which ratio measures cannot divide by, as the caller chooses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fastfair import intervals
from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair.errors import InputError

from ._arrays import Floats, rate_array

ZERO_POLICIES = ("keep", "raise", "clopper-pearson")


@checked(comparisons=argument_kinds.numbers)
def replace_zeros(
    rates: ArrayLike,
    policy: str | float = "keep",
    comparisons: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Floats:
    """Replace or refuse error rates of zero before measures divide by them.

    Parameters
    ----------
    rates : (..., g) array_like
        Error rates.
    policy : {"keep", "raise", "clopper-pearson"} or float
        "keep" leaves zeros, and ratios to them are infinite or NaN; "raise" refuses them; a number in (0, 1) replaces
        them; "clopper-pearson" replaces them by the upper end of the two-sided exact interval for no errors.
    comparisons : (..., g) array_like of int, optional
        Number of comparisons behind each rate, for "clopper-pearson".
    confidence_level : float, default 0.95
        Confidence level of the Clopper-Pearson interval.

    Returns
    -------
    (..., g) ndarray

    Raises
    ------
    InputError
        For rates of zero under "raise", and for "clopper-pearson" without `comparisons`.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.replace_zeros([0.0, 0.1], "clopper-pearson", comparisons=[100, 100]).round(4)
    array([0.0362, 0.1   ])
    """
    x = rate_array("rates", rates)
    zero = x == 0
    if not isinstance(policy, str):
        epsilon = validation.positive("policy", validation.rate("policy", policy))
        return np.where(zero, epsilon, x)
    validation.choice("policy", policy, ZERO_POLICIES)
    if policy == "raise" and zero.any():
        where = [tuple(map(int, place)) for place in np.argwhere(zero)[:5]]
        raise InputError(
            f"{int(zero.sum())} rates are 0, first at {where}: ratios to them are not computable; choose another policy"
        )
    if policy != "clopper-pearson":
        return x
    if comparisons is None:
        raise InputError("the policy 'clopper-pearson' needs the comparisons behind each rate")
    tail = (1 - intervals.level(confidence_level)) / 2
    n = validation.counts("comparisons", comparisons, 0)
    if n.shape and n.shape != x.shape[x.ndim - n.ndim :]:
        raise InputError(f"comparisons has the shape {n.shape}, but rates {x.shape}")
    with np.errstate(divide="ignore"):
        return np.where(zero, 1 - tail ** (1 / n), x)

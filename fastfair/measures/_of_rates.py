"""Fairness measures of FMRs and FNMRs; the docstring of `fastfair.measures` says what measures have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked

from ._arrays import Floats, average_of, divide, group_rates, max_over_min
from ._of_metrics import gini


@checked(fmr=argument_kinds.numbers, fnmr=argument_kinds.numbers)
def fdr(fmr: ArrayLike, fnmr: ArrayLike, alpha: float = 0.5) -> Floats:
    """Compute the Fairness Discrepancy Rate.

    Parameters
    ----------
    fmr, fnmr : (..., g) array_like
        Error rates of g groups.
    alpha : float, default 0.5
        Weight of false matches, in [0, 1].

    Returns
    -------
    (...) ndarray
        ``1 - [alpha max|a_i - a_j| + (1 - alpha) max|b_i - b_j|]``; 1 is fair, 0 is unfair.

    References
    ----------
    Paper 1 (15), paper 2 (1-3), paper 3 (1); de Freitas Pereira and Marcel (2022).

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.fdr([0.25, 0.75], [0.5, 0.5]))
    0.75
    """
    a, b = group_rates(fmr=fmr, fnmr=fnmr)
    alpha = validation.rate("alpha", alpha, one_allowed=True)
    return 1 - (alpha * np.ptp(a, axis=-1) + (1 - alpha) * np.ptp(b, axis=-1))


@checked(fmr=argument_kinds.numbers, fnmr=argument_kinds.numbers)
def inequity_rate(fmr: ArrayLike, fnmr: ArrayLike, alpha: float = 0.5) -> Floats:
    """Compute the Inequity Rate.

    Parameters
    ----------
    fmr, fnmr : (..., g) array_like
        Error rates of g groups.
    alpha : float, default 0.5
        Weight of false matches, in [0, 1]; rates with weight 0 have no effect, even where they are 0 or NaN.

    Returns
    -------
    (...) ndarray
        ``(max a / min a)^alpha (max b / min b)^(1 - alpha)``, from 1 (fair) to infinity.

    References
    ----------
    Paper 1 (12-14), paper 2 (4-6); NIST FRTE.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.inequity_rate([0.01, 0.04], [0.1, 0.1]))
    2.0
    """
    alpha = validation.rate("alpha", alpha, one_allowed=True)
    a, b = group_rates(fmr=fmr, fnmr=fnmr)
    return max_over_min(a) ** alpha * max_over_min(b) ** (1 - alpha)


@checked(fmr=argument_kinds.numbers, fnmr=argument_kinds.numbers)
def garbe(fmr: ArrayLike, fnmr: ArrayLike, alpha: float = 0.5) -> Floats:
    """Compute the Gini Aggregation Rate for Biometric Equitability.

    Parameters
    ----------
    fmr, fnmr : (..., g) array_like
        Error rates of g groups.
    alpha : float, default 0.5
        Weight of false matches, in [0, 1].

    Returns
    -------
    (...) ndarray
        ``alpha Gini(a) + (1 - alpha) Gini(b)``, from 0 (fair) to 1.

    References
    ----------
    Paper 1 (17-18), paper 2 (9-10); Howard et al. (2022).

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.garbe([0.0, 0.1], [0.2, 0.2]))
    0.5
    """
    alpha = validation.rate("alpha", alpha, one_allowed=True)
    a, b = group_rates(fmr=fmr, fnmr=fnmr)
    return alpha * gini(a) + (1 - alpha) * gini(b)


@checked(fmr=argument_kinds.numbers)
def skewed_error_ratio(fmr: ArrayLike) -> Floats:
    """Compute the Skewed Error Ratio.

    Parameters
    ----------
    fmr : (..., g) array_like
        False match rates of g groups.

    Returns
    -------
    (...) ndarray
        ``max a / min a``, from 1 (fair) to infinity.

    References
    ----------
    Paper 1, section II-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.skewed_error_ratio([0.01, 0.04]))
    4.0
    """
    return max_over_min(*group_rates(fmr=fmr))


@checked(fmr=argument_kinds.numbers)
def mape(fmr: ArrayLike, fmr_global: ArrayLike) -> Floats:
    """Compute the mean absolute percentage error of groups' FMRs from the global FMR, as a fraction.

    Parameters
    ----------
    fmr : (..., g) array_like
        False match rates of g groups.
    fmr_global : (...) array_like
        False match rate of all non-mated comparisons, cross-group ones included.

    Returns
    -------
    (...) ndarray
        ``mean_g |a_g - a_global| / a_global``, from 0 (fair) to infinity.

    References
    ----------
    Paper 1, section II-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> float(ff.measures.mape([0.5, 0.25], 0.25))
    0.5
    """
    (a,) = group_rates(fmr=fmr)
    reference = average_of("fmr_global", fmr_global, a, a_rate=True)
    return divide(np.abs(a - reference), reference).mean(axis=-1)


@checked(fmr=argument_kinds.numbers, fnmr=argument_kinds.numbers)
def sed(fmr: ArrayLike, fnmr: ArrayLike, fmr_global: ArrayLike, fnmr_global: ArrayLike) -> Floats:
    """Compute the Sum of Error Differences of each group; its mean and standard deviation over groups are reported.

    Parameters
    ----------
    fmr, fnmr : (..., g) array_like
        Error rates of g groups at the mean of the groups' EER thresholds (`at_mean_group_eer`).
    fmr_global, fnmr_global : (...) array_like
        Error rates of all comparisons at that threshold.

    Returns
    -------
    (..., g) ndarray
        ``|1 - a_g / a_global| + |1 - b_g / b_global|``, from 0 (fair) to infinity.

    References
    ----------
    Paper 1 (8-11).

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.measures.sed([0.5, 0.25], [0.5, 0.5], 0.25, 0.5)
    array([1., 0.])
    """
    a, b = group_rates(fmr=fmr, fnmr=fnmr)
    a_global = average_of("fmr_global", fmr_global, a, a_rate=True)
    b_global = average_of("fnmr_global", fnmr_global, b, a_rate=True)
    return np.abs(1 - divide(a, a_global)) + np.abs(1 - divide(b, b_global))

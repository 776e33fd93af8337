"""p-values of replicates, and their adjustment for several tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import arrays
from fastfair._lib.arguments import Array, checked

from ._checks import replicates_of, require_rates

Floats = NDArray[np.float64]


@checked
def bootstrap_pvalue(differences: Array) -> Any:
    """Compute two-sided p-values of the hypothesis of no difference from bootstrap replicates of a difference.

    Parameters
    ----------
    differences : (..., r) array_like
        Replicates; NaN ones are left out.

    Returns
    -------
    (...) ndarray
        2 (1 + k) / (1 + r), at most 1, where k of the r replicates lie on the rarer side of zero (those at zero lie on
        both); NaN without replicates. Up to 1 / r, the percentile interval excludes zero exactly where the p-value is
        below 1 - its confidence level.

    Examples
    --------
    >>> import numpy as np
    >>> from fastfair.intervals import bootstrap_pvalue
    >>> round(float(bootstrap_pvalue(np.arange(1, 1000))), 3)
    0.002
    """
    values = replicates_of("differences", differences)
    n = (~np.isnan(values)).sum(axis=-1)
    rarer = np.minimum((values <= 0).sum(axis=-1), (values >= 0).sum(axis=-1))
    return np.where(n > 0, np.minimum(1.0, 2 * (1 + rarer) / (n + 1)), np.nan)[()]


@checked
def holm(pvalues: Array) -> Floats:
    """Adjust p-values for multiple testing by Holm's step-down procedure.

    Parameters
    ----------
    pvalues : (k,) array_like
        One p-value for each test. NaN stays NaN and does not count as a test.

    Returns
    -------
    (k,) ndarray

    Examples
    --------
    >>> from fastfair.intervals import holm
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    given = arrays.floats("pvalues", arrays.column("pvalues", pvalues))
    require_rates("pvalues", given)
    adjusted = np.full(given.shape, np.nan)
    order = np.argsort(given, kind="stable")[: np.count_nonzero(~np.isnan(given))]  # NaN are sorted to the end
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.arange(order.size, 0, -1) * given[order]))
    return adjusted

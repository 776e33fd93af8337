"""Concentration of errors: the share of them that involve one of the few subjects with most errors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastfair.data.comparisons import Comparisons

from .curve_results import Rates

Floats = NDArray[np.float64]


def concentration(
    comparisons: Comparisons, rates: Rates, mated: bool, most_per_error: float = np.inf
) -> tuple[float, Floats]:
    """Compute the share of errors that involve one of the 5 % of subjects with most errors, rounded up.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects.
    rates : Rates
        Their rates at the threshold that makes the errors.
    mated : bool
        Whether errors are false non-matches.
    most_per_error : float
        The most such subjects for each error, as so few errors are always those of few subjects.

    Returns
    -------
    overall : float
        Of all comparisons; NaN without errors.
    cells : (groups, groups) ndarray
        By group of reference (rows) and of probe (columns), the subjects being those in these comparisons.
    """
    from fastfair.kernels import groups as kernels

    counts, n_groups = rates.counts, len(rates.groups)
    if mated:
        side, errors = comparisons.mated, slice(0, counts.false_nonmatches)
        n_errors, n_subjects = counts.false_nonmatches, counts.mated_subjects
    else:
        side = comparisons.nonmated
        errors = slice(side.keys.size - counts.false_matches, None)
        n_errors, n_subjects = counts.false_matches, counts.nonmated_subjects
    assert side.reference is not None
    assert side.probe is not None
    assert comparisons.subjects is not None
    subjects = side.reference[errors], side.probe[errors]
    n_all = comparisons.subjects.size

    def shares(cell: NDArray[np.int64], n_errors: NDArray[np.int64], n_subjects: NDArray[np.int64]) -> Floats:
        held = np.empty(n_errors.size, np.int64)
        if math.isfinite(most_per_error):
            n_subjects = np.minimum(n_subjects, 20 * np.maximum(1, n_errors * most_per_error).astype(np.int64))
        kernels.errors_of_top_subjects(*subjects, cell, n_errors, n_subjects, n_all, held)
        with np.errstate(invalid="ignore"):
            return held / n_errors

    overall = shares(np.zeros(n_errors, np.int64), np.array([n_errors]), np.array([n_subjects]))[0]
    if not n_groups:
        return float(overall), np.empty((0, 0))
    by_group = comparisons.mated_by_group if mated else comparisons.nonmated_by_group
    cell = by_group.reference_group[errors] * np.int64(n_groups) + by_group.probe_group[errors]
    of_cells = np.bincount(cell, minlength=n_groups**2)
    assert by_group.subjects is not None
    return float(overall), shares(cell, of_cells, by_group.subjects.flatten()).reshape(n_groups, n_groups)

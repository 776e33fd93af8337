"""Error rates at an operating point: overall, of each group, and between each two groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arguments import checked
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.errors import EmptyGroupWarning

from .curve_results import RateCounts, Rates
from .operating_points import ENOUGH_ERRORS, OperatingPoint, threshold_key


@checked
def rates(comparisons: Comparisons, at: OperatingPoint) -> Rates:
    """Compute FMR and FNMR at an operating point, with the numbers of comparisons, errors and subjects behind them.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons, with or without groups.
    at : OperatingPoint
        The rule that fixes the threshold: `at_fmr`, `at_fnmr`, `at_threshold`, `at_eer` or `at_mean_group_eer`. It is
        found from all comparisons, and is the same for all groups.

    Returns
    -------
    Rates
        Overall rates, of all comparisons; group rates, of comparisons whose reference and probe are both in the group;
        the matrix of false match rates by group of reference (rows) and of probe (columns).

    Raises
    ------
    InputError
        Where `at` is not an operating point.

    Warns
    -----
    EmptyGroupWarning
        Names groups without mated, or without non-mated, comparisons of their own, whose FNMR, or FMR, is NaN.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1, 0.8, 0.2], [1, 1, 0, 0, 1, 0], reference_group=list("aaaabb"))
    >>> r = ff.rates(c, ff.at_threshold(0.35))
    >>> r.groups, r.group_fmr, r.group_fnmr
    (('a', 'b'), array([0.5, 0. ]), array([0.5, 0. ]))
    """
    result = rates_at_key(comparisons, at, threshold_key(comparisons, at))
    for kind, sizes in (("mated", result.counts.group_mated), ("non-mated", result.counts.group_nonmated)):
        empty = [group for group, size in zip(result.groups, sizes, strict=True) if size == 0]
        if empty:
            warn(
                f"no {kind} comparisons within {', '.join(map(repr, empty))}: "
                f"{'FNMR' if kind == 'mated' else 'FMR'} is NaN there",
                EmptyGroupWarning,
            )
    return result


def rates_at_key(comparisons: Comparisons, at: OperatingPoint, key: np.signedinteger[Any]) -> Rates:
    """Compute rates at a threshold given as a key; groups without comparisons are NaN without a warning.

    Parameters
    ----------
    comparisons : Comparisons
        As in `rates`.
    at : OperatingPoint
        The operating point that the key stands for, kept in the result.
    key : int32 or int64
        The lowest key that is accepted.

    Returns
    -------
    Rates
    """
    from fastfair.kernels import curves as kernels

    mated, nonmated = comparisons.mated, comparisons.nonmated
    rejected = kernels.count_below(mated.keys, key)
    first_accepted = kernels.count_below(nonmated.keys, key)
    accepted = nonmated.keys.size - first_accepted
    mated_subjects, nonmated_subjects = comparisons.subject_counts
    mated_cells = nonmated_cells = false_nonmatches = false_matches = np.zeros((0, 0), np.int64)
    mated_subject_cells = nonmated_subject_cells = None
    if comparisons.groups:
        by_group = comparisons.mated_by_group
        mated_cells, mated_subject_cells = by_group.cells, by_group.subjects
        false_nonmatches = by_group.count(0, rejected)
        by_group = comparisons.nonmated_by_group
        nonmated_cells, nonmated_subject_cells = by_group.cells, by_group.subjects
        false_matches = by_group.count(first_accepted, nonmated.keys.size)
    counts = RateCounts(
        mated=len(mated),
        nonmated=len(nonmated),
        false_nonmatches=rejected,
        false_matches=accepted,
        mated_subjects=mated_subjects,
        nonmated_subjects=nonmated_subjects,
        group_mated=np.diagonal(mated_cells),
        group_nonmated=np.diagonal(nonmated_cells),
        group_false_nonmatches=np.diagonal(false_nonmatches),
        group_false_matches=np.diagonal(false_matches),
        group_mated_subjects=None if mated_subject_cells is None else np.diagonal(mated_subject_cells),
        group_nonmated_subjects=None if nonmated_subject_cells is None else np.diagonal(nonmated_subject_cells),
        matrix_nonmated=nonmated_cells,
        matrix_false_matches=false_matches,
        matrix_subjects=nonmated_subject_cells,
    )
    fmr_matrix = _ratio(false_matches, nonmated_cells)
    expected = {"fmr": len(nonmated), "fnmr": len(mated)}.get(at.rate or "")
    return Rates(
        at=at,
        threshold=at.value if at.is_given else comparisons.to_threshold(key),
        fmr=accepted / len(nonmated),
        fnmr=rejected / len(mated),
        groups=comparisons.groups,
        group_fmr=np.diagonal(fmr_matrix),
        group_fnmr=_ratio(counts.group_false_nonmatches, counts.group_mated),
        fmr_matrix=fmr_matrix,
        counts=counts,
        below_resolution=expected is not None and at.value * expected < ENOUGH_ERRORS,
    )


def _ratio(errors: NDArray[np.int64], comparisons: NDArray[np.int64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return errors / comparisons

"""Error rates at an operating point: overall, of each group, and between each two groups; whose
errors they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from fastfair._lib.arguments import checked
from fastfair._lib.arrays import Floats, Integers
from fastfair._lib.rounding import divide_up
from fastfair._lib.text import typed
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.errors import EmptyGroupWarning, visible

from .operating_points import ENOUGH_ERRORS, OperatingPoint, threshold_key

ErrorRate = Literal["fmr", "fnmr"]


ERROR_RATES: tuple[Any, ...] = get_args(ErrorRate)


@dataclass(frozen=True, eq=False)
class RateCounts:
    """The numbers of comparisons, errors and distinct subjects behind error rates.

    Attributes
    ----------
    mated, nonmated : int
        Number of all comparisons, including those between groups.
    false_nonmatches, false_matches : int
        Number of errors among them.
    mated_subjects, nonmated_subjects : int or None
        Number of distinct subjects among references and probes; None where subjects are not known.
    group_mated, group_nonmated, group_false_nonmatches, group_false_matches : (g,) ndarray of int
        The same numbers for each group, counting comparisons whose reference and probe are both in
        it.
    group_mated_subjects, group_nonmated_subjects : (g,) ndarray of int or None
        Number of distinct subjects in these comparisons.
    matrix_nonmated, matrix_false_matches : (g, g) ndarray of int
        Non-mated comparisons and false matches by group of reference (rows) and group of probe
        (columns).
    matrix_subjects : (g, g) ndarray of int or None
        Number of distinct subjects, references and probes together, in each cell.
    """

    mated: int
    nonmated: int
    false_nonmatches: int
    false_matches: int
    mated_subjects: int | None
    nonmated_subjects: int | None
    group_mated: Integers
    group_nonmated: Integers
    group_false_nonmatches: Integers
    group_false_matches: Integers
    group_mated_subjects: Integers | None
    group_nonmated_subjects: Integers | None
    matrix_nonmated: Integers
    matrix_false_matches: Integers
    matrix_subjects: Integers | None


def counts_behind(
    counts: RateCounts, mated: bool, cell: tuple[int, int] | None = None
) -> tuple[int, int, int | None]:
    """Return the numbers of comparisons, errors and subjects behind a rate, of all or of a cell of
    groups.
    """
    names: tuple[str, ...] = ("nonmated", "false_matches", "nonmated_subjects")
    at: tuple[int, ...] | None = cell
    if cell is not None and cell[0] != cell[1]:
        names = "matrix_nonmated", "matrix_false_matches", "matrix_subjects"
    else:
        names = ("mated", "false_nonmatches", "mated_subjects") if mated else names
        if cell is not None:
            names = tuple(f"group_{name}" for name in names)
            at = cell[:1]
    columns = [getattr(counts, name) for name in names]
    size, errors, subjects = (
        None if column is None else int(column if at is None else column[at]) for column in columns
    )
    assert size is not None
    assert errors is not None
    return size, errors, subjects


@dataclass(frozen=True, eq=False)
class Rates:
    """Error rates at one threshold.

    Attributes
    ----------
    at : OperatingPoint
        The operating point that fixed the threshold.
    threshold : float
        Similarities >= it, or distances <= it, are accepted.
    fmr, fnmr : float
        Overall rates, of all comparisons.
    groups : tuple of str
        The groups; empty where the comparisons have none.
    group_fmr, group_fnmr : (g,) ndarray of float
        Rates of the comparisons whose reference and probe are both in the group; NaN without such
        comparisons.
    fmr_matrix : (g, g) ndarray of float
        False match rate by group of reference (rows) and group of probe (columns); NaN without such
        comparisons.
    counts : RateCounts
        Numbers of comparisons, errors and subjects behind each rate.
    below_resolution : bool
        Whether the operating point fixes a rate so low that it amounts to fewer than 30 errors in
        these comparisons.
    """

    at: OperatingPoint
    threshold: float
    fmr: float
    fnmr: float
    groups: tuple[str, ...]
    group_fmr: Floats
    group_fnmr: Floats
    fmr_matrix: Floats
    counts: RateCounts
    below_resolution: bool

    def __repr__(self) -> str:
        def written(fmr: float, fnmr: float) -> str:
            rates = zip(("FMR", "FNMR"), (fmr, fnmr), strict=True)
            return ", ".join(
                f"no {name}" if math.isnan(rate) else f"{name} {rate:.6g}" for name, rate in rates
            )

        lines = [
            f"Rates at {self.at}: threshold {typed(self.threshold)}, {written(self.fmr, self.fnmr)}"
        ]
        for group, fmr, fnmr in zip(self.groups, self.group_fmr, self.group_fnmr, strict=True):
            lines.append(f"  {visible(group)}: {written(fmr, fnmr)}")
        return "\n".join(lines)


@checked
def rates(comparisons: Comparisons, at: OperatingPoint) -> Rates:
    """Compute FMR and FNMR at an operating point, with the numbers of comparisons, errors and
    subjects behind them.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons, with or without groups.
    at : OperatingPoint
        The rule that fixes the threshold: `at_fmr`, `at_fnmr`, `at_threshold`, `at_eer` or
        `at_mean_group_eer`. It is found from all comparisons, and is the same for all groups.

    Returns
    -------
    Rates
        Overall rates, of all comparisons; group rates, of comparisons whose reference and probe are
        both in the group; the matrix of false match rates by group of reference (rows) and of probe
        (columns).

    Raises
    ------
    InputError
        Where `at` is not an operating point.

    Warns
    -----
    EmptyGroupWarning
        Names groups without mated, or without non-mated, comparisons of their own, whose FNMR, or
        FMR, is NaN.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1, 0.8, 0.2], [1, 1, 0, 0, 1, 0], reference_group=list("aaaabb"))
    >>> r = ff.rates(c, ff.at_threshold(0.35))
    >>> r.groups, r.group_fmr, r.group_fnmr
    (('a', 'b'), array([0.5, 0. ]), array([0.5, 0. ]))
    """
    result = rates_at_key(comparisons, at, threshold_key(comparisons, at))
    sides = (
        ("mated", "FNMR", result.counts.group_mated),
        ("non-mated", "FMR", result.counts.group_nonmated),
    )
    for kind, rate, sizes in sides:
        empty = [repr(group) for group, size in zip(result.groups, sizes, strict=True) if size == 0]
        if empty:
            warn(
                f"no {kind} comparisons within {', '.join(empty)}: {rate} is NaN there",
                EmptyGroupWarning,
            )
    return result


def rates_at_key(comparisons: Comparisons, at: OperatingPoint, key: np.signedinteger[Any]) -> Rates:
    """Compute rates at a threshold given as a key; groups without comparisons are NaN without a
    warning.

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
        group_mated_subjects=(
            None if mated_subject_cells is None else np.diagonal(mated_subject_cells)
        ),
        group_nonmated_subjects=(
            None if nonmated_subject_cells is None else np.diagonal(nonmated_subject_cells)
        ),
        matrix_nonmated=nonmated_cells,
        matrix_false_matches=false_matches,
        matrix_subjects=nonmated_subject_cells,
    )
    fmr_matrix = _ratio(false_matches, nonmated_cells)
    expected = {"fmr": len(nonmated), "fnmr": len(mated)}.get(at.rate or "")
    return Rates(
        at=at,
        threshold=at.value if at.is_given else comparisons.to_threshold(key),
        fmr=accepted / len(nonmated) if len(nonmated) else math.nan,
        fnmr=rejected / len(mated) if len(mated) else math.nan,
        groups=comparisons.groups,
        group_fmr=np.diagonal(fmr_matrix),
        group_fnmr=_ratio(counts.group_false_nonmatches, counts.group_mated),
        fmr_matrix=fmr_matrix,
        counts=counts,
        below_resolution=expected is not None and at.value * expected < ENOUGH_ERRORS,
    )


def _ratio(errors: Integers, comparisons: Integers) -> Floats:
    with np.errstate(invalid="ignore"):
        return errors / comparisons


def concentration(
    comparisons: Comparisons, rates: Rates, mated: bool, most_per_error: float = np.inf
) -> float:
    """Compute the share of errors that involve one of the 5 % of subjects with most errors, rounded
    up.

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
    float
        NaN without errors.
    """
    _, n_errors, n_subjects = counts_behind(rates.counts, mated)
    assert comparisons.subjects is not None
    assert n_subjects is not None
    if not n_errors:
        return math.nan
    if math.isfinite(most_per_error):
        n_subjects = min(n_subjects, 20 * max(1, int(n_errors * most_per_error)))
    _, reference, probe = _erring(comparisons, rates, mated)
    n_all = comparisons.subjects.size
    return errors_of_top_subjects(reference, probe, n_subjects, n_all) / n_errors


def concentration_in_cells(comparisons: Comparisons, rates: Rates, mated: bool) -> Floats:
    """Compute the same by group of reference (rows) and of probe (columns), (groups, groups), the
    subjects being those in these comparisons.
    """
    n_groups = len(rates.groups)
    errors, reference, probe = _erring(comparisons, rates, mated)
    if not (n_groups and reference.size):
        return np.full((n_groups, n_groups), np.nan)
    by_group = comparisons.mated_by_group if mated else comparisons.nonmated_by_group
    cell = by_group.reference_group[errors] * np.int64(n_groups) + by_group.probe_group[errors]
    n_errors = np.bincount(cell, minlength=n_groups**2)
    assert comparisons.subjects is not None
    assert by_group.subjects is not None
    n_subjects = by_group.subjects.ravel().tolist()
    shares, erring = np.full(n_groups**2, np.nan), np.flatnonzero(n_errors)
    of_cells = np.split(np.argsort(cell), np.cumsum(n_errors[erring])[:-1])
    for k, some in zip(erring.tolist(), of_cells, strict=True):
        of_top = errors_of_top_subjects(
            reference[some], probe[some], n_subjects[k], comparisons.subjects.size
        )
        shares[k] = of_top / some.size
    return shares.reshape(n_groups, n_groups)


def _erring(comparisons: Comparisons, rates: Rates, mated: bool) -> tuple[slice, Any, Any]:
    """Return where errors are among sorted comparisons, and their subjects."""
    side = comparisons.mated if mated else comparisons.nonmated
    n_errors = counts_behind(rates.counts, mated)[1]
    errors = slice(0, n_errors) if mated else slice(side.keys.size - n_errors, None)
    return errors, *side.compared(errors)


def errors_of_top_subjects(reference: Any, probe: Any, n_subjects: int, n_all: int) -> int:
    """Count the errors that involve one of the twentieth of subjects with most errors; of equals
    the first count.

    reference, probe: (errors,) subjects, below n_all; n_subjects: with or without errors
    """
    subjects, n_errors = np.unique(np.concatenate((reference, probe)), return_counts=True)
    is_top = np.zeros(n_all, np.bool_)
    is_top[subjects[np.argsort(-n_errors, kind="stable")[: divide_up(n_subjects, 20)]]] = True
    return int(np.count_nonzero(is_top[reference] | is_top[probe]))

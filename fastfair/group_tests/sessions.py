"""Whether groups share sessions, so that what sessions do cancels when rates of groups are compared.

Tests of groups know of people alone. A bad day that all groups share moves all rates, and cancels;
one that a group has alone looks like a difference of that group. With e_i the residual of
comparison i from the rate of all, and a_i = 1 / n in a group of n comparisons and -1 / m in the m
others, the difference of both rates varies, as people are shared, by V = sum a_i a_j e_i e_j over
what shares a person; and what shares a session, but nobody in it, adds C sum a_i a_j to it, with
the covariance C that is the mean of e_i e_j there. A test is withheld where this makes the variance
of some group's difference more than 1.25 times what it is otherwise: then a test at the 5 % level
errs in 8 %. So it is in fewer than four sessions, of which three let tests of alike groups' FMRs
err in 9 %.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fastfair._lib.arrays import AnyArray, AnyFloats, AnyIntegers, Flags, Floats, Integers
from fastfair.data.comparisons import Comparisons
from fastfair.evaluation.failure_counts import FailureCounts
from fastfair.resampling.units import Cells
from fastfair.uncertainty.notes import ENOUGH_SESSIONS, FEWEST_SESSIONS, Code

_MOST = 1.25  # times the variance of a difference
# Of fewer than enough sessions it is hardly known how errors vary between them: so much at least,
# of the variance of an error.
_LEAST_CORRELATION = 0.05


def sums_of_shared(
    parts: Sequence[AnyFloats], first: AnyIntegers, second: AnyIntegers
) -> list[float]:
    """Add up x_i x_j over all pairs of comparisons that share a unit, for each of some columns.

    Parameters
    ----------
    parts : sequence of (n,) ndarray
        What comparisons add.
    first, second : (n,) ndarray of int
        The two units of each, which may be one.

    Returns
    -------
    list of float
    """
    low, high = np.minimum(first, second).astype(np.int64), np.maximum(first, second)
    apart = np.flatnonzero(low != high)
    pairs = np.unique(
        low[apart] * (1 + np.int64(high.max(initial=0))) + high[apart], return_inverse=True
    )
    sums = []
    for part in parts:
        of_units = np.bincount(low, part, 1 + int(high.max(initial=0)))
        of_units += np.bincount(high[apart], part[apart], of_units.size)
        of_pairs = np.bincount(pairs[1], part[apart])
        sums.append(float(of_units @ of_units - of_pairs @ of_pairs))
    return sums


def effects_of_sessions(
    errors: AnyArray,
    groups: Sequence[Integers],
    units: Sequence[tuple[AnyIntegers, AnyIntegers]],
    trials: AnyIntegers | None = None,
) -> Floats:
    """Return how many times as large sessions make the variance of each group's difference from the
    others.

    Parameters
    ----------
    errors : (n,) ndarray of int or bool
        Whether each comparison within a group is an error, or how many of some are.
    groups : sequence of (k,) ndarray of int
        The comparisons of each group.
    units : three pairs of (n,) ndarray of int
        The persons, the sessions and the cells, persons in sessions, of the references and probes
        of comparisons.
    trials : (n,) ndarray of int, optional
        How many comparisons each stands for; 1 by default.

    Returns
    -------
    (groups,) ndarray
        At least 1; 1 where nothing differs.
    """
    each = np.ones(errors.size) if trials is None else trials.astype(np.float64)
    n = float(each.sum())
    rate = float(errors.sum()) / n if n else 0.0
    of_error = rate * (1 - rate)
    if not 0 < rate < 1:
        return np.ones(len(groups))
    residuals = errors - rate * each
    people, sessions, cells = units
    of_sessions, pairs_in_sessions = sums_of_shared([residuals, each], *sessions)
    of_cells, pairs_in_cells = sums_of_shared([residuals, each], *cells)
    n_pairs = pairs_in_sessions - pairs_in_cells
    covariance = max(0.0, (of_sessions - of_cells) / n_pairs) if n_pairs > 0 else 0.0
    if np.unique(np.concatenate(sessions)).size < ENOUGH_SESSIONS:
        covariance = max(covariance, _LEAST_CORRELATION * of_error)
    effects = np.ones(len(groups))
    for k, rows in enumerate(groups):
        inside = float(each[rows].sum())
        if not 0 < inside < n:
            continue
        weights = np.full(errors.size, -1 / (n - inside))
        weights[rows] = 1 / inside
        (variance,) = sums_of_shared([weights * residuals], *people)
        variance = max(variance, of_error * float((weights**2) @ each))
        in_sessions, in_cells = (
            sums_of_shared([weights * each], *of_units)[0] for of_units in (sessions, cells)
        )
        effects[k] += max(0.0, covariance * (in_sessions - in_cells)) / variance
    return effects


def reason_of_counts(counts: FailureCounts, tested: Flags) -> Code | None:
    """Return why sessions do not let rates of failure of groups be tested; None where they do.

    counts: failures of people, perhaps in sessions; tested: (groups,) which groups are tested.
    """
    by_session = counts._by_session
    if by_session is None:
        return None
    kept = np.flatnonzero(tested[counts.subject_group[by_session.row]])
    person = by_session.row[kept]
    both = [codes[kept].astype(np.int64) for codes in by_session.sessions]
    n_sessions = 1 + max(int(codes.max(initial=0)) for codes in both)
    cells = [person.astype(np.int64) * n_sessions + codes for codes in both]
    group = counts.subject_group[person]
    groups = [np.flatnonzero(group == k) for k in np.flatnonzero(tested)]
    effects = effects_of_sessions(
        by_session.failures[kept],
        groups,
        [(person, person), (both[0], both[1]), (cells[0], cells[1])],
        by_session.attempts[kept],
    )
    return _reason(both, effects)


def reason_of_sessions(comparisons: Comparisons, key: int, tested: Flags) -> Code | None:
    """Return why sessions do not let FMRs of groups at a threshold be tested; None where they do.

    Parameters
    ----------
    comparisons : Comparisons
        With groups; without sessions there is nothing to share.
    key : int
        The threshold's key.
    tested : (groups,) ndarray of bool
        Which groups are tested.

    Returns
    -------
    Code or None
    """
    if comparisons.sessions is None:
        return None
    side, by_group = comparisons.nonmated, comparisons.nonmated_by_group
    inside = by_group.reference_group == by_group.probe_group
    rows = np.flatnonzero(inside & tested[by_group.reference_group])
    cells = Cells.of(comparisons)
    first, second = (column[rows] for column in cells.of_side(side, False))
    units = [(column[first], column[second]) for column in (cells.person, cells.session)]
    group = by_group.reference_group[rows]
    groups = [np.flatnonzero(group == k) for k in np.flatnonzero(tested)]
    effects = effects_of_sessions(side.keys[rows] >= key, groups, [*units, (first, second)])
    return _reason(units[1], effects)


def _reason(sessions: Sequence[AnyIntegers], effects: Floats) -> Code | None:
    """Return why a test is withheld, from the sessions of references and of probes and what they do
    to each group's difference.
    """
    if np.unique(np.concatenate(sessions)).size < FEWEST_SESSIONS:
        return Code.GROUPS_IN_FEW_SESSIONS
    return None if (effects <= _MOST).all() else Code.SESSIONS_APART

"""Subjects with the same failures and attempts, counted together, and what is summed over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
_CELLS_A_SUBJECT = 8  # of failures x attempts x groups, up to which counting takes no sort
_ROUNDING = 1e-13  # share of the squares that sums of squared deviations of 0 may be off by


@dataclass(frozen=True, eq=False)
class SubjectKinds:
    """Kinds of subjects, who have the same failures and attempts; the most frequent kinds of each group come first.

    Attributes
    ----------
    failures, attempts, subjects : (kinds,) ndarray of int64
        Failures and attempts of one subject of each kind, and the number of such subjects.
    end : (groups,) ndarray of int64
        Position after the last kind of each group.
    """

    failures: Counts
    attempts: Counts
    subjects: Counts
    end: Counts


def kinds_of_groups(failures: Counts, attempts: Counts, group: NDArray[Any], n_groups: int) -> SubjectKinds:
    """Count the subjects of each group with the same failures and attempts.

    Parameters
    ----------
    failures, attempts, group : (n,) ndarray of int
        Of each subject.
    n_groups : int
        Number of groups, some of which may have no subjects.

    Returns
    -------
    SubjectKinds
    """
    from fastfair.kernels import clusters

    widths = n_groups, int(attempts.max(initial=0)) + 1, int(failures.max(initial=0)) + 1
    if np.prod(widths, dtype=np.float64) <= _CELLS_A_SUBJECT * failures.size:
        sizes = np.zeros(int(np.prod(widths)), np.int64)
        clusters.count_kinds(failures, attempts, group, *widths[1:], sizes)
        cells = np.flatnonzero(sizes)
        sizes = sizes[cells]
    else:
        cell = (group.astype(np.int64) * widths[1] + attempts) * widths[2] + failures
        cells, sizes = np.unique(cell, return_counts=True)
    of_group = cells // (widths[1] * widths[2])
    order = np.lexsort((-sizes, of_group))
    cells = cells[order]
    end = np.searchsorted(of_group, np.arange(widths[0]), side="right")
    return SubjectKinds(cells % widths[2], cells // widths[2] % widths[1], sizes[order], end.astype(np.int64))


def sum_kinds(kinds: SubjectKinds) -> Counts:
    """Compute (5, g) sums over the subjects of each group, in the rows of `kernels.clusters`."""
    e, m = kinds.failures, kinds.attempts
    rows = np.array([m, e, e * e, e * m, m * m]) * kinds.subjects
    totals = np.concatenate((np.zeros((5, 1), np.int64), np.cumsum(rows, axis=1)), axis=1)
    return np.diff(totals[:, np.append(0, kinds.end)], axis=1)


def squared_deviations(sums: Counts) -> Floats:
    """Sum (e_i - m_i pi)^2 over subjects, from the sums of `kernels.clusters`, (5, ...)."""
    m, e, ee, em, mm = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = e / m
        found = ee - 2 * rate * em + rate * rate * mm
        return np.where(found > _ROUNDING * ee, found, 0.0)


def design_effect(sums: Counts) -> Floats:
    """Compute 1 + (m0 - 1) rho from the sums of `kernels.clusters`, (5, ...); 1 where no or all attempts failed."""
    m, e = sums[:2]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((e > 0) & (e < m), squared_deviations(sums) * m / (e * (m - e).astype(np.float64)), 1.0)

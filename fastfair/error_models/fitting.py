"""A logit of errors on the values of attributes, fitted to counts of cells, and its dyadic-robust variances.

With X the cells' rows of the design, p their chances of an error, and H = X' diag(n p (1 - p)) X, the score of subject
k is T_k = sum over k's comparisons of (error - p) x, and that of two subjects s_kl. The variance of the coefficients is
H^-1 M H^-1, for non-mated comparisons with M = sum_k T_k T_k' - sum_{k<l} s_kl s_kl', in no direction less than
sum_{k<l} s_kl s_kl', and for mated ones with M = sum_k T_k T_k'. As coefficients fitted to the same comparisons make
scores too small, T_k is multiplied by (1 - H_k H^-1)^-1/2, where H_k is the part of H that k's comparisons have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fastfair.errors import FastfairError

from .cells import Cells, Floats

_STEPS = 200
_TINY = 1e-9  # relative to the largest, where a singular value counts as 0
_LEAST_LEFT = 0.05  # of what a score is divided by, as a subject may be behind nearly all of a coefficient
_AT_ONCE = 4096  # subjects whose parts of H are made at a time


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted logit, in coordinates in which the information is 1.

    Attributes
    ----------
    cells : Cells
        What it is fitted to.
    design : (cells, coefficients) ndarray
        The rows of the cells.
    kept : (cells,) ndarray of bool
        Which cells have finite log odds of an error.
    chances : (cells,) ndarray
        The fitted chances of an error.
    rows : (cells kept, r) ndarray
        Their rows in these coordinates.
    coordinates : (r, coefficients) ndarray
        The combination of coefficients that each coordinate is.
    location : (r,) ndarray
        The estimates in these coordinates.
    covariance : (r, r) ndarray
        Their robust variance.
    scores, squares : (subjects, r) and (subjects, cells) ndarray, or None
        Each subject's corrected score, and the squared residuals of the pairs that the subject is in; None where
        every comparison stands for itself.
    """

    cells: Cells
    design: Floats
    kept: NDArray[np.bool_]
    chances: Floats
    rows: Floats
    coordinates: Floats
    location: Floats
    covariance: Floats
    scores: Floats | None
    squares: Floats | None

    @cached_property
    def _to_directions(self) -> Floats:
        return np.asarray(np.linalg.pinv(self.coordinates))

    def values(self, contrasts: Floats) -> Floats:
        """Return (n,) combinations of the coefficients, given as rows; NaN if the data do not determine one."""
        directions = contrasts @ self._to_directions
        missed = np.abs(directions @ self.coordinates - contrasts).max(axis=1)
        known = missed <= 1e-7 * np.maximum(1.0, np.abs(contrasts).max(axis=1))
        return np.where(known, directions @ self.location, np.nan)

    def value(self, contrast: Floats) -> float:
        """Return one combination of the coefficients."""
        return float(self.values(contrast[None])[0])

    def covariance_of(self, contrasts: Floats) -> Floats:
        """Return the robust covariance of (n, coefficients) combinations, which the data determine."""
        directions = contrasts @ self._to_directions
        return np.asarray(directions @ self.covariance @ directions.T)

    def freedom(self, contrast: Floats) -> float:
        """Return the degrees of freedom of the variance of a combination of the coefficients.

        They are the number of subjects that would tell as much if all had equally many comparisons, less the share that
        the coefficients take. For FMR they are fewer where few subjects cause most of the variance; see
        `kernels.dyadic`.
        """
        if self.scores is None:
            return math.inf
        assert self.cells.n_of is not None
        assert self.cells.n_subjects is not None
        direction = contrast @ self._to_directions
        along = self.rows @ direction
        expected = self.cells.n_of[:, self.kept] @ (along**2 * (self.chances * (1 - self.chances))[self.kept])
        if not expected.any():
            return math.nan
        alike = float(expected.sum() ** 2 / (expected**2).sum())
        most = max(1.0, min(alike - 1, alike * (1 - self.location.size / self.cells.n_subjects)))
        if self.squares is None:
            return most
        own = self.squares[:, self.kept] @ along**2 / 2
        contributions = (self.scores @ direction) ** 2 - own
        if contributions.sum() <= own.sum():  # the least that the variance may be
            contributions = own
        errors = self.cells.errors[self.kept]
        by_chance = float(errors @ along**4) / float(errors @ along**2) ** 2 / 2
        unequal = float((contributions**2).sum() / contributions.sum() ** 2) - 1 / alike - by_chance
        return min(most, max(1.0, 2 / unequal)) if unequal > 0 else most


def fit(cells: Cells, design: Floats, offset: Floats | None = None) -> Fit:
    """Fit a logit of errors to counts of cells.

    Parameters
    ----------
    cells : Cells
        Numbers of comparisons and of errors.
    design : (cells, coefficients) ndarray
        The row of each cell.
    offset : (cells,) ndarray, optional
        What is added to the log odds of each cell; 0 by default.

    Returns
    -------
    Fit
    """
    kept = ~separated(cells, design)
    offset = np.zeros(cells.n.size) if offset is None else offset
    n, errors = cells.n[kept].astype(np.float64), cells.errors[kept].astype(np.float64)
    if not kept.any():  # nothing but errors, or none: no coefficient is known
        empty = np.zeros((0, design.shape[1]))
        chances = (cells.errors > 0).astype(np.float64)
        return Fit(cells, design, kept, chances, empty[:, :0], empty, np.zeros(0), np.zeros((0, 0)), None, None)
    _, singular, basis = np.linalg.svd(design[kept] * np.sqrt(n)[:, None], full_matrices=False)
    basis = basis[singular > _TINY * singular[0]]
    rows = design[kept] @ basis.T
    location, information = _maximum(rows, n, errors, offset[kept])
    # In whitened coordinates the information is 1, so that variances of directions are comparable.
    factor = np.linalg.cholesky(information)
    rows = np.linalg.solve(factor, rows.T).T
    chances = np.where(cells.errors > 0, 1.0, 0.0)
    chances[kept] = _expit(rows @ (factor.T @ location) + offset[kept])
    covariance, scores, squares = _robust(cells, kept, rows, chances)
    coordinates = factor.T @ basis
    return Fit(cells, design, kept, chances, rows, coordinates, factor.T @ location, covariance, scores, squares)


def fit_without(cells: Cells, design: Floats, tested: Sequence[int], offset: Floats | None = None) -> Fit:
    """Fit a logit without some columns, and take one step of Newton's method along them, for score tests of these.

    The estimates of the columns are those of the step, and their variance is the robust one of the scores where the
    columns have no effect, but at least that of the model. So they are known, too, where the likelihood drives log odds
    to infinity.

    Parameters
    ----------
    cells, design, offset
        As `fit` takes them.
    tested : sequence of int
        The columns.

    Returns
    -------
    Fit
        Whose coefficients are those of the columns.
    """
    others = np.setdiff1d(np.arange(design.shape[1]), tested)
    null = fit(cells, design[:, others], offset)
    p = null.chances[null.kept]
    n, errors = cells.n[null.kept], cells.errors[null.kept]
    of_tested, weights = design[null.kept][:, tested], (n * p * (1 - p))[:, None]
    rows = of_tested - null.rows @ (null.rows.T @ (weights * of_tested))
    values, vectors = np.linalg.eigh(rows.T @ (weights * rows))
    known = values > _TINY * max(float(values[-1]), 1e-300)
    to_rows = vectors[:, known] / np.sqrt(values[known])
    rows = rows @ to_rows
    covariance, scores, squares = _robust(cells, null.kept, rows, null.chances)
    # Where errors are missing, residuals are too small to show their variance: it is at least that of the model, times
    # the overdispersion of the fit, both of which are 1 for independent comparisons.
    spread = max(1.0, float(np.trace(null.covariance)) / max(1, len(null.covariance)))
    values_of, axes = np.linalg.eigh((covariance + covariance.T) / 2)
    covariance = (axes * np.maximum(values_of, spread)) @ axes.T
    coordinates = (vectors[:, known] * np.sqrt(values[known])).T
    return Fit(
        cells, design[:, tested], null.kept, null.chances, rows, coordinates, rows.T @ (errors - n * p), covariance,
        scores, squares,
    )  # fmt: skip


def _expit(log_odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def _maximum(rows: Floats, n: Floats, errors: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients of the highest likelihood, found by Newton's method, and the information there."""

    def likelihood(at: Floats) -> float:
        log_odds = rows @ at + offset
        return float(errors @ log_odds - n @ np.logaddexp(0, log_odds))

    # Where every cell has the same chance, as the start.
    start = np.full(len(rows), math.log(errors.sum() / (n.sum() - errors.sum())))
    at = np.linalg.lstsq(rows, start, rcond=None)[0]
    height = likelihood(at)
    for _ in range(_STEPS):
        chances = _expit(rows @ at + offset)
        information = (rows.T * (n * chances * (1 - chances))) @ rows
        step = np.linalg.solve(information, rows.T @ (errors - n * chances))
        while likelihood(at + step) < height - 1e-12 * abs(height):
            step = step / 2
        at = at + step
        height = likelihood(at)
        if float(step @ information @ step) < 1e-20:  # squared, in standard errors
            chances = _expit(rows @ at + offset)
            return at, (rows.T * (n * chances * (1 - chances))) @ rows
    raise FastfairError("the logit of errors does not converge")


def separated(cells: Cells, design: Floats) -> NDArray[np.bool_]:
    """Find the cells without errors, or without anything else, whose log odds the likelihood drives to infinity.

    Parameters
    ----------
    cells : Cells
        Numbers of comparisons and of errors.
    design : (cells, coefficients) ndarray
        The row of each cell.

    Returns
    -------
    (cells,) ndarray of bool

    References
    ----------
    Konis, "Linear programming algorithms for detecting separated data in binary logistic regression models", 2007.
    """
    sign = np.where(cells.errors == 0, -1.0, np.where(cells.errors == cells.n, 1.0, 0.0))
    extreme = np.flatnonzero(sign)
    found = np.zeros(cells.n.size, np.bool_)
    if not extreme.size:
        return found
    from scipy.optimize import linprog

    # A direction along which no cell's likelihood falls, and those of as many as possible grow without end: each of
    # these moves by at least its share, of at most 1, in the right direction; cells with both stay.
    signed = design[extreme] * sign[extreme, None]
    n_coefficients, n_extreme = design.shape[1], extreme.size
    solved = linprog(
        np.concatenate((np.zeros(n_coefficients), -np.ones(n_extreme))),
        A_ub=np.hstack((-signed, np.eye(n_extreme))),
        b_ub=np.zeros(n_extreme),
        A_eq=np.hstack((design[sign == 0], np.zeros((cells.n.size - n_extreme, n_extreme)))),
        b_eq=np.zeros(cells.n.size - n_extreme),
        bounds=[(None, None)] * n_coefficients + [(0, 1)] * n_extreme,
    )
    if solved.status != 0:
        raise FastfairError(f"cells without errors cannot be told apart: {solved.message}")
    found[extreme] = solved.x[n_coefficients:] > 0.5
    return found


def _robust(
    cells: Cells, kept: NDArray[np.bool_], rows: Floats, chances: Floats
) -> tuple[Floats, Floats | None, Floats | None]:
    """Return the robust variance, and what its degrees of freedom are computed from."""
    if not rows.shape[1]:  # the data determine no coefficient
        return np.zeros((0, 0)), None, None
    p = chances[kept]
    if cells.n_of is None or cells.errors_of is None:
        errors, n = cells.errors[kept], cells.n[kept]
        squared = errors * (1 - p) ** 2 + (n - errors) * p**2
        return (rows.T * squared) @ rows * n.sum() / (n.sum() - rows.shape[1]), None, None
    scores = cells.errors_of[:, kept] @ rows - cells.n_of[:, kept] @ (p[:, None] * rows)
    scores = _corrected(scores, cells.n_of[:, kept], rows, p * (1 - p))
    if cells.rate == "fnmr":
        return scores.T @ scores, scores, None
    products, squares = cells.pair_residuals(chances)
    of_pairs = rows.T @ products[np.ix_(kept, kept)] @ rows
    # Pairs alone are the least: what subjects add to them counts where it is positive.
    values, vectors = np.linalg.eigh(of_pairs)
    root = vectors * np.sqrt(np.maximum(values, _TINY * values[-1]))  # of_pairs = root root'
    unit = np.linalg.solve(root, np.linalg.solve(root, scores.T @ scores - 2 * of_pairs).T)
    more, axes = np.linalg.eigh((unit + unit.T) / 2)
    turned = root @ axes
    return (turned * (1 + np.maximum(more, 0))) @ turned.T, scores, squares


def _corrected(scores: Floats, n_of: NDArray[np.int64], rows: Floats, weights: Floats) -> Floats:
    """Multiply each subject's score by (1 - H_k)^-1/2, H_k being the subject's part of the information, which is 1."""
    size = rows.shape[1]
    outer = (rows[:, :, None] * rows[:, None, :] * weights[:, None, None]).reshape(len(rows), size * size)
    found = np.empty_like(scores)
    for start in range(0, len(scores), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        own = (n_of[some] @ outer).reshape(-1, size, size)
        values, vectors = np.linalg.eigh(own)
        left = np.maximum(1 - values, _LEAST_LEFT)
        turned = np.einsum("kij,ki->kj", vectors, scores[some]) / np.sqrt(left)
        found[some] = np.einsum("kij,kj->ki", vectors, turned)
    return found

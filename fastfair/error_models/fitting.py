"""A logit of errors on the values of attributes, fitted to counts of cells, and its dyadic-robust
variances.

Comparisons are counted in cells, one for each combination of values on both sides. In the design of
mated comparisons each value but the baseline has a column, 1 where the subject has it. For
non-mated comparisons it says on how many sides the value is, 0, 1 or 2, and one more column whether
the two sides differ: two subjects of different values have the geometric mean of the odds of two of
one value and two of the other, times a factor.

With X the cells' rows of the design, p their chances of an error, and H = X' diag(n p (1 - p)) X,
the score of subject k is T_k = sum over k's comparisons of (error - p) x, and that of two subjects
s_kl. The variance of the coefficients is H^-1 M H^-1, for non-mated comparisons with M = sum_k T_k
T_k' - sum_{k<l} s_kl s_kl', in no direction less than sum_{k<l} s_kl s_kl', and for mated ones with
M = sum_k T_k T_k'. As coefficients fitted to the same comparisons make scores too small, T_k is
multiplied by (1 - H_k H^-1)^-1/2, where H_k is the part of H that k's comparisons have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from fastfair._lib import memory
from fastfair._lib.arrays import Flags, Floats, Integers
from fastfair.data.comparisons import Comparisons
from fastfair.data.exclusions import leave_out
from fastfair.data.sorted_scores import GroupedSide
from fastfair.errors import FastfairError, InputError
from fastfair.uncertainty.rate_limits import RateEvidence

Unit = Literal["subject", "comparison"]


@dataclass(frozen=True, eq=False)
class Cells:
    """The mated, or the non-mated, comparisons, counted by the values of attributes on both sides.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        The rate of their errors.
    labels : tuple of tuple of str
        The values of each attribute that occur.
    first, second : (cells, attributes) ndarray of int64
        The values of either side, as positions in `labels`; which side is the reference does not
        matter.
    n, errors : (cells,) ndarray of int64
        Numbers of comparisons and of errors.
    n_of, errors_of : (subjects, cells) ndarray of int64, or None
        The numbers of each subject; None where every comparison stands for itself.
    products, squares : (3, cells, cells) and (3, subjects, cells) ndarray, or None
        Of non-mated comparisons, sums over pairs of subjects; see
        `kernels.cell_scores.multiply_pairs`.
    by_group : GroupedSide
        The comparisons, grouped by the combination of values on each side.
    cell : (groups, groups) ndarray of int64
        The cell of two groups; -1 for those left out.
    """

    rate: str
    labels: tuple[tuple[str, ...], ...]
    first: Integers
    second: Integers
    n: Integers
    errors: Integers
    n_of: Integers | None
    errors_of: Integers | None
    products: Floats | None
    squares: Floats | None
    by_group: GroupedSide = field(repr=False)
    cell: Integers = field(repr=False)

    @property
    def n_subjects(self) -> int | None:
        """The number of subjects; None where they are not looked at."""
        return None if self.n_of is None else int(np.count_nonzero(self.n_of.any(axis=1)))

    def only(self, kept: Flags) -> Cells:
        """Keep some of the cells."""
        position = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)  # -1 stays -1
        # on the first, or last, axis
        in_cells = (
            ("first", "second", "n", "errors"),
            ("n_of", "errors_of", "squares"),
        )
        left = {name: getattr(self, name)[kept] for name in in_cells[0]}
        left |= {
            name: values[..., kept]
            for name in in_cells[1]
            if (values := getattr(self, name)) is not None
        }
        if self.products is not None:
            left["products"] = self.products[:, kept][:, :, kept]
        return replace(self, **left, cell=position[self.cell])

    def with_errors(self, wanted: int) -> Cells:
        """Return the same at the strictest threshold at which so many pairs of subjects err, or all
        comparisons do.
        """
        from fastfair.kernels import dyadic as kernels

        side = self.by_group.side
        inside = np.flatnonzero(
            self.cell[self.by_group.reference_group, self.by_group.probe_group] >= 0
        )
        if self.rate == "fmr":
            inside = inside[::-1]  # errors first
        units = (
            np.arange(inside.size, dtype=np.int32),
        ) * 2  # each comparison is a pair of its own
        if side.reference is not None and side.probe is not None:
            units = side.reference[inside], side.probe[inside]
        n = kernels.errors_of_pairs(side.keys[inside], *units, wanted)
        edge = int(
            np.searchsorted(
                side.keys, side.keys[inside[n - 1]], side="left" if self.rate == "fmr" else "right"
            )
        )
        n_subjects = None if self.n_of is None else len(self.n_of)
        return _count(
            self.by_group,
            self.cell,
            edge,
            n_subjects,
            self.rate,
            self.labels,
            (self.first, self.second),
        )

    def pair_residuals(self, chances: Floats) -> tuple[Floats, Floats]:
        """Add up the residuals of comparisons of two subjects, times each other, at (cells,)
        chances of an error.

        Returns (cells, cells) sums over pairs of subjects of the residuals of one cell times those
        of another, and (subjects, cells) squared sums of residuals of the pairs that a subject is
        in.
        """
        assert self.products is not None
        assert self.squares is not None
        (ee, em, mm), squares = self.products, self.squares
        mixed = em * chances
        products = ee - mixed - mixed.T + mm * np.outer(chances, chances)
        return products, squares[0] - 2 * chances * squares[1] + chances**2 * squares[2]


def count_cells(
    comparisons: Comparisons, attributes: Sequence[str], key: Any, rate: str, unit: str
) -> Cells:
    """Count comparisons and errors by the values of attributes; key: the lowest that is
    accepted.
    """
    grouped = (
        comparisons if comparisons.grouping == tuple(attributes) else comparisons.by(*attributes)
    )
    by_group = grouped.nonmated_by_group if rate == "fmr" else grouped.mated_by_group
    values = _values_of_groups(by_group, attributes)
    counts = by_group.cells
    if rate == "fnmr":
        counts = _of_one_subject(by_group)
    g, h = np.nonzero(np.triu(counts + counts.T))
    if not g.size:
        raise InputError(
            "no mated comparison has the same values on both sides, so there is nothing to count"
        )
    cell = np.full(counts.shape, -1, np.int64)
    cell[g, h] = cell[h, g] = np.arange(g.size)
    used = [sorted({int(values[k, a]) for k in (*g, *h)}) for a in range(len(attributes))]
    labels = tuple(
        tuple(comparisons.attributes[name][k] for k in positions)
        for name, positions in zip(attributes, used, strict=True)
    )
    first, second = (
        np.stack(
            [np.searchsorted(used[a], values[side, a]) for a in range(len(attributes))], axis=1
        )
        for side in (g, h)
    )
    n_subjects = None
    if unit == "subject":
        if comparisons.subjects is None:
            raise InputError(
                "the comparisons have no subjects: give reference and probe, or take every"
                ' comparison for independent with ⟦unit="comparison"⟧'
            )
        n_subjects = comparisons.subjects.size
    edge = int(np.searchsorted(by_group.side.keys, key))
    return _count(
        by_group,
        cell,
        edge,
        n_subjects,
        rate,
        labels,
        (first.astype(np.int64), second.astype(np.int64)),
    )


def _of_one_subject(by_group: GroupedSide) -> Integers:
    """Return the numbers of mated comparisons whose sides have the same values, by group."""
    reference, probe = by_group.side.reference, by_group.side.probe
    if reference is not None and probe is not None and not np.array_equal(reference, probe):
        raise InputError(
            "some mated comparisons are of two subjects and cannot be attempts of one: leave"
            " them out"
        )
    counts = np.diag(np.diag(by_group.cells))
    keep = by_group.reference_group == by_group.probe_group
    leave_out(
        keep, "mated comparisons", "between groups", "as their two sides have different values"
    )
    return counts


def _values_of_groups(by_group: GroupedSide, attributes: Sequence[str]) -> Integers:
    """Return the (groups, attributes) positions of each group's values in the labels of the
    attributes.
    """
    values_of = np.zeros((len(attributes), by_group.n_groups), np.int64)
    side = by_group.side
    for name, values in zip(attributes, values_of, strict=True):
        values[by_group.reference_group], values[by_group.probe_group] = side.attribute(name)
    return values_of.T


def _count(
    by_group: GroupedSide,
    cell: Integers,
    edge: int,
    n_subjects: int | None,
    rate: str,
    labels: tuple[tuple[str, ...], ...],
    values: tuple[Integers, Integers],
) -> Cells:
    """Count what is in cells, where errors begin, or end, at a position; values: those of either
    side of each cell.
    """
    from fastfair.kernels import cell_scores as kernels
    from fastfair.kernels import groups

    n_cells = len(values[0])
    end = len(by_group.side)
    errors_at = (edge, end) if rate == "fmr" else (0, edge)
    wrong = np.zeros_like(by_group.cells)
    groups.count_cells(by_group.reference_group, by_group.probe_group, *errors_at, wrong)
    inside = cell >= 0
    n, errors = (
        np.bincount(cell[inside], counts[inside], n_cells).astype(np.int64)
        for counts in (by_group.cells, wrong)
    )
    if n_subjects is None:
        return Cells(rate, labels, *values, n, errors, None, None, None, None, by_group, cell)
    memory.require(
        60 * n_subjects * n_cells,
        f"counts of {n_subjects:,} subjects in {n_cells:,} combinations of values",
        "use fewer attributes, or merge values",
    )
    n_of, errors_of = np.zeros((2, n_subjects, n_cells), np.int64)
    columns = (
        by_group.side.reference,
        by_group.side.probe,
        by_group.reference_group,
        by_group.probe_group,
        cell,
    )
    kernels.count_by_subject(*columns, 0, end, n_of)
    kernels.count_by_subject(*columns, *errors_at, errors_of)
    products, squares = None, None
    if rate == "fmr":
        products = np.zeros((3, n_cells, n_cells))
        squares = np.zeros((3, n_subjects, n_cells))
        kernels.multiply_pairs(*columns, errors_at, products, squares)
    return Cells(
        rate, labels, *values, n, errors, n_of, errors_of, products, squares, by_group, cell
    )


DIFFERENT = "different"
SAME = "same"


@dataclass(frozen=True, eq=False)
class Term:
    """One comparison of odds: of two values of an attribute, or of different values with the same.

    Attributes
    ----------
    attribute : str
        The attribute.
    value, baseline : str
        The value, and the one that it is compared with; "different" and "same" for the two sides.
    position : int
        The position of the attribute.
    contrast : (coefficients,) ndarray
        The combination of coefficients that is the logarithm of the odds ratio.
    with_baseline : (cells, coefficients) ndarray
        The rows of the design if all comparisons had the baseline; plus the contrast, if all had
        the value.
    concerned : (cells,) ndarray of bool
        The cells that have the value on either side.
    """

    attribute: str
    value: str
    baseline: str
    position: int
    contrast: Floats
    with_baseline: Floats
    concerned: Flags


def make_design(
    cells: Cells, attributes: Sequence[str], baseline: Mapping[str, str]
) -> tuple[Floats, list[Term], dict[str, str]]:
    """Make the (cells, coefficients) design of a model of some attributes, its terms, and the
    baseline of each.

    The baseline of an attribute is by default the value of most comparisons.
    """
    columns: list[Floats] = [np.ones(cells.n.size)]
    # Attribute, value, its position or None, column.
    plans: list[tuple[int, str, int | None, int]] = []
    chosen: dict[str, str] = {}
    for a, (name, labels) in enumerate(zip(attributes, cells.labels, strict=True)):
        first, second = cells.first[:, a], cells.second[:, a]
        sizes = np.bincount(np.append(first, second), np.tile(cells.n, 2), len(labels))
        base = baseline.get(name, labels[int(sizes.argmax())])
        if base not in labels:
            raise InputError(
                f"baseline: {name!r} has no value {base!r} here; it has {', '.join(labels)}"
            )
        if len(labels) == 1:
            raise InputError(
                f"{name!r} is {labels[0]!r} in all of these comparisons, so it cannot have an"
                " effect"
            )
        chosen[name] = base
        for v, label in enumerate(labels):
            if label != base:
                plans.append((a, label, v, len(columns)))
                sides = (first == v).astype(np.float64)
                columns.append(sides + (second == v) if cells.rate == "fmr" else sides)
        differ = first != second
        if cells.rate == "fmr" and differ.any() and not differ.all():
            plans.append((a, DIFFERENT, None, len(columns)))
            columns.append(differ.astype(np.float64))
    design = np.stack(columns, axis=1)
    of_attribute = [[column for a, _, _, column in plans if a == k] for k in range(len(attributes))]
    terms = []
    for a, value, at, column in plans:
        first, second = cells.first[:, a], cells.second[:, a]
        contrast = np.zeros(design.shape[1])
        with_baseline = design.copy()
        contrast[column] = 2.0 if at is not None and cells.rate == "fmr" else 1.0
        with_baseline[:, [column] if at is None else of_attribute[a]] = 0.0
        concerned = first != second if at is None else (first == at) | (second == at)
        against = SAME if at is None else chosen[attributes[a]]
        terms.append(Term(attributes[a], value, against, a, contrast, with_baseline, concerned))
    return design, terms, chosen


_STEPS = 200  # of Newton's method, at most
_TINY = 1e-9  # relative to the largest, where a singular value counts as 0
# of what a score is divided by, as a subject may be behind nearly all of a coefficient
_LEAST_LEFT = 0.05
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
        Each subject's corrected score, and the squared residuals of the pairs that the subject is
        in; None where every comparison stands for itself.
    """

    cells: Cells
    design: Floats
    kept: Flags
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
        """Return (n,) combinations of the coefficients, given as rows; NaN if the data do not
        determine one.
        """
        directions = contrasts @ self._to_directions
        missed = np.abs(directions @ self.coordinates - contrasts).max(axis=1)
        is_determined = missed <= 1e-7 * np.maximum(1.0, np.abs(contrasts).max(axis=1))
        return np.where(is_determined, directions @ self.location, np.nan)

    def value(self, contrast: Floats) -> float:
        """Return one combination of the coefficients."""
        return float(self.values(contrast[None])[0])

    def covariance_of(self, contrasts: Floats) -> Floats:
        """Return the robust covariance of (n, coefficients) combinations, which the data
        determine.
        """
        directions = contrasts @ self._to_directions
        return np.asarray(directions @ self.covariance @ directions.T)

    def freedom(self, contrast: Floats) -> float:
        """Return the degrees of freedom of the variance of a combination of the coefficients.

        They are the number of subjects that would be as informative if all had equally many
        comparisons, less the share that the coefficients take. For FMR they are fewer where few
        subjects cause most of the variance; see `kernels.dyadic`.
        """
        if self.scores is None:
            return math.inf
        assert self.cells.n_of is not None
        assert self.cells.n_subjects is not None
        direction = contrast @ self._to_directions
        along = self.rows @ direction
        expected = self.cells.n_of[:, self.kept] @ (
            along**2 * (self.chances * (1 - self.chances))[self.kept]
        )
        if not expected.any():
            return math.nan
        alike = float(expected.sum() ** 2 / (expected**2).sum())
        most = max(1.0, min(alike - 1, alike * (1 - self.location.size / self.cells.n_subjects)))
        if self.squares is None:
            return most
        expected_squares = self.squares[:, self.kept] @ along**2 / 2
        contributions = (self.scores @ direction) ** 2 - expected_squares
        if contributions.sum() <= expected_squares.sum():  # the least that the variance may be
            contributions = expected_squares
        if not contributions.any():  # no residual of any pair
            return most
        errors = self.cells.errors[self.kept]
        by_chance = float(errors @ along**4) / float(errors @ along**2) ** 2 / 2
        unequal = float((contributions**2).sum() / contributions.sum() ** 2) - 1 / alike - by_chance
        return min(most, max(1.0, 2 / unequal)) if unequal > 0 else most


def fit(cells: Cells, design: Floats, offset: Floats | None = None) -> Fit:
    """Fit a logit of errors to counts of cells; offset: (cells,) what is added to the log odds, 0
    by default.
    """
    kept = ~find_separated(cells, design)
    offset = np.zeros(cells.n.size) if offset is None else offset
    n = cells.n[kept].astype(np.float64)
    errors = cells.errors[kept].astype(np.float64)
    if not kept.any():  # nothing but errors, or none: no coefficient is known
        empty = np.zeros((0, design.shape[1]))
        chances = (cells.errors > 0).astype(np.float64)
        return Fit(
            cells,
            design,
            kept,
            chances,
            empty[:, :0],
            empty,
            np.zeros(0),
            np.zeros((0, 0)),
            None,
            None,
        )
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
    return Fit(
        cells,
        design,
        kept,
        chances,
        rows,
        coordinates,
        factor.T @ location,
        covariance,
        scores,
        squares,
    )


def fit_without(
    cells: Cells, design: Floats, tested: Sequence[int], offset: Floats | None = None
) -> Fit:
    """Fit a logit without some columns, and take one step of Newton's method along them, for score
    tests of these.

    The estimates of the columns are those of the step, and their variance is the robust one of the
    scores where the columns have no effect, but at least that of the model. So they are known, too,
    where the likelihood drives log odds to infinity. The coefficients of the result are those of
    the columns tested.
    """
    others = np.setdiff1d(np.arange(design.shape[1]), tested)
    null = fit(cells, design[:, others], offset)
    p = null.chances[null.kept]
    n, errors = cells.n[null.kept], cells.errors[null.kept]
    of_tested = design[null.kept][:, tested]
    weights = (n * p * (1 - p))[:, None]
    rows = of_tested - null.rows @ (null.rows.T @ (weights * of_tested))
    values, vectors = np.linalg.eigh(rows.T @ (weights * rows))
    is_positive = values > _TINY * max(float(values[-1]), 1e-300)
    to_rows = vectors[:, is_positive] / np.sqrt(values[is_positive])
    rows = rows @ to_rows
    covariance, scores, squares = _robust(cells, null.kept, rows, null.chances)
    # Where errors are missing, residuals are too small to show their variance: it is at least that
    # of the model, times the overdispersion of the fit, both of which are 1 for independent
    # comparisons.
    spread = max(1.0, float(np.trace(null.covariance)) / max(1, len(null.covariance)))
    values_of, axes = np.linalg.eigh((covariance + covariance.T) / 2)
    covariance = (axes * np.maximum(values_of, spread)) @ axes.T
    coordinates = (vectors[:, is_positive] * np.sqrt(values[is_positive])).T
    return Fit(
        cells,
        design[:, tested],
        null.kept,
        null.chances,
        rows,
        coordinates,
        rows.T @ (errors - n * p),
        covariance,
        scores,
        squares,
    )


def _expit(log_odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def _maximum(rows: Floats, n: Floats, errors: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients of the highest likelihood, found by Newton's method, and the
    information there.
    """

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


def find_separated(cells: Cells, design: Floats) -> Flags:
    """Find the (cells,) without errors, or without anything else, whose log odds the likelihood
    drives to infinity.

    Konis, "Linear programming algorithms for detecting separated data in binary logistic regression
    models", 2007.
    """
    sign = np.where(cells.errors == 0, -1.0, np.where(cells.errors == cells.n, 1.0, 0.0))
    extreme = np.flatnonzero(sign)
    is_separated = np.zeros(cells.n.size, np.bool_)
    if not extreme.size:
        return is_separated
    from scipy.optimize import linprog

    # A direction along which no cell's likelihood falls, and those of as many as possible grow
    # without end: each of these moves by at least its share, of at most 1, in the right direction;
    # cells with both stay.
    signed = design[extreme] * sign[extreme, None]
    n_coefficients = design.shape[1]
    n_extreme = extreme.size
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
    is_separated[extreme] = solved.x[n_coefficients:] > 0.5
    return is_separated


def _robust(
    cells: Cells, kept: Flags, rows: Floats, chances: Floats
) -> tuple[Floats, Floats | None, Floats | None]:
    """Return the robust variance, and what its degrees of freedom are computed from."""
    if not rows.shape[1]:  # the data determine no coefficient
        return np.zeros((0, 0)), None, None
    p = chances[kept]
    if cells.n_of is None or cells.errors_of is None:
        errors, n = cells.errors[kept], cells.n[kept]
        squared = errors * (1 - p) ** 2 + (n - errors) * p**2
        return (rows.T * squared) @ rows * n.sum() / (n.sum() - rows.shape[1]), None, None
    n_of = cells.n_of[:, kept]
    scores = cells.errors_of[:, kept] @ rows - n_of @ (p[:, None] * rows)
    scores = _corrected(scores, n_of, rows, p * (1 - p))
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


def _corrected(scores: Floats, n_of: Integers, rows: Floats, weights: Floats) -> Floats:
    """Multiply each subject's score by (1 - H_k)^-1/2, H_k being the subject's part of the
    information, which is 1.
    """
    size = rows.shape[1]
    outer = (rows[:, :, None] * rows[:, None, :] * weights[:, None, None]).reshape(
        len(rows), size * size
    )
    corrected = np.empty_like(scores)
    for start in range(0, len(scores), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        information = (n_of[some] @ outer).reshape(-1, size, size)
        values, vectors = np.linalg.eigh(information)
        left = np.maximum(1 - values, _LEAST_LEFT)
        turned = np.einsum("kij,ki->kj", vectors, scores[some]) / np.sqrt(left)
        corrected[some] = np.einsum("kij,kj->ki", vectors, turned)
    return corrected


_FARTHEST = 20.0  # logarithm of an odds ratio that a limit is looked for at
_HALVINGS = 24  # of the interval that a limit lies in, to 1e-6


@dataclass(frozen=True)
class StudentEstimate:
    """A number with its uncertainty; NaN where the data do not determine it.

    Attributes
    ----------
    value : float
        The estimate.
    standard_error : float
        Its standard error, enlarged a little for few degrees of freedom, as that of log odds is in
        `proportions`.
    degrees_of_freedom : float
        Of the standard error.
    """

    value: float = math.nan
    standard_error: float = math.nan
    degrees_of_freedom: float = math.nan

    @property
    def pvalue(self) -> float:
        """The two-sided p-value of the hypothesis that it is 0."""
        return float(2 * stdtr(self.degrees_of_freedom, -abs(self.value) / self.standard_error))

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the interval of a confidence level."""
        reach = (
            float(stdtrit(self.degrees_of_freedom, (1 + confidence_level) / 2))
            * self.standard_error
        )
        return self.value - reach, self.value + reach

    @property
    def exponential(self) -> float:
        """What this is the logarithm of."""
        return _exp(self.value)

    def ratio_interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the interval of what this is the logarithm of."""
        low, high = self.interval(confidence_level)
        return _exp(low), _exp(high)

    def rate_interval(self, confidence_level: float) -> tuple[float, float]:
        """Return the interval of the rate that these are the log odds of, as `evaluate` does."""
        rate = 1 / (1 + math.exp(-self.value))
        spread = (
            self.standard_error / math.sqrt(1 + 1 / self.degrees_of_freedom) * rate * (1 - rate)
        )
        low, high = RateEvidence(rate, spread, self.degrees_of_freedom).interval(confidence_level)
        return float(low), float(high)


def _exp(value: float) -> float:
    with np.errstate(over="ignore"):  # the end of an interval may be infinite
        return float(np.exp(value))


def estimate(fit: Fit, contrast: Floats) -> StudentEstimate:
    """Estimate a combination of coefficients, such as a logarithm of an odds ratio."""
    value = fit.value(contrast)
    return StudentEstimate() if math.isnan(value) else of_function(fit, value, contrast)


def of_function(fit: Fit, value: float, gradient: Floats) -> StudentEstimate:
    """Return a function of the coefficients with its uncertainty by the delta method."""
    freedom = fit.freedom(gradient)
    variance = max(0.0, float(fit.covariance_of(gradient[None])[0, 0]))
    return StudentEstimate(value, math.sqrt(variance * (1 + 1 / freedom)), freedom)


def mean_chance(fit: Fit, rows: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return the mean chance of an error of rows of a design, NaN where data do not determine one,
    and its gradient.
    """
    chances = _expit(fit.values(rows))
    shares = weights / weights.sum()
    return float(shares @ chances), np.asarray((shares * chances * (1 - chances)) @ rows)


def difference(fit: Fit, rows: Floats, contrast: Floats, weights: Floats) -> StudentEstimate:
    """Estimate by how much the mean chance of an error of rows of a design changes as a contrast is
    added to them.
    """
    (mean, slope), (changed, slope_changed) = (
        mean_chance(fit, rows_of, weights) for rows_of in (rows, rows + contrast)
    )
    if math.isnan(mean) or math.isnan(changed):
        return StudentEstimate()
    return of_function(fit, changed - mean, slope_changed - slope)


def separated_ratio(
    cells: Cells, design: Floats, contrast: Floats, level: float
) -> tuple[float, float, float]:
    """Test an effect whose odds ratio is 0 or infinite in the data, and limit it to the side that
    is known.

    The contrast is a multiple of one coefficient. Returned are the p-value of a score test, and an
    interval of the confidence level with the end 0 or infinity; NaN where nothing is known.
    """
    (column,) = np.flatnonzero(contrast).tolist()

    def score(log_ratio: float) -> StudentEstimate:
        offset = design[:, column] * log_ratio / contrast[column]
        return estimate(fit_without(cells, design, [column], offset), np.ones(1))

    scored = score(0.0)
    if math.isnan(scored.value):
        return math.nan, math.nan, math.nan
    below = scored.value < 0  # whether the odds ratio is 0 in the data

    def excluded(log_ratio: float) -> bool:
        try:
            with np.errstate(all="ignore"):
                at = score(log_ratio)
        except (np.linalg.LinAlgError, OverflowError):
            at = StudentEstimate()
        if math.isnan(at.pvalue):  # so far off that all chances are 0 or 1
            return (log_ratio > 0) == below
        return (at.value < 0) == below and at.pvalue < 1 - level

    held, left = (-_FARTHEST, _FARTHEST) if below else (_FARTHEST, -_FARTHEST)
    for _ in range(_HALVINGS):
        middle = (held + left) / 2
        held, left = (held, middle) if excluded(middle) else (middle, left)
    return scored.pvalue, *((0.0, _exp(left)) if below else (_exp(left), math.inf))


def joint_test(fit: Fit, contrasts: Floats) -> tuple[float, int, float, float]:
    """Test that several combinations of coefficients are all 0, as Hotelling does.

    Returned are F, the number of combinations that the data determine, the median of their degrees
    of freedom, and the p-value, which is NaN where there are too few degrees of freedom for so many
    combinations.
    """
    values = fit.values(contrasts)
    contrasts, values = contrasts[~np.isnan(values)], values[~np.isnan(values)]
    size = values.size
    if not size:
        return math.nan, 0, math.nan, math.nan
    freedom = float(np.median([fit.freedom(contrast) for contrast in contrasts]))
    square = float(
        values @ np.linalg.solve(fit.covariance_of(contrasts) * (1 + 1 / freedom), values)
    )
    if math.isinf(freedom):
        statistic = square / size
        left = 1e9
    else:
        left = freedom - size + 1
        if left <= 0:
            return math.nan, size, freedom, math.nan
        statistic = square * left / (freedom * size)
    return statistic, size, freedom, float(fdtrc(size, left, statistic))

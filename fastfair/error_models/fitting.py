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
from scipy.special import fdtrc, fdtri, stdtr, stdtrit

from fastfair._lib import memory
from fastfair._lib.arrays import Flags, Floats, Indices, Integers
from fastfair.data.comparisons import Comparisons
from fastfair.data.exclusions import leave_out
from fastfair.data.sessions import refuse_sessions
from fastfair.data.sorted_scores import GroupedSide
from fastfair.errors import FastfairError, InputError
from fastfair.uncertainty.rate_limits import RateEvidence

from .separation import find_separated
from .subjects import CountedSubjects, Subjects

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
    subjects : CountedSubjects, ListedSubjects or None
        Who is behind them; None where every comparison stands for itself.
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
    subjects: Subjects | None
    by_group: GroupedSide = field(repr=False)
    cell: Integers = field(repr=False)

    @property
    def n_subjects(self) -> int | None:
        """The number of subjects; None where they are not looked at."""
        return None if self.subjects is None else self.subjects.n_used

    def only(self, kept: Flags) -> Cells:
        """Keep some of the cells."""
        position = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)  # -1 stays -1
        left = {name: getattr(self, name)[kept] for name in ("first", "second", "n", "errors")}
        if self.subjects is not None:
            left["subjects"] = self.subjects.only(kept)
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
        n_subjects = None if self.subjects is None else len(self.subjects)
        return _count(
            self.by_group,
            self.cell,
            edge,
            n_subjects,
            self.rate,
            self.labels,
            (self.first, self.second),
        )


def count_cells(
    comparisons: Comparisons, attributes: Sequence[str], key: Any, rate: str, unit: str
) -> Cells:
    """Count comparisons and errors by the values of attributes; key: the lowest that is
    accepted.
    """
    comparisons._require_rates(f'⟦rate="{rate}"⟧', [rate])
    by_group = _grouped(comparisons, attributes, rate)
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
    first, second = np.zeros((2, g.size, len(attributes)), np.int64)
    for a in range(len(attributes)):
        for columns, side in ((first, g), (second, h)):
            columns[:, a] = np.searchsorted(used[a], values[side, a])
    refuse_sessions(comparisons.sessions, "a model of errors")
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
        (first, second),
    )


def _grouped(comparisons: Comparisons, attributes: Sequence[str], rate: str) -> GroupedSide:
    """Return the comparisons that errors are of by the values of attributes; without any there is
    one group.
    """
    if not attributes:
        side = comparisons.nonmated if rate == "fmr" else comparisons.mated
        same = np.zeros(side.keys.size, np.uint16)
        n_subjects = 0 if comparisons.subjects is None else comparisons.subjects.size
        return GroupedSide(side, same, same, 1, n_subjects)
    is_grouped = comparisons.grouping == tuple(attributes)
    grouped = comparisons if is_grouped else comparisons.by(*attributes)
    return grouped.nonmated_by_group if rate == "fmr" else grouped.mated_by_group


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
        return Cells(rate, labels, *values, n, errors, None, by_group, cell)
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
    subjects = CountedSubjects(n_of, errors_of, products, squares)
    return Cells(rate, labels, *values, n, errors, subjects, by_group, cell)


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
    columns, at : tuple of int and (columns,) ndarray
        The columns of the design that have other values if all comparisons have the baseline, and
        these.
    concerned : (cells,) ndarray of bool
        The cells that have the value on either side.
    covariate : str or None
        The number that it is of, such as "difference"; None for values.
    """

    attribute: str
    value: str
    baseline: str
    position: int
    contrast: Floats
    columns: tuple[int, ...]
    at: Floats
    concerned: Flags
    covariate: str | None = None

    def with_baseline(self, design: Floats) -> Floats:
        """Return rows of the design as they are if all comparisons have the baseline; plus the
        contrast, if all have the value.
        """
        rows = design.copy()
        rows[:, self.columns] = self.at
        return rows

    def in_wider(self, width: int, of_cell: Indices) -> Term:
        """Return it for a design with more columns, and for cells inside those that it is for."""
        contrast = np.append(self.contrast, np.zeros(width - self.contrast.size))
        return replace(self, contrast=contrast, concerned=self.concerned[of_cell])


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
        contrast[column] = 2.0 if at is not None and cells.rate == "fmr" else 1.0
        changed = tuple([column] if at is None else of_attribute[a])
        concerned = first != second if at is None else (first == at) | (second == at)
        against = SAME if at is None else chosen[attributes[a]]
        named = attributes[a], value, against
        terms.append(Term(*named, a, contrast, changed, np.zeros(len(changed)), concerned))
    return design, terms, chosen


_STEPS = 200  # of Newton's method, at most
_QUICK = 25  # of them, in which nearly every likelihood with a maximum has reached it
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
    scores : (subjects, r) ndarray, or None
        Each subject's corrected score; None where every comparison stands for itself.
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
        assert self.cells.subjects is not None
        assert self.cells.n_subjects is not None
        direction = contrast @ self._to_directions
        along = self.rows @ direction
        weights = (self.chances * (1 - self.chances))[self.kept]
        expected = self.cells.subjects.add_up(along**2 * weights, self.kept)
        if not expected.any():
            return math.nan
        alike = float(expected.sum() ** 2 / (expected**2).sum())
        most = max(1.0, min(alike - 1, alike * (1 - self.location.size / self.cells.n_subjects)))
        if self.cells.rate == "fnmr":
            return most
        squares = self.cells.subjects.squares_along(along, self.chances, self.kept)
        expected_squares = squares / 2
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
    offset = np.zeros(cells.n.size) if offset is None else offset
    kept = np.ones(cells.n.size, np.bool_)
    has_both = 0 < cells.errors.sum() < cells.n.sum()
    highest = _quickly(cells, design, offset) if has_both else None
    if highest is None:  # programs say which cells have none
        kept = ~find_separated(cells.n, cells.errors, design)
        highest = _highest(cells, design, offset, kept, _STEPS) if kept.any() else None
    if highest is None:  # nothing but errors, or none: no coefficient is known
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
        )
    rows, basis, location, information = highest
    # In whitened coordinates the information is 1, so that variances of directions are comparable.
    factor = np.linalg.cholesky(information)
    rows = np.linalg.solve(factor, rows.T).T
    chances = np.where(cells.errors > 0, 1.0, 0.0)
    chances[kept] = _expit(rows @ (factor.T @ location) + offset[kept])
    covariance, scores = _robust(cells, kept, rows, chances)
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
    covariance, scores = _robust(cells, null.kept, rows, null.chances)
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
    )


def _expit(log_odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


# Rows of cells in coordinates that the data determine, these coordinates, the coefficients of the
# highest likelihood, and the information there
_Highest = tuple[Floats, Floats, Floats, Floats]


def _quickly(cells: Cells, design: Floats, offset: Floats) -> _Highest | None:
    """Find the highest likelihood where all cells have finite log odds; None where that is not
    seen.
    """
    n, errors = cells.n.astype(np.float64), cells.errors.astype(np.float64)
    everything = np.ones(n.size, np.bool_)
    try:
        with np.errstate(all="ignore"):  # log odds may run away
            rows, basis, at, information = _highest(cells, design, offset, everything, _QUICK)
            step = _step(rows, n, errors, _expit(rows @ at + offset), information)
            whitened = np.linalg.solve(np.linalg.cholesky(information), rows.T)
    except (np.linalg.LinAlgError, FastfairError):
        return None
    # Where this holds there is a maximum (Bach, "Self-concordant analysis for logistic regression",
    # 2010, proposition 2); along a direction without one, a step moves some log odds by about 1.
    farthest = math.sqrt(float((whitened**2).sum(axis=0).max()))
    is_known = farthest * math.sqrt(max(0.0, float(step @ information @ step))) <= 0.5
    return (rows, basis, at, information) if is_known else None


def _highest(cells: Cells, design: Floats, offset: Floats, kept: Flags, steps: int) -> _Highest:
    """Find the highest likelihood of the cells kept by so many steps of Newton's method."""
    n = cells.n[kept].astype(np.float64)
    errors = cells.errors[kept].astype(np.float64)
    _, singular, basis = np.linalg.svd(design[kept] * np.sqrt(n)[:, None], full_matrices=False)
    basis = basis[singular > _TINY * singular[0]]
    rows = design[kept] @ basis.T
    return rows, basis, *_maximum(rows, n, errors, offset[kept], steps)


def _step(rows: Floats, n: Floats, errors: Floats, chances: Floats, information: Floats) -> Floats:
    """Return the step of Newton's method."""
    return np.asarray(np.linalg.solve(information, rows.T @ (errors - n * chances)))


def _maximum(
    rows: Floats, n: Floats, errors: Floats, offset: Floats, steps: int
) -> tuple[Floats, Floats]:
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
    for _ in range(steps):
        chances = _expit(rows @ at + offset)
        information = (rows.T * (n * chances * (1 - chances))) @ rows
        step = _step(rows, n, errors, chances, information)
        while likelihood(at + step) < height - 1e-12 * abs(height):
            step = step / 2
        at = at + step
        height = likelihood(at)
        if float(step @ information @ step) < 1e-20:  # squared, in standard errors
            chances = _expit(rows @ at + offset)
            return at, (rows.T * (n * chances * (1 - chances))) @ rows
    raise FastfairError("the logit of errors does not converge")


def _robust(
    cells: Cells, kept: Flags, rows: Floats, chances: Floats
) -> tuple[Floats, Floats | None]:
    """Return the robust variance, and each subject's corrected score."""
    if not rows.shape[1]:  # the data determine no coefficient
        return np.zeros((0, 0)), None
    p = chances[kept]
    if cells.subjects is None:
        errors, n = cells.errors[kept], cells.n[kept]
        squared = errors * (1 - p) ** 2 + (n - errors) * p**2
        return (rows.T * squared) @ rows * n.sum() / (n.sum() - rows.shape[1]), None
    scores = _corrected(cells.subjects, kept, rows, chances)
    if cells.rate == "fnmr":
        return scores.T @ scores, scores
    of_pairs = cells.subjects.products_of_pairs(rows, chances, kept)
    # Pairs alone are the least: what subjects add to them counts where it is positive.
    values, vectors = np.linalg.eigh(of_pairs)
    root = vectors * np.sqrt(np.maximum(values, _TINY * values[-1]))  # of_pairs = root root'
    unit = np.linalg.solve(root, np.linalg.solve(root, scores.T @ scores - 2 * of_pairs).T)
    more, axes = np.linalg.eigh((unit + unit.T) / 2)
    turned = root @ axes
    return (turned * (1 + np.maximum(more, 0))) @ turned.T, scores


def _corrected(subjects: Subjects, kept: Flags, rows: Floats, chances: Floats) -> Floats:
    """Return each subject's score times (1 - H_k)^-1/2, H_k being the subject's part of the
    information, which is 1.
    """
    scores = subjects.scores(rows, chances, kept)
    weights = (chances * (1 - chances))[kept]
    size = rows.shape[1]
    outer = (rows[:, :, None] * rows[:, None, :] * weights[:, None, None]).reshape(
        len(rows), size * size
    )
    corrected = np.empty_like(scores)
    for start in range(0, len(scores), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        information = subjects.add_up(outer, kept, some).reshape(-1, size, size)
        values, vectors = np.linalg.eigh(information)
        left = np.maximum(1 - values, _LEAST_LEFT)
        turned = np.einsum("kij,ki->kj", vectors, scores[some]) / np.sqrt(left)
        corrected[some] = np.einsum("kij,kj->ki", vectors, turned)
    return corrected


FARTHEST = 20.0  # logarithm of an odds ratio that a limit is looked for at
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
    cells: Cells, design: Floats, contrast: Floats, level: float, farthest: float = FARTHEST
) -> tuple[float, float, float]:
    """Test an effect whose odds ratio is 0 or infinite in the data, and limit it to the side that
    is known.

    The contrast is a multiple of one coefficient; farthest: the logarithm of an odds ratio that a
    limit is looked for at. Returned are the p-value of a score test, and an
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

    held, left = (-farthest, farthest) if below else (farthest, -farthest)
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
    left = _left(freedom, size)
    if left <= 0:
        return math.nan, size, freedom, math.nan
    statistic = square / size if math.isinf(freedom) else square * left / (freedom * size)
    return statistic, size, freedom, float(fdtrc(size, left, statistic))


def _left(freedom: float, size: int) -> float:
    """Return the second degrees of freedom of Hotelling's statistic as an F."""
    return 1e9 if math.isinf(freedom) else freedom - size + 1


def joint_band(
    fit: Fit, contrasts: Floats, columns: Sequence[int], level: float
) -> tuple[Floats, Floats, Floats]:
    """Estimate (n,) combinations of some coefficients, with a band that holds all such
    combinations together, as Scheffe's does.

    It leaves out 0 somewhere only where `joint_test` of the columns finds them to have an effect.
    NaN where data do not determine them, and where there are too few degrees of freedom.
    """
    values = fit.values(contrasts)
    unit = np.eye(contrasts.shape[1])[list(columns)]
    missing = np.full(len(contrasts), math.nan)
    if np.isnan(fit.values(unit)).any():
        return missing, missing, missing
    freedom = float(np.median([fit.freedom(contrast) for contrast in unit]))
    size, left = len(unit), _left(freedom, len(unit))
    if left <= 0:
        return values, missing, missing
    directions = contrasts[:, list(columns)]
    spread = (directions @ fit.covariance_of(unit) * directions).sum(axis=1) * (1 + 1 / freedom)
    widest = float(fdtri(size, left, level)) * size
    widest *= 1.0 if math.isinf(freedom) else freedom / left
    reach = np.sqrt(np.maximum(spread, 0.0) * widest)
    return values, values - reach, values + reach

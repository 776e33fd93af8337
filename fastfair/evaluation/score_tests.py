"""Score tests of the difference between two systems' error rates, from decisions on the same comparisons.

With d_kl the first system's errors in the comparisons of subjects k and l minus the second's, T_k = sum_l d_kl, the
difference of two FMRs at given thresholds has the dyadic-robust variance (sum_k T_k^2 - sum_{k<l} d_kl^2) / n^2, where
no difference is the hypothesis, and not below the sum of the squared parts. That of two FNMRs, of K subjects, is
K / (K - 1) sum_k d_k^2 / n^2. A threshold that holds a rate is an estimate: each comparison then adds to d what it adds
to the rate held, times minus the slope of the rate tested over the rate held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.data.comparisons import Comparisons
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.data.sorted_scores import GroupedSide, SortedSide
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.error_rates.threshold_slopes import KINDS, Cell, HeldThreshold, cells_of
from fastfair.uncertainty.quantities import Quantity

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
RATES_TESTED = ("fmr", "fnmr", "fmr_matrix")
UNITS_TESTED = ("subject", "comparison")
_NO_VARIANCE = 1e-24  # below which nothing but rounding is left


class Decisions:
    """The decisions of one system, for score tests against any other.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons as the system scored them.
    points : sequence of OperatingPoint
        The operating points.
    unit : str
        What is independent: "subject" or "comparison"; with others nothing is tested.
    like : Decisions, optional
        Those of a system that scored the same comparisons, numbered alike by `matching.match`, whose counts of
        comparisons are used.
    """

    def __init__(
        self, comparisons: Comparisons, points: Sequence[OperatingPoint], unit: str, like: Decisions | None = None
    ) -> None:
        self.unit, self.groups = unit, comparisons.groups
        self.trials: _Trials = _Trials(comparisons, unit) if like is None else like.trials
        self._comparisons = comparisons
        self._points = [point for point in points if point.kind in KINDS and unit in UNITS_TESTED]

    @cached_property
    def at(self) -> dict[OperatingPoint, _System]:
        """The decisions at each operating point that fixes a threshold in a way that is known here."""
        return {point: _System(self._comparisons, point, self.trials) for point in self._points}


def score_pvalues(first: Decisions, second: Decisions, quantities: Sequence[tuple[Quantity, Quantity]]) -> Floats:
    """Compute the p-values of the hypotheses that two systems have the same error rate.

    Parameters
    ----------
    first, second : Decisions
        The decisions of each system on the same comparisons.
    quantities : sequence of pairs of Quantity
        The same quantity of either system.

    Returns
    -------
    (quantities,) ndarray
        Two-sided p-values; NaN for all but rates, for other units and for operating points that fix no threshold in a
        way that is known here.

    References
    ----------
    Aronow, Samii and Assenova, "Cluster-robust variance estimation for dyadic data", Political Analysis 23 (2015).
    """
    found = np.full(len(quantities), np.nan)
    tests = {point: _ScoreTests((decided, second.at[point])) for point, decided in first.at.items()}
    position = {group: k for k, group in enumerate(first.groups)}
    for k, (one, other) in enumerate(quantities):
        if one.name in RATES_TESTED and one.at in tests and one.n_comparisons:
            cell = None if one.group is None else (position[one.group], position[one.probe_group or one.group])
            strata = max(1, len(position)) if cell is None else len(set(cell))
            size = one.n_comparisons if first.unit == "comparison" else one.n_subjects or 0
            difference = one.estimate - other.estimate
            found[k] = tests[one.at].pvalue(
                one.name == "fnmr", cell, difference, one.n_comparisons, size, size - strata
            )
    return found


class _Trials:
    """The non-mated comparisons, whichever system scores them: how often each pair of units occurs."""

    def __init__(self, comparisons: Comparisons, unit: str) -> None:
        self.comparisons = comparisons
        self.n_units = len(comparisons.subjects) if unit == "subject" and comparisons.subjects is not None else 0
        self.unit = unit
        kept = comparisons.pairs if isinstance(comparisons, KeptComparisons) else ()
        of_vectors = [pairs for pairs in kept if isinstance(pairs, PairsOfVectors)]
        self._of_vectors = (of_vectors[0], of_vectors[1]) if of_vectors else None

    @cached_property
    def occurrences(self) -> tuple[Floats, Floats]:
        """Return the (units,) numbers of mated, and of non-mated, comparisons of each."""
        if self._of_vectors is not None:
            of_mated, of_nonmated = (pairs.of_subjects().astype(np.float64) for pairs in self._of_vectors)
            return of_mated, of_nonmated
        mated, nonmated = (self._occurrences(side) for side in (self.comparisons.mated, self.comparisons.nonmated))
        return mated, nonmated

    def _occurrences(self, side: SortedSide) -> Floats:
        """Count the comparisons of each unit; one of a unit with itself counts once."""
        assert side.reference is not None
        assert side.probe is not None
        found = np.bincount(side.reference, minlength=self.n_units)
        found += np.bincount(side.probe[side.reference != side.probe], minlength=self.n_units)
        return found.astype(np.float64)

    def repeats(self, codes: Integers) -> Floats:
        """Return how often pairs of units occur, by their codes."""
        if self._of_vectors is not None:
            return self._of_vectors[1].of_two(codes // self.n_units, codes % self.n_units).astype(np.float64)
        known, repeats = self._listed
        return np.asarray(repeats[np.searchsorted(known, codes)])

    @cached_property
    def repeats_squared(self) -> float:
        """Sum the squares of how often each pair of units occurs."""
        if self._of_vectors is not None:
            return float(self._of_vectors[1].squares().sum() // 2)
        _, repeats = self._listed
        return float(repeats @ repeats)

    @cached_property
    def _listed(self) -> tuple[Integers, Floats]:
        """The pairs of units of non-mated comparisons, sorted, and how often each occurs."""
        side = self.comparisons.nonmated
        codes, counts = np.unique(_codes(side, slice(None), self.unit, self.n_units), return_counts=True)
        return codes, counts.astype(np.float64)


def _codes(side: SortedSide, rows: Any, unit: str, n_units: int) -> Integers:
    """Return one number for each pair of units that was compared; those of two systems agree."""
    if unit == "comparison":
        assert side.rows is not None
        return side.rows[rows].astype(np.int64)
    assert side.reference is not None
    assert side.probe is not None
    reference, probe = side.reference[rows].astype(np.int64), side.probe[rows].astype(np.int64)
    return np.asarray(np.minimum(reference, probe) * n_units + np.maximum(reference, probe))


def _sum_units(codes: Integers, values: Floats, n_units: int) -> Floats:
    """Sum the values of pairs over each unit; a pair of a unit with itself counts once."""
    low, high = codes // n_units, codes % n_units
    apart = low != high
    found = np.bincount(low, weights=values, minlength=n_units)
    return np.asarray(found + np.bincount(high[apart], weights=values[apart], minlength=n_units), np.float64)


@dataclass(frozen=True)
class _Errors:
    """The errors of one system among the mated, or the non-mated, comparisons.

    Attributes
    ----------
    codes : (errors,) ndarray of int64
        The pair of units of each.
    cells : (errors,) ndarray of int64, or None
        The cell of the group-by-group matrix; None without groups.
    """

    codes: Integers
    cells: Integers | None

    def inside(self, cell: int | None) -> Integers:
        """Return the pairs of units of the errors in a cell, or of all."""
        return self.codes if cell is None or self.cells is None else self.codes[self.cells == cell]


class _System(HeldThreshold):
    """One system's decisions at its threshold, and near it."""

    def __init__(self, comparisons: Comparisons, point: OperatingPoint, trials: _Trials) -> None:
        super().__init__(comparisons, point)
        self.trials = trials
        self._aim = 0.0 if point.kind == "eer" else point.value

    @cached_property
    def errors(self) -> tuple[_Errors, _Errors]:
        """The false non-matches and the false matches."""
        rows, comparisons = self.error_rows(), self.comparisons
        grouped: tuple[GroupedSide | None, GroupedSide | None] = (None, None)
        if comparisons.groups:
            grouped = comparisons.mated_by_group, comparisons.nonmated_by_group
        return tuple(  # type: ignore[return-value]
            _Errors(
                _codes(side, row, self.trials.unit, self.trials.n_units),
                cells_of(by_group, row, len(comparisons.groups)),
            )
            for side, row, by_group in zip((comparisons.mated, comparisons.nonmated), rows, grouped, strict=True)
        )

    @cached_property
    def missed(self) -> float:
        """By how much the rate held misses what the operating point asks for."""
        return self.held(self.key) - self._aim

    @cached_property
    def slope(self) -> Callable[[bool, Cell], tuple[float, float]]:
        """The slope of each rate over what is held, as `slopes` returns it."""
        spread = np.sqrt(_variance(self.trials, *_sum_held([(self, 1.0)])))
        return cache(self.slopes(float(spread)))


class _ScoreTests:
    """Tests of all rates at one operating point."""

    def __init__(self, systems: tuple[_System, _System]) -> None:
        self._trials, self._systems, self._kind = systems[0].trials, systems, systems[0].kind

    def pvalue(self, mated: bool, cell: Cell, difference: float, n: int, size: int, freedom: float) -> float:
        """Return the two-sided p-value of one rate, of n comparisons and so many units."""
        from scipy.special import stdtr

        groups = len(self._trials.comparisons.groups)
        code = None if cell is None else cell[0] * groups + cell[1]
        parts = [
            (system.errors[0 if mated else 1].inside(code), sign / n)
            for system, sign in zip(self._systems, (1.0, -1.0), strict=True)
        ]
        held: list[tuple[_System, float]] = []
        errors_held = np.inf
        if self._kind != "threshold":
            slopes = _shrunk(*(system.slope(mated, cell) for system in self._systems))
            held = [
                (system, -sign * slope) for system, slope, sign in zip(self._systems, slopes, (1.0, -1.0), strict=True)
            ]
            errors_held = min(system.errors_held() for system in self._systems)
            # Among ties no threshold may hold the rate aimed at: where rates moved to it differ less, they count.
            at_aim = difference + sum(weight * system.missed for system, weight in held)
            difference = min(abs(difference), abs(at_aim))
        values, constants = _sum_held(held)
        of_held = _variance(self._trials, values, constants) if held else 0.0
        values[0 if mated else 1] += parts
        few = size / (size - 1) if mated and size > 1 else 1.0
        variance = few * _variance(self._trials, values, constants)
        if freedom < 1 or errors_held == 0:
            return float("nan")
        if variance < _NO_VARIANCE:  # no decision differs
            return 1.0
        # The variance of what x errors hold is known with a relative variance of 1 / x only, as with 2 x degrees of
        # freedom; it counts as far as it makes up the variance of the difference (Satterthwaite).
        share = min(of_held / variance, 1.0)
        if share > 0:
            freedom = min(freedom, 1 / (share**2 / (2 * errors_held) + (1 - share) ** 2 / freedom))
        return float(2 * stdtr(freedom, -abs(difference) / np.sqrt(variance)))


def _sum_held(
    weighted: Sequence[tuple[_System, float]],
) -> tuple[list[list[tuple[Integers, float]]], tuple[float, float]]:
    """List what errors add to the rates held, times weights, and what each mated and non-mated comparison adds."""
    values: list[list[tuple[Integers, float]]] = [[], []]
    constants = [0.0, 0.0]
    for system, weight in weighted:
        for side, (sign, rate) in enumerate(zip(system.signs, system.rates_at(), strict=True)):
            each = sign * weight / system.sizes[side]
            if each:
                values[side].append((system.errors[side].codes, each))
                constants[side] -= each * rate
    return values, (constants[0], constants[1])


def _variance(trials: _Trials, values: Sequence[list[tuple[Integers, float]]], constants: tuple[float, float]) -> float:
    """Compute the variance of a sum over comparisons, given what errors add and what every comparison adds."""
    n = trials.n_units
    sums = [_sum_codes(parts) for parts in values]
    squares = [_dot(of_pair, of_pair) for _, of_pair in sums]
    if constants[1]:
        codes, of_pair = sums[1]
        times = trials.repeats(codes)
        squares[1] += constants[1] * (2 * _dot(of_pair, times) + constants[1] * trials.repeats_squared)
    if n == 0:  # every comparison on its own
        if constants[0]:
            of_pair = sums[0][1]
            squares[0] += constants[0] * (2 * of_pair.sum() + constants[0] * len(trials.comparisons.mated))
        return sum(squares)
    of_mated, of_nonmated = (_sum_units(codes, of_pair, n) for codes, of_pair in sums)
    if any(constants):
        of_mated = of_mated + constants[0] * trials.occurrences[0]
        of_nonmated = of_nonmated + constants[1] * trials.occurrences[1]
    of_unit = of_mated + of_nonmated
    return max(float(of_unit @ of_unit) - squares[1], squares[1] + float(of_mated @ of_mated))


def _dot(one: Floats, other: Floats) -> float:
    """Sum products in this thread: libraries of matrix products wake others, which takes longer than to sum."""
    return float(np.einsum("i,i->", one, other))


def _shrunk(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Move two systems' slopes towards their mean by what counting errors makes them differ, as James and Stein do.

    Errors that both systems make cancel in a difference, but for what slopes that differ by chance leave of them.
    """
    one, other = first[0], second[0]
    mean, half = (one + other) / 2, (one - other) / 2
    chance = one**2 * first[1] + other**2 * second[1]
    kept = max(0.0, 1 - chance / (4 * half**2)) if half else 0.0
    return mean + kept * half, mean - kept * half


def _sum_codes(parts: Sequence[tuple[Integers, float]]) -> tuple[Integers, Floats]:
    """Sum values over each pair of units."""
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0)
    codes, where = np.unique(np.concatenate([codes for codes, _ in parts]), return_inverse=True)
    values = np.concatenate([np.full(codes.size, value) for codes, value in parts])
    return codes, np.bincount(where, weights=values, minlength=codes.size).astype(np.float64)

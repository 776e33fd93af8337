"""Score tests of the difference between two systems' error rates, from decisions on the same comparisons.

With d_kl the first system's errors in the comparisons of subjects k and l minus the second's, T_k = sum_l d_kl, the
difference of two FMRs at given thresholds has the dyadic-robust variance (sum_k T_k^2 - sum_{k<l} d_kl^2) / n^2, where
no difference is the hypothesis, and not below the sum of the squared parts. That of two FNMRs, of K subjects, is
K / (K - 1) sum_k d_k^2 / n^2. A threshold that holds a rate is an estimate: each comparison then adds to d what it adds
to the rate held, times minus the slope of the rate tested over the rate held.

Of many systems every two are tested at once: a variance is a quadratic form of what the errors and the thresholds of
both add, so it takes the products of these vectors of every two systems, and these are matrices of systems by systems.
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
from fastfair.error_rates.operating_points import Cell, HeldThreshold, OperatingPoint, cells_of
from fastfair.uncertainty.quantities import RATES, Quantity

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
UNITS_TESTED = ("subject", "comparison")


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
        self.trials: Trials = Trials(comparisons, unit) if like is None else like.trials
        self._comparisons = comparisons
        self._points = [point for point in points if point.rule.signs is not None and unit in UNITS_TESTED]

    @cached_property
    def at(self) -> dict[OperatingPoint, DecidedSystem]:
        """The decisions at each operating point that fixes a threshold in a way that is known here."""
        return {point: DecidedSystem(self._comparisons, point, self.trials) for point in self._points}


class Trials:
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


@dataclass(frozen=True)
class Errors:
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


class DecidedSystem(HeldThreshold):
    """One system's decisions at its threshold, and near it."""

    def __init__(self, comparisons: Comparisons, point: OperatingPoint, trials: Trials) -> None:
        super().__init__(comparisons, point)
        self.trials = trials
        self._aim = point.value if point.rule.takes_value else 0.0

    @cached_property
    def errors(self) -> tuple[Errors, Errors]:
        """The false non-matches and the false matches."""
        rows, comparisons = self.error_rows(), self.comparisons
        grouped: tuple[GroupedSide | None, GroupedSide | None] = (None, None)
        if comparisons.groups:
            grouped = comparisons.mated_by_group, comparisons.nonmated_by_group
        return tuple(  # type: ignore[return-value]
            Errors(
                _codes(side, row, self.trials.unit, self.trials.n_units),
                cells_of(by_group, row, len(comparisons.groups)),
            )
            for side, row, by_group in zip((comparisons.mated, comparisons.nonmated), rows, grouped, strict=True)
        )

    @cached_property
    def missed(self) -> float:
        """By how much the rate held misses what the operating point asks for."""
        return self.held(self.key) - self._aim

    def slope_with(self, spread: float) -> Callable[[bool, Cell], tuple[float, float]]:
        """Return the slope of each rate over what is held, as `slopes` does, computed once for each."""
        return cache(self.slopes(spread))


_ROUNDING = 1e-12  # of a variance, relative to its parts: below it nothing is left


def score_pvalues(
    systems: Sequence[Decisions], quantities: Sequence[Sequence[Quantity]], pairs: Sequence[tuple[int, int]]
) -> Floats:
    """Compute the p-values of the hypotheses that two systems have the same error rate, for pairs of systems.

    Parameters
    ----------
    systems : sequence of Decisions
        The decisions of each system on the same comparisons.
    quantities : sequence of sequences of Quantity
        The quantities of each system, in the same order.
    pairs : sequence of pairs of int
        The pairs, by positions of their systems.

    Returns
    -------
    (pairs, quantities) ndarray
        Two-sided p-values; NaN for all but rates, for other units and for operating points that fix no threshold in a
        way that is known here.

    References
    ----------
    Aronow, Samii and Assenova, "Cluster-robust variance estimation for dyadic data", Political Analysis 23 (2015).
    """
    first, of_first = systems[0], quantities[0]
    found = np.full((len(pairs), len(of_first)), np.nan)
    place = np.array(pairs, np.intp).reshape(-1, 2).T
    tests = {point: _ScoreTests([system.at[point] for system in systems], place) for point in first.at}
    position = {group: k for k, group in enumerate(first.groups)}
    for k, one in enumerate(of_first):
        if one.name in RATES and one.at in tests and one.n_comparisons:
            cell = None if one.group is None else (position[one.group], position[one.probe_group or one.group])
            strata = max(1, len(position)) if cell is None else len(set(cell))
            size = one.n_comparisons if first.unit == "comparison" else one.n_subjects or 0
            rates = np.array([each[k].estimate for each in quantities])
            found[:, k] = tests[one.at].pvalues(one.name == "fnmr", cell, rates, one.n_comparisons, size, size - strata)
    return found


class _Side:
    """The mated, or the non-mated, comparisons that any of the systems decides wrongly at an operating point.

    Attributes
    ----------
    place : list of ndarray
        For each system, where the pair of units of each error is among those of all systems.
    cells : list of ndarray or None
        The cell of each error.
    times : (pairs,) ndarray
        How often each pair of units occurs.
    """

    def __init__(self, systems: Sequence[DecidedSystem], side: int) -> None:
        trials = systems[0].trials
        errors = [system.errors[side] for system in systems]
        codes, where = np.unique(np.concatenate([one.codes for one in errors]), return_inverse=True)
        ends = np.cumsum([one.codes.size for one in errors])[:-1]
        self.place, self.cells = np.split(where.ravel(), ends), [one.cells for one in errors]
        self.n_codes, self._codes, self._n_units = codes.size, codes, trials.n_units
        self.times = trials.repeats(codes) if side else np.ones(codes.size)

    @cached_property
    def units(self) -> Any:
        """The (pairs, units) sparse matrix of who is behind each pair; one of a unit with itself counts once."""
        from scipy.sparse import csr_matrix

        low, high = self._codes // self._n_units, self._codes % self._n_units
        apart = np.flatnonzero(low != high)
        rows = np.concatenate((np.arange(low.size), apart))
        columns = np.concatenate((low, high[apart]))
        return csr_matrix((np.ones(rows.size), (rows, columns)), shape=(self.n_codes, self._n_units))

    def added(self, cell: int | None, each: Floats) -> Any:
        """Return the (systems, pairs) sparse matrix of what the errors of each system add, in a cell or in all."""
        from scipy.sparse import csr_matrix

        chosen = [
            place if cell is None or cells is None else place[cells == cell]
            for place, cells in zip(self.place, self.cells, strict=True)
        ]
        sizes = [one.size for one in chosen]
        rows, columns = np.repeat(np.arange(len(chosen)), sizes), np.concatenate(chosen)
        return csr_matrix((np.repeat(each, sizes), (rows, columns)), shape=(len(chosen), self.n_codes))


@dataclass(frozen=True, eq=False)
class _Added:
    """What each system adds to a sum over comparisons.

    Attributes
    ----------
    of_pairs : two sparse (systems, pairs) matrices, or None
        What mated, and non-mated, errors add.
    constants : two (systems,) ndarrays
        What every mated, and every non-mated, comparison adds besides.
    times : two (systems,) ndarrays
        What errors add, times how often their pairs of units occur.
    of_units : two (systems, units) ndarrays, or None
        The sums over the mated, and the non-mated, comparisons of each unit; None where nothing is added.
    """

    of_pairs: tuple[Any, Any]
    constants: tuple[Floats, Floats]
    times: tuple[Floats, Floats]
    of_units: tuple[Floats | None, Floats | None]


class _Forms:
    """Variances of differences of what systems add, by both of the forms of which the larger counts.

    Attributes
    ----------
    forms : (2, systems, systems) ndarray
        Covariances of what the first, and the second, of two systems add.
    """

    def __init__(self, trials: Trials, one: _Added, other: _Added) -> None:
        n_mated = len(trials.comparisons.mated)
        if trials.n_units == 0:  # every comparison on its own
            both = _of_pairs(one, other, 0, n_mated) + _of_pairs(one, other, 1, trials.repeats_squared)
            self.forms = np.array([both, both])
            return
        of_pairs = _of_pairs(one, other, 1, trials.repeats_squared)
        of_mated = _product(one.of_units[0], other.of_units[0], of_pairs.shape)
        together = [_together(each.of_units) for each in (one, other)]
        of_all = _product(together[0], together[1], of_pairs.shape)
        self.forms = np.array([of_all - of_pairs, of_pairs + of_mated])

    def at(self, first: Integers, second: Integers) -> Floats:
        """Return the (2, n) covariances of some systems with others."""
        return np.asarray(self.forms[:, first, second])


def _of_pairs(one: _Added, other: _Added, side: int, squared: float) -> Floats:
    """Sum over the pairs of units of one side what two systems add; `squared`: how often they occur, squared."""
    c, d = one.constants[side], other.constants[side]
    found = np.multiply.outer(c, other.times[side]) + np.multiply.outer(one.times[side], d)
    found += squared * np.multiply.outer(c, d)
    if one.of_pairs[side] is not None and other.of_pairs[side] is not None:
        found += (one.of_pairs[side] @ other.of_pairs[side].T).toarray()
    return np.asarray(found)


def _together(of_units: tuple[Floats | None, Floats | None]) -> Floats | None:
    known = [one for one in of_units if one is not None]
    return sum(known[1:], known[0]) if known else None


def _product(one: Floats | None, other: Floats | None, shape: tuple[int, ...]) -> Floats:
    """Sum products in this thread: libraries of matrix products wake others, which takes longer for few systems."""
    if one is None or other is None:
        return np.zeros(shape)
    return np.einsum("iu,ju->ij", one, other)


class _ScoreTests:
    """Tests of all rates of pairs of systems at one operating point."""

    def __init__(self, systems: Sequence[DecidedSystem], place: Integers) -> None:
        self._systems, self._place = systems, place
        self._trials, self._is_given = systems[0].trials, systems[0].at.is_given
        self._sides = [_Side(systems, side) for side in (0, 1)]

    @cached_property
    def _held(self) -> _Added:
        """What each system's comparisons add to what the operating point holds."""
        each, constants = np.zeros((2, len(self._systems))), np.zeros((2, len(self._systems)))
        for k, system in enumerate(self._systems):
            for side, (sign, rate) in enumerate(zip(system.signs, system.rates_at(), strict=True)):
                each[side, k] = sign / system.sizes[side]
                constants[side, k] = -each[side, k] * rate
        return self._added([(None, one) if one.any() else None for one in each], constants)

    def _added(self, what: Sequence[tuple[int | None, Floats] | None], constants: Floats) -> _Added:
        """Put together what mated and non-mated errors of a cell add, and what every comparison does."""
        trials, times = self._trials, []
        of_pairs: list[Any] = []
        of_units: list[Floats | None] = []
        for side, asked in enumerate(what):
            if asked is None:
                of_pairs.append(None)
                times.append(np.zeros(len(self._systems)))
                of_units.append(None)
                continue
            added = self._sides[side].added(*asked)
            of_pairs.append(added)
            times.append(np.asarray(added @ self._sides[side].times))
            if trials.n_units:
                sums = (added @ self._sides[side].units).toarray()
                if constants[side].any():
                    sums += np.multiply.outer(constants[side], trials.occurrences[side])
                of_units.append(sums)
            else:
                of_units.append(None)
        return _Added(tuple(of_pairs), tuple(constants), tuple(times), tuple(of_units))  # type: ignore[arg-type]

    @cached_property
    def _held_forms(self) -> _Forms:
        return _Forms(self._trials, self._held, self._held)

    @cached_property
    def _slopes(self) -> list[Any]:
        """The slopes of the rates of each system over what is held."""
        spreads = np.sqrt(np.diagonal(self._held_forms.forms, axis1=1, axis2=2).max(axis=0).clip(0))
        return [system.slope_with(float(spread)) for system, spread in zip(self._systems, spreads, strict=True)]

    def pvalues(self, mated: bool, cell: Cell, rates: Floats, n: int, size: int, freedom: float) -> Floats:
        """Return the two-sided p-values of one rate, of n comparisons and so many units, for all pairs."""
        from scipy.special import stdtr

        i, j = self._place
        groups = len(self._trials.comparisons.groups)
        code = None if cell is None else cell[0] * groups + cell[1]
        each = np.full(len(self._systems), 1 / n)
        what = [(code, each) if side == (0 if mated else 1) else None for side in (0, 1)]
        errors = self._added(what, np.zeros((2, each.size)))
        own = _Forms(self._trials, errors, errors)
        parts = own.at(i, i) + own.at(j, j)
        forms = parts - 2 * own.at(i, j)
        difference, of_held, errors_held = rates[i] - rates[j], np.zeros(i.size), np.full(i.size, np.inf)
        if not self._is_given:
            slopes = np.array([slope(mated, cell) for slope in self._slopes])
            s, t = _shrunk(slopes[i], slopes[j])
            held = self._held_forms
            squares = s**2 * held.at(i, i) + t**2 * held.at(j, j)
            among_held = squares - 2 * s * t * held.at(i, j)
            of_held = among_held.max(axis=0).clip(0)
            crossed = _Forms(self._trials, errors, self._held)
            forms = forms + among_held - 2 * s * (crossed.at(i, i) - crossed.at(j, i))
            forms += 2 * t * (crossed.at(i, j) - crossed.at(j, j))
            parts = parts + squares
            behind = np.array([system.errors_held() for system in self._systems], np.float64)
            errors_held = np.minimum(behind[i], behind[j])
            # Among ties no threshold may hold the rate aimed at: where rates moved to it differ less, they count.
            missed = np.array([system.missed for system in self._systems])
            at_aim = difference - s * missed[i] + t * missed[j]
            difference = np.minimum(np.abs(difference), np.abs(at_aim))
        few = size / (size - 1) if mated and size > 1 else 1.0
        forms[forms < _ROUNDING * np.abs(parts)] = 0.0
        variance = few * forms.max(axis=0)
        if freedom < 1:
            return np.full(i.size, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            # The variance of what x errors hold is known with a relative variance of 1 / x only, as with 2 x degrees
            # of freedom; it counts as far as it makes up the variance of the difference (Satterthwaite).
            share = np.minimum(of_held / variance, 1.0)
            both = 1 / (share**2 / (2 * errors_held) + (1 - share) ** 2 / freedom)
            found = 2 * stdtr(
                np.where(share > 0, np.minimum(freedom, both), freedom), -np.abs(difference / np.sqrt(variance))
            )
        found = np.where(variance > 0, found, 1.0)  # no decision differs
        return np.where(errors_held > 0, found, np.nan)


def _shrunk(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Move two systems' slopes towards their mean by what counting errors makes them differ, as James and Stein do.

    Errors that both systems make cancel in a difference, but for what slopes that differ by chance leave of them.
    """
    one, other = first[:, 0], second[:, 0]
    mean, half = (one + other) / 2, (one - other) / 2
    chance = one**2 * first[:, 1] + other**2 * second[:, 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = np.where(half != 0, np.maximum(0.0, 1 - chance / (4 * half**2)), 0.0)
    return mean + kept * half, mean - kept * half

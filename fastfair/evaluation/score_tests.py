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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.data.comparisons import Comparisons
from fastfair.data.sorted_scores import SortedSide, pair_codes
from fastfair.error_rates.operating_points import Cell, HeldThreshold, OperatingPoint, cells_of
from fastfair.uncertainty.quantities import RATES, Quantity

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
UNITS_TESTED = ("subject", "comparison")


class Trials:
    """How often units, and pairs of units, occur among comparisons, whichever system scores them."""

    def __init__(self, comparisons: Comparisons, unit: str) -> None:
        self.comparisons, self.unit = comparisons, unit
        self.n_units = len(comparisons.subjects) if unit == "subject" and comparisons.subjects is not None else 0

    @cached_property
    def occurrences(self) -> list[Floats]:
        """(units,) numbers of mated, and of non-mated, comparisons of each."""
        counts = [side.of_subjects().astype(np.float64) for side in self.comparisons.pairs]
        return [np.pad(one, (0, self.n_units - one.size)) for one in counts]

    def repeats(self, codes: Integers) -> Floats:
        """Return how often pairs of units of non-mated comparisons occur, by their codes."""
        if not self.n_units:
            return np.ones(codes.size)
        of_two: Integers = self.comparisons.pairs[1].of_two(*np.divmod(codes, self.n_units))
        return of_two.astype(np.float64)

    @cached_property
    def repeats_squared(self) -> float:
        """The squares of how often each pair of units of non-mated comparisons occurs, summed."""
        return float(self.comparisons.pairs[1].sum_of_squares if self.n_units else len(self.comparisons.nonmated))

    def codes(self, side: SortedSide, rows: slice) -> Integers:
        """Return one number for each pair of units that was compared; those of two systems agree."""
        if not self.n_units:
            assert side.rows is not None
            return side.rows[rows].astype(np.int64)
        assert side.reference is not None
        assert side.probe is not None
        return pair_codes(side.reference[rows], side.probe[rows], self.n_units)


class DecidedSystem(HeldThreshold):
    """One system's decisions at its threshold, and near it."""

    def __init__(self, comparisons: Comparisons, point: OperatingPoint, trials: Trials) -> None:
        super().__init__(comparisons, point)
        self.trials = trials
        self._aim = point.value if point.rule.takes_value else 0.0

    def errors(self, side: int) -> tuple[Integers, Integers | None]:
        """Return the pairs of units of the false non-matches (0) or false matches (1), and their cells of groups."""
        of_side = (self.comparisons.mated, self.comparisons.nonmated)[side]
        rows, n_groups = self.error_rows()[side], len(self.comparisons.groups)
        by_group = None
        if n_groups:
            by_group = self.comparisons.nonmated_by_group if side else self.comparisons.mated_by_group
        return self.trials.codes(of_side, rows), cells_of(by_group, rows, n_groups)

    @cached_property
    def missed(self) -> float:
        """By how much the rate held misses what the operating point asks for."""
        return self.held(self.key) - self._aim

    def slope_with(self, spread: float) -> Callable[[bool, Cell], tuple[float, float]]:
        """Return the slope of each rate over what is held, as `slopes` does, computed once for each."""
        return cache(self.slopes(spread))


def decisions(
    comparisons: Comparisons, points: Sequence[OperatingPoint], trials: Trials
) -> dict[OperatingPoint, DecidedSystem]:
    """Return a system's decisions at each operating point that fixes a threshold in a way that is known here."""
    known = [point for point in points if point.rule.signs is not None and trials.unit in UNITS_TESTED]
    return {point: DecidedSystem(comparisons, point, trials) for point in known}


_ROUNDING = 1e-12  # of a variance, relative to its parts: below it nothing is left


def score_pvalues(
    systems: Sequence[Mapping[OperatingPoint, DecidedSystem]],
    quantities: Sequence[Sequence[Quantity]],
    pairs: Sequence[tuple[int, int]],
) -> Floats:
    """Compute the p-values of the hypotheses that two systems have the same error rate, for pairs of systems.

    Parameters
    ----------
    systems : sequence of dict of DecidedSystem
        The decisions of each system on the same comparisons, by the operating points.
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
    found = np.full((len(pairs), len(quantities[0])), np.nan)
    place = np.array(pairs, np.intp).reshape(-1, 2).T
    tests = {point: _ScoreTests([system[point] for system in systems], place) for point in systems[0]}
    for k, one in enumerate(quantities[0]):
        if one.name in RATES and one.at in tests and one.n_comparisons:
            trials = systems[0][one.at].trials
            groups = trials.comparisons.groups
            cell = cell_of(one, groups)
            strata = max(1, len(groups)) if cell is None else len(set(cell))
            size = one.n_comparisons if trials.unit == "comparison" else one.n_subjects or 0
            rates = np.array([each[k].estimate for each in quantities])
            found[:, k] = tests[one.at].pvalues(one.name == "fnmr", cell, rates, one.n_comparisons, size, size - strata)
    return found


def cell_of(one: Quantity, groups: Sequence[str]) -> Cell:
    """Return the groups of the reference and of the probe of a rate, by their positions; None for all comparisons."""
    return None if one.group is None else (groups.index(one.group), groups.index(one.probe_group or one.group))


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
        each, self.cells = zip(*(system.errors(side) for system in systems), strict=True)
        codes, where = np.unique(np.concatenate(each), return_inverse=True)
        self.place = np.split(where.ravel(), np.cumsum([one.size for one in each])[:-1])
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
class _Part:
    """What each system adds to a sum over the mated, or the non-mated, comparisons.

    Attributes
    ----------
    of_pairs : sparse (systems, pairs) matrix
        What errors add.
    constants : (systems,) ndarray
        What every comparison adds besides.
    times : (systems,) ndarray
        What errors add, times how often their pairs of units occur.
    of_units : (systems, units) ndarray
        The sums over the comparisons of each unit.
    """

    of_pairs: Any
    constants: Floats
    times: Floats
    of_units: Floats


_Added = list[_Part | None]  # of mated and non-mated comparisons; None where nothing is added


def _covariances(trials: Trials, one: _Added, other: _Added, n_systems: int) -> Floats:
    """Return the (2, systems, systems) covariances of what systems add, by both forms, of which the larger counts."""
    nothing = np.zeros((n_systems, n_systems))

    def over_pairs(side: int, squared: float) -> Floats:
        """Sum over the pairs of units of a side; `squared`: how often they occur, squared."""
        a, b = one[side], other[side]
        if a is None or b is None:
            return nothing
        found = np.multiply.outer(a.constants, b.times) + np.multiply.outer(a.times, b.constants)
        found += squared * np.multiply.outer(a.constants, b.constants)
        return np.asarray(found + (a.of_pairs @ b.of_pairs.T).toarray())

    def over_units(sides: slice) -> Floats:
        """Sum in this thread: libraries of matrix products wake others, which takes longer for few systems."""
        sums = [[part.of_units for part in added[sides] if part is not None] for added in (one, other)]
        if not all(sums):
            return nothing
        a, b = (sum(known[1:], known[0]) for known in sums)
        return np.einsum("iu,ju->ij", a, b)

    of_pairs = over_pairs(1, trials.repeats_squared)
    if not trials.n_units:  # every comparison on its own
        both = over_pairs(0, len(trials.comparisons.mated)) + of_pairs
        return np.array([both, both])
    return np.array([over_units(slice(0, 2)) - of_pairs, of_pairs + over_units(slice(0, 1))])


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
            for side, (sign, rate) in enumerate(zip(system.signs, system.rates_at(system.key), strict=True)):
                each[side, k] = sign / system.sizes[side]
                constants[side, k] = -each[side, k] * rate
        return self._added([(None, one) if one.any() else None for one in each], constants)

    def _added(self, what: Sequence[tuple[int | None, Floats] | None], constants: Floats) -> _Added:
        """Put together what mated and non-mated errors of a cell add, and what every comparison does."""
        parts: _Added = []
        for k, (side, asked) in enumerate(zip(self._sides, what, strict=True)):
            if asked is None:
                parts.append(None)
                continue
            added, sums = side.added(*asked), np.zeros((len(self._systems), 0))
            if self._trials.n_units:
                sums = (added @ side.units).toarray()
                if constants[k].any():
                    sums += np.multiply.outer(constants[k], self._trials.occurrences[k])
            parts.append(_Part(added, constants[k], np.asarray(added @ side.times), sums))
        return parts

    def _forms(self, one: _Added, other: _Added) -> Floats:
        return _covariances(self._trials, one, other, len(self._systems))

    @cached_property
    def _held_forms(self) -> Floats:
        return self._forms(self._held, self._held)

    @cached_property
    def _slopes(self) -> list[Any]:
        """The slopes of the rates of each system over what is held."""
        spreads = np.sqrt(np.diagonal(self._held_forms, axis1=1, axis2=2).max(axis=0).clip(0))
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
        own = self._forms(errors, errors)
        parts = own[:, i, i] + own[:, j, j]
        forms = parts - 2 * own[:, i, j]
        difference, of_held, errors_held = rates[i] - rates[j], np.zeros(i.size), np.full(i.size, np.inf)
        if not self._is_given:
            slopes = np.array([slope(mated, cell) for slope in self._slopes])
            s, t = _shrunk(slopes[i], slopes[j])
            held = self._held_forms
            squares = s**2 * held[:, i, i] + t**2 * held[:, j, j]
            among_held = squares - 2 * s * t * held[:, i, j]
            of_held = among_held.max(axis=0).clip(0)
            crossed = self._forms(errors, self._held)
            forms = forms + among_held - 2 * s * (crossed[:, i, i] - crossed[:, j, i])
            forms += 2 * t * (crossed[:, i, j] - crossed[:, j, j])
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

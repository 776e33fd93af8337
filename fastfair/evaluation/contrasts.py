"""How two systems that scored the same comparisons differ in each quantity: the test, the interval
and the verdict.

Rates are tested by score tests of decisions. With d_kl the first system's errors in the comparisons
of subjects k and l minus the second's, T_k = sum_l d_kl, the difference of two FMRs at given
thresholds has the dyadic-robust variance (sum_k T_k^2 - sum_{k<l} d_kl^2) / n^2, where no
difference is the hypothesis, and not below the sum of the squares. That of two FNMRs, of K
subjects, is K / (K - 1) sum_k d_k^2 / n^2. A threshold that holds a rate is an estimate: each
comparison then adds to d what it adds to the rate held, times minus the slope of the rate tested
over the rate held. At given thresholds the normal approximation is poor where the systems decide
few comparisons differently: the p-value is then raised to that of McNemar's exact test, provided
that no unit has more than one such comparison.

Of many systems every two are tested at once: a variance is a quadratic form of what the errors and
the thresholds of both add, so it takes the products of these vectors of every two systems, and
these are matrices of systems by systems.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib.arrays import Floats, Integers
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.sorted_scores import ClassKeys, SortedSide, pair_codes
from fastfair.error_rates import score_metrics
from fastfair.error_rates.operating_points import (
    FEWEST_ERRORS,
    Cell,
    HeldThreshold,
    OperatingPoint,
    cells_of,
)
from fastfair.error_rates.rates import counts_behind
from fastfair.errors import FewResamplesWarning
from fastfair.measures._registry import is_fairer_above, measure_of
from fastfair.resampling.engine import NO_METRICS, Resampler
from fastfair.resampling.linearized_rates import LinearizedRates
from fastfair.uncertainty.inversion import joint_pvalues
from fastfair.uncertainty.notes import Code, Note, joined
from fastfair.uncertainty.quantities import RATES, Estimated, Quantity, ends_of

from .evaluated import Evaluated

WITHHELD = "withheld"
REASONS = (  # why there is no test
    Code.TWO_SIDED_MEASURE,
    Code.MEASURE_WITHOUT_ERRORS,
    Code.SYSTEM_OF_FEW_ERRORS,
    Code.SYSTEM_OF_FEW_HELD,
    Code.RATE_OF_ONE_SUBJECT,
    Code.WITHOUT_REPLICATES,
)


UNITS_TESTED = ("subject", "comparison")


class UnitCounts:
    """How often units, and pairs of units, occur among comparisons, whichever system scores
    them.
    """

    def __init__(self, comparisons: Comparisons, unit: str) -> None:
        self.comparisons, self.unit = comparisons, unit
        self.n_units = (
            len(comparisons.subjects)
            if unit == "subject" and comparisons.subjects is not None
            else 0
        )

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
        return float(
            self.comparisons.pairs[1].sum_of_squares
            if self.n_units
            else len(self.comparisons.nonmated)
        )

    def codes(self, side: SortedSide, rows: slice) -> Integers:
        """Return one number for each pair of units that was compared; those of two systems
        agree.
        """
        if not self.n_units:
            assert side.rows is not None
            return side.rows[rows].astype(np.int64)
        return pair_codes(*side.compared(rows), self.n_units)


class SystemAtThreshold(HeldThreshold):
    """What a system decides at its threshold, and near it."""

    def __init__(self, comparisons: Comparisons, point: OperatingPoint, counts: UnitCounts) -> None:
        super().__init__(comparisons, point)
        self.counts = counts

    def errors(self, side: int) -> tuple[Integers, Integers | None]:
        """Return the pairs of units of the false non-matches (0) or false matches (1), and their
        cells of groups.
        """
        of_side = (self.comparisons.mated, self.comparisons.nonmated)[side]
        rows, n_groups = self.error_rows()[side], len(self.comparisons.groups)
        by_group = None
        if n_groups:
            by_group = (
                self.comparisons.nonmated_by_group if side else self.comparisons.mated_by_group
            )
        return self.counts.codes(of_side, rows), cells_of(by_group, rows, n_groups)

    @cached_property
    def missed(self) -> float:
        """By how much the rate held misses what the operating point asks for."""
        return self.held(self.key) - (self.at.value if self.at.rule.takes_value else 0.0)


_MOST_ERRORS_FOR_EXACT_TESTS = 200  # of decisions, by two systems together
_ROUNDING = 1e-12  # of a variance, relative to its parts: below it nothing is left


def score_pvalues(
    systems: Sequence[Mapping[OperatingPoint, SystemAtThreshold]],
    quantities: Sequence[Sequence[Quantity]],
    pairs: Sequence[tuple[int, int]],
) -> Floats:
    """Compute the p-values of the hypotheses that two systems have the same error rate, for pairs
    of systems.

    Parameters
    ----------
    systems : sequence of dict of SystemAtThreshold
        The decisions of each system on the same comparisons, by the operating points.
    quantities : sequence of sequences of Quantity
        The quantities of each system, in the same order.
    pairs : sequence of pairs of int
        The pairs, by positions of their systems.

    Returns
    -------
    (pairs, quantities) ndarray
        Two-sided p-values; NaN for all but rates, for other units and for operating points that fix
        no threshold in a way that is known here.

    References
    ----------
    Aronow, Samii and Assenova, "Cluster-robust variance estimation for dyadic data", Political
    Analysis 23 (2015).
    """
    found = np.full((len(pairs), len(quantities[0])), np.nan)
    place = np.array(pairs, np.intp).reshape(-1, 2).T
    tests = {
        point: _ScoreTests([system[point] for system in systems], place) for point in systems[0]
    }
    for k, one in enumerate(quantities[0]):
        if one.name in RATES and one.at in tests and one.n_comparisons:
            counts = systems[0][one.at].counts
            groups = counts.comparisons.groups
            cell = cell_of(one, groups)
            strata = max(1, len(groups)) if cell is None else len(set(cell))
            size = one.n_comparisons if counts.unit == "comparison" else one.n_subjects or 0
            rates = np.array([each[k].estimate for each in quantities])
            found[:, k] = tests[one.at].pvalues(
                one.name == "fnmr", cell, rates, one.n_comparisons, size, size - strata
            )
    return found


def cell_of(one: Quantity, groups: Sequence[str]) -> Cell:
    """Return the groups of the reference and of the probe of a rate, by their positions; None for
    all comparisons.
    """
    return (
        None
        if one.group is None
        else (groups.index(one.group), groups.index(one.probe_group or one.group))
    )


class _Side:
    """The mated, or the non-mated, comparisons that any of the systems decides wrongly at an
    operating point.

    Attributes
    ----------
    place : list of ndarray
        For each system, where the pair of units of each error is among those of all systems.
    cells : list of ndarray or None
        The cell of each error.
    times : (pairs,) ndarray
        How often each pair of units occurs.
    """

    def __init__(self, systems: Sequence[SystemAtThreshold], side: int) -> None:
        counts = systems[0].counts
        each, self.cells = zip(*(system.errors(side) for system in systems), strict=True)
        codes, where = np.unique(np.concatenate(each), return_inverse=True)
        self.place = np.split(where.ravel(), np.cumsum([one.size for one in each])[:-1])
        self.n_codes, self._codes, self._n_units = codes.size, codes, counts.n_units
        self.times = counts.repeats(codes) if side else np.ones(codes.size)

    @cached_property
    def units(self) -> Any:
        """The (pairs, units) sparse matrix of who is behind each pair; one of a unit with itself
        counts once.
        """
        from scipy.sparse import csr_matrix

        low, high = self._codes // self._n_units, self._codes % self._n_units
        apart = np.flatnonzero(low != high)
        rows = np.concatenate((np.arange(low.size), apart))
        columns = np.concatenate((low, high[apart]))
        return csr_matrix(
            (np.ones(rows.size), (rows, columns)), shape=(self.n_codes, self._n_units)
        )

    def added(self, cell: int | None, each: Floats) -> Any:
        """Return the (systems, pairs) sparse matrix of what the errors of each system add, in a
        cell or in all.
        """
        from scipy.sparse import csr_matrix

        chosen = [
            place if cell is None or cells is None else place[cells == cell]
            for place, cells in zip(self.place, self.cells, strict=True)
        ]
        sizes = [one.size for one in chosen]
        rows, columns = np.repeat(np.arange(len(chosen)), sizes), np.concatenate(chosen)
        return csr_matrix(
            (np.repeat(each, sizes), (rows, columns)), shape=(len(chosen), self.n_codes)
        )


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


class _ScoreTests:
    """Tests of all rates of pairs of systems at one operating point."""

    def __init__(self, systems: Sequence[SystemAtThreshold], place: Integers) -> None:
        self._systems, self._place = systems, place
        self._counts = systems[0].counts
        self._sides = [_Side(systems, side) for side in (0, 1)]

    @cached_property
    def _held(self) -> _Added:
        """What each system's comparisons add to what the operating point holds."""
        each, constants = np.zeros((2, len(self._systems))), np.zeros((2, len(self._systems)))
        for k, system in enumerate(self._systems):
            for side, (sign, rate) in enumerate(
                zip(system.signs, system.rates_at(system.key), strict=True)
            ):
                each[side, k] = sign / system.sizes[side]
                constants[side, k] = -each[side, k] * rate
        return self._added([(None, one) if one.any() else None for one in each], constants)

    def _added(self, what: Sequence[tuple[int | None, Floats] | None], constants: Floats) -> _Added:
        """Put together what mated and non-mated errors of a cell add, and what every comparison
        does.
        """
        parts: _Added = []
        for k, (side, asked) in enumerate(zip(self._sides, what, strict=True)):
            if asked is None:
                parts.append(None)
                continue
            added, sums = side.added(*asked), np.zeros((len(self._systems), 0))
            if self._counts.n_units:
                sums = (added @ side.units).toarray()
                if constants[k].any():
                    sums += np.multiply.outer(constants[k], self._counts.occurrences[k])
            parts.append(_Part(added, constants[k], np.asarray(added @ side.times), sums))
        return parts

    def _forms(self, one: _Added, other: _Added) -> Floats:
        """Return (2, systems, systems) covariances of what systems add, by both forms, of which the
        larger counts.
        """
        counts, nothing = self._counts, np.zeros((len(self._systems), len(self._systems)))

        def over_pairs(side: int, squared: float) -> Floats:
            """Sum over the pairs of units of a side; `squared`: how often they occur, squared."""
            a, b = one[side], other[side]
            if a is None or b is None:
                return nothing
            found = np.multiply.outer(a.constants, b.times) + np.multiply.outer(
                a.times, b.constants
            )
            found += squared * np.multiply.outer(a.constants, b.constants)
            return np.asarray(found + (a.of_pairs @ b.of_pairs.T).toarray())

        def over_units(sides: slice) -> Floats:
            """Sum in this thread: libraries of matrix products wake others, which takes longer for
            few systems.
            """
            sums = [
                [part.of_units for part in added[sides] if part is not None]
                for added in (one, other)
            ]
            if not all(sums):
                return nothing
            a, b = (sum(known[1:], known[0]) for known in sums)
            return np.einsum("iu,ju->ij", a, b)

        of_pairs = over_pairs(1, counts.repeats_squared)
        if not counts.n_units:  # every comparison on its own
            both = over_pairs(0, len(counts.comparisons.mated)) + of_pairs
            return np.array([both, both])
        return np.array([over_units(slice(0, 2)) - of_pairs, of_pairs + over_units(slice(0, 1))])

    @cached_property
    def _held_forms(self) -> Floats:
        return self._forms(self._held, self._held)

    @cached_property
    def _slopes(self) -> list[Any]:
        """The slopes of the rates of each system over what is held."""
        spreads = np.sqrt(np.diagonal(self._held_forms, axis1=1, axis2=2).max(axis=0).clip(0))
        return [
            cache(system.slopes(spread))
            for system, spread in zip(self._systems, spreads.tolist(), strict=True)
        ]

    def pvalues(
        self, mated: bool, cell: Cell, rates: Floats, n: int, size: int, freedom: float
    ) -> Floats:
        """Return the two-sided p-values of one rate, of n comparisons and so many units, for all
        pairs.
        """
        from scipy.special import stdtr

        i, j = self._place
        groups = len(self._counts.comparisons.groups)
        code = None if cell is None else cell[0] * groups + cell[1]
        each = np.full(len(self._systems), 1 / n)
        what = [(code, each) if side == (0 if mated else 1) else None for side in (0, 1)]
        errors = self._added(what, np.zeros((2, each.size)))
        own = self._forms(errors, errors)
        parts = own[:, i, i] + own[:, j, j]
        forms = parts - 2 * own[:, i, j]
        difference, of_held, errors_held = (
            rates[i] - rates[j],
            np.zeros(i.size),
            np.full(i.size, np.inf),
        )
        if not self._systems[0].at.is_given:
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
            # Among ties no threshold may hold the rate aimed at: where rates moved to it differ
            # less, they count.
            missed = np.array([system.missed for system in self._systems])
            at_aim = difference - s * missed[i] + t * missed[j]
            difference = np.minimum(np.abs(difference), np.abs(at_aim))
        few = size / (size - 1) if mated and size > 1 else 1.0
        forms[forms < _ROUNDING * np.abs(parts)] = 0.0
        variance = few * forms.max(axis=0)
        if freedom < 1:
            return np.full(i.size, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            # The variance of what x errors hold is known with a relative variance of 1 / x only, as
            # with 2 x degrees of freedom; it counts as far as it makes up the variance of the
            # difference (Satterthwaite).
            share = np.minimum(of_held / variance, 1.0)
            both = 1 / (share**2 / (2 * errors_held) + (1 - share) ** 2 / freedom)
            found = 2 * stdtr(
                np.where(share > 0, np.minimum(freedom, both), freedom),
                -np.abs(difference / np.sqrt(variance)),
            )
        found = np.where(variance > 0, found, 1.0)  # no decision differs
        if self._systems[0].at.is_given:
            found = np.fmax(found, self._exact_pvalues(errors, n, rates))
        return np.where(errors_held > 0, found, np.nan)

    def _exact_pvalues(self, errors: _Added, n: int, rates: Floats) -> Floats:
        """Return McNemar's exact p-values; NaN for many errors, and where a unit has several
        decisions that differ.
        """
        from scipy.special import bdtr

        found = np.full(self._place.shape[1], np.nan)
        for side, part in zip(self._sides, errors, strict=True):
            few = (
                np.flatnonzero(n * rates[self._place].sum(axis=0) <= _MOST_ERRORS_FOR_EXACT_TESTS)
                if part is not None
                else ()
            )
            for k in few:
                one, other = self._place[:, k]
                apart = n * (part.of_pairs[one] - part.of_pairs[other])  # type: ignore[union-attr]  # few are of a part
                of_units = abs(apart) @ side.units if self._counts.n_units else abs(apart)
                if np.rint(of_units.data).max(initial=0) <= 1:
                    worse = np.rint(apart.data)
                    less = min((worse > 0).sum(), (worse < 0).sum())
                    found[k] = min(1.0, 2 * bdtr(less, np.count_nonzero(worse), 0.5))
        return found


def _shrunk(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Move two systems' slopes towards their mean by what counting errors makes them differ, as
    James and Stein do.

    Errors that both systems make cancel in a difference, but for what slopes that differ by chance
    leave of them.
    """
    one, other = first[:, 0], second[:, 0]
    mean, half = (one + other) / 2, (one - other) / 2
    chance = one**2 * first[:, 1] + other**2 * second[:, 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = np.where(half != 0, np.maximum(0.0, 1 - chance / (4 * half**2)), 0.0)
    return mean + kept * half, mean - kept * half


@dataclass(frozen=True, eq=False)
class ComparedSystem:
    """One of the systems that `compare` is given, with its evaluation.

    Attributes
    ----------
    comparisons : Comparisons
        The comparisons, numbered like those of the other systems.
    evaluation : Evaluated
        Their evaluation, with the same replicates as those of the other systems.
    counts : UnitCounts
        Those of all systems.
    n_threads : int or None
        Number of threads; all processors by default.
    """

    comparisons: Comparisons
    evaluation: Evaluated
    counts: UnitCounts
    n_threads: int | None = None

    @cached_property
    def decisions(self) -> dict[OperatingPoint, SystemAtThreshold]:
        """The decisions at operating points that fix a threshold in a way that score tests know."""
        points = [rates.at for rates in self.evaluation.rates if self.counts.unit in UNITS_TESTED]
        return {
            at: SystemAtThreshold(self.comparisons, at, self.counts)
            for at in points
            if at.rule.signs is not None
        }

    @cached_property
    def linearized(self) -> LinearizedRates | None:
        """The rates as sums over units; None where units are not independent."""
        if self.counts.unit not in UNITS_TESTED:
            return None
        points = [rates.at for rates in self.evaluation.rates]
        measured = [
            self.evaluation.groups.index(group) for group in self.evaluation.measured_groups
        ]
        resampler = Resampler(
            self.comparisons,
            points,
            unit=self.counts.unit,
            scheme="product",
            metrics=NO_METRICS,
            measured=measured,
            workers=Workers(self.n_threads),
        )
        return LinearizedRates(resampler)

    def is_held_by_few(self, at: OperatingPoint | None) -> bool:
        """Return whether too few errors fix the threshold of an operating point; one that was given
        needs none.
        """
        counts = [
            (rates.at.rule.holds, rates.counts) for rates in self.evaluation.rates if rates.at == at
        ]
        return any(
            counts_behind(one, name == "fnmr")[1] < FEWEST_ERRORS
            for holds, one in counts
            for name in holds
        )

    @cached_property
    def errors_behind(self) -> tuple[int | None, ...]:
        """The number of errors behind each quantity, which decides whether a verdict can rest on
        it.

        For a rate, the number of errors or that of correct decisions, whichever is smaller. For the
        EER, and for Cllr and min Cllr, the EER times the number of mated or non-mated comparisons,
        whichever is smaller. For minDCF, the number of false matches or of false non-matches at its
        threshold, whichever is smaller. None for thresholds and fairness measures.
        """
        comparisons, asked = self.comparisons, self.evaluation.settings
        of_group: dict[str | None, ClassKeys] = {None: keys_of(comparisons)}
        of_group |= {group: keys_of(comparisons, k) for k, group in enumerate(comparisons.groups)}
        costs = score_metrics.Costs(asked["p_target"], asked["c_miss"], asked["c_fa"])

        def count(quantity: Quantity) -> int | None:
            if quantity.n_errors is not None and quantity.n_comparisons is not None:
                return min(quantity.n_errors, quantity.n_comparisons - quantity.n_errors)
            if quantity.name == "threshold" or measure_of(quantity.name) is not None:
                return None
            keys = of_group[quantity.group]
            if not all(keys.sizes):
                return 0
            if quantity.name == "min_dcf":
                key = score_metrics.least_cost(costs, keys)[1]
                false_nonmatches = int(np.searchsorted(keys.mated, key))
                return min(
                    false_nonmatches, keys.nonmated.size - int(np.searchsorted(keys.nonmated, key))
                )
            rate, _ = score_metrics.equal_error(keys, asked["eer_method"])
            return round(rate * min(keys.sizes))

        return tuple(map(count, self.evaluation.quantities))


def rate_correlations(first: ComparedSystem, second: ComparedSystem) -> NDArray[np.float64]:
    """Compute the correlation of each rate of two systems in closed form.

    Replicates of FMRs correlate too little: product weights count what happens in a pair of
    subjects three times as much as what subjects have in all their pairs, of which two systems have
    more in common.

    Parameters
    ----------
    first, second : ComparedSystem
        The systems.

    Returns
    -------
    (quantities,) ndarray
        NaN for other quantities, where samples are drawn, and at operating points that hold the
        mean EER of groups.
    """
    one, other = first.linearized, second.linearized
    found = np.full(len(first.evaluation.quantities), np.nan)
    if one is None or other is None:
        return found
    points = [result.at for result in first.evaluation.rates]
    pairs = zip(first.evaluation.quantities, second.evaluation.quantities, strict=True)
    for k, (mine, theirs) in enumerate(pairs):
        if mine.name in RATES and mine.at is not None and mine.at.rule.signs is not None:
            cell = cell_of(mine, first.evaluation.groups)
            if np.isfinite(mine.estimate) and np.isfinite(theirs.estimate):
                found[k] = one.correlation(other, mine.name == "fnmr", points.index(mine.at), cell)
    return found


@dataclass(frozen=True, slots=True)
class DifferenceTest:
    """The test of one difference.

    Attributes
    ----------
    pvalue : float
        Two-sided; NaN where there is no test.
    reason : Code, optional
        Why there is none.
    least : float
        The smallest p-value that the test can give, 0 for a test that draws no replicates.
    """

    pvalue: float
    reason: Code | None = None
    least: float = 0.0


def difference_tests(
    systems: Sequence[ComparedSystem], pairs: Sequence[tuple[int, int]]
) -> list[tuple[DifferenceTest, ...]]:
    """Test whether systems differ in each of their quantities.

    Parameters
    ----------
    systems : sequence of ComparedSystem
        The systems.
    pairs : sequence of pairs of int
        The systems to compare, by their positions.

    Returns
    -------
    list of tuple of DifferenceTest
        For each pair, and each quantity of the evaluations. Rates have score tests, fairness
        measures joint test inversion, and EER and costs, as well as rates where units are not
        independent, bootstrap p-values. Without replicates only rates are tested.
    """
    quantities = [system.evaluation.quantities for system in systems]
    scores = score_pvalues([system.decisions for system in systems], quantities, pairs)
    return [
        _of_pair(systems[one], systems[other], of_pair.tolist())
        for (one, other), of_pair in zip(pairs, scores, strict=True)
    ]


def _of_pair(
    first: ComparedSystem, second: ComparedSystem, scores: Sequence[float]
) -> tuple[DifferenceTest, ...]:
    """Test two systems, given the p-values of score tests; NaN, without a reason, for what has no
    difference.
    """
    pairs = zip(first.evaluation.quantities, second.evaluation.quantities, scores, strict=True)
    has_replicates = bool(first.evaluation.settings["n_resamples"])
    joint = _of_measures(first, second) if has_replicates else {}
    found = []
    for k, (one, other, score) in enumerate(pairs):
        measure, test = measure_of(one.name), DifferenceTest(score)
        if not (_are_compared(one, other) and math.isfinite(one.estimate - other.estimate)):
            test = DifferenceTest(math.nan)
        elif math.isnan(score) and not has_replicates:
            test = DifferenceTest(math.nan, Code.WITHOUT_REPLICATES)
        elif measure is not None:
            reason = (
                Code.TWO_SIDED_MEASURE
                if measure.fairer == "nearer"
                else Code.MEASURE_WITHOUT_ERRORS
            )
            test = DifferenceTest(joint.get(k, math.nan))
            test = replace(test, reason=reason) if math.isnan(test.pvalue) else test
        elif math.isnan(score):
            test = _bootstrap_test(first, second, k)
        found.append(test)
    return tuple(found)


def _bootstrap_test(first: ComparedSystem, second: ComparedSystem, k: int) -> DifferenceTest:
    quantity, both = first.evaluation.quantities[k], (first, second)
    if quantity.n_subjects == 1 and first.evaluation.maker.sizes.unit == "subject":
        return DifferenceTest(math.nan, Code.RATE_OF_ONE_SUBJECT)
    errors = [system.errors_behind[k] for system in both]
    if any(number is None or number < FEWEST_ERRORS for number in errors):
        return DifferenceTest(math.nan, Code.SYSTEM_OF_FEW_ERRORS)
    if any(system.is_held_by_few(quantity.at) for system in both):
        return DifferenceTest(math.nan, Code.SYSTEM_OF_FEW_HELD)
    with np.errstate(invalid="ignore"):
        drawn = np.subtract(*(system.evaluation.maker.replicates[k] for system in both))
    return DifferenceTest(
        float(intervals.bootstrap_pvalue(drawn[None])[0]), least=2 / (1 + drawn.size)
    )


def _of_measures(first: ComparedSystem, second: ComparedSystem) -> dict[int, float]:
    """Return the p-values of fairness measures by their positions."""
    both = [system.evaluation.maker.inversion for system in (first, second)]
    if both[0] is None or both[1] is None:
        return {}
    rows, quantities = (
        both[0].rows,
        [system.evaluation.maker.quantities for system in (first, second)],
    )
    finite = {
        key
        for key, k in rows.items()
        if all(math.isfinite(of_system[k].estimate) for of_system in quantities)
    }
    return {rows[key]: pvalue for key, pvalue in joint_pvalues(both[0], both[1], finite).items()}


@dataclass(frozen=True)
class Contrast(Estimated):
    """The difference between two systems in one quantity.

    Attributes
    ----------
    first_system, second_system : str
        The names of the two systems.
    name, group, at, probe_group
        As in `Quantity`.
    first, second : float
        The two estimates.
    difference, low, high : float
        First estimate minus second, with its interval; NaN where not computable.
    pvalue : float
        Two-sided p-value of the hypothesis of no difference, of the test that `compare` names; NaN
        where withheld.
    pvalue_adjusted : float
        For a quantity of groups, the same after Holm's adjustment for the number of groups.
    ratio, ratio_low, ratio_high : float
        First estimate divided by second, with its interval.
    not_computable : float
        Share of replicates in which the difference was not computable; NaN without replicates.
    verdict : str
        "first" or "second", the system with the lower rate, EER or cost, or with the fairer
        measure, where `pvalue_adjusted` is at most one minus the confidence level; else
        "undecided". "withheld" where there is no test that keeps its level, and `note` says why.
        Empty where the difference is not computable.
    notes : tuple of Note
        Warnings for the reader; `note` is their text.
    """

    first_system: str
    second_system: str
    name: str
    group: str | None
    at: OperatingPoint | None
    first: float
    second: float
    difference: float
    low: float
    high: float
    pvalue: float
    pvalue_adjusted: float
    ratio: float
    ratio_low: float
    ratio_high: float
    not_computable: float
    verdict: str
    notes: tuple[Note, ...] = ()
    probe_group: str | None = None


def contrasts_of(
    pair: tuple[str, str],
    systems: tuple[ComparedSystem, ComparedSystem],
    tests: Sequence[DifferenceTest],
    level: float,
    adjusted: Floats,
) -> tuple[Contrast, ...]:
    """Compute the differences between two systems, given their names, and test and adjusted p-value
    of each quantity.

    Thresholds and rates that operating points hold are left out.
    """
    evaluations = [system.evaluation for system in systems]
    each = [evaluation.quantities for evaluation in evaluations]
    rows = [k for k, both in enumerate(zip(*each, strict=True)) if _are_compared(*both)]
    ends, is_same = _intervals(evaluations, rows, rate_correlations(*systems)[rows])
    contrasts = []
    for k, (low, high, ratio_low, ratio_high, not_computable), same in zip(
        rows, ends.T.tolist(), is_same, strict=True
    ):
        one, other, test, pvalue = each[0][k], each[1][k], tests[k], float(adjusted[k])
        difference = (
            one.estimate - other.estimate
            if math.isfinite(one.estimate - other.estimate)
            else math.nan
        )
        codes = [] if test.reason is None else [test.reason]
        codes += [Code.NO_DIFFERENCE] if same and not math.isnan(difference) else []
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = float(np.float64(one.estimate) / np.float64(other.estimate))
        if test.reason:
            verdict = WITHHELD
        elif math.isnan(pvalue):
            verdict = ""
        elif pvalue > 1 - level:
            verdict = "undecided"
        else:
            verdict = "first" if (difference < 0) != is_fairer_above(one.name) else "second"
        contrasts.append(
            Contrast(
                *pair,
                one.name,
                one.group,
                one.at,
                one.estimate,
                other.estimate,
                difference=difference,
                low=low,
                high=high,
                pvalue=test.pvalue,
                pvalue_adjusted=pvalue,
                ratio=ratio,
                ratio_low=ratio_low,
                ratio_high=ratio_high,
                not_computable=not_computable,
                verdict=verdict,
                notes=joined(one.notes, other.notes, [Note(code) for code in codes]),
                probe_group=one.probe_group,
            )
        )
    return tuple(contrasts)


def _are_compared(one: Quantity, other: Quantity) -> bool:
    return one.name != "threshold" and not one.is_held and one.key == other.key


def adjusted_pvalues(
    quantities: Sequence[Quantity], tests: Sequence[Sequence[DifferenceTest]], significance: float
) -> Floats:
    """Adjust p-values by Holm's procedure, separately for each quantity of all, and of groups, at
    an operating point.

    Parameters
    ----------
    quantities : sequence of Quantity
        Those of the first system, whose names, groups and operating points the others share.
    tests : sequence of sequence of DifferenceTest
        The tests of each pair; those that were withheld do not count.
    significance : float
        The largest p-value that is a finding.

    Returns
    -------
    (pairs, quantities) ndarray
        NaN for what is not compared or has no test.

    Warns
    -----
    FewResamplesWarning
        Where replicates are too few for any adjusted p-value to be as small as `significance`.
    """
    pvalues = np.array([[test.pvalue for test in of_pair] for of_pair in tests])
    families: dict[Any, list[int]] = {}
    for k, one in enumerate(quantities):
        families.setdefault((one.name, one.at, one.group is None), []).append(k)
    adjusted = np.full(pvalues.shape, np.nan)
    out_of_reach: dict[str, None] = {}
    for (name, _, is_of_all), family in families.items():
        of_family = pvalues[:, family]
        tested = int(np.count_nonzero(~np.isnan(of_family)))
        adjusted[:, family] = intervals.holm(of_family.ravel()).reshape(of_family.shape)
        if not tested or (len(pvalues) == 1 and is_of_all):
            continue
        if tested * max(of_pair[k].least for of_pair in tests for k in family) > significance:
            out_of_reach[name] = None
    if out_of_reach:
        warn(
            f"no adjusted p-value of {', '.join(out_of_reach)} can be as small as {significance:g},"
            f" as replicates are few and {'groups' if len(pvalues) == 1 else 'pairs of systems'}"
            " many: raise ⟦n_resamples⟧",
            FewResamplesWarning,
        )
    return adjusted


def _intervals(
    pair: Sequence[Evaluated], rows: list[int], correlations: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Compute intervals of differences and ratios from those of the systems and their correlation
    (MOVER).

    Returns the (5, rows) ends of differences and of ratios, and shares of replicates without a
    difference; and where systems do not differ.
    """
    each = [
        [(q.estimate, *ends_of(q)) for q in (evaluation.quantities[k] for k in rows)]
        for evaluation in pair
    ]
    one, other = np.array(each).reshape(2, len(rows), 3).transpose(0, 2, 1)
    if pair[0].settings["n_resamples"]:
        sets = np.array([evaluation.maker.replicates[rows] for evaluation in pair])
        unknown = ~np.isfinite(sets).all(axis=0)
        not_computable = unknown.mean(axis=1)
        same = (sets[0] == sets[1]).all(axis=1) & (one[0] == other[0])
        with np.errstate(invalid="ignore", divide="ignore"):
            of_replicates = intervals.correlations_of(np.where(unknown, np.nan, sets))
        correlations = np.where(np.isnan(correlations), of_replicates, correlations)
    else:
        not_computable = np.full(len(rows), np.nan)
        correlations = np.where(np.isnan(correlations), 0.0, correlations)
        same = (one == other).all(axis=0) & (correlations > 1 - 1e-9)
    with np.errstate(invalid="ignore", divide="ignore"):
        has_difference = np.isfinite(one[0] - other[0]) & ~same
        has_ratio = has_difference & ((one[0] > 0) | (other[0] > 0))
        of_difference = intervals.difference_interval(one, other, correlations)
        of_ratio = intervals.ratio_interval(one, other, correlations)
    ends = np.where([has_difference] * 2 + [has_ratio] * 2, [*of_difference, *of_ratio], np.nan)
    return np.array([*ends, not_computable]), same


@dataclass(frozen=True)
class RankedSystem(Estimated):
    """One system's place among those that scored the same comparisons, in one quantity.

    Attributes
    ----------
    name, group, at, probe_group
        The quantity, as in `Quantity`.
    system : str
        The system.
    estimate, low, high : float
        The quantity of the system, with its own interval; NaN where there is none.
    rank : int
        One plus the number of systems with a better estimate: 1 is the best, and systems with the
        same estimate share a rank. Estimates that are not computable come last.
    best_rank, worst_rank : int
        The ranks that the data leave possible: one plus the number of systems shown to be better,
        and the number of systems minus that of those shown to be worse. A system is shown to be
        better than another one where their adjusted p-value is at most one minus the confidence
        level.
    """

    name: str
    group: str | None
    at: OperatingPoint | None
    system: str
    estimate: float
    low: float
    high: float
    rank: int
    best_rank: int
    worst_rank: int
    probe_group: str | None = None


def ranks_of(
    estimates: Sequence[float], pvalues: Floats, significance: float, *, higher_is_better: bool
) -> list[tuple[int, int, int]]:
    """Compute the rank of each system, and the best and the worst that tests of all pairs leave
    possible.

    Parameters
    ----------
    estimates : sequence of float
        The estimate of each system; NaN where not computable.
    pvalues : (systems, systems) ndarray
        Adjusted p-values of the differences; NaN where withheld, which shows nothing.
    significance : float
        The largest p-value that shows a difference.
    higher_is_better : bool
        Whether larger values are better ones.

    Returns
    -------
    list of tuple of int
        Rank, best rank and worst rank of each system.
    """
    badness = np.array(estimates, np.float64) * (-1 if higher_is_better else 1)
    badness[np.isnan(badness)] = np.inf
    is_better = badness[:, None] < badness[None, :]  # row than column
    with np.errstate(invalid="ignore"):
        shown = is_better & (pvalues <= significance)
    ranks = 1 + is_better.sum(axis=0)
    best, worst = 1 + shown.sum(axis=0), len(badness) - shown.sum(axis=1)
    return list(zip(ranks.tolist(), best.tolist(), worst.tolist(), strict=True))


def possible_ranks(ranked: RankedSystem) -> str:
    """Write the ranks that are possible, such as "2 to 4"."""
    return str(ranked.best_rank) + (
        f" to {ranked.worst_rank}" if ranked.worst_rank > ranked.best_rank else ""
    )

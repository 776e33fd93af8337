"""How two systems, or two data sets, differ in each quantity: the test, the interval and the
verdict.

Rates of the same comparisons have the tests of `score_tests`. Rates, areas and costs of independent
data sets are tested by the limits of their difference: a p-value is one minus the level of the
interval that ends at 0.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from fastfair import intervals
from fastfair._lib.arrays import Flags, Floats
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.sorted_scores import ClassKeys
from fastfair.error_rates import score_metrics
from fastfair.error_rates.operating_points import (
    FEWEST_ERRORS,
    OperatingPoint,
)
from fastfair.error_rates.rates import counts_behind
from fastfair.errors import FewResamplesWarning
from fastfair.measures._registry import is_better_above, measure_of
from fastfair.resampling.engine import NO_METRICS, Resampler
from fastfair.resampling.linearized_rates import LinearizedRates
from fastfair.uncertainty.inversion import joint_pvalues
from fastfair.uncertainty.notes import FEWEST_SESSIONS, Code, Note, joined_of_two
from fastfair.uncertainty.quantities import RATES, Estimated, Key, Quantity, ends_of

from .evaluated import Evaluated
from .score_tests import UNITS_TESTED, SystemAtThreshold, UnitCounts, cell_of, score_pvalues

WITHHELD = "withheld"
REASONS = (  # why there is no test
    Code.TWO_SIDED_MEASURE,
    Code.MEASURE_WITHOUT_ERRORS,
    Code.COSTS_OF_FEW_ERRORS,
    Code.SYSTEM_OF_FEW_ERRORS,
    Code.SYSTEM_OF_FEW_HELD,
    Code.RATE_OF_ONE_SUBJECT,
    Code.RATE_WITHOUT_INTERVAL,
    Code.WITHOUT_REPLICATES,
    Code.SYSTEMS_IN_FEW_SESSIONS,
    Code.LIMITS_TOO_NARROW,
)
# Of equal systems of other people, AUCs and Cllrs were called different in up to 15 % of data sets
# instead of 5; d' and the minimum Cllr were not studied.
_NARROW_APART = ("auc", "d_prime", "cllr", "min_cllr")


@dataclass(frozen=True, eq=False)
class ComparedSystem:
    """One of the systems that `compare` is given, with its evaluation.

    Attributes
    ----------
    comparisons : Comparisons
        The comparisons; of paired systems, numbered like those of the others.
    evaluation : Evaluated
        Their evaluation; of paired systems, with the same replicates as those of the others.
    counts : UnitCounts
        Those of the comparisons; of paired systems, of all of them.
    n_threads : int or None
        Number of threads; all processors by default.
    shared : sequence of int or None
        Positions of the quantities that all systems have, in one order; None where all have the
        same.
    """

    comparisons: Comparisons
    evaluation: Evaluated
    counts: UnitCounts
    n_threads: int | None = None
    shared: Sequence[int] | None = None

    @cached_property
    def _places(self) -> list[int]:
        everything = range(len(self.evaluation.quantities))
        return list(everything if self.shared is None else self.shared)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The quantities that all systems have."""
        return [self.evaluation.quantities[k] for k in self._places]

    @cached_property
    def n_sessions(self) -> Floats:
        """(quantities,) numbers of sessions behind these; infinite where they are not known."""
        numbers = self.evaluation.maker.sizes.sessions
        return np.broadcast_to(numbers, len(self.evaluation.quantities))[self._places]

    @cached_property
    def replicates(self) -> Floats:
        """(quantities, r) values of these in every replicate."""
        return self.evaluation.maker.replicates[self._places]

    def ends(
        self, rows: Sequence[int], level: float | None = None, *, of_pair: bool = False
    ) -> Floats:
        """Return the (3, rows) estimates and limits of some of these, at a level other than their
        own.

        of_pair: without what one more session adds, which both of a pair of systems would have.
        """
        chosen = [self.quantities[k] for k in rows]
        maker, settings = self.evaluation.maker, self.evaluation.settings
        of_pair = of_pair and self.comparisons.sessions is not None
        if level is not None or of_pair:
            places = [self._places[k] for k in rows]
            level = settings["confidence_level"] if level is None else level
            maker = maker.without_raising() if of_pair else maker
            chosen = maker.quantities_at(places, level, settings["method"])
        return np.array([(q.estimate, *ends_of(q)) for q in chosen]).reshape(-1, 3).T

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
            counts_behind(counts_of, name == "fnmr")[1] < FEWEST_ERRORS
            for holds, counts_of in counts
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

        return tuple(map(count, self.quantities))

    @cached_property
    def has_costs_of_few_errors(self) -> bool:
        """Whether the minDCF of some group rests on fewer than `FEWEST_ERRORS` errors."""
        return any(
            quantity.name == "min_dcf" and quantity.group is not None and number < FEWEST_ERRORS
            for quantity, number in zip(self.quantities, self.errors_behind, strict=True)
            if number is not None
        )


def with_shared_quantities(
    systems: Sequence[ComparedSystem], names: Container[str] | None = None
) -> list[ComparedSystem]:
    """Give systems the positions of the quantities that all of them have, in the order of the
    first; of some names, or by default all.
    """
    places = [
        {quantity.key: k for k, quantity in enumerate(system.evaluation.quantities)}
        for system in systems
    ]
    keys = [
        key
        for key in places[0]
        if all(key in of_system for of_system in places) and (names is None or key[0] in names)
    ]
    return [
        replace(system, shared=[of_system[key] for key in keys])
        for system, of_system in zip(systems, places, strict=True)
    ]


def rate_correlations(first: ComparedSystem, second: ComparedSystem) -> Floats:
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
    linear, other_linear = first.linearized, second.linearized
    correlations = np.full(len(first.quantities), np.nan)
    if linear is None or other_linear is None:
        return correlations
    points = [result.at for result in first.evaluation.rates]
    pairs = zip(first.quantities, second.quantities, strict=True)
    for k, (mine, theirs) in enumerate(pairs):
        if mine.name in RATES and mine.at is not None and mine.at.rule.signs is not None:
            cell = cell_of(mine, first.evaluation.groups)
            if np.isfinite(mine.estimate) and np.isfinite(theirs.estimate):
                correlations[k] = linear.correlation(
                    other_linear, mine.name == "fnmr", points.index(mine.at), cell
                )
    return correlations


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


@dataclass(frozen=True, eq=False)
class ComparedPair:
    """Two systems whose quantities are compared.

    Attributes
    ----------
    names : pair of str
        Their names.
    first, second : ComparedSystem
        The systems.
    is_paired : bool
        Whether they scored the same comparisons; else their data are independent.
    """

    names: tuple[str, str]
    first: ComparedSystem
    second: ComparedSystem
    is_paired: bool

    @property
    def both(self) -> tuple[ComparedSystem, ComparedSystem]:
        """The systems."""
        return self.first, self.second

    @property
    def has_replicates(self) -> bool:
        """Whether there are replicates."""
        return bool(self.first.evaluation.settings["n_resamples"])

    @cached_property
    def quantities(self) -> list[tuple[Quantity, Quantity]]:
        """Each quantity of both systems."""
        return list(zip(self.first.quantities, self.second.quantities, strict=True))

    @cached_property
    def rows(self) -> list[int]:
        """The positions of those that are compared: neither thresholds nor what is held."""
        return [
            k
            for k, (quantity, _) in enumerate(self.quantities)
            if quantity.name != "threshold" and not quantity.is_held
        ]

    @cached_property
    def _replicates(self) -> Floats:
        """(2, rows, r) replicates of what is compared; r is 0 without any."""
        if not self.has_replicates:
            return np.zeros((2, len(self.rows), 0))
        return np.array([system.replicates[self.rows] for system in self.both])

    @cached_property
    def not_computable(self) -> Floats:
        """(rows,) shares of replicates without a difference; NaN without replicates."""
        sets = self._replicates
        if not sets.shape[-1]:
            return np.full(len(self.rows), np.nan)
        unknown: Floats = (~np.isfinite(sets).all(axis=0)).mean(axis=1)
        return unknown

    @cached_property
    def correlations(self) -> Floats:
        """(rows,) correlations of the estimates: 0 of independent data."""
        if not self.is_paired:
            return np.zeros(len(self.rows))
        correlations = rate_correlations(*self.both)[self.rows]
        sets = self._replicates
        if not sets.shape[-1]:
            return np.where(np.isnan(correlations), 0.0, correlations)
        computable = np.isfinite(sets).all(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            of_replicates = intervals.correlations_of(np.where(computable, sets, np.nan))
        return np.where(np.isnan(correlations), of_replicates, correlations)

    @cached_property
    def are_alike(self) -> Flags:
        """(rows,) whether paired systems do not differ, in the data or in what is drawn from
        them.
        """
        if not self.is_paired:
            return np.zeros(len(self.rows), np.bool_)
        first, second = (system.ends(self.rows) for system in self.both)
        sets = self._replicates
        if not sets.shape[-1]:
            alike: Flags = (first == second).all(axis=0) & (self.correlations > 1 - 1e-9)
            return alike
        return (sets[0] == sets[1]).all(axis=1) & (first[0] == second[0])

    def limits(self, level: float | None = None) -> Floats:
        """Compute the (4, rows) limits of differences and of ratios from those of the systems and
        their correlation (MOVER); NaN where there are none. level: if not that of the systems.
        """
        first, second = (
            system.ends(self.rows, level, of_pair=self.is_paired) for system in self.both
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            has_difference = np.isfinite(first[0] - second[0]) & ~self.are_alike
            has_ratio = has_difference & ((first[0] > 0) | (second[0] > 0))
            of_difference = intervals.difference_interval(first, second, self.correlations)
            of_ratio = intervals.ratio_interval(first, second, self.correlations)
        return np.where([has_difference] * 2 + [has_ratio] * 2, [*of_difference, *of_ratio], np.nan)

    def pvalues_of_limits(self) -> Floats:
        """Compute the (quantities,) p-values that go with the limits of independent data.

        That of a difference is one minus the level of the interval that ends at 0. Between the
        levels at which limits are computed, of which one is that of the intervals, normal deviates
        are interpolated. NaN for fairness measures and for what has no limits.
        """
        pvalues = np.full(len(self.quantities), np.nan)
        rows = [k for k in self.rows if measure_of(self.quantities[k][0].name) is None]
        if not rows:
            return pvalues
        asked = self.first.evaluation.settings["confidence_level"]
        deviates = np.unique([*_DEVIATES, ndtri((1 + asked) / 2)])
        differences, reaches = np.zeros(len(rows)), [np.zeros(len(rows))]
        for level in 2 * ndtr(deviates) - 1:
            first, second = (system.ends(rows, float(level)) for system in self.both)
            with np.errstate(invalid="ignore"):
                low, high = intervals.difference_interval(first, second, np.zeros(len(rows)))
                differences = first[0] - second[0]
            reaches.append(np.where(differences > 0, differences - low, high - differences))
            if not (reaches[-1] < np.abs(differences)).any():
                break
        nodes = np.array([0.0, *deviates])[: len(reaches)]
        sizes = np.abs(differences).tolist()
        for k, size, reach in zip(rows, sizes, np.array(reaches).T, strict=True):
            if np.isfinite(reach).all():
                least = 0.0 if self.quantities[k][0].name in RATES else self.least
                deviate = _deviate_at(size, np.maximum.accumulate(reach), nodes)
                pvalues[k] = max(2 * ndtr(-deviate), least)
        return pvalues

    @property
    def least(self) -> float:
        """The smallest p-value that replicates can give; 0 without any."""
        n = self._replicates.shape[-1]
        return 2 / (1 + n) if n else 0.0


# at which limits are computed for p-values, as far as differences need them
_DEVIATES = np.append(np.arange(0.25, 3.01, 0.25), [3.5, 4, 4.5, 5])


def _deviate_at(size: float, reach: Floats, deviates: Floats) -> float:
    """Return the normal deviate of the level at which an interval reaches so far; the largest
    beyond it.
    """
    if size <= 0:
        return 0.0
    k = int(np.searchsorted(reach, size))
    if k == reach.size:
        return float(deviates[-1])
    run = reach[k] - reach[k - 1]
    return float(deviates[k - 1] + (size - reach[k - 1]) / run * (deviates[k] - deviates[k - 1]))


def difference_tests(pairs: Sequence[ComparedPair]) -> list[tuple[DifferenceTest, ...]]:
    """Test whether the systems of each pair differ in each of their quantities.

    Parameters
    ----------
    pairs : sequence of ComparedPair
        The pairs.

    Returns
    -------
    list of tuple of DifferenceTest
        For each pair, and each quantity. Fairness measures have joint test inversion. Of
        independent data, all else has the test of its limits. Of paired systems, rates have score
        tests, and EERs, areas and costs, as well as rates where units are not independent,
        bootstrap p-values. Without replicates only rates are tested.
    """
    if not pairs[0].is_paired:
        return [_test_pair(pair, pair.pvalues_of_limits().tolist()) for pair in pairs]
    systems = list({id(system): system for pair in pairs for system in pair.both}.values())
    places = {id(system): k for k, system in enumerate(systems)}
    positions = [(places[id(pair.first)], places[id(pair.second)]) for pair in pairs]
    quantities = [system.quantities for system in systems]
    scores = score_pvalues([system.decisions for system in systems], quantities, positions)
    return [_test_pair(pair, of_pair.tolist()) for pair, of_pair in zip(pairs, scores, strict=True)]


def _test_pair(pair: ComparedPair, of_rates: Sequence[float]) -> tuple[DifferenceTest, ...]:
    """Test two systems, given the p-values of rates; NaN, without a reason, for what has no
    difference.
    """
    joint = _test_measures(pair) if pair.has_replicates else {}
    compared = set(pair.rows)
    tests = []
    for k, ((quantity, other), pvalue) in enumerate(zip(pair.quantities, of_rates, strict=True)):
        measure, test = measure_of(quantity.name), DifferenceTest(pvalue)
        if k not in compared or not math.isfinite(quantity.estimate - other.estimate):
            test = DifferenceTest(math.nan)
        elif any(system.n_sessions[k] < FEWEST_SESSIONS for system in pair.both):
            test = DifferenceTest(math.nan, Code.SYSTEMS_IN_FEW_SESSIONS)
        elif quantity.name in RATES and not pair.is_paired:
            test = test if math.isfinite(pvalue) else _explain_no_test(pair, k)
        elif not pair.has_replicates and (quantity.name not in RATES or math.isnan(pvalue)):
            test = DifferenceTest(math.nan, Code.WITHOUT_REPLICATES)
        elif _compares_costs_of_few_errors(pair, quantity):
            test = DifferenceTest(math.nan, Code.COSTS_OF_FEW_ERRORS)
        elif measure is not None:
            reason = (
                Code.TWO_SIDED_MEASURE
                if measure.fairer == "nearer"
                else Code.MEASURE_WITHOUT_ERRORS
            )
            test = DifferenceTest(joint.get(quantity.key, math.nan))
            test = replace(test, reason=reason) if math.isnan(test.pvalue) else test
        elif quantity.name not in RATES or math.isnan(pvalue):
            test = _test_of_replicates(pair, k, pvalue)
        tests.append(test)
    return tuple(tests)


def _compares_costs_of_few_errors(pair: ComparedPair, quantity: Quantity) -> bool:
    """Tell whether a measure is a group's difference from the lowest minDCF, and that of some group
    rests on few errors.

    Of equal systems with groups of 15 to 400 people 13 % of such p-values are at most 0.05.
    """
    return quantity.name == "group_to_min_difference(min_dcf)" and any(
        system.has_costs_of_few_errors for system in pair.both
    )


def _is_of_one_subject(pair: ComparedPair, k: int) -> bool:
    return any(
        quantity.n_subjects == 1 and system.evaluation.maker.sizes.unit == "subject"
        for quantity, system in zip(pair.quantities[k], pair.both, strict=True)
    )


def _explain_no_test(pair: ComparedPair, k: int) -> DifferenceTest:
    """Say why rates of independent data have no test."""
    is_alone = _is_of_one_subject(pair, k)
    reason = Code.RATE_OF_ONE_SUBJECT if is_alone else Code.RATE_WITHOUT_INTERVAL
    return DifferenceTest(math.nan, reason)


def _test_of_replicates(pair: ComparedPair, k: int, of_limits: float) -> DifferenceTest:
    """Test an EER, area or cost, or a rate where units are not independent, if errors are enough.

    of_limits: the p-value of limits, of independent data.
    """
    if _is_of_one_subject(pair, k):
        return DifferenceTest(math.nan, Code.RATE_OF_ONE_SUBJECT)
    errors = [system.errors_behind[k] for system in pair.both]
    if any(number is None or number < FEWEST_ERRORS for number in errors):
        return DifferenceTest(math.nan, Code.SYSTEM_OF_FEW_ERRORS)
    at = pair.quantities[k][0].at
    if any(system.is_held_by_few(at) for system in pair.both):
        return DifferenceTest(math.nan, Code.SYSTEM_OF_FEW_HELD)
    if not pair.is_paired:
        if pair.quantities[k][0].name in _NARROW_APART:
            return DifferenceTest(math.nan, Code.LIMITS_TOO_NARROW)
        reason = None if math.isfinite(of_limits) else Code.RATE_WITHOUT_INTERVAL
        return DifferenceTest(of_limits, reason, pair.least)
    with np.errstate(invalid="ignore"):
        drawn = np.subtract(*(system.replicates[k] for system in pair.both))
    return DifferenceTest(float(intervals.bootstrap_pvalue(drawn[None])[0]), least=pair.least)


def _test_measures(pair: ComparedPair) -> dict[Key, float]:
    """Return the p-values of fairness measures by their keys."""
    both = [system.evaluation.maker.inversion for system in pair.both]
    if both[0] is None or both[1] is None:
        return {}
    keys = {  # of the inversion of the first, whose operating points are numbers
        key: pair.first.evaluation.maker.quantities[row].key for key, row in both[0].rows.items()
    }
    finite = {
        quantity.key
        for quantity, other in pair.quantities
        if math.isfinite(quantity.estimate) and math.isfinite(other.estimate)
    }
    wanted = {key for key, of_quantity in keys.items() if of_quantity in finite}
    return {keys[key]: pvalue for key, pvalue in joint_pvalues(both[0], both[1], wanted).items()}


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
    pair: ComparedPair, tests: Sequence[DifferenceTest], level: float, adjusted: Floats
) -> tuple[Contrast, ...]:
    """Compute the differences between two systems, given the test and the adjusted p-value of each
    quantity.

    Thresholds and rates that operating points hold are left out.
    """
    contrasts = []
    ends = np.array([*pair.limits(), pair.not_computable])
    for k, (low, high, ratio_low, ratio_high, not_computable), same in zip(
        pair.rows, ends.T.tolist(), pair.are_alike, strict=True
    ):
        quantity, other = pair.quantities[k]
        test = tests[k]
        pvalue = float(adjusted[k])
        difference = (
            quantity.estimate - other.estimate
            if math.isfinite(quantity.estimate - other.estimate)
            else math.nan
        )
        codes = [] if test.reason is None else [test.reason]
        codes += [Code.NO_DIFFERENCE] if same and not math.isnan(difference) else []
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = float(np.float64(quantity.estimate) / np.float64(other.estimate))
        if test.reason:
            verdict = WITHHELD
        elif math.isnan(pvalue):
            verdict = ""
        elif pvalue > 1 - level:
            verdict = "undecided"
        else:
            verdict = "first" if (difference < 0) != is_better_above(quantity.name) else "second"
        contrasts.append(
            Contrast(
                *pair.names,
                quantity.name,
                quantity.group,
                quantity.at,
                quantity.estimate,
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
                notes=(
                    *joined_of_two(pair.names, quantity.notes, other.notes),
                    *(Note(code) for code in codes),
                ),
                probe_group=quantity.probe_group,
            )
        )
    return tuple(contrasts)


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
    for k, quantity in enumerate(quantities):
        families.setdefault((quantity.name, quantity.at, quantity.group is None), []).append(k)
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
    best = 1 + shown.sum(axis=0)
    worst = len(badness) - shown.sum(axis=1)
    return list(zip(ranks.tolist(), best.tolist(), worst.tolist(), strict=True))


def possible_ranks(ranked: RankedSystem) -> str:
    """Write the ranks that are possible, such as "2 to 4"."""
    return str(ranked.best_rank) + (
        f" to {ranked.worst_rank}" if ranked.worst_rank > ranked.best_rank else ""
    )

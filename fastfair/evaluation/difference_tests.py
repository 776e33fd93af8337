"""The p-value of each difference between two systems, by the test that suits the quantity, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fastfair import intervals
from fastfair.data.class_keys import ClassKeys, keys_of
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates import score_metrics
from fastfair.error_rates.curve_results import Rates
from fastfair.error_rates.operating_points import FEWEST_ERRORS, OperatingPoint
from fastfair.measures._compute import measure_of
from fastfair.uncertainty.joint_inversion import joint_pvalues
from fastfair.uncertainty.quantities import Quantity
from fastfair.uncertainty.quantity_intervals import Uncertainty

from .result import Evaluation
from .score_tests import RATES_TESTED, score_pvalues

OF_MEASURES = "no p-value and no verdict for a measure that chance moves to either side"
NOTHING_TO_DRAW = "no p-value and no verdict for a measure where a group has no errors and numbers cannot be drawn"
OF_FEW_ERRORS = f"no p-value and no verdict where one of the systems has fewer than {FEWEST_ERRORS} errors"
OF_THRESHOLDS = (
    f"no p-value and no verdict where the threshold of one of the systems is held by fewer than {FEWEST_ERRORS} errors"
)
OF_FEW_SUBJECTS = "no p-value and no verdict for a rate of one subject"
WITHOUT_REPLICATES = "no p-value and no verdict without replicates"
REASONS = (OF_MEASURES, NOTHING_TO_DRAW, OF_FEW_ERRORS, OF_THRESHOLDS, OF_FEW_SUBJECTS, WITHOUT_REPLICATES)


@dataclass(frozen=True)
class DifferenceTest:
    """The test of one difference.

    Attributes
    ----------
    pvalue : float
        Two-sided; NaN where there is no test.
    reason : str
        Why there is none; empty where there is one.
    least : float
        The smallest p-value that the test can give, 0 for a test that draws no replicates.
    """

    pvalue: float
    reason: str = ""
    least: float = 0.0


def difference_tests(systems: Sequence[Comparisons], evaluations: Sequence[Evaluation]) -> tuple[DifferenceTest, ...]:
    """Test whether two systems differ in each of their quantities.

    Parameters
    ----------
    systems : two Comparisons
        The same comparisons scored by two systems, numbered alike.
    evaluations : two Evaluations
        Their evaluations, with the same replicates.

    Returns
    -------
    tuple of DifferenceTest
        For each quantity of the evaluations. Rates have score tests, fairness measures joint test inversion, and EER
        and costs, as well as rates where units are not independent, bootstrap p-values. Without replicates only rates
        are tested.
    """
    first, second = evaluations
    pairs = list(zip(first.quantities, second.quantities, strict=True))
    one_system, other_system = systems
    points = [result.at for result in first.rates]
    scores = score_pvalues(one_system, other_system, points, pairs, first.settings["unit"]).tolist()
    if not first.settings["n_resamples"]:
        return tuple(DifferenceTest(p, WITHOUT_REPLICATES if math.isnan(p) else "") for p in scores)
    of_both = [_need(evaluation) for evaluation in evaluations]
    errors = [_errors_behind(*one) for one in zip(systems, evaluations, strict=True)]
    few = {result.at for evaluation in evaluations for result in evaluation.rates if _held_by_few(result)}
    joint = _of_measures(of_both)
    found = []
    for k, ((one, other), score) in enumerate(zip(pairs, scores, strict=True)):
        measure = measure_of(one.name)
        if measure is not None:
            reason = OF_MEASURES if measure.fairer == "nearer" else NOTHING_TO_DRAW
            pvalue = joint.get(k, math.nan)
            found.append(DifferenceTest(pvalue, reason if math.isnan(pvalue) else ""))
        elif one.name in RATES_TESTED and not math.isnan(score):
            found.append(DifferenceTest(score))
        elif not (math.isfinite(one.estimate) and math.isfinite(other.estimate)):
            found.append(DifferenceTest(math.nan))
        else:
            found.append(_bootstrap_test(one, [rows[k] for rows in errors], few, of_both, k))
    return tuple(found)


def _bootstrap_test(
    quantity: Quantity, errors: Sequence[int | None], few: set[OperatingPoint], of_both: Sequence[Uncertainty], k: int
) -> DifferenceTest:
    if quantity.n_subjects == 1 and of_both[0].unit == "subject":
        return DifferenceTest(math.nan, OF_FEW_SUBJECTS)
    if any(number is None or number < FEWEST_ERRORS for number in errors):
        return DifferenceTest(math.nan, OF_FEW_ERRORS)
    if quantity.at in few:
        return DifferenceTest(math.nan, OF_THRESHOLDS)
    with np.errstate(invalid="ignore"):
        drawn = np.subtract(*(one.replicates[k] for one in of_both))
    return DifferenceTest(float(intervals.bootstrap_pvalue(drawn[None])[0]), least=2 / (1 + drawn.size))


def _of_measures(of_both: Sequence[Uncertainty]) -> dict[int, float]:
    """Return the p-values of fairness measures by their positions."""
    rows = of_both[0].rows
    if not rows:
        return {}
    finite = {key for key, k in rows.items() if all(math.isfinite(one.quantities[k].estimate) for one in of_both)}
    moved = [(uncertainty.systems(), uncertainty.inverted()) for uncertainty in of_both]
    counted = [uncertainty.inverted_counts() for uncertainty in of_both]
    return {rows[key]: pvalue for key, pvalue in joint_pvalues(moved, counted, finite).items()}


def _errors_behind(comparisons: Comparisons, evaluation: Evaluation) -> tuple[int | None, ...]:
    """Count the errors behind each quantity of an evaluation, which decide whether a verdict can rest on it.

    For a rate, the number of errors or that of correct decisions, whichever is smaller. For the EER, and for Cllr and
    min Cllr, the EER times the number of mated or non-mated comparisons, whichever is smaller. For minDCF, the number
    of false matches or of false non-matches at its threshold, whichever is smaller. None for thresholds and fairness
    measures.
    """
    of_group: dict[str | None, ClassKeys] = {None: keys_of(comparisons)}
    of_group |= {group: keys_of(comparisons, k) for k, group in enumerate(comparisons.groups)}
    asked = evaluation.settings
    costs = score_metrics.DetectionCosts(asked["p_target"], asked["c_miss"], asked["c_fa"])

    def count(quantity: Quantity) -> int | None:
        if quantity.n_errors is not None and quantity.n_comparisons is not None:
            return min(quantity.n_errors, quantity.n_comparisons - quantity.n_errors)
        if quantity.name == "threshold" or measure_of(quantity.name) is not None:
            return None
        keys = of_group[quantity.group]
        if not all(keys.sizes):
            return 0
        if quantity.name == "min_dcf":
            key = costs.least(keys)[1]
            false_nonmatches = int(np.searchsorted(keys.mated, key))
            return min(false_nonmatches, keys.nonmated.size - int(np.searchsorted(keys.nonmated, key)))
        rate, _ = score_metrics.equal_error(keys, asked["eer_method"])
        return round(rate * min(keys.sizes))

    return tuple(map(count, evaluation.quantities))


def _held_by_few(result: Rates) -> bool:
    """Return whether too few errors fix the threshold of an operating point; a threshold that was given needs none."""
    held = {"fmr": (result.counts.false_matches,), "fnmr": (result.counts.false_nonmatches,), "threshold": ()}
    both = result.counts.false_matches, result.counts.false_nonmatches
    return any(number < FEWEST_ERRORS for number in held.get(result.at.kind, both))


def _need(evaluation: Evaluation) -> Uncertainty:
    assert isinstance(evaluation.uncertainty, Uncertainty)
    return evaluation.uncertainty

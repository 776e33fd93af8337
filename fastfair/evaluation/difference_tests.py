"""The p-value of each difference between two systems, by the test that suits the quantity, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fastfair import intervals
from fastfair.error_rates.operating_points import FEWEST_ERRORS
from fastfair.measures._registry import measure_of
from fastfair.uncertainty.inversion import joint_pvalues
from fastfair.uncertainty.quantities import RATES

from .compared_system import ComparedSystem
from .score_tests import score_pvalues

OF_MEASURES = "no p-value and no verdict for a measure that chance moves to either side"
NOTHING_TO_DRAW = "no p-value and no verdict for a measure where a group has no errors and numbers cannot be drawn"
OF_FEW_ERRORS = f"no p-value and no verdict where one of the systems has fewer than {FEWEST_ERRORS} errors"
OF_THRESHOLDS = (
    f"no p-value and no verdict where the threshold of one of the systems is held by fewer than {FEWEST_ERRORS} errors"
)
OF_FEW_SUBJECTS = "no p-value and no verdict for a rate of one subject"
WITHOUT_REPLICATES = "no p-value and no verdict without replicates"
REASONS = (OF_MEASURES, NOTHING_TO_DRAW, OF_FEW_ERRORS, OF_THRESHOLDS, OF_FEW_SUBJECTS, WITHOUT_REPLICATES)


@dataclass(frozen=True, slots=True)
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


_UNTESTED = DifferenceTest(math.nan, WITHOUT_REPLICATES)


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
        For each pair, and each quantity of the evaluations. Rates have score tests, fairness measures joint test
        inversion, and EER and costs, as well as rates where units are not independent, bootstrap p-values. Without
        replicates only rates are tested.
    """
    quantities = [system.evaluation.quantities for system in systems]
    scores = score_pvalues([system.decisions for system in systems], quantities, pairs)
    return [
        _of_pair(systems[one], systems[other], of_pair.tolist())
        for (one, other), of_pair in zip(pairs, scores, strict=True)
    ]


def _of_pair(first: ComparedSystem, second: ComparedSystem, scores: Sequence[float]) -> tuple[DifferenceTest, ...]:
    """Test two systems, given the p-values of score tests."""
    pairs = list(zip(first.evaluation.quantities, second.evaluation.quantities, strict=True))
    if not first.evaluation.settings["n_resamples"]:
        return tuple(_UNTESTED if math.isnan(p) else DifferenceTest(p) for p in scores)
    joint = _of_measures(first, second)
    found = []
    for k, ((one, other), score) in enumerate(zip(pairs, scores, strict=True)):
        measure = measure_of(one.name)
        if measure is not None:
            reason = OF_MEASURES if measure.fairer == "nearer" else NOTHING_TO_DRAW
            pvalue = joint.get(k, math.nan)
            found.append(DifferenceTest(pvalue, reason if math.isnan(pvalue) else ""))
        elif one.name in RATES and not math.isnan(score):
            found.append(DifferenceTest(score))
        elif not (math.isfinite(one.estimate) and math.isfinite(other.estimate)):
            found.append(DifferenceTest(math.nan))
        else:
            found.append(_bootstrap_test(first, second, k))
    return tuple(found)


def _bootstrap_test(first: ComparedSystem, second: ComparedSystem, k: int) -> DifferenceTest:
    quantity, both = first.evaluation.quantities[k], (first, second)
    if quantity.n_subjects == 1 and first.uncertainty.sizes.unit == "subject":
        return DifferenceTest(math.nan, OF_FEW_SUBJECTS)
    errors = [system.errors_behind[k] for system in both]
    if any(number is None or number < FEWEST_ERRORS for number in errors):
        return DifferenceTest(math.nan, OF_FEW_ERRORS)
    if any(quantity.at in system.points_held_by_few for system in both):
        return DifferenceTest(math.nan, OF_THRESHOLDS)
    with np.errstate(invalid="ignore"):
        drawn = np.subtract(*(system.uncertainty.replicates[k] for system in both))
    return DifferenceTest(float(intervals.bootstrap_pvalue(drawn[None])[0]), least=2 / (1 + drawn.size))


def _of_measures(first: ComparedSystem, second: ComparedSystem) -> dict[int, float]:
    """Return the p-values of fairness measures by their positions."""
    both = [system.uncertainty.inversion for system in (first, second)]
    if both[0] is None or both[1] is None:
        return {}
    rows, quantities = both[0].rows, (first.uncertainty.quantities, second.uncertainty.quantities)
    finite = {key for key, k in rows.items() if all(math.isfinite(of_system[k].estimate) for of_system in quantities)}
    return {rows[key]: pvalue for key, pvalue in joint_pvalues(both[0], both[1], finite).items()}

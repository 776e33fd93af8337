"""What the documentation says of coverage, on 1,000 data sets of each population."""

from __future__ import annotations

import functools

import coverage_study
import pytest
from coverage_study import Coverage, Quantity, Study

pytestmark = pytest.mark.slow

FEW, WEAK, STRONG, FAIR = "20, strong", "60, weak", "60, strong", "60, strong, fair"
REPEATED, SPARSE = "60, strong, 3 a pair", "500, strong, 40 partners"
POPULATIONS = {population.name: population for population in coverage_study.POPULATIONS}
DATA_SETS = 1000

# Between what the default's coverage lies, three binomial standard errors aside.
RATES = ("FMR", "FMR of a group", "FNMR", "FNMR of a group", "threshold", "EER", "EER of a group")
OF_RATES = {FEW: (0.93, 0.99), WEAK: (0.93, 0.97), STRONG: (0.92, 0.97), REPEATED: (0.89, 0.97), SPARSE: (0.92, 0.97)}
ENOUGH_ERRORS = 10
OF_MEASURES = {
    (STRONG, "max-geomean ratio of FMR", "FMR 0.1"): (0.95, 0.99),
    (STRONG, "max-geomean ratio of FMR", "FMR 0.01"): (0.94, 0.99),
    (STRONG, "GARBE", "FMR 0.01"): (0.93, 0.98),
    (STRONG, "FDR", "FMR 0.01"): (0.93, 0.97),
    (FEW, "GARBE", "FMR 0.1"): (0.75, 0.85),  # groups without errors
    (FEW, "FDR", "FMR 0.1"): (0.82, 0.90),
    (SPARSE, "GARBE", "FMR 0.01"): (0.92, 0.98),
    (SPARSE, "FDR", "FMR 0.01"): (0.92, 0.98),
    (FAIR, "max-geomean ratio of FMR", "FMR 0.01"): (0.95, 1.0),
    (FAIR, "max-geomean ratio of FNMR", "FMR 0.01"): (0.95, 1.0),
    (FAIR, "GARBE", "FMR 0.01"): (0.95, 1.0),
    (FAIR, "FDR", "FMR 0.01"): (0.95, 1.0),
    (FAIR, "FDR", "FMR 0.1"): (0.92, 0.97),
}


@functools.cache
def studied(name: str) -> Study:
    return coverage_study.study(POPULATIONS[name], DATA_SETS)


def of(found: Study, quantity: Quantity, variant: str = "default") -> Coverage:
    return coverage_study.coverage(found, quantity, variant)


def has_errors(found: Study, quantity: Quantity) -> bool:
    """Say whether enough errors are behind a rate, or behind the operating point of what is no rate."""
    return not coverage_study.mean_errors(found, quantity) < ENOUGH_ERRORS


@pytest.mark.parametrize("name", OF_RATES)
def test_intervals_of_rates_hold_the_truth_as_often_as_documented(name):
    found = studied(name)
    low, high = OF_RATES[name]
    checked = [q for q in coverage_study.quantities(found) if q.label in RATES and has_errors(found, q)]
    assert len(checked) >= 6
    outside = {}
    for quantity in checked:
        result = of(found, quantity)
        if not low - 3 * result.error <= result.share <= high + 3 * result.error:
            outside[quantity.label, quantity.at] = result
    assert outside == {}


@pytest.mark.parametrize(("name", "label", "at"), OF_MEASURES)
def test_intervals_of_measures_hold_the_truth_as_often_as_documented(name, label, at):
    found = studied(name)
    result = of(found, coverage_study.pick(found, label, at))
    low, high = OF_MEASURES[name, label, at]
    assert low - 3 * result.error <= result.share <= high + 3 * result.error


@pytest.mark.parametrize(("name", "level"), [(WEAK, 0.1), (WEAK, 0.01), (SPARSE, 0.001)])
def test_product_weights_are_too_wide_for_false_match_rates(name, level):
    found = studied(name)
    quantity = coverage_study.pick(found, "FMR of a group", f"threshold of FMR {level:g}")
    default, product = of(found, quantity), of(found, quantity, "product")
    assert product.share >= 0.98
    assert product.width >= 1.3 * default.width
    assert coverage_study.error_ratio(found, quantity, "product") >= 1.3


@pytest.mark.parametrize(
    ("name", "level"), [(FEW, 0.1), (STRONG, 0.1), (STRONG, 0.01), (REPEATED, 0.01), (SPARSE, 0.01)]
)
def test_resampling_comparisons_is_too_narrow_where_subjects_matter(name, level):
    found = studied(name)
    quantity = coverage_study.pick(found, "FMR of a group", f"threshold of FMR {level:g}")
    result = of(found, quantity, "comparison")
    assert result.share + 3 * result.error <= 0.85
    assert coverage_study.error_ratio(found, quantity, "comparison") <= 0.75


@pytest.mark.parametrize("name", [WEAK, STRONG, REPEATED, SPARSE])
def test_replicates_spread_as_estimates_do_over_data_sets(name):
    found = studied(name)
    wanted = ("FMR", "FMR of a group", "threshold", "FNMR")
    checked = [q for q in coverage_study.quantities(found) if q.label in wanted and has_errors(found, q)]
    ratios = {(q.label, q.at): coverage_study.error_ratio(found, q) for q in checked}
    assert all(0.85 <= ratio <= 1.12 for ratio in ratios.values()), ratios

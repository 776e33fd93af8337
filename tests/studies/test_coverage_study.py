"""What the documentation says of coverage, on up to 1,000 data sets of each population."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import pytest
from studies import coverage_study
from studies.coverage_study import Coverage, Quantity
from studies.evaluated import Study

pytestmark = pytest.mark.study

FEW, WEAK, STRONG, FAIR = "20, strong", "60, weak", "60, strong", "60, strong, fair"
REPEATED, SPARSE = "60, strong, 3 a pair", "500, strong, 40 partners"
POPULATIONS = {population.name: population for population in coverage_study.POPULATIONS}
DATA_SETS = 1000
Studied = Callable[[str], Study]

# Between what the default's coverage lies, three binomial standard errors aside.
RATES = ("FMR", "FMR of a group", "FNMR", "FNMR of a group", "threshold", "EER", "EER of a group")
OF_RATES = {
    FEW: (0.93, 0.99),
    WEAK: (0.93, 0.97),
    STRONG: (0.92, 0.97),
    REPEATED: (0.89, 0.97),
    SPARSE: (0.92, 0.97),
}
ENOUGH_ERRORS = 10
OF_MEASURES = {
    (STRONG, "max-geomean ratio of FMR", "FMR 0.1"): (0.95, 0.99),
    (STRONG, "max-geomean ratio of FMR", "FMR 0.01"): (0.94, 0.99),
    (STRONG, "GARBE", "FMR 0.01"): (0.93, 0.98),
    (STRONG, "FDR", "FMR 0.01"): (0.93, 0.97),
    (FEW, "GARBE", "FMR 0.1"): (
        0.92,
        0.99,
    ),  # groups without errors, whose numbers of errors are drawn
    (FEW, "FDR", "FMR 0.1"): (0.84, 0.97),
    (SPARSE, "GARBE", "FMR 0.01"): (0.92, 0.98),
    (SPARSE, "FDR", "FMR 0.01"): (0.92, 0.98),
    (FAIR, "max-geomean ratio of FMR", "FMR 0.01"): (0.95, 1.0),
    (FAIR, "max-geomean ratio of FNMR", "FMR 0.01"): (0.95, 1.0),
    (FAIR, "GARBE", "FMR 0.01"): (0.95, 1.0),
    (FAIR, "FDR", "FMR 0.01"): (0.95, 1.0),
    (FAIR, "FDR", "FMR 0.1"): (0.92, 0.97),
}


def on(name: str, *more: object) -> object:
    """Mark what is asked of a population, for one process to draw it."""
    return pytest.param(name, *more, marks=pytest.mark.xdist_group(name))


@pytest.fixture(scope="module")
def studied(data_sets) -> Studied:
    return functools.cache(
        lambda name: coverage_study.study(POPULATIONS[name], data_sets(DATA_SETS), processes=1)
    )


def slack(found: Study) -> float:
    """Three standard errors of a standard deviation over the data sets, as a share of it."""
    return 3 / math.sqrt(2 * (len(found.first["estimate"]) - 1))


def of(found: Study, quantity: Quantity, variant: str = "default") -> Coverage:
    return coverage_study.coverage(found, quantity, variant)


def has_errors(found: Study, quantity: Quantity) -> bool:
    """Say whether enough errors are behind a rate, or behind the operating point of what is no
    rate."""
    return not coverage_study.mean_errors(found, quantity) < ENOUGH_ERRORS


@pytest.mark.parametrize("name", [on(name) for name in OF_RATES])
def test_intervals_of_rates_hold_the_truth_as_often_as_documented(name, studied):
    found = studied(name)
    low, high = OF_RATES[name]
    checked = [
        q for q in coverage_study.quantities(found) if q[0] in RATES and has_errors(found, q)
    ]
    assert len(checked) >= 6
    outside = {}
    for quantity in checked:
        result = of(found, quantity)
        if not low - 3 * result.error <= result.share <= high + 3 * result.error:
            outside[quantity] = result
    assert outside == {}


@pytest.mark.parametrize(("name", "label", "at"), [on(*key) for key in OF_MEASURES])
def test_intervals_of_measures_hold_the_truth_as_often_as_documented(name, label, at, studied):
    found = studied(name)
    result = of(found, coverage_study.pick(found, label, at))
    low, high = OF_MEASURES[name, label, at]
    assert low - 3 * result.error <= result.share <= high + 3 * result.error


@pytest.mark.parametrize(("name", "level"), [on(WEAK, 0.1), on(WEAK, 0.01), on(SPARSE, 0.001)])
def test_product_weights_are_too_wide_for_false_match_rates(name, level, studied):
    found = studied(name)
    quantity = coverage_study.pick(found, "FMR of a group", f"threshold of FMR {level:g}")
    default, product = of(found, quantity), of(found, quantity, "product")
    assert product.share + 3 * product.error >= 0.99
    assert product.width >= 1.3 * default.width
    assert coverage_study.error_ratio(found, quantity, "product") >= 1.4 * (1 - slack(found))


@pytest.mark.parametrize(
    ("name", "level"),
    [on(FEW, 0.1), on(STRONG, 0.1), on(STRONG, 0.01), on(REPEATED, 0.01), on(SPARSE, 0.01)],
)
def test_resampling_comparisons_is_too_narrow_where_subjects_matter(name, level, studied):
    found = studied(name)
    quantity = coverage_study.pick(found, "FMR of a group", f"threshold of FMR {level:g}")
    result = of(found, quantity, "comparison")
    assert result.share - 3 * result.error <= 0.78
    assert coverage_study.error_ratio(found, quantity, "comparison") <= 0.65 * (1 + slack(found))


@pytest.mark.parametrize("name", [on(name) for name in (WEAK, STRONG, REPEATED, SPARSE)])
def test_replicates_spread_as_estimates_do_over_data_sets(name, studied):
    found = studied(name)
    wanted = ("FMR", "FMR of a group", "threshold", "FNMR")
    checked = [
        q for q in coverage_study.quantities(found) if q[0] in wanted and has_errors(found, q)
    ]
    ratios = {q: coverage_study.error_ratio(found, q) for q in checked}
    low, high = 0.91 * (1 - slack(found)), 1.06 * (1 + slack(found))
    assert all(low <= ratio <= high for ratio in ratios.values()), ratios

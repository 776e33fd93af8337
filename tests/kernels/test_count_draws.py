"""Beta-binomial numbers of errors against scipy's quantiles."""

import numpy as np
import pytest
from fastfair.kernels.count_draws import draw_counts
from hypothesis import given
from hypothesis import strategies as st

MANY = 1e13  # trials, which stand for infinitely many
SIZES = st.floats(0.05, 300)


def drawn(n, a, b, n_replicates=300):
    uniform = np.random.default_rng(0).random((1, n_replicates))
    order, out = np.argsort(uniform), np.empty((1, 1, n_replicates))
    draw_counts(
        np.sort(uniform), order, np.array([float(n)]), np.array([[a]]), np.array([[b]]), out
    )
    return uniform[0], out[0, 0]


def assert_quantiles(distribution, uniform, counts):
    """Compare with the quantiles, but for uniform numbers that rounding puts to either side of a
    step."""
    assert (distribution.cdf(counts) >= uniform - 1e-9).all()
    assert (distribution.cdf(counts - 1) <= uniform + 1e-9).all()


@given(st.integers(1, 2000), SIZES, SIZES)
def test_numbers_are_beta_binomial_quantiles(n, a, b):
    from scipy.stats import betabinom

    assert_quantiles(betabinom(n, a, b), *drawn(n, a, b))


@given(SIZES, st.floats(1e-6, 100))
def test_numbers_of_many_trials_are_gamma_poisson_quantiles(shape, scale):
    from scipy.stats import nbinom

    assert_quantiles(nbinom(shape, 1 / (1 + scale)), *drawn(MANY, shape, MANY / scale))


@pytest.mark.parametrize("mean", [1e-12, 0.3, 20])
def test_numbers_without_overdispersion_are_poisson_quantiles(mean):
    from scipy.stats import poisson

    assert_quantiles(poisson(mean), *drawn(MANY, mean / 1e-9, MANY / 1e-9))


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(1e-12, 5.0, 0), (5.0, 1e-12, 40), (1e-12 * 0.5, 0.5, 0)]
)
def test_rates_at_the_ends_give_all_or_nothing(a, b, expected):
    assert (drawn(40, a, b)[1] == expected).all()


def test_each_replicate_has_its_own_uniform_number():
    uniform, counts = drawn(50, 2.0, 3.0)
    assert (np.diff(counts[np.argsort(uniform)]) >= 0).all()
    assert np.ptp(counts) > 20

"""Simulated embeddings against the theory of the von Mises-Fisher distribution."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.each import each
from helpers.refusals import refused
from scipy import integrate, special, stats

import fastfair as ff


def one_subject(concentration, d, n, rng=0):
    """Vectors about the first axis, and as many about the second."""
    identities = ff.VonMisesFisherIdentities(np.eye(d)[:2], concentration)
    return identities.draw([n, n], rng=rng)[:n].astype(float)


def mean_resultant_length(concentration, d):
    return special.ive(d / 2, concentration) / special.ive(d / 2 - 1, concentration)


@each("d", [2, 3, 10, 64, 512])
@each("per_dimension", [0, 0.05, 1, 5, 1000])
def test_mean_direction_and_its_length(d, per_dimension):
    n, concentration = 5_000, per_dimension * d
    x = one_subject(concentration, d, n)
    assert np.abs(np.linalg.norm(x, axis=1) - 1).max() < 1e-6
    expected = mean_resultant_length(concentration, d) if concentration else 0.0
    variance = (
        1 - expected**2 - (d - 1) * (expected / concentration if concentration else 1 / d)
    )  # of the cosine
    assert abs(x[:, 0].mean() - expected) < 5 * np.sqrt(max(variance, 0) / n) + 1e-7
    aside = x[:, 1:]
    moment = (1 - (x[:, 0] ** 2).mean()) / (d - 1)  # of each direction across
    assert np.abs(aside.mean(axis=0)).max() < 5 * np.sqrt(moment / n)
    spread = aside.T @ aside / n
    assert np.abs(spread - moment * np.eye(d - 1)).max() < 8 * moment / np.sqrt(n)


@each(("d", "concentration"), [(2, 0.0), (2, 3.0), (3, 5.0), (16, 10.0), (64, 150.0), (512, 800.0)])
def test_the_cosine_has_its_whole_distribution(d, concentration):
    """Its density is proportional to exp(k w) (1 - w^2)^((d - 3) / 2); in the angle the powers are
    one higher."""
    angle = np.arccos(np.clip(one_subject(concentration, d, 20_000)[:, 0], -1, 1))
    grid = np.linspace(0, np.pi, 20_001)
    with np.errstate(divide="ignore"):
        power = 0 if d == 2 else (d - 2) * np.log(np.sin(grid))
    density = np.exp(
        concentration * (np.cos(grid) - 1)
        + power
        - np.max(concentration * (np.cos(grid) - 1) + power)
    )
    cumulative = integrate.cumulative_trapezoid(density, grid, initial=0)
    found = stats.kstest(angle, lambda x: np.interp(x, grid, cumulative / cumulative[-1]))
    assert found.pvalue > 1e-4


def test_one_seed_serves_identities_and_draws():
    """The two streams are apart: neither vectors nor centres show in the other."""
    identities = ff.VonMisesFisherIdentities.random(500, 16, 0.0, rng=5)
    x = identities.draw(1, rng=5)
    assert abs(np.corrcoef(x.ravel(), identities.centers.ravel())[0, 1]) < 0.05


@pytest.mark.parametrize(
    ("m", "fnmr", "correlation"), [(4, 0.1, 0.3), (2, 0.5, 0.05), (6, 0.02, 0.8), (5, 0.3, 0.0)]
)
def test_failures_of_subjects_are_beta_binomial(m, fnmr, correlation):
    n = 200_000
    failed = ff.correlated_decisions(n, m, fnmr, correlation, rng=0)
    assert failed.shape == (n, m)
    assert failed.dtype == np.bool_
    assert failed.flags.c_contiguous
    law = stats.binom(m, fnmr)
    if correlation:
        scale = (1 - correlation) / correlation
        law = stats.betabinom(m, fnmr * scale, (1 - fnmr) * scale)
    expected = n * law.pmf(np.arange(m + 1))
    many = expected >= 5
    counts = np.bincount(failed.sum(axis=1), minlength=m + 1)
    counts, expected = (
        np.append(x[many], x[~many].sum()) if (~many).any() else x for x in (counts, expected)
    )
    assert stats.chisquare(counts, expected).pvalue > 1e-4
    # No attempt is special: each fails as often, and each two have the same correlation.
    error = np.sqrt(fnmr * (1 - fnmr) / n)
    assert np.abs(failed.mean(axis=0) - fnmr).max() < 4.5 * error
    found = np.corrcoef(failed.T)[np.triu_indices(m, 1)]
    assert np.abs(found - correlation).max() < 4.5 / np.sqrt(n * fnmr * (1 - fnmr))


def test_decisions_that_are_fully_correlated_are_the_same():
    failed = ff.correlated_decisions(10_000, 5, 0.2, 1.0, rng=1)
    assert (failed == failed[:, :1]).all()
    assert failed[:, 0].mean() == pytest.approx(0.2, abs=0.02)


def test_decisions_are_the_same_for_a_seed():
    first, again, other = (ff.correlated_decisions(50, 3, 0.3, 0.2, rng=seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


VECTORS = (
    ff.von_mises_fisher_embeddings,
    {"n_subjects": 4, "n_samples": 2, "dim": 3, "concentration": 5},
)
IDENTITIES = ff.VonMisesFisherIdentities, {"centers": np.eye(2), "concentrations": 1}
DECISIONS = (
    ff.correlated_decisions,
    {"n_subjects": 4, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.2},
)


@each(
    ("make", "changed", "message"),
    [
        (VECTORS, {"n_subjects": 1}, "n_subjects must be a whole number of at least 2, not 1"),
        (VECTORS, {"dim": 1}, "dim must be a whole number of at least 2"),
        (VECTORS, {"dim": 2.5}, "dim must be a whole number"),
        (VECTORS, {"n_samples": 0}, "n_samples must be whole numbers of at least 1, not 0"),
        (VECTORS, {"n_samples": [2, 2]}, "one for each of 4 subjects"),
        (VECTORS, {"n_samples": 1.5}, "n_samples must be whole numbers"),
        (VECTORS, {"n_samples": 1}, "no mated pairs"),
        (VECTORS, {"concentration": -1}, "at least 0"),
        (VECTORS, {"concentration": (2, 1)}, "a pair ascending"),
        (VECTORS, {"concentration": (1, 2, 3)}, "a pair of numbers"),
        (VECTORS, {"concentration": (1, np.inf)}, "must be a finite number"),
        (VECTORS, {"rng": -1}, "rng must be"),
        (IDENTITIES, {"centers": [[1, 0], [0, 0]]}, "1 of 2 vectors are zero"),
        (IDENTITIES, {"centers": [[1], [2]]}, "at least 2 columns"),
        (IDENTITIES, {"concentrations": [1, 2, 3]}, "one number, or one for each of 2 centers"),
        (IDENTITIES, {"concentrations": "high"}, "a number or an array of them"),
        (IDENTITIES, {"concentrations": [1, np.nan]}, "finite numbers of at least 0"),
        (DECISIONS, {"n_subjects": 0}, "n_subjects must be a whole number of at least 1, not 0"),
        (DECISIONS, {"n_attempts": 1.5}, "n_attempts must be a whole number"),
        (DECISIONS, {"fnmr": 0.0}, r"fnmr must be .*fractions? in \(0, 1\), not 0"),
        (DECISIONS, {"fnmr": 10}, "for 10 % write 0.1"),
        (DECISIONS, {"fnmr": [0.1, 0.2]}, "fnmr must be a finite number"),
        (DECISIONS, {"correlation": 1.5}, r"correlation must be .*fractions? in \[0, 1\], not 1.5"),
        (DECISIONS, {"rng": -1}, "rng must be"),
    ],
)
def test_bad_arguments_are_refused(make, changed, message):
    make, arguments = make
    refused(message, make, **arguments | changed)

"""Binormal systems: their closed forms, and samples that keep to them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.each import each
from helpers.refusals import refused
from scipy import stats

import fastfair as ff

GRID = np.linspace(0.001, 0.999, 999)


def normal(side):
    """Undo the map to distances, in the order of drawing where that is known."""
    distance = (
        -side.similarities if side.rows is None else -side.similarities[np.argsort(side.rows)]
    )
    return np.log1p(-distance) - np.log(distance)


def is_binomial(errors, n, rate):
    return stats.binomtest(round(errors), n, rate).pvalue > 1e-4


@pytest.mark.parametrize(
    ("error", "success"), [(0.001, 0.95), (0.05, 0.95), (0.2, 0.6), (1e-12, 0.5), (0.9, 0.3)]
)
def test_the_rates_asked_for_are_those_of_the_system(error, success):
    by_fmr = ff.synthesis.Binormal.of_rates(fmr=error, tmr=success)
    assert by_fmr.fmr(by_fmr.threshold_at_fnmr(1 - success)) == pytest.approx(error)
    by_fnmr = ff.synthesis.Binormal.of_rates(fnmr=error, tnmr=success)
    assert by_fnmr.fnmr(by_fnmr.threshold_at_fmr(1 - success)) == pytest.approx(error)
    assert by_fmr.mu == by_fnmr.mu == pytest.approx(stats.norm.isf(error) + stats.norm.ppf(success))


def test_paper_1_has_these_targets():
    mu = [ff.synthesis.Binormal.of_rates(fmr=x * 0.001).mu for x in (1, 2, 3, 5, 10, 20, 50)]
    assert mu == sorted(mu, reverse=True)
    assert mu[-1] == pytest.approx(2 * stats.norm.ppf(0.95))


@pytest.mark.parametrize("mu", [-1.0, 0.0, 0.5, 3.0, 8.0])
def test_rates_are_those_of_the_normal_laws(mu):
    system = ff.synthesis.Binormal(mu)
    similarity = -np.log(GRID / (1 - GRID))
    assert np.allclose(system.fmr(GRID), stats.norm(-mu / 2).sf(similarity), rtol=1e-12, atol=0)
    assert np.allclose(system.fnmr(GRID), stats.norm(mu / 2).cdf(similarity), rtol=1e-12, atol=0)
    assert np.allclose(system.threshold_at_fmr(system.fmr(GRID)), GRID, atol=1e-6)
    assert np.allclose(system.threshold_at_fnmr(system.fnmr(GRID)), GRID, atol=1e-6)
    assert system.fmr([0, 1]).tolist() == system.fnmr([1, 0]).tolist() == [0, 1]
    assert (
        system.threshold_at_fmr([0, 1]).tolist()
        == system.threshold_at_fnmr([1, 0]).tolist()
        == [0, 1]
    )
    assert system.fmr(np.full((2, 3), 0.5)).shape == (2, 3)


@pytest.mark.parametrize("mu", [0.0, 1.0, 4.7])
def test_the_equal_error_rate_is_where_the_rates_cross(mu):
    system = ff.synthesis.Binormal(mu)
    grid = np.linspace(0, 1, 100_001)
    fmr, fnmr = system.fmr(grid), system.fnmr(grid)
    place = np.abs(fmr - fnmr).argmin()
    assert (grid[place], system.eer) == pytest.approx((0.5, fmr[place]))


@pytest.mark.jit
@pytest.mark.parametrize("effect", [0.0, 0.5])
@pytest.mark.parametrize("kind", [{"fmr": 0.01}, {"fnmr": 0.02, "tnmr": 0.9}])
def test_samples_have_the_rates_of_the_system(kind, effect):
    """With as many subjects as comparisons, hardly two comparisons of one class are of the same."""
    n, system = 100_000, ff.synthesis.Binormal.of_rates(**kind)
    c = system.draw(n, n, n_subjects=n, subject_effect=effect, rng=1)
    for threshold in (0.3, 0.5, 0.6):
        r = ff.rates(c, ff.at_threshold(threshold))
        assert is_binomial(r.fnmr * n, n, float(system.fnmr(threshold)))
        # A subject is in two non-mated comparisons, whose errors are somewhat alike.
        assert abs(r.fmr - system.fmr(threshold)) < 5 * np.sqrt(2 * system.fmr(threshold) / n)
    assert ff.eer(c).value == pytest.approx(system.eer, abs=5 * np.sqrt(system.eer / n))
    for side, mean in ((c.mated, system.mu / 2), (c.nonmated, -system.mu / 2)):
        assert stats.kstest(normal(side), stats.norm(mean).cdf).pvalue > 1e-4


def correlation(values, subjects):
    """Correlate values with others of the same subjects; their mean is 0 and their variance 1."""
    order = np.argsort(subjects, kind="stable")
    same = np.diff(subjects[order]) == 0
    return (values[order][1:] * values[order][:-1])[same].mean()


@pytest.mark.jit
@pytest.mark.parametrize("effect", [0.0, 0.3, 0.8, 1.0])
def test_subjects_correlate_as_promised(effect):
    k, mu = 400, 2.0
    c = ff.synthesis.Binormal(mu).draw(
        20 * k, 2 * k * (k - 1), n_subjects=k, subject_effect=effect, rng=2
    )
    mated, nonmated = normal(c.mated) - mu / 2, normal(c.nonmated) + mu / 2
    mated_subject, reference, probe = (
        getattr(side, role)[np.argsort(side.rows)].astype(int)
        for side, role in ((c.mated, "probe"), (c.nonmated, "reference"), (c.nonmated, "probe"))
    )
    noise = 5 * np.sqrt(2 / k)
    assert correlation(mated, mated_subject) == pytest.approx(effect, abs=noise)
    pair = np.minimum(reference, probe) * k + np.maximum(reference, probe)
    assert correlation(nonmated, pair) == pytest.approx(effect, abs=noise)
    assert correlation(nonmated, reference) == pytest.approx(effect / 2, abs=noise)
    own = [np.bincount(*part, k) for part in ((mated_subject, mated), (reference, nonmated))]
    assert abs(np.corrcoef(own)[0, 1]) < noise  # a subject's two effects are apart


@each(
    ("options", "message"),
    [
        ({}, "give one of fmr and fnmr, not neither"),
        ({"fmr": 0.1, "fnmr": 0.1}, "give one of fmr and fnmr, not both"),
        ({"fmr": 0.0}, r"fmr must be .*fractions? in \(0, 1\), not 0"),
        ({"fmr": 5}, r"fmr must be .*fractions? in \(0, 1\), not 5; for 5 % write 0.05"),
        ({"fmr": 0.1, "tmr": 1.0}, r"tmr must be .*fractions? in \(0, 1\), not 1"),
        ({"fnmr": 0.1, "tnmr": 0}, r"tnmr must be .*fractions? in \(0, 1\), not 0"),
        ({"fnmr": [0.1, 0.2]}, "fnmr must be a finite number"),
        ({"fmr": 0.1, "n_mated": 0}, "n_mated must be a whole number of at least 1, not 0"),
        ({"fmr": 0.1, "n_nonmated": 1.5}, "n_nonmated must be a whole number"),
        ({"fmr": 0.1, "n_subjects": 1}, "n_subjects must be a whole number of at least 2, not 1"),
        (
            {"fmr": 0.1, "subject_effect": 0.1},
            "there are no subjects: say how many with n_subjects=",
        ),
        (
            {"fmr": 0.1, "n_subjects": 5, "subject_effect": 1.1},
            r"subject_effect must be .*fractions? in \[0, 1\], not 1.1",
        ),
        (
            {"fmr": 0.1, "n_subjects": 5, "subject_effect": -0.1},
            r"subject_effect must be .*fractions? in \[0, 1\], not -0.1",
        ),
        ({"fmr": 0.1, "group": " "}, "group is missing"),
    ],
)
def test_bad_input(options, message):
    refused(
        message, ff.synthesis.binormal_comparisons, **{"n_mated": 10, "n_nonmated": 10} | options
    )


def test_bad_systems_and_thresholds():
    refused("mu must be a finite number, not inf", ff.synthesis.Binormal, np.inf)
    refused(
        r"threshold must be .*fractions? in \[0, 1\], not -0.5", ff.synthesis.Binormal(2).fmr, -0.5
    )
    refused(
        r"fnmr must be .*fractions? in \[0, 1\]",
        ff.synthesis.Binormal(2).threshold_at_fnmr,
        [0.5, 2],
    )

"""Plans for FMR: parts against the kernels, and limits of simulated studies against those of
`claim`."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from fastfair.kernels import dyadic
from helpers.each import each
from helpers.quiet import quietly
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import planned_studies
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr

import fastfair as ff
from fastfair.errors import InputError, OutOfReachWarning
from fastfair.planning import fmr
from fastfair.planning.fmr import Design, Law

SETTING = {"claimed": 0.01, "fmr": 0.004, "covariance": 1.0, "n_simulations": 200, "rng": 0}


def ring(n: int, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of subjects who are compared, each with the nearest ones of a ring."""
    i, j = np.triu_indices(n, 1)
    kept = np.minimum(j - i, n - j + i) <= design.partners(n) / 2
    return i[kept].astype(np.int32), j[kept].astype(np.int32)


@given(st.integers(6, 14), st.sampled_from([None, 2, 4]), st.sampled_from([1, 2]), st.data())
def test_the_variance_is_that_of_the_kernel(n, n_partners, n_samples, data):
    design = Design(n_partners, n_samples)
    first, second = (
        ring(n, design) if n_partners else tuple(a.astype(np.int32) for a in np.triu_indices(n, 1))
    )
    assert first.size == design.pairs(n)
    times = np.zeros(first.size, np.int64)
    for pair in data.draw(
        st.sets(st.integers(0, first.size - 1), min_size=1, max_size=first.size // 2)
    ):
        times[pair] = data.draw(st.integers(1, design.repeats))
    expected = np.empty((1, 3))
    dyadic.variances(
        first,
        second,
        np.full(first.size, design.repeats, np.int32),
        np.array([first.size]),
        times.astype(np.float64),
        np.zeros(n, np.int32),
        np.array([n]),
        expected,
    )
    erred = times > 0
    pairs = first[erred].astype(np.int64), second[erred].astype(np.int64), times[erred]
    variance, freedom = fmr.dyadic_variance(pairs, n, design)
    assert variance == pytest.approx(expected[0, dyadic.ROBUST], rel=1e-9)
    assert freedom == pytest.approx(expected[0, dyadic.FREEDOM], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "design",
    [
        Design(None, 1, 0.01, 1.2),
        Design(20, 1, 0.02, 0.7),
        Design(None, 2, 0.004, 1.0, 0.4),
        Design(None, 1, 0.02),
    ],
)
def test_numbers_of_false_matches_vary_as_the_formula_says(design):
    errors, _, _ = fmr.simulate(design, 80, 0.95, 4000, [1])
    mean = design.fmr * design.comparisons(80)
    assert errors.mean() == pytest.approx(mean, rel=0.05)
    assert errors.var() / mean**2 == pytest.approx(design.relative_variance(80), rel=0.15)


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize(
    ("n", "n_partners", "n_samples", "matches"),
    [
        (100, None, 1, (0.005, 1.2, 0.0)),
        (150, 20, 1, (0.004, 1.2, 0.0)),
        (60, None, 2, (0.004, 0.7, 0.3)),
        (80, None, 1, (1e-4, 1.2, 0.0)),  # most have no false match
    ],
)
def test_limits_are_those_of_claims(n, n_partners, n_samples, matches):
    limits, narrow = [], []
    with quietly():
        for seed in range(80):
            c = planned_studies.compared(
                n, n_partners, n_samples, matches, np.random.default_rng([5, seed])
            )
            found = ff.claim(c, "fmr <= 0.5", ff.at_threshold(0.0), n_resamples=300, rng=seed)
            limits.append(found.overall.limit)
            narrow.append(found.overall.doubt != "")
    _, simulated, is_narrow = fmr.simulate(
        Design(n_partners, n_samples, *matches), n, 0.95, 2000, [1]
    )
    low, high = stats.binom.ppf([0.0005, 0.9995], len(narrow), is_narrow.mean()) / len(narrow)
    assert low - 0.03 <= np.mean(narrow) <= high + 0.03
    for share in (0.3, 0.5, 0.8):
        claimed = np.quantile(simulated, share) * 1.02  # of what replicates are off by
        low, high = stats.binom.ppf(
            [0.0005, 0.9995], len(limits), (simulated <= claimed).mean()
        ) / len(limits)
        assert low - 0.03 <= np.mean(limits <= claimed) <= high + 0.03


@given(
    st.sampled_from([1e-3, 0.01, 0.1]), st.sampled_from([0.0, 0.2, 0.5, 0.7]), st.sampled_from([0.5, 0.8, 0.95]),
    st.sampled_from([Design(None, 1), Design(10, 1), Design(None, 2)]),
)  # fmt: skip
def test_subjects_that_would_do_if_comparisons_were_independent(claimed, part, assurance, design):
    """The first number with which Clopper and Pearson's limit is low enough in so many studies."""

    def share(n: int) -> float:
        size, errors = design.comparisons(n), -1
        while errors + 1 < size and stats.beta.ppf(0.95, errors + 2, size - errors - 1) <= claimed:
            errors += 1
        return float(stats.binom.cdf(errors, size, part * claimed)) if errors >= 0 else 0.0

    found = fmr.independent_subjects(replace(design, fmr=part * claimed), claimed, assurance, 0.95)
    assert share(found) >= assurance
    if found > 5:
        assert share(found - 1) < assurance


def test_no_false_match_expected():
    plan = ff.plan_fmr(**SETTING | {"fmr": 0.0, "covariance": 0.0})
    assert plan.rule_of_3 == 300
    assert math.isinf(plan.rule_of_30)
    assert (
        plan.needed.n_comparisons >= 4 * 299
    )  # log(20) / 0.01, with room for four times the limit
    assert plan.needed.limit == pytest.approx(1 - 0.05 ** (1 / plan.needed.n_comparisons), rel=0.2)
    assert "without a false match." in plan.summary()
    assert json.loads(plan.to_json())["rule_of_30"] == "Infinity"


@pytest.mark.jit
def test_what_a_pilot_tells():
    rng = np.random.default_rng(3)
    pilot = planned_studies.compared(250, None, 1, (0.01, 1.0, 0.0), rng)
    plan = ff.plan_fmr(claimed=0.02, pilot=pilot, at=ff.at_threshold(0.0), n_simulations=100, rng=0)
    assert plan.fmr == ff.rates(pilot, ff.at_threshold(0.0)).fmr
    assert 0.5 < plan.covariance < 2
    assert plan.settings["at"] == "threshold=0"
    stated = ff.plan_fmr(
        claimed=0.02,
        pilot=pilot,
        at=ff.at_threshold(0.0),
        fmr=0.001,
        covariance=0.3,
        n_simulations=100,
        rng=0,
    )
    assert (stated.fmr, stated.covariance) == (0.001, 0.3)
    with pytest.raises(
        InputError, match="false matches of 0 pairs of subjects at threshold=50, too few"
    ):
        ff.plan_fmr(claimed=0.02, pilot=pilot, at=ff.at_threshold(50))


WOLVES = np.array([0.0, 1.2]), np.array([0.96, 0.04])  # parts of subjects, and how many have each


def law_of(fmr: float) -> Law:
    """The law of subjects with these parts, at the threshold with an FMR."""
    parts, shares = WOLVES
    sums = np.add.outer(parts, parts)
    at = brentq(lambda threshold: shares @ ndtr(sums - threshold) @ shares - fmr, -5, 9)
    return Law(ndtr(sums - at), shares)


def scored(n: int, law: Law, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw subjects and, pair by pair, whether two of them match: the pairs, and which are false
    matches."""
    kind = rng.choice(law.shares.size, n, p=law.shares)
    i, j = np.triu_indices(n, 1)
    return i, j, rng.random(i.size) < law.rates[kind[i], kind[j]]


@pytest.mark.slow
def test_subjects_of_a_law_err_as_pair_by_pair():
    law, n = law_of(0.01), 60
    design, rng = Design(None, 1, 0.01, 1.0, 0.0, law), np.random.default_rng(4)
    errors, _, _ = fmr.simulate(design, n, 0.95, 3000, [2])
    slow, shares, drawn_shares = [], [], []
    for _ in range(1500):
        i, j, wrong = scored(n, law, rng)
        slow.append(wrong.sum())
        subjects = design.draw(n, rng)
        m = min(rng.poisson(0.01 * subjects.all_pairs), design.pairs(n))
        if wrong.any() and m:
            shares.append(
                fmr.concentration((i[wrong], j[wrong], np.ones(wrong.sum(), np.int64)), n)
            )
            drawn_shares.append(fmr.concentration(fmr._draw(subjects, m, design, rng), n))
    assert errors.mean() == pytest.approx(np.mean(slow), rel=0.05)
    assert errors.std() == pytest.approx(np.std(slow), rel=0.08)
    assert np.mean(drawn_shares) == pytest.approx(np.mean(shares), abs=0.015)


@each("fmr_of_pilot", [0.002, 0.01, 0.05])
def test_the_law_of_a_pilot_is_that_of_its_subjects(fmr_of_pilot):
    law, n = law_of(fmr_of_pilot), 800
    i, j, wrong = scored(n, law, np.random.default_rng(8))
    of_subject = np.bincount(np.concatenate((i[wrong], j[wrong])), minlength=n)
    found = Law.of(of_subject, np.full(n, n - 1.0), fmr_of_pilot, 1.0)
    rates = found.rates @ found.shares
    assert found.shares @ rates == pytest.approx(fmr_of_pilot, rel=1e-6)
    wolves = law.rates @ law.shares
    assert found.shares[rates > wolves.prod() ** 0.5].sum() == pytest.approx(0.04, abs=0.02)
    assert found.concentration == pytest.approx(law.concentration, abs=0.1)


def test_concentration_in_endless_data():
    law = law_of(0.01)
    _, shares = WOLVES
    # All wolves, and of the others as many as make 5 %, are on top.
    others = np.array([0.95, 0.0])
    assert law.concentration == pytest.approx(
        1 - others @ law.rates @ others / (shares @ law.rates @ shares)
    )
    effect = np.sort(
        np.exp(math.sqrt(math.log(2.2)) * np.random.default_rng(0).standard_normal(10**6))
    )
    share = effect[: 19 * effect.size // 20].sum() / effect.sum()
    assert Design(None, 1, 0.01, 1.2).concentration == pytest.approx(1 - share**2, abs=0.01)
    assert Design(None, 1, 0.01, 0.0).concentration == pytest.approx(1 - 0.95**2)


@pytest.mark.jit
def test_no_number_of_subjects_would_do_where_few_cause_most():
    law = law_of(0.01)
    law = law._replace(rates=law.rates * np.array([[0.3, 1], [1, 1]]))
    i, j, wrong = scored(300, law, np.random.default_rng(1))
    everyone, scores = np.arange(300), np.where(wrong, 1.0, -1.0)
    reference, probe = np.concatenate((everyone, i)), np.concatenate((everyone, j))
    pilot = ff.Comparisons(
        np.concatenate((np.full(300, 9.0), scores)),
        np.arange(reference.size) < 300,
        reference,
        probe,
    )
    asked = {
        "claimed": 0.02,
        "fmr": 0.01,
        "pilot": pilot,
        "at": ff.at_threshold(0.0),
        "n_simulations": 100,
        "rng": 0,
    }
    with pytest.warns(
        OutOfReachWarning,
        match=r"no number is, as 5 % of the subjects have a part in \d\d % of false",
    ):
        plan = ff.plan_fmr(**asked)
    assert plan.n_subjects is None
    assert plan.concentration > 0.7
    assert plan.needed.n_subjects == plan.n_by_limit
    assert plan.needed.within_limit >= 0.8 > plan.needed.assurance
    assert "No number of subjects would do: 5 % of the subjects have a part in" in plan.summary()
    # With a covariance that is given, effects are lognormal.
    assert ff.plan_fmr(**asked, covariance=0.5).n_subjects is not None


def test_more_subjects_because_of_concentration():
    plan = ff.plan_fmr(claimed=0.03, fmr=0.01, covariance=8.0, n_simulations=100, rng=0)
    assert plan.n_by_limit is not None
    assert plan.n_subjects is not None
    assert plan.n_subjects > 1.1 * plan.n_by_limit
    assert (
        f"By their limits alone {plan.n_by_limit} subjects would do, but 5 % of the subjects"
        in plan.summary()
    )
    for study in plan.studies:
        assert (
            study.within_limit - study.concentrated
            <= study.assurance
            <= min(study.within_limit, 1 - study.concentrated)
        )


def test_what_is_out_of_reach_is_told():
    with pytest.warns(
        OutOfReachWarning,
        match="20 subjects are not enough for 80 % of studies to support .* at most 0.01",
    ):
        plan = ff.plan_fmr(**SETTING, max_subjects=20)
    assert plan.n_subjects is None
    assert plan.needed.n_subjects == 20
    assert plan.needed == plan.studies[-1]
    assert "too few for 80 % of studies" in plan.summary()
    assert json.loads(plan.to_json())["n_subjects"] is None


@each(
    ("changed", "message"),
    [
        ({"claimed": 0.5}, "claimed must be at most 0.1"),
        ({"claimed": 0}, "claimed must be a fraction in"),
        ({"fmr": 0.01}, "fmr must be below what is claimed, 0.01, not 0.01"),
        ({"fmr": None}, "give fmr, or the comparisons of a pilot"),
        ({"fmr": None, "covariance": None}, "give fmr and covariance, or"),
        ({"covariance": -1}, "covariance must be at least 0, not -1"),
        ({"n_samples": 2}, "give again, or the comparisons"),
        ({"again": 1}, "again must be a fraction"),
        ({"at": ff.at_threshold(0)}, "pilot and at go together"),
        ({"n_partners": 0}, "n_partners must be a whole number of at least 1"),
        ({"n_samples": 0}, "n_samples must be a whole number of at least 1"),
        ({"assurance": 80}, "assurance must be .*fractions? in .*for 80 % write 0.8"),
        ({"confidence_level": 0.4}, "must be above 0.5"),
        ({"max_subjects": 3}, "max_subjects must be a whole number of at least 5"),
        ({"n_simulations": 0}, "n_simulations must be"),
        ({"claimed": 0.0201, "fmr": 0.02}, "would have .* false matches each, too many to draw"),
    ],
)
def test_bad_wishes_are_refused(changed, message):
    refused(message, ff.plan_fmr, **SETTING | changed)

"""Counts of failures in claims and checks: the same limits as the same decisions with scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import fastfair as ff
from fastfair.claims import MET, NOT_MET

AT = ff.at_threshold(0.5)


def with_scores(seed: int, n_people: int = 40) -> ff.Comparisons:
    """Make mated comparisons of people with one to five attempts, some of whom fail often."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), rng.integers(1, 6, n_people))
    scores = rng.normal(1.0 + rng.normal(0, 0.5, n_people)[person], 0.5)
    group = {"sex": np.array(["f", "m"])[person % 2]}
    return ff.Comparisons(scores, np.ones(person.size, bool), person, person, reference_group=group)


@given(st.integers(0, 30), st.floats(0.02, 0.6))
def test_verdicts_and_limits_are_those_of_scores(seed, bound):
    scores = with_scores(seed)
    counts = ff.FailureCounts.from_comparisons(scores, AT)
    lines = [f"fnmr[*]@threshold=0.5 <= {bound!r}", f"fnmr@threshold=0.5 <= {bound!r}"]
    of_scores = ff.check(scores, lines, rng=0, n_resamples=50)
    plain = [line.replace("@threshold=0.5", "") for line in lines]
    of_counts = ff.check(counts, plain, rng=0, n_resamples=50)
    for ours, theirs in zip(of_counts.rows, of_scores.rows, strict=True):
        assert (ours.verdict, ours.reason) == (theirs.verdict, theirs.reason)
        for name in ("estimate", "low", "high", "limit", "opposite_limit"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=0, nan_ok=True)
    claims = [
        ff.claim(data, f"fnmr <= {bound!r}", at, rng=0, n_resamples=50)
        for data, at in ((scores, AT), (counts, None))
    ]
    assert claims[0].overall == claims[1].overall
    assert claims[0].groups == claims[1].groups


def test_few_failures_of_independent_attempts():
    """The normal formula is too low, Clopper and Pearson's limit exact, and ours a little above."""
    counts = ff.FailureCounts([1] * 5 + [0] * 169, [1] * 174, ["all"] * 174, rate="frr")
    claim = ff.claim(counts, "frr <= 7 %", rng=0)
    normal = 5 / 174 + 1.645 * math.sqrt(5 / 174 * (1 - 5 / 174) / 174)
    exact = beta.ppf(0.95, 6, 169)
    assert claim.overall.independent_limit == pytest.approx(exact)
    assert normal < exact < claim.overall.limit < 0.07
    assert "5 of 174 transactions are errors." in claim.summary()
    assert (claim.rate, claim.at) == ("frr", None)


@pytest.mark.parametrize("rate", ["fta", "apcer", "bpcer", "iapar", "fnir", "fpir"])
def test_rows_are_named_after_the_rate_that_was_counted(rate):
    counts = ff.FailureCounts([0, 1, 0, 0] * 20, [3] * 80, list("ffmm") * 20, rate=rate)
    result = ff.check(counts, [f"{rate}[*] <= 30 %", f"{rate} <= 1 %"], rng=0)
    assert result.verdicts == {f"{rate}[*] <= 30 %": MET, f"{rate} <= 1 %": NOT_MET}
    assert [row.title for row in result.rows] == [
        f"{rate.upper()} of f",
        f"{rate.upper()} of m",
        rate.upper(),
    ]
    assert f"{rate.upper()} of f" in result.to_junit()


def test_what_counts_do_not_have_is_refused():
    counts = ff.FailureCounts([0, 1] * 20, [3] * 40, list("fm") * 20, rate="fta")
    refused("there is no quantity 'fnmr'.*: name one of fta", ff.check, counts, "fnmr <= 1 %")
    refused("so leave FMR=0.1 out", ff.check, counts, "fta@fmr=0.1 <= 1 %")
    refused("leave it out", ff.claim, counts, "fta <= 1 %", AT)
    refused('statement must be "fta"', ff.claim, counts, "fnmr <= 1 %")
    refused("at is missing", ff.claim, with_scores(0), "fnmr <= 1 %")
    refused("the APCER is counted: .*FailureCounts", ff.check, with_scores(0), "apcer <= 7 %")

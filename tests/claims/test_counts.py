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
    """The normal formula is too low; Clopper and Pearson's limit is exact, and ours of people a
    little above."""
    counts = ff.FailureCounts([1] * 5 + [0] * 169, [1] * 174, ["all"] * 174, rate="frr")
    claim = ff.claim(counts, "frr <= 7 %", rng=0)
    spread = math.sqrt(5 / 174 * (1 - 5 / 174) / 174)
    assert round(5 / 174 + 1.282 * spread, 4) == 0.0450
    normal = 5 / 174 + 1.645 * spread
    exact = beta.ppf(0.95, 6, 169)
    assert claim.overall.independent_limit == pytest.approx(exact)
    assert normal < exact < claim.overall.limit < 0.07
    assert "5 of 174 transactions are errors." in claim.summary()
    assert (claim.rate, claim.at) == ("frr", None)
    totals = ff.claim(ff.FailureCounts(5, 174, rate="frr"), "frr <= 7 %")
    assert totals.overall.limit == totals.overall.independent_limit == pytest.approx(exact)
    assert totals.overall.verdict == "supported"
    assert totals.groups == ()
    level_90 = ff.claim(ff.FailureCounts(5, 174, rate="frr"), "frr <= 7 %", confidence_level=0.9)
    assert level_90.overall.limit == pytest.approx(beta.ppf(0.9, 6, 169))


def test_claims_and_p_values_of_totals_agree():
    for failures in (0, 1, 5, 40):
        counts = ff.FailureCounts(failures, 174, rate="iapar")
        limit = ff.claim(counts, "iapar <= 50 %").overall.limit
        inside, outside = (
            ff.claim(counts, f"iapar <= {limit * factor!r}").overall for factor in (1.001, 0.999)
        )
        assert (inside.verdict, outside.verdict) == ("supported", "undecided")
        assert inside.pvalue <= 0.05 < outside.pvalue


def test_false_matches_of_people_are_judged_as_scores_are():
    rng = np.random.default_rng(5)
    first = np.append(np.arange(30), rng.integers(0, 30, 570))
    second = (first + rng.integers(1, 30, 600)) % 30
    scores = ff.Comparisons(rng.normal(-0.4, 0.7, 600), np.zeros(600, bool), first, second)
    counts = ff.FailureCounts.from_comparisons(scores, AT, rate="fmr")
    for bound in (0.08, 0.2, 0.3):
        of_scores = ff.claim(scores, f"fmr <= {bound}", AT, rng=0, n_resamples=50)
        of_counts = ff.claim(counts, f"fmr <= {bound}", rng=0, n_resamples=50)
        assert of_scores.overall == of_counts.overall
    assert of_counts.overall.n_subjects == 30


def test_few_false_matches_need_room():
    """Whose they are is not known of totals, so that few people may cause most."""
    counts = ff.FailureCounts(3, 10**5, rate="fmr")
    undecided, supported = (
        ff.claim(counts, f"fmr <= {bound}", n_resamples=20, rng=0).overall for bound in (2e-4, 4e-4)
    )
    assert (undecided.room, undecided.verdict) == (4, "undecided")
    assert supported.verdict == "supported"


def test_measures_of_counts_are_required():
    counts = ff.FailureCounts([0, 1, 0, 0] * 20, [3] * 80, list("ffmm") * 20, rate="frr")
    lines = [
        "max_min_ratio(frr) <= 1000",
        "group_to_average_ratio(frr)[*] <= 9",
        "gini of FRR <= 0.9",
    ]
    result = ff.check(counts, lines, rng=0, n_resamples=50)
    assert [row.name for row in result.rows] == [
        "max_min_ratio(frr)",
        *["group_to_average_ratio(frr)"] * 2,
        "gini(frr)",
    ]
    refused(
        "gini.* is a measure over groups, but the counts have none",
        ff.check,
        ff.FailureCounts(5, 174),
        "gini(fnmr) <= 0.3",
    )


def test_rates_of_other_data_are_named():
    scores = with_scores(0)
    for statement, says in (
        ("frr <= 5 %", "the FRR is of transactions"),
        ("apcer <= 5 %", "the APCER is counted"),
        ("fnir <= 5 %", "the FNIR is of searches of a gallery, not of comparisons"),
    ):
        refused(says, ff.claim, scores, statement, AT)
    refused("the FPIR is of searches", ff.check, scores, "fpir[*] <= 5 %")
    counts = ff.FailureCounts(5, 174, rate="apcer")
    refused(
        "is on the FNMR, but the APCER was counted, of attack presentations",
        ff.claim,
        counts,
        "fnmr <= 5 %",
    )
    refused(
        "needs an FNMR, but there are no mated comparisons",
        ff.claim,
        ff.Comparisons([0.1, 0.6], [0, 0], list("ab"), list("bc")),
        "fnmr <= 5 %",
        AT,
    )


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
    refused("on the FNMR, but the FTA was counted", ff.check, counts, "fnmr <= 1 %")
    refused("there is no quantity 'eer'.*: name one of fta", ff.check, counts, "eer <= 1 %")
    refused("so leave FMR=0.1 out", ff.check, counts, "fta@fmr=0.1 <= 1 %")
    refused("leave it out", ff.claim, counts, "fta <= 1 %", AT)
    refused("leave it out", ff.check, counts, "fta <= 1 %", AT)
    refused("on the FNMR, but the FTA was counted", ff.claim, counts, "fnmr <= 1 %")
    refused('statement must be "fta"', ff.claim, counts, "eer <= 1 %")
    refused("at is missing", ff.claim, with_scores(0), "fnmr <= 1 %")
    refused("the APCER is counted: .*FailureCounts", ff.check, with_scores(0), "apcer <= 7 %")


def test_shares_that_succeed_are_claimed_and_planned_as_their_errors():
    counts = ff.FailureCounts(5, 400, rate="frr")
    claims = [ff.claim(counts, text, rng=0) for text in ("tar >= 97 %", "frr <= 3 %")]
    assert (claims[0].rate, claims[0].claimed) == ("tar", 0.97)
    of_success, of_errors = (claim.overall for claim in claims)
    mirrored = "estimate", "limit", "compared", "opposite_limit", "independent_limit"
    for name in mirrored:
        assert getattr(of_success, name) == pytest.approx(1 - getattr(of_errors, name), abs=1e-12)
    assert (of_success.low, of_success.high) == pytest.approx(
        (1 - of_errors.high, 1 - of_errors.low)
    )
    for name in (
        "n_errors",
        "n_comparisons",
        "verdict",
        "pvalue",
        "pvalue_above",
        "n_subjects_needed",
    ):
        assert getattr(of_success, name) == getattr(of_errors, name)
    assert "The claim: TAR at least 97 %." in claims[0].summary()
    assert "lower limit" in of_success.reason
    refused('or .*"tar".*, ">=" and a rate, not', ff.claim, counts, "tar <= 97 %")
    check = ff.check(counts, ["tar >= 97 %", "frr <= 3 %"], rng=0)
    for result in (check, *claims):
        assert "transactions" in result._tables()[0][1]
        assert "The transactions are taken for independent" in result.summary()
    study = {"n_subjects": 60, "n_attempts": 2, "rate": 0.01, "n_simulations": 3, "rng": 0}
    plans = [ff.plan_requirement(text, **study) for text in ("gar >= 90 %", "frr <= 10 %")]
    assert plans[0].rows == plans[1].rows


def test_counts_of_searches_are_judged_by_their_tpir_too():
    counts = ff.FailureCounts([0, 1, 2, 0], [3, 3, 3, 3], rate="fnir")
    for bound in (0.1, 0.5, 0.99):
        of_errors, of_success = ff.check(
            counts, [f"fnir <= {1 - bound}", f"tpir >= {bound}"], rng=0
        ).rows
        assert of_errors.verdict == of_success.verdict
        assert of_success.name == "tpir"
        assert of_success.limit == pytest.approx(1 - of_errors.limit)


def test_what_would_be_enough_is_called_what_any_rate_counts():
    for rate in ("apcer", "fpir", "frr"):
        claimed = ff.claim(ff.FailureCounts(0, 30, rate=rate), f"{rate} <= 7 %")
        assert "about 42 decisions with this rate would be enough" in claimed.overall.reason

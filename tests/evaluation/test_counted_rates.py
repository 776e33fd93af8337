"""Rates of counts: those of the same decisions with scores, under the name of what was counted."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import fastfair as ff
from fastfair.uncertainty.notes import Code, has_code

AT = ff.at_threshold(0.5)
FEW = {"n_resamples": 60, "rng": 0}


def nonmated(seed: int, n_people: int = 30, n: int = 400) -> ff.Comparisons:
    """Make non-mated comparisons of people in two groups, some of whom resemble many."""
    rng = np.random.default_rng(seed)
    first = np.append(np.arange(n_people), rng.integers(0, n_people, n - n_people))
    second = (first + rng.integers(1, n_people, n)) % n_people
    scores = rng.normal(-0.5, 0.8, n) + rng.normal(0, 0.4, n_people)[first]
    sex = np.array(["f", "m"])
    return ff.Comparisons(
        scores,
        np.zeros(n, bool),
        first,
        second,
        reference_group={"sex": sex[first % 2]},
        probe_group={"sex": sex[second % 2]},
    )


def mated(seed: int, n_people: int = 40) -> ff.Comparisons:
    """Make mated comparisons of people with one to five attempts, some of whom fail often."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), rng.integers(1, 6, n_people))
    scores = rng.normal(1.0 + rng.normal(0, 0.5, n_people)[person], 0.5)
    sex = {"sex": np.array(["f", "m"])[person % 2]}
    return ff.Comparisons(scores, np.ones(person.size, bool), person, person, reference_group=sex)


@given(st.integers(0, 40), st.sampled_from(["fmr", "fnmr"]))
def test_all_numbers_are_those_of_scores(seed, rate):
    scores = nonmated(seed) if rate == "fmr" else mated(seed)
    counts = ff.FailureCounts.from_comparisons(scores, AT, rate=rate)
    of_scores = ff.evaluate(scores, AT, metrics=[], **FEW)
    of_counts = ff.evaluate(counts, **FEW)
    kept = {(q.name, q.group): q for q in of_scores.quantities if rate in q.name}
    kept = {key: q for key, q in kept.items() if q.probe_group is None}
    assert len(of_counts.rows) == len(kept)
    # Of fewer errors scores tell at laxer thresholds how they come together.
    are_enough = all(
        min(q.n_errors, q.n_comparisons - q.n_errors) >= 5
        for q in kept.values()
        if q.n_errors is not None
    )
    for row in of_counts.rows:
        same = kept[row.name, row.group]
        assert (row.n_errors, row.n_comparisons) == (same.n_errors, same.n_comparisons)
        assert row.n_subjects == same.n_subjects
        assert row.estimate == pytest.approx(same.estimate, rel=0, abs=0, nan_ok=True)
        if are_enough:
            ends = (same.low, same.high)
            assert (row.low, row.high) == pytest.approx(ends, rel=0, abs=0, nan_ok=True)


@given(st.integers(0, 30), st.integers(31, 400))
def test_totals_have_exact_limits(failures, attempts):
    """Clopper and Pearson's, as scipy has their quantiles, at every number of failures."""
    rates = ff.evaluate(ff.FailureCounts(failures, attempts, rate="frr"), confidence_level=0.9)
    row = rates.quantity("frr")
    low = beta.ppf(0.05, failures, attempts - failures + 1) if failures else 0.0
    assert row.low == pytest.approx(low, rel=1e-9)
    assert row.high == pytest.approx(beta.ppf(0.95, failures + 1, attempts - failures), rel=1e-9)
    assert has_code(row, Code.TAKEN_FOR_INDEPENDENT)
    assert row.n_subjects is None
    assert "taken for independent, as people are not given" in rates.summary()


def test_totals_of_groups_are_no_people():
    counts = ff.FailureCounts([5, 9], [174, 150], ["f", "m"], rate="apcer", totals=True)
    rates = ff.evaluate(counts, **FEW)
    assert rates.interval("apcer", "f") == pytest.approx(
        (beta.ppf(0.025, 5, 170), beta.ppf(0.975, 6, 169)), rel=1e-9
    )
    assert rates.value("max-min ratio of APCER") == pytest.approx(9 / 150 / (5 / 174))
    single = ff.FailureCounts(
        [1] * 5 + [0] * 169 + [1] * 9 + [0] * 141, [1] * 324, ["f"] * 174 + ["m"] * 150
    )
    tests = [ff.fnmr_test(data, n_resamples=99, rng=0) for data in (counts, single)]
    assert tests[0].pvalue == tests[1].pvalue
    assert tests[0].rate_name == "apcer"
    margin = ff.margin_of_error(counts, n_resamples=99, rng=0)
    for result in (tests[0], margin):
        assert "each attack presentation is taken for that of another person" in result.summary()
        assert "no subject has two" not in result.summary()
    assert "another person" not in tests[1].summary()


def test_comparisons_of_two_people_are_in_a_group_where_both_are():
    counts = ff.FailureCounts(
        [1, 0, 1, 0],
        [2, 3, 4, 5],
        list("ffmm"),
        rate="fmr",
        subject=list("abcd"),
        other_subject=list("bcde"),
        other_group=list("fmmm"),
    )
    assert counts.groups == ("f", "m")
    assert (counts.n_failures.tolist(), counts.n_attempts.tolist()) == ([1, 1], [2, 9])
    assert counts.rate == 2 / 14
    assert repr(counts) == (
        "FailureCounts(5 subjects, 14 non-mated comparisons, 2 false matches, 2 groups)"
    )
    rates = ff.evaluate(counts, n_resamples=0)
    assert [row.n_comparisons for row in rates.rows if row.name == "fmr"] == [14, 2, 9]
    some = counts.without(["f"])
    assert (some.n_attempts.tolist(), some.people[0].size) == ([9], 2)


def test_rows_of_a_subject_are_put_together():
    counts = ff.FailureCounts([1, 0, 2], [2, 3, 4], list("ffm"), subject=list("aab"), rate="frr")
    assert (counts.failures.tolist(), counts.attempts.tolist()) == ([1, 2], [5, 4])
    assert counts.n_subjects.tolist() == [1, 1]


def test_what_is_not_computable_has_no_pvalue():
    counts = ff.FailureCounts([3, 2, 0, 0, 1, 0] * 20, [9] * 120, list("aabbcc") * 20)
    rates = ff.evaluate(counts, **FEW)
    assert np.isnan(rates.value("log_geomean_sum(fnmr)"))
    assert rates.quantity("log_geomean_sum(fnmr)").pvalue is None
    assert rates.quantity("max_min_ratio(fnmr)").pvalue is not None


def test_what_it_says_names_the_rate_that_was_counted():
    counts = ff.FailureCounts([0, 1, 0, 0] * 20, [3] * 80, list("ffmm") * 20, rate="bpcer")
    rates = ff.evaluate(counts, **FEW)
    said = rates.summary() + str(rates.table("rates").to_markdown()) + rates.to_json()
    assert "20 of 240 bona fide presentations are errors: BPCER 8.3 %" in said
    assert "fnmr" not in said.lower().replace("fnmr_test", "")


def test_what_counts_do_not_have_is_refused():
    counts = ff.FailureCounts([0, 1] * 20, [3] * 40, list("fm") * 20, rate="fta")
    refused("at=FMR=0.1 is for scores", ff.evaluate, counts, ff.at_fmr(0.1))
    refused(
        "metrics='eer' are of scores, but counts of the FTA", ff.evaluate, counts, metrics="eer"
    )
    refused("the measure garbe needs an FMR", ff.evaluate, counts, measures="garbe", **FEW)
    totals = ff.FailureCounts(5, 174)
    refused(
        "gini is a measure over groups, but the counts have none",
        ff.evaluate,
        totals,
        measures="gini",
    )
    refused("totals are of people who are not known", lambda: totals.icc)
    of_two = {"rate": "fmr", "subject": list("ab"), "other_subject": list("bc")}
    pairs = ff.FailureCounts([0, 1], [2, 2], **of_two)
    refused("an FMR share people on both sides", pairs.confidence_interval)
    refused("totals are of people", ff.FailureCounts, 5, 174, subject=["a"])
    refused(
        "give other_subject, too", ff.FailureCounts, [0, 1], [2, 2], rate="far", subject=list("ab")
    )
    refused(
        "an FNMR is of attempts of one person",
        ff.FailureCounts,
        [0, 1],
        [2, 2],
        other_subject=list("ab"),
    )
    refused(
        "row 1 .* has one person on both sides",
        ff.FailureCounts,
        [0, 1],
        [2, 2],
        rate="fmr",
        subject=list("ab"),
        other_subject=list("bb"),
    )
    refused(
        "other_group is that of other_subject",
        ff.FailureCounts,
        [0, 1],
        [2, 2],
        list("fm"),
        rate="fmr",
        other_group=list("fm"),
    )
    refused("can be judged at once", lambda: ff.FailureCounts(1, 10**9, rate="fmr").decisions)

"""`normalize_scores`: the scores that lists of the cohort's scores give, and what it does to
groups."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import normalization as oracle

import fastfair as ff

PEOPLE, OTHERS = "abcd", "wxyz"
GROUP = {who: "f" if who in "abwx" else "m" for who in PEOPLE + OTHERS}


def rows_of(rng: np.random.Generator, references: str, probes: str) -> list[oracle.Row]:
    """Draw three comparisons of each reference with each probe, in either role; some scores are
    tied."""
    pairs = [(a, b) for a in references for b in probes] * 3
    scores = np.round(rng.normal(size=len(pairs)), 1) + np.array([2.0 * (a == b) for a, b in pairs])
    turned = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
    return [
        (float(score), a == b, a, b, GROUP[a], GROUP[b])
        for score, (a, b) in zip(scores, turned, strict=True)
    ]


def made(rows: list[oracle.Row], kind: str = "similarity", groups: bool = True) -> ff.Comparisons:
    score, mated, reference, probe, first, second = map(list, zip(*rows, strict=True))
    sign = -1 if kind == "distance" else 1
    sides = (first, second) if groups else (None, None)
    return ff.Comparisons(sign * np.array(score), mated, reference, probe, *sides, kind)


def cohort_of(rng: np.random.Generator, by: str) -> list[oracle.Row]:
    others = rows_of(rng, OTHERS, OTHERS)  # among which are mated ones
    return others if by == "group" else [*others, *rows_of(rng, PEOPLE, OTHERS)]


def in_order(comparisons: ff.Comparisons) -> np.ndarray:
    sides = comparisons.mated, comparisons.nonmated
    found = np.empty(sum(map(len, sides)))
    for side in sides:
        assert (np.diff(side.keys) >= 0).all()
        found[side.rows] = side.similarities
    return found


@given(
    seed=st.integers(0, 10**6), method=st.sampled_from("zts"), by=st.sampled_from(["subject", "group"]),
    kind=st.sampled_from(["similarity", "distance"]),
)  # fmt: skip
def test_scores_are_those_of_lists_of_the_cohorts_scores(seed, method, by, kind):
    rng = np.random.default_rng(seed)
    rows, cohort = rows_of(rng, PEOPLE, PEOPLE), cohort_of(rng, by)
    expected = oracle.normalised(rows, cohort, method, by)
    found = ff.normalize_scores(made(rows, kind), made(cohort, kind), method, by=by)
    assert in_order(found) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found.score_kind == "similarity"
    assert found.groups == ("f", "m")
    for side in (found.mated, found.nonmated):
        assert [rows[row][2] for row in side.rows] == [found.subjects[k] for k in side.reference]


def people(seed: int, first: int) -> ff.Comparisons:
    """Draw comparisons within two groups of 60, one of which has higher and wider scores."""
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1], 60)
    mated, (i, j) = np.repeat(np.arange(120), 4), np.triu_indices(120, 1)
    same = group[i] == group[j]
    reference, probe = np.append(mated, i[same]), np.append(mated, j[same])
    scores = rng.normal(size=reference.size) + np.where(
        np.arange(reference.size) < mated.size, 3, 0
    )
    scores = scores * np.where(group[reference] == 1, 1.5, 1) + np.where(
        group[reference] == 1, 1, 0
    )
    labels = np.array(["f", "m"])[group]
    return ff.Comparisons(
        scores,
        np.arange(scores.size) < mated.size,
        reference + first,
        probe + first,
        labels[reference],
        labels[probe],
    )


def test_groups_get_nearly_one_false_match_rate_at_one_threshold():
    before = people(0, 0)
    after = ff.normalize_scores(before, people(1, 1000), by="group")
    rates = [ff.rates(one, ff.at_fmr(0.01)).group_fmr for one in (before, after)]
    assert rates[0][1] > 10 * rates[0][0]
    assert rates[1] == pytest.approx([0.01, 0.01], abs=0.004)
    found = ff.compare(before, after, ff.at_fmr(0.01), [], metrics=[], n_resamples=100, rng=0)
    assert found.contrast("fmr", "m").verdict == "second"


def test_rates_of_normalised_scores_say_that_they_are_of_this_cohort():
    before, cohort = people(1, 0), people(2, 10**6)
    for one, is_said in ((before, False), (ff.normalize_scores(before, cohort, by="group"), True)):
        found = ff.evaluate(one, ff.at_threshold(1.0), [], metrics=[], n_resamples=0)
        for q in found.quantities:
            assert ("with this very cohort" in q.note) == (is_said and q.name in ("fmr", "fnmr"))


def test_what_cannot_be_normalised_is_refused():
    rng = np.random.default_rng(0)
    rows, cohort = rows_of(rng, PEOPLE, PEOPLE), cohort_of(rng, "group")
    without = ff.Comparisons([1, 0], [1, 0])
    for one, two, by, message in (
        (without, made(cohort), "subject", "comparisons have no subjects"),
        (made(rows, groups=False), made(cohort), "group", "comparisons have no groups"),
        (
            made(rows),
            made(cohort, groups=False),
            "group",
            "comparisons of the cohort have no groups",
        ),
        (made(rows), made(cohort, "distance"), "group", "cohort has scores of the kind distance"),
        (
            made(rows),
            made(rows),
            "subject",
            "cohort has non-mated comparisons of 6 pairs .*, such as 'a' and 'b'",
        ),
        (
            made(rows),
            made(rows),
            "group",
            "cohort has 4 of the subjects of comparisons, such as 'a'",
        ),
        (
            made(rows),
            made(cohort),
            "subject",
            "subject '[abcd]' has 0 non-mated comparisons in the cohort, of which",
        ),
        (
            made(rows),
            made([row for row in cohort if row[4] == row[5] == "f"]),
            "group",
            "group 'm' has 0 non-mated",
        ),
    ):
        refused(message, ff.normalize_scores, one, two, by=by)
    equal = [(0.5, *row[1:]) for row in cohort]
    refused(
        "comparisons in the cohort, of one score",
        ff.normalize_scores,
        made(rows),
        made(equal),
        by="group",
    )
    for call, message in (
        ({"method": "x"}, "method must be one of"),
        ({"by": "x"}, "by must be one of"),
    ):
        refused(message, ff.normalize_scores, made(rows), made(cohort), **call)

"""`identify`: counts, smaller galleries and variances as the oracle finds them; lists and bad
input."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from fastfair.kernels.dot_products import products
from helpers.each import each
from helpers.quiet import quietly
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import identification as oracle

import fastfair as ff
from fastfair.errors import DroppedWarning, InputError, ReversedScoresWarning
from fastfair.identification import kept_candidates
from fastfair.identification.estimator import Estimator, range_within
from fastfair.identification.influence import influence_of_people
from fastfair.identification.rates import (
    SearchCriterion,
    count_candidates,
    false_negatives,
    false_positives,
    first_candidate_of_group,
)
from fastfair.identification.result import FAIRNESS
from fastfair.identification.searches import Searches
from fastfair.measures import MEASURES

KEPT = ("mate_score", "rank", "best", "candidate", "reach")


@st.composite
def tables(draw, none=True):
    """Draw a matrix of few distinct scores, whose probes are enrolled or not, and some people
    search twice.

    none: whether some scores are -inf, of failed comparisons.
    """
    n_enrolled, n = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    probe = draw(st.lists(st.integers(0, 8), min_size=n, max_size=n))
    value = st.integers(0, 4).map(float)
    if none:
        value |= st.just(-math.inf)
    scores = draw(
        st.lists(st.lists(value, min_size=n_enrolled, max_size=n_enrolled), min_size=n, max_size=n)
    )
    return scores, probe, list(range(n_enrolled))


@quietly(ReversedScoresWarning)  # of scores at random
def searched(scores, probe, enrolled):
    return Searches.from_matrix(
        scores, probe, enrolled, n_threads=1, policies=ff.Policies(self_comparisons="keep")
    )


def errors_of(searches, mated, threshold, rank, size, drawn=True):
    return (false_negatives if mated else false_positives)(
        searches, SearchCriterion(threshold, rank, size, drawn)
    )


@given(tables(), st.integers(0, 5), st.one_of(st.none(), st.integers(1, 3)), st.data())
def test_rates_in_all_galleries_are_those_of_loops(table, threshold, rank, data):
    scores, probe, enrolled = table
    s = searched(scores, probe, enrolled)
    size = data.draw(st.integers(1, len(enrolled)))
    for mated in (False, True):
        if not (s.is_mated == mated).any():
            continue
        found = errors_of(s, mated, threshold, rank, size)
        expected = oracle.rate(*table, mated, threshold, rank, size)
        assert found.value.mean() == pytest.approx(expected, abs=1e-12)
    if (~s.is_mated).any():
        assert count_candidates(
            s, SearchCriterion(threshold, None, s.n_enrolled)
        ).value.mean() == oracle.selectivity(*table, threshold)


@given(tables(), st.integers(0, 5), st.one_of(st.none(), st.integers(1, 3)), st.booleans())
def test_errors_that_go_with_a_person_and_variances_are_those_of_loops(
    table, threshold, rank, drawn
):
    scores, probe, enrolled = table
    s = searched(scores, probe, enrolled)
    for mated in (False, True):
        if not (s.is_mated == mated).any():
            continue
        found = errors_of(s, mated, threshold, rank, s.n_enrolled)
        lost = np.zeros((found.value.size, s.n_enrolled))
        lost[found.search, [enrolled.index(s.labels[e]) for e in found.person]] = found.weight
        np.testing.assert_allclose(
            lost, oracle.lost_without(*table, mated, threshold, rank), atol=1e-12
        )
        of_loops = oracle.variance(*table, mated, threshold, rank, drawn)
        assert influence_of_people(
            found, s.enrolled, s.labels.size, drawn=drawn
        ).variance == pytest.approx(of_loops, abs=1e-12)


@given(tables(), st.integers(0, 5), st.data())
def test_who_is_returned_and_what_that_hangs_on_are_those_of_loops(table, threshold, data):
    scores, probe, enrolled = table
    s = searched(scores, probe, enrolled)
    if s.is_mated.all():
        return
    of_group = data.draw(st.lists(st.booleans(), min_size=len(enrolled), max_size=len(enrolled)))
    whose = np.isin(s.labels, [e for e, one in zip(enrolled, of_group, strict=True) if one])
    found = first_candidate_of_group(s, SearchCriterion(threshold, None, s.n_enrolled), whose)
    value, without = oracle.returned_without(*table, threshold, of_group)
    assert found.value.tolist() == value
    lost = np.zeros((found.value.size, s.n_enrolled))
    lost[found.search, [enrolled.index(s.labels[e]) for e in found.person]] = found.weight
    np.testing.assert_array_equal(lost, without)


@given(st.integers(2, 5), st.sampled_from(FAIRNESS), st.integers(0, 2**32 - 1))
def test_no_rates_within_intervals_have_a_measure_beyond_its_range(n, name, seed):
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.uniform(0, rng.uniform(0.01, 1), (2, n)), axis=0)
    low, high = range_within(MEASURES[name], ends)
    values = MEASURES[name].function(rng.uniform(*ends, (2000, n)))
    assert low - 1e-9 <= values.min()
    assert values.max() <= high + 1e-9
    assert range_within(MEASURES[name], np.tile(ends[:, :1], 17)) == pytest.approx(
        (np.nan, np.nan), nan_ok=True
    )


@given(tables(none=False), st.integers(1, 6), st.integers(0, 5))
def test_candidate_lists_say_what_the_matrix_says_or_refuse(table, length, threshold):
    scores, probe, enrolled = table
    whole = searched(scores, probe, enrolled)
    rows, best, listed = [], [], []
    for k, row in enumerate(scores):
        for e in sorted(enrolled, key=lambda e: -row[e])[:length]:
            rows.append(k)
            best.append(e)
            listed.append(row[e])
    lists = quietly(ReversedScoresWarning)(Searches.from_candidates)(
        rows,
        best,
        listed,
        searches=range(len(probe)),
        probe=probe,
        enrolled=enrolled,
        length=length,
        policies=ff.Policies(self_comparisons="keep"),
    )
    for mated in (False, True):
        if not (whole.is_mated == mated).any():
            continue
        try:
            found = errors_of(lists, mated, threshold, None, whole.n_enrolled, drawn=False).value
        except InputError:
            assert length < len(enrolled)
            continue
        np.testing.assert_array_equal(
            found, errors_of(whole, mated, threshold, None, whole.n_enrolled).value
        )


def drawn(n=120, enrolled=80, seed=0):
    """Draw searches of two groups, each person searching twice."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), 2)
    scores = rng.normal(size=(who.size, enrolled)) + 4.5 * (who[:, None] == np.arange(enrolled))
    return scores, who, np.arange(enrolled), np.array(["f", "m"])[who % 2]


def test_all_ways_to_give_scores_agree():
    scores, who, enrolled, group = drawn()
    a = Searches.from_matrix(scores, who, enrolled, group=group)
    row, column = (part.ravel() for part in np.indices(scores.shape))
    shuffled = np.random.default_rng(1).permutation(row.size)
    row, column = row[shuffled], column[shuffled]
    b = Searches.from_scores(row, who[row], enrolled[column], scores[row, column], group=group[row])
    twice = Searches.from_matrix(
        np.hstack([scores, scores - 1]),
        who,
        np.r_[enrolled, enrolled],
        group=group,
        templates="best",
        n_threads=1,
    )
    for name in ("mate_score", "rank", "best", "candidate", "subject", "group", "reach"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)
        np.testing.assert_array_equal(getattr(a, name), getattr(twice, name), name)


def test_vectors_give_the_scores_of_their_products():
    rng = np.random.default_rng(0)
    probes, templates = (
        rng.normal(size=(50, 8)).astype(np.float32),
        rng.normal(size=(30, 8)).astype(np.float32),
    )
    scaled = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (probes, templates)]
    a = Searches.from_vectors(probes, range(50), templates, range(30))
    b = Searches.from_matrix(scaled[0] @ scaled[1].T, range(50), range(30))
    np.testing.assert_allclose(a.best, b.best, atol=1e-6)
    assert (a.rank == b.rank).mean() > 0.95
    with pytest.raises(InputError, match="of distances the negative"):
        Searches.from_vectors(
            probes, range(50), templates, range(30), similarity="negative_euclidean"
        )


def test_embeddings_give_their_references_and_probes():
    rng = np.random.default_rng(0)
    subject, role = np.repeat(np.arange(20), 3), ["reference", "reference", "probe"] * 20
    vectors = rng.normal(size=(60, 6))
    e = ff.Embeddings(vectors, subject, np.array(["f", "m"])[subject % 2], role=role)
    a = Searches.from_embeddings(e, templates="best", n_threads=1)
    b = Searches.from_embeddings(e.enrolled(2, score="max"), n_threads=1)
    probes, references = vectors[2::3], vectors[np.arange(60) % 3 < 2]
    whose = np.array(["f", "m"])[np.arange(20) % 2]
    c = Searches.from_vectors(
        probes,
        np.arange(20),
        references,
        np.repeat(np.arange(20), 2),
        group=whose,
        templates="best",
    )
    for name in ("rank", "candidate", "subject", "group"):
        np.testing.assert_array_equal(getattr(a, name), getattr(c, name), name)
        np.testing.assert_array_equal(getattr(b, name), getattr(c, name), name)
    with pytest.raises(InputError, match="have no roles"):
        Searches.from_embeddings(ff.Embeddings(vectors, subject))


def test_held_rates_are_not_exceeded_and_thresholds_are_the_laxest_that_do_so():
    scores, who, enrolled, group = drawn()
    s = Searches.from_matrix(scores, who, enrolled, group=group)
    found = ff.identify(s, [ff.at_fpir(0.1), ff.at_fnir(0.05)])
    held = found.of("fpir", at=ff.at_fpir(0.1))
    best = scores[who >= 80].max(axis=1)
    assert held.estimate == np.mean(best >= held.threshold) <= 0.1
    assert np.mean(best >= best[best < held.threshold].max()) > 0.1
    other = found.of("fnir", at=ff.at_fnir(0.05))
    mate = scores[np.arange(160), who[:160]]
    assert other.estimate == np.mean(mate < other.threshold) <= 0.05
    assert np.mean(mate <= mate[mate >= other.threshold].min()) > 0.05
    for row in found.rows:
        assert 0 <= row.low <= row.estimate <= row.high


def test_results_are_told_tabulated_written_and_drawn(tmp_path):
    scores, who, enrolled, group = drawn()
    s = Searches.from_matrix(scores, who, enrolled, group=group)
    found = ff.identify(s, [ff.at_rank(k) for k in (1, 2, 5)])
    assert found.plot().get_xlabel() == "Rank"
    assert "FNIR at rank=1 is" in found.summary()
    found.to_json(tmp_path / "r.json")
    assert ff.read_results(tmp_path / "r.json")[0].rows == found.rows
    found.report(tmp_path / "r.html")
    over = ff.identify(s, ff.at_threshold(3.0), sizes=[10, 40, 80])
    assert over.plot(name="fpir").get_xlabel() == "Enrolled people, at threshold=3"
    assert [over.of("fpir", size=n).estimate for n in (10, 40)] < [
        over.of("fpir", size=n).estimate for n in (40, 80)
    ]
    curve = ff.identify(s, [ff.at_fpir(x) for x in (0.05, 0.1, 0.2)]).plot()
    assert (curve.get_xlabel(), curve.get_xscale()) == ("False positive identification rate", "log")
    at = ff.identify(s, ff.at_threshold(3.0), gallery="fixed")
    assert at.plot().get_xlabel() == "False negative identification rate"
    for threshold, is_hollow in ((3.0, True), (99.0, False)):  # few misses, and nothing but misses
        rates = ff.identify(s, ff.at_threshold(threshold), gallery="fixed").plot()
        points = [line for line in rates.lines if line.get_marker() == "o"]
        assert len(points) == 3
        assert {line.get_markerfacecolor() == "none" for line in points} == {is_hollow}
    with pytest.raises(InputError, match="no FPIR to draw"):
        found.plot(name="fpir")
    with pytest.raises(InputError, match="no rates in galleries of 7"):
        over.of("fpir", size=7)


def test_counts_of_people_are_tested_as_others_are():
    scores, who, enrolled, group = drawn()
    s = Searches.from_matrix(scores, who, enrolled, group=group)
    found = ff.identify(s, ff.at_threshold(3.0))
    for name in ("fnir", "fpir"):
        counts = found.failure_counts(name)
        assert counts.rate == found.of(name).estimate
        assert counts.group_rate.tolist() == [found.of(name, g).estimate for g in "fm"]
        assert name.upper() in ff.fnmr_test(counts, n_resamples=99, rng=0).summary()


def test_workers_find_what_threads_find(monkeypatch):
    rng = np.random.default_rng(0)
    probes, templates = (rng.normal(size=(n, 16)).astype(np.float32) for n in (300, 200))
    a = Searches.from_vectors(probes, range(300), templates, range(100, 300))
    monkeypatch.setattr(kept_candidates, "_TILE_ROWS", 7)
    with ProcessPoolExecutor(2) as executor:
        b = Searches.from_vectors(probes, range(300), templates, range(100, 300), executor=executor)
    for name in KEPT:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)
    with ThreadPoolExecutor(1) as executor:
        matrix = [[1.0, 2.0], [3.0, np.nan]]
        refused(
            "search 1 .* has a score that is NaN",
            Searches.from_matrix,
            matrix,
            [1, 2],
            [1, 3],
            executor=executor,
        )


@given(
    seed=st.integers(0, 10**6), dtype=st.sampled_from([np.float32, np.float64]), n_enrolled=st.integers(2, 150),
    n_more=st.integers(0, 30), n_kept=st.integers(2, 30), spread=st.sampled_from([0.01, 0.5]),
)  # fmt: skip
def test_searches_of_vectors_are_those_of_products_with_one_order(
    seed, dtype, n_enrolled, n_more, n_kept, spread
):
    # Many templates are the same, or nearly so, and stand at several places.
    rng = np.random.default_rng(seed)
    kinds = rng.normal(size=(max(1, n_enrolled // 4), 24))
    templates = kinds[rng.integers(0, len(kinds), n_enrolled + n_more)]
    templates = (
        templates
        + rng.choice([0, 1e-7, spread], (len(templates), 1)) * rng.normal(size=templates.shape)
    ).astype(dtype)
    enrolled = np.append(np.arange(n_enrolled), rng.integers(0, n_enrolled, n_more))
    probes = (kinds[rng.integers(0, len(kinds), 40)] + spread * rng.normal(size=(40, 24))).astype(
        dtype
    )
    who = rng.integers(0, n_enrolled + 3, 40)
    some = {"templates": "best", "candidates": n_kept}
    a = Searches.from_vectors(
        probes, who, templates, enrolled, similarity="inner_product", n_threads=1, **some
    )
    padded = [np.pad(side, ((0, 0), (0, 8))) for side in (probes, templates)]
    b = Searches.from_matrix(products(padded[0][:, None], padded[1]), who, enrolled, **some)
    for name in KEPT:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)


def test_vectors_of_two_types_are_compared_in_the_wider_one():
    rng = np.random.default_rng(0)
    probes, templates = rng.normal(size=(40, 8)), rng.normal(size=(30, 8)).astype(np.float32)
    wide = Searches.from_vectors(probes, range(40), templates.astype(np.float64), range(30))
    for mixed in (
        Searches.from_vectors(probes, range(40), templates, range(30)),
        Searches.from_vectors(probes.tolist(), range(40), templates, range(30)),
    ):
        for name in KEPT:
            np.testing.assert_array_equal(getattr(wide, name), getattr(mixed, name), name)
    a = Searches.from_vectors(templates, range(30), probes, range(40))
    b = Searches.from_vectors(templates.astype(np.float64), range(30), probes, range(40))
    assert np.array_equal(a.best, b.best)


@each("dtype", [np.float32, np.float64])
def test_people_with_the_same_template_tie_wherever_they_stand(dtype):
    for people in (9, 50, 301):
        rng = np.random.default_rng(people)
        templates = rng.normal(size=(people, 128)).astype(dtype)
        for twin in (1, people // 2, people - 1):
            same = templates.copy()
            same[twin] = same[0]
            probes = (same[0] + 0.3 * rng.normal(size=(40, 128))).astype(dtype)
            made = Searches.from_vectors(probes, np.zeros(40, int), same, np.arange(people))
            assert np.array_equal(made.best[:, 0], made.mate_score)
            assert ff.identify(made, ff.at_rank(1)).of("fnir").estimate == 1


def test_shares_of_those_returned_add_up_to_the_rate():
    scores, who, enrolled, group = drawn()
    s = Searches.from_matrix(scores, who, enrolled, group=group)
    of = {person: "xyz"[person % 3] for person in enrolled.tolist()}
    points = [ff.at_threshold(3.0), ff.at_fpir(0.1), ff.at_fnir(0.2)]
    found = ff.identify(s, points, returned_group=of)
    for at in points:
        for probes in (None, "f", "m"):
            shares = [
                found.of("fpir_matrix", g if probes is None else (g, probes), at) for g in "xyz"
            ]
            assert sum(row.estimate for row in shares) == pytest.approx(
                found.of("fpir", probes, at).estimate
            )
            assert all(row.low <= row.estimate <= row.high < 0.5 for row in shares)
    refused(
        "has no group of 80 enrolled people", ff.identify, s, ff.at_threshold(3), returned_group={}
    )


def test_measures_are_those_of_the_groups_rates():
    scores, who, enrolled, group = drawn()
    s = Searches.from_matrix(scores, who, enrolled, group=group)
    found = ff.identify(s, ff.at_threshold(3.0), ["std", "max_min_ratio"])
    for rate in ("fpir", "fnir"):
        rates = [found.of(rate, g).estimate for g in "fm"]
        row = found.of(f"max_min_ratio({rate})")
        assert row.estimate == max(rates) / min(rates)
        assert row.low <= row.estimate <= row.high
    refused("measures must be one of", ff.identify, s, ff.at_rank(1), ["mape"])
    alone = Searches.from_matrix(scores, who, enrolled)
    refused("fewer than two", ff.identify, alone, ff.at_rank(1), ["std"])


def test_groups_of_a_fixed_gallery_are_tested_as_failures_are():
    scores, who, enrolled, group = drawn()
    scores = scores - 1.5 * ((who[:, None] == enrolled) & (group[:, None] == "f"))
    s = Searches.from_matrix(scores, who, enrolled, group=group)
    found = ff.identify(s, ff.at_threshold(3.0), ["gini", "std"], gallery="fixed")
    test = ff.fnmr_test(found.failure_counts("fnir"), n_resamples=1999, follow_up=False, rng=0)
    assert found.of("gini(fnir)").pvalue == found.of("std(fnir)").pvalue == test.pvalue < 0.01
    assert "FNIRs of groups at threshold=3 differ (p = " in found.summary()
    assert "FPIRs of groups at threshold=3 are not shown to differ" in found.summary()
    assert math.isnan(ff.identify(s, ff.at_threshold(3.0), ["gini"]).of("gini(fnir)").pvalue)
    assert math.isnan(
        ff.identify(s, ff.at_threshold(90.0), ["gini"], gallery="fixed").of("gini(fpir)").pvalue
    )
    alone = np.where(who == 0, "x", group)
    with pytest.warns(DroppedWarning, match="'x'"):
        found = ff.identify(
            Searches.from_matrix(scores, who, enrolled, group=alone),
            ff.at_rank(1),
            ["gini"],
            gallery="fixed",
        )
    assert 0 < found.of("gini(fnir)").pvalue < 1


def test_the_laxest_threshold_at_a_held_fnir_allows_for_one_more_person_who_fails():
    scores, who, enrolled, group = drawn()
    s, at = Searches.from_matrix(scores, who, enrolled, group=group), ff.at_fnir(0.2)
    estimator = Estimator(s, None, "fixed", 0.95)
    lax = estimator.held(at, estimator.criterion_at(at)).thresholds[1]
    mates = np.sort(scores[np.arange(160), who[:160]])
    assert lax in mates
    reaches = mates[np.searchsorted(mates, lax) + 1]
    highs = [
        ff.identify(s, ff.at_threshold(t), gallery="fixed").of("fnir").high for t in (lax, reaches)
    ]
    assert highs[0] < 0.2 <= highs[1]
    assert (
        ff.identify(s, at, gallery="fixed").of("fpir").high
        >= ff.identify(s, ff.at_threshold(lax)).of("fpir").estimate
    )


def test_lists_that_end_before_the_threshold_may_leave_a_rate_without_an_upper_limit():
    scores, who, enrolled, _ = drawn()
    rows = np.repeat(np.arange(who.size), 2)
    best = np.argsort(-scores, axis=1)[:, :2]
    s = Searches.from_candidates(
        rows,
        enrolled[best].ravel(),
        np.take_along_axis(scores, best, 1).ravel(),
        searches=range(who.size),
        probe=who,
        enrolled=enrolled,
        length=2,
    )
    row = ff.identify(s, ff.at_fnir(0.1), gallery="fixed").of("fpir")
    assert row.estimate < 1
    assert row.high == 1
    assert "longer lists" in row.note


def test_requirements_are_judged_by_limits_and_those_on_other_galleries_with_room():
    scores, who, enrolled, group = drawn()
    s = Searches.from_matrix(scores, who, enrolled, group=group)
    fixed, other = (ff.identify(s, ff.at_threshold(4.0), gallery=g) for g in ("fixed", "drawn"))
    high = max(
        ff.identify(s, ff.at_threshold(4.0), gallery="fixed", confidence_level=0.9)
        .of("fpir", g)
        .high
        for g in "fm"
    )
    for bound, verdict in ((1.01 * high, "met"), (0.99 * high, "undecided")):
        assert fixed.check(f"fpir[*] <= {bound}").verdict == verdict
    assert fixed.check("fpir@threshold=2 <= 10 %").verdict == "not met"
    assert fixed.check("std(fnir)@rank=1 <= 0.3").verdict == "met"
    found = other.check("fpir[*] <= 0.2")
    assert found.verdict == "undecided"
    assert "times 4 as few people may cause most errors elsewhere = " in found.summary()
    for bound in (0.3, 0.6, 0.9):
        of_both = other.check([f"fnir@rank=1 <= {bound}", f"tpir@rank=1 >= {1 - bound}"]).rows
        assert of_both[0].verdict == of_both[1].verdict
        assert of_both[0].compared == pytest.approx(1 - of_both[1].compared)
    assert other.check("fpir[*] <= 0.5").verdict == "met"
    assert other.check("fnir[*] <= 0.6").verdict == "met"  # whose limit hangs on no one enrolled
    assert other.check("std(fnir) <= 0.4").verdict == "undecided"
    refused(
        "there is no quantity 'fnmr' .*: name one of fpir, fnir, tpir, gini",
        fixed.check,
        "fnmr <= 0.1",
    )
    for bound in (0.001, 0.2, 0.6, 0.999):
        of_both = fixed.check([f"fnir <= {bound}", f"tpir >= {1 - bound}"]).rows
        assert of_both[0].verdict == of_both[1].verdict
        assert of_both[0].limit == pytest.approx(1 - of_both[1].limit)
    refused("FNIR=0.1 holds the TPIR", fixed.check, "tpir@fnir=0.1 >= 0.5")
    refused("holds the FPIR", fixed.check, "fpir@fpir=0.1 <= 0.2")
    refused("there is no group 'x'", fixed.check, "fpir[x] <= 0.2")


def test_differences_of_systems_are_matched_by_people():
    scores, who, enrolled, group = drawn()
    worse = scores - 1.5 * (who[:, None] == enrolled)
    shuffled = np.random.default_rng(0).permutation(who.size)
    columns = np.random.default_rng(1).permutation(enrolled.size)
    a = Searches.from_matrix(scores, who, enrolled, group=group)
    b = Searches.from_matrix(
        worse[shuffled][:, columns], who[shuffled], enrolled[columns], group=group[shuffled]
    )
    found = ff.compare_searches(a, b, [ff.at_threshold(4.0), ff.at_rank(1), ff.at_fpir(0.1)])
    for at in (ff.at_threshold(4.0), ff.at_rank(1), ff.at_fpir(0.1)):
        row = found.of("fnir", at=at)
        assert row.first == ff.identify(a, at).of("fnir").estimate
        assert row.second == ff.identify(b, at).of("fnir").estimate
        assert row.low <= row.estimate == row.first - row.second <= row.high < 0
        assert row.pvalue <= row.pvalue_adjusted < 0.05
    same = found.of("fpir", at=ff.at_threshold(4.0))
    assert (same.estimate, same.pvalue) == (0, 1)
    assert "rates differ" in found.summary()
    assert found.plot().get_xlabel() == "Difference, first minus second"
    assert all(row.pvalue == 1 for row in ff.compare_searches(a, a, ff.at_rank(1)).rows)
    refused(
        "group differs",
        ff.compare_searches,
        a,
        Searches.from_matrix(scores, who, enrolled),
        ff.at_rank(1),
    )
    refused(
        "enrolled differs",
        ff.compare_searches,
        a,
        drawn_without_one(scores, who, group),
        ff.at_rank(1),
    )
    held = Searches.from_matrix(scores[who >= 80], who[who >= 80], enrolled)
    refused("no rate to compare", ff.compare_searches, held, held, ff.at_fpir(0.1))


def drawn_without_one(scores, who, group):
    return Searches.from_matrix(scores[:, 1:], who, np.arange(1, 80), group=group)


def test_a_fixed_gallery_varies_less():
    scores, who, enrolled, _ = drawn()
    scores[:, 3] += 2.0  # a lamb
    s = Searches.from_matrix(scores, who, enrolled)
    widths = [
        row.high - row.low
        for g in ("drawn", "fixed")
        for row in [ff.identify(s, ff.at_threshold(3.5), gallery=g).of("fpir")]
    ]
    assert widths[0] > 1.2 * widths[1]


def test_without_errors_the_limit_is_that_of_few_trials():
    scores, who, enrolled, group = drawn()
    s = Searches.from_matrix(scores, who, enrolled, group=group)
    row = ff.identify(s, ff.at_threshold(9.0)).of("fpir")
    assert (row.estimate, row.low) == (0, 0)
    assert 3.6 / 80 < row.high < 3.8 / 40
    assert ff.identify(s, ff.at_threshold(-9.0)).of("fpir").low > 0.9
    alone = Searches.from_matrix([[0.5, 0.1], [0.3, 0.2]], ["a", "x"], ["a", "b"])
    row = ff.identify(alone, ff.at_threshold(0.4)).of("fpir")
    assert (row.low, row.high) == (0, 1)  # of one person nothing is known


def test_short_lists_refuse_what_they_do_not_reach():
    lists = ["p", "p", "q", "q"], ["a", "b", "b", "c"], [0.9, 0.5, 0.6, 0.4]
    more = {"searches": ["p", "q", "r"], "probe": ["a", "x", "y"], "enrolled": ["a", "b", "c", "d"]}
    s = Searches.from_candidates(*lists, **more)
    assert ff.identify(s, ff.at_threshold(0.55), gallery="fixed").of("fpir").estimate == 0.5
    assert math.isnan(
        ff.identify(s, ff.at_threshold(0.4), gallery="fixed").of("selectivity").estimate
    )
    with pytest.raises(InputError, match="the FPIR at the threshold 0"):
        ff.identify(s, ff.at_threshold(0.3))
    with pytest.raises(InputError, match="below the reach of the candidate lists"):
        ff.identify(s, ff.at_fpir(0.7))
    s = Searches.from_candidates(
        ["p"], ["b"], [0.9], searches=["p"], probe=["a"], enrolled=["a", "b"], length=1
    )
    assert ff.identify(s, ff.at_rank(1)).of("fnir").estimate == 1
    with pytest.raises(
        InputError, match="the FNIR at rank 2 is not known, as the lists of 1 searches are shorter"
    ):
        ff.identify(s, ff.at_rank(2))


_TWO = ff.Comparisons([0.9, 0.1], [1, 0])
_VECTORS = ff.Embeddings(np.eye(3)[[0, 0, 1, 1]], [0, 0, 1, 1], group=list("ffmm"))
_S = Searches.from_matrix([[0.5, 0.1], [0.3, 0.2]], ["a", "x"], ["a", "b"])


@each(("told", "call"), [
    ("several templates: say templates", lambda: Searches.from_matrix([[1, 2]], ["a"], ["a", "a"])),
    ("enrolled is empty", lambda: Searches.from_matrix(np.zeros((1, 0)), ["a"], [])),
    ("columns of scores has 2, enrolled has 1", lambda: Searches.from_matrix([[1, 2]], ["a"], ["a"])),
    ("search 0 .* has a score that is NaN or infinite", lambda: Searches.from_matrix([[1, np.nan]], ["a"], ["a", "b"])),
    ("scores must be a matrix, a row for each search", lambda: Searches.from_matrix([1, 2], ["a"], ["a", "b"])),
    ("two scores against 'a'", lambda: Searches.from_scores(["p", "p"], ["a", "a"], ["a", "a"], [1, 2])),
    ("has scores against 1 of 2", lambda: Searches.from_scores(list("ppq"), list("aab"), list("aba"), [1, 2, 3])),
    ("two labels of 'probe'", lambda: Searches.from_scores(["p", "p"], ["a", "b"], ["a", "b"], [1, 2])),
    ("'z' in row 0 .counted from 0. is not in searches", lambda: lists(search=["z"])),
    ("'z' in row 0 .counted from 0. is not in enrolled", lambda: lists(candidate=["z"])),
    ("twice on the list", lambda: lists(["p", "p"], ["a", "a"], [1, 2])),
    ("more than length=1", lambda: lists(["p", "p"], ["a", "b"], [1, 2], length=1)),
    ("below least_score=2", lambda: lists(least_score=2.0)),
    ("comparisons: searches have", lambda: ff.identify(_S, ff.at_fmr(0.1))),
    ("at is empty", lambda: ff.identify(_S, [])),
    ("larger galleries have no data", lambda: ff.identify(_S, ff.at_rank(1), sizes=[3])),
    ("is an operating point of searches", lambda: ff.rates(_TWO, ff.at_fpir(0.1))),
    ("is an operating point of searches", lambda: ff.evaluate(_TWO, ff.at_rank(1), n_resamples=0)),
    ("is an operating point of searches", lambda: ff.evaluate(_VECTORS, ff.at_fnir(0.1))),
    ("is an operating point of searches", lambda: ff.fmr_test(_VECTORS, ff.at_fpir(0.1))),
    ("searches are made by from_scores", Searches),
])  # fmt: skip
def test_bad_input_is_refused(told, call):
    with pytest.raises(InputError, match=told):
        call()


def lists(search=("p",), candidate=("a",), scores=(1.0,), **more):
    return Searches.from_candidates(
        list(search),
        list(candidate),
        list(scores),
        searches=["p"],
        probe=["a"],
        enrolled=["a", "b"],
        **more,
    )


def test_searches_without_mates_have_a_page(tmp_path):
    found = ff.identify(
        Searches.from_matrix([[0.9, 0.1], [0.2, 0.3]], ["x", "y"], ["a", "b"]), ff.at_threshold(0.5)
    )
    found.report(tmp_path / "page.html")
    assert "False positive identification rate" in (tmp_path / "page.html").read_text("utf-8")
    refused("there is no FNIR", found.plot, name="fnir")


@each("seed", range(6))
def test_names_of_people_decide_no_interval(seed):
    rng = np.random.default_rng(seed)
    scores = np.full((9, 12), 0.1)
    scores[rng.integers(0, 9, 12), rng.integers(0, 12, 12)] = 2.0
    probed = rng.integers(9, 14, 9)
    if seed == 0:  # where what enrolled people add is exactly 0
        scores, probed = np.full((6, 9), 0.1), np.array([9, 10, 9, 11, 11, 10])
        scores[[0, 0, 1, 2, 3, 3], [2, 6, 4, 4, 2, 8]] = 2.0
    found = set()
    for k in range(12):
        names = np.array([f"q{x:02d}" for x in np.random.default_rng(k).permutation(20)])
        searches = ff.Searches.from_matrix(scores, names[probed], names[: scores.shape[1]])
        with quietly():
            rows = ff.identify(searches, ff.at_threshold(1.5)).rows
        found.add(tuple((round(row.low, 9), round(row.high, 9)) for row in rows))
    assert len(found) == 1


@pytest.mark.parametrize(("kind", "rate"), [("mated", "fnir"), ("non-mated", "fpir")])
def test_searches_of_one_class_have_one_rate(kind, rate):
    """Everything works that does not need the other searches, and what does says so."""
    rng = np.random.default_rng(2)
    who = np.repeat([f"{'e' if kind == 'mated' else 'u'}{k}" for k in range(30)], 4)
    person = np.repeat(np.arange(30), 4)
    if kind == "mated":
        scores = rng.normal(size=(120, 40))
        scores[np.arange(120), person] += 2.5 + rng.normal(0, 1.5, 30)[person]
    else:  # the same people return someone again and again
        scores = rng.normal(size=(30, 40))[person] + rng.normal(0, 0.3, (120, 40))
    sex = np.array(["f", "m"])[np.repeat(np.arange(30), 4) % 2]
    searches = ff.Searches.from_matrix(scores, who, [f"e{k}" for k in range(40)], group=sex)
    at = ff.at_threshold(2.2)
    result = ff.identify(searches, at, gallery="fixed")
    assert {row.name for row in result.rows if row.name in ("fpir", "fnir")} == {rate}
    counts = result.failure_counts(rate)
    assert counts.rate == result.of(rate).estimate
    # Of this very gallery limits are nearly those of counts in closed form: identify divides by one
    # person less, and takes at least the variance of independent searches.
    rates = ff.evaluate(counts, n_resamples=0)
    alone = ff.FailureCounts(counts.failures, counts.attempts, rate=rate)
    limits = {group: rates.interval(rate, group) for group in ("f", "m")}
    limits[None] = ff.evaluate(alone, n_resamples=0).interval(rate)
    for group, ends in limits.items():
        row = result.of(rate, group)
        assert ends == pytest.approx((row.low, row.high), rel=0.05)
        assert row.low <= ends[0] < ends[1] <= row.high
    verdicts = ff.check(counts, f"{rate}[*] <= 90 %", rng=0).verdicts
    assert verdicts == result.check(f"{rate}[*] <= 90 %").verdicts
    other, absent = ("fpir", "non-mated") if rate == "fnir" else ("fnir", "mated")
    for call in (result.of, result.failure_counts):
        refused(f"the {other.upper()} is over {absent} searches, and there are none", call, other)
    refused("is over", result.check, f"{other}[*] <= 5 %")
    held = ff.at_fpir(0.1) if rate == "fnir" else ff.at_fnir(0.1)
    refused(f"is held over {absent} searches", ff.identify, searches, held)

"""What `Searches` refuse, warn of, leave out and count: failures, names, distances, a gallery's
search of itself."""

from __future__ import annotations

import itertools
import json
import math
import unicodedata
import warnings
from functools import partial

import numpy as np
import pytest
from helpers.quiet import quietly
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib.text import typed
from fastfair.data.columns import is_of_a_set_with_itself
from fastfair.errors import DroppedWarning, InputError, LookAlikeWarning, ReversedScoresWarning

NONE = -np.inf
KEEP = ff.Policies(self_comparisons="keep")
matrix, lists = ff.Searches.from_matrix, ff.Searches.from_candidates


def fnir(searches, at):
    return ff.identify(searches, at).of("fnir").estimate


# Failures


@pytest.mark.parametrize(
    "at", [ff.at_rank(k) for k in (1, 2, 3, 4, 99)] + [ff.at_threshold(t) for t in (-1e300, 0.1)]
)
def test_what_failed_is_a_miss_at_every_rank_and_threshold(at):
    of_search = [[0.9, 0.1, 0.2], [NONE] * 3, [0.2, 0.3, 0.1]]
    of_template = [[0.9, NONE, 0.2], [0.4, NONE, 0.3], [0.2, NONE, 0.1]]
    for scores in (of_search, of_template):
        s = matrix(scores, ["a", "b", "x"], ["a", "b", "c"])
        assert fnir(s, at) == 0.5
        assert s.rank.tolist() == [1, 4, 0]
        assert s.failed.tolist() == [False, True, False]


def test_failed_searches_are_counted_in_rows_summary_json_and_page(tmp_path):
    scores = np.vstack([np.eye(4) + 0.1 * np.arange(4), np.full((2, 4), NONE)])
    s = matrix(scores, [*"abcd", "d", "x"], list("abcd"), group=list("fmfmmf"))
    found = ff.identify(s, ff.at_threshold(0.5))
    assert [found.of(name).n_failed for name in ("fnir", "fpir", "tpir")] == [1, 1, 1]
    assert [found.of("fnir", g).n_failed for g in "fm"] == [None, 1]
    said = "1 of 5 mated searches failed and are misses at every rank and threshold."
    assert said in found.summary()
    assert "1 of 1 non-mated searches failed and return nobody." in found.summary()
    assert {row["n_failed"] for row in json.loads(found.to_json())["rows"]} == {1, None}
    found.report(tmp_path / "page.html")
    assert said in (tmp_path / "page.html").read_text("utf-8")
    assert (
        f"Of the second system, {said}" in ff.compare_searches(s, s, ff.at_threshold(0.5)).summary()
    )


def test_a_person_is_never_taken_from_a_search_without_scores():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, (60, 4)).astype(float)
    scores[::3] = NONE
    s = matrix(scores, np.arange(60) % 9, range(4), group=np.where(np.arange(60) % 2, "f", "m"))
    for at in (ff.at_threshold(2), ff.at_fpir(0.3), ff.at_fnir(0.6), ff.at_rank(2)):
        found = ff.identify(s, at, returned_group=dict.fromkeys(range(4), "z"))
        for row in found.rows:
            assert math.isnan(row.estimate) or row.low <= row.estimate <= row.high
    refused("20 of 30 non-mated searches failed", ff.identify, failing(20), ff.at_fpir(0.5))


def failing(n):
    scores = np.random.default_rng(1).normal(size=(30, 2))
    scores[:n] = NONE
    return matrix(scores, range(10, 40), [1, 2])


def test_failures_are_refused_counted_or_left_out():
    scores = [[0.9, 0.1, np.nan], [np.nan] * 3, [0.2, 0.3, -1], [0.1, np.nan, 0.2]]
    who = ["a", "b", "x", "b"], ["a", "b", "c"]
    refused("search 0 .* is NaN or infinite", matrix, scores, *who)
    refused(
        "search 2 .* or the failure_score",
        matrix,
        np.nan_to_num(scores),
        *who,
        policies=policy("error", -1),
    )
    s = matrix(scores, *who, policies=policy("non-match", -1))
    assert (s.rank.tolist(), s.failed.tolist()) == ([1, 4, 0, 4], [False, True, False, True])
    with pytest.warns(DroppedWarning, match="2 of 4 searches left out, as they failed"):
        s = matrix(scores, *who, policies=policy("exclude"))
    assert (len(s), s.rank.tolist()) == (2, [1, 0])
    assert [(one.n, one.n_mated, one.reason) for one in s.left_out] == [(2, 2, "failed")]
    assert "2 of 4 searches left out, as they failed" in ff.identify(s, ff.at_rank(1)).summary()
    row, column = np.indices((4, 3)).reshape(2, -1)
    rows = ff.Searches.from_scores(
        row,
        np.array(who[0])[row],
        np.array(who[1])[column],
        np.ravel(scores),
        policies=policy("non-match", -1),
    )
    assert rows.rank.tolist() == [1, 4, 0, 4]
    with pytest.warns(DroppedWarning):
        refused(
            "nothing is left of 1 searches: 1 of 1 searches left out, as they failed",
            matrix,
            [[NONE] * 2],
            ["a"],
            who[1][:2],
            policies=policy("exclude"),
        )


def policy(failures, score=None):
    return ff.Policies(failures=failures, failure_score=score)


def test_vectors_that_failed_are_refused_counted_or_left_out():
    probes, templates = [[1, 0], [0, 0], [0.1, 1], [1, 1]], [[1, 0.1], [0, 1], [np.nan, 1]]
    who = list("abbc"), list("abc")

    def made(failures):
        return ff.Searches.from_vectors(
            probes, who[0], templates, who[1], policies=policy(failures)
        )

    refused("vectors are zero", made, "error")
    s = made("non-match")
    assert (s.rank.tolist(), s.failed.tolist()) == ([1, 4, 1, 4], [False, True, False, True])
    with pytest.warns(DroppedWarning, match="2 of 4 searches left out"):
        assert made("exclude").rank.tolist() == [1, 1]


def test_missing_labels_of_groups_are_refused_left_out_or_unknown():
    scores = np.random.default_rng(0).normal(size=(4, 4)) + 5 * np.eye(4)
    people, sex, age = list("abcd"), ["f", None, "m", ""], [20.0, 30.0, math.nan, 20.0]

    def groups(missing_labels, group):
        return matrix(
            scores, people, people, group=group, policies=ff.Policies(missing_labels=missing_labels)
        )

    refused("group 'group' is missing in row 1", groups, "error", sex)
    assert groups("unknown", sex).groups == ("f", "m", "unknown")
    with pytest.warns(DroppedWarning, match="2 of 4 searches left out, as they lack a label"):
        s = groups("drop", sex)
    assert (s.groups, s.group.tolist(), s.left_out[0].reason) == (
        ("f", "m"),
        [0, 1],
        "missing label",
    )
    with pytest.warns(DroppedWarning, match="3 of 4"):
        assert groups("drop", {"sex": sex, "age": age}).groups == ("f & 20",)
    row, column = np.indices((4, 4)).reshape(2, -1)
    with pytest.warns(DroppedWarning, match="2 of 4"):
        s = ff.Searches.from_scores(
            row,
            np.array(people)[row],
            np.array(people)[column],
            scores.ravel(),
            group=[sex[k] for k in row],
            policies=ff.Policies(missing_labels="drop"),
        )
    assert s.group.tolist() == [0, 1]


# Numbers


def test_numbers_that_would_be_rounded_and_other_shapes_are_refused():
    refused(
        "whole numbers above 2.53.* in row 1 ",
        matrix,
        [[1, 2], [2**53 + 1, 3]],
        list("ab"),
        list("ab"),
    )
    refused("its entries differ in length", matrix, [[1, 2], [1]], list("ab"), list("ab"))
    refused("must be numbers, but their type is", matrix, [["1", "x"]], list("a"), list("ab"))
    many = np.zeros((3000, 2), np.int64)
    many[2500] = 2**60 + 1
    refused("in row 2500 ", matrix, many, range(3000), range(2))
    found = ff.identify(matrix([[0.5, 0.1], [0.3, 0.2]], list("ab"), list("ab")), ff.at_rank(1))
    refused("EER is an operating point of comparisons", found.check, "fnir@eer <= 0.5")
    refused(
        "FMR=0.1 is an operating point of comparisons",
        found.check,
        "fnir <= 0.5",
        at=ff.at_fmr(0.1),
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_typed_threshold_accepts_the_score_that_is_kept_for_it(dtype):
    for threshold in (0.1, 0.3, 0.6, 0.7):
        scores = np.array([[threshold, 0.01], [0.02, threshold]]).astype(dtype)
        found = ff.identify(matrix(scores, ["a", "x"], ["a", "b"]), ff.at_threshold(threshold))
        assert (found.of("fpir").estimate, found.of("fnir").estimate) == (1, 0)
        assert found.of("fpir").threshold == threshold
    vectors = np.array([[0.7, 0], [0, 0.7]]).astype(dtype)
    s = ff.Searches.from_vectors(
        vectors, [1, 9], np.eye(2).astype(dtype), [1, 2], similarity="inner_product"
    )
    found = ff.identify(s, ff.at_threshold(0.7))
    assert dtype == np.float16 or (found.of("fpir").estimate, found.of("fnir").estimate) == (1, 0)


@given(
    seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from([np.float16, np.float32, np.float64, np.int16]),
    digits=st.integers(0, 12), kind=st.sampled_from([ff.at_fpir, ff.at_fnir]), rate=st.floats(0, 0.9),
)  # fmt: skip
def test_a_threshold_that_is_shown_and_typed_gives_the_same_counts(seed, dtype, digits, kind, rate):
    rng = np.random.default_rng(seed)
    scale = 100 if dtype == np.int16 else 1
    scores = np.round(scale * rng.normal(0.4, 0.1, (30, 6)), digits).astype(dtype)
    s = quietly(ReversedScoresWarning)(matrix)(
        scores, [*range(12), *rng.integers(0, 12, 18)], range(6)
    )
    held = ff.identify(s, kind(rate))
    shown = typed(held.rows[0].threshold)
    again = ff.identify(s, ff.at_threshold(float(shown)))
    assert [row.n_errors for row in again.rows] == [row.n_errors for row in held.rows]
    if dtype == np.float64 and digits <= 6:
        assert len(shown) <= digits + 3
    others = scores[~s.is_mated].max(axis=1)
    if kind is ff.at_fpir:  # in NumPy, with a literal
        assert (others >= dtype(float(shown))).mean() <= rate


# Names


def test_names_that_look_alike_are_told():
    scores = np.random.default_rng(0).normal(size=(5, 5)) + 5 * np.eye(5)
    people = ["Jos\u00e9", "eve", "ID1", "7", "bob"]
    others = [unicodedata.normalize("NFD", people[0]), "eve ", "id1", "007", "Bob"]
    for k in (0, 2, 3, 4):
        probe = [*people[:k], others[k], *people[k + 1 :]]
        with pytest.warns(
            LookAlikeWarning, match=r"person .* and .* look alike and are taken for two"
        ):
            matrix(scores, probe, people)
        with pytest.warns(LookAlikeWarning, match="look alike"):
            lists([0], [people[0]], [0.5], searches=range(5), probe=probe, enrolled=people)
    with pytest.warns(LookAlikeWarning, match="group 'group' .* look alike"):
        matrix(scores, people, people, group=["f", "F", "f", "f", "f"])
    with pytest.warns(LookAlikeWarning, match="look like names of samples"):
        matrix(scores, [f"p{k}/2.jpg" for k in range(5)], [f"p{k}/1.jpg" for k in range(5)])
    assert matrix(
        scores, [*people[:4], "eve "], people
    ).is_mated.all()  # blanks at the ends are no part of a name


@pytest.mark.parametrize("unknown", [-1, "unknown", "N/A"])
def test_a_label_of_nobody_is_told(unknown):
    scores = np.random.default_rng(0).normal(size=(4, 2))
    ids = [1, 2] if unknown == -1 else ["1", "2"]
    with pytest.warns(
        LookAlikeWarning, match="2 probes are of the person .* give each a label of its own"
    ):
        s = matrix(scores, [*ids, unknown, unknown], ids)
    assert s.is_mated.tolist() == [True, True, False, False]


def test_names_of_vectors_that_look_alike_are_told():
    vectors = np.random.default_rng(0).normal(size=(8, 4))
    for one, other in (("Jos\u00e9", "Jose\u0301"), ("7", "007"), ("ID1", "id1"), ("7", "7.0")):
        with pytest.warns(LookAlikeWarning, match="look alike"):
            ff.Embeddings(vectors, [one, one, other, other, *"xxyy"])
    with pytest.warns(LookAlikeWarning, match="group 'sex'"):
        ff.Embeddings(vectors, list("aabbccdd"), {"sex": list("ffmmFFmm")})
    refused(
        "look like names of samples", ff.Embeddings, vectors, [f"ann/{k}.jpg" for k in range(8)]
    )


# Distances, and galleries searched by themselves


@pytest.mark.parametrize("n", [4, 40])
def test_distances_are_noticed(n):
    rng = np.random.default_rng(0)
    templates = rng.normal(size=(n, 8))
    distances = np.linalg.norm(
        (templates + 0.1 * rng.normal(size=(n, 8)))[:, None] - templates, axis=2
    )
    row, column = np.indices(distances.shape).reshape(2, -1)
    nearest = np.argsort(distances, axis=1)[:, :4]
    for make in (
        lambda: matrix(distances, range(n), range(n)),
        lambda: ff.Searches.from_scores(row, row, column, distances.ravel()),
        lambda: lists(
            np.repeat(np.arange(n), 4),
            nearest.ravel(),
            np.take_along_axis(distances, nearest, 1).ravel(),
            searches=range(n),
            probe=range(n),
            enrolled=range(n),
        ),
    ):
        with pytest.warns(ReversedScoresWarning, match='say score_kind="distance"'):
            make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix(-distances, range(n), range(n))
        matrix(np.ones((n, n)), range(n), range(n), policies=KEEP)  # ties are no sign of distances


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_gallery_searched_by_itself_is_refused(dtype):
    rng = np.random.default_rng(0)
    v = rng.normal(size=(30, 64)).astype(np.float32 if dtype == np.float16 else dtype)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    scores = (v @ v.T).astype(dtype)
    shuffled = rng.permutation(30)
    people = np.arange(30)
    refused("gallery that is searched by itself", matrix, scores, people, people)
    refused(
        "gallery that is searched by itself", matrix, scores[shuffled], people[shuffled], people
    )
    refused(
        "gallery that is searched by itself",
        matrix,
        scores,
        people // 2,
        people // 2,
        templates="best",
    )
    row, column = np.indices(scores.shape).reshape(2, -1)
    refused(
        "gallery that is searched by itself",
        ff.Searches.from_scores,
        row,
        row,
        column,
        scores.ravel(),
    )
    best = np.argsort(-scores, axis=1)[:, :5]
    listed = np.repeat(people, 5), best.ravel(), np.take_along_axis(scores, best, 1).ravel()
    about = {"searches": people, "probe": people, "enrolled": people}
    refused("gallery that is searched by itself", lists, *listed, **about)
    refused(
        "gallery that is searched by itself",
        ff.Searches.from_vectors,
        v,
        people,
        v[shuffled],
        people[shuffled],
    )
    assert fnir(matrix(scores, people, people, policies=KEEP), ff.at_rank(1)) == 0
    assert fnir(lists(*listed, **about, policies=KEEP), ff.at_rank(1)) == 0
    itself = np.eye(30, dtype=bool)
    twice = (
        np.where(np.arange(30) % 2, np.roll(v.T, 1, axis=1), v.T).T + 0.01 * v
    )  # two samples of each person
    left = matrix(
        np.where(itself, NONE, twice @ twice.T), people // 2, people // 2, templates="best"
    )
    assert fnir(left, ff.at_rank(1)) == 0
    probes = np.concatenate([v[:1], v[1:] + 0.01])
    with pytest.warns(
        DroppedWarning, match="1 of 30 searches left out, as their probe is a template"
    ):
        s = ff.Searches.from_vectors(probes, people, v, people)
    assert (len(s), s.left_out[0].reason) == (29, "self-comparison")


def test_names_of_samples_in_place_of_enrolled_people_are_told():
    samples, people = ["s1", "s2", "s3"], ["ann", "bob", "cy"]
    scores = np.random.default_rng(0).normal(size=(3, 3))
    row, column = np.indices((3, 3)).reshape(2, -1)
    of_search = np.array(samples)[row], np.array(people)[row], np.array(samples)[column]
    with pytest.warns(LookAlikeWarning, match="each search has the name of one"):
        ff.Searches.from_scores(*of_search, scores.ravel())
    with pytest.warns(LookAlikeWarning, match="each search has the name of one"):
        lists(
            of_search[0],
            of_search[2],
            scores.ravel(),
            searches=samples,
            probe=people,
            enrolled=samples,
        )


@given(
    n=st.integers(2, 6), dtype=st.sampled_from([np.float32, np.float64]), seed=st.integers(0, 2**32 - 1),
    is_distance=st.booleans(),
)  # fmt: skip
def test_a_set_with_itself_is_told_from_two_sets(n, dtype, seed, is_distance):
    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=(2, n, 16)).astype(dtype)
    sides = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (one, other)]

    def scores(a, b):
        squares = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * (a @ b.T)
        return np.sqrt(np.maximum(squares, 0)) if is_distance else a @ b.T

    assert is_of_a_set_with_itself(scores(sides[0], sides[0]), is_distance=is_distance)
    order = rng.permutation(n)
    assert is_of_a_set_with_itself(
        scores(sides[0], sides[0])[:, order], np.argsort(order), is_distance=is_distance
    )
    assert not is_of_a_set_with_itself(scores(sides[0], sides[1]), is_distance=is_distance)
    near = sides[0] + 0.01 * sides[1]
    assert not is_of_a_set_with_itself(scores(sides[0], near), is_distance=is_distance)


def test_a_matrix_of_products_is_noticed_by_comparisons():
    v = np.random.default_rng(0).normal(size=(20, 64))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    assert np.ptp(np.diagonal(v @ v.T)) > 0
    with pytest.warns(DroppedWarning, match="20 of 400 comparisons left out"):
        c = ff.Comparisons.from_matrix(v @ v.T, np.arange(20) // 2, np.arange(20) // 2)
    assert (len(c.mated), len(c.nonmated)) == (20, 360)
    refused("the only mated comparisons are on the diagonal", ff.Comparisons.from_matrix, v @ v.T)


# Lists


def test_places_that_an_index_filled_are_left_out_and_counted():
    about = {"searches": [0, 1], "probe": [1, 9], "enrolled": [1, 2, 3]}
    least = np.finfo(np.float32).min
    for nobody, score in ((-1, least), (-1, NONE), (-1, float(np.finfo(float).min))):
        with pytest.warns(
            DroppedWarning, match="2 of 6 entries of lists left out, as they fill places"
        ):
            s = lists(
                [0, 0, 0, 1, 1, 1],
                [1, 2, 3, 2, nobody, nobody],
                [0.9, 0.4, 0.1, 0.3, score, score],
                **about,
            )
        assert [(one.n, one.reason) for one in s.left_out] == [(2, "padding")]
        assert s.best[:, 0].tolist() == [0.4, 0.3]
    refused("-1 in row 1 .* is not in enrolled", lists, [0, 0], [1, -1], [0.9, 0.3], **about)
    refused("must be finite", lists, [0, 0], [1, 2], [0.9, NONE], **about)
    with pytest.warns(DroppedWarning):
        refused("all lists are empty", lists, [0], [-1], [float(least)], **about)
    rows = [0, 0, 1, 1], [1, 1, 9, 9], [1, -1, 1, -1], [0.9, least, 0.3, least]
    refused("rows, .* are of nobody", ff.Searches.from_scores, *rows)
    with pytest.warns(DroppedWarning):  # more places than people
        s = lists([0] * 4, [1, 2, 3, -1], [0.9, 0.4, 0.1, least], **about, length=4)
    assert s.reach[0] == NONE
    text = {"searches": list("pq"), "probe": list("ax"), "enrolled": list("abc")}
    with pytest.warns(DroppedWarning):
        assert len(lists(["p", "p"], ["a", "-1"], [0.9, least], **text)) == 2


def test_ties_that_lists_may_hide_are_said_and_allowed_for():
    scores = [[0.9, 0.5, 0.5], [0.5, 0.1, 0.2], [0.3, 0.2, 0.9]]
    who = list("bac"), list("abc")
    whole = matrix(scores, *who)
    listed = [0, 0, 1, 1, 2, 2], list("ababca"), [0.9, 0.5, 0.5, 0.1, 0.9, 0.3]
    s = lists(*listed, searches=range(3), probe=who[0], enrolled=who[1])
    assert (whole.rank.tolist(), s.rank.tolist(), s.last_rank.tolist()) == (
        [3, 1, 1],
        [2, 1, 1],
        [3, 1, 1],
    )
    row = ff.identify(s, ff.at_rank(2)).of("fnir")
    assert row.estimate == 0
    assert row.high >= fnir(whole, ff.at_rank(2)) == 1 / 3
    assert "lists end with the mate's score in 1 of 3 searches" in row.note
    assert "33.3 %" in ff.identify(s, ff.at_rank(2)).summary()
    assert "lists end" not in ff.identify(s, ff.at_rank(1)).of("fnir").note
    single = lists(
        [0, 1], ["a", "b"], [0.5, 0.5], searches=[0, 1], probe=list("ab"), enrolled=list("ab")
    )
    found = ff.identify(single, ff.at_rank(1)).of("fnir")
    assert (found.estimate, found.high) == (0, 1)
    assert "the rate is up to 100 %" in found.note
    assert (
        ff.identify(single, ff.at_rank(1), gallery="fixed").check("fnir <= 0.9").verdict
        == "undecided"
    )


def test_searches_that_failed_have_no_list():
    listed = ["p"], ["a"], [0.9]
    about = {"searches": list("pqr"), "probe": list("abx"), "enrolled": list("abc")}
    for at in (ff.at_rank(1), ff.at_rank(9), ff.at_threshold(0.95), ff.at_threshold(0.1)):
        s = lists(*listed, **about, length=3, least_score=0.05, failed=[False, True, True])
        assert fnir(s, at) == (1 if at == ff.at_threshold(0.95) else 0.5)
        assert ff.identify(s, at).of("fnir").n_failed == 1
    with pytest.warns(DroppedWarning, match="2 of 3 searches left out, as they failed"):
        lists(*listed, **about, failed=[False, True, True], policies=policy("exclude"))
    refused(
        "search 0 .* failed, but has a list", lists, *listed, **about, failed=[True, False, False]
    )
    refused("True or False for each search", lists, *listed, **about, failed=[1, 0, 0])
    refused("failed has 1", lists, *listed, **about, failed=[True])
    refused("the FNIR at rank 1 is not known", ff.identify, lists(*listed, **about), ff.at_rank(1))


# Intervals


def test_intervals_hold_estimates_and_are_nested():
    rng = np.random.default_rng(0)
    for _ in range(15):
        n, n_enrolled = int(rng.integers(2, 8)), int(rng.integers(1, 6))
        scores = rng.integers(0, 5, (n, n_enrolled)).astype(float)
        s = quietly(ReversedScoresWarning)(matrix)(
            scores, rng.integers(0, 9, n), range(n_enrolled), policies=KEEP
        )
        for at in (ff.at_threshold(2), ff.at_rank(1), ff.at_fpir(0.3), ff.at_fnir(0.3)):
            try:
                found = [
                    ff.identify(s, at, confidence_level=level).rows
                    for level in (0.5, 0.8, 0.9, 0.95, 0.99)
                ]
            except InputError:
                continue
            for rows in zip(*found, strict=True):
                if math.isnan(rows[0].estimate):
                    continue
                assert all(row.low <= row.estimate <= row.high for row in rows)
                assert rows[0].name != "selectivity" or rows[-1].high <= n_enrolled
                assert all(b.low <= a.low + 1e-12 for a, b in itertools.pairwise(rows))
                assert all(a.high <= b.high + 1e-12 for a, b in itertools.pairwise(rows))


def test_two_people_are_not_compared():
    good, poor = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.9, 0.1], [0.8, 0.2]])
    a, b = (matrix(scores, list("ab"), list("ab"), group=list("fm")) for scores in (good, poor))
    found = ff.compare_searches(a, b, ff.at_rank(1))
    row = found.of("fnir")
    assert row.estimate == -0.5
    assert np.isnan([row.low, row.high, row.pvalue, row.pvalue_adjusted]).all()
    assert "no interval and no p-value for searches of fewer than 10 people" in row.note
    assert "no interval and no p-value" in found.summary()
    found.plot()


def test_vectors_that_failed_are_searches_and_templates_that_failed(tmp_path):
    """As misses at every rank and threshold; a template is the mean, or the best, of its vectors
    that did not fail."""
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(20), 3)
    vectors = 2 * rng.normal(size=(20, 8))[subject] + rng.normal(size=(60, 8))
    role = np.tile(["reference", "reference", "probe"], 20)
    vectors[[2, 6, 9, 10]], vectors[5] = (
        np.nan,
        0,
    )  # two probes, one of two references, and both of a person
    e = ff.Embeddings(vectors, subject, role=role, failures="non-match")
    assert np.flatnonzero(e.failed).tolist() == [2, 5, 6, 9, 10]
    good = np.delete(np.arange(60), [2, 5, 6, 9, 10])
    clean = ff.Embeddings(vectors[good], subject[good], role=role[good])
    for score in ("mean", "max"):
        enrolled = e.enrolled(score=score)
        searches = ff.Searches.from_embeddings(enrolled)
        assert (searches.subject.size, searches.n_enrolled, int(searches.failed.sum())) == (
            20,
            20,
            3,
        )
        alone = ff.Searches.from_embeddings(clean.enrolled(score=score))
        people = {searches.labels.item(person): k for k, person in enumerate(searches.subject)}
        for k, person in enumerate(alone.subject):
            row = people[alone.labels.item(person)]
            if alone.is_mated[k]:
                assert searches.mate_score[row] == alone.mate_score[k]
                assert searches.rank[row] == alone.rank[k]
        misses = int((alone.rank[alone.is_mated] > 1).sum()) + 3
        assert ff.identify(searches, ff.at_rank(1)).of("fnir").estimate == misses / 20
    for refuses in (
        e.comparisons,
        e.scanned,
        partial(ff.evaluate, e),
        partial(ff.roc_band, e, [0.1]),
        partial(ff.compare, e, e),
    ):
        with pytest.raises(
            InputError, match="5 of 60 vectors failed, and what compares every two vectors"
        ):
            refuses()
    np.savez(tmp_path / "v.npz", vectors=vectors, subject=subject, role=role)
    read = ff.read_embeddings(
        tmp_path / "v.npz",
        role="role",
        layout=ff.VectorLayout(template="subject"),
        failures="non-match",
    )
    assert ff.Searches.from_embeddings(read).failed.sum() == 3
    with pytest.raises(InputError, match="all 6 vectors failed"):
        ff.Embeddings(np.zeros((6, 2)), list("aabbcc"), failures="non-match")

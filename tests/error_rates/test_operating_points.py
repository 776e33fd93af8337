"""Thresholds at rates, exactly, whatever the ties."""

from __future__ import annotations

import math

import numpy as np
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive
from oracles.strategies import TIED, from_lists, from_rows, grouped, score_lists

import fastfair as ff
from fastfair.error_rates.operating_points import allowed_errors, read_point

LEVELS = st.one_of(
    st.sampled_from([0.0, 0.1, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 0.9]), st.floats(0, 0.999)
)


@given(
    score_lists(),
    LEVELS,
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["similarity", "distance"]),
)
def test_threshold_at_fmr_is_the_oracles(lists, level, dtype, kind):
    mated, nonmated = lists
    found = ff.rates(from_lists(mated, nonmated, dtype, kind), ff.at_fmr(level))
    threshold = found.threshold if kind == "similarity" else -found.threshold
    expected = naive.threshold_at_fmr(
        nonmated, level, lambda s: float(np.nextafter(dtype(s), dtype(np.inf)))
    )
    assert [s >= threshold for s in mated + nonmated] == [s >= expected for s in mated + nonmated]
    assert found.fmr == naive.fmr(nonmated, expected)
    assert found.fnmr == naive.fnmr(mated, expected)
    assert found.fmr <= level


def test_thresholds_do_not_depend_on_what_else_is_known():
    scores, mated = [0.5, 0.25, 1.0, 0.75], [1, 0, 1, 0]  # float64, and float32 as well
    plain, rich = (
        ff.Comparisons(scores, mated),
        ff.Comparisons(scores, mated, reference_group=list("aabb")),
    )
    assert ff.rates(plain, ff.at_fmr(0)).threshold == ff.rates(rich, ff.at_fmr(0)).threshold == 1


@given(score_lists(), LEVELS, st.sampled_from(["similarity", "distance"]))
def test_threshold_at_fnmr_is_the_oracles(lists, level, kind):
    mated, nonmated = lists
    found = ff.rates(from_lists(mated, nonmated, score_kind=kind), ff.at_fnmr(level))
    expected = naive.threshold_at_fnmr(mated, level)
    threshold = found.threshold if kind == "similarity" else -found.threshold
    assert [s >= threshold for s in mated + nonmated] == [s >= expected for s in mated + nonmated]
    assert found.fnmr == naive.fnmr(mated, expected) <= level
    assert found.fmr == naive.fmr(nonmated, expected)


@given(
    score_lists(),
    st.one_of(TIED, st.floats(-200, 200), st.sampled_from([1e300, -1e300])),
    st.booleans(),
)
def test_given_thresholds_accept_scores_at_or_above_them(lists, threshold, narrow):
    mated, nonmated = lists
    found = ff.rates(
        from_lists(mated, nonmated, np.float32 if narrow else np.float64),
        ff.at_threshold(threshold),
    )
    assert found.fmr == naive.fmr(nonmated, threshold)
    assert found.fnmr == naive.fnmr(mated, threshold)


def test_a_distance_at_its_threshold_is_accepted():
    c = ff.Comparisons([0.1, 0.4, 0.4, 0.9], [1, 1, 0, 0], score_kind="distance")
    assert ff.rates(c, ff.at_threshold(0.4)).fmr == 0.5
    assert ff.rates(c, ff.at_threshold(0.4)).fnmr == 0


@given(score_lists())
def test_at_eer_is_the_threshold_of_eer(lists):
    c = from_lists(*lists)
    found = ff.rates(c, ff.at_eer())
    assert found.threshold == ff.eer(c).threshold
    assert (found.fmr + found.fnmr) / 2 == ff.eer(c).value


@given(grouped())
def test_mean_group_eer_is_the_mean_of_the_groups_own(rows):
    groups = sorted({r.reference_group for r in rows} | {r.probe_group for r in rows})
    within = {
        g: [
            [r.score for r in rows if r.mated is m and r.reference_group == r.probe_group == g]
            for m in (True, False)
        ]
        for g in groups
    }
    c = from_rows(rows)
    if all(all(sides) for sides in within.values()):
        thresholds = [naive.eer(*sides, "nearest")[1] for sides in within.values()]
        expected = math.fsum(thresholds) / len(thresholds)
        found = ff.rates(c, ff.at_mean_group_eer())
        assert (found.fmr, found.fnmr) == naive.overall_rates(rows, expected)
    else:
        refused("no EER", ff.rates, c, ff.at_mean_group_eer())


@given(st.integers(1, 1000), st.floats(0, 0.999))
def test_allowed_errors_is_the_most_whose_rate_does_not_exceed(n, level):
    errors = allowed_errors(level, n)
    assert errors / n <= level
    assert (errors + 1) / n > level


def test_points_below_the_resolution_are_flagged():
    c = from_lists(list(range(100)), list(range(-100, 0)))
    assert ff.rates(c, ff.at_fmr(0.29)).below_resolution
    assert not ff.rates(c, ff.at_fmr(0.30)).below_resolution
    assert ff.rates(c, ff.at_fnmr(0.01)).below_resolution
    assert not ff.rates(c, ff.at_eer()).below_resolution


def test_points_that_make_no_sense_are_refused():
    for make, value in ((ff.at_fmr, 5), (ff.at_fmr, 1), (ff.at_fnmr, 50), (ff.at_fmr, -0.1)):
        refused(r"fraction in \[0, 1\)", make, value)
    refused(r"for 5 % write 0\.05", ff.at_fmr, 5)
    for value in ("0.1", None, True, math.nan, math.inf):
        refused("finite number", ff.at_fmr, value)
    refused("finite number", ff.at_threshold, 10**400)
    refused("did you mean 'fmr'", ff.OperatingPoint, "FMR", 0.1)
    refused("have no groups", ff.rates, from_lists([1], [0]), ff.at_mean_group_eer())
    refused("at_fmr", ff.rates, from_lists([1], [0]), 0.001)


def test_points_read_well():
    assert [
        str(p) for p in (ff.at_fmr(1e-4), ff.at_fnmr(0.05), ff.at_threshold(-2), ff.at_eer())
    ] == [
        "FMR=0.0001",
        "FNMR=0.05",
        "threshold=-2",
        "EER",
    ]


def test_operating_points_are_read_alike_everywhere():
    c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
    for text, point in (
        ("fmr=0.1%", ff.at_fmr(0.001)),
        ("FNMR = 5 %", ff.at_fnmr(0.05)),
        ("eer", ff.at_eer()),
    ):
        assert read_point(text) == point
        assert ff.rates(c, text).at == point
        assert [rates.at for rates in ff.evaluate(c, ["fmr=0.5", text], n_resamples=0).rates] == [
            ff.at_fmr(0.5),
            point,
        ]
    refused("a threshold is a score", ff.rates, c, "threshold=5 %")

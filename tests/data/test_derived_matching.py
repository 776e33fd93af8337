"""Two systems' scores of the same comparisons: matched by number where these agree, and else by
labels."""

import numpy as np
import pytest
from helpers.refusals import refused

import fastfair as ff
from fastfair.data import score_keys
from fastfair.data.derived import match

REFERENCE, PROBE = list("aabbccaabbcc"), list("aabbccbbccaa")
MATED = [1] * 6 + [0] * 6
GROUP = {"a": "f", "b": "f", "c": "m"}
SCORES = np.random.default_rng(0).normal(size=(2, 12))


def comparisons(scores, order=slice(None), group=GROUP, score_kind="similarity"):
    sides = np.array(REFERENCE)[order], np.array(PROBE)[order]
    groups = [[group[s] for s in side] for side in sides]
    return ff.Comparisons(scores[order], np.array(MATED)[order], *sides, *groups, score_kind)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_numbers_of_either_way_are_those_of_the_first(one_by_one):
    first, second = comparisons(SCORES[0], slice(0, 9)), comparisons(SCORES[1], slice(0, 9))
    if one_by_one:  # no two comparisons may be of the same pair
        first, second = (
            comparisons(SCORES[0], [0, 2, 4, 6, 8, 10]),
            comparisons(SCORES[1], [0, 2, 4, 6, 8, 10]),
        )
    else:
        assert match(first, second, one_by_one=False) is second
    order = np.random.default_rng(1).permutation(len(second.mated) + len(second.nonmated))
    rows = np.array([0, 2, 4, 6, 8, 10] if one_by_one else range(9))
    found = match(first, comparisons(SCORES[1], rows[order]), one_by_one=one_by_one)
    for kind in ("mated", "nonmated"):
        one, other = getattr(found, kind), getattr(second, kind)
        assert np.array_equal(one.keys, other.keys)
        numbered = [
            zip(side.rows.tolist(), side.reference, side.probe, strict=True)
            for side in (one, other)
        ]
        assert sorted(numbered[0]) == sorted(numbered[1])
        if one_by_one:
            assert np.array_equal(one.rows, other.rows)


def test_numbers_alone_do_not_make_comparisons_the_same():
    first = comparisons(SCORES[0])
    other_groups = comparisons(SCORES[1], group=GROUP | {"b": "m"})
    refused(r"groups of \d comparisons differ", match, first, other_groups, one_by_one=False)
    swapped = ff.Comparisons(
        SCORES[1], MATED, REFERENCE, list("aabbccccccaa"), *[list("ffffmmffffmm")] * 2
    )
    refused(
        "the non-mated comparisons differ",
        match,
        comparisons(SCORES[0], group=GROUP),
        swapped,
        one_by_one=False,
    )


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_keys_below_another_are_counted_whatever_its_size(dtype):
    keys = np.array([-5, -5, 0, 3, 3, 9], dtype)
    for key in (-(2**40), -6, -5, -4, 0, 3, 9, 10, 2**40):
        assert score_keys.count_below(keys, key) == sum(k < key for k in keys.tolist())


def test_sessions_of_one_system_alone_are_asked_of_both():
    day = list("xyxyxyxyxyxy")
    with_days = ff.Comparisons(SCORES[0], MATED, REFERENCE, PROBE, session=day)
    without = ff.Comparisons(SCORES[1], MATED, REFERENCE, PROBE)
    for first, second, which in ((with_days, without, "second"), (without, with_days, "first")):
        refused(
            f"^{which} has no sessions: give session= of both",
            match,
            first,
            second,
            one_by_one=False,
        )

"""Comparisons that failed: refused, left out and counted, or counted as non-matches."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers.each import each
from helpers.flat import from_frame, from_matrix, make, read_comparisons
from helpers.refusals import refused
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.strategies import grouped

from fastfair.data.exclusions import Exclusion
from fastfair.errors import DroppedWarning, InputError

SCORES, MATED = [0.9, np.nan, 0.8, 0.1, 0.3, np.nan], [1, 1, 1, 0, 0, 0]


@st.composite
def with_failures(draw):
    """Rows of comparisons, and which of them failed; some of both classes have a score."""
    rows = draw(grouped())
    failed = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    for wanted in (True, False):
        assume(
            any(row.mated is wanted and not lost for row, lost in zip(rows, failed, strict=True))
        )
    return rows, np.array(failed)


def made(rows, failed, policy, dtype=np.float64, score_kind="similarity", sentinel=np.nan):
    columns = list(zip(*rows, strict=True))
    scores = np.array(columns[0], dtype) * (-1 if score_kind == "distance" else 1)
    scores[failed] = sentinel
    options = {} if np.isnan(sentinel) else {"failure_score": sentinel}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedWarning)
        return make(scores, *columns[1:], score_kind=score_kind, failures=policy, **options)


@given(
    with_failures(), st.sampled_from([np.float32, np.float64]), st.sampled_from(["similarity", "distance"]),
    st.sampled_from([np.nan, -99.5]),
)  # fmt: skip
def test_failed_comparisons_keep_their_subjects_and_groups(data, dtype, score_kind, sentinel):
    rows, failed = data
    for policy in ("exclude", "non-match"):
        c = made(rows, failed, policy, dtype, score_kind, sentinel)
        assert c.subjects.size == len({row.reference for row in rows} | {row.probe for row in rows})
        sides = zip(
            (True, False), (c.mated, c.nonmated), c.failed.sides, c.failed_by_group, strict=True
        )
        for wanted, side, lost, by_group in sides:
            positions = {k for k, row in enumerate(rows) if row.mated is wanted and failed[k]}
            assert set(lost.rows.tolist()) == positions
            for k, row in enumerate(lost.rows.tolist()):
                assert c.subjects[lost.reference[k]] == rows[row].reference
                assert c.subjects[lost.probe[k]] == rows[row].probe
                assert c.groups[by_group.reference_group[k]] == rows[row].reference_group
                assert c.groups[by_group.probe_group[k]] == rows[row].probe_group
            n_scored = sum(row.mated is wanted for row in rows) - len(positions)
            assert len(side) == n_scored + (len(positions) if policy == "non-match" else 0)
            assert np.isneginf(side.similarities).sum() == len(side) - n_scored
            assert set(side.rows.tolist()).isdisjoint(positions) is (
                policy == "exclude" or not positions
            )


def test_failures_are_refused_by_default_and_the_error_says_what_would_do():
    refused(r'row 1 .* is nan \(and 1 more\); .*\(failures="exclude"\) leaves', make, SCORES, MATED)
    with pytest.raises(
        InputError,
        match=r"1 of 3 comparisons failed, the first in row 1 .* whose score is -1; .*failures=",
    ):
        make([0.9, -1, 0.3], [1, 1, 0], failure_score=-1)
    assert make([0.9, -1, 0.3], [1, 1, 0], failure_score=-2).failed is None


def test_what_is_left_out_is_told():
    with pytest.warns(
        DroppedWarning, match="2 of 6 comparisons left out, as they failed: 1 mated and 1 non-mated"
    ):
        c = make(SCORES, MATED, failures="exclude")
    assert c.left_out == (
        Exclusion(2, 6, "comparisons", "failed", "as they failed", 'failures="exclude"', 1, 1),
    )
    assert repr(c) == "Comparisons(2 mated, 2 non-mated, similarity, 2 failed and left out)"
    counted = make(SCORES, MATED, failures="non-match")
    assert (
        repr(counted)
        == "Comparisons(3 mated, 3 non-mated, similarity, 2 failed and counted as non-matches)"
    )
    assert not counted.left_out


@each(
    ("scores", "options", "message"),
    [
        (
            [1, np.inf, 0],
            {"failures": "exclude"},
            "row 1 .* is inf: mark failed comparisons with NaN",
        ),
        (
            [np.nan, np.nan, 0],
            {"failures": "exclude"},
            "no mated comparisons among the 1 that have a score",
        ),
        (
            [1, 0.5, np.nan],
            {"failures": "non-match"},
            "no non-mated comparisons among the 2 that have a score",
        ),
        ([1, 0.5, 0], {"failures": "drop"}, "failures must be one of"),
        (
            [1, 0.5, 0],
            {"failures": "exclude", "failure_score": np.nan},
            "failure_score must be a finite number",
        ),
        ([1e160, 0.5, 0], {"failures": "non-match"}, "between -1e.150 and 1e.150"),
    ],
)
def test_what_cannot_be_taken_is_refused(scores, options, message):
    refused(message, make, scores, [1, 1, 0], **options)


def test_a_score_of_failures_beyond_float32_is_no_score_of_theirs():
    c = make(np.array([1, 0.5, 0], np.float32), [1, 1, 0], failures="exclude", failure_score=1e300)
    assert c.failed.n == 0


@given(with_failures())
def test_a_group_keeps_its_own_failures(data):
    rows, failed = data
    for policy in ("exclude", "non-match"):
        c = made(rows, failed, policy)
        for k, group in enumerate(c.groups):
            if not all(side.cells[k, k] for side in (c.mated_by_group, c.nonmated_by_group)):
                continue
            own = c.within_group(group)
            inside = [row.reference_group == row.probe_group == group for row in rows]
            assert own.failed.n == int((failed & inside).sum())
            there = {row.reference for row, here in zip(rows, inside, strict=True) if here}
            there |= {row.probe for row, here in zip(rows, inside, strict=True) if here}
            assert set(own.subjects.tolist()) == there
            for side in own.failed.sides:
                assert set(own.subjects[side.reference].tolist()) <= there


def test_conflicting_labels_are_left_out_with_their_failures():
    with pytest.warns(DroppedWarning):
        c = make(
            SCORES,
            MATED,
            list("aabacb"),
            list("abbbbc"),
            failures="non-match",
            label_conflicts="drop",
        )
    assert (len(c.mated), len(c.nonmated), c.failed.n) == (2, 3, 1)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_may_lack_scores(frame):
    columns = {"score": [0.9, None, 0.8, 0.1, 0.3, None], "mated": [True] * 3 + [False] * 3}
    c = from_frame(frame(columns), failures="non-match")
    assert (len(c.failed.mated), len(c.failed.nonmated)) == (1, 1)
    assert read_comparisons(frame(columns), failures="non-match").failed.n == 2


@pytest.mark.jit
def test_failed_templates_of_a_real_matrix(shared_data):
    scores = np.load(shared_data / "nist_bssr1_set1.npz")["face_c"]
    failed = (scores == -1).all(axis=0)
    c = from_matrix(scores, failures="non-match", failure_score=-1)
    assert failed.sum() > 0
    assert len(c.failed.mated) == (np.diagonal(scores) == -1).sum()
    assert c.failed.n == (scores == -1).sum()

"""`worst_comparisons`: the rows that looking at every comparison finds, with their labels and
subjects."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import worst as oracle

import fastfair as ff
from fastfair.errors import DroppedWarning

AT = ff.at_threshold(0.5)
SUBJECTS = "abcdef"
GROUP = dict(zip(SUBJECTS, "ffmmxx", strict=True))


@st.composite
def columns(draw):
    """Draw comparisons of six subjects in three groups, with many ties; both classes are there."""
    n = draw(st.integers(2, 40))
    grid = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5]
    scores = draw(st.lists(st.sampled_from(grid), min_size=n, max_size=n))
    reference = draw(st.lists(st.sampled_from(SUBJECTS), min_size=n, max_size=n))
    mated = [True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))]
    others = draw(st.lists(st.integers(1, len(SUBJECTS) - 1), min_size=n, max_size=n))
    probe = [
        who if same else SUBJECTS[(SUBJECTS.index(who) + k) % len(SUBJECTS)]
        for who, same, k in zip(reference, mated, others, strict=True)
    ]
    return scores, mated, reference, probe


def made(scores, mated, reference, probe, kind="similarity", groups=True) -> ff.Comparisons:
    sides = (
        [[GROUP[who] for who in side] for side in (reference, probe)] if groups else (None, None)
    )
    return ff.Comparisons(scores, mated, reference, probe, *sides, kind)


@given(
    data=columns(),
    kind=st.sampled_from(["similarity", "distance"]),
    n=st.integers(0, 12),
    group=st.sampled_from("-fmx"),
)
def test_rows_and_counts_are_those_of_looking_at_every_comparison(data, kind, n, group):
    scores, mated, reference, probe = data
    comparisons = made(*data, kind)
    inside = [
        group == "-" or GROUP[a] == GROUP[b] == group for a, b in zip(reference, probe, strict=True)
    ]
    if group not in ("-", *comparisons.groups):
        refused("group must be one of", ff.worst_comparisons, comparisons, AT, group, n)
        return
    found = ff.worst_comparisons(comparisons, AT, None if group == "-" else group, n)
    expected = oracle.worst(scores, mated, 0.5, kind == "distance", inside, n)
    assert list(zip(found.error, found.row, strict=True)) == expected
    rows = [row for _, row in expected]
    assert found.score.tolist() == [scores[row] for row in rows]
    assert found.distance.tolist() == [abs(scores[row] - 0.5) for row in rows]
    assert list(found.labels["reference"]) == [reference[row] for row in rows]
    assert list(found.labels["probe"]) == [probe[row] for row in rows]
    assert list(found.labels["probe_group"]) == [GROUP[probe[row]] for row in rows]
    errors = oracle.worst(scores, mated, 0.5, kind == "distance", inside, len(scores))
    for name, kind_of, is_mated in (
        ("false_nonmatches", "mated", True),
        ("false_matches", "nonmated", False),
    ):
        bad = [row for error, row in errors if (error == "false non-match") == is_mated]
        everyone = [row for row, same in enumerate(mated) if same == is_mated and inside[row]]
        for column, listed in ((name, bad), (kind_of, everyone)):
            counts = oracle.involved(reference, probe, listed)
            assert [counts[who] for who in found.subjects["subject"]] == list(
                found.subjects[column]
            )
        counted = found.errors["mated" if is_mated else "non-mated"]
        assert (counted.n_errors, counted.n_comparisons) == (len(bad), len(everyone))
    everybody = oracle.involved(reference, probe, [row for _, row in errors])
    assert [everybody[who] for who in found.subjects["subject"]] == sorted(
        everybody.values(), reverse=True
    )


def test_without_subjects_and_groups_there_are_scores_alone():
    found = ff.worst_comparisons(ff.Comparisons([0.9, 0.3, 0.4, 0.7], [1, 1, 0, 0]), AT)
    assert found.row is None
    assert found.labels == found.subjects == {}
    assert found.to_frame("polars").columns == ["error", "score", "distance"]
    refused("have none", ff.worst_comparisons, ff.Comparisons([0.9, 0.3], [1, 0]), AT, "f")


def test_rows_are_counted_without_what_was_left_out():
    with pytest.warns(DroppedWarning):
        comparisons = ff.Comparisons(
            [0.9, 0.3, 0.4, 0.7],
            [0, 1, 0, 0],
            list("aaba"),
            list("aabb"),
            policies=ff.Policies(label_conflicts="drop"),
        )
    found = ff.worst_comparisons(comparisons, AT)
    assert found.row == (0, 1)
    assert "Rows are counted without what was left out" in found.summary()


def test_a_scan_has_the_same_errors_without_rows(tmp_path):
    rng = np.random.default_rng(0)
    mated, who = np.arange(600) < 200, np.arange(600) % 40
    columns = {"score": rng.normal(size=600) + 2 * mated, "mated": mated, "reference": who}
    frame = pl.DataFrame({**columns, "probe": np.where(mated, who, 40 + np.arange(600) % 7)})
    frame.write_parquet(tmp_path / "scores.parquet")
    whole = ff.worst_comparisons(
        ff.read_comparisons(tmp_path / "scores.parquet"), ff.at_fmr(0.1), n=20
    )
    scanned = ff.worst_comparisons(
        ff.scan_comparisons(tmp_path / "scores.parquet", storage=ff.Storage(memory_limit="1 GB")),
        ff.at_fmr(0.1),
        n=20,
    )
    assert scanned.score.tolist() == whole.score.tolist()
    assert scanned.labels["reference"] == whole.labels["reference"]
    assert scanned.threshold == whole.threshold


def test_failed_comparisons_are_counted_and_not_listed():
    scores = [0.9, np.nan, 0.3, np.nan, 0.1, 0.2]
    comparisons = ff.Comparisons(
        scores,
        [1, 1, 1, 1, 0, 0],
        list("abcdaa"),
        list("abcdbc"),
        list("fffmff"),
        policies=ff.Policies(failures="non-match"),
    )
    found = ff.worst_comparisons(comparisons, AT)
    assert found.row == (2,)
    assert found.score.tolist() == [0.3]
    assert (found.errors["mated"].n_errors, found.errors["mated"].n_failed) == (3, 2)
    assert found.subjects["false_nonmatches"] == (1, 1, 1)
    assert "2 of these failed" in found.summary()
    assert ff.worst_comparisons(comparisons, AT, "f").errors["mated"].n_failed == 1

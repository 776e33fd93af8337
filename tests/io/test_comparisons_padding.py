"""Rows with which an index fills up lists of too few neighbours, and scores that are the largest of
a type."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from helpers.each import each
from helpers.flat import make, read_comparisons, scan_comparisons
from helpers.refusals import refused

from fastfair.errors import DroppedWarning

LOWEST = float(np.finfo(np.float32).min)
NAMES = {"reference": ["a", "b", "a", "b", "-1", "-1"], "probe": ["a", "b", "b", "a", "a", "b"]}
SAID = "2 of 6 comparisons left out, as they are places that an index left empty"


def with_names(scores, names=NAMES) -> pl.DataFrame:
    return pl.DataFrame({**names, "score": scores})


@each(
    "filler",
    [LOWEST, -LOWEST, -3.4028235e38, -3.40282e38, math.nan, math.inf, -math.inf, 2.0**31 - 1],
)
@each("failures", ["error", "exclude", "non-match"])
def test_places_without_a_neighbour_are_left_out_and_counted(filler, failures):
    frame = with_names([0.9, 0.8, 0.3, 0.7, filler, filler])
    with pytest.warns(DroppedWarning, match=SAID):
        c = read_comparisons(frame, failures=failures)
    expected = read_comparisons(frame[:4], failures=failures)
    assert (c.subjects.tolist(), repr(c)) == (["a", "b"], repr(expected))
    (record,) = c.left_out
    assert (record.n, record.n_before, record.n_mated, record.reason) == (2, 6, 0, "padding")
    np.testing.assert_array_equal(c.nonmated.similarities, expected.nonmated.similarities)


def test_such_places_are_left_out_of_files_arrays_and_scans(tmp_path):
    frame = with_names([0.9, 0.8, 0.3, 0.7, LOWEST, LOWEST])
    frame.write_csv(tmp_path / "s.csv")
    frame.cast({"score": pl.Float32}).write_parquet(tmp_path / "s.parquet")
    numbers = {
        name: [{"a": 1, "b": 2, "-1": -1}[label] for label in labels]
        for name, labels in NAMES.items()
    }
    samples = {
        "reference_sample": ["a1", "b1", "a2", "b2", "-1", "-1"],
        "probe_sample": ["a3", "b3", "b4", "a4", "a3", "b3"],
    }
    for call in (
        lambda: read_comparisons(tmp_path / "s.csv"),
        lambda: read_comparisons(tmp_path / "s.parquet"),
        lambda: scan_comparisons(tmp_path / "s.parquet"),
        lambda: make(np.float32(frame["score"].to_numpy()), None, **numbers),
        lambda: make(frame["score"].to_numpy(), None, **NAMES, **samples),
    ):
        with pytest.warns(DroppedWarning, match=SAID):
            assert "2 mated, 2 non-mated" in repr(call())


def test_a_filler_of_somebody_is_refused_and_can_be_declared():
    frame = with_names([0.9, 0.8, 0.3, LOWEST, 0.1, 0.2])
    refused(r"score -3\.4028235e\+38 in row 3 .* declare .*failure_score=", read_comparisons, frame)
    refused(
        "in row 3 .*failure_score=",
        read_comparisons,
        with_names([0.9, math.nan, 0.3, LOWEST, 0.1, 0.2]),
        failures="exclude",
    )
    with pytest.warns(DroppedWarning, match="1 of 6 comparisons left out, as they failed"):
        assert len(read_comparisons(frame, failures="exclude", failure_score=LOWEST).nonmated) == 3


def test_somebody_may_be_called_minus_one():
    c = read_comparisons(with_names([0.9, 0.8, 0.3, 0.7, 0.1, 0.2]))
    assert c.subjects.tolist() == ["-1", "a", "b"]
    refused(
        "all 2 comparisons of -1 have the score 0, the lowest",
        read_comparisons,
        with_names([1.0, 1.0, 0.3, 0.7, 0.0, 0.0]),
    )
    assert len(read_comparisons(with_names([0.9, 0.8, 0.3, 0.7, 0.5, 0.5])).subjects) == 3


def test_large_scores_that_are_no_fillers_are_read():
    for largest in (1e38, 2**31 - 1, 3.4e38, 1e100):
        assert make([largest, 0, -largest, 1], [1, 0, 0, 1]).mated.similarities.max() == largest

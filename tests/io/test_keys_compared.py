"""Who is compared, as codes: as the slow way of labels of any type finds them."""

from __future__ import annotations

import polars as pl
import pytest
from helpers.each import each
from helpers.flat import read_comparisons
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff

NAMES = st.sampled_from(["a", "b ", " b", "é", "e\u0301", "\u00e9\x1c", "a\u2003", "A", "10", "9"])
KINDS = st.sampled_from([pl.String, pl.Categorical])


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=8), st.tuples(KINDS, KINDS))
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.LookAlikeWarning"
)  # some names are drawn to look alike
def test_columns_of_text_are_coded_as_labels_are(rows, kinds):
    rows = [*rows, ("A", "A"), ("9", "10")]  # mated and non-mated
    names = "reference", "probe"
    sides = dict(zip(names, zip(*rows, strict=True), strict=True))
    frame = pl.DataFrame(
        [
            pl.Series(name, sides[name], pl.String).cast(kind)
            for name, kind in zip(names, kinds, strict=True)
        ]
    ).with_columns(score=pl.Series(range(len(rows)), dtype=pl.Float64))
    c = read_comparisons(frame)
    slow = ff.Comparisons(range(len(rows)), None, list(sides["reference"]), list(sides["probe"]))
    assert (
        c.subjects.tolist()
        == slow.subjects.tolist()
        == sorted({text.strip() for row in rows for text in row})
    )
    for found, expected in ((c.mated, slow.mated), (c.nonmated, slow.nonmated)):
        assert found.reference.tolist() == expected.reference.tolist()
        assert found.probe.tolist() == expected.probe.tolist()


@each("missing", ["", " ", "nan", "<NA>", "\x1c", None])
def test_a_missing_label_is_told_with_its_column_and_row(missing):
    frame = pl.DataFrame({"score": [0.1, 0.2], "reference": ["a", "b"], "probe": ["a", missing]})
    refused(r"probe.*missing in row 1", read_comparisons, frame)

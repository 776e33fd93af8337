"""CSV that no spreadsheet computes, and what comes back of it."""

from __future__ import annotations

import csv

import polars as pl
import pytest
from helpers.each import each
from hypothesis import given
from hypothesis import strategies as st

from fastfair._lib import whole_files

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=", "-"]
HARMLESS = [
    "",
    "a",
    "a=1",
    "'",
    "'a",
    "''",
    " =1",
    "f",
    "1",
    "0.5",
    "\n=1",
    "é-",
    "a\n=1",
    "a\n'=1",
]


@each("text", FORMULAS)
def test_formulas_get_an_apostrophe(text):
    column = pl.Series(["a", text, f"'{text}", None])
    expected = ["a", f"'{text}", f"''{text}", None]
    assert whole_files.neutralise(column).to_list() == expected
    assert whole_files.restore(pl.Series(expected)).to_list() == column.to_list()


@each("text", HARMLESS)
def test_other_text_stays(text):
    assert whole_files.neutralise(pl.Series([text])).to_list() == [text]
    assert whole_files.restore(pl.Series([text])).to_list() == [text]


@given(
    st.lists(
        st.text(
            st.sampled_from("'=+-@\t\r\na0 ") | st.characters(exclude_categories=["Cs"]), max_size=6
        )
    )
)
def test_every_text_comes_back(texts):
    column = pl.Series(texts, dtype=pl.String)
    there = whole_files.neutralise(column)
    formulas = [text.lstrip("'")[:1] in tuple("=+-@\t\r") for text in texts]
    assert there.to_list() == [
        f"'{text}" if is_one else text for text, is_one in zip(texts, formulas, strict=True)
    ]
    assert not any(text[:1] in tuple("=+-@\t\r") for text in there)
    assert whole_files.restore(there).to_list() == texts


@pytest.mark.parametrize("separator", [",", "\t"])
def test_frames_keep_their_numbers(tmp_path, separator):
    frame = pl.DataFrame(
        {"label": ["=a", "b", "\r", None], "score": [-1.5, 2.0, None, -0.0], "count": [-1, 2, 3, 4]}
    )
    whole_files.write_csv(frame, tmp_path / "x.csv", separator)
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.reader(file, delimiter=separator))
    assert rows[1:] == [
        ["'=a", "-1.5", "-1"],
        ["b", "2.0", "2"],
        ["'\r", "", "3"],
        ["", "-0.0", "4"],
    ]

"""What JSON has of results: the schema says it, and the classes are read back with the same
numbers."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import example, given
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib.tables import in_columns, in_rows
from fastfair.results.result import Result
from fastfair.results.written import from_plain, to_plain
from fastfair.written_results import schema

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import valid_calls


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """A result of each class."""
    made = {name: value for name, value in valid_calls.made().items() if isinstance(value, Result)}
    return made | {
        "CalibratedScores": ff.calibrate(
            ff.synthesis.binormal_comparisons(200, 200, fmr=0.01, n_subjects=40, rng=0), rng=0
        )
    }


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_json_is_as_its_schema_says_and_is_read_back(results, tmp_path):
    assert len(results) > 15
    for name, result in results.items():
        text = result.to_json(tmp_path / "result.json")
        jsonschema.validate(json.loads(text), schema(name))
        (back,) = ff.read_results(tmp_path / "result.json")
        assert type(back) is type(result)
        assert back.to_json() == text, name
        assert back.summary() == result.summary()
        assert back.to_frame("polars").equals(result.to_frame("polars"))


def test_numbers_that_json_has_not_come_back():
    array = np.array([[1.5, math.nan], [math.inf, -math.inf]])
    plain = to_plain(array)
    assert plain == [[1.5, None], ["Infinity", "-Infinity"]]
    np.testing.assert_array_equal(
        from_plain(plain, np.ndarray[tuple[int, ...], np.dtype[np.float64]]), array
    )
    assert math.isnan(from_plain(None, float))
    assert to_plain(math.inf) == "Infinity"


def test_latex_is_a_table_of_booktabs(tmp_path):
    counts = ff.FailureCounts([0, 1, 0, 2], [4] * 4, group=["f_1", "f_1", "m&x", "m&x"])
    test = ff.margin_of_error(counts, n_resamples=50, rng=0)
    text = test.to_latex(tmp_path / "t.tex", columns=["group", "fnmr"])
    assert text.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"group & fnmr \\",
        r"\midrule",
        r"f\_1 & 0.125 \\",
        r"m\&x & 0.25 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert (tmp_path / "t.tex").read_text() == text + "\n"
    refused("columns", test.to_latex, columns=["x"])


def test_unknown_classes_have_no_schema():
    refused("kind", schema, "Comparisons")


ROWS = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.sampled_from("abc"), parts),
)


@given(ROWS)
@example([{}, {}])
def test_columns_hold_the_rows_of_which_they_were_made(content):
    assert json.loads(json.dumps(in_columns(content)), object_hook=in_rows) == content


def test_columns_name_what_rows_share_once():
    rows = [{"group": "f", "fmr": 0.1}, {"group": "m", "fmr": 0.2}]
    assert in_columns({"rows": rows}) == {
        "rows": {"column by column": {"group": ["f", "m"], "fmr": [0.1, 0.2]}}
    }
    assert in_columns(rows[:1]) == rows[:1]

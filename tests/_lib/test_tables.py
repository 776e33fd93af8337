"""Tables by column, as pages have them."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from fastfair._lib.tables import by_columns, by_rows

CELLS = st.none() | st.booleans() | st.integers() | st.sampled_from(["", "f", "m", "tables"]) | st.lists(st.integers())


@st.composite
def contents(draw) -> dict:
    names = draw(st.lists(st.sampled_from(["a", "b", "categories", "codes"]), min_size=1, unique=True))
    cells = st.tuples(*[CELLS] * len(names))
    rows = [dict(zip(names, row, strict=True)) for row in draw(st.lists(cells, max_size=8))]
    others = draw(st.lists(CELLS | st.fixed_dictionaries({"a": CELLS}), max_size=3))
    return {"rows": rows, "others": others, "tables of": {"tables": rows}, "text": draw(CELLS)}


@given(contents())
def test_columns_become_the_rows_that_they_were(content):
    written = by_columns(content)
    assert by_rows(json.loads(json.dumps(written))) == content
    if content["rows"] and not any(isinstance(cell, list) for row in content["rows"] for cell in row.values()):
        assert isinstance(written["rows"], dict)


def test_texts_that_repeat_are_written_once():
    rows = [{"group": group, "n": 1.5} for group in ("f", None, "m", "f", "f")]
    assert by_columns({"rows": rows, "seed": 1}) == {
        "rows": {"table": {"group": {"categories": ["f", "m"], "codes": [0, -1, 1, 0, 0]}, "n": [1.5] * 5}}, "seed": 1,
    }  # fmt: skip

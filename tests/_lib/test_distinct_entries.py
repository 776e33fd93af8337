"""Columns numbered by their distinct entries, as with few rows and as with so many that kernels and threads do it."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers.each import each
from hypothesis import given
from hypothesis import strategies as st
from oracles.label_codes import codes_of

from fastfair._lib import distinct_entries, label_codes, threads
from fastfair._lib.frames import FrameColumns
from fastfair.data import sorting
from fastfair.errors import InputError

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "Cc"]), min_size=1, max_size=5).filter(
    lambda text: text == text.strip() and not label_codes.is_missing(text)
)
WITHIN = st.sampled_from(["within", "a\0b", "a", "aa\0\0b", "A", "é", "𝔸"])
KINDS = {
    "int8": st.integers(-128, 127),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "int64": st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-5, 5)),
    "uint64": st.one_of(
        st.integers(0, 2**64 - 1), st.integers(2**63 - 3, 2**63 + 3), st.integers(2**64 - 9, 2**64 - 1)
    ),
    "float32": st.floats(-1e10, 1e10, width=32),
    "float64": st.sampled_from([0.0, -0.0, 1.5, -2.25, 1e300, 3.0]),
    "U1": st.sampled_from(list("abAé𝔸")),
    "U": st.one_of(WORDS, WITHIN),
    "S3": st.sampled_from([b"a", b"ab", b"abc", b"b", b"a\0b"]),
    "S": st.sampled_from([b"a", b"ab", b"abcdefg", b"b\0c"]),
    "object": st.one_of(WORDS, WITHIN),
    "object of numbers": st.one_of(st.integers(-3, 3), st.integers(2**70, 2**70 + 2)),
}


@pytest.fixture
def _as_if_many(monkeypatch):
    """Take every number of rows for many, and cut rows into several parts."""
    monkeypatch.setattr(distinct_entries, "FEW", 0)
    monkeypatch.setattr(distinct_entries, "_SLOTS", 4)
    monkeypatch.setattr(sorting, "FEW", 0)
    monkeypatch.setattr(threads, "_SMALL", 4)
    monkeypatch.setattr(threads, "count_threads", lambda _: 3)
    monkeypatch.setattr(distinct_entries, "count_threads", lambda _: 3)
    monkeypatch.setattr(sorting, "count_threads", lambda _: 3)


@st.composite
def columns(draw):
    """Draw two columns of one kind, whose labels come from few, so that they repeat."""
    kind = draw(st.sampled_from(list(KINDS)))
    labels = st.sampled_from(draw(st.lists(KINDS[kind], min_size=1, max_size=8)))
    dtype = kind.split()[0]
    return [np.array(draw(st.lists(labels, min_size=1, max_size=30)), dtype) for _ in range(2)]


def _check(given_columns):
    labels, codes = codes_of(given_columns)
    found, found_codes = label_codes.encode_together(("reference", "probe"), given_columns)
    clean = [label_codes.clean(label) for label in labels]
    assert found.tolist() == clean
    assert [type(label) for label in found.tolist()] == [type(label) for label in clean]
    assert [of_column.tolist() for of_column in found_codes] == codes
    assert all(of_column.dtype == np.uint16 for of_column in found_codes)
    for column, of_column in zip(given_columns, codes, strict=True):
        alone = label_codes.encode("reference", column)
        assert [clean.index(label) for label in alone.labels[alone.codes].tolist()] == of_column
        entries, numbers = distinct_entries.number_entries(column)
        assert numbers.read(entries).tolist() == column.tolist()


@given(columns())
def test_few_rows_are_coded_as_by_hand(given_columns):
    _check(given_columns)


@pytest.mark.usefixtures("_as_if_many")
@given(columns())
def test_many_rows_are_coded_as_by_hand(given_columns):
    _check(given_columns)


@pytest.mark.usefixtures("_as_if_many")
@each(
    ("labels", "message"),
    [
        (np.array(["a"] * 9 + ["", "a", "nan"]), r"missing in row 9 \(counted from 0\) and 2 in all"),
        (np.array([1.5] * 9 + [np.nan, 2.5, np.nan]), r"missing in row 9 \(counted from 0\) and 2 in all"),
        (np.array(["a"] * 9 + [None, "a", float("nan")], object), r"missing in row 9 \(counted from 0\) and 2 in all"),
        (np.array(["b"] * 9 + ["\ud800", "a", "\udfff"]), r"not UTF-8 text: '\\ud800' in row 9 \(counted from 0\)"),
        (np.array([b"b"] * 9 + [b"\xff", b"a", b"\xfe"]), r"not UTF-8 text: b'\\xff' in row 9 \(counted from 0\)"),
        (np.array([1.0] * 9 + [1e301, 2.0, 1e302]), r"too large a number in row 9 \(counted from 0\)"),
        (np.array([1] * 9 + ["a", 2, "b"], object), "mixes labels of the types int, str"),
        (np.array([1] * 9 + [True, 1, 1], object), "mixes labels of the types bool, int"),
        (np.array(["a"] * 9 + [[1], "a", {}], object), r"must be labels, but row 9 \(counted from 0\) is of type list"),
        (np.array(["NaT"] * 2 + ["2020-01-01"] * 10, "M8[D]"), r"missing in row 0 \(counted from 0\) and 2 in all"),
        (np.zeros(12, "S0"), r"missing in row 0 \(counted from 0\) and 12 in all"),
        (np.zeros(12, np.complex128), "must be labels, text or numbers, but their type is complex128"),
    ],
)
def test_what_is_refused_in_many_rows_is_refused_as_in_few(labels, message):
    with pytest.raises(InputError, match=message):
        label_codes.encode("reference", labels)


@pytest.mark.usefixtures("_as_if_many")
def test_objects_that_all_differ_are_coded_by_their_values():
    labels = np.array([("a", "b")[k % 2] + str(k // 4) for k in range(40)], object)  # each row an object of its own
    assert distinct_entries.number_entries(labels)[0] is labels
    _check([labels, labels[:7]])


def test_more_labels_than_16_bits_hold_have_codes_of_32():
    ids = np.arange(70_000)
    labels, (codes,) = label_codes.encode_together(("reference",), (ids,))
    assert (labels.tolist(), codes.tolist(), codes.dtype) == (ids.tolist(), ids.tolist(), np.int32)


ENOUGH = ["a", "b\0", "é", "unused", "a ", " b"]
COLUMNS = {
    "pandas str": lambda texts: pd.Series(texts, dtype="str"),
    "pandas string": lambda texts: pd.Series(texts, dtype="string"),
    "pandas object": lambda texts: pd.Series(texts, dtype=object),
    "pandas category": lambda texts: pd.Series(pd.Categorical(texts, categories=ENOUGH)),
    "polars String": lambda texts: pl.Series(texts, dtype=pl.String),
    "polars Categorical": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "polars Enum": lambda texts: pl.Series(texts, dtype=pl.Enum(ENOUGH)),
    "pyarrow string": lambda texts: pa.array(texts, pa.string()),
    "pyarrow large_string": lambda texts: pa.chunked_array([pa.array(x, pa.large_string()) for x in halves(texts)]),
    "pyarrow dictionary": lambda texts: pa.chunked_array(
        [pa.array(part, pa.string()).dictionary_encode() for part in halves(texts)]
    ),
}  # fmt: skip


def halves(texts):
    return texts[: len(texts) // 2], texts[len(texts) // 2 :]


def frame_of(column):
    if isinstance(column, pd.Series):
        return pd.DataFrame({"x": column})
    return pl.DataFrame({"x": column}) if isinstance(column, pl.Series) else pa.table({"x": column})


@pytest.mark.parametrize("kind", list(COLUMNS))
@pytest.mark.parametrize("as_many", [True, False])
def test_text_of_data_frames_is_coded_as_by_hand(request, kind, as_many):
    if as_many:
        request.getfixturevalue("_as_if_many")
    texts = ["é", "a", " b", "b\0", "a ", "a", "é", "a", "b\0", "b\0", "a"]
    column, clean = COLUMNS[kind](texts), [text.strip() for text in texts]
    labels, (codes,) = codes_of([np.array(clean, object)])
    for coded in (label_codes.encode("x", column), FrameColumns(frame_of(column)).labels("x")):
        assert (coded.labels.tolist(), coded.codes.tolist()) == (labels, codes)
        assert {type(label) for label in coded.labels} == {str}
        assert coded.codes.dtype == np.uint16
    found, (one, other) = label_codes.encode_together(("reference", "probe"), (column, np.array(["a", "c"])))
    assert (found.tolist(), found[one].tolist(), found[other].tolist()) == (sorted({*clean, "c"}), clean, ["a", "c"])

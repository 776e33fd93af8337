"""Columns numbered by their distinct entries, as with few rows and as with so many that kernels and
threads do it."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers.each import each
from helpers.quiet import quietly
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles.label_codes import codes_of, order_of

import fastfair as ff
from fastfair._lib import label_codes, threads
from fastfair._lib.frames import FrameColumns
from fastfair.data import group_labels, sorted_scores

WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Z", "Cc"]), min_size=1, max_size=5
).filter(lambda text: text == text.strip() and not label_codes.is_missing(text))
WITHIN = st.sampled_from(["within", "a\0b", "a", "aa\0\0b", "A", "é", "𝔸"])
KINDS = {
    "int8": st.integers(-128, 127),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "int64": st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-5, 5)),
    "uint64": st.one_of(
        st.integers(0, 2**64 - 1),
        st.integers(2**63 - 3, 2**63 + 3),
        st.integers(2**64 - 9, 2**64 - 1),
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
    monkeypatch.setattr(label_codes, "FEW", 0)
    monkeypatch.setattr(label_codes, "_ROWS_AT_ONCE", 0)
    monkeypatch.setattr(label_codes, "_SLOTS", 4)
    monkeypatch.setattr(sorted_scores, "FEW", 0)
    monkeypatch.setattr(threads, "_SMALL", 4)
    monkeypatch.setattr(threads, "count_threads", lambda _: 3)
    monkeypatch.setattr(label_codes, "count_threads", lambda _: 3)
    monkeypatch.setattr(sorted_scores, "count_threads", lambda _: 3)


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
        entries, of_rows = label_codes.number_entries(column)
        assert entries[of_rows].tolist() == column.tolist()


@given(columns())
def test_few_rows_are_coded_as_by_hand(given_columns):
    _check(given_columns)


@pytest.fixture
def _by_kernels(monkeypatch):
    monkeypatch.setattr(label_codes, "_ROWS_OF_A_CALL", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("_as_if_many", "_by_kernels")
@given(columns())
def test_many_rows_are_coded_as_by_hand(given_columns):
    _check(given_columns)


@pytest.mark.usefixtures("_as_if_many")
@each(
    ("labels", "message"),
    [
        (
            np.array(["a"] * 9 + ["", "a", "nan"]),
            r"missing in row 9 \(counted from 0\) and 2 in all",
        ),
        (
            np.array([1.5] * 9 + [np.nan, 2.5, np.nan]),
            r"missing in row 9 \(counted from 0\) and 2 in all",
        ),
        (
            np.array(["a"] * 9 + [None, "a", float("nan")], object),
            r"missing in row 9 \(counted from 0\) and 2 in all",
        ),
        (
            np.array(["b"] * 9 + ["\ud800", "a", "\udfff"]),
            r"not UTF-8 text: '\\ud800' in row 9 \(counted from 0\)",
        ),
        (
            np.array([b"b"] * 9 + [b"\xff", b"a", b"\xfe"]),
            r"not UTF-8 text: b'\\xff' in row 9 \(counted from 0\)",
        ),
        (
            np.array([1.0] * 9 + [1e301, 2.0, 1e302]),
            r"too large a number in row 9 \(counted from 0\)",
        ),
        (np.array([1] * 9 + ["a", 2, "b"], object), "mixes labels of the types int, str"),
        (np.array([1] * 9 + [True, 1, 1], object), "mixes labels of the types bool, int"),
        (np.array(["a"] * 9 + [[1], "a", {}], object), "some cannot be compared"),
        (
            np.array(["NaT"] * 2 + ["2020-01-01"] * 10, "M8[D]"),
            r"missing in row 0 \(counted from 0\) and 2 in all",
        ),
        (np.zeros(12, "S0"), r"missing in row 0 \(counted from 0\) and 12 in all"),
        (
            np.zeros(12, np.complex128),
            "must be labels, text or numbers, but their type is complex128",
        ),
    ],
)
def test_what_is_refused_in_many_rows_is_refused_as_in_few(labels, message):
    refused(message, label_codes.encode, "reference", labels)


@pytest.mark.usefixtures("_as_if_many")
@pytest.mark.parametrize("n", [0, 1, 120_001])
def test_text_becomes_categories_in_parts_as_at_once(n):
    texts = np.random.default_rng(n).integers(0, 1000, n).astype(str).tolist()
    column = pl.Series("name", [None if text == "7" else text for text in texts], pl.String)
    coded = label_codes.as_categories(column)
    assert (coded.name, coded.dtype) == ("name", pl.Categorical())
    assert coded.cast(pl.String).equals(column, null_equal=True)


def test_objects_that_all_differ_are_coded_by_their_values():
    labels = np.array(
        [("a", "b")[k % 2] + str(k // 4) for k in range(40)], object
    )  # each row an object of its own
    assert label_codes.number_entries(labels)[0] is labels
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
    found, (one, other) = label_codes.encode_together(
        ("reference", "probe"), (column, np.array(["a", "c"]))
    )
    assert (found.tolist(), found[one].tolist(), found[other].tolist()) == (
        sorted({*clean, "c"}),
        clean,
        ["a", "c"],
    )


@pytest.mark.parametrize("kind", ["uint8", "int64", "uint64", "object"])
@pytest.mark.parametrize("as_many", [True, False])
def test_whole_numbers_as_groups_have_the_texts_of_their_values(request, kind, as_many):
    if as_many:
        request.getfixturevalue("_as_if_many")
    values = [3, 200, 3, 0, 7, 200, 200, 3]
    texts, codes = FrameColumns(pd.DataFrame({"x": np.array(values, kind)})).texts("x")
    assert sorted(texts) == ["0", "200", "3", "7"]
    assert [texts[code] for code in codes] == [str(value) for value in values]


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=30
    ),
    st.booleans(),
)
@pytest.mark.usefixtures("_as_if_many")
def test_labels_of_subjects_are_found_where_each_has_one(rows, alike):
    subjects = sorted({subject for a, b, _ in rows for subject in (a, b)})
    columns = []
    for side in (0, 1):
        subject = np.array([subjects.index(row[side]) for row in rows], np.uint16)
        columns.append(
            (subject, np.array([row[side] % 3 if alike else row[2] for row in rows], np.uint16))
        )
    held = [{int(v) for s, of in columns for v in of[s == k]} for k in range(len(subjects))]
    expected = (
        [min(labels) for labels in held] if all(len(labels) == 1 for labels in held) else None
    )
    found = group_labels.labels_of_subjects(len(subjects), columns)
    assert (None if found is None else found.tolist()) == expected


def _columns_of(rng, n, dtype, one_group):
    subject = rng.integers(0, 9, (2, n))
    mated = subject[0] == subject[1]
    mated[:2], subject[1, 0], subject[1, 1] = [True, False], subject[0, 0], (subject[0, 1] + 1) % 9
    group = np.array(list("fmx"))[subject % 3 if one_group else rng.integers(0, 3, (2, n))]
    scores = rng.integers(-3, 4, n) / 3 if rng.random() < 0.5 else rng.normal(size=n)
    return {
        "scores": scores.astype(dtype),
        "mated": mated,
        "reference": subject[0],
        "probe": subject[1],
        "reference_group": {"g": group[0], "h": np.where(group[0] == "f", "u", "v")},
        "probe_group": {"g": group[1], "h": np.where(group[1] == "f", "u", "v")},
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("one_group", [True, False])
@pytest.mark.parametrize("kind", ["similarity", "distance"])
@pytest.mark.parametrize("as_many", [True, False])
def test_many_rows_are_sorted_with_all_that_belongs_to_them(
    request, dtype, one_group, kind, as_many
):
    if as_many:
        request.getfixturevalue("_as_if_many")
    rng = np.random.default_rng([dtype().itemsize, one_group, len(kind)])
    for n in (2, 3, 7, 100):
        given_columns = _columns_of(rng, n, dtype, one_group)
        c = quietly()(ff.Comparisons)(**given_columns, score_kind=kind)
        signed = given_columns["scores"] * (1 if kind == "similarity" else -1)
        for side, wanted, grouped in (
            (c.mated, True, c.mated_by_group),
            (c.nonmated, False, c.nonmated_by_group),
        ):
            rows = order_of(signed.tolist(), given_columns["mated"].tolist(), wanted)
            assert side.rows.tolist() == rows
            assert np.array_equal(side.similarities, signed[rows])
            assert np.array_equal(c.subjects[side.reference], given_columns["reference"][rows])
            assert np.array_equal(c.subjects[side.probe], given_columns["probe"][rows])
            assert side.reference.dtype == side.probe.dtype == np.int32
            for name in "gh":
                labels = given_columns["reference_group"][name], given_columns["probe_group"][name]
                for codes, of_side in zip(side.attribute(name), labels, strict=True):
                    assert np.array_equal(np.array(c.attributes[name])[codes], of_side[rows])
            joined = [
                f"{g} & {h}"
                for g, h in zip(*(given_columns["probe_group"][k][rows] for k in "gh"), strict=True)
            ]
            assert np.array(c.groups)[grouped.probe_group].tolist() == joined


RANGES = [(-3, "int8"), (-3, "int64"), (-(2**63), "int64"), (2**63 + 3, "uint64"), (250, "uint8")]


@each(("first", "kind"), RANGES)
def test_all_numbers_of_a_range_are_numbered_from_the_lowest(first, kind):
    column = np.array([first + step for step in (4, 0, 2, 3, 0, 1, 4)], kind)
    entries, of_rows = label_codes.number_entries(column)
    assert entries[of_rows].tolist() == column.tolist()
    assert entries.size == 5


def test_a_column_without_any_label_is_refused_by_row():
    frame = pl.DataFrame(
        {
            "score": [0.5, 0.6],
            "mated": [0, 0],
            "reference": pl.Series([None, None], dtype=pl.String),
            "probe": ["a", "b"],
        }
    )
    read = ff.Comparisons.from_frame
    refused("missing in row 0", read, frame, reference="reference", probe="probe")

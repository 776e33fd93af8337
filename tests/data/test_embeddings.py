"""Vectors, whose they are, and groups: what is kept, counted, ordered and refused."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pandas as pd
import pytest
from helpers.each import each
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.data import checks
from fastfair.data.pair_search import ready_for_products
from fastfair.errors import InputError

VECTORS = np.array([[3, 4], [0, 2], [1, 0], [0, -1], [1, 1]], np.float32)
SUBJECT = ["b", "a", "b", "c", "a"]
SEX = ["m", "f", "m", "f", "f"]
EYES = ["x", "y", "x", "x", "y"]


def test_without_groups_vectors_are_ordered_by_subject():
    e = ff.Embeddings(VECTORS, SUBJECT)
    assert (e.groups, e.grouping, e.subject_group.tolist()) == ((), (), [-1, -1, -1])
    assert e.pairing.order.tolist() == [1, 4, 0, 2, 3]
    assert "group" not in repr(e)


def test_several_attributes_make_intersections():
    e = ff.Embeddings(VECTORS, SUBJECT, {"sex": SEX, "eyes": EYES})
    assert (e.groups, e.grouping) == (("f & x", "f & y", "m & x"), ("sex", "eyes"))
    assert e.subject_group.tolist() == [1, 2, 0]
    other = e.by("eyes", "sex")
    assert (other.groups, other.grouping) == (("x & f", "x & m", "y & f"), ("eyes", "sex"))
    assert other.subject_group.tolist() == [2, 1, 0]
    assert np.shares_memory(other.vectors, e.vectors)
    assert other.by("sex").groups == ("f", "m")
    assert e.groups == ("f & x", "f & y", "m & x")
    refused("did you mean 'eyes'", e.by, "eye")
    refused("at least one attribute of sex, eyes", e.by)


def test_counts_of_pairs_are_exact_where_they_are_many():
    n = 200_000
    e = ff.Embeddings(np.ones((n, 1), np.float32), np.arange(n) // 100_000)
    assert (e.n_mated, e.n_nonmated) == (2 * (100_000 * 99_999 // 2), 100_000**2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ">f4", np.float16, np.int8])
def test_rows_have_length_one_in_float64_and_are_rounded_once(dtype):
    vectors = np.random.default_rng(0).integers(-100, 100, (50, 7)).astype(dtype)
    e = ff.Embeddings(vectors, np.arange(50) // 5)
    rows = ready_for_products(e.vectors[e.pairing.order[10:30]], "cosine")
    assert rows.flags.c_contiguous
    assert rows.dtype == (np.float64 if dtype is np.float64 else np.float32)
    wide = vectors[e.pairing.order[10:30]].astype(float)
    expected = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    assert np.abs(rows - expected).max() <= np.finfo(rows.dtype).eps / 2


@pytest.mark.parametrize("similarity", ["inner_product", "negative_euclidean"])
def test_rows_of_other_similarities_are_as_given(similarity):
    rows = ready_for_products(np.asfortranarray(VECTORS), similarity)
    assert np.array_equal(rows, VECTORS)
    assert rows.flags.c_contiguous


@pytest.mark.parametrize(
    ("scale", "dtype"),
    [(1e300, float), (1e-300, float), (5e-324, float), (1e38, "f4"), (1e-45, "f4")],
)
def test_very_long_and_very_short_vectors_have_a_cosine(scale, dtype):
    vectors = np.array([[1, 0], [1, 1], [0, 1]]) * np.array(scale, dtype)
    rows = ready_for_products(ff.Embeddings(vectors.astype(dtype), [0, 0, 1]).vectors, "cosine")
    assert np.allclose(rows, [[1, 0], [0.5**0.5, 0.5**0.5], [0, 1]])


def test_a_copy_through_pickle_is_whole():
    e = ff.Embeddings(VECTORS, SUBJECT, {"sex": SEX, "eyes": EYES})
    again = pickle.loads(pickle.dumps(e))
    assert repr(again) == repr(e)
    assert again.by("eyes").groups == ("x", "y")


def test_memory_mapped_vectors_are_neither_copied_nor_held_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "_BLOCK_BYTES", 3 * 8)  # three rows
    np.save(tmp_path / "v.npy", VECTORS)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    e = ff.Embeddings(mapped, SUBJECT)
    assert np.shares_memory(e.vectors, mapped)
    assert np.array_equal(e.vectors, VECTORS)


def test_labels_of_any_type():
    assert ff.Embeddings(VECTORS, [3, 1, 3, 2, 1]).subjects.tolist() == [1, 2, 3]
    assert ff.Embeddings(VECTORS, pd.Series(SUBJECT)).subjects.tolist() == ["a", "b", "c"]
    assert ff.Embeddings(VECTORS, SUBJECT, [1, 2, 1, 2, 2]).groups == ("1", "2")


def test_whole_numbers_become_the_narrowest_float_that_holds_them():
    assert ff.Embeddings((VECTORS + 1).astype(np.uint8), SUBJECT).vectors.dtype == np.float32
    large = np.full((5, 2), 2**24 + 1)
    assert ff.Embeddings(large, SUBJECT).vectors.tolist() == large.tolist()
    refused("whole numbers above 2", ff.Embeddings, np.full((5, 2), 2**53 + 1), SUBJECT)
    assert ff.Embeddings(VECTORS.astype(np.longdouble), SUBJECT).vectors.dtype == np.float64


def with_entry(value, *rows):
    vectors = VECTORS.copy()
    vectors[list(rows)] = value
    return vectors


@each(
    ("vectors", "message"),
    [
        (with_entry(np.nan, 1, 3), r"2 of 5 vectors are not finite: rows 1, 3 \(counted from 0\)"),
        (with_entry(np.inf, 4), r"1 of 5 vectors are not finite: rows 4 "),
        (with_entry(0, 0, 2), r"2 of 5 vectors are zero and have no cosine: rows 0, 2 "),
        (VECTORS[0], r"two-dimensional, one row for each sample, but its shape is \(2,\)"),
        (VECTORS[None], "two-dimensional"),
        (VECTORS[:, :0], r"at least 2 rows and 1 column, but its shape is \(5, 0\)"),
        (VECTORS[:1], "at least 2 rows"),
        (VECTORS.astype(str), "must be numbers, but their type is"),
        (VECTORS.astype(complex), "must be numbers, but their type is complex128"),
        (VECTORS > 0, "must be numbers, but their type is bool"),
        ([[1, 2], [3]], "its entries differ in length: row 1 .* has 1, and row 0 has 2"),
        (np.ma.masked_less(VECTORS, 0), "masked"),
        (VECTORS[:4], "one value for each vector, but vectors has 4, subject has 5"),
    ],
)
def test_bad_vectors_are_refused(vectors, message):
    refused(message, ff.Embeddings, vectors, SUBJECT)


def test_rows_are_named_across_blocks(monkeypatch):
    monkeypatch.setattr(checks, "_BLOCK_BYTES", 2 * 8)
    with pytest.raises(
        InputError, match="3 of 5 vectors are zero and have no cosine: rows 0, 2, 4 "
    ) as caught:
        ff.Embeddings(with_entry(0, 0, 2, 4), SUBJECT)
    assert caught.value.row == 0


@each(
    ("arguments", "message"),
    [
        (
            {"subject": ["a"] * 5},
            "all vectors are of one subject, 'a': there are no non-mated pairs",
        ),
        (
            {"subject": list("abcde")},
            "none of the 5 subjects has two vectors: there are no mated pairs",
        ),
        ({"subject": [*SUBJECT[:4], 1]}, "subject mixes labels of the types int, str"),
        (
            {"group": [*SEX[:4], ""]},
            r"group 'group' is missing in row 4 \(counted from 0\) and 1 in all",
        ),
        ({"group": {"sex": SEX[:4]}}, "subject has 5, group 'sex' has 4"),
        (
            {"group": {"sex": [*SEX[:4], "m"]}},
            r"group 'sex': subject 'a' is 'm' in row 4 .*, but 'f' in another",
        ),
        ({"similarity": "cosin"}, "did you mean 'cosine'"),
    ],
)
def test_bad_labels_are_refused(arguments, message):
    refused(message, ff.Embeddings, VECTORS, **{"subject": SUBJECT} | arguments)


def test_too_many_groups_are_refused():
    n = 2001
    with pytest.raises(InputError, match="'group' has 2001 labels; at most 2000 are possible"):
        ff.Embeddings(np.ones((n + 1, 1)), [*range(n), 0], [*range(n), 0])
    subject = np.arange(n + 1) % n
    with pytest.raises(
        InputError, match="these attributes make 2001 groups; at most 2000 are possible"
    ):
        ff.Embeddings(np.ones((n + 1, 1)), subject, {"tens": subject // 45, "ones": subject % 45})


@each(
    ("similarity", "dtype", "power", "taken"),
    [
        ("inner_product", np.float32, 61, True), ("inner_product", np.float32, 64, False),
        ("inner_product", np.float32, 127, False), ("inner_product", np.float32, -50, True),
        ("inner_product", np.float32, -70, False), ("inner_product", np.float64, 240, True),
        ("inner_product", np.float64, 260, False), ("inner_product", np.float64, 1000, False),
        ("inner_product", np.float64, -500, True), ("inner_product", np.float64, -530, False),
        ("negative_euclidean", np.float32, 120, True), ("negative_euclidean", np.float32, 127, False),
        ("negative_euclidean", np.float32, -110, True), ("negative_euclidean", np.float32, -140, False),
        ("negative_euclidean", np.float64, 240, True), ("negative_euclidean", np.float64, 260, False),
        ("negative_euclidean", np.float64, -500, True), ("negative_euclidean", np.float64, -530, False),
        ("cosine", np.float32, 127, True), ("cosine", np.float32, -130, True),
        ("cosine", np.float64, 1000, True), ("cosine", np.float64, -1060, True),
    ],
)  # fmt: skip
def test_similarities_stay_in_range_or_vectors_are_refused(similarity, dtype, power, taken):
    rng = np.random.default_rng(0)
    vectors = (np.sign(rng.normal(size=(24, 5))) * rng.integers(64, 128, (24, 5)) / 128).astype(
        dtype
    )
    scaled, who = np.ldexp(vectors, power), np.arange(24) % 6
    assert np.array_equal(np.ldexp(scaled, -power), vectors)
    if not taken:
        with pytest.raises(
            InputError, match=r"vectors are too (large|small) for the similarity.*scale all"
        ) as caught:
            ff.Embeddings(scaled, who, similarity=similarity)
        assert caught.value.row == int((vectors.astype(float) ** 2).sum(axis=1).argmax())
        return
    one, other = (ff.Embeddings(v, who, similarity=similarity) for v in (vectors, scaled))
    times = {"cosine": 0, "inner_product": 2, "negative_euclidean": 1}[similarity] * power
    expected, found = one.comparisons(), other.comparisons()
    for side in ("mated", "nonmated"):
        similarities = getattr(expected, side).similarities
        np.testing.assert_array_equal(
            getattr(found, side).similarities, np.ldexp(similarities, times)
        )
    bands = [ff.roc_band(e, [0.1], n_resamples=20, rng=0) for e in (one, other)]
    assert bands[0].fnmr.tolist() == bands[1].fnmr.tolist()
    assert np.array_equal(bands[1].fnmr, [ff.rates(found, ff.at_fmr(0.1)).fnmr])


def test_arrays_are_shared_and_cannot_be_written_through():
    vectors = VECTORS.copy()
    e = ff.Embeddings(vectors, SUBJECT, SEX)
    assert np.shares_memory(e.vectors, vectors)
    assert vectors.flags.writeable
    for name in ("vectors", "subject", "subjects", "subject_group", "n_samples", "pairing.order"):
        with pytest.raises(ValueError, match="read-only"):
            operator.attrgetter(name)(e)[:] = 0


@given(st.lists(st.integers(0, 5), min_size=2, max_size=30), st.integers(0, 3))
def test_counts_and_order_are_those_of_a_loop(subject, n_groups):
    group = [s % n_groups for s in subject] if n_groups else None
    pairs = [subject[i] == subject[j] for j in range(len(subject)) for i in range(j)]
    vectors = np.ones((len(subject), 1))
    if all(pairs) or not any(pairs):
        refused(r"no (non-)?mated pairs", ff.Embeddings, vectors, subject, group)
        return
    e = ff.Embeddings(vectors, subject, group)
    assert (e.n_mated, e.n_nonmated) == (sum(pairs), len(pairs) - sum(pairs))
    expected = sorted(
        range(len(subject)), key=lambda i: (str(group[i]) if n_groups else "", subject[i], i)
    )
    assert e.pairing.order.tolist() == expected
    if n_groups:
        assert [e.groups[k] for k in e.subject_group[e.subject]] == list(map(str, group))

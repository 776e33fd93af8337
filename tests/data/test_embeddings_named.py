"""Vectors with names: scores of listed pairs against the oracle, templates, and what is refused."""

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import listed_pairs as slow

import fastfair as ff
from fastfair.errors import InputError

NAMES = ["b", "a", "c", "a", "c", "c"]
_WHOLE = st.lists(st.integers(-9, 9), min_size=3, max_size=3).filter(any)


@st.composite
def cases(draw):
    names = draw(st.lists(st.sampled_from("abcde"), min_size=2, max_size=8))
    vectors = draw(st.lists(_WHOLE, min_size=len(names), max_size=len(names)))
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), min_size=1, max_size=12)
    )
    return vectors, names, pairs


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("similarity", ["cosine", "inner_product", "negative_euclidean"])
@given(case=cases())
def test_the_highest_score_of_vectors_of_a_name(similarity, dtype, case):
    vectors, names, pairs = case
    v = ff.NamedVectors(np.array(vectors, dtype), names, similarity, same_name="max")
    found = v.scores(*zip(*pairs, strict=True))
    wanted = [slow.score(vectors, names, *pair, similarity, "max") for pair in pairs]
    assert found.dtype == dtype
    if similarity == "cosine":
        assert found == pytest.approx(wanted, abs=2 * float(np.finfo(dtype).eps))
    else:  # sums of whole numbers are exact, and square roots are rounded once
        assert found.tolist() == np.array(wanted, dtype).tolist()


@pytest.mark.parametrize("similarity", ["cosine", "inner_product", "negative_euclidean"])
@given(case=cases())
def test_the_mean_of_vectors_of_a_name(similarity, case):
    vectors, names, pairs = case
    vectors = np.abs(vectors).tolist()  # no two are opposite, so that means have directions
    v = ff.NamedVectors(np.array(vectors, float), names, similarity, same_name="mean")
    wanted = [slow.score(vectors, names, *pair, similarity, "mean") for pair in pairs]
    assert len(v) == len(set(names))
    assert v.scores(*zip(*pairs, strict=True)) == pytest.approx(wanted, rel=1e-12, abs=1e-7)


def test_very_long_and_very_short_vectors_have_cosines():
    for scale in (1e-30, 1e30):
        v = ff.NamedVectors(np.float32([[3 * scale, 4 * scale], [0, scale]]), ["a", "b"])
        assert v.scores(["a"], ["b"]).tolist() == [np.float32(0.8)]
    for scale in (1e-200, 1e200):
        with pytest.raises(
            InputError, match=r"length of the vector in row 1 .* is not between 1e-150 and 1e\+150"
        ):
            ff.NamedVectors([[3, 4], [0, scale]], ["a", "b"])


def test_what_is_wrong_names_the_row():
    rows = np.random.default_rng(0).normal(size=(6, 4))
    with pytest.raises(
        InputError, match=r"rows 1 and 3 .* have the same name 'a', and 2 names have several"
    ) as error:
        ff.NamedVectors(rows, NAMES)
    assert error.value.row == 3
    v = ff.NamedVectors(rows, NAMES, same_name="max")
    with pytest.raises(
        InputError, match=r"probe 'x' in row 1 .* has no vector \(2 such names\).* such as 'a'"
    ) as error:
        v.scores(["a", "b", "y"], ["c", "x", "b"])
    assert error.value.row == 1
    opposite = [[1, 0], [0, 1], [0, -1]]
    for call, message in (
        (lambda: v.scores(["a", "b", "y"], ["c", "b", "y"]), "reference 'y' in row 2"),
        (lambda: v.scores(["a", "b"], ["c"]), "each pair, but reference has 2, probe has 1"),
        (lambda: ff.NamedVectors(rows, NAMES[:5]), "each vector, but vectors has 6, name has 5"),
        (lambda: ff.NamedVectors(np.zeros((2, 2)), ["a", "b"]), "zero and have no cosine: rows 0"),
        (
            lambda: ff.NamedVectors(rows, NAMES, same_name="first"),
            "same_name must be one of 'raise', 'max', 'mean'",
        ),
        (
            lambda: ff.NamedVectors(opposite, list("abb"), same_name="mean"),
            "of 'b' have a mean without direction",
        ),
        (lambda: ff.NamedVectors([[1, 0], [0, 1, 2]], ["a", "b"]), "vectors"),
    ):
        refused(message, call)

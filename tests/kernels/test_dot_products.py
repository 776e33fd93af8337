"""Dot products whose sums have one order, against fractions, alone and in blocks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from fastfair.kernels import dot_products as kernels
from fastfair.kernels._jit import jit
from helpers.each import each
from hypothesis import given
from hypothesis import strategies as st
from oracles import ordered_products as slow

from fastfair.data.pair_search import float32_error


def some_vectors(seed: int, n: int, d: int, spread: int) -> np.ndarray:
    """Vectors whose elements differ by powers of two; some are zero, some there twice, some have
    short numbers."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * 2.0 ** rng.integers(-spread, spread + 1, (n, d))
    x[rng.random((n, d)) < 0.1] = 0
    x[rng.random(n) < 0.3] = np.rint(x[0])
    x[rng.random(n) < 0.2] = x[-1]
    return x.astype(np.float32)


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 4), spread=st.sampled_from([0, 3, 20, 60]))
def test_products_are_those_of_fractions_rounded_one_by_one(seed: int, steps: int, spread: int):
    x = some_vectors(seed, 4, 16 * steps, spread)
    panel = np.empty((4, 4), np.float32)
    kernels.fill(x, x, panel)
    wanted = [[slow.dot(a, b) for b in x] for a in x]
    assert panel.tolist() == [[float(value) for value in row] for row in wanted]
    assert np.array_equal(kernels.products(x[:, None], x), panel)


def test_what_is_below_the_least_float_is_rounded_once():
    tiny = np.full((4, 16), 2.0**-75, np.float32)
    tiny[1] = np.float32(1.5 * 2.0**-75)
    tiny[2] = np.float32(2.0**-80)
    panel = np.empty((4, 4), np.float32)
    kernels.fill(tiny, tiny, panel)
    assert panel.tolist() == [[float(slow.dot(a, b)) for b in tiny] for a in tiny]


@each("d", [16, 48, 512])
@each("size", [96, 100])
def test_a_product_is_the_same_in_a_block_and_alone(d: int, size: int):
    x = some_vectors(d, 2 * size, d, 2)
    panel = np.empty((size, size), np.float32)
    kernels.fill(x[:size], x[size:], panel)
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, size, (2, 400))
    codes = (first << 8) + second + size
    found = np.empty(401, np.float32)
    bound = np.float32(np.median(panel))
    n = kernels.take_reaching(x, codes, 8, bound, found)
    reached = panel[first, second] >= bound
    assert found[:n].tolist() == panel[first, second][reached].tolist()
    assert codes[:n].tolist() == ((first << 8) + second + size)[reached].tolist()


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 4), spread=st.sampled_from([0, 3, 60]))
def test_products_of_wide_floats_have_eight_sums(seed: int, steps: int, spread: int):
    x = some_vectors(seed, 5, 16 * steps, spread).astype(np.float64) * np.pi
    wanted = [[slow.wide_dot(a, b) for b in x] for a in x]
    assert kernels.products(x[:, None], x).tolist() == wanted
    codes, found = np.arange(25) // 5 * 8 + np.arange(25) % 5, np.empty(25)
    assert kernels.take_reaching(x, codes, 3, -np.inf, found) == 25
    assert found.reshape(5, 5).tolist() == wanted


@each("dtype", [np.float32, np.float64])
def test_products_of_a_row_are_those_of_pairs(dtype: type):
    x = some_vectors(3, 20, 48, 3).astype(dtype)
    for n in (1, 4, 6, 20):
        columns, found = np.random.default_rng(n).integers(0, 20, n + 3), np.empty(n + 3, dtype)
        jit(kernels.multiply_row)(x, 7, x, columns, n, found)
        assert found[:n].tolist() == kernels.products(x[7], x[columns[:n]]).tolist()


def test_mated_pairs_have_the_products_of_the_panel():
    x = some_vectors(1, 96, 32, 1)
    panel = np.empty((48, 48), np.float32)
    kernels.fill(x[:48], x[48:], panel)
    begin = np.arange(1, 97)
    columns = np.stack((begin, begin, np.minimum(begin + np.arange(96) % 60, 96)), axis=1)
    n_mated = columns[:, 2] - columns[:, 1]
    offset = np.cumsum(n_mated) - n_mated
    mated = np.full(n_mated.sum(), np.nan, np.float32)
    kernels.multiply_mated(x, (0, 48), 48, columns, offset, 7, mated)
    for i in range(96):
        for j in range(columns[i, 1], columns[i, 2]):
            value = mated[offset[i] + j - columns[i, 1]]
            assert value == panel[i, j - 48] if i < 48 <= j else np.isnan(value)


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 6), spread=st.sampled_from([0, 5, 30]))
def test_rounding_changes_a_product_by_no_more_than_is_said(seed: int, steps: int, spread: int):
    x = some_vectors(seed, 3, 16 * steps, spread)
    for a in x:
        for b in x:
            lengths = slow.exact(a, a) * slow.exact(b, b)
            away = abs(Fraction(float(kernels.products(a, b))) - slow.exact(a, b))
            assert (away - Fraction(16 * steps * 2.0**-148)) <= 0 or away**2 <= lengths * Fraction(
                float32_error(16 * steps)
            ) ** 2 * Fraction(1 + 1e-9)

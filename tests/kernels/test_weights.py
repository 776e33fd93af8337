"""The random stream and the weights made of it."""

from __future__ import annotations

import numpy as np
import pytest
from fastfair.kernels import philox, weights
from fastfair.kernels._jit import jit
from scipy import stats

from fastfair.resampling import units

KEY = np.array([1, 2], np.uint32)
fill = jit(philox.fill)  # as part of a kernel


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_known_answers_of_the_random123_library(counter, key, expected):
    out = np.empty((4, 64), np.uint64)
    draw, stream, replicate, purpose = counter
    fill(draw, stream, purpose, replicate, np.array(key, np.uint32), out)
    assert " ".join(f"{int(word):08x}" for word in out[:, 0]) == expected


def test_the_library_and_the_kernels_have_one_number_of_lanes():
    assert units.BLOCK == philox.BLOCK


def test_lanes_are_replicates_and_every_word_of_the_counter_counts():
    def words(draw=3, stream=5, purpose=1, replicate=100, key=KEY):
        out = np.empty((4, 64), np.uint64)
        fill(draw, stream, purpose, replicate, key, out)
        return out

    assert np.array_equal(words(replicate=107)[:, 0], words()[:, 7])
    others = {
        "draw": 4,
        "stream": 6,
        "purpose": 2,
        "replicate": 164,
        "key": np.array([1, 3], np.uint32),
    }
    seen = [words(), *(words(**{name: value}) for name, value in others.items())]
    assert np.unique(np.concatenate(seen, axis=1), axis=1).shape == (4, 64 * len(seen))
    bits = np.unpackbits(words().astype(np.uint32).view(np.uint8))
    assert abs(bits.mean() - 0.5) < 0.03


def drawn(sizes, blocks=40, purpose=0):
    end = np.cumsum(sizes)
    out = np.empty((blocks, int(end[-1]), 64), np.uint8)
    for block in range(blocks):
        words = np.empty((4, 64), np.uint64)
        assert weights.draw_with_replacement(end, purpose, 64 * block, KEY, words, out[block])
    return out.transpose(1, 0, 2).reshape(int(end[-1]), -1).astype(int)


def test_each_stratum_keeps_its_size_and_single_units_stay():
    found = drawn([1, 2, 7, 1, 30])
    assert (found[0] == 1).all()
    assert (found[10] == 1).all()
    for start, stop in ((1, 3), (3, 10), (11, 41)):
        assert (found[start:stop].sum(axis=0) == stop - start).all()


@pytest.mark.jit
def test_counts_are_multinomial():
    n, found = 6, drawn([6], blocks=400)
    # Counts of a unit are binomial(n, 1/n), and two units are correlated by -1 / (n - 1).
    observed = np.bincount(found[0], minlength=n + 1)
    expected = stats.binom.pmf(np.arange(n + 1), n, 1 / n) * found.shape[1]
    pooled = [np.append(x[:4], x[4:].sum()) for x in (observed, expected)]
    assert stats.chisquare(*pooled).pvalue > 1e-4
    correlation = np.corrcoef(found)
    off = correlation[~np.eye(n, dtype=bool)]
    assert np.allclose(off, -1 / (n - 1), atol=5 / np.sqrt(found.shape[1]))
    joint = stats.chi2_contingency(
        np.histogram2d(found[0], found[5], bins=[[0, 1, 2, 9], [0, 1, 2, 9]])[0]
    )
    assert joint.pvalue < 1e-4, "counts of one stratum must depend on each other"


@pytest.mark.jit
def test_strata_and_kinds_of_draws_are_independent():
    found = drawn([5, 5], blocks=400)
    assert abs(np.corrcoef(found[0], found[5])[0, 1]) < 5 / np.sqrt(found.shape[1])
    other = drawn([5], blocks=400, purpose=1)
    assert abs(np.corrcoef(found[0], other[0])[0, 1]) < 5 / np.sqrt(found.shape[1])


def test_a_count_that_does_not_fit_is_told():
    found = np.empty((2, 64), np.uint8)
    found[0], found[1] = 16, 17
    products = np.empty((1, 64), np.uint8)
    assert not weights.multiply_by_owner(np.array([0], np.int32), found, products)
    found[1] = 15
    assert weights.multiply_by_owner(np.array([0], np.int32), found, products)
    assert (products == 240).all()


def test_the_jackknife_leaves_out_one():
    found = np.empty((70, 64), np.uint8)
    weights.leave_one_out(64, 70, found)
    assert (found.sum(axis=0) == [69] * 6 + [70] * 58).all()
    assert all(found[64 + r, r] == 0 for r in range(6))


def test_rows_are_multiplied_and_a_product_that_does_not_fit_is_told():
    rows = np.array([[16], [17], [15], [0]], np.uint8) * np.ones(64, np.uint8)
    products = np.empty((2, 64), np.uint8)
    first, second = np.array([0, 3], np.int32), np.array([2, 1], np.int32)
    for largest in (16 * 15, 17 * 17):
        assert weights.multiply_rows(first, second, rows, largest, products)
        assert (products[0] == 240).all()
        assert (products[1] == 0).all()
    first, second = np.array([0, 3], np.int32), np.array([1, 1], np.int32)
    assert not weights.multiply_rows(first, second, rows, 17 * 17, products)

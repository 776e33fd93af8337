"""Products of long vectors."""

import math

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from fastfair._lib.products import dot


@pytest.mark.parametrize("n", [0, 1, 7, 10_000])
def test_short_vectors_are_multiplied_at_once(n):
    a, b = np.random.default_rng(n).normal(size=(2, n))
    assert dot(a, b) == float(a @ b)


def test_long_vectors_have_the_same_bits_for_any_number_of_threads():
    a, b = np.random.default_rng(0).normal(size=(2, 123_456))
    bits = set()
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            bits.add(dot(a, b))
    assert len(bits) == 1
    exact = math.fsum((a * b).tolist())
    assert bits.pop() == pytest.approx(exact, rel=1e-12)

"""Products of long vectors, with the same bits for any number of threads."""

from __future__ import annotations

from fastfair._lib.arrays import Floats

_AT_ONCE = 10_000  # numbers up to which OpenBLAS does not share a sum of products among threads


def dot(a: Floats, b: Floats) -> float:
    """Return the sum of products of two vectors.

    BLAS would share a long one among threads, which gives other bits for another number of them,
    and costs more than it saves while they are busy.
    """
    starts = range(0, a.size, _AT_ONCE)
    return float(sum(a[k : k + _AT_ONCE] @ b[k : k + _AT_ONCE] for k in starts))

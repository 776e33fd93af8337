"""Arrays that kernels make, without the function that numba compiles for each call of `np.empty` or `np.zeros`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.extending import lower_builtin, type_callable


def empty(shape: Any, dtype: Any = np.float64) -> Any:
    """Return what `np.empty` returns."""
    return np.empty(shape, dtype)


def zeros(shape: Any, dtype: Any = np.float64) -> Any:
    """Return what `np.zeros` returns."""
    return np.zeros(shape, dtype)


def minus_ones(shape: Any, dtype: Any) -> Any:
    """Return what `np.full` returns for -1. dtype: of integers."""
    return np.full(shape, -1, dtype)


def _type_of(context: Any) -> Any:
    def type_of(shape: Any, dtype: Any = None) -> Any:
        return types.Array(types.float64 if dtype is None else parse_dtype(dtype), parse_shape(shape), "C")

    return type_of


def _maker(byte: int | None) -> Any:
    """Return what makes the code of a new array, filled with a byte or not."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from numba.np import arrayobj  # not before a kernel is compiled

        private: Any = arrayobj  # type checkers cannot see it
        shape = private._parse_empty_args(context, builder, signature, arguments)
        array = private._empty_nd_impl(context, builder, *shape)
        if byte is not None:
            cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), byte)
        return array._getvalue()

    return make


for function, byte in (empty, None), (zeros, 0), (minus_ones, 0xFF):
    type_callable(function)(_type_of)
    for n in 1, 2:
        lower_builtin(function, *[types.Any] * n)(_maker(byte))

"""The decorators of kernels: in place, and compiled where data are large."""

from __future__ import annotations

import functools
from unittest import mock

import numba
import numpy as np
import pytest
from fastfair.kernels import _jit


@pytest.mark.jit
def test_a_kernel_in_place_writes_to_what_it_is_given_and_makes_no_array():
    def double(x):
        for k in range(x.size):
            x[k] *= 2

    def returned(x):
        return x + x

    def inside(x):
        return np.zeros(3)[x[0]]

    x = np.arange(3)
    _jit.jit_in_place(double)(x)
    assert x.tolist() == [0, 2, 4]
    for refused in (returned, inside):
        with pytest.raises(numba.core.errors.NumbaError):
            _jit.jit_in_place(refused)(x)


@pytest.mark.jit
def test_small_data_run_as_plain_python_until_all_calls_together_were_large(monkeypatch):
    compiled = []
    monkeypatch.setattr(_jit, "CACHE_FOLDER", "")
    monkeypatch.setattr(_jit, "_compiles_all", False)  # which other tests of the process may set
    monkeypatch.setattr(
        _jit, "jit", lambda function: lambda *x: compiled.append(len(x)) or function(*x)
    )

    def called(*sizes):
        kernel = _jit.jit_if_large(lambda x, parts: x.size)
        compiled.clear()
        for size in sizes:
            assert kernel(np.zeros(size), (np.zeros(3),)) == size
        return len(compiled)

    assert called(1, _jit.SMALL) == 0
    assert called(1, _jit.SMALL + 1, 1) == 1
    many = [_jit.SMALL] * (_jit._PATIENCE // _jit.SMALL)
    assert called(*many) == 0
    assert called(*many, 1, 1) == 2
    monkeypatch.setattr(_jit, "_compiles_all", True)
    assert called(1) == 1


@pytest.mark.jit
def test_small_data_run_compiled_where_their_types_were_compiled_before(monkeypatch):
    compiled = []

    class Kernel:
        targetctx = None
        _cache = mock.Mock(has_file=lambda types, _: str(types[0].dtype) == "float64")

    def jit(function):
        call = functools.wraps(function)(lambda x: compiled.append(x.dtype.name) or function(x))
        call.__wrapped__ = Kernel
        return call

    monkeypatch.setattr(_jit, "CACHE_FOLDER", "anywhere")
    monkeypatch.setattr(_jit, "_compiles_all", False)
    monkeypatch.setattr(_jit, "jit", jit)
    kernel = _jit.jit_if_large(lambda x: x.size)
    for kind in ("float64", "float32", "float64"):
        assert kernel(np.zeros(3, kind)) == 3
    assert compiled == ["float64", "float64"]

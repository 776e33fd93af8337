"""Helpers have no machine code of their own, and kernels compute the same as when numba compiles each helper, too."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from fastfair.kernels import _jit, _linking

pytestmark = pytest.mark.skipif(
    _jit.config.DISABLE_JIT or not _linking.IS_TRIED, reason="numba compiles helpers on its own, or nothing at all"
)


def kernels():
    """Make a kernel and its helper, which raises for negative numbers."""

    @_jit.jit
    def root(x):
        if x < 0:
            raise ValueError("no root")
        return np.sqrt(x)

    @_jit.jit
    def sum_of_roots(values):
        total = 0.0
        for x in values:
            total += root(x)
        return total

    for kernel in (sum_of_roots, root):
        kernel._cache.disable()  # so that no earlier run has compiled them
    return sum_of_roots, root


def test_a_helper_waits_until_python_calls_it():
    sum_of_roots, root = kernels()
    assert sum_of_roots(np.array([1.0, 4.0, 9.0])) == 6
    assert sum_of_roots._has_machine_code
    assert root.overloads
    assert not root._has_machine_code
    assert root(16.0) == 4
    assert root._has_machine_code


def test_errors_of_a_helper_arrive():
    sum_of_roots, root = kernels()
    with pytest.raises(ValueError, match="no root"):
        sum_of_roots(np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match="no root"):
        root(-1.0)


_BITS = """
import sys, hashlib
from fastfair.kernels import _linking
_linking.IS_TRIED = sys.argv[1] == "linked"
import numpy as np, fastfair as ff
rng = np.random.default_rng(0)
who = rng.integers(0, 40, 50_000)
mated = rng.random(who.size) < 0.5
other = np.where(mated, who, (who + rng.integers(1, 40, who.size)) % 40)
scores = rng.normal(size=who.size).round(2) + mated
c = ff.Comparisons(scores, mated, who, other, who % 3, other % 3)
found = ff.evaluate(c, ff.at_fmr(0.01), n_resamples=70, rng=0, metrics="all")
print(hashlib.sha256(found.to_json().encode() + np.ascontiguousarray(found.replicates("eer")).tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_linked_helpers_change_no_bit(tmp_path):
    digests = {
        subprocess.run(
            [sys.executable, "-c", _BITS, how], env={**os.environ, "FASTFAIR_CACHE_DIR": str(tmp_path / how)},
            capture_output=True, check=True, text=True,
        ).stdout
        for how in ("linked", "alone")
    }  # fmt: skip
    assert len(digests) == 1

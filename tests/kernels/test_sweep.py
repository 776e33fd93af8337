"""The passes over sorted comparisons: sums that cannot overflow, loops that run on whole
registers."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from fastfair.kernels import replicated_eer, sweep
from fastfair.kernels._jit import jit
from helpers.each import each
from helpers.interrupted import SOON, interrupted

add_many_pairs = jit(sweep.add_many_pairs)  # as part of a kernel

ONE = np.full((3, 64), 255, np.uint8)


@pytest.mark.jit
def test_sums_pass_2_to_the_31():
    n = 70_000
    a, b = np.zeros(n, np.int32), np.ones(n, np.int32)
    total = np.zeros(64, np.int64)
    add_many_pairs(a, b, ONE, 255, 0, n, total)
    assert (total == n * 255**2).all()
    assert n * 255**2 > 2**32


@each("largest", [1, 2, 7, 16, 181, 254, 255])
def test_narrow_sums_hold_what_they_are_given(largest):
    """Whatever the largest weight, sums are emptied before they could pass 2^16."""
    rng = np.random.default_rng(largest)
    drawn = rng.integers(0, largest + 1, (5, 64), dtype=np.uint8)
    drawn[0] = largest
    a, b = (rng.integers(0, 5, 300, dtype=np.int32) for _ in range(2))
    a[:200] = b[:200] = 0
    total = np.zeros(64, np.int64)
    add_many_pairs(a, b, drawn, largest, 1, 300, total)
    assert (total == (drawn[a[1:]].astype(int) * drawn[b[1:]]).sum(axis=0)).all()


@pytest.mark.jit
def test_shares_at_thresholds_pass_2_to_the_31():
    n = 100_000
    keys = np.arange(n, dtype=np.int64)
    a, b = np.zeros(n, np.int32), np.ones(n, np.int32)
    totals = np.full((1, 64), n * 255**2)
    limits = np.full((1, 64), 80_000)
    shares = np.empty((1, 1, 64))
    size = np.array([n])
    side = sweep.Side(keys, a, b, (), size, size, ONE, 255, totals, np.ones((1, 1)))
    sums = sweep.new_sums(side)
    sweep.shares_at(side, sweep.NONE_SUMMED, limits, np.arange(64), sums, shares)
    assert (shares == 0.8).all()
    positions = np.empty((2, 64), np.int64)
    sweep.first_beyond(
        side.first(np.zeros(2, np.intp)), sweep.NONE_SUMMED, np.array([0.7, 1.0]), sums, positions
    )
    assert (positions == [[70_000], [n]]).all()
    x_sums, y_sums = np.empty((n // 64 + 1, 64), np.int64), np.empty((n // 64 + 1, 64), np.int64)
    mated = side.first(np.zeros(1, np.intp))
    nonmated = mated._replace(keys=~keys[::-1].copy())
    jit(replicated_eer.store_sums)(
        nonmated, mated, 0, n // 64, 0, np.zeros((2, 64), np.int64), x_sums, y_sums
    )
    assert x_sums[n // 64 - 1, 0] == n // 64 * 64 * 255**2
    assert y_sums[0, 0] == (n - 64) * 255**2


@pytest.mark.slow
@pytest.mark.jit
def test_the_hot_loops_are_vectorised():
    """64 replicates are multiplied and added in registers of many, whatever the instruction set."""
    code = textwrap.dedent("""
        import numba
        import numpy as np
        from fastfair.kernels import sweep
        fresh = numba.njit(nogil=True, error_model="numpy")(sweep.add_many_pairs)  # cached code shows no assembly
        rows = np.zeros(64, np.int32)
        fresh(rows, rows, np.ones((1, 64), np.uint8), 1, 0, 64, np.zeros(64, np.int64))
        print(fresh.inspect_asm(fresh.signatures[0]))
    """)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    vector = re.findall(r"\bv?(?:pmadd|pmull|pmuludq|mla|mul\s+v|umlal|smlal)\w*", done.stdout)
    assert vector, "no multiplication of packed integers in the machine code"
    wide = re.findall(r"\b[xyz]mm\d+|\bv\d+\.\w+", done.stdout)
    assert len(wide) > 10


@pytest.mark.slow
@pytest.mark.jit
def test_an_interrupt_is_heeded_at_once(tmp_path):
    code = """
        import numpy as np, fastfair as ff, sys
        rng = np.random.default_rng(0)
        n = 1_000_000
        mated = rng.random(n) < 0.5
        reference = rng.integers(0, 1000, n)
        probe = np.where(mated, reference, (reference + rng.integers(1, 1000, n)) % 1000)
        c = ff.Comparisons(rng.normal(size=n) + mated, mated, reference, probe)
        ff.evaluate(c, n_resamples=64, rng=0)
        def told(done, wanted):
            if done == 64: print("ready", flush=True)
        ff.evaluate(c, at=[ff.at_fmr(0.5)], n_resamples=1_000_000, rng=0, progress=told)
    """
    done, took = interrupted(code, tmp_path)
    assert took < SOON
    assert "KeyboardInterrupt" in done.stderr

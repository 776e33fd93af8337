"""Total weights of comparisons that are grouped by one unit: rows of weights of its partners,
summed in registers.

The compiler keeps no array of sums in registers from row to row, which takes five times as long. So
the sum of some rows is written in its own language, LLVM's: eight rows at a time are added in
uint8, and these sums in uint16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ._jit import config, helper, jit
from .philox import BLOCK

_TOGETHER = 8  # rows that are added in uint8
LARGEST = (2**8 - 1) // _TOGETHER  # weight
LONGEST = (2**16 - 1) // LARGEST  # rows that are added in uint16
_BYTES, _WORDS = ir.VectorType(ir.IntType(8), BLOCK), ir.VectorType(ir.IntType(16), BLOCK)


@intrinsic
def _sum_in_registers(typing_context, weights, partners, start, stop, sums):
    """Sum the rows of weights of some partners; see `sum_rows`."""

    def generate(context, builder, signature, arguments):
        rows, partner, out = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data
            for k in (0, 1, 4)
        )
        first, last = arguments[2], arguments[3]
        rows, out = (
            builder.bitcast(rows, _BYTES.as_pointer()),
            builder.bitcast(out, _WORDS.as_pointer()),
        )
        total = cgutils.alloca_once_value(builder, ir.Constant(_WORDS, None))

        def row(position):
            unit = builder.zext(builder.load(builder.gep(partner, [position])), ir.IntType(64))
            loaded = builder.load(builder.gep(rows, [unit]))
            loaded.align = 1
            return loaded

        def add(some):
            builder.store(builder.add(builder.load(total), builder.zext(some, _WORDS)), total)

        step = ir.Constant(first.type, _TOGETHER)
        together = builder.sub(last, builder.srem(builder.sub(last, first), step))
        with cgutils.for_range_slice(builder, first, together, step) as (position, _):
            some = [
                row(builder.add(position, ir.Constant(first.type, k))) for k in range(_TOGETHER)
            ]
            while len(some) > 1:
                some = [builder.add(*pair) for pair in zip(some[::2], some[1::2], strict=True)]
            add(some[0])
        with cgutils.for_range_slice(builder, together, last, ir.Constant(first.type, 1)) as (
            position,
            _,
        ):
            add(row(position))
        builder.store(builder.load(total), out).align = 1
        return context.get_dummy_value()

    return types.void(weights, partners, types.int64, types.int64, sums), generate


def _sum_by_numpy(weights, partners, start, stop, sums):
    sums[:] = weights[partners[start:stop]].sum(axis=0, dtype=np.uint16)


# Sums the rows of weights of partners start to stop, at most LONGEST, the largest weight at most
# LARGEST. weights: (units, 64) uint8; partners: (n,) uint16 or int32; sums: (64,) uint16, out
sum_rows: Any = _sum_by_numpy if config.DISABLE_JIT else _sum_in_registers


@jit
def total_weights(runs, weights, largest, totals):
    """Sum the weights of all comparisons of each list.

    runs: `partners.Runs`; weights: (units, 64) uint8; largest: the largest weight; totals: (lists,
    64) int64, out
    """
    sums, wide = np.empty(BLOCK, np.uint16), np.empty(BLOCK, np.int64)
    unlisted = np.zeros(BLOCK, np.int64)  # what is in list 0 alone
    for k in range(totals.shape[0]):
        for r in range(BLOCK):
            totals[k, r] = 0
    start = np.int64(0)
    for run in range(runs.stop.size):
        k, unit = runs.list[run], weights[runs.unit[run]]
        total = totals[k] if k > 0 else unlisted
        while start < runs.stop[run]:
            if runs.repeats.size == 0 and largest <= LARGEST:
                stop = start + LONGEST if start + LONGEST < runs.stop[run] else runs.stop[run]
                sum_rows(weights, runs.partner, start, stop, sums)
                for r in range(BLOCK):
                    total[r] += np.int64(np.uint32(sums[r]) * np.uint32(unit[r]))
            else:
                stop = runs.stop[run]
                _sum_repeated_rows(weights, runs.partner, runs.repeats, start, stop, largest, wide)
                for r in range(BLOCK):
                    total[r] += wide[r] * np.int64(unit[r])
            start = stop
    for k in range(1, totals.shape[0]):
        for r in range(BLOCK):
            totals[0, r] += totals[k, r]
    for r in range(BLOCK):
        totals[0, r] += unlisted[r]


@helper
def repeats_at(repeats, p):
    """Return how many comparisons partner p stands for. repeats: (n,) int32, or (0,) for 1."""
    return np.int64(repeats[p]) if repeats.size > 0 else np.int64(1)


@helper
def _sum_repeated_rows(weights, partners, repeats, start, stop, largest, sums):
    """Sum the rows of partners start to stop, as often as they are repeated. sums: (64,) int64,
    out.
    """
    narrow = np.empty(BLOCK, np.uint16)
    most = (2**16 - 1) // largest
    for r in range(BLOCK):
        sums[r] = 0
    while start < stop:
        row, many = weights[partners[start]], repeats_at(repeats, start)
        if many > most:
            for r in range(BLOCK):
                sums[r] += many * np.int64(row[r])
            start += 1
            continue
        for r in range(BLOCK):
            narrow[r] = 0
        n = 0
        while start < stop:
            many = repeats_at(repeats, start)
            if n + many > most:
                break
            row, times = weights[partners[start]], np.uint16(many)
            for r in range(BLOCK):
                narrow[r] += times * np.uint16(row[r])
            n += many
            start += 1
        for r in range(BLOCK):
            sums[r] += narrow[r]

"""Total weights of comparisons that are grouped by one unit: rows of weights of its partners, summed in registers.

The compiler keeps no array of sums in registers from row to row, which takes five times as long. So the sum of some
rows is written in its own language, LLVM's: eight rows at a time are added in uint8, and these sums in uint16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ._jit import config, jit
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
            context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 1, 4)
        )
        first, last = arguments[2], arguments[3]
        rows, out = builder.bitcast(rows, _BYTES.as_pointer()), builder.bitcast(out, _WORDS.as_pointer())
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
            some = [row(builder.add(position, ir.Constant(first.type, k))) for k in range(_TOGETHER)]
            while len(some) > 1:
                some = [builder.add(*pair) for pair in zip(some[::2], some[1::2], strict=True)]
            add(some[0])
        with cgutils.for_range_slice(builder, together, last, ir.Constant(first.type, 1)) as (position, _):
            add(row(position))
        builder.store(builder.load(total), out).align = 1
        return context.get_dummy_value()

    return types.void(weights, partners, types.int64, types.int64, sums), generate


def _sum_by_numpy(weights, partners, start, stop, sums):
    sums[:] = weights[partners[start:stop]].sum(axis=0, dtype=np.uint16)


# Sums the rows of weights of partners start to stop, at most LONGEST, the largest weight at most LARGEST. weights:
# (units, 64) uint8; partners: (n,) int32; sums: (64,) uint16, out
sum_rows: Any = _sum_by_numpy if config.DISABLE_JIT else _sum_in_registers


@jit
def group_partners(first, second, repeats, end, partners, units, stops, ends):
    """Write the partners of each unit, one for each comparison, in runs of at most LONGEST.

    first, second, repeats: (pairs,) int32, distinct pairs, those with the same first unit together; end: (lists,)
    int64, where each list's pairs end; partners: (comparisons,) int32, out; units: (runs,) int32, out, whose partners
    a run holds; stops: (runs,) int64, out, where it ends; ends: (lists,) int64, out, where each list's runs end.
    Returns the number of runs, at most pairs + comparisons / LONGEST.
    """
    n_runs, n, start = 0, np.int64(0), 0
    for k in range(end.size):
        length = LONGEST
        for p in range(start, end[k]):
            for _ in range(repeats[p]):
                if length == LONGEST or units[n_runs - 1] != first[p]:
                    units[n_runs] = first[p]
                    n_runs += 1
                    length = 0
                partners[n] = second[p]
                n += 1
                length += 1
                stops[n_runs - 1] = n
        ends[k] = n_runs
        start = end[k]
    return n_runs


@jit
def total_weights(partners, units, stops, ends, weights, totals):
    """Sum the weights of all comparisons of each list.

    partners, units, stops, ends: as `group_partners` writes them; weights: (units, 64) uint8, at most LARGEST; totals:
    (lists, 64) int64, out
    """
    sums = np.empty(BLOCK, np.uint16)
    start, run = np.int64(0), 0
    for k in range(ends.size):
        total = totals[k]
        for r in range(BLOCK):
            total[r] = 0
        while run < ends[k]:
            stop, unit = stops[run], weights[units[run]]
            sum_rows(weights, partners, start, stop, sums)
            for r in range(BLOCK):
                total[r] += np.int64(np.uint32(sums[r]) * np.uint32(unit[r]))
            start = stop
            run += 1

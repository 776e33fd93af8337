"""Total weights of comparisons that are grouped by one unit: rows of weights of its partners,
summed in registers.

The compiler keeps no array of sums in registers from row to row, which takes five times as long. So
the sum of some rows is written in its own language, LLVM's: where weights are small, eight rows at
a time are added in uint8, and these sums in uint16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ._jit import config, helper, jit_in_place
from ._registers import INT, at, data_of, load, spread, whole
from .philox import BLOCK

_TOGETHER = 8  # rows that are added in uint8
LARGEST = (2**8 - 1) // _TOGETHER  # weight of such rows
_MOST = 2**16 - 1  # the largest sum in uint16
LONGEST = _MOST // LARGEST  # rows whose sums uint16 holds, whatever their weights up to LARGEST
_BYTES, _WORDS, _WIDE = (ir.VectorType(ir.IntType(bits), BLOCK) for bits in (8, 16, 64))


@intrinsic
def _add_in_registers(typing_context, rows, partners, repeats, places, unit, totals):
    """Add the weights of the comparisons of a unit; see `_add_rows`."""
    if (rows.dtype, totals.dtype) != (types.uint8, types.int64):
        raise TypingError("weights are uint8, and their sums int64")

    def generate(context, builder, signature, arguments):
        (weights, _), (partner, _), (many, (n_many,)), (out, _) = (
            data_of(context, builder, signature, arguments, k) for k in (0, 1, 2, 5)
        )
        start, together, stop = (builder.extract_value(arguments[3], k) for k in range(3))
        once = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(32), 1))
        is_repeated = builder.icmp_signed(">", n_many, whole(0))
        sums = cgutils.alloca_once_value(builder, ir.Constant(_WORDS, None))

        def row(unit):
            return load(builder, weights, builder.mul(unit, whole(BLOCK)), _BYTES, 1)

        def row_at(position):
            return row(builder.zext(builder.load(builder.gep(partner, [position])), INT))

        def add(words):
            builder.store(builder.add(builder.load(sums), words), sums)

        loop = cgutils.for_range_slice
        with loop(builder, start, together, whole(_TOGETHER)) as (position, _):
            some = [row_at(builder.add(position, whole(k))) for k in range(_TOGETHER)]
            while len(some) > 1:
                some = [builder.add(*pair) for pair in zip(some[::2], some[1::2], strict=True)]
            add(builder.zext(some[0], _WORDS))
        with loop(builder, together, stop, whole(1)) as (position, _):
            times = builder.load(builder.select(is_repeated, builder.gep(many, [position]), once))
            times = spread(builder, builder.trunc(times, _WORDS.element), BLOCK)
            add(builder.mul(builder.zext(row_at(position), _WORDS), times))
        of_unit = builder.zext(row(arguments[4]), _WIDE)
        products = builder.mul(builder.zext(builder.load(sums), _WIDE), of_unit)
        total = builder.add(load(builder, out, whole(0), _WIDE, 8), products)
        builder.store(total, at(builder, out, whole(0), _WIDE)).align = 8
        return context.get_dummy_value()

    three = types.UniTuple(types.int64, 3)
    return types.void(rows, partners, repeats, three, types.int64, totals), generate


def _add_by_numpy(rows, partners, repeats, places, unit, totals):
    start, _, stop = places
    times = np.uint16(repeats[start:stop, None] if repeats.size else 1)
    sums = (rows[partners[start:stop]] * times).sum(axis=0, dtype=np.uint16)
    totals += sums.astype(np.int64) * rows[unit]


# Adds the products of a unit's weights with the sums of those of some partners, as often as each is
# repeated. rows: (units, 64) uint8 weights; partners: (n,) uint16 or int32; repeats: (n,) int32, or
# (0,) for 1; places: where the partners begin, up to where they are added in uint8, and where they
# end; totals: (64,) int64, out
_add_rows: Any = _add_by_numpy if config.DISABLE_JIT else _add_in_registers


@jit_in_place
def total_weights(runs, weights, largest, totals):
    """Sum the weights of all comparisons of each list.

    runs: `partners.Runs`; weights: (units, 64) uint8; largest: the largest weight; totals: (lists,
    64) int64, out
    """
    for k in range(totals.shape[0]):
        for r in range(BLOCK):
            totals[k, r] = 0
    most, start = _MOST // largest, np.int64(0)
    for run in range(runs.stop.size):
        total, unit, end = totals[runs.list[run]], np.int64(runs.unit[run]), runs.stop[run]
        while start < end:
            stop = together = start
            if runs.repeats.size == 0:
                stop = start + most if start + most < end else end
                if largest <= LARGEST:
                    together = stop - (stop - start) % _TOGETHER
            else:
                n = np.int64(runs.repeats[start])
                while stop < end and n <= most:
                    stop += 1
                    n += repeats_at(runs.repeats, stop) if stop < end else np.int64(0)
            if stop > start:
                _add_rows(weights, runs.partner, runs.repeats, (start, together, stop), unit, total)
                start = stop
                continue
            # A partner that is repeated so often that uint16 cannot hold its weights.
            partner, many = runs.partner[start], np.int64(runs.repeats[start])
            for r in range(BLOCK):
                total[r] += many * np.int64(weights[partner, r]) * np.int64(weights[unit, r])
            start += 1
    for k in range(1, totals.shape[0]):
        for r in range(BLOCK):
            totals[0, r] += totals[k, r]


@helper
def repeats_at(repeats, p):
    """Return how many comparisons partner p stands for. repeats: (n,) int32, or (0,) for 1."""
    return np.int64(repeats[p]) if repeats.size > 0 else np.int64(1)

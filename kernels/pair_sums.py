"""Add the weights of comparisons, products of two rows of 64 weights, in registers.

The compiler keeps no array of sums in registers from comparison to comparison, and takes long to
find out, in each kernel that adds. So the loop is written in its own language, LLVM's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ._jit import config
from ._registers import at, data_of, load, repeat, whole
from .philox import BLOCK

_BYTES, _WORDS, _WIDE = (ir.VectorType(ir.IntType(bits), BLOCK) for bits in (8, 16, 64))


@intrinsic
def _add_in_registers(typing_context, a, b, weights, start, stop, totals):
    """Add the weights of comparisons; see `add_pairs`."""
    if (weights.dtype, totals.dtype) != (types.uint8, types.int64):
        raise TypingError("weights are uint8, and their sums int64")

    def generate(context, builder, signature, arguments):
        rows_a, rows_b, of_units, out = (
            data_of(context, builder, signature, arguments, k)[0] for k in (0, 1, 2, 5)
        )
        first, last = arguments[3], arguments[4]

        def weights_at(rows, position):
            row = builder.sext(builder.load(builder.gep(rows, [position])), first.type)
            of_row = load(builder, of_units, builder.mul(row, whole(BLOCK)), _BYTES, 1)
            return builder.zext(of_row, _WORDS)

        def add(k, sums):
            position = builder.add(first, k)
            product = builder.mul(weights_at(rows_a, position), weights_at(rows_b, position))
            return [builder.add(sums[0], product)]

        (sums,) = repeat(builder, builder.sub(last, first), [ir.Constant(_WORDS, None)], add)
        total = load(builder, out, whole(0), _WIDE, 8)
        to = at(builder, out, whole(0), _WIDE)
        builder.store(builder.add(total, builder.zext(sums, _WIDE)), to).align = 8
        return context.get_dummy_value()

    return types.void(a, b, weights, types.int64, types.int64, totals), generate


def _add_by_numpy(a, b, weights, start, stop, totals):
    first, second = (weights[rows[start:stop]].astype(np.uint16) for rows in (a, b))
    totals += (first * second).sum(axis=0, dtype=np.uint16)


# Adds the weights of comparisons start to stop, at least one, and so few that uint16 cannot
# overflow. a, b: (n,) int32 rows of weights; weights: (rows, 64) uint8; totals: (64,) int64, out
add_pairs: Any = _add_by_numpy if config.DISABLE_JIT else _add_in_registers

"""Compare many floats with a bound at once, and go through those that reach it.

A comparison for each float costs more than the few floats that are wanted. The compiler makes no
mask of bits of a loop over comparisons, so it is written in its own language, LLVM's, which has one
for any processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ._jit import config

TOGETHER = 64  # floats that are compared at once
_MASK = ir.IntType(TOGETHER)


@intrinsic
def _reaching_in_registers(typing_context, row, start, bound):
    """Compare floats with a bound; see `reaching`."""

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        kind = context.get_value_type(signature.args[0].dtype)
        some = ir.VectorType(kind, TOGETHER)
        at = builder.bitcast(builder.gep(values, [arguments[1]]), some.as_pointer())
        loaded = builder.load(at)
        loaded.align = context.get_abi_sizeof(kind)
        first_lane = builder.insert_element(
            ir.Constant(some, ir.Undefined), arguments[2], ir.Constant(ir.IntType(32), 0)
        )
        places = ir.Constant(ir.VectorType(ir.IntType(32), TOGETHER), None)
        bounds = builder.shuffle_vector(first_lane, ir.Constant(some, ir.Undefined), places)
        return builder.bitcast(builder.fcmp_ordered(">=", loaded, bounds), _MASK)

    return types.int64(row, types.intp, row.dtype), generate


@intrinsic
def _lowest_in_register(typing_context, mask):
    """Find the lowest bit; see `lowest`."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.int64(types.int64), generate


def _reaching_by_numpy(row, start, bound):
    bits = np.packbits(row[start : start + TOGETHER] >= bound, bitorder="little")
    return int.from_bytes(bits.tobytes(), "little")


def _lowest_by_python(mask):
    return int(mask & -mask).bit_length() - 1


# Which of TOGETHER floats reach a bound, as bits of an integer, the first float's the lowest. row:
# (n,) float32 or float64, start: int, bound: of the type of the floats
reaching: Any = _reaching_by_numpy if config.DISABLE_JIT else _reaching_in_registers
# The number of the lowest bit that is set; there must be one.
lowest: Any = _lowest_by_python if config.DISABLE_JIT else _lowest_in_register

"""Dot products whose sums have one order, so that their bits depend on the two vectors alone.

Of float32 there are 16 sums. Sum l takes the products of elements l, l + 16, l + 32, ... in this
order, each added with one rounding. Then sums l and l + 8 are added, of what that gives l and l +
4, l and l + 2, and the last two. Of float64 there are 8 sums, and products are rounded before they
are added. So the product of two vectors is the same in a block of many and alone, wherever the two
stand, whatever the processor.

Vectors have a multiple of 16 elements: zeros behind them change nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from ._jit import config, helper, jit
from ._processor import features, is_x86
from ._registers import at, data_of, load, repeat, shuffle, whole

SUMS = 16  # of float32; half as many of float64
_SINGLE = ir.FloatType()
# Rows and columns whose products are summed at once: as many as registers hold
_ROWS, _COLUMNS = (4, 4) if "avx512f" in features() else (2, 3)
_TOGETHER = 4  # pairs whose products are summed at once where they are listed
_STRIP = 24 * 2**10  # bytes of rows that stay in the first cache while columns pass


def is_quick() -> bool:
    """Tell whether the processor multiplies and adds with one rounding, and code is compiled."""
    return not config.DISABLE_JIT and is_x86() and "fma" in features()


def _adder(builder, register):
    """Return what makes code that adds the products of two registers to a third one."""
    # a processor that cannot do it calls a function of the C library
    if register.element == _SINGLE:
        kind = ir.FunctionType(register, [register] * 3)
        multiply_add = builder.module.declare_intrinsic(f"llvm.fma.v{register.count}f32", (), kind)
        return lambda a, b, total: builder.call(multiply_add, [a, b, total])
    return lambda a, b, total: builder.fadd(total, builder.fmul(a, b))


def _sums(builder, element, starts, pairs, n_elements):
    """Make the dot products of pairs of vectors, given by their starts, as first elements of a
    register.

    element: float or double, as LLVM names them; pairs: at most as many as a register has elements
    """
    lanes = SUMS if element == _SINGLE else SUMS // 2
    register = ir.VectorType(element, lanes)
    undefined = ir.Constant(register, ir.Undefined)
    add = _adder(builder, register)

    def step(k, held):
        offset = builder.mul(k, whole(lanes))
        some = [load(builder, start, offset, register, 4) for start in starts]
        return [add(some[a], some[b], held[p]) for p, (a, b) in enumerate(pairs)]

    zero = ir.Constant(register, None)
    steps = builder.sdiv(n_elements, whole(lanes))
    values = repeat(builder, steps, [zero] * len(pairs), step)
    values += [undefined] * (lanes - len(values))
    width = lanes
    while len(values) > 1:  # halves of the sums of two registers are added, and fill one
        half = width // 2
        low = [p for p in range(2 * lanes) if p % width < half]
        high = [p + half for p in low]
        values = [
            undefined
            if a is b is undefined
            else builder.fadd(shuffle(builder, a, b, low), shuffle(builder, a, b, high))
            for a, b in zip(values[::2], values[1::2], strict=True)
        ]
        width = half
    return values[0]


@intrinsic
def _block_in_registers(typing_context, first, i, second, j, out, r, c):
    """Write the products of _ROWS rows of `first` from i on with _COLUMNS of `second` from j on to
    `out`.
    """

    def generate(context, builder, signature, arguments):
        (a, of_a), (b, _), (o, of_o) = (
            data_of(context, builder, signature, arguments, k) for k in (0, 2, 4)
        )
        starts = [
            builder.gep(data, [builder.mul(builder.add(begin, whole(k)), of_a[1])])
            for data, begin, n in ((a, arguments[1], _ROWS), (b, arguments[3], _COLUMNS))
            for k in range(n)
        ]
        pairs = [(a, _ROWS + b) for a in range(_ROWS) for b in range(_COLUMNS)]
        sums = _sums(builder, _SINGLE, starts, pairs, of_a[1])
        some = ir.VectorType(_SINGLE, _COLUMNS)
        for k in range(_ROWS):
            places = range(k * _COLUMNS, (k + 1) * _COLUMNS)
            row = builder.mul(builder.add(arguments[5], whole(k)), of_o[1])
            to = at(builder, o, builder.add(row, arguments[6]), some)
            builder.store(shuffle(builder, sums, sums, places), to).align = 4
        return context.get_dummy_value()

    return types.void(first, types.intp, second, types.intp, out, types.intp, types.intp), generate


@intrinsic
def _pairs_in_registers(typing_context, rows, codes, p, places, out):
    """Write the products of _TOGETHER pairs from p on; arguments as in `take_reaching`; out:
    (_TOGETHER,) floats.
    """

    def generate(context, builder, signature, arguments):
        (x, shape), (of_pair, _), (o, _) = (
            data_of(context, builder, signature, arguments, k) for k in (0, 1, 4)
        )
        mask = builder.sub(builder.shl(whole(1), arguments[3]), whole(1))
        starts = []
        for k in range(_TOGETHER):
            code = builder.load(builder.gep(of_pair, [builder.add(arguments[2], whole(k))]))
            for row in (builder.ashr(code, arguments[3]), builder.and_(code, mask)):
                starts.append(builder.gep(x, [builder.mul(row, shape[1])]))
        pairs = [(2 * k, 2 * k + 1) for k in range(_TOGETHER)]
        element = context.get_data_type(signature.args[0].dtype)
        sums = _sums(builder, element, starts, pairs, shape[1])
        some = shuffle(builder, sums, sums, range(_TOGETHER))
        builder.store(some, at(builder, o, whole(0), some.type)).align = 4
        return context.get_dummy_value()

    return types.void(rows, codes, types.intp, types.int64, out), generate


@intrinsic
def _row_in_registers(typing_context, first, i, second, columns, p, out):
    """Write the products of row i of `first` with _TOGETHER rows of `second`, numbered in `columns`
    from p on.
    """
    if not first.dtype == second.dtype == out.dtype:
        raise TypingError("products are of vectors of one type")

    def generate(context, builder, signature, arguments):
        (a, of_a), (b, _), (listed, _), (o, _) = (
            data_of(context, builder, signature, arguments, k) for k in (0, 2, 3, 5)
        )
        starts = [builder.gep(a, [builder.mul(arguments[1], of_a[1])])]
        for k in range(_TOGETHER):
            row = builder.load(builder.gep(listed, [builder.add(arguments[4], whole(k))]))
            starts.append(builder.gep(b, [builder.mul(row, of_a[1])]))
        pairs = [(0, 1 + k) for k in range(_TOGETHER)]
        sums = _sums(
            builder, context.get_data_type(signature.args[0].dtype), starts, pairs, of_a[1]
        )
        some = shuffle(builder, sums, sums, range(_TOGETHER))
        builder.store(some, at(builder, o, arguments[4], some.type)).align = 4
        return context.get_dummy_value()

    return types.void(first, types.intp, second, columns, types.intp, out), generate


def _multiply_add(a, b, c):
    """Return a b + c, float32, with one rounding: float64 holds the product, and its sum is rounded
    to odd before.
    """
    product = a.astype(np.float64) * b
    total = product + c
    of_c = total - product
    lost = (product - (total - of_c)) + (c - of_c)  # what rounding took from the sum, exactly
    is_even = (total.view(np.int64) & 1) == 0
    odd = np.where((lost != 0) & is_even, np.nextafter(total, np.copysign(np.inf, lost)), total)
    return odd.astype(np.float32)


def products(first, second):
    """Compute what the kernels do, in NumPy. first, second: (..., d) floats, of shapes that go
    together.
    """
    lanes = SUMS if first.dtype == np.float32 else SUMS // 2
    sums = np.zeros((*np.broadcast_shapes(first.shape, second.shape)[:-1], lanes), first.dtype)
    for k in range(0, first.shape[-1], lanes):
        a, b = first[..., k : k + lanes], second[..., k : k + lanes]
        sums = _multiply_add(a, b, sums) if first.dtype == np.float32 else sums + a * b
    while sums.shape[-1] > 1:
        half = sums.shape[-1] // 2
        sums = sums[..., :half] + sums[..., half:]
    return sums[..., 0]


def _block_by_numpy(first, i, second, j, out, r, c):
    some = products(first[i : i + _ROWS, None], second[None, j : j + _COLUMNS])
    out[r : r + _ROWS, c : c + _COLUMNS] = some


def _pairs_by_numpy(rows, codes, p, places, out):
    some = codes[p : p + _TOGETHER]
    out[:] = products(rows[some >> places], rows[some & ((1 << places) - 1)])


def _row_by_numpy(first, i, second, columns, p, out):
    out[p : p + _TOGETHER] = products(first[i], second[columns[p : p + _TOGETHER]])


_block: Any = _block_by_numpy if config.DISABLE_JIT else _block_in_registers
_pairs: Any = _pairs_by_numpy if config.DISABLE_JIT else _pairs_in_registers
_row: Any = _row_by_numpy if config.DISABLE_JIT else _row_in_registers


@jit
def fill(first, second, out):
    """Compute the products of all rows of two matrices of at least four rows each.

    first: (m, d) float32; second: (n, d) float32; out: (m, n) float32, out
    """
    m, n = out.shape
    strip = max(_STRIP // (4 * first.shape[1]), 1) // _ROWS * _ROWS + _ROWS
    for start in range(0, m, strip):
        for j in range(0, n, _COLUMNS):
            # the last block may overlap the one before, with the same bits
            column = min(j, n - _COLUMNS)
            for i in range(start, min(start + strip, m), _ROWS):
                row = min(i, m - _ROWS)
                _block(first, row, second, column, out, row, column)


@helper
def multiply_row(first, i, second, columns, n, out):
    """Compute the products of one row with some rows of another matrix.

    first: (m, d) floats; i: the row; second: (rows, d) floats; columns: (at least n + 3,) int64,
    numbers of n rows of `second`, behind which this writes one of them; out: (at least n + 3,)
    floats, out
    """
    for p in range(n, n + _TOGETHER - 1):
        columns[p] = columns[0]
    for p in range(0, n, _TOGETHER):
        _row(first, i, second, columns, p, out)


@jit
def take_reaching(rows, codes, places, bound, similarities):
    """Keep the pairs of rows whose product reaches a bound, and return their number.

    rows: (n, d) floats; codes: (pairs,) int64, the first row's number in the bits above the
    second's, and those kept, out; places: bits of a row's number; bound: a float; similarities:
    (pairs,) floats, the products of those kept, out
    """
    count = np.int64(0)
    some, last = np.empty(_TOGETHER, rows.dtype), np.empty(_TOGETHER, np.int64)
    for start in range(0, codes.size, _TOGETHER):
        n = min(_TOGETHER, codes.size - start)
        if n == _TOGETHER:
            _pairs(rows, codes, start, places, some)
        else:
            last[:] = codes[start]
            last[:n] = codes[start:]
            _pairs(rows, last, 0, places, some)
        for k in range(n):
            similarities[count], codes[count] = some[k], codes[start + k]
            count += np.int64(some[k] >= bound)
    return count


@jit
def multiply_mated(rows, corner, size, columns, offset, places, mated):
    """Compute the products of the mated pairs of a panel.

    rows, places: as above; corner, size: the first row and column of the panel, and how many it has
    of each; columns: (rows, 3) int64 and offset: (rows,) int64, as in `pairs.take_mated`; mated:
    (pairs,) floats, out
    """
    some, codes = np.empty(_TOGETHER, rows.dtype), np.empty(_TOGETHER, np.int64)
    first, second = corner
    for i in range(first, min(first + size, columns.shape[0])):
        begin, stop = columns[i, 1], min(columns[i, 2], second + size)
        for start in range(max(begin, second), stop, _TOGETHER):
            for k in range(_TOGETHER):
                codes[k] = (np.int64(i) << places) + min(start + k, stop - 1)
            _pairs(rows, codes, 0, places, some)
            for k in range(min(_TOGETHER, stop - start)):
                mated[offset[i] + start + k - begin] = some[k]

"""Which pairs of vectors may have a dot product of some size, by products of their elements as
small whole numbers.

A processor multiplies and adds four or eight times as many whole numbers of 8 bits as floats. There
are several ways to do it, by what the processor has. In all of them the elements of columns are
made positive by adding a number to each, and what that adds to a row's products is part of the
row's limit.

Rows are packed as (blocks, steps, rows of a block) and columns as (blocks, steps, columns of a
block) integers of 32 bits, each of four elements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ._jit import config, jit
from ._processor import features, is_x86
from ._registers import at, data_of, load, repeat, shuffle, spread, whole
from .bit_masks import lowest

ELEMENTS = 8  # vectors have a multiple of so many
PANEL = 96  # rows and columns of a panel are multiples of it, so of those of every block
_BYTE, _SHORT, _WORD = (ir.IntType(bits) for bits in (8, 16, 32))
_REGISTERS = 2  # of columns


class Way(NamedTuple):
    """How a processor multiplies small whole numbers.

    number: of the way; needs: features of the processor, any group of them; lanes: integers of 32
    bits in a register; rows: of a block; largest: what elements are in size; together: how many
    steps are taken at once
    """

    number: int
    needs: tuple[tuple[str, ...], ...]
    lanes: int
    rows: int
    largest: int
    together: int

    @property
    def columns(self) -> int:
        """Columns of a block."""
        return _REGISTERS * self.lanes


WAYS = {
    "avx512-vnni": Way(0, (("avx512f", "avx512vnni"),), 16, 12, 127, 1),
    "avx-vnni": Way(1, (("avx2", "avxvnni"), ("avx2", "avx512vnni", "avx512vl")), 8, 6, 127, 1),
    # Two products, and two such sums, are added in 16 bits: they must not be larger.
    "avx2": Way(2, (("avx2",),), 8, 4, 63, 2),
}
_BY_NUMBER = tuple(WAYS.values())


def known_ways() -> list[str]:
    """Return the names of the ways of this processor, the quickest first; of all ways where nothing
    is compiled.
    """
    has = features()
    return [
        name
        for name, way in WAYS.items()
        if config.DISABLE_JIT or (is_x86() and any(has.issuperset(needed) for needed in way.needs))
    ]


def is_compiled() -> bool:
    """Tell whether kernels are: in Python, products of floats are quicker."""
    return not config.DISABLE_JIT


def _declared(builder, name, kinds):
    """Declare an instruction of the processor; kinds: of what it returns and takes."""
    return builder.module.declare_intrinsic(name, (), ir.FunctionType(kinds[0], kinds[1:]))


def _one_step(builder, way, sums, rows, columns, k):
    """Add the products of four elements of each row and column, or of eight, to sums."""
    register = ir.VectorType(_WORD, way.lanes)

    def four(step):
        """Load four elements of each row, spread over a register, beside those of each column."""
        row, column = builder.mul(step, whole(way.rows)), builder.mul(step, whole(way.columns))
        of_rows = [
            load(builder, rows, builder.add(row, whole(r)), _WORD, 4) for r in range(way.rows)
        ]
        places = range(0, way.columns, way.lanes)
        of_columns = [
            load(builder, columns, builder.add(column, whole(c)), register, 4) for c in places
        ]
        return [
            (a, b)
            for a in [spread(builder, word, way.lanes) for word in of_rows]
            for b in of_columns
        ]

    if way.together == 1:
        add = _declared(builder, f"llvm.x86.avx512.vpdpbusd.{32 * way.lanes}", [register] * 4)
        return [builder.call(add, [held, b, a]) for held, (a, b) in zip(sums, four(k), strict=True)]
    bytes_, shorts = ir.VectorType(_BYTE, 4 * way.lanes), ir.VectorType(_SHORT, 2 * way.lanes)
    multiply = _declared(builder, "llvm.x86.avx2.pmadd.ub.sw", [shorts, bytes_, bytes_])
    add = _declared(builder, "llvm.x86.avx2.pmadd.wd", [register, shorts, shorts])
    ones = ir.Constant(shorts, [1] * (2 * way.lanes))
    twice = builder.mul(k, whole(2))
    blocks = [four(step) for step in (twice, builder.add(twice, whole(1)))]
    added = []
    for held, both in zip(sums, zip(*blocks, strict=True), strict=True):
        products = [
            builder.call(multiply, [builder.bitcast(b, bytes_), builder.bitcast(a, bytes_)])
            for a, b in both
        ]
        added.append(builder.add(held, builder.call(add, [builder.add(*products), ones])))
    return added


@intrinsic(prefer_literal=True)
def _mark_in_registers(typing_context, rows, columns, block, limits, bits, place, number):
    """Mark the pairs of a block of rows and one of columns; see `_mark_by_numpy`."""
    way = _BY_NUMBER[number.literal_value]

    def generate(context, builder, signature, arguments):
        (a, of_a), (b, of_b), (o, of_o) = (
            data_of(context, builder, signature, arguments, k) for k in (0, 1, 4)
        )
        least, added = (
            context.make_array(signature.args[3][k])(
                context, builder, builder.extract_value(arguments[3], k)
            ).data
            for k in range(2)
        )
        row, column = (builder.extract_value(arguments[2], k) for k in range(2))
        place = arguments[5]
        a = builder.gep(a, [builder.mul(row, builder.mul(of_a[1], of_a[2]))])
        b = builder.gep(b, [builder.mul(column, builder.mul(of_b[1], of_b[2]))])
        register, mask = ir.VectorType(_WORD, way.lanes), ir.IntType(way.lanes)
        first = builder.mul(column, whole(way.columns))
        starts = [
            load(builder, added, builder.add(first, whole(c)), register, 4)
            for c in range(0, way.columns, way.lanes)
        ]
        steps = builder.sdiv(of_a[1], whole(way.together))
        sums = repeat(
            builder,
            steps,
            starts * way.rows,
            lambda k, held: _one_step(builder, way, held, a, b, k),
        )
        for r in range(way.rows):
            value_of_row = load(
                builder, least, builder.add(builder.mul(row, whole(way.rows)), whole(r)), _WORD, 4
            )
            limit = spread(builder, value_of_row, way.lanes)
            line = builder.mul(builder.add(builder.extract_value(place, 0), whole(r)), of_o[1])
            for v in range(_REGISTERS):
                offset = builder.add(builder.extract_value(place, 1), whole(v * way.lanes // 8))
                to = at(builder, o, builder.add(line, offset), mask)
                reach = builder.icmp_signed(">=", sums[r * _REGISTERS + v], limit)
                builder.store(builder.bitcast(reach, mask), to).align = 1
        return context.get_dummy_value()

    pair = types.UniTuple(types.intp, 2)
    return types.void(rows, columns, pair, limits, bits, pair, number), generate


def _mark_by_numpy(rows, columns, block, limits, bits, place, number):
    """Mark the pairs of a block of rows and one of columns whose products, and what is added, reach
    limits.

    rows, columns, limits: as in `mark`; block: the numbers of the two; bits: (rows, bytes) uint8,
    out; place: the row and the byte in it where the marks begin
    """
    row, column = block
    way = _BY_NUMBER[number]
    a = np.ascontiguousarray(rows[row].T).view(np.int8).astype(np.int64)
    b = np.ascontiguousarray(columns[column].T).view(np.uint8).astype(np.int64)
    least = limits[0][row * way.rows : (row + 1) * way.rows]
    reach = a @ b.T + limits[1][column * way.columns : (column + 1) * way.columns] >= least[:, None]
    marks = np.packbits(reach, axis=1, bitorder="little")
    bits[place[0] : place[0] + way.rows, place[1] : place[1] + marks.shape[1]] = marks


_mark: Any = _mark_by_numpy if config.DISABLE_JIT else _mark_in_registers


def _made_for(number):
    """Make the kernel of one of the WAYS; its number is part of the name of its file of machine
    code.
    """
    height, width = _BY_NUMBER[number].rows, _BY_NUMBER[number].columns

    @jit
    def mark(rows, columns, limits, corner, bits):
        """Mark the pairs of a panel whose products reach limits.

        rows: (blocks, steps, rows) int32; columns: (blocks, steps, columns) int32; limits: (rows,)
        int32, what the products of a row must reach, and (columns,) int32, what is added to those
        of a column; corner: the first row and column of the panel, first ones of blocks; bits:
        (height, width / 8) uint8, a bit for each pair, out
        """
        n_bytes = width // 8
        for c in range(bits.shape[1] // n_bytes):
            for r in range(bits.shape[0] // height):
                block = corner[0] // height + r, corner[1] // width + c
                _mark(rows, columns, block, limits, bits, (r * height, c * n_bytes), number)

    return mark


_MARKS = tuple(_made_for(way.number) for way in _BY_NUMBER)


def mark_by(name: str) -> Any:
    """Return the kernel of a way."""
    return _MARKS[WAYS[name].number]


@jit
def list_marked(bits, corner, columns, n, places, codes):
    """List the marked non-mated pairs of a panel, row by row, and return their number.

    bits: (height, width / 32) uint32, as `mark` makes them; corner: as above; columns, n, places:
    as in `pairs.take_nonmated`; codes: (height * width + 1,) int64, out
    """
    first_row, first_column = corner
    count = np.int64(0)
    for r in range(min(bits.shape[0], columns.shape[0] - first_row)):
        i = first_row + r
        begin, mated, others = columns[i]
        code = np.int64(i) << places
        for w in range(bits.shape[1]):
            mask = np.int64(bits[r, w])
            while mask != 0:
                j = first_column + 32 * w + lowest(mask)
                mask &= mask - 1  # without its lowest bit
                codes[count] = code + j
                count += np.int64(begin <= j < n and not mated <= j < others)
    return count


@intrinsic
def _round_in_registers(typing_context, vectors, i, unit, largest, signed, positive, sizes):
    """Write a vector as whole numbers, and sizes; see `_round_by_numpy`."""

    def generate(context, builder, signature, arguments):
        (x, shape), (q, _), (u, _), (o, of_o) = (
            data_of(context, builder, signature, arguments, k) for k in (0, 4, 5, 6)
        )
        lanes, double = ELEMENTS, ir.DoubleType()
        register, bytes_ = ir.VectorType(double, lanes), ir.VectorType(_BYTE, lanes)
        kind = ir.VectorType(context.get_value_type(signature.args[0].dtype), lanes)
        floor = builder.module.declare_intrinsic(
            f"llvm.floor.v{lanes}f64", (), ir.FunctionType(register, [register])
        )
        scale, per_scale = (builder.extract_value(arguments[2], k) for k in range(2))
        x = builder.gep(x, [builder.mul(arguments[1], shape[1])])
        scale, per_scale, most = (
            spread(builder, value, lanes) for value in (scale, per_scale, arguments[3])
        )
        half, unity, zero = (ir.Constant(register, [value] * lanes) for value in (0.5, 1.0, 0.0))

        def step(k, sums):
            offset = builder.mul(k, whole(lanes))
            element = load(builder, x, offset, kind, 4)
            element = element if kind == register else builder.fpext(element, register)
            rounded = builder.call(floor, [builder.fadd(builder.fmul(element, per_scale), half)])
            least = builder.fsub(zero, most)
            rounded = builder.select(builder.fcmp_ordered("<", rounded, most), rounded, most)
            rounded = builder.select(builder.fcmp_ordered(">", rounded, least), rounded, least)
            left = builder.fsub(element, builder.fmul(rounded, scale))
            moved = builder.fadd(builder.fadd(rounded, most), unity)
            for to, value, convert in ((q, rounded, builder.fptosi), (u, moved, builder.fptoui)):
                narrow = builder.trunc(convert(value, ir.VectorType(_WORD, lanes)), bytes_)
                builder.store(narrow, at(builder, to, offset, bytes_)).align = 1
            more = *(builder.fmul(value, value) for value in (left, element, rounded)), rounded
            return [builder.fadd(total, value) for total, value in zip(sums, more, strict=True)]

        totals = repeat(builder, builder.sdiv(shape[1], whole(lanes)), [zero] * 4, step)
        for k, value in enumerate(totals):
            while value.type != double:
                n = value.type.count // 2
                low, high = (
                    shuffle(builder, value, value, range(start, start + n)) for start in (0, n)
                )
                value = builder.fadd(low, high)
                if n == 1:
                    value = builder.extract_element(value, ir.Constant(_WORD, 0))
            row = builder.mul(arguments[1], of_o[1])
            builder.store(value, builder.gep(o, [builder.add(row, whole(k))]))
        return context.get_dummy_value()

    pair = types.UniTuple(types.float64, 2)
    return types.void(vectors, types.intp, pair, types.float64, signed, positive, sizes), generate


def _round_by_numpy(vectors, i, unit, largest, signed, positive, sizes):
    """Write vector i as whole numbers, and its sizes; arguments as in `quantise`.

    unit: the scale, and what to multiply by to divide by it; signed, positive: (d,) int8 and uint8,
    the numbers, out
    """
    x = vectors[i].astype(np.float64)
    q = np.clip(np.floor(x * unit[1] + 0.5), -largest, largest)
    left = x - q * unit[0]
    signed[:], positive[:] = q, q + (largest + 1)
    with np.errstate(over="ignore"):
        sizes[i] = (left * left).sum(), (x * x).sum(), (q * q).sum(), q.sum()


_round: Any = _round_by_numpy if config.DISABLE_JIT else _round_in_registers


@jit
def quantise(vectors, scale, largest, packed, sizes):
    """Write the elements of some vectors as whole numbers, and pack them.

    vectors: (m, d) floats, with d a multiple of `ELEMENTS`; scale: what one stands for, a float32
    as float64, so that products with whole numbers are exact; largest: how large they may be;
    packed: as rows (blocks, steps, rows) and columns (blocks, steps, columns) int32, and the number
    of the first vector among them, out; sizes: (m, 4) float64, the sums of squares of what whole
    numbers leave of each vector, of the vector and of the whole numbers, and the latter's sum, out
    """
    rows, columns, start = packed
    m, d = vectors.shape
    height, width = rows.shape[2], columns.shape[2]
    signed, positive = np.empty(d, np.int8), np.empty(d, np.uint8)
    words, positive_words = signed.view(np.int32), positive.view(np.int32)
    for i in range(m):
        _round(vectors, i, (scale, 1 / scale), np.float64(largest), signed, positive, sizes)
        block, r = rows[(start + i) // height], (start + i) % height
        other, c = columns[(start + i) // width], (start + i) % width
        for k in range(words.size):
            block[k, r], other[k, c] = words[k], positive_words[k]

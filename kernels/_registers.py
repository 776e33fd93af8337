"""Pieces of code in the compiler's own language, LLVM's, with which kernels work on whole
registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

INT = ir.IntType(64)
_PLACE = ir.IntType(32)


def whole(value: int) -> Any:
    """Return a constant."""
    return ir.Constant(INT, value)


def data_of(
    context: Any, builder: Any, signature: Any, arguments: Any, k: int
) -> tuple[Any, list[Any]]:
    """Return the address and the shape of an argument that is a contiguous array."""
    assert signature.args[k].layout == "C"
    array = context.make_array(signature.args[k])(context, builder, arguments[k])
    shape = [builder.extract_value(array.shape, axis) for axis in range(signature.args[k].ndim)]
    return array.data, shape


def at(builder: Any, address: Any, offset: Any, kind: Any) -> Any:
    """Return the address of a value of some kind, an offset of elements behind another address."""
    return builder.bitcast(builder.gep(address, [offset]), kind.as_pointer())


def load(builder: Any, address: Any, offset: Any, kind: Any, align: int) -> Any:
    """Load a value of some kind from an offset of elements behind an address; align: of it, in
    bytes.
    """
    loaded = builder.load(at(builder, address, offset, kind))
    loaded.align = align
    return loaded


def spread(builder: Any, value: Any, lanes: int) -> Any:
    """Fill a register with a value."""
    kind = ir.VectorType(value.type, lanes)
    undefined = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(undefined, value, ir.Constant(_PLACE, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(_PLACE, lanes), None))


def shuffle(builder: Any, first: Any, second: Any, places: Sequence[int]) -> Any:
    """Take elements of two registers, those of the second numbered behind those of the first."""
    kind = ir.VectorType(_PLACE, len(places))
    return builder.shuffle_vector(first, second, ir.Constant(kind, [*places]))


def repeat(
    builder: Any, n: Any, values: list[Any], step: Callable[[Any, list[Any]], list[Any]]
) -> list[Any]:
    """Replace values by what a step makes of them, n times and at least once; they stay in
    registers.

    step: makes code, of the number of the step and the values, and returns the new ones
    """
    before = builder.block
    inside, after = builder.append_basic_block("step"), builder.append_basic_block("after")
    builder.branch(inside)
    builder.position_at_end(inside)
    k = builder.phi(INT)
    k.add_incoming(whole(0), before)
    held = [builder.phi(value.type) for value in values]
    for phi, value in zip(held, values, strict=True):
        phi.add_incoming(value, before)
    new = step(k, held)
    following = builder.add(k, whole(1))
    k.add_incoming(following, builder.block)
    for phi, value in zip(held, new, strict=True):
        phi.add_incoming(value, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, n), inside, after)
    builder.position_at_end(after)
    return new

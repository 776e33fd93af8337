"""Files of the library safetensors: a header in JSON, and the numbers of each tensor behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from fastfair._lib.arrays import AnyArray
from fastfair._lib.warnings import warn
from fastfair.data.temporary_files import room
from fastfair.errors import FastfairWarning, FileFormatError

from . import files
from .json_tables import refuse_twice

_LENGTH = 8  # bytes of the length of the header
_LONGEST = 100_000_000  # bytes of a header, as the library has it
_TYPES = {
    **{f"F{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
    **{
        f"{kind}{8 * size}": np.dtype(f"<{kind.lower()}{size}")
        for kind in "IU"
        for size in (1, 2, 4, 8)
    },
    "BF16": np.dtype("<u2"),  # the upper half of float32
}
_MOST_DIMENSIONS = 64  # of an array of NumPy
_KEEPS_ORDER = "pt"  # what PyTorch's writer calls its format: it refuses other orders of numbers


@dataclass(frozen=True)
class Tensor:
    """Where the numbers of a tensor are in its file, and what they are."""

    dtype: str
    shape: tuple[int, ...]
    begin: int


def read_header(path: Path) -> dict[str, Tensor]:
    """Read what tensors a file has, and warn where their numbers may be in other places.

    safetensors.numpy writes the memory of an array without its order.

    Raises
    ------
    FileFormatError
        For what is no such file, and for tensors that lie outside it or have another size.
    """
    with files.explain_reading(path), path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
        if not 0 < length <= min(_LONGEST, path.stat().st_size - _LENGTH):
            raise FileFormatError(f"{path} is no file of safetensors: its header has no length")
        header = json.loads(file.read(length), object_pairs_hook=refuse_twice)
        start = _LENGTH + length
        metadata = header.pop("__metadata__", {})
        size = path.stat().st_size - start
        tensors = {name: _tensor(path, name, entry, start, size) for name, entry in header.items()}
        is_ordered = metadata.get("format") == _KEEPS_ORDER
    if not is_ordered:
        warn(
            f"{path}: PyTorch did not write it, and safetensors.numpy 0.8.0 puts numbers of arrays"
            " in column order, and of views, in other places: compare some vectors with those of"
            " the program that wrote them, which has to save numpy.ascontiguousarray(x)",
            FastfairWarning,
        )
    return tensors


def _tensor(path: Path, name: str, entry: Mapping[str, object], start: int, size: int) -> Tensor:
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    whole = [
        *(shape if isinstance(shape, list) else [None]),
        *(offsets if isinstance(offsets, list) and len(offsets) == 2 else [None]),
    ]
    if (
        not isinstance(dtype, str)
        or len(whole) > _MOST_DIMENSIONS + 2
        or not all(type(n) is int and n >= 0 for n in whole)
    ):
        raise FileFormatError(f"{path}: the header says nothing sensible of tensor {name!r}")
    begin, end = whole[-2:]
    number = _TYPES.get(dtype)
    n_bytes = prod(whole[:-2]) * (number.itemsize if number is not None else 1)
    if not begin <= end <= size or (number is not None and end - begin != n_bytes):
        raise FileFormatError(f"{path}: the numbers of tensor {name!r} do not fit into the file")
    return Tensor(dtype, tuple(whole[:-2]), start + begin)


def read_tensor(path: Path, name: str, tensor: Tensor) -> AnyArray:
    """Return the numbers of a tensor; bfloat16, which NumPy does not know, as float32."""
    dtype = _TYPES.get(tensor.dtype)
    if dtype is None:
        raise FileFormatError(
            f"{path}: tensor {name!r} is of type {tensor.dtype}: save it as float32"
        )
    array = room(prod(tensor.shape), dtype)
    with path.open("rb") as file:
        file.seek(tensor.begin)
        if file.readinto(array.view(np.uint8).data) < array.nbytes:
            raise FileFormatError(f"{path} ends in the middle of tensor {name!r}")
    if tensor.dtype == "BF16":
        wider = room(array.size, np.uint32)
        np.left_shift(array, 16, out=wider, dtype=np.uint32)
        array = wider.view(np.float32)
    return array.reshape(tensor.shape)


def kind_of(tensor: Tensor) -> str:
    """Return the kind of NumPy's type of a tensor; "" where NumPy has none."""
    dtype = _TYPES.get(tensor.dtype)
    return "" if dtype is None else "f" if tensor.dtype == "BF16" else dtype.kind

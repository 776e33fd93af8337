"""Objects with large arrays as one piece of memory or one file, out of which they are opened
without a copy.
"""

from __future__ import annotations

import mmap
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from fastfair._lib.arrays import Bytes
from fastfair._lib.rounding import round_up

_ALIGNED = 64  # bytes, as kernels for arrays at odd addresses would be compiled anew
_Places = list[tuple[int, memoryview]]


def pack(value: Any) -> Bytes:
    """Put an object into one piece of memory.

    Parameters
    ----------
    value : object
        Anything that can be pickled.

    Returns
    -------
    (bytes,) ndarray
    """
    size, places = _places(value)
    packed = _room(size)
    for start, part in places:
        packed[start : start + part.nbytes] = np.frombuffer(part, np.uint8)
    return packed


def save(value: Any, path: Path) -> None:
    """Put an object into a file.

    Parameters
    ----------
    value : object
        Anything that can be pickled.
    path : Path
        The file.
    """
    _, places = _places(value)
    with path.open("wb") as file:
        for start, part in places:
            file.seek(start)
            file.write(part)
        file.truncate(round_up(file.tell(), _ALIGNED))


def unpack(packed: Bytes) -> Any:
    """Return the object in a piece of memory; its arrays lie there."""
    if packed.ctypes.data % _ALIGNED or not packed.flags.writeable:
        room = _room(packed.size)
        room[:] = packed
        packed = room
    n = int(packed[:8].view(np.int64)[0])
    ends = packed[8 : 8 + 16 * n].view(np.int64).reshape(n, 2).tolist()
    stream, *buffers = (packed[start:stop].data for start, stop in ends)
    return pickle.loads(stream, buffers=buffers)


def opened(path: Path) -> Any:
    """Return the object in a file, whose arrays are read from there when they are needed."""
    with path.open("rb") as file:
        # Pages that were written to would be copied: arrays that cannot be written to need kernels
        # of their own.
        return unpack(np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8))


def _places(value: Any) -> tuple[int, _Places]:
    """Return the size of all, and where each part goes: a table of starts and ends, the object, and
    its arrays.
    """
    buffers: list[pickle.PickleBuffer] = []
    stream = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(stream), *(buffer.raw() for buffer in buffers)]
    start = round_up(8 + 16 * len(parts), _ALIGNED)
    ends = []
    for part in parts:
        ends.append((start, start + part.nbytes))
        start = round_up(start + part.nbytes, _ALIGNED)
    table = np.array([len(parts), *np.ravel(ends)], np.int64)
    return start, [
        (0, table.view(np.uint8).data),
        *((first, part) for (first, _), part in zip(ends, parts, strict=True)),
    ]


def _room(size: int) -> Bytes:
    room = np.empty(size + _ALIGNED, np.uint8)
    start = -room.ctypes.data % _ALIGNED
    return room[start : start + size]

"""Objects with large arrays in one piece of memory or one file."""

import numpy as np
import pytest

from fastfair._lib import packing

ARRAYS = [
    np.arange(1000.0), np.arange(7, dtype=np.uint8), np.zeros(0), np.zeros((3, 0)), np.arange(12).reshape(3, 4).T,
    np.arange(20)[::3], np.array(["a", "bc"]), np.array(["a", None], object), np.array(3.5), np.arange(5, dtype=">i4"),
]  # fmt: skip


def same(first, second):
    assert (first.dtype, first.shape) == (second.dtype, second.shape)
    assert first.tolist() == second.tolist()


def opened(value, folder):
    packing.save(value, folder / "job")
    return packing.opened(folder / "job")


@pytest.mark.parametrize(
    "way", [lambda value, _: packing.unpack(packing.pack(value)), opened], ids=["memory", "file"]
)
def test_what_is_packed_comes_back(way, tmp_path):
    found = way({"arrays": ARRAYS, "text": "x", "none": None}, tmp_path)
    assert (found["text"], found["none"]) == ("x", None)
    for array, back in zip(ARRAYS, found["arrays"], strict=True):
        same(array, back)


def test_arrays_lie_in_the_file_aligned_and_can_be_written_to_without_a_change_of_it(tmp_path):
    found = opened([np.arange(3), np.arange(1000.0)], tmp_path)
    assert all(array.ctypes.data % 64 == 0 and array.flags.writeable for array in found)
    assert not any(array.flags.owndata for array in found)
    found[1][:] = 7
    assert packing.opened(tmp_path / "job")[1][1] == 1


@pytest.mark.parametrize("spoil", ["shifted", "read-only"])
def test_memory_at_an_odd_address_or_read_only_is_copied(spoil):
    packed = packing.pack([np.arange(10.0)])
    if spoil == "shifted":
        room = np.empty(packed.size + 1, np.uint8)
        start = 1 - room.ctypes.data % 2
        packed, source = room[start : start + packed.size], packed
        packed[:] = source
    else:
        packed.flags.writeable = False
    (found,) = packing.unpack(packed)
    assert found.ctypes.data % 64 == 0
    assert found.flags.writeable
    assert found.tolist() == list(range(10))

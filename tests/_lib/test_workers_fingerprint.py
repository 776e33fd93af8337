"""Fingerprints of values: equal for equal ones, in every process, and different otherwise."""

import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

import fastfair as ff
from fastfair._lib.workers import fingerprint


@dataclass
class Box:
    content: object

    @cached_property
    def twice(self):
        return [self.content] * 2


VALUES = [
    None, True, 1, 1.0, "1", b"1", "", [], (), {}, [1], (1,), [[1], 2], [1, [2]], {"a": 1}, {"a": 2}, {"b": 1},
    np.arange(3), np.arange(3.0), np.arange(3, dtype=np.int32), np.arange(4).reshape(2, 2), np.arange(4),
    np.array(["a"], object), np.array(["b"], object), np.array(["a"]), np.zeros((0, 2)), np.zeros((2, 0)),
    np.float64(1), np.int32(1), slice(1, 2), slice(2, 1), range(3), Box(1), Box(2), Box([1]), int, float,
    ff.at_fmr(0.1), ff.at_fmr(0.2), ff.at_fnmr(0.1), np.dtype("f4"), np.random.SeedSequence(1),
    np.random.SeedSequence(2), np.random.SeedSequence(1, spawn_key=(1,)), [np.nan], ["ab", "c"], ["a", "bc"],
]  # fmt: skip


def test_different_values_have_different_fingerprints():
    found = [fingerprint(value) for value in VALUES]
    assert len(set(found)) == len(found)


def test_a_fingerprint_depends_on_the_value_alone():
    strided = np.arange(6)[::2]
    assert fingerprint(strided) == fingerprint(strided.copy())
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    used = Box(1)
    assert used.twice == [1, 1]
    assert fingerprint(used) == fingerprint(Box(1))


def test_a_change_of_one_bit_is_seen():
    values = np.zeros(1000)
    before = fingerprint([1, {"a": Box(values)}])
    values[500] = -0.0
    assert fingerprint([1, {"a": Box(values)}]) != before


@pytest.mark.slow
def test_a_fingerprint_is_the_same_in_another_process():
    code = (
        "import numpy as np; from fastfair._lib.workers import fingerprint; import fastfair as ff;"
        "print(fingerprint([{'b': 'x', 'a': np.arange(3)}, ff.at_fmr(0.1), {1.5, }]))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(found) == 1


def test_what_cannot_be_pickled_has_none():
    with pytest.raises(TypeError):
        fingerprint(one for one in [1])

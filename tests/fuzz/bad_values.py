"""Values of many kinds that a caller might give by mistake or malice; each is made anew for a
call."""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import fractions
import io
import random
import sys
import threading
import uuid
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import fastfair as ff


def hostile(*names: str, base: type = object, value: Any = None) -> Any:
    """Make an object whose methods of some names raise, or return a value."""

    def answer(self: Any, *args: Any, **kwargs: Any) -> Any:
        if value is None:
            raise RuntimeError("hostile")
        return value

    return type("Hostile", (base,), dict.fromkeys(names, answer))


class _Pretender:
    @property
    def __class__(self) -> Any:
        return ff.Comparisons


class _Raising:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("hostile")


class _Endless:
    def __len__(self) -> int:
        return 3

    def __getitem__(self, k: int) -> float:
        return 0.5


class _Colour(enum.IntEnum):
    RED = 1


def as_written(*values: Any) -> dict[str, Any]:
    """Return what makes copies of values, by how Python writes them."""
    return {repr(value): partial(copy.deepcopy, value) for value in values}


def _recursive() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def _structured() -> Any:
    return np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])


def _matrix() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.matrix([[0.1, 0.2]])


_C = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
_E = ff.Embeddings([[1, 0], [2, 1], [0, 1], [0, 3]], list("aabb"))
_F = ff.FailureCounts([1, 0], [2, 2], ["a", "b"])

KINDS: dict[str, Any] = {
    # Plain values
    **as_written(
        None, True, False, ..., NotImplemented, 0, 1, -1, 2, 3, 2**31, 2**63, -(2**63), 10**12
    ),
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "10**5000": lambda: 10**5000,
    **as_written(
        0.5,
        1.5,
        -0.0,
        -0.5,
        2.0,
        95.0,
        float("nan"),
        float("inf"),
        float("-inf"),
        1e308,
        1e-320,
        0.5 + 0j,
    ),
    **as_written(
        decimal.Decimal("0.5"), decimal.Decimal("sNaN"), fractions.Fraction(1, 2), _Colour.RED
    ),
    "huge Fraction": lambda: fractions.Fraction(10**400),
    # NumPy's scalars
    **as_written(
        np.True_,
        np.int8(3),
        np.uint64(2**64 - 1),
        np.float16(0.5),
        np.float32(0.5),
        np.float64("nan"),
    ),
    **as_written(
        np.longdouble(0.5),
        np.complex128(0.5),
        np.datetime64("2024-01-01"),
        np.datetime64("NaT", "s"),
    ),
    **as_written(np.timedelta64(3, "s"), np.str_("fmr"), np.bytes_(b"fmr"), np.void(b"ab")),
    **as_written(
        np.array(2), np.array(0.5), np.array(True), np.array("fmr"), np.array(None, object)
    ),
    # Text, bytes and paths
    **as_written(
        "",
        " ",
        "x",
        "fmr",
        "all",
        "0.5",
        "nan",
        "a\0b",
        "a\nb",
        "\x1b[31mred",
        "\ud800",
        "\udcff",
        "😀",
    ),
    "right to left": lambda: "\u202eabc",
    "long text": lambda: "x" * 100_000,
    "long path": lambda: "d/" * 3000 + "x.csv",
    "long name": lambda: "x" * 300 + ".csv",
    **as_written(
        "{0}%s%n", "~", "https://example.org/a.csv", "/dev/full", b"fmr", bytearray(b"fmr")
    ),
    "memoryview": lambda: memoryview(b"fmr"),
    "text subclass": lambda: type("Text", (str,), {})("fmr"),
    "hostile text": lambda: hostile("__eq__", "__hash__", "__str__", "__repr__", base=str)("fmr"),
    **as_written(
        Path("x"), Path(), Path("a\0b"), Path("no/such/folder/x.csv"), Path("/dev/null/x.json")
    ),
    "folder": lambda: Path.cwd(),
    # Lists and the like
    **as_written(
        [],
        (),
        {},
        set(),
        [None],
        [[]],
        [float("nan")],
        [float("inf"), 0.5],
        [[1], [2, 3]],
        [[[1], 2], 3],
    ),
    **as_written(
        [1, "a"],
        [0.1, 0.2, 0.3],
        [0, 1],
        [2],
        [-1, 0.5],
        ["a", "b"],
        ["fmr"],
        [True, False],
        [b"a", b"b"],
    ),
    **as_written(
        [{"a": 1}, {}], [{1}, {2}], [["a"], ["b"]], ["\ud800", "a"], [1j, 2], [pd.NA, "a"]
    ),
    **as_written(
        [decimal.Decimal("0.5")] * 2,
        [fractions.Fraction(1, 2)] * 2,
        [datetime.date(2024, 1, 1)] * 2,
    ),
    **as_written({"a": [1, 2]}, {1: ["a", "b"]}, {"": ["a", "b"]}, {"a": 5}, {"a": {"b": [1]}}),
    "[10**400, 0]": lambda: [10**400, 0],
    "[lambda]": lambda: [lambda: 1, len],
    "[type]": lambda: [int, str],
    "[huge text]": lambda: ["x" * 100_000, "y"],
    "[hostile]": lambda: [
        hostile("__eq__", "__hash__", "__lt__", "__repr__", "__float__")() for _ in range(2)
    ],
    "recursive": _recursive,
    "deep": lambda: _nested(50),
    "very deep": lambda: _nested(5000),
    "set": lambda: {"a", "b"},
    "frozenset": lambda: frozenset("ab"),
    "generator": lambda: (k for k in range(3)),
    "iterator": lambda: iter([1, 2]),
    "map": lambda: map(str, [1]),
    "range": lambda: range(5),
    "huge range": lambda: range(10**12),
    "zip": lambda: zip([1], [2], strict=True),
    "dict keys": lambda: {"a": 1}.keys(),
    # Functions, types and objects
    "lambda": lambda: lambda: 1,
    "function": lambda: len,
    "bad listener": lambda: hostile("__call__")(),
    "type": lambda: int,
    "class": lambda: ff.Comparisons,
    "module": lambda: sys,
    "object": object,
    "exception": lambda: ValueError("x"),
    "slice": lambda: slice(0, 2),
    "huge slice": lambda: slice(10**400),
    "text slice": lambda: slice("a"),
    "date": lambda: datetime.date(2024, 1, 1),
    "timedelta": lambda: datetime.timedelta(1),
    "uuid": lambda: uuid.UUID(int=1),
    "StringIO": lambda: io.StringIO("a,b"),
    "BytesIO": lambda: io.BytesIO(b"a"),
    "lock": threading.Lock,
    "dtype": lambda: np.dtype("f8"),
    "array.array": lambda: __import__("array").array("d", [0.5, 0.1]),
    # Objects that raise or lie
    "raises at everything": lambda: hostile(
        *("__repr__", "__eq__", "__hash__", "__len__", "__bool__", "__array__"),
        *("__iter__", "__getitem__", "__float__", "__index__", "__str__", "__fspath__"),
    )(),
    "raises at repr": lambda: hostile("__repr__", "__str__")(),
    "raises at eq": lambda: hostile("__eq__", "__hash__")(),
    "raises at bool": lambda: hostile("__bool__")(),
    "raises at len": lambda: hostile("__len__", "__getitem__")(),
    "raises at array": lambda: hostile("__array__")(),
    "lies of array": lambda: hostile("__array__", value=5)(),
    "lies of len": lambda: hostile("__len__", "__getitem__", value=10**9)(),
    "negative len": lambda: hostile("__len__", "__getitem__", value=-1)(),
    "endless": _Endless,
    "lies of class": _Pretender,
    "raises at class": _Raising,
    "hostile float": lambda: hostile("__float__", "__add__", "__lt__", "__repr__", base=float)(0.5),
    "hostile int": lambda: hostile(
        "__index__", "__int__", "__lt__", "__ge__", "__repr__", base=int
    )(3),
    "lies of path": lambda: hostile("__fspath__", value=b"\xff")(),
    "number path": lambda: hostile("__fspath__", value=5)(),
    "repr of no text": lambda: hostile("__repr__", "__str__", value=5)(),
    "hostile list": lambda: hostile("__iter__", "__len__", "__getitem__", base=list)([1]),
    "hostile dict": lambda: hostile("__iter__", "items", "keys", "__getitem__", base=dict)(a=[1]),
    # Arrays
    "empty array": lambda: np.empty(0),
    "empty rows": lambda: np.empty((0, 3)),
    "2-d": lambda: np.ones((2, 2)),
    "3-d": lambda: np.ones((2, 2, 2)),
    **as_written(
        np.array([1, 2]), np.array([0.1, 0.9]), np.array([True, False]), np.array([0.1, 0.9], "f2")
    ),
    **as_written(
        np.array([0.1, 0.9], np.longdouble), np.array([0.1, 0.9], ">f8"), np.array([1, 2], ">i4")
    ),
    **as_written(np.array([2**64 - 1, 0], "u8"), np.array([1j, 2])),
    "object array": lambda: np.array([None, {}], object),
    **as_written(
        np.array(["a", "b"]), np.array([b"a", b"b"]), np.array(["2024-01-01", "NaT"], "M8[D]")
    ),
    **as_written(np.array([1, 2], "m8[s]"), np.array([np.nan, 0.5]), np.array([np.inf, -np.inf])),
    **as_written(np.array([1.7e308, -1.7e308]), np.array([10**30, 1], object)),
    "structured": _structured,
    "void array": lambda: np.zeros(2, "V4"),
    "masked": lambda: np.ma.array([0.1, 0.9], mask=[0, 1]),
    "all masked": lambda: np.ma.masked_all(2),
    "masked constant": lambda: np.ma.masked,
    "matrix": _matrix,
    "recarray": lambda: _structured().view(np.recarray),
    "0-stride": lambda: np.broadcast_to(0.5, 2),
    "reversed": lambda: np.array([0.1, 0.9])[::-1],
    "huge broadcast": lambda: np.broadcast_to(0.5, (10**6, 10**6)),
    "read-only": lambda: np.broadcast_to([0.1, 0.9], (2,)),
    "StringDType": lambda: np.array(["a", "b"], np.dtypes.StringDType()),
    # Frames and series
    "pandas frame": lambda: pd.DataFrame({"score": [0.1, 0.9], "mated": [True, False]}),
    "pandas columns": lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "pandas int columns": lambda: pd.DataFrame([[1, 2]]),
    "pandas series": lambda: pd.Series([0.1, 0.9]),
    "pandas text": lambda: pd.Series(["a", "b"]),
    "pandas NA": lambda: pd.NA,
    "pandas nullable": lambda: pd.Series([1, None], dtype="Int64"),
    "pandas categories": lambda: pd.Categorical(["a", "b"]),
    "pandas index": lambda: pd.Index([1, 2]),
    "multi-index": lambda: pd.MultiIndex.from_tuples([(1, 2), (3, 4)]),
    "pandas interval": lambda: pd.interval_range(0, 2),
    "Timestamp": lambda: pd.Timestamp("2024-01-01"),
    "polars frame": lambda: pl.DataFrame({"score": [0.1, 0.9], "mated": [True, False]}),
    "empty polars": lambda: pl.DataFrame(),
    "lazy": lambda: pl.LazyFrame({"score": [0.1]}),
    "polars series": lambda: pl.Series([0.1, 0.9]),
    "polars list": lambda: pl.Series([[1], [2, 3]]),
    "polars struct": lambda: pl.Series([{"a": 1}, {"a": 2}]),
    "polars Int128": lambda: pl.Series([1, 2], dtype=pl.Int128),
    "polars null": lambda: pl.Series([None, None]),
    "polars nested frame": lambda: pl.DataFrame(
        {"score": [[0.1], [0.2]], "mated": [{"a": 1}, {"a": 2}]}
    ),
    "polars expression": lambda: pl.col("a"),
    "pyarrow table": lambda: pa.table({"score": [0.1, 0.9], "mated": [True, False]}),
    "pyarrow duplicate": lambda: pa.table([[1], [2]], names=["a", "a"]),
    "pyarrow array": lambda: pa.array([0.1, None]),
    "pyarrow chunked": lambda: pa.chunked_array([[0.1], [0.9]]),
    "pyarrow scalar": lambda: pa.scalar(0.5),
    # Seeds, and the library's own
    "Generator": lambda: np.random.default_rng(0),
    "RandomState": lambda: np.random.RandomState(0),
    "SeedSequence": lambda: np.random.SeedSequence(5),
    "BitGenerator": lambda: np.random.PCG64(0),
    "random.Random": lambda: random.Random(0),
    "Comparisons": lambda: _C,
    "Embeddings": lambda: _E,
    "FailureCounts": lambda: _F,
    "OperatingPoint": lambda: ff.at_fmr(0.5),
    "points": lambda: [ff.at_threshold(0.5), ff.at_eer()],
    "mean group point": ff.at_mean_group_eer,
    "mixed points": lambda: [ff.at_fmr(0.1), 5],
    "OperatingPoint class": lambda: ff.OperatingPoint,
}


def alike(value: Any) -> dict[str, Any]:
    """Return what is as good as a valid value: the library may refuse it, or give the same with
    it."""
    made: dict[str, Any] = {}
    if isinstance(value, bool):
        made = {"np.bool_": np.bool_(value)}
    elif isinstance(value, int):
        made = {"np.int64": np.int64(value), "np.int32": np.int32(value), "0-d": np.array(value)}
    elif isinstance(value, float):
        made = {
            "np.float64": np.float64(value),
            "0-d": np.array(value),
            "Fraction": fractions.Fraction(value),
        }
    elif isinstance(value, str):
        made = {"np.str_": np.str_(value), "text subclass": type("Text", (str,), {})(value)}
    elif (
        isinstance(value, list)
        and value
        and all(isinstance(entry, int | float | str) for entry in value)
    ):
        plain = np.array(value)
        made = {
            "tuple": tuple(value),
            "array": plain,
            "object array": np.array(value, object),
            "strided": np.repeat(plain, 2)[::2],
            "pandas": pd.Series(value),
            "polars": pl.Series(value),
            "pyarrow": pa.array(value),
            "index": pd.Index(value),
            "categories": pd.Categorical(value),
        }
        if plain.dtype.kind in "if":
            made |= {
                "big-endian": plain.astype(plain.dtype.newbyteorder(">")),
                "unmasked": np.ma.array(plain),
            }
    return made

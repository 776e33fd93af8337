"""The numbers of any result, each with a place, to the last bit: what `numbers.txt` records."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
import numbers
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import fastfair as ff

CODES = (
    "flags",
    "verdict",
    "method",
    "kind",
    "relation",
    "different",
    "outside",
    "best",
    "worst",
)  # texts that judge
# Texts, settings that are told elsewhere, and what results are made of.
_PASSED = (
    "settings",
    "notes",
    "drawn",
    "left_out",
    "description",
    "uncertainty",
    "traces",
    "seed",
    "rng",
)
_MOST = 6  # numbers of an array that are shown
_DEEPEST = 6
_OF_VECTORS = (
    "vector",
    "embedding",
    "trials",
    "identities",
    "coverage_experiment",
)  # words of places


def leaves(value: Any, place: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the numbers, arrays and codes of a value with their places."""
    name = place.rpartition(".")[2].partition("[")[0]
    if value is None or depth > _DEEPEST or isinstance(value, Path) or callable(value):
        return
    if isinstance(value, bool | np.bool_ | numbers.Number | np.ndarray):
        yield place, value
    elif isinstance(value, str):
        if name in CODES:
            yield place, value
    elif isinstance(value, pl.DataFrame):
        for column in value:
            yield from leaves(
                column.to_numpy() if column.dtype.is_numeric() else column.to_list(),
                f"{place}.{column.name}",
            )
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from leaves(one, f"{place}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        if value and all(isinstance(one, bool | numbers.Number | None) for one in value):
            yield place, np.array([math.nan if one is None else one for one in value])
            return
        if value and name in CODES and all(isinstance(one, str) for one in value):
            yield place, ",".join(value)
            return
        for k, one in enumerate(value):
            yield from leaves(one, f"{place}[{_title(one) or k}]", depth + 1)
    elif isinstance(value, ff.Comparisons):
        for side in ("mated", "nonmated"):
            for column in ("keys", "reference", "probe"):
                yield from leaves(getattr(getattr(value, side), column), f"{place}.{side}.{column}")
    elif isinstance(value, ff.Embeddings):
        yield from leaves({"vectors": value.vectors, "subject": value.subject}, place, depth)
    elif type(value).__module__.startswith("fastfair") and not isinstance(
        value, ff.ScannedComparisons
    ):
        yield from _of_object(value, place, depth)


def _of_object(value: Any, place: str, depth: int) -> Iterator[tuple[str, Any]]:
    if dataclasses.is_dataclass(value) and (row := _row_of(value)):
        yield place, row
        return
    if dataclasses.is_dataclass(value):
        found = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    else:
        found = dict(getattr(value, "__dict__", {}))
    for name, one in sorted(found.items()):
        # What is computed when it is first asked for may be there or not.
        is_later = isinstance(getattr(type(value), name, None), functools.cached_property)
        if not (name.startswith("_") or name in _PASSED or is_later):
            yield from leaves(one, f"{place}.{name}", depth + 1)


def _row_of(value: Any) -> dict[str, Any]:
    """Return the numbers and codes of a row, which has nothing else but texts; {} for what is no
    row."""
    found = {}
    for field in dataclasses.fields(value):
        if field.name == "notes":
            continue
        one = getattr(value, field.name)
        if isinstance(one, tuple) and all(isinstance(part, str) for part in one):
            one = ",".join(one)
        if isinstance(one, np.ndarray | list | tuple | Mapping) or dataclasses.is_dataclass(one):
            if not isinstance(one, ff.OperatingPoint):
                return {}
        elif isinstance(one, bool | np.bool_ | numbers.Number) or field.name in CODES:
            found[field.name] = one
    if type(value).__name__ in ("Quantity", "IdentifiedRate", "CheckedQuantity"):
        found["flags"] = value.flags
    return found


def _title(row: Any) -> str:
    """Return what tells a row from others: its name, group and operating point."""
    said = (
        getattr(row, name, None)
        for name in ("name", "rate", "requirement", "first", "second", "group", "at")
    )
    return " ".join(str(one) for one in said if isinstance(one, str | ff.OperatingPoint))


def digest(content: str | bytes) -> str:
    """Return what tells a text, or bytes, from all others."""
    return hashlib.blake2b(
        content.encode() if isinstance(content, str) else content, digest_size=8
    ).hexdigest()


def written(value: Any) -> str:
    """Write a number exactly, or what tells an array from all others beside a few digits of it."""
    if isinstance(value, dict):
        exactly = digest(repr(list(map(written, value.values()))))
        floats = [float(one) for one in value.values() if isinstance(one, float | np.floating)]
        first = [repr(one) for one in floats[:1]] + [f"{one:.9g}" for one in floats[1:4]]
        return " ".join(
            (exactly, *first, *(str(one) for one in value.values() if isinstance(one, str) and one))
        )
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OUS":
            return f"{'x'.join(map(str, value.shape))} texts {digest(repr(value.ravel().tolist()))}"
        array = np.ascontiguousarray(value)
        finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        total = float(finite.astype(np.float64).sum())
        few = " ".join(f"{one:.6g}" for one in array.ravel()[:_MOST].astype(np.float64).tolist())
        return (
            f"{'x'.join(map(str, array.shape))} {array.dtype} {digest(array.tobytes())} sum"
            f" {total!r}: {few}"
        )
    if isinstance(value, bool | np.bool_ | str):
        return str(value)
    return repr(float(value)) if isinstance(value, float | np.floating) else str(value)


def moved(old: str, new: str) -> str:
    """Say by how much a record has moved."""
    try:
        first, second = float(old), float(new)
        return f"{old} -> {new}, by {second - first:.3g}"
    except ValueError:
        return f"{old} -> {new}"


def close(old: str, new: str, place: str = "") -> bool:
    """Whether two records are the same but for the last bits, as another processor may have them.

    Those of vectors rest on float32 similarities, and on means and lengths whose sums have another
    order there; others on logarithms and on matrix products in float64.
    """
    exact, few = zip(*(text.partition(":")[::2] for text in (old, new)), strict=True)
    of_vectors = any(word in place.lower() for word in _OF_VECTORS)
    return _near(*exact, 1e-5 if of_vectors else 1e-7) and _near(*few, 1e-4)


def _near(first: str, second: str, tolerance: float) -> bool:
    words = [
        [word for word in text.split() if not re.fullmatch("[0-9a-f]{16}", word)]
        for text in (first, second)
    ]
    return len(words[0]) == len(words[1]) and all(
        _alike(*pair, tolerance) for pair in zip(*words, strict=True)
    )


def _alike(first: str, second: str, tolerance: float) -> bool:
    try:
        return bool(
            np.isclose(float(first), float(second), rtol=tolerance, atol=1e-12, equal_nan=True)
        )
    except ValueError:
        return first == second

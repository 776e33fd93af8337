"""Split comparisons into mated and non-mated ones and sort each, with the subjects and groups that belong to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.distinct_entries import FEW, look_up
from fastfair._lib.radix_sort import sort_by_bits
from fastfair._lib.threads import both, count_threads, in_threads, slices

from . import score_keys
from .sorted_scores import Attributes, BothSides, LabelsOfSubjects, SortedSide

Sorted = tuple[score_keys.Keys, NDArray[Any] | None]  # the keys of one class, and the row of each
_ROW_BITS = 32  # of a row that is packed with a key


def sort_sides(
    values: NDArray[np.floating[Any]],
    flags: NDArray[np.bool_],
    score_kind: str,
    subjects: BothSides | None,
    samples: BothSides | None,
    attributes: Attributes,
    of_subject: Mapping[str, NDArray[np.uint16]],
    *,
    with_failed: bool = False,
) -> list[SortedSide]:
    """Split scores into mated and non-mated comparisons, each sorted once, with subjects and groups where given.

    Parameters
    ----------
    values : (n,) ndarray of float32 or float64
    flags : (n,) ndarray of bool
        Whether each comparison is mated; some are, and some are not.
    score_kind : str
    subjects, samples : tuple of ndarray, or None
        Labels, and for each comparison their positions for the reference and the probe.
    attributes : dict of tuple
        The same for each attribute that some subject has several labels of.
    of_subject : dict of (k,) ndarray
        The label of each subject, for all other attributes.
    with_failed : bool
        Whether a score may be the infinity of failed comparisons.

    Returns
    -------
    list of SortedSide
        The mated and the non-mated comparisons.
    """
    need_rows = bool(subjects or attributes)
    given = _narrowed(values) if need_rows else values
    bits = given.view(score_keys.integer_type(given.dtype))
    magnitude = score_keys.magnitude(bits)
    flip = bits.dtype.type(~magnitude) if score_kind == "distance" else bits.dtype.type(0)
    sort = _sort_alone
    if need_rows:
        sort = _sort_packed if bits.dtype == np.int32 and bits.size < 2**_ROW_BITS else _sort_wide
    highest = score_keys.encode(
        np.array([min(float(np.finfo(given.dtype).max), validation.LARGEST_SCORE)], given.dtype)
    )[0]
    sides = []
    for keys, rows in sort(bits, flip, magnitude, flags):
        scored = keys[score_keys.count_failed(keys) :] if with_failed else keys
        if scored.size and (scored[-1] > highest or scored[0] < ~highest):
            raise validation.not_usable(values)
        if given.dtype != values.dtype:
            keys = score_keys.encode(score_keys.decode(keys).astype(values.dtype))
        sides.append(_gather(keys, rows, subjects, samples, attributes, of_subject))
    return sides


def _narrowed(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Turn float64 scores that all are float32 values back into float32, which sort faster together with their rows."""
    some = values[:: max(1, values.size // 1000)]
    with np.errstate(over="ignore"):
        if values.dtype == np.float64 and np.array_equal(some.astype(np.float32), some):
            narrow = values.astype(np.float32)
            if np.array_equal(narrow, values):
                return narrow
    return values


def _take_keys(bits: Any, flip: Any, magnitude: Any, flags: NDArray[np.bool_]) -> tuple[score_keys.Keys, ...]:
    """Return the keys of the mated and of the non-mated comparisons."""
    from fastfair.kernels import sorting as kernels

    n_mated = int(np.count_nonzero(flags))

    def take(wanted: bool, size: int) -> score_keys.Keys:
        keys = np.empty(size + 1, bits.dtype)
        kernels.take_keys(bits, flip, magnitude, flags, wanted, keys)
        return keys[:size]

    return both(flags.size, lambda: take(True, n_mated), lambda: take(False, flags.size - n_mated))


def _sort_alone(bits: Any, flip: Any, magnitude: Any, flags: NDArray[np.bool_]) -> list[Sorted]:
    mated, nonmated = _take_keys(bits, flip, magnitude, flags)
    both(flags.size, mated.sort, nonmated.sort)
    return [(mated, None), (nonmated, None)]


def _sort_packed(bits: Any, flip: Any, magnitude: Any, flags: NDArray[np.bool_]) -> list[Sorted]:
    """Sort keys and rows packed into one integer; comparisons with equal scores keep their order."""
    from fastfair.kernels import sorting as kernels

    parts = slices(bits.size, count_threads(None))
    n_mated = [int(np.count_nonzero(flags[part])) for part in parts]
    n_nonmated = bits.size - sum(n_mated)
    packed = np.empty(bits.size, np.uint64)

    def pack(place: tuple[slice, int]) -> None:
        part, mated_before = place
        nonmated_at, mated_at = part.start - mated_before, n_nonmated + mated_before
        arguments = (bits[part], flip, magnitude, flags[part], part.start, nonmated_at, mated_at, packed)
        kernels.pack_with_rows(*arguments)

    in_threads(bits.size, pack, list(zip(parts, accumulate(n_mated, initial=0))))  # noqa: B905 - the total is left
    return [_unpack(*_sort_rows(packed[n_nonmated:])), _unpack(*_sort_rows(packed[:n_nonmated]))]


def _sort_rows(packed: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Sort packed integers, each row of which is above the one before, by key; return them, and free memory as large.

    Either way of sorting leaves equal keys in the order of rows.
    """
    spare = np.empty_like(packed)
    if packed.size <= FEW:
        packed.sort()
        return packed, spare
    in_order = sort_by_bits(packed.view(np.int64), spare.view(np.int64), _ROW_BITS, 64, count_threads(None))
    return (spare, packed) if np.shares_memory(in_order, spare) else (packed, spare)


def _unpack(packed: NDArray[np.uint64], free: NDArray[np.uint64]) -> Sorted:
    from fastfair.kernels import sorting as kernels

    keys, rows = free.view(np.int32)[: packed.size], free.view(np.uint32)[packed.size :]
    parts = slices(packed.size, count_threads(None))
    in_threads(packed.size, lambda part: kernels.unpack_rows(packed[part], keys[part], rows[part]), parts)
    return keys, rows


def _sort_wide(bits: Any, flip: Any, magnitude: Any, flags: NDArray[np.bool_]) -> list[Sorted]:
    """Sort keys that leave no room for a row; comparisons with equal scores keep their order."""
    kind = np.uint32 if flags.size < 2**_ROW_BITS else np.int64
    sides: list[Sorted] = []
    for keys, wanted in zip(_take_keys(bits, flip, magnitude, flags), (True, False), strict=True):
        order = order_of_keys(keys.astype(np.int64, copy=False))
        sides.append((keys[order], np.flatnonzero(flags == wanted).astype(kind)[order]))
    return sides


def order_of_keys(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of keys in ascending order, those of equal keys in their own order."""
    if keys.size <= FEW or keys.size >= 2**_ROW_BITS:
        return np.argsort(keys, kind="stable")
    lower = 2**_ROW_BITS - 1
    # By the lower half of the key, and then by the upper half, whose sign is flipped, as the sort looks at bits.
    packed = keys << _ROW_BITS
    packed |= np.arange(keys.size)
    found = sort_by_bits(packed, np.empty_like(packed), _ROW_BITS, 64, count_threads(None))
    found &= lower
    packed = keys[found]
    packed >>= _ROW_BITS
    packed ^= -(2 ** (_ROW_BITS - 1))
    packed <<= _ROW_BITS
    packed |= found
    found = sort_by_bits(packed, found, _ROW_BITS, 64, count_threads(None))
    found &= lower
    return found


def _gather(
    keys: score_keys.Keys,
    rows: NDArray[Any] | None,
    subjects: BothSides | None,
    samples: BothSides | None,
    attributes: Attributes,
    of_subject: Mapping[str, NDArray[np.uint16]],
) -> SortedSide:
    if rows is None:
        return SortedSide(keys, None, None, None, {}, {})
    labels: tuple[dict[str, NDArray[np.uint16]], ...] = ({}, {})
    for name, (_, of_reference, of_probe) in attributes.items():
        labels[0][name] = look_up(rows, of_reference)
        labels[1][name] = labels[0][name] if of_probe is of_reference else look_up(rows, of_probe)
    if subjects is None:
        return SortedSide(keys, rows, None, None, labels[0], labels[1])
    reference, probe = (look_up(rows, codes, dtype=np.int32) for codes in subjects[1:])
    side = SortedSide(
        keys,
        rows,
        reference,
        probe,
        LabelsOfSubjects(labels[0], of_subject, reference),
        LabelsOfSubjects(labels[1], of_subject, probe),
    )
    if samples is None:
        return side
    reference, probe = (look_up(rows, codes, dtype=np.int32) for codes in samples[1:])
    return replace(side, reference_sample=reference, probe_sample=probe)

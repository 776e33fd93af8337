"""The mated or the non-mated comparisons, sorted by score, with their groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.threads import both

from . import score_keys

_Array = TypeVar("_Array", bound=NDArray[Any])
BothSides = tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32]]
Attributes = dict[str, tuple[tuple[str, ...], NDArray[np.uint16], NDArray[np.uint16]]]


@dataclass(frozen=True, eq=False)
class SortedSide:
    """The mated, or the non-mated, comparisons in ascending order of similarity.

    Attributes
    ----------
    keys : (n,) int32 or int64
        The scores as integers that sort alike; distances are negated first.
    rows : (n,) uint32 or int64, or None
        The row of each comparison in the caller's order; None where comparisons have neither subjects nor groups.
    reference, probe : (n,) int32, or None
        Subjects, as positions in `Comparisons.subjects`.
    reference_attributes, probe_attributes : dict of (n,) uint16
        Labels of each attribute, as positions in `Comparisons.attributes`.
    reference_sample, probe_sample : (n,) int32, or None
        Samples, as positions in `Comparisons.samples`.
    """

    keys: score_keys.Keys
    rows: NDArray[Any] | None
    reference: NDArray[np.int32] | None
    probe: NDArray[np.int32] | None
    reference_attributes: Mapping[str, NDArray[np.uint16]]
    probe_attributes: Mapping[str, NDArray[np.uint16]]
    reference_sample: NDArray[np.int32] | None = None
    probe_sample: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return self.keys.size

    def __post_init__(self) -> None:
        for array in (self.keys, self.rows, self.reference, self.probe, self.reference_sample, self.probe_sample):
            if array is not None:
                read_only(array)
        for codes in (*self.reference_attributes.values(), *self.probe_attributes.values()):
            read_only(codes)

    @cached_property
    def similarities(self) -> NDArray[np.floating[Any]]:
        """(n,) ascending scores as similarities: distances are negated."""
        return read_only(score_keys.decode(self.keys))

    def take(self, positions: NDArray[np.intp]) -> SortedSide:
        """Keep some of the comparisons; positions ascend, so they stay sorted."""

        def kept(array: Any) -> Any:
            return None if array is None else array[positions]

        return SortedSide(
            kept(self.keys),
            kept(self.rows),
            kept(self.reference),
            kept(self.probe),
            {name: kept(codes) for name, codes in self.reference_attributes.items()},
            {name: kept(codes) for name, codes in self.probe_attributes.items()},
            kept(self.reference_sample),
            kept(self.probe_sample),
        )

    def count_subjects(self, n_subjects: int) -> int | None:
        """Count the distinct subjects among references and probes; None where subjects are not known."""
        from fastfair.kernels import groups as kernels

        if self.reference is None:
            return None
        return int(kernels.count_subjects(self.reference, self.probe, n_subjects))


@dataclass(frozen=True, eq=False)
class GroupedSide:
    """The mated, or the non-mated, comparisons with the group of each reference and probe.

    Attributes
    ----------
    side : SortedSide
        The comparisons.
    reference_group, probe_group : (n,) uint16
        The group of each reference and probe, as a position in the list of groups.
    n_groups, n_subjects : int
        Number of groups and subjects; 0 subjects where they are not known.
    """

    side: SortedSide
    reference_group: NDArray[np.uint16]
    probe_group: NDArray[np.uint16]
    n_groups: int
    n_subjects: int

    def count(self, start: int, stop: int) -> NDArray[np.int64]:
        """Count the comparisons from `start` up to `stop` by group of reference (rows) and of probe (columns)."""
        from fastfair.kernels import groups as kernels

        counts = np.zeros((self.n_groups, self.n_groups), np.int64)
        kernels.count_cells(self.reference_group, self.probe_group, start, stop, counts)
        return counts

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """(groups, groups) number of comparisons by group of reference and of probe."""
        return read_only(self.count(0, len(self.side)))

    @cached_property
    def within(self) -> list[score_keys.Keys]:
        """For each group the sorted keys of the comparisons whose reference and probe are both in it."""
        from fastfair.kernels import groups as kernels

        sizes = np.diagonal(self.cells)
        end = np.cumsum(sizes) - sizes
        starts = end[1:].copy()
        out = np.empty(int(sizes.sum()), self.side.keys.dtype)
        kernels.split_within_groups(self.side.keys, self.reference_group, self.probe_group, end, out)
        return np.split(out, starts)

    @cached_property
    def subjects(self) -> NDArray[np.int64] | None:
        """(groups, groups) number of distinct subjects in these comparisons; None where subjects are not known."""
        from fastfair.kernels import groups as kernels

        if self.side.reference is None:
            return None
        groups = (self.reference_group, self.probe_group)
        counts: NDArray[np.int64] = kernels.count_subjects_per_cell(
            self.side.reference, self.side.probe, *groups, self.n_subjects, self.cells
        )
        return read_only(counts)


def read_only(array: _Array) -> _Array:
    """Make an array read-only, as results share it."""
    array.setflags(write=False)
    return array


def only_used(
    size: int, names: tuple[str, str], sides: list[SortedSide]
) -> tuple[NDArray[np.bool_], NDArray[np.int32], list[SortedSide]]:
    """Find which labels two columns still use; return them as a mask, their new positions, and the sides with these."""
    used = np.zeros(size, np.bool_)
    for side in sides:
        for name in names:
            used[getattr(side, name)] = True
    position = (np.cumsum(used) - 1).astype(np.int32)
    return used, position, [replace(s, **{name: position[getattr(s, name)] for name in names}) for s in sides]


def sort_sides(
    values: NDArray[np.floating[Any]],
    flags: NDArray[np.bool_],
    n_mated: int,
    score_kind: str,
    subjects: BothSides | None,
    samples: BothSides | None,
    attributes: Attributes,
) -> list[SortedSide]:
    """Split scores into mated and non-mated comparisons, each sorted once, with subjects and groups where given."""
    need_rows = subjects is not None or bool(attributes)
    sort = _sort_with_rows if need_rows else _sort_alone
    given = _narrowed(values) if need_rows else values
    bits = given.view(score_keys.integer_type(given.dtype))
    magnitude = score_keys.magnitude(bits)
    flip = bits.dtype.type(~magnitude) if score_kind == "distance" else bits.dtype.type(0)
    arguments = (bits, flip, magnitude, flags)
    nonmated, mated = both(
        flags.size, lambda: sort(*arguments, False, flags.size - n_mated), lambda: sort(*arguments, True, n_mated)
    )
    highest = score_keys.encode(
        np.array([min(float(np.finfo(given.dtype).max), validation.LARGEST_SCORE)], given.dtype)
    )[0]
    sides = []
    for keys, rows in (mated, nonmated):
        if keys[-1] > highest or keys[0] < ~highest:
            raise validation.not_usable(values)
        if given.dtype != values.dtype:
            keys = score_keys.encode(score_keys.decode(keys).astype(values.dtype))
        sides.append(_gather(keys, rows, subjects, samples, attributes))
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


def _sort_alone(
    bits: Any, flip: Any, magnitude: Any, flags: Any, wanted: bool, size: int
) -> tuple[score_keys.Keys, None]:
    from fastfair.kernels import sorting as kernels

    keys = np.empty(size + 1, bits.dtype)
    kernels.take_keys(bits, flip, magnitude, flags, wanted, keys)
    keys = keys[:size]
    keys.sort()
    return keys, None


def _sort_with_rows(
    bits: Any, flip: Any, magnitude: Any, flags: Any, wanted: bool, size: int
) -> tuple[score_keys.Keys, NDArray[Any]]:
    from fastfair.kernels import sorting as kernels

    if bits.dtype == np.int32 and bits.size < 2**32:
        packed = np.empty(size + 1, np.uint64)
        kernels.take_keys_with_rows(bits, flip, magnitude, flags, wanted, packed)
        packed = packed[:size]
        packed.sort()
        keys, rows = np.empty(size, bits.dtype), np.empty(size, np.uint32)
        kernels.unpack_rows(packed, keys, rows)
        return keys, rows
    keys = np.empty(size + 1, bits.dtype)
    kernels.take_keys(bits, flip, magnitude, flags, wanted, keys)
    order = np.argsort(keys[:size])  # how ties lie does not matter: every count is taken at the end of a tie
    return keys[order], np.flatnonzero(flags == wanted)[order]


def _gather(
    keys: score_keys.Keys,
    rows: NDArray[Any] | None,
    subjects: BothSides | None,
    samples: BothSides | None,
    attributes: Attributes,
) -> SortedSide:
    if rows is None:
        return SortedSide(keys, None, None, None, {}, {})
    positions = rows.astype(np.intp)  # once, as every take would convert them anew
    references, probes = {}, {}
    for name, (_, reference, probe) in attributes.items():
        references[name] = reference.take(positions)
        probes[name] = references[name] if probe is reference else probe.take(positions)
    side = SortedSide(keys, rows, None, None, references, probes)
    if subjects is not None:
        side = replace(side, reference=subjects[1].take(positions), probe=subjects[2].take(positions))
    if samples is not None:
        side = replace(side, reference_sample=samples[1].take(positions), probe_sample=samples[2].take(positions))
    return side

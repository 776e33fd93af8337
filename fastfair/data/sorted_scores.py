"""The mated and the non-mated comparisons, sorted once by score, with subjects and groups, and
those that failed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.arrays import AnyArray, AnyFloats, Codes, Flags, Groups, Indices, Integers
from fastfair._lib.label_codes import FEW, in_use, look_up, mark
from fastfair._lib.threads import count_threads, in_threads, slices
from fastfair.errors import InputError

from . import checks, sample_names, score_keys
from .exclusions import Exclusion, leave_out

_Array = TypeVar("_Array", bound=AnyArray)
BothSides = tuple[AnyArray, AnyArray, AnyArray]
Labels = Mapping[str, Groups]
_MOST_MARKS = 2**27  # subjects of cells that are marked at a time
_ROWS = 2**20  # comparisons at a time
_IN_CACHE = 2**16  # comparisons at a time whose columns stay in a processor's cache
RATES_OF_CLASSES = ("fnmr", "fmr")  # of mated and of non-mated comparisons
# Columns of references and of probes, by what `Comparisons` calls their labels.
BOTH_COLUMNS = {
    "subjects": ("reference", "probe"),
    "samples": ("reference_sample", "probe_sample"),
    "sessions": ("reference_session", "probe_session"),
}
_COLUMNS = ("keys", "rows", *chain.from_iterable(BOTH_COLUMNS.values()))
Attributes = dict[str, tuple[AnyArray, Groups, Groups]]


@dataclass(frozen=True, eq=False)
class NotKept:
    """The comparisons of a class that a scan counts without keeping them.

    Attributes
    ----------
    n : int
        Their number.
    limit : int
        Their keys are at least this one where they are mated, and below it where they are
        non-mated.
    """

    n: int
    limit: int


def pair_codes(first: AnyArray, second: AnyArray, n: int) -> Integers:
    """Return one number for each pair of two of n subjects, in either order."""
    first, second = first.astype(np.int64), second.astype(np.int64)
    return np.minimum(first, second) * n + np.maximum(first, second)


@dataclass(frozen=True, eq=False)
class SortedSide:
    """The mated, or the non-mated, comparisons in ascending order of similarity.

    Attributes
    ----------
    keys : (n,) int32 or int64
        The scores as integers that sort alike; distances are negated first.
    rows : (n,) uint32 or int64, or None
        The row of each comparison in the caller's order; None where comparisons have neither
        subjects, nor groups, nor sessions.
    reference, probe : (n,) int32, or None
        Subjects, as positions in `Comparisons.subjects`.
    labels : tuple of two dict of str to (n,) uint16
        The labels of references and of probes under each attribute of which some subject has
        several labels, as positions in `Comparisons.attributes`.
    of_subject : mapping of str to (k,) uint16
        The label of each subject under all other attributes.
    reference_sample, probe_sample : (n,) int32, or None
        Samples, as positions in `Comparisons.samples`.
    reference_session, probe_session : (n,) int32, or None
        Sessions, as positions in `Comparisons.sessions`.
    not_kept : NotKept, optional
        Further comparisons of a scan, which are in none of these arrays.
    """

    keys: score_keys.Keys
    rows: AnyArray | None = None
    reference: Codes | None = None
    probe: Codes | None = None
    labels: tuple[Labels, Labels] = field(default_factory=lambda: ({}, {}))
    of_subject: Labels = field(default_factory=dict)
    reference_sample: Codes | None = None
    probe_sample: Codes | None = None
    reference_session: Codes | None = None
    probe_session: Codes | None = None
    not_kept: NotKept | None = None

    def __len__(self) -> int:
        """Return the number of comparisons, with those that are not kept."""
        return self.keys.size + (0 if self.not_kept is None else self.not_kept.n)

    def __post_init__(self) -> None:
        for array in (
            *(getattr(self, name) for name in _COLUMNS),
            *self.labels[0].values(),
            *self.labels[1].values(),
        ):
            if array is not None:
                read_only(array)

    def attribute(self, name: str) -> tuple[Groups, Groups]:
        """Return the labels of references and of probes under an attribute, as positions in those
        of `Comparisons`.
        """
        if name not in self.of_subject:
            return self.labels[0][name], self.labels[1][name]
        of_reference, of_probe = (
            look_up(codes, self.of_subject[name]) for codes in self.compared()
        )
        return read_only(of_reference), read_only(of_probe)

    @cached_property
    def similarities(self) -> AnyFloats:
        """(n,) ascending scores as similarities: distances are negated."""
        return read_only(score_keys.decode(self.keys))

    def compared(self, rows: Any = slice(None)) -> tuple[Codes, Codes]:
        """Return the subjects of the references and of the probes, which must be known, of some of
        the comparisons.
        """
        assert self.reference is not None
        assert self.probe is not None
        return self.reference[rows], self.probe[rows]

    def of_subjects(self, rows: Any = slice(None)) -> Integers:
        """Count the comparisons of each subject, of all or of some; one of a subject with himself
        counts once.
        """
        reference, probe = self.compared(rows)
        n = 1 + int(max(reference.max(initial=-1), probe.max(initial=-1)))
        return np.bincount(reference, minlength=n) + np.bincount(
            probe[reference != probe], minlength=n
        )

    def of_two(self, first: AnyArray, second: AnyArray) -> Integers:
        """Count the comparisons of two subjects with each other, of whom there are some."""
        n, pairs, counts = self._pairs_of_subjects
        return counts[np.searchsorted(pairs, pair_codes(first, second, n))]

    @property
    def sum_of_squares(self) -> int:
        """The squared numbers of comparisons of two subjects with each other, summed over all
        pairs.
        """
        counts = self._pairs_of_subjects[2]
        return int(counts @ counts)

    @cached_property
    def _pairs_of_subjects(self) -> tuple[int, Integers, Integers]:
        """What codes are made with, the pairs of subjects as ascending codes, and how often each
        occurs.
        """
        reference, probe = self.compared()
        n = 1 + int(max(reference.max(initial=-1), probe.max(initial=-1)))
        return n, *np.unique(pair_codes(reference, probe, n), return_counts=True)

    def take(self, positions: Indices, keys: score_keys.Keys | None = None) -> SortedSide:
        """Keep some of the comparisons, or all in another order, with their keys or with others,
        which ascend.
        """
        kept = self.joined([self], lambda columns: columns[0][positions])
        return kept if keys is None else replace(kept, keys=keys)

    @staticmethod
    def joined(
        sides: Sequence[SortedSide], join: Callable[[list[Any]], Any] = np.concatenate
    ) -> SortedSide:
        """Put comparisons one behind the other, or join their columns in another way."""
        first = sides[0]
        columns = {
            name: join([getattr(side, name) for side in sides])
            for name in _COLUMNS
            if getattr(first, name) is not None
        }
        of_reference, of_probe = (
            {name: join([side.labels[k][name] for side in sides]) for name in first.labels[k]}
            for k in (0, 1)
        )
        return replace(first, **columns, labels=(of_reference, of_probe), not_kept=None)

    def count_subjects(self, n_subjects: int) -> int | None:
        """Count the distinct subjects among references and probes; None where subjects are not
        known.
        """
        if self.reference is None or self.probe is None:
            return None
        seen = np.zeros(n_subjects, np.bool_)
        mark(self.reference, seen)
        mark(self.probe, seen)
        return int(np.count_nonzero(seen))


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
    counted : tuple of two (groups, groups) ndarray of int64, optional
        What `cells` and `subjects` are where not all comparisons are kept.
    """

    side: SortedSide
    reference_group: Groups
    probe_group: Groups
    n_groups: int
    n_subjects: int
    counted: tuple[Integers, Integers] | None = None

    def inside(self, group: int) -> Flags:
        """Tell which comparisons are of two people, or of one, in a group."""
        return (self.reference_group == group) & (self.probe_group == group)

    def count(self, start: int, stop: int) -> Integers:
        """Count the comparisons from `start` up to `stop` by group of reference (rows) and of probe
        (columns).
        """
        from fastfair.kernels import groups as kernels

        counts = np.zeros((self.n_groups, self.n_groups), np.int64)
        kernels.count_cells(self.reference_group, self.probe_group, start, stop, counts)
        return counts

    @cached_property
    def cells(self) -> Integers:
        """(groups, groups) number of comparisons by group of reference and of probe."""
        return read_only(self.count(0, len(self.side))) if self.counted is None else self.counted[0]

    @cached_property
    def within(self) -> list[score_keys.Keys]:
        """For each group the sorted keys of the kept comparisons whose reference and probe are both
        in it.
        """
        from fastfair.kernels import groups as kernels

        sizes = np.diagonal(
            self.cells if self.counted is None else self.count(0, self.side.keys.size)
        )
        end = np.cumsum(sizes) - sizes
        starts = end[1:].copy()
        out = np.empty(int(sizes.sum()), self.side.keys.dtype)
        kernels.split_within_groups(
            self.side.keys, self.reference_group, self.probe_group, end, out
        )
        # as all keys are, so that kernels are compiled for one kind
        return np.split(read_only(out), starts)

    @cached_property
    def subjects(self) -> Integers | None:
        """(groups, groups) number of distinct subjects in these comparisons; None where subjects
        are not known.
        """
        if self.side.reference is None or self.counted is not None:
            return None if self.counted is None else self.counted[1]
        used = np.flatnonzero(self.cells)
        counts = np.zeros(self.cells.size, np.int64)
        at_once = max(1, _MOST_MARKS // max(1, self.n_subjects))
        for first in range(0, used.size, at_once):
            cells = used[first : first + at_once]
            seen = np.zeros((cells.size, self.n_subjects), np.bool_)
            begins = np.full(counts.size, -1, np.int64)  # where the marks of a cell begin
            begins[cells] = np.arange(cells.size) * self.n_subjects
            for start in range(0, self.reference_group.size, _ROWS):
                rows = slice(start, start + _ROWS)
                begin = begins[
                    self.reference_group[rows].astype(np.intp) * self.n_groups
                    + self.probe_group[rows]
                ]
                kept = slice(None) if cells.size == used.size else begin >= 0
                for subject in self.side.compared(rows):
                    mark((begin + subject)[kept], seen.reshape(-1))
            counts[cells] = np.count_nonzero(seen, axis=1)
        return read_only(counts.reshape(self.cells.shape))


def read_only(array: _Array) -> _Array:
    """Make an array read-only, as results share it."""
    array.setflags(write=False)
    return array


def only_used(
    size: int, names: tuple[str, str], sides: list[SortedSide]
) -> tuple[Flags, Codes, list[SortedSide]]:
    """Find which labels two columns still use; return them as a mask, their new positions, and the
    sides with these.
    """
    used, of_used = in_use(size, *(getattr(side, name) for side in sides for name in names))
    position = of_used.astype(np.int32)
    return (
        used,
        position,
        [replace(s, **{name: position[getattr(s, name)] for name in names}) for s in sides],
    )


Sorted = tuple[score_keys.Keys, AnyArray | None]  # the keys of one class, and the row of each
_ROW_BITS = 32  # of a row that is packed with a key


@dataclass
class CheckedColumns:
    """Comparisons in the caller's order.

    Attributes
    ----------
    values : (n,) ndarray of float16, float32 or float64
        Scores, which may not be finite; those of failed comparisons are the infinity that no
        threshold accepts.
    flags : (n,) ndarray of bool
        Whether each comparison is mated.
    subjects, samples, sessions : tuple of ndarray, or None
        Labels, and for each comparison their positions for the reference and the probe.
    attributes : dict of tuple
        The same for each attribute.
    score_kind : str
        As in `Comparisons`.
    left_out : tuple of Exclusion
        What was left out, and why.
    keep : (rows,) ndarray of bool
        Which of the rows that were given are among them.
    failed : (n,) ndarray of bool, or None
        Which comparisons failed; None where failures are refused.
    is_of_one_class : bool
        Whether it was said of all that were given that they are mated, or that none is.
    """

    values: AnyFloats
    flags: Flags
    subjects: BothSides | None
    samples: BothSides | None
    attributes: Attributes
    score_kind: str
    left_out: tuple[Exclusion, ...]
    keep: Flags
    failed: Flags | None = None
    is_of_one_class: bool = False
    sessions: BothSides | None = None

    def missing_rate(self) -> dict[str, str]:
        """Return the rate that comparisons of one class lack, and why; empty where there are both.

        Raises
        ------
        InputError
            Where no comparison has a score.
        """
        flags = self.flags if self.failed is None else self.flags[~self.failed]
        which = "" if flags is self.flags else " that have a score"
        if not flags.size:
            raise InputError(f"there are no comparisons{which}")
        n_mated = int(np.count_nonzero(flags))
        if n_mated not in (0, flags.size):
            return {}
        missing = "mated" if n_mated == 0 else "non-mated"
        words = f"there are no {missing} comparisons among the {flags.size}{which}"
        return {RATES_OF_CLASSES[n_mated > 0]: words}

    def require_both_classes(self) -> None:
        """Raise an error where there are no mated, or no non-mated, comparisons."""
        for words in self.missing_rate().values():
            advice = self._advice_on_names()
            raise InputError(
                f"{words}; both classes are needed" + (f". {advice}" if advice else "")
            )

    def _advice_on_names(self) -> str:
        """Return how subjects are cut out of names, where all comparisons are mated or none is."""
        if self.subjects is None:
            return ""
        if self.samples is not None:
            return sample_names.advice_on_pattern(self.samples, self.subjects, None)
        return sample_names.advice_on_samples(
            self.subjects[0], sample_names.pairs_fit(self.subjects, None)
        )


def at_least_float32(values: AnyFloats) -> AnyFloats:
    """Return scores in a type that keys have."""
    return values.astype(np.float32) if values.dtype == np.float16 else values


def sort_sides(columns: CheckedColumns, of_subject: Labels) -> list[SortedSide]:
    """Split scores into mated and non-mated comparisons, each sorted once, with subjects and groups
    where given.

    Parameters
    ----------
    columns : CheckedColumns
        Some comparisons are mated, and some are not; with the attributes that some subject has
        several labels of.
    of_subject : dict of (k,) ndarray
        The label of each subject, for all other attributes.

    Returns
    -------
    list of SortedSide
        The mated and the non-mated comparisons.
    """
    values = at_least_float32(columns.values)
    flags = columns.flags
    need_rows = bool(columns.subjects or columns.attributes or columns.sessions)
    given = _narrowed(values) if need_rows else values
    bits = given.view(score_keys.integer_type(given.dtype))
    flip = ~score_keys.magnitude(bits) if columns.score_kind == "distance" else bits.dtype.type(0)
    sort = _sort_alone
    if need_rows:
        sort = _sort_packed if bits.dtype == np.int32 and bits.size < 2**_ROW_BITS else _sort_wide
    highest = score_keys.encode(
        np.array([min(float(np.finfo(given.dtype).max), validation.LARGEST)], given.dtype)
    )[0]
    sides = []
    for keys, rows in sort(bits, flip, flags):
        scored = keys[score_keys.count_failed(keys) :] if columns.failed is not None else keys
        if scored.size and (scored[-1] > highest or scored[0] < ~highest):
            raise checks.not_usable(values)
        if given.dtype != values.dtype:
            keys = score_keys.encode(score_keys.decode(keys).astype(values.dtype))
        sides.append(_gather(keys, rows, columns, of_subject))
    return sides


def _narrowed(values: AnyFloats) -> AnyFloats:
    """Turn float64 scores that all are float32 values back into float32, which sort faster together
    with their rows.
    """
    some = values[:: max(1, values.size // 1000)]
    with np.errstate(over="ignore"):
        if values.dtype == np.float64 and np.array_equal(some.astype(np.float32), some):
            narrow = values.astype(np.float32)
            if np.array_equal(narrow, values):
                return narrow
    return values


def _take_keys(bits: Any, flip: Any, flags: Flags) -> list[score_keys.Keys]:
    """Return the keys of the mated and of the non-mated comparisons."""
    n_mated = int(np.count_nonzero(flags))

    def take(wanted: bool) -> score_keys.Keys:
        keys = np.empty(n_mated if wanted else flags.size - n_mated, bits.dtype)
        stop = 0
        for first in range(0, flags.size, _IN_CACHE):
            some = slice(first, first + _IN_CACHE)
            # By positions, as a mask makes processors mispredict where classes alternate at random.
            chosen = bits[some][np.flatnonzero(flags[some] == wanted)]
            start, stop = stop, stop + chosen.size
            with np.errstate(invalid="ignore"):
                scores = (chosen ^ flip).view(score_keys.float_type(bits))
                keys[start:stop] = score_keys.encode(scores)
        return keys

    return in_threads(flags.size, take, (True, False))


def _sort_alone(bits: Any, flip: Any, flags: Flags) -> list[Sorted]:
    sides = _take_keys(bits, flip, flags)
    in_threads(flags.size, lambda keys: keys.sort(), sides)
    return [(keys, None) for keys in sides]


def _sort_packed(bits: Any, flip: Any, flags: Flags) -> list[Sorted]:
    """Sort keys and rows packed into one integer; comparisons with equal scores keep their
    order.
    """
    from fastfair.kernels import sorting as kernels

    parts = slices(bits.size, count_threads(None))
    n_mated = [int(np.count_nonzero(flags[part])) for part in parts]
    n_nonmated = bits.size - sum(n_mated)
    packed = np.empty(bits.size, np.uint64)

    def pack(task: tuple[slice, int]) -> None:
        part, mated_before = task
        nonmated_at = part.start - mated_before
        mated_at = n_nonmated + mated_before
        magnitude = score_keys.magnitude(bits)
        arguments = (
            bits[part],
            flip,
            magnitude,
            flags[part],
            part.start,
            nonmated_at,
            mated_at,
            packed,
        )
        kernels.pack_with_rows(*arguments)

    in_threads(bits.size, pack, list(zip(parts, accumulate(n_mated, initial=0))))  # noqa: B905 - the total is left
    return [_unpack(*_sort_rows(packed[n_nonmated:])), _unpack(*_sort_rows(packed[:n_nonmated]))]


def _sort_rows(packed: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Sort packed integers, each row of which is above the one before, by key; return them, and
    free memory as large.

    Either way of sorting leaves equal keys in the order of rows.
    """
    spare = np.empty_like(packed)
    if packed.size <= FEW:
        packed.sort()
        return packed, spare
    in_order = sort_by_bits(
        packed.view(np.int64), spare.view(np.int64), _ROW_BITS, 64, count_threads(None)
    )
    return (spare, packed) if np.shares_memory(in_order, spare) else (packed, spare)


def _unpack(packed: NDArray[np.uint64], free: NDArray[np.uint64]) -> Sorted:
    """Take keys and rows out of packed integers, into free memory as large."""
    keys = free.view(np.int32)[: packed.size]
    rows = free.view(np.uint32)[packed.size :]
    halves = packed.view(np.uint32).reshape(-1, 2).T
    low, high = halves if sys.byteorder == "little" else halves[::-1]

    def unpack(part: slice) -> None:
        rows[part] = low[part]
        np.bitwise_xor(high[part], np.uint32(2**31), out=keys[part].view(np.uint32))

    in_threads(packed.size, unpack, slices(packed.size, count_threads(None)))
    return keys, rows


def _sort_wide(bits: Any, flip: Any, flags: Flags) -> list[Sorted]:
    """Sort keys that leave no room for a row; comparisons with equal scores keep their order."""
    kind = np.uint32 if flags.size < 2**_ROW_BITS else np.int64
    sides: list[Sorted] = []
    for keys, wanted in zip(_take_keys(bits, flip, flags), (True, False), strict=True):
        order = order_of_keys(keys.astype(np.int64, copy=False))
        sides.append((keys[order], np.flatnonzero(flags == wanted).astype(kind)[order]))
    return sides


def order_of_keys(keys: Integers) -> Integers:
    """Return the positions of keys in ascending order, those of equal keys in their own order."""
    if keys.size <= FEW or keys.size >= 2**_ROW_BITS:
        return np.argsort(keys, kind="stable")
    lower = 2**_ROW_BITS - 1
    # By the lower half of the key, and then by the upper half, whose sign is flipped, as the sort
    # looks at bits.
    packed = keys << _ROW_BITS
    packed |= np.arange(keys.size)
    order = sort_by_bits(packed, np.empty_like(packed), _ROW_BITS, 64, count_threads(None))
    order &= lower
    packed = keys[order]
    packed >>= _ROW_BITS
    packed ^= -(2 ** (_ROW_BITS - 1))
    packed <<= _ROW_BITS
    packed |= order
    order = sort_by_bits(packed, order, _ROW_BITS, 64, count_threads(None))
    order &= lower
    return order


def _gather(
    keys: score_keys.Keys,
    rows: AnyArray | None,
    columns: CheckedColumns,
    of_subject: Mapping[str, Groups],
) -> SortedSide:
    if rows is None:
        return SortedSide(keys)
    labels: tuple[dict[str, Groups], ...] = ({}, {})
    for name, (_, of_reference, of_probe) in columns.attributes.items():
        labels[0][name] = look_up(rows, of_reference)
        labels[1][name] = labels[0][name] if of_probe is of_reference else look_up(rows, of_probe)
    of_sides: dict[str, Any] = {}
    for called, (reference, probe) in BOTH_COLUMNS.items():
        both: BothSides | None = getattr(columns, called)
        if both is not None:
            of_sides[reference] = of_sides[probe] = look_up(rows, both[1], dtype=np.int32)
            if both[1] is not both[2]:
                of_sides[probe] = look_up(rows, both[2], dtype=np.int32)
    return SortedSide(keys, rows, labels=(labels[0], labels[1]), of_subject=of_subject, **of_sides)


@dataclass(frozen=True, eq=False)
class FailedComparisons:
    """The comparisons that failed.

    Attributes
    ----------
    mated, nonmated : SortedSide
        Who was compared in them; all keys are that of no score.
    policy : {"exclude", "non-match"}
        Whether they are left out of `Comparisons.mated` and `Comparisons.nonmated`, or are among
        them.
    reported : bool
        Whether evaluations report how often comparisons failed.
    """

    mated: SortedSide
    nonmated: SortedSide
    policy: str
    reported: bool = True

    @property
    def sides(self) -> tuple[SortedSide, SortedSide]:
        """Those of mated and those of non-mated comparisons."""
        return self.mated, self.nonmated

    @property
    def n(self) -> int:
        """Their number."""
        return len(self.mated) + len(self.nonmated)

    def __str__(self) -> str:
        treated = "left out" if self.policy == "exclude" else "counted as non-matches"
        return f"{self.n} failed and {treated}"


def part_sides(sides: list[SortedSide], policy: str) -> tuple[list[SortedSide], FailedComparisons]:
    """Find the failed comparisons, which lie before all others, and take them out where they are to
    be left out.
    """
    numbers = [score_keys.count_failed(side.keys) for side in sides]
    failed = [side.take(np.arange(n)) for side, n in zip(sides, numbers, strict=True)]
    if policy == "exclude":
        is_mated = np.repeat([True, False], list(map(len, sides)))
        keep = [np.arange(len(side)) >= n for side, n in zip(sides, numbers, strict=True)]
        leave_out(
            np.concatenate(keep),
            "comparisons",
            "failed",
            "as they failed",
            'failures="exclude"',
            mated=is_mated,
        )
        sides = [side.take(np.arange(n, len(side))) for side, n in zip(sides, numbers, strict=True)]
    return sides, FailedComparisons(failed[0], failed[1], policy)


def require_scores(failed: FailedComparisons | None, what: str, instead: str) -> None:
    """Refuse what needs the score of every comparison where failed ones count as non-matches."""
    if failed is not None and failed.policy == "non-match" and failed.n:
        raise InputError(
            f"{what} needs the score of every comparison, but {failed.n} failed and count as"
            f" non-matches: {instead}"
        )


class NotKeptError(InputError):
    """Something needs comparisons that a scan has counted without keeping them."""


@dataclass(frozen=True, eq=False)
class ClassKeys:
    """Sorted keys, from which errors are counted at thresholds between two limits.

    Attributes
    ----------
    mated : (m,) ndarray of int
        The lowest keys of mated comparisons, ascending.
    nonmated : (n,) ndarray of int
        The highest keys of non-mated comparisons, ascending.
    sizes : tuple of int
        Numbers of mated and of non-mated comparisons, with those whose keys are not kept.
    limits : tuple of int, or None
        The lowest and the highest threshold up to which all errors are kept; None where all
        comparisons are.
    """

    mated: score_keys.Keys
    nonmated: score_keys.Keys
    sizes: tuple[int, int]
    limits: tuple[int, int] | None = None

    @property
    def lowest(self) -> int | None:
        """The key of the lowest score where failed comparisons lie below it, which no threshold
        accepts; else None.
        """
        classes = self.mated, self.nonmated
        n_failed = [score_keys.count_failed(keys) for keys in classes]
        if not any(n_failed):
            return None
        return min(int(keys[n]) for keys, n in zip(classes, n_failed, strict=True) if n < keys.size)

    @property
    def all_failed(self) -> bool:
        """Whether there are comparisons and each of them failed, so that no threshold is found from
        them.
        """
        n = sum(self.sizes)
        return n > 0 and sum(map(score_keys.count_failed, (self.mated, self.nonmated))) == n

    def require(self, what: str, *thresholds: Any) -> None:
        """Raise an error where errors at a threshold are not all kept.

        Parameters
        ----------
        what : str
            What the thresholds are for, in messages.
        *thresholds : int
            Threshold keys.
        """
        low, high = self.limits or (-math.inf, math.inf)
        if not all(low <= int(threshold) <= high for threshold in thresholds):
            raise not_kept(what, self)

    def require_all(self, what: str) -> None:
        """Raise an error where not all comparisons are kept."""
        if self.limits is not None:
            raise not_kept(what, self)


def not_kept(what: str, keys: ClassKeys) -> NotKeptError:
    """Return the error for something that needs comparisons that a scan has not kept."""
    (m, n) = keys.sizes
    kept = (keys.mated.size, keys.nonmated.size)
    return NotKeptError(
        f"{what} needs more scores than the scan has kept: those of the {kept[0]:,} lowest of {m:,}"
        f" mated and the {kept[1]:,} highest of {n:,} non-mated comparisons. Scan with a larger"
        " memory_limit, or vectors with a larger fmr, or leave it out"
    )


_Integers = Integers


def sort_by_bits(
    values: _Integers, spare: _Integers, low: int, high: int, n_threads: int = 1
) -> _Integers:
    """Sort by the bits from `low` to below `high`; integers with equal bits keep their order.

    Parameters
    ----------
    values, spare : (n,) ndarray
        The integers, which sort as if their bits had no sign, and an array of the same size; both
        are overwritten.
    low, high : int
        First bit, and the bit after the last.
    n_threads : int
        Number of threads.

    Returns
    -------
    (n,) ndarray
        The one of the two arrays that holds the result.
    """
    from fastfair.kernels import radix

    parts = slices(values.size, n_threads)
    counts = np.empty((len(parts), 1 << radix.DIGIT), np.int64)
    while low < high:
        some = [values[part] for part in parts]
        in_threads(
            values.size,
            lambda of: radix.count_digits(*of),
            [(of, low, counts[k]) for k, of in enumerate(some)],
        )
        # Where each part writes each digit: ordered by digit, then by part.
        position = (np.cumsum(counts.T) - counts.T.ravel()).reshape(counts.T.shape).T.copy()
        jobs = [(of, low, position[k], spare) for k, of in enumerate(some)]
        in_threads(values.size, lambda of: radix.scatter(*of), jobs)
        values, spare = spare, values
        low += radix.DIGIT
    return values

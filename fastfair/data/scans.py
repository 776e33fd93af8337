"""`ScannedComparisons`: comparisons collected part by part, of which scores near the errors and the
subjects stay.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.arrays import AnyArray, AnyFloats, Codes, Flags, Groups, Indices, Integers
from fastfair._lib.label_codes import encode_together, look_up, smallest_integers
from fastfair._lib.threads import count_threads, run_in_order
from fastfair.errors import InputError

from . import checks, group_labels, sample_names, score_keys
from .comparisons import Comparisons
from .exclusions import Exclusion, merge_exclusions
from .sorted_scores import (
    CheckedColumns,
    GroupedSide,
    NotKept,
    SortedSide,
    at_least_float32,
    order_of_keys,
    read_only,
)
from .temporary_files import ArrayFile, Folder
from .vector_pairs import NO_COSTS, subjects_by_group

_LACKS = {  # all scans
    "other units": "a scan draws subjects, and has no other units: leave unit out",
    "all scores": '⟦eer_method="convex-hull"⟧ needs all scores, which a scan does not keep',
    "closed forms": "a scan has no intervals without replicates: give ⟦n_resamples⟧ of at least 2",
}


class KeptComparisons(Comparisons):
    """The comparisons near the errors, with the numbers of all.

    Attributes
    ----------
    pairs : tuple of SpilledPairs, or of PairsOfVectors
        The subjects of all mated, and of all non-mated, comparisons: in buckets, with their scores
        where those were kept, or by the numbers of vectors that subjects have.
        `resampling.pair_source.side_of` tells how replicates weigh them.
    numbers : (k,) ndarray of int32
        The number of each subject in `pairs`.
    may_keep_more : bool
        Whether whoever asks scans again where too few are kept, so that no limit need be wider for
        that.
    lacks : dict of str
        Why a scan cannot do something.
    """

    pairs: tuple[Any, Any]
    numbers: Codes
    _parts = (
        *(name for name in Comparisons._parts if name != "lacks"),
        "pairs",
        "numbers",
        "may_keep_more",
    )

    @cached_property
    def lacks(self) -> Mapping[str, str]:  # type: ignore[override]
        """Why a scan cannot do something."""
        return {**_LACKS, **self.pairs[0].lacks, **self.pairs[1].lacks}

    @cached_property
    def group_of_number(self) -> Groups:
        """(k,) group of each subject, in the order of their numbers in `pairs`; 0 without
        groups.
        """
        groups = np.zeros(self.numbers.size, np.uint16)
        if self.groups:
            groups[self.numbers] = self._group_codes[0]
        return groups

    @cached_property
    def _counted(self) -> list[tuple[Integers, Integers, int]]:
        """For mated and for non-mated comparisons: their numbers and those of subjects by groups,
        and of subjects.
        """
        return [pairs.count(self.group_of_number, max(1, len(self.groups))) for pairs in self.pairs]

    @cached_property
    def subject_counts(self) -> tuple[int | None, int | None]:
        """Numbers of distinct subjects in mated and in non-mated comparisons."""
        return self._counted[0][2], self._counted[1][2]

    def _by_group(self, side: SortedSide, first: int) -> GroupedSide:
        grouped = super()._by_group(side, first)
        cells, subjects, _ = self._counted[0 if side is self.mated else 1]
        return replace(grouped, counted=(cells, subjects))


class ScannedComparisons:
    """Comparisons of which few are kept, those near the errors.

    `evaluate`, `claim`, `fnmr_test` and `margin_of_error` take them; `compare` and `fmr_test` those
    of vectors.

    All comparisons are counted. The scores of those nearest to being errors are kept in memory, the
    lowest mated and the highest non-mated ones, and of all others who was compared, in memory or in
    temporary files; with ``cllr=True`` beside it their scores.

    Attributes
    ----------
    subjects : (k,) ndarray
        The distinct subject ids, sorted.
    attributes : dict of str to tuple of str
        The labels of each attribute, sorted. A subject has one label of each.
    groups, grouping : tuple of str
        The groups in use, and the attributes that they are made of.
    score_kind : str
        As in `Comparisons`.
    n_mated, n_nonmated : int
        Numbers of comparisons.
    left_out : tuple of Exclusion
        What was left out of the data, how much and why: each has what its warning said as text.

    See Also
    --------
    scan_comparisons : Makes them from files.
    Embeddings.scanned : Makes them from vectors.
    """

    def __init__(self, kept: KeptComparisons) -> None:
        self.kept = kept
        self.subjects = kept.subjects
        self.attributes: Mapping[str, tuple[str, ...]] = kept.attributes
        self.groups, self.grouping = kept.groups, kept.grouping
        self.score_kind, self.left_out = kept.score_kind, kept.left_out
        self.n_mated, self.n_nonmated = len(kept.mated), len(kept.nonmated)

    @checked
    def by(self, *attributes: str) -> ScannedComparisons:
        """Make groups from other attributes.

        Parameters
        ----------
        *attributes : str
            Names in `attributes`; several make intersections, labelled in the order given.

        Returns
        -------
        ScannedComparisons
            Of the same scan, which is not read again.
        """
        kept = self.kept.by(*attributes)
        assert isinstance(kept, KeptComparisons)
        return ScannedComparisons(kept)

    def __repr__(self) -> str:
        return f"Scanned{self.kept!r}"


# keys with errors first, as in `ErrorLists`, are kept below it; None for all
Limit = np.signedinteger | None


def near(keys: score_keys.Keys, mated: bool, limit: Limit) -> Flags:
    """Tell which of some mated, or non-mated, comparisons lie below a limit; all where it is of
    another type.
    """
    if limit is None or limit.dtype != keys.dtype:
        return np.ones(keys.size, np.bool_)
    return np.asarray((keys if mated else ~keys) < limit)


class ScoreTail:
    """The lowest mated, or the highest non-mated, scores with their subjects.

    Parameters
    ----------
    mated : bool
        Whether the comparisons are mated.

    Attributes
    ----------
    n : int
        Number of comparisons seen.
    limit : Limit
        Those kept are below it.
    """

    def __init__(self, mated: bool) -> None:
        self._mated = mated
        self._parts: list[
            tuple[score_keys.Keys, Codes, Codes]
        ] = []  # keys with errors first: as in `ErrorLists`
        self.limit: Limit = None
        self.n = self._n_kept = 0

    def add(
        self, keys: score_keys.Keys, reference: Codes, probe: Codes, most: int, n: int | None = None
    ) -> None:
        """Add comparisons, and keep about `most` of all, or up to twice as many.

        n: how many they were before those that are not `near` were left out.
        """
        self.n += keys.size if n is None else n
        close = near(keys, self._mated, self.limit)
        keys = keys[close]
        reference = reference[close]
        probe = probe[close]
        keys = keys if self._mated else ~keys
        self._parts.append((keys, reference, probe))
        self._n_kept += keys.size
        if self._n_kept > 2 * most:
            keys, reference, probe = self._together()
            self.limit = np.partition(keys, most)[most]
            keep = np.flatnonzero(keys < self.limit)
            self._parts = [(keys[keep], reference[keep], probe[keep])]
            self._n_kept = keep.size

    def finish(self) -> tuple[score_keys.Keys, Codes, Codes, NotKept | None]:
        """Return the keys kept in ascending order, their references and probes, and what is not
        kept; forget all.
        """
        keys, reference, probe = self._together()
        self._parts = []
        order = order_of_keys((keys if self._mated else ~keys).astype(np.int64, copy=False))
        keys = (keys if self._mated else ~keys)[order]
        left = None
        if self.limit is not None:
            # Non-mated keys not kept are at least the limit when inverted, so below its negative.
            limit = int(self.limit)
            left = NotKept(self.n - keys.size, limit if self._mated else -limit)
        return keys, reference[order], probe[order], left

    def _together(self) -> tuple[score_keys.Keys, Codes, Codes]:
        keys, reference, probe = (
            np.concatenate(column) for column in zip(*self._parts, strict=True)
        )
        return keys, reference, probe


N_BUCKETS = 128  # of each class; a power of 2, so that a byte tells the bucket
# The references, the probes and the keys of comparisons; the keys are int64 and none where those
# are not kept.
Read = tuple[AnyArray, AnyArray, score_keys.Keys]
Reader = Callable[[], Read]

_LACKS_OF_FILES = {
    "units left out": (
        '⟦method="bca"⟧ leaves out subjects one at a time, which a scan cannot: use another one'
    ),
    "lists of pairs": (
        "data is a scan of score files, which does not list who was compared with whom: read them"
        " with read_comparisons"
    ),
}


# Some comparisons of a bucket: (2, m) uint16 or int32, references and probes, and (m,) keys where
# those are kept.
InBucket = tuple[AnyArray, ...]


def in_buckets(
    reference: AnyArray,
    probe: AnyArray,
    flags: Flags,
    numbers: Codes,
    keys: score_keys.Keys | None = None,
) -> tuple[list[InBucket], list[InBucket]]:
    """Divide comparisons among buckets, so that all comparisons of two subjects lie in one.

    Parameters
    ----------
    reference, probe : (n,) ndarray of uint16 or int32
        Positions of subjects.
    flags : (n,) ndarray of bool
        Whether each comparison is mated.
    numbers : (subjects,) ndarray of int32
        The number of each subject.
    keys : (n,) ndarray of int32 or int64, optional
        The keys of their scores.

    Returns
    -------
    two lists of InBucket
        The comparisons of each bucket, of mated ones and of non-mated ones.
    """
    from fastfair.kernels import scan as kernels

    numbers = numbers.astype(smallest_integers(int(numbers.max(initial=0)) + 1))
    buckets = np.empty(reference.size, np.uint8)
    counts = np.zeros((2, N_BUCKETS), np.int64)
    kernels.find_buckets(reference, probe, flags, numbers, buckets, counts)
    end = np.cumsum(counts)
    begin = end - counts.reshape(-1)
    of_buckets = np.empty((2, reference.size), numbers.dtype)
    kernels.fill_buckets(reference, probe, numbers, buckets, begin.copy(), of_buckets)
    columns = [of_buckets]
    if keys is not None:
        columns.append(np.empty_like(keys))
        kernels.fill_keys(keys, buckets, begin.copy(), columns[1])
    cuts = itertools.pairwise([0, *end.tolist()])
    parts: list[InBucket] = [
        tuple(column[..., slice(*ends)] for column in columns) for ends in cuts
    ]
    return parts[:N_BUCKETS], parts[N_BUCKETS:]


class SpilledPairs:
    """The reference, the probe and the key of comparisons, in any order; those of two subjects lie
    in one bucket.

    Parameters
    ----------
    folder : Folder
        Where they are written when `spill` is called.
    name : str
        What files are called.
    at_once : int
        About how many comparisons to read together, so that small buckets are not read one by one.
    most_bytes : int
        How much memory may hold what is made of them.
    has_keys : bool
        Whether comparisons have the keys of their scores.

    Attributes
    ----------
    folder, most_bytes, has_keys
        As given.
    n_bytes : int
        Memory that those take that are not in files.
    """

    def __init__(
        self, folder: Folder, name: str, at_once: int, most_bytes: int, has_keys: bool = False
    ) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self.has_keys = has_keys
        self._at_once = at_once
        self._in_memory: list[list[InBucket]] = [[] for _ in range(N_BUCKETS)]
        self._in_files = [ArrayFile(folder, f"{name}-{bucket}") for bucket in range(N_BUCKETS)]
        self._sizes = np.zeros(N_BUCKETS, np.int64)
        self.n_bytes = 0

    @property
    def lacks(self) -> Mapping[str, str]:
        """What is not possible without a list of them, and why."""
        return _LACKS_OF_FILES if self.has_keys else {**_LACKS_OF_FILES, "costs": NO_COSTS}

    def count(self, group: Groups, n_groups: int) -> tuple[Integers, Integers, int]:
        """Count them, and their distinct subjects, by groups of reference and probe, and all
        subjects.

        group: (subjects,) the group of each subject, in the order of their numbers.
        """
        from fastfair.kernels import scan as kernels

        seen = np.zeros((2, group.size, n_groups), np.bool_)

        def count(read: Reader) -> Integers:
            cells = np.zeros((n_groups, n_groups), np.int64)
            # Threads may mark the same place, but only ever with the same value.
            reference, probe, _ = read()
            kernels.count_by_group(reference, probe, group, cells, seen)
            return cells

        cells = sum(
            run_in_order(count, *self.buckets(count_threads(None))),
            np.zeros((n_groups, n_groups), np.int64),
        )
        return (
            read_only(cells),
            read_only(subjects_by_group(seen[0], seen[1], group)),
            int(seen.any(axis=(0, 2)).sum()),
        )

    @property
    def n(self) -> int:
        """Number of comparisons."""
        return int(self._sizes.sum())

    def add(self, of_buckets: list[InBucket]) -> None:
        """Add comparisons, as `in_buckets` divides them."""
        for bucket, part in enumerate(of_buckets):
            if part[0].size:
                self._in_memory[bucket].append(part)
                self._sizes[bucket] += part[0].shape[1]
                self.n_bytes += sum(array.nbytes for array in part)

    def spill(self) -> None:
        """Write all comparisons to files, where other processes can read what `buckets` returns,
        once it is pickled.
        """
        for parts, file in zip(self._in_memory, self._in_files, strict=True):
            if parts:
                file.append(*self._joined(parts))
                parts.clear()
        self.n_bytes = 0

    def buckets(self, n_threads: int) -> tuple[list[Reader], int]:
        """Return what reads some buckets after another, and how many of them may be read at
        once.
        """
        largest = max(1, int(self._sizes.max()))
        n_threads = max(1, min(n_threads, self._at_once // largest))
        cuts = [0]
        n = 0
        for bucket, size in enumerate(self._sizes.tolist()):
            if n and n + size > self._at_once // n_threads:
                cuts.append(bucket)
                n = 0
            n += size
        readers: list[Reader] = [
            partial(self._read, range(*ends))
            for ends in itertools.pairwise([*cuts, N_BUCKETS])
            if self._sizes[slice(*ends)].any()
        ]
        return readers, n_threads

    def _read(self, buckets: range) -> Read:
        parts: list[InBucket] = []
        for k in buckets:
            arrays = iter(self._in_files[k])
            parts += [
                *self._in_memory[k],
                *(zip(arrays, arrays, strict=True) if self.has_keys else zip(arrays)),
            ]
        subjects, *keys = self._joined(parts)
        return subjects[0], subjects[1], keys[0] if keys else np.empty(0, np.int64)

    def _joined(self, parts: list[InBucket]) -> InBucket:
        subjects, *keys = zip(*parts, strict=True)
        return np.concatenate(subjects, axis=1), *map(np.concatenate, keys)


LEAST_MEMORY = 2**27  # bytes
# For a comparison that is kept, while it is collected, sorted and resampled.
_BYTES_KEPT = 160
# Shares of the memory.
_SHARE_KEPT = 0.5  # for scores near the errors,
_SHARE_OF_PAIRS = 0.125  # for pairs that are not in files,
_SHARE_AT_ONCE = 0.125  # and for pairs that are grouped at once,
_BYTES_OF_A_PAIR = 32  # of which each takes so much,
_BYTES_OF_A_KEY = 32  # and its key, where it has one
_SHARE_OF_MATED = 0.5  # of the comparisons that are kept, at most
_NO_LABEL = 2**16 - 1  # more than there can be groups


@dataclass
class _Labels:
    """Labels found so far, each with a number in the order of finding."""

    name: str
    labels: AnyArray | None = None  # sorted
    numbers: Codes = field(default_factory=lambda: np.empty(0, np.int32))
    _last: tuple[AnyArray, Codes] | None = None

    def number(self, labels: AnyArray, by: Sequence[AnyArray] = ()) -> Codes:
        """Return the number of each of some distinct labels; new ones get the next, in an order
        `by` columns.
        """
        if self._last is not None and np.array_equal(labels, self._last[0]):
            return self._last[1]
        common = labels
        seen = np.empty(0, np.intp)
        given = np.arange(labels.size)
        if self.labels is not None:
            common, (seen, given) = encode_together((self.name, self.name), (self.labels, labels))
        numbers = np.full(common.size, -1, np.int32)
        numbers[seen] = self.numbers
        new = np.flatnonzero(numbers[given] < 0)
        new = new[np.lexsort((new, *(column[new] for column in by)))]
        numbers[given[new]] = np.arange(self.numbers.size, common.size)
        assigned = numbers[given]
        self.labels = common
        self.numbers = numbers
        self._last = (labels, assigned)
        return assigned

    def label(self, number: int) -> object:
        """Return the label that has a number."""
        assert self.labels is not None
        return self.labels.item(int(np.argmax(self.numbers == number)))


class DividedPart(NamedTuple):
    """Some comparisons, before the scan has numbered their subjects."""

    reference: AnyArray  # positions in `subjects`
    probe: AnyArray
    flags: Flags  # whether each is mated
    near: Codes  # positions of those that may be kept
    keys: score_keys.Keys  # of those
    subjects: AnyArray  # the labels of subjects, sorted
    # of each attribute, sorted, and that of each subject
    labels: dict[str, tuple[AnyArray, Groups]]
    score_dtype: np.dtype[Any]


Limits = tuple[Limit, Limit]  # of the mated, and of the non-mated, scores that may be kept


def divide(columns: CheckedColumns, cllr: bool, limits: Limits) -> DividedPart:
    """Check some comparisons, and find those whose scores may be kept, wherever they are read.

    Parameters
    ----------
    columns : CheckedColumns
        The comparisons.
    cllr : bool
        Whether to keep all scores.
    limits : tuple
        As `Scan.limits` has them.

    Raises
    ------
    InputError
        Where there are no subjects, for scores that are not finite, and a subject with several
        labels of an attribute.
    """
    if columns.subjects is None:
        raise InputError(
            "a scan needs the subjects of the comparisons: name their columns with ⟦reference=⟧ and"
            " ⟦probe=⟧"
        )
    subjects, *both = columns.subjects
    scores = _similarities(columns)
    labels_of = {}
    for name, (labels, *codes) in columns.attributes.items():
        group_labels.attribute(name, labels)  # refuses more labels than there can be groups
        pairs = list(zip(both, codes, strict=True))
        of_subjects = group_labels.labels_of_subjects(subjects.size, pairs)
        if of_subjects is None:
            k, row, here, earlier = group_labels.first_conflict(subjects.size, pairs)
            raise _labelled_twice(
                name, subjects.item(both[k][row]), labels.item(here), labels.item(earlier), row
            )
        labels_of[name] = labels, of_subjects
    reference, probe = (
        codes.astype(smallest_integers(subjects.size), copy=False) for codes in both
    )
    close = np.arange(scores.size) if cllr else find_near(scores, columns.flags, limits)
    return DividedPart(
        reference,
        probe,
        columns.flags,
        close.astype(np.int32),
        score_keys.encode(scores[close]),
        subjects,
        labels_of,
        columns.values.dtype,
    )


class Scan:
    """Collects comparisons that are `divide`, part by part, in one order.

    Parameters
    ----------
    score_kind : str
        As in `Comparisons`.
    memory_limit : int
        About how many bytes to take, at most.
    folder : path or None
        Where to make a folder for temporary files.
    cllr : bool
        Whether to keep all scores, for Cllr.
    """

    def __init__(
        self,
        score_kind: str,
        memory_limit: int,
        folder: str | Path | None = None,
        cllr: bool = False,
    ) -> None:
        self._score_kind = score_kind
        self._most = int(_SHARE_KEPT * memory_limit / _BYTES_KEPT)
        self._most_bytes = _SHARE_OF_PAIRS * memory_limit
        made = Folder(folder)
        bytes_of_a_pair = _BYTES_OF_A_PAIR + (_BYTES_OF_A_KEY if cllr else 0)
        at_once = int(_SHARE_AT_ONCE * memory_limit / bytes_of_a_pair)
        mated, nonmated = (
            SpilledPairs(made, name, at_once, int(self._most_bytes / 2), cllr)
            for name in ("mated", "nonmated")
        )
        self._pairs = mated, nonmated
        self._tails = ScoreTail(True), ScoreTail(False)
        self._dtype: np.dtype[Any] | None = None
        self._score_dtype: np.dtype[Any] = np.dtype(np.float16)  # the widest of all parts
        self._subjects = _Labels("subjects")
        self._attributes: dict[str, _Labels] | None = None
        self._of_subject: dict[str, Groups] = {}
        self.left_out: list[Exclusion] = []

    @property
    def limits(self) -> Limits:
        """What lies beyond is not kept, as things stand: of mated, and of non-mated, scores."""
        return self._tails[0].limit, self._tails[1].limit

    def add(self, part: DividedPart) -> None:
        """Add some comparisons.

        Raises
        ------
        InputError
            For a subject with another label than before, for attributes that other parts do not
            have, and for subjects that other parts name by another type of label.
        """
        # Those of a group get numbers, and so weights, side by side: sums over comparisons of two
        # groups are faster.
        numbers = self._subjects.number(
            part.subjects, [of_subjects for _, of_subjects in part.labels.values()]
        )
        self._take_attributes(part, numbers)
        keys = self._of_one_type(part.keys)
        self._score_dtype = np.promote_types(self._score_dtype, part.score_dtype)
        near = part.near
        mated = part.flags[near]
        n_mated = int(np.count_nonzero(part.flags))
        all_keys = keys if self._pairs[0].has_keys else None
        divided = in_buckets(part.reference, part.probe, part.flags, numbers, all_keys)
        share = _SHARE_OF_MATED * self._most
        sizes = (n_mated, part.flags.size - n_mated)
        for k, (tail, pairs) in enumerate(zip(self._tails, self._pairs, strict=True)):
            most = self._most - min(share, self._tails[0].n) if k else share
            chosen = np.flatnonzero(mated != bool(k))
            reference, probe = (
                numbers[column[near[chosen]]] for column in (part.reference, part.probe)
            )
            tail.add(keys[chosen], reference, probe, max(1, int(most)), sizes[k])
            pairs.add(divided[k])
        if sum(pairs.n_bytes for pairs in self._pairs) > self._most_bytes:
            for pairs in self._pairs:
                pairs.spill()

    def finish(self) -> ScannedComparisons:
        """Return everything that was added.

        Raises
        ------
        InputError
            Where there are no mated, or no non-mated, comparisons.
        """
        for mated, tail in zip(("mated", "non-mated"), self._tails, strict=True):
            if tail.n == 0:
                labels = self._subjects.labels
                advice = (
                    ""
                    if labels is None or mated != "mated"
                    else sample_names.advice_on_samples(labels)
                )
                raise InputError(
                    f"there are no {mated} comparisons among the"
                    f" {sum(tail.n for tail in self._tails):,}; both classes are needed"
                    + (f". {advice}" if advice else "")
                )
        assert self._subjects.labels is not None
        assert self._attributes is not None
        numbers = self._subjects.numbers
        rank = np.argsort(numbers).astype(np.int32)
        attributes, of_subject = {}, {}
        for name, numbered in self._attributes.items():
            assert numbered.labels is not None
            attributes[name] = group_labels.attribute(name, numbered.labels)
            position = np.argsort(numbered.numbers).astype(np.uint16)
            of_subject[name] = position[self._of_subject[name][numbers]]
        sides = []
        for tail in self._tails:
            keys, *codes, left = tail.finish()
            reference, probe = (look_up(code, rank) for code in codes)
            sides.append(
                SortedSide(keys, None, reference, probe, of_subject=of_subject, not_kept=left)
            )
        kept = KeptComparisons._of_parts(
            mated=sides[0],
            nonmated=sides[1],
            subjects=read_only(self._subjects.labels),
            numbers=numbers,
            attributes=attributes,
            grouping=tuple(attributes),
            score_kind=self._score_kind,
            score_dtype=self._score_dtype,
            pairs=self._pairs,
            left_out=merge_exclusions([tuple(self.left_out)]),
        )
        return ScannedComparisons(kept)

    def _of_one_type(self, keys: score_keys.Keys) -> score_keys.Keys:
        """Return keys as those of float64 scores where the first part has such scores."""
        self._dtype = self._dtype or keys.dtype
        if keys.dtype == self._dtype:
            return keys
        if keys.dtype == np.int64:
            raise InputError(
                "scores are float64 here, but float32 before: let a file of float64 scores come"
                " first"
            )
        return score_keys.encode(score_keys.decode(keys).astype(np.float64))

    def _take_attributes(self, part: DividedPart, numbers: Codes) -> None:
        """Learn the label of each subject."""
        if self._attributes is None:
            self._attributes = {name: _Labels(f"the attribute {name!r}") for name in part.labels}
        if list(part.labels) != list(self._attributes):
            raise InputError(
                f"the attributes are {list(part.labels)} here, but {list(self._attributes)} before"
            )
        n_subjects = self._subjects.numbers.size
        for name, (labels, of_subjects) in part.labels.items():
            of_labels = self._attributes[name].number(labels).astype(np.uint16)
            table = np.full(n_subjects, _NO_LABEL, np.uint16)
            before = self._of_subject.get(name, table[:0])
            table[: before.size] = before
            old, new = table[numbers], of_labels[of_subjects]
            wrong = np.flatnonzero((old != _NO_LABEL) & (old != new))
            if wrong.size:
                here, earlier = (
                    self._attributes[name].label(label[wrong[0]]) for label in (new, old)
                )
                row = int(np.argmax((part.reference == wrong[0]) | (part.probe == wrong[0])))
                raise _labelled_twice(name, part.subjects.item(wrong[0]), here, earlier, row)
            table[numbers] = new
            self._of_subject[name] = table


def _similarities(columns: CheckedColumns) -> AnyFloats:
    values = at_least_float32(columns.values)
    largest = min(float(np.finfo(values.dtype).max), validation.LARGEST)
    if not (-largest <= values.min() and values.max() <= largest):  # NaN is neither
        raise checks.not_usable(values)
    return -values if columns.score_kind == "distance" else values


def find_near(scores: AnyFloats, flags: Flags, limits: Limits) -> Indices:
    """Find the scores that are `near`, before they have keys: most need none."""
    kind = score_keys.integer_type(scores.dtype)
    of_mated, of_nonmated = (
        None if limit is None or limit.dtype != kind else np.array([limit]) for limit in limits
    )
    if of_nonmated is None:
        close = np.ones(scores.size, np.bool_)
    else:
        close = np.asarray(scores > score_keys.decode(~of_nonmated))
    mated = np.flatnonzero(flags)
    close[mated] = True if of_mated is None else scores[mated] < score_keys.decode(of_mated)
    return np.flatnonzero(close)


def _labelled_twice(
    name: str, subject: object, here: object, earlier: object, row: int
) -> InputError:
    return InputError(
        f"the {name!r} of subject {subject!r} is {here!r}, but {earlier!r} in another comparison;"
        " in a scan a subject has one label of each attribute",
        row,
    )

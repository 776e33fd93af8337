"""Collect comparisons part by part, keeping the scores near the errors and the subjects of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.distinct_entries import look_up, one_of_each
from fastfair.errors import InputError

from . import group_labels, score_keys
from .checked_columns import CheckedColumns
from .scanned_comparisons import KeptComparisons, ScannedComparisons, Subjects
from .score_tails import ScoreTail, wide
from .sorted_scores import BothSides, LabelsOfSubjects, SortedSide
from .spilled_pairs import InBucket, SpilledPairs, in_buckets
from .temporary_files import Folder

LEAST_MEMORY = 2**27  # bytes
# For a comparison that is kept, while it is collected, sorted and resampled.
_BYTES_KEPT = 160
_SHARE_KEPT, _SHARE_OF_PAIRS = 0.5, 0.125  # of the memory: for scores near the errors, and for pairs not in files
# Of pairs that are grouped at once, and of the keys that some have.
_SHARE_AT_ONCE, _BYTES_OF_A_PAIR, _BYTES_OF_A_KEY = 0.125, 32, 32
_SHARE_OF_MATED = 0.5  # of the comparisons that are kept, at most
_NO_LABEL = 2**16 - 1
Numbered = tuple[NDArray[np.int32], int]  # the number of each subject of a part, and how many the scan has so far


@dataclass
class _Labels:
    """Labels found so far, each with a number in the order of finding."""

    name: str
    labels: NDArray[Any] | None = None  # sorted
    numbers: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    _last: tuple[NDArray[Any], NDArray[np.int32]] | None = None

    def number(self, labels: NDArray[Any]) -> NDArray[np.int32]:
        """Return the number of each of some distinct labels; new ones get the next numbers."""
        if self._last is not None and np.array_equal(labels, self._last[0]):
            return self._last[1]
        if self.labels is None:
            self.labels, self.numbers = labels, np.arange(labels.size, dtype=np.int32)
            found = self.numbers
        elif labels.dtype == self.labels.dtype != object and (at := _places(labels, self.labels)) is not None:
            found = self.numbers[at]
        else:
            common, (known, given) = validation.encode_together((self.name, self.name), (self.labels, labels))
            numbers = np.full(common.size, -1, np.int32)
            numbers[known] = self.numbers
            new = np.flatnonzero(numbers < 0)
            numbers[new] = np.arange(self.numbers.size, common.size)
            self.labels, self.numbers, found = common, numbers, numbers[given]
        self._last = labels, found
        return found

    def label(self, number: int) -> object:
        """Return the label that has a number."""
        assert self.labels is not None
        return self.labels.item(int(np.argmax(self.numbers == number)))


def _places(labels: NDArray[Any], among: NDArray[Any]) -> NDArray[np.intp] | None:
    """Find sorted labels among others; None where one is not there."""
    at = np.searchsorted(among, labels)
    return at if at[-1] < among.size and np.array_equal(among[at], labels) else None


class _CodedSide(NamedTuple):
    """Mated, or non-mated, comparisons of a part."""

    keys: score_keys.Keys  # of those that may be kept
    reference: NDArray[np.int32]  # their subjects
    probe: NDArray[np.int32]
    of_buckets: list[InBucket]  # all


@dataclass
class CodedPart:
    """Some comparisons, coded.

    Attributes
    ----------
    sides : list of _CodedSide
        Those that are mated, and those that are not.
    subjects : tuple of ndarray
        The labels of subjects, sorted, and those of references and of probes.
    numbers : (k,) ndarray of int32
        The number of each subject in the scan.
    labels : dict of tuple
        Under each attribute the labels, sorted, and that of each subject.
    dtype : dtype
        Of the scores.
    left_out : tuple of str
        What was left out, and why.
    """

    sides: list[_CodedSide]
    subjects: BothSides
    numbers: NDArray[np.int32]
    labels: dict[str, tuple[NDArray[Any], NDArray[np.uint16]]]
    dtype: np.dtype[Any]
    left_out: tuple[str, ...]


class Scan:
    """Collects comparisons, part by part: `number` each, then `coded`, and `add` them in the same order.

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
        self, score_kind: str, memory_limit: int, folder: str | Path | None = None, cllr: bool = False
    ) -> None:
        self._score_kind, self._cllr = score_kind, cllr
        self._most = int(_SHARE_KEPT * memory_limit / _BYTES_KEPT)
        self._most_bytes = _SHARE_OF_PAIRS * memory_limit
        made = Folder(folder)
        bytes_of_a_pair = _BYTES_OF_A_PAIR + (_BYTES_OF_A_KEY if cllr else 0)
        at_once = int(_SHARE_AT_ONCE * memory_limit / bytes_of_a_pair)
        most_bytes = int(self._most_bytes / 2)
        self._pairs = (
            SpilledPairs(made, "mated", at_once, most_bytes, cllr),
            SpilledPairs(made, "nonmated", at_once, most_bytes, cllr),
        )
        self._tails = ScoreTail(True), ScoreTail(False)
        self._dtype: np.dtype[Any] | None = None
        self._subjects = _Labels("subjects")
        self._attributes: dict[str, _Labels] | None = None
        self._of_subject: dict[str, NDArray[np.uint16]] = {}
        self._left_out: list[str] = []

    def number(self, columns: CheckedColumns) -> Numbered:
        """Number the subjects of some comparisons, one part after another.

        Raises
        ------
        InputError
            Where there are no subjects, or other parts name them by another type of label.
        """
        if columns.subjects is None:
            raise InputError(
                "a scan needs the subjects of the comparisons: name their columns with reference= and probe="
            )
        return self._subjects.number(columns.subjects[0]), self._subjects.numbers.size

    def coded(self, columns: CheckedColumns, numbered: Numbered) -> CodedPart:
        """Divide some comparisons; several threads may do so at once.

        Raises
        ------
        InputError
            For scores that are not finite, and a subject with several labels of an attribute.
        """
        keys, subjects, (numbers, n_subjects) = self._keys(columns.values), columns.subjects, numbered
        assert subjects is not None  # they have numbers
        own = {}
        for name, (labels, *codes) in columns.attributes.items():
            group_labels.attribute(name, labels)  # refuses more labels than there can be groups
            both = list(zip(subjects[1:], codes, strict=True))
            of_subjects = one_of_each(subjects[0].size, both)
            if of_subjects is None:
                raise _two_labels(name, subjects[0], labels, both)
            own[name] = labels, of_subjects
        reference, probe = (look_up(codes, numbers, dtype=np.int32) for codes in subjects[1:])
        sides = []
        for mated, tail in zip((True, False), self._tails, strict=True):
            chosen = np.flatnonzero(columns.flags == mated)
            of_class = keys[chosen], reference[chosen], probe[chosen]
            of_buckets = in_buckets(*of_class[1:], n_subjects, of_class[0] if self._cllr else None)
            near = tail.near(of_class[0])
            if near is not None:
                of_class = of_class[0][near], of_class[1][near], of_class[2][near]
            sides.append(_CodedSide(*of_class, of_buckets))
        return CodedPart(sides, subjects, numbers, own, columns.values.dtype, columns.left_out)

    def add(self, part: CodedPart) -> None:
        """Add some comparisons.

        Raises
        ------
        InputError
            For a subject with another label than before, and for attributes that other parts do not have.
        """
        self._take_attributes(part)
        self._match_types(part)
        for mated, side, tail, pairs in zip((True, False), part.sides, self._tails, self._pairs, strict=True):
            share = _SHARE_OF_MATED * self._most
            most = share if mated else self._most - min(share, self._tails[0].n)
            n = sum(of_bucket.subjects.shape[1] for of_bucket in side.of_buckets)
            tail.add(side.keys, side.reference, side.probe, max(1, int(most)), n)
            pairs.add(side.of_buckets)
        if sum(pairs.n_bytes for pairs in self._pairs) > self._most_bytes:
            for pairs in self._pairs:
                pairs.spill()
        self.leave_out(part.left_out)

    def leave_out(self, told: Iterable[str]) -> None:
        """Remember what was left out of the data."""
        self._left_out += told

    def finish(self) -> ScannedComparisons:
        """Return everything that was added.

        Raises
        ------
        InputError
            Where there are no mated, or no non-mated, comparisons.
        """
        for mated, tail in zip(("mated", "non-mated"), self._tails, strict=True):
            if tail.n == 0:
                raise InputError(
                    f"there are no {mated} comparisons among the {sum(tail.n for tail in self._tails):,}; both classes "
                    "are needed"
                )
        assert self._subjects.labels is not None
        assert self._attributes is not None
        numbers = self._subjects.numbers
        rank = np.empty(numbers.size, np.int32)
        rank[numbers] = np.arange(numbers.size)
        attributes, of_subject = {}, {}
        for name, found in self._attributes.items():
            assert found.labels is not None
            attributes[name] = group_labels.attribute(name, found.labels)
            position = np.empty(found.numbers.size, np.uint16)
            position[found.numbers] = np.arange(found.numbers.size)
            of_subject[name] = position[self._of_subject[name][numbers]]
        subjects = Subjects(self._subjects.labels, numbers, attributes, of_subject)
        sides = []
        for tail in self._tails:
            keys, *codes, left = tail.finish()
            reference, probe = (look_up(code, rank) for code in codes)
            of_reference, of_probe = (LabelsOfSubjects({}, of_subject, subject) for subject in (reference, probe))
            sides.append(SortedSide(keys, None, reference, probe, of_reference, of_probe, not_kept=left))
        grouping = tuple(attributes)
        kept = KeptComparisons(
            sides[0], sides[1], subjects, self._score_kind, tuple(self._left_out), self._pairs, grouping
        )
        return ScannedComparisons(kept)

    def _keys(self, values: score_keys.Floats) -> score_keys.Keys:
        largest = values.dtype.type(min(float(np.finfo(values.dtype).max), validation.LARGEST_SCORE))
        if not (np.abs(values) <= largest).all():  # NaN is not
            raise validation.not_usable(values)
        return score_keys.encode(-values if self._score_kind == "distance" else values)

    def _match_types(self, part: CodedPart) -> None:
        """Make all keys those of float64 scores from the first part on that has such scores."""
        if self._dtype is None:
            self._dtype = part.dtype
        elif part.dtype != self._dtype:
            if self._dtype == np.float32:
                for tail in self._tails:
                    tail.widen()
            else:
                part.sides = [side._replace(keys=wide(side.keys)) for side in part.sides]
            for pairs in self._pairs:
                pairs.widen()
            self._dtype = np.dtype(np.float64)

    def _take_attributes(self, part: CodedPart) -> None:
        """Learn the label of each subject."""
        if self._attributes is None:
            self._attributes = {name: _Labels(f"the attribute {name!r}") for name in part.labels}
        if list(part.labels) != list(self._attributes):
            raise InputError(f"the attributes are {list(part.labels)} here, but {list(self._attributes)} before")
        n_subjects = self._subjects.numbers.size
        for name, (labels, own) in part.labels.items():
            of_labels = self._attributes[name].number(labels).astype(np.uint16)
            table = np.full(n_subjects, _NO_LABEL, np.uint16)
            before = self._of_subject.get(name, table[:0])
            table[: before.size] = before
            known, new = table[part.numbers], of_labels[own]
            wrong = np.flatnonzero((known != _NO_LABEL) & (known != new))
            if wrong.size:
                here, earlier = (self._attributes[name].label(label[wrong[0]]) for label in (new, known))
                labels_of_subjects, *sides = part.subjects
                row = min(int(np.argmax(side == wrong[0])) for side in sides if (side == wrong[0]).any())
                raise _labelled_twice(name, labels_of_subjects.item(wrong[0]), here, earlier, row)
            table[part.numbers] = new
            self._of_subject[name] = table


def _two_labels(name: str, subjects: NDArray[Any], labels: NDArray[Any], sides: list[tuple[Any, Any]]) -> InputError:
    """Return the error for a part in which a subject has two labels."""
    first = np.full(subjects.size, -1, np.int64)
    for subject, label in reversed(sides):
        first[subject[::-1]] = label[::-1]
    wrong = [np.flatnonzero(first[subject] != label)[:1] for subject, label in sides]
    found = [(int(rows[0]), side) for rows, side in zip(wrong, sides, strict=True) if rows.size]
    row, (subject, label) = min(found, key=lambda one: one[0])
    earlier, here = labels.item(first[subject[row]]), labels.item(label[row])
    return _labelled_twice(name, subjects.item(subject[row]), here, earlier, row)


def _labelled_twice(name: str, subject: object, here: object, earlier: object, row: int) -> InputError:
    return InputError(
        f"the {name!r} of subject {subject!r} is {here!r}, but {earlier!r} in another comparison; in a scan a subject "
        "has one label of each attribute",
        row,
    )

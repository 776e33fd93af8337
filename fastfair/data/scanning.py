"""Collect comparisons part by part, keeping the scores near the errors and the subjects of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.distinct_entries import look_up, one_of_each
from fastfair.errors import InputError

from . import group_labels, score_keys
from .checked_columns import CheckedColumns
from .scanned_comparisons import KeptComparisons, ScannedComparisons, Subjects
from .score_tails import ScoreTail
from .sorted_scores import BothSides, LabelsOfSubjects, SortedSide
from .spilled_pairs import Folder, SpilledPairs

LEAST_MEMORY = 2**27  # bytes
# For a comparison that is kept, while it is collected, sorted and resampled.
_BYTES_KEPT = 160
_SHARE_KEPT, _SHARE_OF_PAIRS = 0.5, 0.125  # of the memory: for scores near the errors, and for pairs not in files
_SHARE_AT_ONCE, _BYTES_OF_A_PAIR = 0.125, 32  # of pairs that are grouped at once
_SHARE_OF_MATED = 0.5  # of the comparisons that are kept, at most
_NO_LABEL = 2**16 - 1


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
        else:
            common, (known, given) = validation.encode_together((self.name, self.name), (self.labels, labels))
            numbers = np.full(common.size, -1, np.int32)
            numbers[known] = self.numbers
            new = np.flatnonzero(numbers < 0)
            numbers[new] = np.arange(self.numbers.size, common.size)
            self.labels, self.numbers, found = common, numbers, numbers[given]
        self._last = labels, found
        return found


class Scan:
    """Collects comparisons.

    Parameters
    ----------
    score_kind : str
        As in `Comparisons`.
    memory_limit : int
        About how many bytes to take, at most.
    folder : path or None
        Where to make a folder for temporary files.
    """

    def __init__(self, score_kind: str, memory_limit: int, folder: str | Path | None = None) -> None:
        self._score_kind = score_kind
        self._most = int(_SHARE_KEPT * memory_limit / _BYTES_KEPT)
        self._most_bytes = _SHARE_OF_PAIRS * memory_limit
        made = Folder(folder)
        at_once = int(_SHARE_AT_ONCE * memory_limit / _BYTES_OF_A_PAIR)
        self._pairs = SpilledPairs(made, "mated", at_once), SpilledPairs(made, "nonmated", at_once)
        self._tails = ScoreTail(True), ScoreTail(False)
        self._dtype: np.dtype[Any] | None = None
        self._subjects = _Labels("subjects")
        self._attributes: dict[str, _Labels] | None = None
        self._of_subject: dict[str, NDArray[np.uint16]] = {}
        self._left_out: list[str] = []

    def add(self, columns: CheckedColumns) -> None:
        """Add some comparisons, with subjects.

        Raises
        ------
        InputError
            For scores that are not finite, a subject with several labels of an attribute, and attributes that other
            parts do not have.
        """
        subjects = columns.subjects
        if subjects is None:
            raise InputError(
                "a scan needs the subjects of the comparisons: name their columns with reference= and probe="
            )
        keys = self._keys(columns.values)
        numbers = self._subjects.number(subjects[0])
        self._take_attributes(columns, subjects, numbers)
        both = [look_up(codes, numbers, dtype=np.int32) for codes in subjects[1:]]
        n_subjects = self._subjects.numbers.size
        for mated, tail, pairs in zip((True, False), self._tails, self._pairs, strict=True):
            chosen = np.flatnonzero(columns.flags == mated)
            of_class = keys[chosen], both[0][chosen], both[1][chosen]
            share = _SHARE_OF_MATED * self._most
            most = share if mated else self._most - min(share, self._tails[0].n)
            tail.add(*of_class, max(1, int(most)))
            pairs.add(*of_class[1:], n_subjects)
        if sum(pairs.n_bytes for pairs in self._pairs) > self._most_bytes:
            for pairs in self._pairs:
                pairs.spill()
        self.leave_out(columns.left_out)

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
        """Turn scores into keys, which are of float64 from the first part on that has such scores."""
        largest = values.dtype.type(min(float(np.finfo(values.dtype).max), validation.LARGEST_SCORE))
        if not (np.abs(values) <= largest).all():  # NaN is not
            raise validation.not_usable(values)
        if self._dtype is None:
            self._dtype = values.dtype
        elif values.dtype != self._dtype:
            if self._dtype == np.float32:
                for tail in self._tails:
                    tail.widen()
            self._dtype = np.dtype(np.float64)
            values = values.astype(np.float64)
        return score_keys.encode(-values if self._score_kind == "distance" else values)

    def _take_attributes(self, columns: CheckedColumns, subjects: BothSides, numbers: NDArray[np.int32]) -> None:
        """Learn the label of each subject."""
        given = columns.attributes
        if self._attributes is None:
            self._attributes = {name: _Labels(f"the attribute {name!r}") for name in given}
        if list(given) != list(self._attributes):
            raise InputError(f"the attributes are {list(given)} here, but {list(self._attributes)} before")
        for name, (labels, *codes) in given.items():
            group_labels.attribute(name, labels)  # refuses more labels than there can be groups
            of_labels = self._attributes[name].number(labels).astype(np.uint16)
            own = one_of_each(subjects[0].size, list(zip(subjects[1:], codes, strict=True)))
            if own is None:
                raise self._two_labels(name, subjects, (labels, *codes))
            table = np.full(self._subjects.numbers.size, _NO_LABEL, np.uint16)
            before = self._of_subject.get(name, table[:0])
            table[: before.size] = before
            known, new = table[numbers], of_labels[own]
            wrong = np.flatnonzero((known != _NO_LABEL) & (known != new))
            if wrong.size:
                subject, all_labels = subjects[0].item(wrong[0]), self._attributes[name]
                assert all_labels.labels is not None
                here, earlier = (
                    all_labels.labels.item(int(np.argmax(all_labels.numbers == label[wrong[0]])))
                    for label in (new, known)
                )
                raise _labelled_twice(name, subject, here, earlier)
            table[numbers] = new
            self._of_subject[name] = table

    @staticmethod
    def _two_labels(name: str, subjects: BothSides, sides: Any) -> InputError:
        """Return the error for a part in which a subject has two labels."""
        labels, *codes = sides
        found = np.full(subjects[0].size, -1, np.int64)
        for subject, label in zip(subjects[1:], codes, strict=True):
            for pair in np.unique(np.stack((subject, label)), axis=1).T.tolist():
                if found[pair[0]] not in (-1, pair[1]):
                    one, other = labels.item(pair[1]), labels.item(found[pair[0]])
                    return _labelled_twice(name, subjects[0].item(pair[0]), one, other)
                found[pair[0]] = pair[1]
        raise AssertionError(name)  # never reached: one subject has two


def _labelled_twice(name: str, subject: object, here: object, earlier: object) -> InputError:
    return InputError(
        f"the {name!r} of subject {subject!r} is {here!r}, but {earlier!r} in another comparison; in a scan a subject "
        "has one label of each attribute"
    )

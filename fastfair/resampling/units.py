"""The units that are resampled, their strata, and the drawing of their weights for a block of replicates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.temporary_files import room
from fastfair.errors import FastfairError, InputError

BLOCK = 64  # replicates of a block, as in `kernels.philox`
Unit = Literal["comparison", "subject", "sample", "subject+sample"]
UNITS: tuple[Unit, ...] = get_args(Unit)
VectorUnit = Literal["sample", "subject", "subject+sample"]
VECTOR_UNITS: tuple[VectorUnit, ...] = get_args(VectorUnit)
SUBJECTS, SAMPLES, COMPARISONS = range(3)  # kinds of draws, told apart in the random stream
Rows = NDArray[np.int32]
Floats = NDArray[np.float64]
_ENOUGH_SUBJECTS = 10  # of a stratum inside another: replicates of n subjects vary by (n - 1) / n of what they should


@dataclass(frozen=True, eq=False)
class Draw:
    """Units drawn with replacement inside strata.

    Attributes
    ----------
    purpose : int
        Number of the kind of draw, so that different kinds use different random numbers.
    row : (units,) int32
        The row of weights of each unit; those of a stratum are consecutive.
    end : (strata,) int64
        Position after the last row of each stratum.
    """

    purpose: int
    row: Rows
    end: NDArray[np.int64]

    @classmethod
    def of(cls, purpose: int, stratum: NDArray[np.integer]) -> Draw:
        """Give units consecutive rows within their strata, which are numbered from 0; none is empty."""
        order = np.argsort(stratum, kind="stable")
        row = np.empty(stratum.size, np.int32)
        row[order] = np.arange(stratum.size, dtype=np.int32)
        return cls(purpose, row, np.cumsum(np.bincount(stratum)))

    @property
    def size(self) -> int:
        """Number of units."""
        return self.row.size

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(strata,) number of units in each stratum."""
        return np.diff(self.end, prepend=0)

    def fill(self, first_replicate: int, key: NDArray[np.uint32], weights: NDArray[np.uint8]) -> None:
        """Draw the weights of 64 replicates into `weights`, (units, 64)."""
        from fastfair.kernels import weights as kernels

        if not kernels.draw_with_replacement(self.end, self.purpose, first_replicate, key, weights):
            raise FastfairError("a unit was drawn more than 255 times in one replicate; no fair draw does that")


class Units:
    """Units in strata, each with a row of weights.

    Attributes
    ----------
    unit : str
        The unit drawn with replacement, such as "subject".
    n_rows : int
        Number of rows of weights; the last row is all ones.
    stratum : (n_rows,) int32
        The stratum of each row.
    stratum_size : (strata,) int64
        Number of units in each stratum; 1 where weights never vary.
    n_units : int
        Number of units that the jackknife leaves out, one at a time.
    """

    unit: str

    def _set_rows(self, n_units: int, stratum: NDArray[np.integer], sizes: NDArray[np.int64]) -> None:
        self.n_units = n_units
        self.n_rows = stratum.size + 1
        self.stratum = np.append(stratum, sizes.size).astype(np.int32)
        self.stratum_size = np.append(sizes, 1)

    def _of_subjects(self, subjects: Draw) -> None:
        self._draws = [subjects]
        self._set_rows(subjects.size, np.repeat(np.arange(subjects.end.size), subjects.sizes), subjects.sizes)

    def _of_samples(self, owner: NDArray[np.integer], subjects: Draw, part: NDArray[np.bool_] | None = None) -> None:
        """Set the rows of samples, once with and once without the draws of their subjects.

        owner: (samples,) the row of each sample's subject; part: (samples,) which of two parts of its subject's samples
        each belongs to, where these are drawn apart.
        """
        # Strata are subjects, or their parts, numbered as the rows of subjects are.
        n_parts = 1 if part is None else 2
        present, stratum = np.unique(n_parts * owner + (0 if part is None else part), return_inverse=True)
        samples = Draw.of(SAMPLES, stratum)
        self._owner = np.repeat(present // n_parts, samples.sizes).astype(np.int32)
        if self.unit == "sample":
            self._draws = [samples]
            self._set_rows(samples.size, np.repeat(np.arange(samples.end.size), samples.sizes), samples.sizes)
            return
        self._draws = [subjects, samples]
        by_subject = np.repeat(np.arange(subjects.end.size), subjects.sizes)[self._owner]
        self._set_rows(subjects.size, np.tile(by_subject, 2), subjects.sizes)

    def new_weights(self) -> NDArray[np.uint8]:
        """Allocate the weights of a block so that each row takes one line of the processor's cache."""
        room = np.ones((self.n_rows + 1) * BLOCK, np.uint8)
        start = -room.ctypes.data % BLOCK
        return room[start : start + self.n_rows * BLOCK].reshape(self.n_rows, BLOCK)

    def draw(self, first_replicate: int, key: NDArray[np.uint32], weights: NDArray[np.uint8]) -> None:
        """Draw the weights of 64 replicates; each replicate depends only on the key and on its number."""
        if self.unit != "subject+sample":
            self._draws[0].fill(first_replicate, key, weights[:-1])
            return
        raw = np.empty((sum(draw.size for draw in self._draws), BLOCK), np.uint8)
        subjects, samples = np.split(raw, [self._draws[0].size])
        self._draws[0].fill(first_replicate, key, subjects)
        self._draws[1].fill(first_replicate, key, samples)
        self._multiply(raw, weights)

    def leave_one_out(self, first_unit: int, weights: NDArray[np.uint8]) -> None:
        """Write the weights of 64 jackknife replicates; those beyond the last unit leave no unit out."""
        from fastfair.kernels import weights as kernels

        if self.unit != "subject+sample":
            kernels.leave_one_out(first_unit, self.n_units, weights[:-1])
            return
        raw = np.ones((sum(draw.size for draw in self._draws), BLOCK), np.uint8)
        kernels.leave_one_out(first_unit, self.n_units, raw)
        self._multiply(raw, weights)

    def _multiply(self, raw: NDArray[np.uint8], weights: NDArray[np.uint8]) -> None:
        from fastfair.kernels import weights as kernels

        n_samples = self._draws[1].size
        if not kernels.multiply_by_owner(self._owner, raw, weights[:n_samples]):
            raise FastfairError("a sample was drawn more than 255 times in one replicate; no fair draw does that")
        weights[n_samples:-1] = raw[-n_samples:]


_OF_THIS_PROCESS = ("_comparisons", "_own_rows", "stratum_of_subject")  # what draws no weights


class ComparisonUnits(Units):
    """The units that are drawn for replicates of comparisons, and the two rows of weights of each comparison.

    Parameters
    ----------
    comparisons : Comparisons
        With subjects, and samples where the unit needs them.
    unit : {"comparison", "subject", "sample", "subject+sample"}
        The units drawn with replacement.

    Raises
    ------
    InputError
        Where the comparisons lack the subjects or samples to draw.

    Attributes
    ----------
    stratum_of_subject : (subjects,) ndarray of int, or None
        The stratum that each subject is drawn in; None where comparisons are drawn.
    """

    def __init__(self, comparisons: Comparisons, unit: str) -> None:
        self.unit, self._comparisons = unit, comparisons
        self.stratum_of_subject: NDArray[np.integer] | None = None
        if unit == "comparison":
            sizes = len(comparisons.mated), len(comparisons.nonmated)
            classes = np.repeat(np.arange(2), sizes)
            self._draws = [Draw.of(COMPARISONS, classes)]
            self._set_rows(classes.size, classes, np.array(sizes))
            return
        require_units(comparisons, unit)
        self.stratum_of_subject = strata_of_subjects(comparisons)
        subjects = Draw.of(SUBJECTS, self.stratum_of_subject)
        if unit == "subject":
            self._of_subjects(subjects)
        else:
            self._of_samples(subjects.row[comparisons.sample_subject], subjects)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the comparisons where others draw weights."""
        return {name: value for name, value in vars(self).items() if name not in _OF_THIS_PROCESS}

    @property
    def rows_of_subjects(self) -> Rows:
        """(subjects,) the row of weights of each subject, where subjects are drawn."""
        return self._draws[0].row

    def rows(self, mated: bool, part: slice) -> tuple[Rows, Rows]:
        """Return the two rows of weights of each of some mated, or non-mated, comparisons: (n,) each."""
        from fastfair.kernels import partners as kernels

        side = self._comparisons.mated if mated else self._comparisons.nonmated
        ones = np.int32(self.n_rows - 1)
        if self.unit == "comparison":
            row = self._own_rows[0 if mated else 1][part]
            return row, np.full(row.size, ones)
        row = self._draws[0 if self.unit == "subject" else -1].row
        first, second = (
            (side.reference, side.probe) if self.unit == "subject" else (side.reference_sample, side.probe_sample)
        )
        assert first is not None
        assert second is not None
        first, second = first[part], second[part]
        a, b = np.empty_like(first), np.empty_like(first)
        kernels.rows_of_units(first, second, row, ones, a, b)
        if self.unit == "subject+sample":
            assert side.reference is not None
            assert side.probe is not None
            b[(side.reference[part] == side.probe[part]) & (b != ones)] += np.int32(row.size)
        return a, b

    @cached_property
    def _own_rows(self) -> tuple[Rows, Rows]:
        """The row of each mated, and of each non-mated, comparison, all of which are drawn."""
        found, start = [], 0
        for side in (self._comparisons.mated, self._comparisons.nonmated):
            row = np.arange(start, start + len(side), dtype=np.int32)
            if side.rows is not None:  # numbered in the caller's order, which two systems share
                row[np.argsort(side.rows)] = row.copy()
            found.append(row)
            start += len(side)
        return found[0], found[1]


class VectorUnits(Units):
    """The units that are drawn for replicates of embeddings.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    unit : {"sample", "subject", "subject+sample"}
        The units drawn with replacement. Samples are drawn within each subject, and references apart from probes.

    Attributes
    ----------
    subject : (n,) int32
        The subject of each vector, in the order of the pairing; subjects are numbered by group.
    group : (k,) int32
        The group of each subject; -1 without groups.
    references, probes : (k,) int64
        Number of references and of probes of each subject; of all its vectors where every two are compared.
    two_sets : bool
        Whether references and probes are different vectors.
    """

    def __init__(self, embeddings: Embeddings, unit: str) -> None:
        pairing = embeddings.pairing
        self.unit, self.two_sets = unit, pairing.two_sets
        order = np.argsort(embeddings.subject_group, kind="stable")
        number = np.empty(order.size, np.int32)
        number[order] = np.arange(order.size, dtype=np.int32)
        self.subject = number[pairing.subject]
        self.group = embeddings.subject_group[order]
        self.references, self.probes = (counts[order] for counts in embeddings.pairs[0].vectors)
        self._n_samples = embeddings.n_samples[order]
        subjects = Draw.of(SUBJECTS, np.unique(self.group, return_inverse=True)[1])
        if unit == "subject":
            self._of_subjects(subjects)
        else:
            is_probe = np.arange(self.subject.size) >= pairing.n_references if pairing.n_references else None
            self._of_samples(self.subject, subjects, is_probe)

    @cached_property
    def group_of_vector(self) -> NDArray[np.uint16]:
        """(n,) the group of each vector."""
        return self.group[self.subject].astype(np.uint16)

    def rows_of(self, mated: bool, first: Rows, second: Rows) -> tuple[Rows, Rows]:
        """Return, for pairs of vectors, the two rows of weights whose product is the weight of the pair."""
        if self.unit == "subject":
            a = self._subjects_of(first)
            return a, np.full(a.size, self.n_rows - 1, np.int32) if mated else self._subjects_of(second)
        if self.two_sets:  # else a vector's number is its row
            first, second = (self._draws[-1].row[vectors] for vectors in (first, second))
        if self.unit == "subject+sample" and mated:
            return first, second + np.int32(self.subject.size)
        return first, second

    def _subjects_of(self, vectors: Rows) -> Rows:
        return np.take(self.subject, vectors, mode="clip", out=room(vectors.size, np.int32))

    def per_row(self, of_subject: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each row of weights the value of its subject, and 1 for the row of ones."""
        if self.unit != "subject":
            of_subject = np.tile(of_subject[self._owner], 2 if self.unit == "subject+sample" else 1)
        return np.append(of_subject, 1.0)

    def spread(self, errors: Floats) -> Floats:
        """Return the variance, in replicates, of sums over units, from the part of each row of weights in them.

        Parameters
        ----------
        errors : (levels, rows) ndarray
            What each row, but that of ones, adds to each sum.

        Returns
        -------
        (levels,) ndarray
        """
        if self.unit != "subject+sample":
            return _within(errors, self.stratum[:-1])
        of_samples = errors[:, : self.subject.size]
        of_subjects: Floats = np.array([np.bincount(self._owner, of_level) for of_level in of_samples], np.float64)
        stratum = np.unique(self.group, return_inverse=True)[1]
        return _within(of_samples, self._owner) + _within(of_subjects, stratum)

    def subject_weights(self, weights: NDArray[np.uint8]) -> NDArray[np.int64]:
        """(k, 64) number of times that each subject was drawn; (k, 1) where subjects are not drawn."""
        if self.unit == "sample":
            return np.ones((self._n_samples.size, 1), np.int64)
        if self.unit == "subject":
            return weights[:-1].astype(np.int64)
        start = np.cumsum(self._n_samples) - self._n_samples  # its samples are drawn as often as it has some
        sums = np.add.reduceat(weights[: self.subject.size], start, axis=0, dtype=np.int64)
        return np.asarray(sums // self._n_samples[:, None])


def _within(parts: Floats, stratum: NDArray[np.integer[Any]]) -> Floats:
    """Sum the squared deviations of parts from the means of their strata. parts: (levels, n). Returns (levels,)."""
    size = np.maximum(np.bincount(stratum), 1)
    sums = np.stack([np.bincount(stratum, of_level) for of_level in parts])
    return np.asarray((parts**2).sum(axis=1) - (sums**2 / size).sum(axis=1))


def require_units(comparisons: Comparisons, unit: str) -> None:
    """Refuse comparisons that lack the subjects or samples to draw."""
    if unit == "comparison":
        return
    if comparisons.subjects is None:
        raise InputError(
            f'unit="{unit}" resamples subjects, but the comparisons have none: give reference and probe, or pass '
            'unit="comparison" (too narrow where a subject is in several comparisons) or n_resamples=0'
        )
    if unit != "subject" and comparisons.samples is None:
        raise InputError(
            f'unit="{unit}" resamples samples, but the comparisons have none: give reference_sample and '
            "probe_sample, or read them from paths with subject_pattern="
        )


def strata_of_subjects(comparisons: Comparisons) -> NDArray[np.integer]:
    """Number the strata in which subjects are drawn, (subjects,): the same whatever groups are looked at.

    Those who share the label of the first attribute make a stratum; inside, ten or more who share that of the next one
    do, and the others together. So an overall rate has one interval, not one for each attribute.
    """
    assert comparisons.subjects is not None
    stratum: NDArray[np.integer] = np.zeros(comparisons.subjects.size, np.int64)
    for k, name in enumerate(comparisons.attributes):
        stratum = _split(stratum, _labels_of_subjects(comparisons, name), _ENOUGH_SUBJECTS if k else 1)
    return stratum


def _split(stratum: NDArray[np.integer], label: NDArray[np.integer], enough: int) -> NDArray[np.integer]:
    """Split strata by labels, (subjects,), which fewer subjects than enough of a stratum do not share."""
    width = int(label.max()) + 1
    cells, cell, sizes = np.unique(stratum * width + label, return_inverse=True, return_counts=True)
    if enough > 1:
        of_cell = cells // width
        rest = np.bincount(of_cell, np.where(sizes < enough, sizes, 0))
        largest = np.zeros(rest.size, np.int64)
        for k in np.argsort(sizes, kind="stable"):
            largest[of_cell[k]] = k
        # The rest, where it is small itself, goes with the largest of its stratum.
        joined = np.where(rest[of_cell] < enough, largest[of_cell], sizes.size + of_cell)
        cell = np.where(sizes < enough, joined, np.arange(sizes.size))[cell]
    return np.unique(cell, return_inverse=True)[1]


def _labels_of_subjects(comparisons: Comparisons, name: str) -> NDArray[np.integer]:
    """Number the label of an attribute, or the range of labels, that each subject has, (subjects,)."""
    from fastfair.kernels import groups as kernels

    assert comparisons.subjects is not None
    if name in comparisons.mated.of_subject:
        return comparisons.mated.of_subject[name].astype(np.int64)
    n_subjects, n_labels = comparisons.subjects.size, len(comparisons.attributes[name])
    low, high = np.full(n_subjects, n_labels, np.int64), np.full(n_subjects, -1, np.int64)
    # Those that failed count, too, so that their subjects are drawn as those of the others are.
    for side in (comparisons.mated, comparisons.nonmated, *(comparisons.failed.sides if comparisons.failed else ())):
        assert side.reference is not None
        assert side.probe is not None
        for subject, label in zip((side.reference, side.probe), side.attribute(name), strict=True):
            kernels.widen_ranges(subject, label, low, high)
    return low * (n_labels + 1) + high

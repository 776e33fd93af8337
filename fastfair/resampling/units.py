"""The units that are resampled, their strata, and the drawing of their weights for a block of
replicates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from fastfair._lib.arrays import (
    AnyArray,
    AnyIntegers,
    Bytes,
    Codes,
    Flags,
    Floats,
    Integers,
    RandomKey,
)
from fastfair._lib.seeds import Purpose
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.sessions import sessions_of
from fastfair.data.sorted_scores import SortedSide
from fastfair.data.temporary_files import room
from fastfair.errors import FastfairError, InputError

BLOCK = 64  # replicates of a block, as in `kernels.philox`
Unit = Literal["comparison", "subject", "sample", "subject+sample"]
UNITS: tuple[Unit, ...] = get_args(Unit)
VectorUnit = Literal["sample", "subject", "subject+sample"]
VECTOR_UNITS: tuple[VectorUnit, ...] = get_args(VectorUnit)
# of a stratum inside another: replicates of n subjects vary by (n - 1) / n of what they should
_ENOUGH_SUBJECTS = 10
_LARGEST_TABLE = 2**22  # persons times sessions
_MOST_MARKS = 2**26  # persons times sessions, each of which is marked; more are sorted


@dataclass(frozen=True, eq=False)
class Draw:
    """Units drawn with replacement inside strata.

    Attributes
    ----------
    purpose : Purpose
        Number of the kind of draw, so that different kinds use different random numbers.
    row : (units,) int32
        The row of weights of each unit; those of a stratum are consecutive.
    sizes : (strata,) int64
        Number of units in each stratum.
    """

    purpose: Purpose
    row: Codes
    sizes: Integers

    @classmethod
    def of(cls, purpose: Purpose, stratum: AnyIntegers) -> Draw:
        """Give units consecutive rows within their strata, which are numbered from 0; none is
        empty.
        """
        order = np.argsort(stratum, kind="stable")
        row = np.empty(stratum.size, np.int32)
        row[order] = np.arange(stratum.size, dtype=np.int32)
        return cls(purpose, row, np.bincount(stratum))

    @property
    def size(self) -> int:
        """Number of units."""
        return self.row.size

    @property
    def stratum(self) -> Integers:
        """(units,) the stratum of each row."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def fill(self, first_replicate: int, key: RandomKey, weights: Bytes) -> None:
        """Draw the weights of 64 replicates into `weights`, (units, 64)."""
        from fastfair.kernels import weights as kernels

        words = np.empty((4, BLOCK), np.uint64)
        if not kernels.draw_with_replacement(
            np.cumsum(self.sizes), self.purpose.value, first_replicate, key, words, weights
        ):
            raise FastfairError(
                "a unit was drawn more than 255 times in one replicate; no fair draw does that"
            )


class Units:
    """Units in strata, each with a row of weights, and the rows of those that are compared.

    Parameters
    ----------
    unit : {"comparison", "subject", "sample", "subject+sample"}
        The units drawn with replacement: comparisons or subjects within strata; samples within each
        subject; or subjects, and then samples of these.
    stratum : (k,) ndarray of int
        The stratum of each subject, or comparison; none is empty.
    subject : (n,) ndarray of int, optional
        The subject of each sample, where samples are what is compared.
    part : (n,) ndarray of bool, optional
        Which of two parts of its subject's samples each belongs to, where these are drawn apart.
    pairs_itself : bool
        Whether a sample that is drawn twice makes a mated pair with itself, which never fails.

    Attributes
    ----------
    n_rows : int
        Number of rows of weights; the last row is all ones.
    stratum : (n_rows,) int32
        The stratum of each row.
    stratum_size : (strata,) int64
        Number of units in each stratum; 1 where weights never vary.
    n_units : int
        Number of units that the jackknife leaves out, one at a time.
    row : ndarray of int32
        The row of weights of each subject, comparison or sample that is compared.
    subject : (n,) ndarray of int32
        The subject of each sample, as a position in the order in which subjects are drawn.
    stratum_of_subject : (k,) ndarray of int, or None
        As given; None where comparisons are drawn.
    """

    def __init__(
        self,
        unit: str,
        stratum: AnyIntegers,
        subject: AnyIntegers | None = None,
        part: Flags | None = None,
        *,
        pairs_itself: bool = False,
    ) -> None:
        self.unit = unit
        self.pairs_itself = pairs_itself and "sample" in unit
        drawn = Draw.of(Purpose.COMPARISONS if unit == "comparison" else Purpose.SUBJECTS, stratum)
        self.stratum_of_subject = None if unit == "comparison" else stratum
        self._subjects = drawn
        self._draws = [drawn]
        self.row = drawn.row
        of_row = drawn.stratum
        if subject is not None:
            self.row = self.subject = drawn.row[subject]
        if "sample" in unit:
            # Samples are drawn within subjects, or parts of these, numbered as the rows of subjects
            # are.
            n_parts = 1 if part is None else 2
            of_parts = n_parts * self.subject + (0 if part is None else part)
            present, stratum_of_sample = np.unique(of_parts, return_inverse=True)
            samples = Draw.of(Purpose.SAMPLES, stratum_of_sample)
            self._owner = np.repeat(present // n_parts, samples.sizes).astype(np.int32)
            self._draws = [samples] if unit == "sample" else [drawn, samples]
            self.row = samples.row
            of_row = samples.stratum if unit == "sample" else np.tile(of_row[self._owner], 2)
        sizes = self._draws[0].sizes
        self.n_units = self._draws[0].size
        self.n_rows = of_row.size + 1
        self.stratum = np.append(of_row, sizes.size).astype(np.int32)
        self.stratum_size = np.append(sizes, 1)

    @classmethod
    def of_comparisons(cls, comparisons: Comparisons, unit: str) -> Units:
        """Draw units of comparisons; samples are drawn as `of_vectors` does where these are all
        pairs of vectors.

        Raises
        ------
        InputError
            Where the comparisons lack the subjects or samples to draw.
        """
        if unit == "comparison" and comparisons.sessions is None:
            return cls(
                unit, np.repeat(np.arange(2), [len(comparisons.mated), len(comparisons.nonmated)])
            )
        require_units(comparisons, unit)
        stratum = strata_of_subjects(comparisons)
        if comparisons.sessions is not None:
            cells = Cells.of(comparisons)
            return SessionUnits(stratum, cells, cells.weighed(comparisons))
        if unit == "subject":
            return cls(unit, stratum)
        pairing, part = comparisons.pairing, None
        if pairing is not None and pairing.two_sets:
            part = np.zeros(pairing.order.size, np.bool_)
            part[pairing.order] = pairing.is_probe
        pairs_itself = pairing is not None and part is None
        return cls(unit, stratum, comparisons.sample_subject, part, pairs_itself=pairs_itself)

    @classmethod
    def of_vectors(cls, embeddings: Embeddings, unit: str) -> Units:
        """Draw units of vectors, numbered as in the pairing: samples of a subject, references apart
        from probes.
        """
        if embeddings.sessions is not None:
            raise InputError(
                "pairs of vectors that are not listed draw people alone, and the vectors have"
                " sessions: take their method comparisons()"
            )
        pairing = embeddings.pairing
        stratum = np.unique(embeddings.subject_group, return_inverse=True)[1]
        part = pairing.is_probe if pairing.two_sets else None
        return cls(unit, stratum, pairing.subject, part, pairs_itself=part is None)

    def rows_of(self, mated: bool, first: Codes, second: Codes) -> tuple[Codes, Codes]:
        """Return the two rows whose product is the weight of each of some comparisons: (n,) each.

        first, second: (n,) numbers of the subjects, or samples, that are compared; of a comparison
        twice its own.
        """
        from fastfair.kernels import partners as kernels

        ones = np.int32(self.n_rows - 1)
        a = room(first.size, np.int32)
        b = room(first.size, np.int32)
        if mated and self.unit == "subject":
            return np.take(self.row, first, mode="clip", out=a), np.full(first.size, ones)
        kernels.rows_of_units(first, second, self.row, ones, a, b)
        if mated and self.unit == "subject+sample":
            b[b != ones] += np.int32(self._owner.size)
        return a, b

    def new_weights(self) -> Bytes:
        """Allocate the weights of a block so that each row takes one line of the processor's
        cache.
        """
        buffer = np.ones((self.n_rows + 1) * BLOCK, np.uint8)
        start = -buffer.ctypes.data % BLOCK
        return buffer[start : start + self.n_rows * BLOCK].reshape(self.n_rows, BLOCK)

    def draw(self, first_replicate: int, key: RandomKey, weights: Bytes) -> None:
        """Draw the weights of 64 replicates; each replicate depends only on the key and on its
        number.
        """
        raw = self._raw(weights)
        start = 0
        for draw in self._draws:
            draw.fill(first_replicate, key, raw[start : start + draw.size])
            start += draw.size
        self._multiply(raw, weights)

    def leave_one_out(self, first_unit: int, weights: Bytes) -> None:
        """Write the weights of 64 jackknife replicates; those beyond the last unit leave no unit
        out.
        """
        from fastfair.kernels import weights as kernels

        raw = self._raw(weights)
        kernels.leave_one_out(first_unit, self.n_units, raw)
        self._multiply(raw, weights)

    def _raw(self, weights: Bytes) -> Bytes:
        """Return the array that draws are written into, (units, 64): the rows of weights, or where
        both subjects and samples are drawn a new one, which `_multiply` takes to the rows.
        """
        n_units = sum(draw.size for draw in self._draws)
        return np.ones((n_units, BLOCK), np.uint8) if len(self._draws) > 1 else weights[:-1]

    def _multiply(self, raw: Bytes, weights: Bytes) -> None:
        """Multiply the weights of samples by those of their subjects, if both were drawn."""
        from fastfair.kernels import weights as kernels

        if len(self._draws) == 1:
            return
        n_samples = self._owner.size
        if not kernels.multiply_by_owner(self._owner, raw, weights[:n_samples]):
            raise FastfairError(
                "a sample was drawn more than 255 times in one replicate; no fair draw does that"
            )
        weights[n_samples:-1] = raw[-n_samples:]

    def per_row(self, of_subject: Floats) -> Floats:
        """Return for each row of weights the value of its subject, and 1 for the row of ones."""
        if self.unit != "subject":
            of_subject = np.tile(of_subject[self._owner], 2 if self.unit == "subject+sample" else 1)
        return np.append(of_subject, 1.0)

    def of_subjects(self, of_rows: AnyArray) -> Floats:
        """Add up what rows have for each subject whose samples are drawn: (rows,) to (k,)."""
        of_samples = of_rows[:-1].reshape(-1, self._owner.size).sum(axis=0)
        return np.bincount(self._owner, of_samples, self._subjects.size).astype(np.float64)

    def spread(self, errors: Floats) -> Floats:
        """Return the variance, in replicates, of sums over units, from the part of each row of
        weights in them.

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
        of_samples = errors[:, : self._owner.size]
        of_subjects: Floats = np.array(
            [np.bincount(self._owner, of_level) for of_level in of_samples], np.float64
        )
        return _within(of_samples, self._owner) + _within(of_subjects, self._subjects.stratum)

    def subject_weights(self, weights: Bytes) -> Integers:
        """Return how often each subject was drawn, and a row of ones: (k + 1, 64), or (k + 1, 1)
        where none are.
        """
        if self.unit == "sample":
            return np.ones((self._subjects.size + 1, 1), np.int64)
        if self.unit == "subject":
            return weights.astype(np.int64)
        n_samples = np.bincount(self._owner)  # as often as its samples are drawn in all
        start = np.cumsum(n_samples) - n_samples
        sums = np.add.reduceat(weights[: self._owner.size], start, axis=0, dtype=np.int64)
        return np.concatenate((sums // n_samples[:, None], np.ones((1, BLOCK), np.int64)))


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of comparisons: the persons whom each session has.

    Attributes
    ----------
    codes : (cells,) ndarray of int64
        Ascending: the number of the person times the number of sessions, plus that of the session.
    n_sessions : int
        Number of sessions.
    """

    codes: Integers
    n_sessions: int

    @classmethod
    def of(cls, comparisons: Comparisons) -> Cells:
        """Find the cells that comparisons have."""
        assert comparisons.subjects is not None
        assert comparisons.sessions is not None
        n_sessions = comparisons.sessions.size
        n_codes = comparisons.subjects.size * n_sessions
        columns = [
            person.astype(np.int64) * n_sessions + session
            for mated, side in ((True, comparisons.mated), (False, comparisons.nonmated))
            for person, session in zip(*persons_in_sessions(side, mated), strict=True)
        ]
        if n_codes > _MOST_MARKS:
            return cls(np.unique(np.concatenate([*map(np.unique, columns)])), n_sessions)
        seen = np.zeros(n_codes, np.bool_)
        for codes in columns:
            seen[codes] = True
        return cls(np.flatnonzero(seen), n_sessions)

    @cached_property
    def person(self) -> Codes:
        """(cells,) the person of each."""
        return (self.codes // self.n_sessions).astype(np.int32)

    @cached_property
    def session(self) -> Codes:
        """(cells,) the session of each."""
        return (self.codes % self.n_sessions).astype(np.int32)

    @cached_property
    def _places(self) -> Codes | None:
        """The cell of each code, where there is room for a table."""
        n_codes = int(self.codes[-1]) + 1 if self.codes.size else 0
        if n_codes > _LARGEST_TABLE:
            return None
        places = np.full(n_codes, -1, np.int32)
        places[self.codes] = np.arange(self.codes.size, dtype=np.int32)
        return places

    def __getstate__(self) -> dict[str, Any]:
        return {"codes": self.codes, "n_sessions": self.n_sessions}

    def number(self, person: AnyIntegers, session: AnyIntegers) -> Codes:
        """Return the cells of persons in sessions: (n,)."""
        codes = person.astype(np.int64) * self.n_sessions + session
        if self._places is not None:
            return self._places.take(codes, mode="clip")
        return np.searchsorted(self.codes, codes).astype(np.int32)

    def weighed(self, comparisons: Comparisons) -> Flags:
        """(cells,) whether each has a row of weights; see `SessionUnits`."""
        used = np.zeros(self.codes.size, np.bool_)
        for mated, side in ((True, comparisons.mated), (False, comparisons.nonmated)):
            persons, sessions = persons_in_sessions(side, mated)
            of_two, in_two = persons[0] != persons[1], sessions[0] != sessions[1]
            for end, marked in enumerate((in_two & of_two, in_two | of_two)):
                used[self.number(persons[end][marked], sessions[end][marked])] = True
        return used

    def of_side(self, side: SortedSide, mated: bool) -> tuple[Codes, Codes]:
        """Return the cells of references and of probes of comparisons; of a mated one those of one
        person.
        """
        persons, sessions = persons_in_sessions(side, mated)
        of_reference = self.number(persons[0], sessions[0])
        if mated and sessions[0] is sessions[1]:
            return of_reference, of_reference
        return of_reference, self.number(persons[1], sessions[1])


def persons_in_sessions(side: SortedSide, mated: bool) -> tuple[tuple[Codes, Codes], Any]:
    """Return who is compared, and in which sessions, on both sides."""
    reference, probe = side.compared()
    sessions = sessions_of(side)
    assert sessions is not None
    return (reference, reference if mated else probe), sessions


class SessionUnits(Units):
    """People and the sessions that they share, both drawn; a comparison is weighted by both.

    The weight of a cell, a person in a session, is the product of those of the person and of the
    session. Rows of weights are those of cells, of people, of sessions, and of ones, so that the
    weight of each comparison is that of two rows. Of a mated one they are the person and the
    session; or, of two sessions, the probe's cell and the other session. Of a non-mated one they
    are the probe's cell and the reference's person; or, where the reference is of another session,
    its cell. So a cell has a row only where a comparison needs it, and a reference that
    is compared on many days needs no row for each of them. Sessions cross groups, and make one
    stratum.

    Parameters
    ----------
    stratum : (k,) ndarray of int
        The stratum of each person.
    cells : Cells
        The cells of the comparisons.
    weighed : (cells,) ndarray of bool
        Which have a row of weights.

    Attributes
    ----------
    cells : Cells
        As given.
    kinds : tuple of Units
        People, sessions and cells, each drawn alone.
    """

    def __init__(self, stratum: AnyIntegers, cells: Cells, weighed: Flags) -> None:
        super().__init__("subject", stratum)
        self.cells = cells
        self._cell = np.flatnonzero(weighed).astype(np.int32)  # of each row
        self._row_of_cell = np.cumsum(weighed, dtype=np.int32) - np.int32(1)
        n_cells, n_people = self._cell.size, self.row.size
        of_sessions, of_cells = (
            Units("subject", np.zeros(n, np.int64)) for n in (cells.n_sessions, cells.codes.size)
        )
        self.kinds = Units("subject", stratum), of_sessions, of_cells
        self._draws.append(Draw.of(Purpose.SESSIONS, np.zeros(cells.n_sessions, np.int64)))
        self._person = np.argsort(self.row).astype(np.int32)  # of each row of a person
        rows_of_persons = self.row[cells.person[self._cell]]
        # of each row of a cell, those of its person and session in what is drawn
        self._factors = rows_of_persons, cells.session[self._cell] + np.int32(n_people)
        self.row = self.row + np.int32(n_cells)
        self._first_session = n_cells + n_people
        self.n_rows = self._first_session + cells.n_sessions + 1
        of_people, n_strata = self._subjects.stratum, self._subjects.sizes.size
        of_row = [of_people[rows_of_persons], of_people]
        of_row += [np.full(cells.n_sessions, n_strata), np.array([n_strata + 1])]
        self.stratum = np.concatenate(of_row).astype(np.int32)
        self.stratum_size = np.append(self._subjects.sizes, [cells.n_sessions, 1])

    def rows_of_part(self, side: SortedSide, mated: bool, part: slice) -> tuple[Codes, Codes]:
        """Return the two rows whose product is the weight of each of some comparisons: (n,) each."""
        persons, sessions = persons_in_sessions(side, mated)
        reference, probe = (column[part] for column in persons)
        first, second = (column[part] for column in sessions)
        people = self.row[reference]
        of_session = first + np.int32(self._first_session)
        in_one = first == second
        if mated and in_one.all():
            return people, of_session
        of_probe = self._row_of_cell[self.cells.number(probe, second)]
        b = np.where(in_one, people, of_probe)
        if mated:
            return b, of_session
        a = of_probe
        if not in_one.all():
            of_reference = self._row_of_cell[self.cells.number(reference, first)]
            a = np.where(in_one, of_probe, of_reference)
        of_one = reference == probe
        a[of_one], b[of_one] = b[of_one], of_session[of_one]
        return a, b

    def cells_of_rows(self, a: AnyIntegers, b: AnyIntegers) -> tuple[Codes, Codes]:
        """Return the cells of references and of probes from both rows of comparisons."""
        cells, n_cells = self.cells, self._cell.size
        first = np.empty(a.size, np.int32)
        of_cell, is_session = a < n_cells, b >= self._first_session
        first[of_cell] = self._cell[a[of_cell]]
        in_one = ~of_cell
        persons = self._person[a[in_one] - n_cells]
        first[in_one] = cells.number(persons, b[in_one] - self._first_session)
        second = first.copy()
        is_cell = b < n_cells
        second[is_cell] = self._cell[b[is_cell]]
        is_person = ~is_cell & ~is_session
        persons = self._person[b[is_person] - n_cells]
        first[is_person] = cells.number(persons, cells.session[second[is_person]])
        in_two = of_cell & is_session
        sessions = b[in_two] - self._first_session
        first[in_two] = cells.number(cells.person[second[in_two]], sessions)
        return first, second

    def rows_of_kinds(self, mated: bool, first: Codes, second: Codes) -> list[tuple[Codes, Codes]]:
        """Return the rows of comparisons where people, sessions or cells are drawn alone.

        first, second: (n,) the cells of their references and of their probes.
        """
        person, session = self.cells.person, self.cells.session
        people, sessions, cells = self.kinds
        return [
            people.rows_of(mated, person[first], person[second]),
            sessions.rows_of(False, session[first], session[second]),
            cells.rows_of(False, first, second),
        ]

    def _raw(self, weights: Bytes) -> Bytes:
        """Return the rows of people and sessions."""
        return weights[self._cell.size : -1]

    def _multiply(self, raw: Bytes, weights: Bytes) -> None:
        """Multiply the weights of people by those of sessions."""
        from fastfair.kernels import weights as kernels

        n_cells, n_people = self._cell.size, self._person.size
        largest = math.prod(int(part.max()) for part in (raw[:n_people], raw[n_people:]))
        if not kernels.multiply_rows(*self._factors, raw, largest, weights[:n_cells]):
            raise FastfairError(
                "a person in a session was drawn more than 255 times in one replicate; no fair draw"
                " does that"
            )


def _within(parts: Floats, stratum: AnyIntegers) -> Floats:
    """Sum the squared deviations of parts from the means of their strata. parts: (levels, n).
    Returns (levels,).
    """
    size = np.maximum(np.bincount(stratum), 1)
    sums = np.stack([np.bincount(stratum, of_level) for of_level in parts])
    return (parts**2).sum(axis=1) - (sums**2 / size).sum(axis=1)


def require_units(comparisons: Comparisons, unit: str) -> None:
    """Refuse comparisons that lack the subjects or samples to draw."""
    if comparisons.sessions is not None and unit != "subject":
        raise InputError(
            f'⟦unit="{unit}"⟧ draws no sessions, which the comparisons have: leave ⟦unit=⟧ out, or'
            " make the comparisons without ⟦session=⟧"
        )
    if unit == "comparison":
        return
    if comparisons.subjects is None:
        raise InputError(
            f'⟦unit="{unit}"⟧ resamples subjects, but the comparisons have none: give reference and'
            ' probe, or pass ⟦unit="comparison"⟧ (too narrow where a subject is in several'
            " comparisons) or ⟦n_resamples=0⟧"
        )
    if unit != "subject" and comparisons.samples is None:
        raise InputError(
            f'⟦unit="{unit}"⟧ resamples samples, but the comparisons have none: give'
            " reference_sample and probe_sample, or read them from paths with ⟦subject_pattern=⟧"
        )


def strata_of_subjects(comparisons: Comparisons) -> AnyIntegers:
    """Number the strata in which subjects are drawn, (subjects,): the same whatever groups are
    looked at.

    Those who share the label of the first attribute make a stratum; inside, ten or more who share
    that of the next one do, and the others together. So an overall rate has one interval, not one
    for each attribute. Ten or more it must be also of an attribute of which people have several
    labels, such as species of attacks, as few have the same.
    """
    assert comparisons.subjects is not None
    stratum: AnyIntegers = np.zeros(comparisons.subjects.size, np.int64)
    for k, name in enumerate(comparisons.attributes):
        is_of_people = name in comparisons.mated.of_subject
        enough = 1 if is_of_people and not k else _ENOUGH_SUBJECTS
        stratum = _split(stratum, _labels_of_subjects(comparisons, name), enough)
    return stratum


def _split(stratum: AnyIntegers, label: AnyIntegers, enough: int) -> AnyIntegers:
    """Split strata by labels, (subjects,), which fewer subjects than enough of a stratum do not
    share.
    """
    width = int(label.max()) + 1
    cells, cell, sizes = np.unique(stratum * width + label, return_inverse=True, return_counts=True)
    if enough > 1:
        of_cell = cells // width
        rest = np.bincount(of_cell, np.where(sizes < enough, sizes, 0))
        largest = np.zeros(rest.size, np.int64)
        ascending = np.argsort(sizes, kind="stable")
        largest[of_cell[ascending]] = ascending  # the last one stays
        # The rest, where it is small itself, goes with the largest of its stratum.
        joined = np.where(rest[of_cell] < enough, largest[of_cell], sizes.size + of_cell)
        cell = np.where(sizes < enough, joined, np.arange(sizes.size))[cell]
    return np.unique(cell, return_inverse=True)[1]


def _labels_of_subjects(comparisons: Comparisons, name: str) -> AnyIntegers:
    """Number the label of an attribute, or the range of labels, that each subject has,
    (subjects,).
    """
    from fastfair.kernels import groups as kernels

    assert comparisons.subjects is not None
    if name in comparisons.mated.of_subject:
        return comparisons.mated.of_subject[name].astype(np.int64)
    n_subjects = comparisons.subjects.size
    n_labels = len(comparisons.attributes[name])
    low = np.full(n_subjects, n_labels, np.int64)
    high = np.full(n_subjects, -1, np.int64)
    # Those that failed count, too, so that their subjects are drawn as those of the others are.
    for side in (
        comparisons.mated,
        comparisons.nonmated,
        *(comparisons.failed.sides if comparisons.failed else ()),
    ):
        assert side.reference is not None
        assert side.probe is not None
        for subject, label in zip((side.reference, side.probe), side.attribute(name), strict=True):
            kernels.widen_ranges(subject, label, low, high)
    return low * (n_labels + 1) + high

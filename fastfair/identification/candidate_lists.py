"""Candidate lists: entries arranged by search, and what is kept of lists that come part by part."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fastfair._lib.arrays import AnyIntegers, Codes, Floats, Indices, Integers


@dataclass(frozen=True)
class CandidateLists:
    """Candidate lists.

    Attributes
    ----------
    scores : (searches, places) ndarray
        Similarities, descending; -inf for empty places, and for what has no score.
    people : (searches, places) ndarray of int32
        Who has them; -1 for empty places.
    length : (searches,) ndarray of int64
        How many entries each list has.
    """

    scores: Floats
    people: Codes
    length: Integers

    @classmethod
    def of_entries(
        cls,
        search: AnyIntegers,
        person: AnyIntegers,
        scores: Floats,
        places: tuple[Indices, Indices],
        n: int,
    ) -> CandidateLists:
        """Arrange entries, in any order, as lists of n searches.

        search, person: codes, of which `places` has the searches and the people.
        """
        from fastfair.kernels.candidate_lists import fill_lists

        longest = int(np.bincount(search).max(initial=0))
        listed, who = np.full((n, longest), -np.inf), np.full((n, longest), -1, np.int32)
        length, is_unsorted = np.zeros(n, np.int64), np.zeros(n, np.bool_)
        fill_lists(search, person, scores, places, (listed, who, length, is_unsorted))
        rows = np.flatnonzero(is_unsorted)
        order = np.argsort(-listed[rows], axis=1, kind="stable")
        listed[rows] = np.take_along_axis(listed[rows], order, 1)
        who[rows] = np.take_along_axis(who[rows], order, 1)
        return cls(listed, who, length)

    def of_people(self) -> CandidateLists:
        """Keep the best entry of each person on a list."""
        n, longest = self.people.shape
        by_person = np.argsort(self.people, axis=1, kind="stable")
        sorted_people = np.take_along_axis(self.people, by_person, 1)
        first = np.ones((n, longest), np.bool_)
        first[:, 1:] = sorted_people[:, 1:] != sorted_people[:, :-1]
        is_best = np.empty_like(first)
        np.put_along_axis(is_best, by_person, first, 1)
        is_best &= self.people >= 0
        search = np.nonzero(is_best)[0]
        places = np.arange(n), np.arange(self.people.max() + 1)
        people, scores = self.people[is_best], self.scores[is_best]
        return CandidateLists.of_entries(search, people, scores, places, n)


@dataclass
class KeptLists:
    """What is kept of candidate lists, which come part by part, each search's list in one part.

    Attributes
    ----------
    subject : (searches,) ndarray of int32
        The person of each probe.
    n_kept : int or None
        How many of the best other people are kept of each search; None for all.
    are_templates : bool
        Whether people may be on a list several times, of which the best entry counts.
    mate_score : (searches,) ndarray
        The mate's score, NaN where a list lacks the mate.
    n_ahead : (searches,) ndarray of int64
        How many others on the list have at least that score.
    length : (searches,) ndarray of int64
        How many entries each list has.
    end : (searches,) ndarray
        The last score of each list.
    cut : (searches,) ndarray
        The last score kept of lists of which others are not kept; else -inf.
    has_score : (searches,) ndarray of bool
        Whether some entry of the list has a score.
    longest, lowest : int, float
        Of all lists, the number of entries, and the lowest score.
    """

    subject: Codes
    n_kept: int | None
    are_templates: bool
    longest: int = 0
    lowest: float = np.inf
    _parts: list[tuple[Indices, Floats, Codes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = self.subject.size
        self.mate_score = np.full(n, np.nan)
        self.n_ahead, self.length = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.end, self.cut = np.full(n, -np.inf), np.full(n, -np.inf)
        self.has_score = np.zeros(n, np.bool_)

    def add(
        self,
        search: AnyIntegers,
        person: AnyIntegers,
        scores: Floats,
        places: tuple[Indices, Indices],
    ) -> tuple[int, int] | None:
        """Add the lists of some searches that have none yet; return a search and somebody who is
        twice on its list, if there is one.

        places: (labels,) the row of each search, and the person, of each code.
        """
        from fastfair.kernels.candidate_lists import take_mates

        row_of, person_of = places
        codes = np.flatnonzero(np.bincount(search, minlength=row_of.size))
        codes = codes[np.argsort(row_of[codes])]
        rows = row_of[codes]
        local = np.zeros(row_of.size, np.int64)
        local[codes] = np.arange(codes.size)
        lists = CandidateLists.of_entries(search, person, scores, (local, person_of), rows.size)
        self.longest = max(self.longest, lists.scores.shape[1])
        is_score = lists.scores > -np.inf
        self.lowest = float(lists.scores.min(initial=self.lowest, where=is_score))
        self.length[rows] = lists.length
        self.end[rows] = lists.scores[np.arange(rows.size), lists.length - 1]
        self.has_score[rows] = is_score[:, 0]
        if self.are_templates:
            lists = lists.of_people()
        best, who = lists.scores, lists.people
        mate_score, n_ahead = np.empty(rows.size), np.empty(rows.size, np.int64)
        last_list = np.full(int(person_of.max()) + 1, -1)
        again = take_mates(best, who, self.subject[rows], mate_score, n_ahead, last_list)
        if again >= 0:
            return int(rows[again]), int(np.bincount(who[again][who[again] >= 0]).argmax())
        self.mate_score[rows], self.n_ahead[rows] = mate_score, n_ahead
        n_kept = self.n_kept
        if n_kept is not None and n_kept < best.shape[1]:
            self.cut[rows] = np.where(best[:, n_kept] > -np.inf, best[:, n_kept - 1], -np.inf)
            best, who = best[:, :n_kept].copy(), who[:, :n_kept].copy()
        self._parts.append((rows, best, who))
        return None

    def together(self) -> tuple[Floats, Codes]:
        """Return the scores and the people kept of all searches, and forget them."""
        n, parts = self.subject.size, self._parts
        if len(parts) == 1 and parts[0][0].size == n:
            return parts.pop()[1:]
        width = max(best.shape[1] for _, best, _ in parts)
        scores, people = np.full((n, width), -np.inf), np.full((n, width), -1, np.int32)
        while parts:
            rows, best, who = parts.pop()
            scores[rows, : best.shape[1]], people[rows, : best.shape[1]] = best, who
        return scores, people

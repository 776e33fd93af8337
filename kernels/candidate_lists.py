"""Arrange the entries of candidate lists, and take mates out of them, in one pass each."""

from __future__ import annotations

import numpy as np

from ._jit import jit_if_large


@jit_if_large
def fill_lists(search, person, values, places, lists):
    """Write each entry to the next place of its search's list.

    search, person: (n,) integers, codes of labels; values: (n,) float64; places: (labels,) int64 of
    codes of searches, their rows, and of codes of people; lists: scores (searches, longest) float64
    and people (searches, longest) int32, filled with what empty places hold, length (searches,)
    int64, zeros, and is_unsorted (searches,) bool, False where no score rises, out
    """
    (row_of, person_of), (scores, people, length, is_unsorted) = places, lists
    for k in range(values.size):
        row = row_of[search[k]]
        place = length[row]
        scores[row, place] = values[k]
        people[row, place] = person_of[person[k]]
        if place > 0 and values[k] > scores[row, place - 1]:
            is_unsorted[row] = True
        length[row] = place + 1


@jit_if_large
def take_mates(scores, people, mate, mate_score, n_ahead, last_list):
    """Take mates out of lists, whose later entries move up.

    scores, people: lists as `fill_lists` makes them, descending, changed in place: scores of -inf
    are of nobody (-1); mate: (searches,) int32, the person of each probe; mate_score: (searches,)
    float64, out, NaN where a list lacks that person; n_ahead: (searches,) int64, out, how many
    others on the list have at least the mate's score, all where it lacks the mate; last_list:
    (people,) int64, -1, overwritten. Returns the first search that has somebody twice, -1 where
    there is none, before which lists have changed.
    """
    longest = scores.shape[1]
    for s in range(scores.shape[0]):
        place = -1
        for p in range(longest):
            person = people[s, p]
            if person < 0:
                continue
            if last_list[person] == s:
                return s
            last_list[person] = s
            if person == mate[s]:
                place = p
        of_mate = scores[s, place] if place >= 0 else -np.inf
        mate_score[s] = of_mate if place >= 0 else np.nan
        n_ahead[s] = 0
        for p in range(longest):
            score = scores[s, p]
            if p != place and score >= of_mate and score > -np.inf:
                n_ahead[s] += 1
            if score == -np.inf:
                people[s, p] = -1
        if place >= 0:
            for p in range(place, longest - 1):
                scores[s, p], people[s, p] = scores[s, p + 1], people[s, p + 1]
            scores[s, longest - 1], people[s, longest - 1] = -np.inf, -1
    return -1


@jit_if_large
def are_ranked(search, values, rank, is_seen):
    """Return whether lists stand one after another, each with ranks that count from the same 0 or 1
    and scores that do not rise.

    search: (n,) integers, codes; values: (n,) floats; rank: (n,) floats; is_seen: (labels,) bool,
    False, overwritten
    """
    if values.size and not (rank[0] == 0 or rank[0] == 1):
        return False
    for k in range(values.size):
        begins = k == 0 or search[k] != search[k - 1]
        if begins:
            if is_seen[search[k]] or rank[k] != rank[0]:
                return False
            is_seen[search[k]] = True
        elif rank[k] != rank[k - 1] + 1 or values[k] > values[k - 1]:
            return False
    return True

"""Candidate lists, against the same in loops over Python's lists."""

from __future__ import annotations

import numpy as np
from fastfair.kernels.candidate_lists import are_ranked, fill_lists, take_mates
from hypothesis import given
from hypothesis import strategies as st

ENTRIES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([-np.inf, 0.1, 0.2, 0.3])),
    max_size=12,
)


@given(ENTRIES, st.permutations(range(4)), st.permutations(range(5)))
def test_entries_are_filled_in_the_order_of_rows(entries, rows, people):
    search, person, scores = (
        np.array([entry[k] for entry in entries], kind)
        for k, kind in enumerate((np.int32, np.uint16, float))
    )
    expected = [
        [(people[who], score) for of, who, score in entries if of == code] for code in range(4)
    ]
    longest = max(map(len, expected))
    listed, who = np.full((4, longest), -np.inf), np.full((4, longest), -1, np.int32)
    length, is_unsorted = np.zeros(4, np.int64), np.zeros(4, np.bool_)
    fill_lists(
        search,
        person,
        scores,
        (np.array(rows), np.array(people)),
        (listed, who, length, is_unsorted),
    )
    for code, entries_of in enumerate(expected):
        n, row = len(entries_of), rows[code]
        assert length[row] == n
        assert list(zip(who[row].tolist()[:n], listed[row].tolist()[:n], strict=True)) == entries_of
        assert (who[row, n:] == -1).all()
        assert (listed[row, n:] == -np.inf).all()
        in_order = sorted((score for _, score in entries_of), reverse=True)
        assert is_unsorted[row] == ([score for _, score in entries_of] != in_order)


LISTS = st.lists(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from([-np.inf, 0.1, 0.2, 0.3])),
        max_size=4,
        unique_by=lambda entry: entry[0],
    ),
    min_size=1,
    max_size=4,
)


@given(LISTS, st.lists(st.integers(0, 6), min_size=4, max_size=4), st.booleans())
def test_mates_leave_their_lists(lists, mates, repeats):
    lists = [sorted(entries, key=lambda entry: -entry[1]) for entries in lists]
    if repeats and lists[-1]:
        lists[-1].append((lists[-1][0][0], -np.inf))
    n, longest = len(lists), max(1, *map(len, lists))
    scores, people = np.full((n, longest), -np.inf), np.full((n, longest), -1, np.int32)
    for row, entries in enumerate(lists):
        for place, (who, score) in enumerate(entries):
            scores[row, place], people[row, place] = score, who
    mate_score, n_ahead = np.empty(n), np.empty(n, np.int64)
    mate = np.array(mates[:n], np.int32)
    again = take_mates(scores, people, mate, mate_score, n_ahead, np.full(7, -1))
    if repeats and lists[-1]:
        assert again == n - 1
        return
    assert again == -1
    for row, entries in enumerate(lists):
        of_mate = [score for who, score in entries if who == mates[row]]
        others = [(who, score) for who, score in entries if who != mates[row]]
        limit = of_mate[0] if of_mate else -np.inf
        assert np.array_equal(mate_score[row], of_mate[0] if of_mate else np.nan, equal_nan=True)
        assert n_ahead[row] == sum(score >= limit and score > -np.inf for _, score in others)
        left = [(who if score > -np.inf else -1, score) for who, score in others]
        left += [(-1, -np.inf)] * (longest - len(left))
        assert list(zip(people[row].tolist(), scores[row].tolist(), strict=True)) == left


ROWS = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from([0.1, 0.2, np.nan]), st.sampled_from([0, 1, 2, np.nan])
    ),
    max_size=6,
)


def ranked(rows):
    """Say in loops whether rows are lists one after another with ranks that go with scores."""
    runs = []
    for row in rows:
        if not runs or runs[-1][0][0] != row[0]:
            runs.append([])
        runs[-1].append(row)
    names = [run[0][0] for run in runs]
    first = rows[0][2] if rows else 0
    return (
        first in (0, 1)
        and len(set(names)) == len(names)
        and all(
            [rank for _, _, rank in run] == [first + k for k in range(len(run))]
            and not any(run[k][1] > run[k - 1][1] for k in range(1, len(run)))
            for run in runs
        )
    )


@given(ROWS)
def test_ranks_are_right_as_in_loops(rows):
    search, scores, rank = (
        np.array([row[k] for row in rows], kind) for k, kind in enumerate((np.int32, float, float))
    )
    assert are_ranked(search, scores, rank, np.zeros(3, np.bool_)) == ranked(rows)

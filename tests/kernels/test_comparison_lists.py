"""The numbers of distinct pairs, against sets of pairs."""

from __future__ import annotations

import numpy as np
from fastfair.kernels import comparison_lists as kernels
from hypothesis import given
from hypothesis import strategies as st

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_pairs_of_lists_are_numbered_and_counted(lists):
    comparisons = [pair for pairs in lists for pair in pairs]
    a, b = np.array(comparisons, np.int32).reshape(-1, 2).T.copy()
    end = np.cumsum([len(pairs) for pairs in lists])
    begin = end - [len(pairs) for pairs in lists]
    pair, *of_pairs = np.full((4, a.size), -1, np.int32)
    found = np.empty(end.size, np.int64)
    kernels.number_pairs(a, b, begin, end, 7, pair, tuple(of_pairs), found)
    for k, pairs in enumerate(lists):
        ordered = [tuple(sorted(one)) for one in pairs]
        assert found[k] == len(set(ordered))
        of_list = slice(begin[k], begin[k] + found[k])
        first, second, repeats = (column[of_list].tolist() for column in of_pairs)
        assert {pair: ordered.count(pair) for pair in set(ordered)} == dict(
            zip(zip(first, second, strict=True), repeats, strict=True)
        )
        numbers = pair[begin[k] : end[k]].tolist()
        assert [(first[number], second[number]) for number in numbers] == ordered
        changes = [
            unit for unit, before in zip(first, [None, *first], strict=False) if unit != before
        ]
        assert len(changes) == len(set(changes))  # pairs with the same smaller unit lie together


@given(st.lists(st.integers(0, 4), max_size=30), st.booleans())
def test_comparisons_are_divided_in_order(lists, flip):
    of_comparison, n = np.array(lists, np.uint16), len(lists)
    keys, a, b = (
        np.arange(n, dtype=np.int64),
        np.arange(n, dtype=np.int32) + 1,
        np.arange(n, dtype=np.int32) + 2,
    )
    of_each = [range(n), *([p for p in range(n) if lists[p] == k] for k in range(1, 5))]
    sizes = np.array([*map(len, of_each)])
    end = np.cumsum(sizes)
    out = np.empty(end[-1], np.int64), np.empty(end[-1], np.int32), np.empty(end[-1], np.int32)
    kernels.divide((keys, a, b), of_comparison, flip, end - sizes, out)
    for k, expected in enumerate(of_each):
        order = expected[::-1] if flip else expected
        of_list = slice(end[k] - sizes[k], end[k])
        assert out[0][of_list].tolist() == [~p if flip else p for p in order]
        assert out[1][of_list].tolist() == [p + 1 for p in order]
        assert out[2][of_list].tolist() == [p + 2 for p in order]

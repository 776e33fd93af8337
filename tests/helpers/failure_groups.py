"""Groups of subjects with failures and attempts, for the oracle and for the library."""

from __future__ import annotations

from hypothesis import strategies as st
from oracles import groups as slow

import fastfair as ff

LABELS = "abcdefgh"

subjects = st.integers(1, 5).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m)))


def groups_of(least: int = 1, fewest: int = 1) -> st.SearchStrategy[list[list[tuple[int, int]]]]:
    """Groups as the oracle has them."""
    return st.lists(st.lists(subjects, min_size=least, max_size=5), min_size=fewest, max_size=4)


def counts_of(groups: slow.Groups) -> ff.FailureCounts:
    """The subjects of groups "a", "b" and so on, in turns."""
    rows = [
        (i, e, m, LABELS[g]) for g, group in enumerate(groups) for i, (e, m) in enumerate(group)
    ]
    _, failures, attempts, labels = zip(*sorted(rows), strict=True)
    return ff.FailureCounts(failures, attempts, labels)

"""What is kept of lists that come in parts, against lists that come at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastfair.identification.candidate_lists import KeptLists


@given(
    st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([None, 1, 2, 9]), st.booleans()
)
def test_parts_keep_what_all_lists_keep(seed, n_parts, n_kept, are_templates):
    rng = np.random.default_rng(seed)
    n, n_people = int(rng.integers(n_parts, 9)), 6
    subject = rng.integers(0, n_people + 2, n).astype(np.int32)
    search, person = np.nonzero(rng.random((n, n_people)) < 0.6)
    if not search.size:
        return
    scores = rng.integers(0, 5, search.size) / 10
    places = np.arange(n), np.arange(n_people) // (2 if are_templates else 1)
    whole = KeptLists(subject, None, are_templates)
    assert whole.add(search, person, scores, places) is None
    parts = KeptLists(subject, n_kept, are_templates)
    of_part = rng.integers(0, n_parts, n)[search]
    for part in range(n_parts):
        rows = rng.permutation(np.flatnonzero(of_part == part))
        rows = rows[np.argsort(search[rows], kind="stable")] if rng.random() < 0.5 else rows
        if rows.size:
            assert parts.add(search[rows], person[rows], scores[rows], places) is None
    for name in ("mate_score", "n_ahead", "length", "end", "has_score"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name), equal_nan=True)
    assert (whole.longest, whole.lowest) == (parts.longest, parts.lowest)
    best, kept = whole.together()[0], parts.together()[0]
    width = min(kept.shape[1], best.shape[1])
    assert (kept[:, :width] == best[:, :width]).all()
    assert (kept[:, width:] == -np.inf).all()
    if n_kept is None or n_kept >= best.shape[1]:
        assert (parts.cut == -np.inf).all()
        return
    for row, scores_of in enumerate(best):
        others = scores_of[n_kept:][scores_of[n_kept:] > -np.inf]
        assert parts.cut[row] == (scores_of[n_kept - 1] if others.size else -np.inf)
        assert (others <= parts.cut[row]).all()

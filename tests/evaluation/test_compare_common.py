"""`compare` of systems that lack some of each other's comparisons."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from helpers.data_sets import columns
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.data.derived import shared_comparisons

AT = ff.at_threshold(1.0)


def some(made: dict, rows: np.ndarray) -> ff.Comparisons:
    return ff.Comparisons(**{name: value[rows] for name, value in made.items()})


@pytest.mark.jit
def test_only_rows_that_both_have_are_compared_and_the_others_are_counted():
    made = columns()
    keys = list(zip(made["reference"].tolist(), made["probe"].tolist(), strict=True))
    distinct = np.array([k for k, key in enumerate(keys) if keys.index(key) == k])
    made = {name: value[distinct] for name, value in made.items()}
    n = distinct.size
    here, there = np.arange(n) % 10 > 0, np.arange(n) % 9 < 8
    shuffled = np.random.default_rng(0).permutation(np.flatnonzero(there))
    noisy = made | {"scores": made["scores"] + np.random.default_rng(1).normal(0, 0.5, n)}
    first, second = some(made, here), some(noisy, shuffled)
    refused("common=True", ff.compare, first, second, at=AT, rng=0)
    asked = {"at": AT, "n_resamples": 100, "rng": 3}
    found = ff.compare(first, second, common=True, **asked)
    both = here & there
    expected = ff.compare(some(made, both), some(noisy, both), **asked)
    for row, other in zip(found.contrasts, expected.contrasts, strict=True):
        values = [(r.first, r.second, r.low, r.high, r.pvalue) for r in (row, other)]
        assert values[0] == pytest.approx(values[1], abs=1e-12, nan_ok=True), row.title
    counted = {record.system: record for record in found.left_out}
    assert counted["first"].n == np.count_nonzero(here & ~there)
    assert counted["second"].n == np.count_nonzero(there & ~here)
    assert counted["first"].n_before == np.count_nonzero(here)
    assert "comparisons left out, as other systems lack them" in found.summary()
    refused("leave it out", ff.compare, first, second, common=True, paired=False)


PAIR = st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(st.lists(PAIR, min_size=1, max_size=12), st.lists(PAIR, min_size=1, max_size=12))
def test_as_many_of_each_pair_are_kept_as_all_have(first, second):
    def comparisons(pairs):
        reference, probe = zip(*pairs, strict=True)
        mated = np.equal(reference, probe)
        policies = ff.Policies(self_comparisons="keep")
        labels = (list(map(str, side)) for side in (reference, probe))
        return ff.Comparisons(np.arange(len(pairs)), mated, *labels, policies=policies)

    both = Counter(first) & Counter(second)
    systems = {"a": comparisons(first), "b": comparisons(second)}
    if not both:
        refused("no comparisons are in all systems", shared_comparisons, systems)
        return
    kept = shared_comparisons(systems)
    for data in kept.values():
        seen = Counter(
            (int(data.subjects[i]), int(data.subjects[j]))
            for side in (data.mated, data.nonmated)
            for i, j in zip(*side.compared(), strict=True)
        )
        assert seen == both
        assert sorted(data.subjects) == sorted({str(k) for pair in both for k in pair})

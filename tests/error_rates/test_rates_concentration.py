"""The share of errors that involve the few subjects with most of them, against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import concentration as slow

import fastfair as ff


@pytest.mark.filterwarnings("ignore::fastfair.errors.EmptyGroupWarning")  # drawn by chance
@given(seed=st.integers(0, 10**6), n_subjects=st.integers(2, 45), n_groups=st.integers(1, 3))
def test_shares_are_those_of_the_oracle(seed, n_subjects, n_groups):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 120))
    mated = np.arange(n) % 3 == 0
    reference = rng.integers(0, n_subjects, n)
    probe = np.where(mated, reference, (reference + rng.integers(1, n_subjects, n)) % n_subjects)
    group = rng.integers(0, n_groups, n_subjects)
    scores = rng.normal(size=n) + 0.5 * (rng.random(n_subjects) < 0.2)[reference]
    c = ff.Comparisons(scores, mated, reference, probe, group[reference], group[probe])
    ev = ff.evaluate(
        c,
        ff.at_threshold(0.5),
        [],
        metrics=[],
        n_resamples=0,
        settings=ff.EvaluationSettings(incomplete_groups="nan"),
    )
    order = [int(label) for label in c.subjects]
    for q in ev.quantities:
        if q.name == "threshold":
            assert q.concentration is None
            continue
        inside = mated if q.name == "fnmr" else ~mated
        groups = (q.group, q.probe_group or q.group)
        if q.group is not None:
            inside = (
                inside
                & (group[reference].astype(str) == groups[0])
                & (group[probe].astype(str) == groups[1])
            )
        wrong = inside & ((scores < 0.5) == mated)
        known = set(np.concatenate((reference[inside], probe[inside])).tolist())
        subjects = [k for k in order if k in known]
        if not wrong.any():
            assert q.concentration is None
        else:
            errors = list(zip(reference[wrong].tolist(), probe[wrong].tolist(), strict=True))
            assert q.concentration == pytest.approx(slow.concentration(errors, subjects))


def test_without_subjects_it_is_not_known():
    ev = ff.evaluate(
        ff.Comparisons([0.1, 0.9, 0.8], [1, 0, 1]), ff.at_threshold(0.5), metrics=[], n_resamples=0
    )
    assert ev.quantity("fmr").n_errors == 1
    assert ev.quantity("fmr").concentration is None

"""How numbers of errors of groups vary, against the oracle and against counts drawn anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import count_models as slow

import fastfair as ff
from fastfair.resampling.engine import NO_METRICS, Resampler


@given(seed=st.integers(0, 10**6), n_subjects=st.integers(4, 12), n=st.integers(20, 90))
def test_models_are_those_of_the_oracle(seed, n_subjects, n):
    rng = np.random.default_rng(seed)
    mated = rng.random(n) < 0.4
    mated[:4] = True, True, False, False
    group = np.arange(n_subjects) % 2
    reference = rng.integers(0, n_subjects, n)
    reference[:4] = 0, 1, 0, 1
    # Partners of the same group.
    probe = np.where(
        mated, reference, (reference + 2 * rng.integers(1, n_subjects, n)) % (n_subjects // 2 * 2)
    )
    probe = np.where((probe == reference) & ~mated, (reference + 2) % (n_subjects // 2 * 2), probe)
    same = group[probe] == group[reference]
    scores = rng.integers(0, 6, n) + 2.0 * (rng.random(n_subjects) < 0.3)[reference]
    keep = same & ((reference != probe) | mated)
    scores, mated, reference, probe = (values[keep] for values in (scores, mated, reference, probe))
    c = ff.Comparisons(scores, mated, reference, probe, group[reference], group[probe])
    found = Resampler(c, [ff.at_threshold(4.0)], metrics=NO_METRICS).count_models()[0]
    for name, side in (("fmr", ~mated), ("fnmr", mated)):
        errors = (scores < 4) == mated
        groups = []
        for g in (0, 1):
            inside = side & (group[reference] == g)
            groups.append(
                list(
                    zip(
                        errors[inside].astype(int).tolist(),
                        reference[inside].tolist(),
                        probe[inside].tolist(),
                        strict=True,
                    )
                )
            )
        if not all(groups):
            continue
        model = found[name]
        assert model.comparisons.tolist() == [len(rows) for rows in groups]
        assert model.errors.tolist() == [sum(error for error, _, _ in rows) for rows in groups]
        if name == "fmr":
            linear, quadratic = slow.of_false_matches(groups)
            assert model.quadratic == pytest.approx(quadratic, abs=1e-9)
        else:
            linear = slow.of_false_nonmatches(groups)
        assert model.linear == pytest.approx(linear, abs=1e-9)


def test_samples_have_no_models():
    c = ff.Comparisons(
        [1.0, 2.0, 0.0],
        [1, 1, 0],
        list("aab"),
        list("aac"),
        reference_sample=list("pqr"),
        probe_sample=list("stu"),
    )
    assert Resampler(c, [], unit="sample", metrics=NO_METRICS).count_models() == []

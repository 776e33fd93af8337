"""The strata that subjects are drawn in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import resampling as slow

import fastfair as ff
from fastfair.resampling.units import strata_of_subjects

POINTS = [ff.at_fmr(0.1), ff.at_threshold(1.0)]


def random_comparisons(labels: np.ndarray, seed: int, **kwargs: object) -> ff.Comparisons:
    """Draw scores of three mated comparisons of each subject, and of 1,000 others."""
    rng, n = np.random.default_rng(seed), len(labels)
    first, second = np.repeat(np.arange(n), 3), rng.integers(1, n, 1000)
    other = rng.integers(0, n, 1000)
    reference, probe = np.append(first, other), np.append(first, (other + second) % n)
    mated = np.arange(reference.size) < first.size
    columns = [
        {f"a{k}": labels[side, k] for k in range(labels.shape[1])} for side in (reference, probe)
    ]
    return ff.Comparisons(rng.normal(2.0 * mated), mated, reference, probe, *columns, **kwargs)


@given(st.integers(2, 80), st.lists(st.integers(1, 6), min_size=1, max_size=3), st.integers(0, 99))
def test_strata_are_those_of_the_plain_rule(n, n_labels, seed):
    labels = np.column_stack(
        [np.random.default_rng(seed).integers(0, k, n) ** 2 // k for k in n_labels]
    )
    comparisons = random_comparisons(labels, seed)
    strata = strata_of_subjects(comparisons)
    found, want = (
        np.unique(of.tolist(), return_inverse=True)[1]
        for of in (strata, np.array(slow.strata(labels.tolist())))
    )
    assert (
        len(set(zip(found.tolist(), want.tolist(), strict=True)))
        == len(set(found))
        == len(set(want))
    )


@pytest.mark.jit
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize("n_resamples", [0, 300])
def test_an_overall_rate_has_one_interval_for_all_attributes(n_resamples):
    labels = np.random.default_rng(3).choice(5, (90, 3), p=[0.4, 0.4, 0.1, 0.07, 0.03])
    comparisons = random_comparisons(labels, 5)
    found = []
    for names in (["a0"], ["a2"], ["a1", "a0"], ["a0", "a1", "a2"]):
        by_names = comparisons.by(*names)
        evaluation = ff.evaluate(
            by_names,
            POINTS,
            (),
            settings=ff.EvaluationSettings(incomplete_groups="nan"),
            n_resamples=n_resamples,
            rng=1,
        )
        found.append(
            [
                (q.name, q.at, q.estimate, q.low, q.high)
                for q in evaluation.quantities
                if q.group is None
            ]
        )
    assert found[0]
    assert all(str(other) == str(found[0]) for other in found[1:])

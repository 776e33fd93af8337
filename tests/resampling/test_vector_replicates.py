"""The shrinkage of weights over embeddings, which knows pairs without errors by their number alone,
against loops."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from helpers.small_embeddings import matrix_of
from oracles import resampling as slow

import fastfair as ff
from fastfair.resampling.vector_replicates import Draws, PairResampler

LEVELS = np.array([0.02, 0.1, 0.3])


@pytest.mark.parametrize("weighting", ["identity", "comparison"])
@pytest.mark.parametrize("sizes", [[9, 7], [6, 1, 5]])
def test_shrinkage_is_that_of_double_sums(weighting: str, sizes: list[int]):
    rng = np.random.default_rng(sum(sizes))
    n_samples = rng.integers(1, 5, sum(sizes))
    e = ff.von_mises_fisher_embeddings(sum(sizes), n_samples, 4, concentration=(1, 8), rng=3)
    e = ff.Embeddings(
        e.vectors, e.subject, group=np.repeat(np.arange(len(sizes)), sizes)[e.subject]
    )
    resampler = PairResampler(e, LEVELS, Draws(weighting, "subject", "dyadic"), with_groups=True)
    thresholds = resampler.estimate()[0].threshold
    matrix, whose = matrix_of(e), e.subject.tolist()
    strata = {k: int(e.subject_group[k]) for k in range(len(e.subjects))}
    stratum_sizes = dict(enumerate(sizes))
    of_subject = [
        [i for i, k in enumerate(whose) if k == subject] for subject in range(len(e.subjects))
    ]
    for group in (None, *range(len(sizes))):
        inside = [k for k in strata if group in (None, strata[k])]
        found = resampler.shrinkage.nonmated[0 if group is None else 1 + group]
        for level, threshold in enumerate(thresholds):
            dyads: list[slow.Dyad] = []
            for k, other in itertools.combinations(inside, 2):
                wrong = [
                    int(matrix[i][j] >= threshold) for i in of_subject[k] for j in of_subject[other]
                ]
                if weighting == "identity":
                    dyads.append((Fraction(sum(wrong), len(wrong)), k, other))
                else:
                    dyads += [(value, k, other) for value in wrong]
            want = slow.shrinkage(dyads, strata, stratum_sizes) if dyads else 1.0
            assert found[level] == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize(
    ("unit", "scheme"), [("subject", "product"), ("sample", "dyadic"), ("subject+sample", "dyadic")]
)
def test_weights_of_other_units_are_not_shrunk(unit: str, scheme: str):
    e = ff.von_mises_fisher_embeddings(12, 3, 4, concentration=(1, 8), rng=3)
    resampler = PairResampler(e, LEVELS, Draws("identity", unit, scheme), with_groups=False)
    assert (resampler.shrinkage.nonmated == 1).all()
    assert np.isinf(resampler.shrinkage.freedom).all()

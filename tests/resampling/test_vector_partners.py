"""Sums over pairs of vectors, from numbers of vectors, against those over lists of all pairs."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib.workers import Workers
from fastfair.data import pair_search
from fastfair.resampling.preparation import NO_METRICS, Preparation
from fastfair.resampling.units import BLOCK


@st.composite
def some_embeddings(draw):
    """Draw vectors with ties in their similarities, of subjects with unequal numbers of vectors."""
    n, seed = draw(st.integers(8, 40)), draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    subject = rng.integers(0, draw(st.integers(3, 12)), n)
    subject[:4] = 0, 0, 1, 1
    subject = np.sort(subject) if draw(st.booleans()) else rng.permutation(subject)
    vectors = rng.integers(1, 4, (n, 3)).astype(np.float32)
    role = rng.choice(["reference", "probe"], n) if draw(st.booleans()) else None
    n_groups = draw(st.integers(0, 3))
    labels = subject % n_groups if n_groups else None
    try:
        return ff.Embeddings(vectors, subject, labels, role=role)
    except ff.errors.InputError:  # no mated pair of a reference and a probe
        assume(False)


@pytest.mark.jit
@given(some_embeddings(), st.floats(0.2, 0.9))
def test_sums_are_those_of_listed_pairs(e, share):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_search, "_FEW", 0)
        scanned = e.scanned(share).kept
    at = ff.at_threshold(scanned.to_threshold(scanned.nonmated.keys[0] + 1))
    both = [
        Preparation(one, [at], "subject", "dyadic", NO_METRICS, (), bool(e.groups), Workers(2))
        for one in (e.comparisons(), scanned)
    ]
    weights = both[0].units.new_weights()
    both[0].units.draw(0, np.array([1, 2], np.uint32), weights)
    for name in ("y", "x"):
        listed, counted = (getattr(prepared, name) for prepared in both)
        assert listed.sizes.tolist() == counted.sizes.tolist()
        assert listed.two_way == counted.two_way
        for k in range(listed.sizes.size):
            assert listed.comparisons_of_units(k).tolist() == counted.comparisons_of_units(k).tolist()
        errors = listed.count_errors(np.repeat(both[0].thresholds[:, None], listed.end.size, axis=1))
        for wanted, found in zip(listed.variances(errors), counted.variances(errors), strict=True):
            assert wanted.tobytes() == found.tobytes()
        totals = np.zeros((listed.sizes.size, BLOCK), np.int64)
        listed.partners.total_weights(weights, int(weights.max()), totals)
        drawn = counted.partners.drawn(both[1].units, range(0, BLOCK, BLOCK), np.array([1, 2], np.uint32))
        told = []
        found, _ = counted.partners.totals(drawn, 0, told.append)
        assert totals.tolist() == found[0].tolist()
        assert told == [listed.sizes[0]]

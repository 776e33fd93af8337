"""One contract for all pair sources: the same comparisons in memory, as vectors, in buckets, and as
a toy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from helpers.toy_trials import as_trials
from hypothesis import assume, given
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib.workers import Workers
from fastfair.data import pair_search
from fastfair.data.scans import SpilledPairs, in_buckets
from fastfair.data.temporary_files import Folder
from fastfair.resampling.engine import NO_METRICS, Resampler
from fastfair.resampling.units import BLOCK

KEY = np.array([1, 2], np.uint32)


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


def with_pairs(kept, of_class):
    """Return comparisons that a scan keeps, with others that stand for all."""
    return kept._with_parts(pairs=of_class, left_out=())


def sources(e, share):
    """Return the same comparisons as every kind of source; in memory come first."""
    whole, vectors = e.comparisons(), e.scanned(share).kept
    spilled = []
    for side in (whole.mated, whole.nonmated):
        pairs = SpilledPairs(Folder(None), "pairs", 10, 10**6)
        numbers, flags = (
            np.arange(whole.subjects.size, dtype=np.int32),
            np.ones(len(side), np.bool_),
        )
        pairs.add(in_buckets(side.reference, side.probe, flags, numbers)[0])
        spilled.append(pairs)
    return whole, vectors, with_pairs(vectors, tuple(spilled)), as_trials(vectors, whole)


def weighed(prepared, weights):
    """Return the totals of both sides, from sides that other processes were given where these sum
    block by block."""
    drawn = []
    for side in (lists.source for lists in prepared.error_lists):
        side = side if side.in_passes else pickle.loads(pickle.dumps(side))
        totals = np.zeros((side.sizes.size, BLOCK), np.int64)
        of_blocks = side.totals(prepared.units, range(0, BLOCK, BLOCK), KEY, 0, lambda n: None)
        of_blocks.weigh(0, weights, int(weights.max()), totals)
        drawn.append(totals.tolist())
    return drawn


@pytest.mark.jit
@given(some_embeddings(), st.floats(0.2, 0.9))
def test_all_sources_keep_the_same_promises(e, share):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_search, "_FEW", 0)
        of_kinds = sources(e, share)
    scanned = of_kinds[1]
    at = ff.at_threshold(scanned.to_threshold(scanned.nonmated.keys[0] + 1))
    prepared, *others = (
        Resampler(one, [at], metrics=NO_METRICS, with_groups=bool(e.groups), workers=Workers(2))
        for one in of_kinds
    )
    weights = prepared.units.new_weights()
    prepared.units.draw(0, KEY, weights)
    totals = weighed(prepared, weights)
    for other in others:
        assert weighed(other, weights) == totals
        for listed, counted in zip(prepared.error_lists, other.error_lists, strict=True):
            assert listed.sizes.tolist() == counted.sizes.tolist()
            assert listed.source.two_way == counted.source.two_way
            for k in range(listed.sizes.size):
                assert (
                    listed.source.unit_counts(k).tolist() == counted.source.unit_counts(k).tolist()
                )
            errors = listed.count_errors(
                np.repeat(prepared.thresholds[:, None], listed.end.size, axis=1)
            )
            for wanted, found in zip(
                listed.variances(errors), counted.variances(errors), strict=True
            ):
                assert wanted.tobytes() == found.tobytes()
            for k in range(listed.sizes.size):
                alone = counted.variance(k, int(errors[0, k]), from_the_end=False)
                wanted = listed.variance(k, int(errors[0, k]), from_the_end=False)
                assert [part.tobytes() for part in alone] == [part.tobytes() for part in wanted]


def test_an_evaluation_is_the_same_whatever_the_source_is():
    rng = np.random.default_rng(3)
    subject = rng.integers(0, 30, 240)
    e = ff.Embeddings(
        rng.normal(size=(240, 6)) + 2 * np.eye(30)[subject] @ rng.normal(size=(30, 6)),
        subject,
        subject % 2,
    )
    found = [
        ff.evaluate(
            c if k == 0 else ff.ScannedComparisons(c),
            [ff.at_fmr(0.02)],
            metrics="all",
            rng=0,
            n_resamples=128,
        )
        for k, c in enumerate(sources(e, 0.5))
    ]
    whole = set(map(repr, found[0].quantities))  # and min Cllr, which needs all scores
    for one in found[1:]:
        assert set(map(repr, one.quantities)) < whole


def test_what_a_source_lacks_is_said_in_words():
    e = ff.von_mises_fisher_embeddings(20, 3, 8, concentration=20, rng=0)
    for kept in sources(e, 0.5)[1:]:
        for need, reason in kept.lacks.items():
            with pytest.raises(ff.errors.InputError) as refused:
                kept._require("nothing", need)
            assert refused.value.marked == reason

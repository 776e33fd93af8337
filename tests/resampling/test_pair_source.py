"""One contract for all pair sources: the same comparisons in memory, as vectors, in buckets, and as a toy."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastfair as ff
from fastfair._lib.workers import Workers
from fastfair.data import pair_search
from fastfair.data.scans import SpilledPairs, in_buckets
from fastfair.data.temporary_files import Folder
from fastfair.resampling.engine import NO_METRICS, Resampler
from fastfair.resampling.pair_source import ListedSide, side_of
from fastfair.resampling.units import BLOCK

KEY = np.array([1, 2], np.uint32)


@dataclass
class Trials:
    """A toy source: who is compared with whom, row by row."""

    a: np.ndarray
    b: np.ndarray
    lacks: ClassVar = {"costs": "trials have no scores"}

    def count(self, group, n_groups):
        cells, seen = np.zeros((n_groups, n_groups), np.int64), set()
        np.add.at(cells, (group[self.a], group[self.b]), 1)
        for a, b in zip(self.a.tolist(), self.b.tolist(), strict=True):
            seen |= {(a, group[a], group[b]), (b, group[a], group[b])}
        subjects = np.array(
            [[len([s for s in seen if s[1:] == (g, h)]) for h in range(n_groups)] for g in range(n_groups)]
        )
        return cells, subjects, len({s[0] for s in seen})


@dataclass
class RowsOfTrials:
    """Trials with the rows of their units' weights, and their lists, as `ListedComparisons`."""

    a: np.ndarray
    b: np.ndarray
    in_list: np.ndarray

    def __len__(self):
        return self.a.size

    def rows(self, part):
        return self.a[part], self.b[part]

    def keys_of(self, part):
        return np.empty(0, np.int32)

    def lists(self, part):
        return self.in_list[part]


@side_of.register
def _(pairs: Trials, kept, workers, exact=None):
    row, group = kept.units.row, kept.comparisons.group_of_number
    a, b = row[pairs.a], np.where(pairs.a == pairs.b, kept.units.n_rows - 1, row[pairs.b]).astype(np.int32)
    cells, in_list = kept.list_of_cell, np.empty(0, np.uint16)  # nothing where list 0 is alone
    if cells is not None:
        in_list = cells.astype(np.uint16)[group[pairs.a], group[pairs.b]]
    return ListedSide(RowsOfTrials(a, b, in_list), kept.sizes, kept.units, workers.n_threads)


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
        pairs.add(in_buckets(side.reference, side.probe, whole.subjects.size))
        spilled.append(pairs)
    trials = [Trials(side.reference, side.probe) for side in (whole.mated, whole.nonmated)]
    return whole, vectors, with_pairs(vectors, tuple(spilled)), with_pairs(vectors, tuple(trials))


def weighed(prepared, weights):
    """Return the totals of both sides, from sides that other processes were given where these sum block by block."""
    drawn = []
    for side in (prepared.y.source, prepared.x.source):
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
        Resampler(one, [at], metrics=NO_METRICS, with_groups=bool(e.groups), workers=Workers(2)) for one in of_kinds
    )
    weights = prepared.units.new_weights()
    prepared.units.draw(0, KEY, weights)
    totals = weighed(prepared, weights)
    for other in others:
        assert weighed(other, weights) == totals
        for name in ("y", "x"):
            listed, counted = (getattr(one, name) for one in (prepared, other))
            assert listed.sizes.tolist() == counted.sizes.tolist()
            assert listed.two_way == counted.two_way
            for k in range(listed.sizes.size):
                assert listed.source.unit_counts(k).tolist() == counted.source.unit_counts(k).tolist()
            errors = listed.count_errors(np.repeat(prepared.thresholds[:, None], listed.end.size, axis=1))
            for wanted, found in zip(listed.variances(errors), counted.variances(errors), strict=True):
                assert wanted.tobytes() == found.tobytes()
            for k in range(listed.sizes.size):
                alone = counted.variance(k, int(errors[0, k]), from_the_end=False)
                wanted = listed.variance(k, int(errors[0, k]), from_the_end=False)
                assert [part.tobytes() for part in alone] == [part.tobytes() for part in wanted]


def test_an_evaluation_is_the_same_whatever_the_source_is():
    rng = np.random.default_rng(3)
    subject = rng.integers(0, 30, 240)
    e = ff.Embeddings(
        rng.normal(size=(240, 6)) + 2 * np.eye(30)[subject] @ rng.normal(size=(30, 6)), subject, subject % 2
    )
    found = [
        ff.evaluate(c if k == 0 else ff.ScannedComparisons(c), [ff.at_fmr(0.02)], metrics="all", rng=0, n_resamples=128)
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
            assert str(refused.value) == reason

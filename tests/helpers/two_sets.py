"""Small sets of references and probes whose similarities are exact, and what the engine draws of
them."""

from __future__ import annotations

import numpy as np
from helpers.parting import parted_if
from hypothesis import assume
from oracles import two_sets as slow
from oracles.embeddings import Draw

import fastfair as ff
from fastfair._lib import seeds
from fastfair.resampling.vector_replicates import Draws, PairResampler


def random_sets(seed: int, n_subjects: int, most: int, dtype: type = np.float32) -> ff.Embeddings:
    """Whole numbers, so that similarities are exact and tie often; some subjects have one role
    alone."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(n_subjects), rng.integers(1, most + 1, n_subjects))
    role = rng.integers(0, 2, subject.size)
    subject, role = (
        np.append(subject, [0, 0, 1]),
        np.append(role, [0, 1, 1]),
    )  # someone has both, and another a probe
    order = rng.permutation(subject.size)
    subject, role = subject[order], role[order]
    vectors = rng.integers(-3, 4, (n_subjects, 4))[subject] + rng.integers(-1, 2, (subject.size, 4))
    vectors[(vectors == 0).all(axis=1)] = 1
    return ff.Embeddings(
        vectors.astype(dtype),
        subject,
        group=np.array(list("fm"))[subject % 2],
        similarity="inner_product",
        role=np.array(["reference", "probe"])[role],
    )


def matrix_of(e: ff.Embeddings) -> np.ndarray:
    return e.vectors.astype(float) @ e.vectors.astype(float).T


def drawn_in(e: ff.Embeddings, resampler: PairResampler, unit: str, weights: np.ndarray) -> Draw:
    """Read one replicate's weights, in which vectors of a subject and role are drawn as often as
    there are some."""
    units = resampler.units
    number = np.empty(e.subject.size, int)
    number[e.pairing.order] = units.subject  # of each vector's subject, as units have it
    if unit == "subject":
        return Draw({int(s): int(weights[k]) for s, k in zip(e.subject, number, strict=True)}, None)
    row = np.empty(e.subject.size, int)
    row[e.pairing.order] = units._draws[-1].row
    of_samples = row + (e.subject.size if unit == "subject+sample" else 0)
    both, samples = weights[row].astype(int), weights[of_samples].astype(int)
    for s, role in set(zip(e.subject.tolist(), e.is_probe.tolist(), strict=True)):
        own = (e.subject == s) & (e.is_probe == role)
        assert samples[own].sum() == own.sum()
    if unit == "sample":
        return Draw(None, samples.tolist())
    drawn = {
        int(s): int(both[e.subject == s].sum() // samples[e.subject == s].sum())
        for s in np.unique(e.subject)
    }
    assert (both == samples * [drawn[int(s)] for s in e.subject]).all()
    return Draw(drawn, samples.tolist())


def hold_rates_against_loops(
    e: ff.Embeddings,
    matrix: np.ndarray,
    who: tuple,
    seed: int,
    draws: Draws,
    dtype: type,
    parted: bool,
) -> None:
    """Compare estimates and replicates, of similarities, and the subjects and roles that they are
    of, with loops."""
    weighting = draws.weighting
    of_pairs = [weight for _, weight, _, _ in slow.pairs(matrix, *who, weighting)[1]]
    levels = [level for level in (0.1, 0.3, 0.9) if level > min(of_pairs) / sum(of_pairs)]
    assume(levels)
    key = seeds.stream(seed)[0]
    with parted_if(parted):
        resampler = PairResampler(
            e, np.array(levels), draws, with_groups=True, with_overall_fmr=True
        )
        estimate, expected = resampler.estimate()
        drawn = resampler.replicate(3, key)
    weights = resampler.units.new_weights()
    resampler.units.draw(0, key, weights)
    np.testing.assert_array_equal(expected, estimate.fnmr)  # no vector meets itself
    members = [
        None,
        *(set(np.flatnonzero(e.subject_group == g).tolist()) for g in range(len(e.groups))),
    ]
    for r in (None, 0, 1, 2):
        draw = None if r is None else drawn_in(e, resampler, draws.unit, weights[:, r])
        at = ... if r is None else (..., r)
        found = estimate if r is None else drawn
        of = [slow.pairs(matrix, *who, weighting, some, draw) for some in members]
        for k, level in enumerate(levels):
            t = slow.threshold_at_fmr(level, of[0][1], dtype)
            np.testing.assert_equal(found.threshold[at][k], t)
            for name, kind in (("fnmr", 0), ("fmr", 1)):
                want = [slow.share(one[kind], t, below=kind == 0) for one in of]
                np.testing.assert_allclose(
                    getattr(found, name)[at][k], want, rtol=1e-12, atol=1e-15
                )

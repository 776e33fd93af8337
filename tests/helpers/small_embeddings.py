"""Small sets of embeddings whose similarities are exact, and what the engine makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import embeddings as slow

import fastfair as ff
from fastfair.data import pair_search, score_keys

KINDS = {
    "cosine": "cosine",
    "inner_product": "inner product",
    "negative_euclidean": "negative Euclidean",
}


def small_embeddings(
    seed: int,
    n_subjects: int,
    most: int,
    similarity: str = "inner_product",
    noise: int = 1,
    dtype: type = np.float32,
) -> ff.Embeddings:
    """Whole numbers, so that similarities are exact and tie often; some vectors are there twice."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(n_subjects), rng.integers(1, most + 1, n_subjects))
    subject = np.append(subject, [0, 0])  # someone has two
    rng.shuffle(subject)
    centers = rng.integers(-3, 4, (n_subjects, 4))
    vectors = (centers[subject] + rng.integers(-noise, noise + 1, (subject.size, 4))).astype(dtype)
    vectors[(vectors == 0).all(axis=1)] = 1
    return ff.Embeddings(
        vectors, subject, group=np.array(list("fm"))[subject % 2], similarity=similarity
    )


def matrix_of(e: ff.Embeddings) -> np.ndarray:
    """Every similarity as the engine has it."""
    mated, nonmated = pair_search.PairFinder(e.vectors, e.similarity, e.pairing).find(1.0)
    matrix = np.zeros((len(e), len(e)), e.vectors.dtype)
    for found, inverted in ((mated, False), (nonmated, True)):
        values = score_keys.decode(~found.keys if inverted else found.keys)
        i, j = e.pairing.order[found.first], e.pairing.order[found.second]
        matrix[i, j] = matrix[j, i] = values
    return matrix


def as_draw(e: ff.Embeddings, unit: str, weights: np.ndarray, rank: np.ndarray) -> slow.Draw:
    """Read one replicate's weights, which stand in `Embeddings.order`."""
    code = e.subject[e.pairing.order]
    if unit == "subject":
        return slow.Draw({int(code[p]): int(weights[rank[p]]) for p in range(len(e))}, None)
    drawn, samples, n = None, weights[: len(e)].astype(int), len(e)
    if unit == "subject+sample":
        samples = weights[n : 2 * n].astype(int)
        both = weights[:n].astype(int)
        drawn = {
            int(k): int(both[code == k].sum() // samples[code == k].sum()) for k in np.unique(code)
        }
    in_rows = np.empty(n, int)
    in_rows[e.pairing.order] = samples
    return slow.Draw(drawn, in_rows.tolist())


def two_systems(seed, *, roles=False, groups=2, noise=0.15, steps=10):
    """Draw the vectors of two systems, rounded so that similarities are tied, of subjects with
    unequal numbers."""
    rng = np.random.default_rng(seed)
    drawn = ff.von_mises_fisher_embeddings(60, 6, 8, concentration=(15, 50), rng=seed)
    chosen = rng.permutation(len(drawn.vectors))[:220]
    subject, vectors = drawn.subject[chosen], drawn.vectors[chosen]
    role = rng.choice(["reference", "probe"], chosen.size) if roles else None
    group = subject % groups if groups else None
    noisy = vectors + noise * rng.standard_normal(vectors.shape)
    return [
        ff.Embeddings(
            (np.round(one * steps) / steps).astype(np.float32) + np.float32(1e-3),
            subject,
            group,
            role=role,
        )
        for one in (vectors, noisy)
    ]


def scanned(systems, share=0.5, **kwargs):
    """Scan vectors, however few pairs they make."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_search, "_FEW", 0)  # of which all would be kept
        return [e.scanned(share, **kwargs) for e in systems]

"""The prefilter of pairs of vectors: it misses none, and changes no bit of what is found."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fastfair.kernels import dot_products, int8_products
from helpers.prefilters import EACH, KNOWN
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import ordered_products as slow

import fastfair as ff
from fastfair._lib.workers import Workers
from fastfair.data import pair_search
from fastfair.data.pair_search import PairFinder, Prefilter, PreparedVectors

KINDS = (
    "random",
    "clustered",
    "constant",
    "tiny",
    "long tails",
    "one long",
    "duplicates",
    "whole",
    "many zeros",
)


def some_vectors(kind: str, rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    x = rng.normal(size=(n, d))
    if kind == "clustered":
        x = 5 * rng.normal(size=(3, d))[rng.integers(0, 3, n)] + 0.01 * x
    elif kind == "constant":
        x = np.full((n, d), 0.3)
    elif kind == "tiny":
        x *= 1e-12
    elif kind == "long tails":
        x = x * 10.0 ** rng.uniform(-3, 3, (n, 1)) + rng.standard_cauchy((n, d))
    elif kind == "one long":
        x[0] *= 1e4
    elif kind == "duplicates":
        x = x[rng.integers(0, 4, n)]
    elif kind == "whole":
        x = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == "many zeros":
        x[rng.random(n) < 0.5] = 0
    return x.astype(np.float32)


def padded(vectors: np.ndarray, dtype: type = np.float32) -> np.ndarray:
    rows = np.zeros((96, -(-vectors.shape[1] // 16) * 16), dtype)
    rows[: len(vectors), : vectors.shape[1]] = vectors
    return rows


def marked(
    prefilter: Prefilter, reach: tuple[float, np.ndarray | None], n: int
) -> np.ndarray | None:
    """(n, n) bool, the pairs that are marked; None where none can be told."""
    limits = prefilter.limits(*reach)
    if limits is None:
        return None
    bits = np.zeros((96, 12), np.uint8)
    prefilter.mark(limits, (0, 0), bits)
    found = np.unpackbits(bits, axis=1, bitorder="little").astype(bool)
    assert not found[n:].any()
    assert not found[:, n:].any()
    return found[:n, :n]


@pytest.mark.parametrize("way", EACH)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    d=st.one_of(st.integers(1, 40), st.sampled_from([128, 600])),
    at=st.floats(0, 1),
)
def test_no_pair_that_reaches_the_bound_is_missed(
    way: str, seed: int, kind: str, d: int, at: float
):
    rng = np.random.default_rng(seed)
    n = 24
    rows = padded(some_vectors(kind, rng, n, d))
    products = dot_products.products(rows[:n, None], rows[None, :n])
    bound = np.quantile(products, at, method="nearest")  # so that some lie at it
    found = marked(Prefilter(rows, n, way, 1), (float(bound), None), n)
    if found is not None:
        assert found[products >= bound].all()


@pytest.mark.parametrize("way", EACH)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    d=st.integers(1, 40),
    at=st.floats(0, 1),
    away=st.sampled_from([0.0, 3.0, 100.0]),
)
def test_no_pair_that_is_close_enough_is_missed(
    way: str, seed: int, kind: str, d: int, at: float, away: float
):
    rng = np.random.default_rng(seed)
    vectors = some_vectors(kind, rng, 16, d) + np.float32(away)
    prepared = PreparedVectors(vectors, "negative_euclidean", np.arange(16), 1)
    wide = vectors.astype(float)
    distances = -np.sqrt(((wide[:, None] - wide) ** 2).sum(axis=2)).astype(np.float32)
    bound = float(np.quantile(distances, at, method="nearest"))
    found = marked(Prefilter(prepared.rows, 16, way, 1), prepared.reach(bound), 16)
    if found is not None:
        assert found[distances >= bound].all()


@pytest.mark.parametrize("way", EACH)
def test_pairs_of_the_oracle_are_marked_and_few_others(way: str):
    vectors = some_vectors("random", np.random.default_rng(3), 24, 32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    products = dot_products.products(vectors[:, None], vectors)
    bound = float(np.sort(products, axis=None)[-60])
    wanted = slow.reaching(vectors.tolist(), bound)
    assert len(wanted) >= 60
    found = marked(Prefilter(padded(vectors), 24, way, 1), (bound, None), 24)
    assert all(found[i, j] for i, j in wanted)
    assert found.sum() < 1.5 * len(wanted)


@pytest.mark.parametrize("way", EACH)
def test_vectors_that_whole_numbers_cannot_tell_are_left_to_products(way: str):
    for vectors in (np.zeros((30, 16)), np.full((30, 16), 1e-35), np.full((30, 16), 1e33)):
        assert Prefilter(padded(vectors.astype(np.float32)), 30, way, 1).limits(0.5) is None
    few_are_seen = np.ones((96, 16), np.float64)
    few_are_seen[1] = 1e200  # not among those that the scale is chosen by
    assert Prefilter(few_are_seen, 96, way, 1).limits(0.5) is None


def filtered(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Let few pairs have a prefilter, and return a list of whether searches had one."""
    used: list[bool] = []
    monkeypatch.setattr(pair_search, "_FEW", 0)
    monkeypatch.setattr(pair_search, "_LEAST_FILTERED", 0)
    monkeypatch.setattr(pair_search, "_MOST_MARKED", 1)
    search = pair_search.PanelSearch
    monkeypatch.setattr(
        pair_search,
        "PanelSearch",
        lambda *given: (used.append(given[3] is not None), search(*given))[1],
    )
    return used


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("similarity", ["cosine", "inner_product", "negative_euclidean"])
@pytest.mark.parametrize("two_sets", [False, True])
@pytest.mark.parametrize("d", [5, 64])
def test_pairs_have_the_same_bits_with_every_way_and_without(
    monkeypatch: pytest.MonkeyPatch, dtype: type, similarity: str, two_sets: bool, d: int
):
    used = filtered(monkeypatch)
    rng = np.random.default_rng(d)
    subject = rng.integers(0, 200, 1300)
    vectors = (rng.normal(size=(200, d))[subject] + rng.normal(size=(1300, d))).astype(dtype)
    vectors[rng.integers(0, 1300, 40)] = vectors[
        rng.integers(0, 1300, 40)
    ]  # so that there are ties
    role = rng.choice(["reference", "probe"], 1300) if two_sets else None
    e = ff.Embeddings(vectors, subject, group=subject % 3, similarity=similarity, role=role)
    whole = PairFinder(e.vectors, e.similarity, e.pairing).find(1.0)
    for way, workers, tile in (
        ("none", Workers(2), 4),
        *((way, Workers(n), n) for way in KNOWN for n in (1, 2)),
        (KNOWN[-1] if KNOWN else "none", Workers(executor=ThreadPoolExecutor(2)), 1),
    ):
        monkeypatch.setenv("FASTFAIR_PREFILTER", way)
        used.clear()
        found = PairFinder(e.vectors, e.similarity, e.pairing, workers, tile).find(0.01)
        assert set(used) == {way != "none"}
        assert 0.005 < found[1].keys.size / e.n_nonmated < 0.02
        for some, every in zip(found, whole, strict=True):
            for name in ("keys", "first", "second"):
                assert np.array_equal(getattr(some, name), getattr(every, name)[: some.keys.size])


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_pairs_and_many_mated_pairs_have_no_prefilter(
    monkeypatch: pytest.MonkeyPatch, dtype: type
):
    used = filtered(monkeypatch)
    monkeypatch.setattr(pair_search, "_MOST_MARKED", 0.1)
    rng = np.random.default_rng(0)
    e = ff.Embeddings(rng.normal(size=(400, 32)).astype(dtype), np.arange(400) // 2)

    def is_used(some: ff.Embeddings, share: float) -> bool:
        used.clear()
        PairFinder(some.vectors, some.similarity, some.pairing).find(share)
        return used[0]

    assert is_used(e, 0.01) == bool(KNOWN)
    assert not is_used(e, 0.2)
    assert not is_used(e, 1.0)
    assert not is_used(ff.Embeddings(e.vectors, np.arange(400) // 100), 0.01)
    monkeypatch.setattr(pair_search, "_LEAST_FILTERED", 100_000)
    assert not is_used(e, 0.01)


def test_ways_that_there_are_not_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FASTFAIR_PREFILTER", "abacus")
    refused(
        r"FASTFAIR_PREFILTER is 'abacus', but of this machine there are: .*none",
        pair_search.product_way,
    )
    monkeypatch.setenv("FASTFAIR_PREFILTER", "none")
    assert pair_search.product_way() is None
    monkeypatch.delenv("FASTFAIR_PREFILTER")
    assert pair_search.product_way() == (
        KNOWN[0] if KNOWN and int8_products.is_compiled() else None
    )

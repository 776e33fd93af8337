"""The row of identification: searches of a gallery, and rates of all groups, against the bare
product of matrices."""

from __future__ import annotations

import numpy as np

import fastfair as ff

from .clock import clocked, take_turns
from .common import must_agree, versions
from .embeddings import THREADS, bare_product, blas_product
from .rows import Against, Measurement, Row
from .targets import AtMost

_ENROLLED, _PROBES, _DIM, _GROUPS = 100_000, 10_000, 512, 8
_CHECKED = 50  # searches that are ranked by sorting


def against_product() -> Measurement:
    """Hold searches, half of them mated, and their rates against the product of probes and
    templates."""
    rng = np.random.default_rng(0)
    templates = rng.normal(size=(_ENROLLED, _DIM)).astype(np.float32)
    probes = rng.normal(size=(_PROBES, _DIM)).astype(np.float32)
    probes[: _PROBES // 2] += 0.15 * templates[: _PROBES // 2]
    for vectors in (templates, probes):
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    enrolled = np.arange(_ENROLLED)
    who = np.concatenate([enrolled[: _PROBES // 2], _ENROLLED + np.arange(_PROBES // 2)])
    group = who % _GROUPS

    def searched() -> ff.Searches:
        return ff.Searches.from_vectors(
            probes,
            who,
            templates,
            enrolled,
            group=group,
            similarity="inner_product",
            n_threads=THREADS,
        )

    def ours() -> None:
        ff.identify(searched(), [ff.at_fpir(0.01), ff.at_rank(1)])

    products = probes[:_CHECKED].astype(np.float64) @ templates.T.astype(np.float64)
    ranks = 1 + (products > np.diag(products)[:, None]).sum(axis=1)
    must_agree(np.abs(searched().rank[:_CHECKED] / ranks - 1).max() < 0.01, "ranks of mates")
    sides = {
        "ours": clocked(ours),
        "tiles": clocked(bare_product(probes, templates)),
        "blas": clocked(blas_product(probes, templates)),
    }
    seconds = take_turns(sides, rounds=2)
    theirs = min(("tiles", "blas"), key=lambda side: min(seconds[side]))
    return Measurement(
        seconds["ours"],
        seconds[theirs],
        "ranks of mates, but for ties of float32",
        versions(),
        remarks=f"theirs in {theirs}",
    )


ROWS = (
    Row(
        "identification",
        "10,000 searches of a gallery of 100,000 x 512, FPIR, FNIR and ranks of 8 groups with"
        " intervals, 2 threads",
        "the bare product of the same matrices, float32, 2 threads",
        Against.LIMIT,
        AtMost(1.7),
        against_product,
    ),
)

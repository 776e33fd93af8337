"""Calls of everything that takes an executor and a checkpoint, and the bits of what they return."""

import tempfile
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np

import fastfair as ff
from fastfair.data import scans

_POINTS = [ff.at_fmr(0.01), ff.at_eer()]


@cache
def _embeddings():
    e = ff.von_mises_fisher_embeddings(300, 8, 16, concentration=(20, 60), rng=0)
    return ff.Embeddings(e.vectors, e.subject, group=e.subject % 2)


@cache
def _templates(noise=0.0):
    """Two references of each subject, enrolled as one template, and six probes."""
    e = _embeddings()
    vectors = e.vectors + noise * np.random.default_rng(3).normal(size=e.vectors.shape)
    role = np.where(np.arange(len(e)) % 8 < 2, "reference", "probe")
    return ff.Embeddings(vectors.astype(np.float32), e.subject, e.subject % 2, role=role).enrolled()


@cache
def _comparisons(noise=1.0):
    rng = np.random.default_rng(1)
    first, second = rng.integers(100, size=(2, 20_000))
    second[:3000] = first[:3000]
    mated = first == second
    scores = rng.normal(size=100)[first] / 3 + 2.5 * mated + rng.normal(size=mated.size)
    scores += np.random.default_rng(2).normal(size=mated.size) * noise
    return ff.Comparisons(scores, mated, first, second, first % 2, second % 2)


def scan(executor=None):
    """Return the same comparisons from files, of which few scores are kept in memory, and all else
    in files."""
    folder = Path(tempfile.mkdtemp())
    ff.write_comparisons(_comparisons(), folder / "scores.parquet")
    with mock.patch.multiple(scans, _BYTES_KEPT=scans.LEAST_MEMORY / 18_000, _SHARE_OF_PAIRS=0):
        return ff.scan_comparisons(
            folder / "*.parquet",
            storage=ff.Storage(cllr=True, memory_limit=scans.LEAST_MEMORY),
            executor=executor,
        )


_scan = cache(scan)


CALLS = {
    "evaluate a scan": lambda **who: ff.evaluate(
        _scan(), _POINTS, metrics="all", n_resamples=400, rng=0, **who
    ),
    "evaluate": lambda **who: ff.evaluate(_comparisons(), _POINTS, n_resamples=400, rng=0, **who),
    "compare": lambda **who: ff.compare(
        _comparisons(), _comparisons(0.5), n_resamples=200, metrics=[], rng=0, **who
    ),
    "roc_band": lambda **who: ff.roc_band(
        _embeddings(), [0.001, 0.01], n_resamples=300, rng=0, **who
    ),
    "roc_band of templates": lambda **who: ff.roc_band(
        _templates(), [0.001, 0.01], n_resamples=300, rng=0, **who
    ),
    "evaluate templates": lambda **who: ff.evaluate(
        _templates(), _POINTS, n_resamples=200, rng=0, **who
    ),
    "compare templates": lambda **who: ff.compare(
        _templates(), _templates(0.1), n_resamples=100, metrics=[], measures=["fdr"], rng=0, **who
    ),
    "fairness_band": lambda **who: ff.fairness_band(
        _comparisons(), fmr=[0.01, 0.1], n_resamples=300, rng=0, **who
    ),
    "coverage_experiment": lambda **who: ff.synthesis.coverage_experiment(
        12,
        50,
        identities=ff.VonMisesFisherIdentities.random(30, 16, 20, rng=0),
        n_samples=5,
        fmr=0.01,
        rng=0,
        **who,
    ),
}


def result_bits(found):
    """Return everything that a result tells, to the last bit."""
    if hasattr(found, "to_json"):
        return found.to_json().encode()
    return b"".join(
        value.tobytes() for value in vars(found).values() if isinstance(value, np.ndarray)
    )

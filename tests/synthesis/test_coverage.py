"""Coverage of bands over embeddings: the experiment of paper 5, appendix B.1."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from helpers import flat
from helpers.each import each
from helpers.refusals import refused
from helpers.small_embeddings import matrix_of
from oracles import embeddings as slow

import fastfair as ff
from fastfair.data import pair_search
from fastfair.resampling import vector_replicates
from fastfair.synthesis import coverage
from fastfair.synthesis.coverage import CoverageExperiment

PEOPLE = ff.VonMisesFisherIdentities.random(12, 6, (4, 12), rng=3)
SMALL = {"identities": PEOPLE, "n_samples": 4, "fmr": (0.05, 0.2), "rng": 3}


def data_sets(
    n: int, monkeypatch: pytest.MonkeyPatch, **arguments: object
) -> tuple[object, list[ff.Embeddings]]:
    """Run an experiment and keep its data sets."""
    seen = []

    def kept(embeddings: ff.Embeddings, *rest: object, **more: object) -> object:
        seen.append(embeddings)
        return vector_replicates.PairResampler(embeddings, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(coverage, "PairResampler", kept)
        found = ff.synthesis.coverage_experiment(n, 4, **(SMALL | {"n_threads": 1} | arguments))
    return found, seen


def mean_rates(sets: list[ff.Embeddings], threshold: float, weighting: str) -> tuple[float, float]:
    data = [(matrix_of(e), e.subject.tolist()) for e in sets]
    fmr, fnmr = (
        sum(rate(*d, threshold, weighting) for d in data) / len(data)
        for rate in (slow.fmr, slow.fnmr)
    )
    return float(fmr), float(fnmr)


def test_the_same_numbers_whatever_the_threads():
    one, two = (ff.synthesis.coverage_experiment(7, 70, **SMALL, n_threads=n) for n in (1, 2))
    for name in ("coverage", "width", "truth", "threshold", "estimates", "v_statistics"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    other = ff.synthesis.coverage_experiment(7, 70, **(SMALL | {"rng": 4}))
    assert (other.estimates != one.estimates).any()


@pytest.mark.parametrize(
    ("n_samples", "weighting"), [(4, "comparison"), ([5, 2, 3] * 4, "identity")]
)
def test_the_truth_is_where_the_mean_fmr_meets_the_level(
    n_samples: object, weighting: str, monkeypatch
):
    found, sets = data_sets(5, monkeypatch, n_samples=n_samples, weighting=weighting)
    scores = np.unique([matrix_of(e)[np.triu_indices(len(e), 1)] for e in sets])
    candidates = np.append(scores, np.nextafter(scores[-1], np.float32(2)))
    for level, threshold, truth in zip(found.fmr, found.threshold, found.truth, strict=True):
        fmr, fnmr = mean_rates(sets, threshold, weighting)
        assert fmr <= level
        assert truth == pytest.approx(fnmr, abs=1e-12)
        # The next lower score accepts one pair more, and mostly a non-mated one.
        lower = candidates[candidates < threshold]
        assert mean_rates(sets, lower[-1], weighting)[0] > level
        np.testing.assert_array_equal(np.float32(threshold), np.nextafter(lower[-1], np.float32(2)))


@pytest.mark.jit
def test_the_truth_is_that_of_all_data_sets_put_into_one(monkeypatch):
    found, sets = data_sets(60, monkeypatch)
    vectors, subject = (
        np.concatenate([getattr(e, name) for e in sets]) for name in ("vectors", "subject")
    )
    pooled = ff.roc_band(ff.Embeddings(vectors, subject), found.fmr, n_resamples=2, rng=0)
    error = found.estimates.std(axis=0) / math.sqrt(len(sets))
    assert (np.abs(pooled.fnmr - found.truth) < 3 * error).all()
    assert (found.estimates.std(axis=0) > 0.01).all()


def test_intervals_are_those_of_roc_band(monkeypatch):
    levels, methods = (0.9, 0.6), ("recentered", "percentile", "gaussian", "basic")
    found, sets = data_sets(
        4, monkeypatch, confidence_levels=levels, methods=methods, unit="subject+sample"
    )
    seeds = [np.random.SeedSequence(3, spawn_key=(k,)) for k in range(len(sets))]
    for m, method in enumerate(methods):
        for c, level in enumerate(levels):
            options = {
                "n_resamples": 4,
                "confidence_level": level,
                "method": method,
                "unit": "subject+sample",
            }
            bands = [
                flat.roc_band(e, found.fmr, rng=seed, **options)
                for e, seed in zip(sets, seeds, strict=True)
            ]
            holds = [(band.low <= found.truth) & (found.truth <= band.high) for band in bands]
            np.testing.assert_array_equal(found.coverage[m, c], np.mean(holds, axis=0))
            np.testing.assert_allclose(
                found.width[m, c], np.mean([band.high - band.low for band in bands], axis=0)
            )
    np.testing.assert_array_equal(found.estimates, [band.fnmr for band in bands])
    np.testing.assert_array_equal(found.v_statistics, [band.v_statistic for band in bands])


def test_data_sets_that_keep_too_few_pairs_for_the_truth_are_searched_again(monkeypatch):
    want = ff.synthesis.coverage_experiment(6, 64, **SMALL)
    monkeypatch.setattr(pair_search, "_FEW", 0)
    monkeypatch.setattr(
        vector_replicates, "_SPARE", {"sample": 0.71}
    )  # with what is added, just enough for the data
    monkeypatch.setattr(vector_replicates, "_SPARE_DEVIATIONS", 0)
    again = []
    further = coverage._further
    monkeypatch.setattr(coverage, "_further", lambda *args: again.append(args) or further(*args))
    monkeypatch.setattr(
        vector_replicates.PairResampler,
        "replicate",
        lambda self, n, key, workers: self.estimate()[0],
    )
    found = ff.synthesis.coverage_experiment(6, 64, **SMALL, methods=())
    assert again
    np.testing.assert_array_equal(found.truth, want.truth)
    np.testing.assert_array_equal(found.threshold, want.threshold)


def test_errors_and_widths_follow_from_the_intervals():
    found = ff.synthesis.coverage_experiment(20, 64, **SMALL)
    assert (np.diff(found.width, axis=1) < 0).all()  # levels descend
    assert (np.diff(found.coverage, axis=1) <= 0).all()
    p = found.coverage
    np.testing.assert_allclose(found.standard_error, np.sqrt(np.maximum(p * (1 - p), 1 / 80) / 20))
    assert (found.v_statistics < found.estimates).all()


@each(
    ("wrong", "match"),
    [
        ({"n_datasets": 1}, "n_datasets"),
        ({"n_resamples": 1}, "n_resamples"),
        ({"methods": "recentered"}, "methods"),
        ({"methods": ["bca"]}, "methods"),
        ({"confidence_levels": 0.95}, "confidence_levels"),
        ({"confidence_levels": [95]}, "0.95"),
        ({"fmr": [0.0]}, "too low for these data"),
        ({"fmr": [1e-9]}, "too low for these data"),
        ({"n_samples": [2, 3]}, "n_samples"),
        ({"unit": "comparison"}, "unit"),
        ({"weighting": "pair"}, "weighting"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: dict[str, object], match: str):
    refused(
        match,
        ff.synthesis.coverage_experiment,
        **{"n_datasets": 2, "n_resamples": 4} | SMALL | wrong,
    )


def test_progress_is_told():
    seen = []
    ff.synthesis.coverage_experiment(
        3, 4, **SMALL, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (3, 3)


NOMINAL = tuple(np.linspace(0.95, 0.05, 19).round(2).tolist())


@pytest.fixture(scope="module")
def study() -> CoverageExperiment:
    """The run behind the documentation's tables; 40 ms a data set on one core."""
    return ff.synthesis.coverage_experiment(
        1000, 500, fmr=(1e-4, 1e-3, 1e-2), confidence_levels=NOMINAL, rng=0
    )


def at(study: CoverageExperiment, method: str, nominal: np.ndarray, fmr: float) -> np.ndarray:
    """Look up coverages; nominal ones come from a file."""
    c = [NOMINAL.index(level) for level in nominal.tolist()]
    return study.coverage[study.methods.index(method), c, study.fmr.tolist().index(fmr)]


def slack(nominal: np.ndarray, n: int = 1000) -> np.ndarray:
    """Two binomial standard errors: up to 3 points, at 0.5. All levels read the same data sets and
    err together."""
    return 2 * np.sqrt(nominal * (1 - nominal) / n)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.xdist_group("coverage")
class TestTheWholeStudy:
    @pytest.mark.parametrize("fmr", [1e-3, 1e-2])
    def test_recentered_intervals_hold_the_truth_as_paper_5_table_1_says(
        self, fmr, study, published
    ):
        printed = pl.read_csv(published / "roc_coverage_table_1.csv")
        nominal = printed["nominal"].to_numpy()
        found = at(study, "recentered", nominal, fmr)
        assert nominal.size == 19
        assert (np.abs(found - nominal) <= 0.03 + slack(nominal)).all()
        assert (np.abs(found - printed["recentered"].to_numpy()) <= 0.03 + slack(nominal)).all()
        np.testing.assert_allclose(at(study, "gaussian", nominal, fmr), found, atol=0.02)

    def test_naive_intervals_collapse_as_in_paper_5_table_2(self, study, published):
        printed = pl.read_csv(published / "roc_coverage_table_2.csv")
        nominal = printed["nominal"].to_numpy()
        naive = at(study, "percentile", nominal, 1e-2)
        assert (naive + slack(nominal) <= nominal - 0.25).all()
        assert (np.abs(naive - printed["naive"].to_numpy()) <= 0.2).all()
        # Where FNMR is higher the shift is more standard errors: next to none are left.
        assert at(study, "percentile", nominal, 1e-3).max() < 0.2
        assert at(study, "percentile", nominal, 1e-4).max() < 0.12
        # The printed Gaussian intervals hold the truth too often in the middle; these are the
        # recentered ones within noise.
        assert np.abs(at(study, "gaussian", nominal, 1e-2) - nominal).max() < 0.05
        assert np.abs(printed["gaussian"].to_numpy() - nominal).max() > 0.12

    def test_intervals_are_too_wide_where_few_false_matches_make_the_threshold(self, study):
        wide = study.width[0, 0] / (2 * 1.96) / study.estimates.std(axis=0)
        assert 1.08 < wide[0] < 1.2
        assert (np.abs(wide[1:] - 1.04) < 0.05).all()
        over = study.coverage[0, :, 0] - NOMINAL
        assert 0.05 < over.max() < 0.1
        assert over.min() > -0.02
        np.testing.assert_allclose(study.truth, [0.2646, 0.1458, 0.0552], atol=2e-3)

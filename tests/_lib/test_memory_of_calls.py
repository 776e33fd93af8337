"""Numbers that ask for more memory than there is are refused before any work."""

from __future__ import annotations

import time

import numpy as np
import pytest
from helpers.each import each

import fastfair as ff
from fastfair._lib import memory
from fastfair.error_rates.operating_points import at_threshold
from fastfair.errors import InputError

PLAN = {"n_groups": 3, "n_subjects": 100, "n_attempts": 2, "fnmr": 0.05, "correlation": 0.2}
NEEDED = {name: value for name, value in PLAN.items() if name != "n_subjects"}
DRAWN = {"method": "simulation"}
AT = at_threshold(0.5)


def _scores() -> ff.Comparisons:
    rng = np.random.default_rng(0)
    reference, probe = map(np.ravel, np.triu_indices(20))
    sex = np.where(np.arange(20) % 2, "f", "m")
    mated = reference == probe
    return ff.Comparisons(
        rng.normal(size=mated.size) + 2 * mated,
        mated,
        reference,
        probe,
        reference_group=sex[reference],
        probe_group=sex[probe],
    )


SCORES = _scores()
VECTORS = ff.Embeddings(
    np.random.default_rng(0).normal(size=(60, 8)),
    np.arange(60) // 4,
    {"sex": np.arange(60) // 4 % 2},
)
COUNTS = ff.FailureCounts([0, 1, 2, 0, 1, 3, 0, 0], [4] * 8, group=list("ababaabb"))
RATE = {"fmr": 0.01}

OF_COUNTS = {
    "evaluate": lambda n: ff.evaluate(SCORES, AT, n_resamples=n),
    "evaluate rows": lambda n: ff.evaluate(SCORES, AT, n_resamples=n, unit="comparison"),
    "compare": lambda n: ff.compare(SCORES, SCORES, AT, n_resamples=n),
    "roc_band": lambda n: ff.roc_band(SCORES, n_resamples=n),
    "roc_band of vectors": lambda n: ff.roc_band(VECTORS, [0.1], n_resamples=n),
    "fairness_band": lambda n: ff.fairness_band(VECTORS, "gini", "fnmr", fmr=[0.1], n_resamples=n),
    "fnmr_test of counts": lambda n: ff.fnmr_test(COUNTS, n_resamples=n),
    "fnmr_test of scores": lambda n: ff.fnmr_test(SCORES, AT, n_resamples=n),
    "fmr_test": lambda n: ff.fmr_test(SCORES, AT, n_resamples=n),
    "margin_of_error": lambda n: ff.margin_of_error(COUNTS, n_resamples=n),
    "identities": lambda n: ff.VonMisesFisherIdentities.random(n, 8, 9.0),
    "dim": lambda n: ff.VonMisesFisherIdentities.random(8, n, 9.0),
    "vectors": lambda n: ff.von_mises_fisher_embeddings(5, n, 8, 9.0),
    "binormal mated": lambda n: ff.synthesis.binormal_comparisons(n, 10, **RATE),
    "binormal non-mated": lambda n: ff.synthesis.binormal_comparisons(10, n, **RATE),
    "binormal subjects": lambda n: ff.synthesis.binormal_comparisons(10, 10, n_subjects=n, **RATE),
    "synthesize mated": lambda n: ff.synthesize(n, 3000, **RATE),
    "synthesize non-mated": lambda n: ff.synthesize(3000, n, **RATE),
    "synthesize steps": lambda n: ff.synthesize(3000, 3000, n_steps=n, **RATE),
    "system mated": lambda n: ff.biased_system("1:2", n_mated=n),
    "system overall": lambda n: ff.biased_system("1:2", overall_mated=n),
    "system nonmated overall": lambda n: ff.biased_system("1:2", overall_nonmated=n),
    "plan attempts": lambda n: ff.plan_margin(**PLAN | {"n_attempts": n}),
    "plan simulations": lambda n: ff.plan_margin(**PLAN, **DRAWN, n_simulations=n),
    "drawn attempts": lambda n: ff.plan_margin(**PLAN | {"n_attempts": n}, **DRAWN),
    "drawn groups": lambda n: ff.plan_margin(**PLAN | {"n_groups": n}, **DRAWN),
    "power attempts": lambda n: ff.plan_power(**PLAN | {"n_attempts": n}, difference=0.05),
    "needed attempts": lambda n: ff.plan_subjects(**NEEDED | {"n_attempts": n}, margin=0.05),
    "FMR simulations": lambda n: ff.plan_fmr(
        claimed=0.01, fmr=0.001, covariance=1, n_simulations=n
    ),
    "FMR samples": lambda n: ff.plan_fmr(
        claimed=0.01, fmr=0.001, covariance=1, again=0.1, n_samples=n
    ),
    "decisions subjects": lambda n: ff.correlated_decisions(n, 2, 0.05, 0.2),
    "decisions attempts": lambda n: ff.correlated_decisions(2, n, 0.05, 0.2),
    "coverage data sets": lambda n: ff.synthesis.coverage_experiment(n),
    "coverage resamples": lambda n: ff.synthesis.coverage_experiment(2, n),
    "coverage samples": lambda n: ff.synthesis.coverage_experiment(2, 2, n_samples=n),
}


@pytest.fixture(autouse=True)
def small_computer(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 2**30)


@each("n", [2 * 10**9, np.int64(2**62), 10**30])
@each("call", OF_COUNTS)
def test_counts_that_no_memory_holds_are_refused_at_once(call, n):
    start = time.monotonic()
    with pytest.raises(InputError) as caught:
        OF_COUNTS[call](n)
    said = str(caught.value)
    if n < 2**53 and "n_resamples must be at most" not in said:
        assert " would take " in said
        assert "GiB of memory, and 1 GiB are free: " in said
    assert time.monotonic() - start < 30


@pytest.mark.slow
@pytest.mark.parametrize("n", [2 * 10**9, 10**11, 2**53])
@pytest.mark.parametrize(
    "call",
    [
        lambda n: ff.plan_margin(**PLAN | {"n_groups": n}),
        lambda n: ff.plan_margin(**PLAN | {"n_subjects": n}),
        lambda n: ff.plan_power(**PLAN | {"n_subjects": n}, difference=0.05),
        lambda n: ff.plan_power(**PLAN | {"n_groups": n}, difference=0.05),
        lambda n: ff.plan_subjects(**NEEDED, margin=0.05, max_subjects=n),
    ],
)
def test_exact_laws_are_computed_or_refused(call, n):
    start = time.monotonic()
    try:
        call(n)
    except InputError as error:
        assert "would take" in str(error)  # noqa: PT017
    assert time.monotonic() - start < 30


def test_large_matrices():
    with pytest.raises(InputError, match="the comparisons of 30,000 x 30,000 scores would take"):
        ff.Comparisons.from_matrix(np.zeros((30_000, 30_000), np.float32))

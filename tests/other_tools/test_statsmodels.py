"""The variance of an FNMR where people share sessions is that of statsmodels' two-way clusters."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fastfair.kernels import dyadic

import fastfair as ff
from fastfair.resampling.engine import NO_METRICS, Resampler

sys.path.append(str(Path(__file__).resolve().parents[2]))  # benchmarks are not installed

environments = importlib.import_module("benchmarks.versus.environments")
NotMeasuredError = importlib.import_module("benchmarks.versus.rows").NotMeasuredError

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
WORKER = Path(__file__).parent / "workers" / "statsmodels_clusters.py"


def test_two_way_variances_are_those_of_statsmodels(tmp_path):
    """Each part has K / (K - 1) in both, and there is no other factor."""
    rng = np.random.default_rng(3)
    person, day = np.repeat(np.arange(60), 8), rng.integers(0, 30, 480)
    errors = 1.0 * (1.5 + rng.normal(size=30)[day] + rng.normal(size=480) < 0)
    try:
        python = environments.STATSMODELS.python()
    except NotMeasuredError as error:
        pytest.skip(str(error))
    np.save(tmp_path / "columns.npy", np.array([errors, person, day]))
    theirs = subprocess.check_output([str(python), str(WORKER), str(tmp_path / "columns.npy")])
    comparisons = ff.Comparisons(1 - errors, np.ones(480), person, person, session=day)
    at = ff.at_threshold(0.5)
    lists = Resampler(comparisons, [at], metrics=NO_METRICS).error_lists.mated
    variances, _ = lists.variances(np.array([[int(errors.sum())]]))
    ours = variances[0, 0, dyadic.ROBUST] / errors.size**2
    assert ours == pytest.approx(float(theirs), rel=1e-9)

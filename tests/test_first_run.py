"""Kernels are compiled once: `warm_up` compiles all of them, and the command line tells of those
that it compiles."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest
from fastfair.kernels import _jit
from helpers.command_line import run
from helpers.refusals import refused

import fastfair as ff
from fastfair import first_run
from fastfair.cli.main import announce_compiling
from fastfair.errors import FastfairError, OutputError

WITHOUT_COMPILING = """
import warnings
from numba.core import event
import fastfair as ff
from fastfair.first_run import _JOBS, _scores
warnings.simplefilter("ignore")
points = [ff.at_fmr(0.05), ff.at_fnmr(0.1), ff.at_threshold(0.5), ff.at_eer(), ff.at_mean_group_eer()]
with event.install_recorder("numba:compile") as seen:
    for job in _JOBS.values():
        job()
    wide = ff.evaluate(_scores(narrow=False), points, metrics="all", n_resamples=70, rng=0)
    wide.with_intervals(simultaneous=True)
print(len(seen.buffer))
"""


@pytest.mark.jit
@pytest.mark.parametrize("job", first_run._JOBS)
def test_every_job_runs(job):
    with warnings.catch_warnings():
        first_run.run(job)


@pytest.mark.slow
@pytest.mark.jit
def test_jobs_run_in_processes_and_are_counted(monkeypatch):
    seen = []
    monkeypatch.setattr(first_run, "_JOBS", {"curves": first_run._JOBS["curves"]})
    assert ff.warm_up(1, progress=lambda done, total: seen.append((done, total))) >= 0
    assert seen == [(1, 1)]
    done = run("warm-up", "--n-processes", 1)
    assert done.output == "All kernels are compiled.\n"


@pytest.mark.slow
@pytest.mark.jit
def test_what_goes_wrong_is_told(monkeypatch):
    monkeypatch.setattr(first_run, "_JOBS", dict.fromkeys(["nonsense"]))
    with pytest.raises(
        FastfairError,
        match=r"the kernels of nonsense could not be compiled: .*KeyError: 'nonsense'",
    ):
        first_run._run_all(2, None)
    refused("n_processes must be a whole number of at least 1", ff.warm_up, 0)
    monkeypatch.setattr(_jit, "CACHE_FOLDER", "")
    with pytest.raises(OutputError, match="set FASTFAIR_CACHE_DIR"):
        ff.warm_up()


@pytest.mark.jit
def test_compiling_is_told_once(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "CACHE_FOLDER", str(tmp_path))

    def kernel(x):
        return x + 1

    with announce_compiling():
        for x in (1, 1.5):
            assert _jit.jit(kernel)(x) == x + 1
    told = capsys.readouterr().err
    assert told.startswith("Compiling kernels, once on this machine")
    assert told.count("\n") == 1
    with announce_compiling():
        assert _jit.jit(kernel)(1) == 2  # it was compiled before
    assert _jit.jit(kernel)(True) == 2
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.jit
def test_nothing_is_left_to_compile(tmp_path):
    env = os.environ | {"FASTFAIR_CACHE_DIR": str(tmp_path)}
    for code in ("import fastfair as ff; assert ff.warm_up(2) > 50", WITHOUT_COMPILING):
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0"]

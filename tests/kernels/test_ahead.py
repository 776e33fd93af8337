"""A first evaluation compiles the longest kernels in another process, which ends with it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import fastfair.kernels
import numpy as np
import pytest
from fastfair.kernels import _ahead, replicated_eer
from fastfair.kernels._sources import digest_of

from fastfair._lib import threads

EER = digest_of(Path(replicated_eer.__file__))
WAITS = "import time; time.sleep(60)"
AHEAD = "from fastfair.first_run import draw_replicates; draw_replicates(narrow=True, many=True, tests=True)"
EVALUATE = """
import threading
from numba.core import event
import fastfair as ff
from fastfair.first_run import _scores
with event.install_recorder("numba:compile") as seen:
    c, asked = _scores(narrow=True), {"at": ff.at_fmr(0.05), "n_threads": 1, "rng": 0}
    ff.evaluate(c, n_resamples=64, **asked)
    ff.fnmr_test(c, n_resamples=99, **asked)
    ff.fmr_test(c, n_resamples=99, **asked)
names = {found.data["dispatcher"].py_func.__name__ for _, found in seen.buffer}
print(" ".join(sorted(names)))
"""


@pytest.fixture
def nothing_started(monkeypatch):
    monkeypatch.setattr(_ahead, "_started", False)
    monkeypatch.setattr(_ahead, "_process", None)
    monkeypatch.setattr(_ahead, "_only_these", False)
    yield
    _ahead._end()


def test_a_kernel_is_waited_for_until_it_is_there_or_the_process_has_ended(nothing_started, tmp_path):
    assert not _ahead.is_coming("equal_error_rates", tmp_path)
    _ahead.start(WAITS, tmp_path, _ahead.KERNELS)
    assert _ahead.is_coming("equal_error_rates", tmp_path)
    assert not _ahead.is_coming("number_pairs", tmp_path)
    process = _ahead._process
    _ahead.start(WAITS, tmp_path, _ahead.KERNELS)
    assert _ahead._process is process  # once
    (tmp_path / f"equal_error_rates-{EER}-0123.nbc").touch()
    assert not _ahead.is_coming("equal_error_rates", tmp_path)
    assert _ahead.is_coming("least_costs", tmp_path)
    _ahead._end()
    assert not _ahead.is_coming("least_costs", tmp_path)
    assert process.returncode != 0


def test_a_process_that_fails_is_not_waited_for(nothing_started, tmp_path):
    _ahead.start("import nonsense", tmp_path, _ahead.KERNELS)
    begun = time.monotonic()
    while _ahead.is_coming("equal_error_rates", tmp_path):
        assert time.monotonic() < begun + 60
        time.sleep(0.05)


def test_no_process_is_started_where_it_would_not_help(nothing_started, tmp_path, monkeypatch):
    monkeypatch.setattr(threads, "cache_folder", lambda: str(tmp_path))
    threads.compile_ahead(1, narrow=True, n_comparisons=1)
    (tmp_path / f"equal_error_rates-{EER}-0123.nbc").touch()
    threads.compile_ahead(2, narrow=True, n_comparisons=1)
    assert _ahead._process is None
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    monkeypatch.setattr(_ahead, "_started", False)
    _ahead.start(WAITS, tmp_path / "empty", _ahead.KERNELS)
    assert _ahead._process is None


def test_the_kernels_have_names_of_their_own():
    sources = Path(fastfair.kernels.__path__[0]).glob("*.py")
    functions = [
        (path.stem, node.name)
        for path in sources for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)
    ]  # fmt: skip
    names = [name for _, name in functions]
    ahead = _ahead.kernels_of(many=True, tests=True)
    assert {name: names.count(name) for name in ahead} == dict.fromkeys(ahead, 1)
    assert {*functions} >= _ahead.PREPARING | {(module, name) for name, module in ahead.items()}


def test_kernels_that_prepare_small_data_run_as_python_until_they_were_compiled(nothing_started, monkeypatch):
    monkeypatch.setattr(_ahead, "_compiles_all", False)
    small, large = np.zeros(40_000), np.zeros(40_001)
    assert _ahead.runs_as_python("comparison_lists", "number_pairs", (3, (small, small)), 0.3)
    assert not _ahead.runs_as_python("comparison_lists", "number_pairs", (3, (small, small)), 0.5)
    assert not _ahead.runs_as_python("comparison_lists", "number_pairs", (3, (small, large)), 0.0)
    assert not _ahead.runs_as_python("replicated_cost", "least_costs", (small,), 0.0)
    _ahead.start_none()
    assert not _ahead.runs_as_python("comparison_lists", "number_pairs", (small,), 0.0)


@pytest.mark.slow
@pytest.mark.jit
def test_what_the_other_process_compiles_is_what_an_evaluation_needs(tmp_path):
    def run(code: str) -> str:
        env = os.environ | {"FASTFAIR_CACHE_DIR": str(tmp_path)}
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout

    run(AHEAD)
    (folder,) = tmp_path.iterdir()
    ahead = _ahead.kernels_of(many=True, tests=True)
    assert {path.name.split("-")[0] for path in folder.glob("*.nbc")} == {*ahead}
    here = set(run(EVALUATE).split())
    assert "shares_at" in here
    assert "number_pairs" not in here  # of so few comparisons
    assert not here & ahead.keys()

"""Imports point one way: what `make lint` says of the library, and of one that breaks a rule."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINT = Path(sys.executable).with_name("lint-imports")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "line", "kept"),
    [
        ("data/derived.py", "", True),
        ("data/derived.py", "from fastfair.bands import curve", False),
        ("data/derived.py", "def f():\n    from fastfair.cli import main", False),
        ("_lib/seeds.py", "if TYPE_CHECKING:\n    from fastfair.data import matching", False),
        ("data/score_keys.py", "from . import comparisons", False),
        ("evaluation/result.py", "from fastfair.group_tests import equal_rates", False),
        ("new_module.py", "", False),
    ],
    ids=[
        "as it is",
        "upwards",
        "upwards when called",
        "upwards for types",
        "a circle",
        "sideways",
        "without a place",
    ],
)
def test_imports_point_one_way(file, line, kept, tmp_path):
    shutil.copytree(
        ROOT / "fastfair", tmp_path / "fastfair", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(
        ROOT / "kernels",
        tmp_path / "fastfair" / "kernels",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    with (tmp_path / "fastfair" / file).open("a") as module:
        module.write(f"\n{line}\n")
    done = subprocess.run(
        [LINT, "--config", ROOT / "pyproject.toml", "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 0) == kept, done.stdout + done.stderr
    assert "Contracts: " in done.stdout


@pytest.mark.jit
@pytest.mark.parametrize("module", ["row_sums", "int8_products"])
def test_kernels_wait_for_a_compiler_that_another_thread_imports(module):
    code = f"""
import importlib, threading, time
other = threading.Thread(target=importlib.import_module, args=("fastfair.kernels._jit",))
other.start()
time.sleep(0.05)  # a part of what it takes
importlib.import_module("fastfair.kernels.{module}")
other.join(60)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


FIRST_CALLS_AT_ONCE = """
import sys, threading
import fastfair as ff

FILE = sys.argv[1]

def read():
    return ff.read_comparisons(FILE, groups="sex")

calls = [
    lambda: ff.evaluate(read(), ff.at_fmr(0.1), n_resamples=64, rng=0).to_json(),
    lambda: ff.fnmr_test(read(), ff.at_fmr(0.1), n_resamples=99, rng=0).summary(),
    lambda: ff.roc_band(read(), [0.1], n_resamples=64, rng=0).to_frame("pandas"),
    lambda: ff.measures.gini([0.1, 0.2]),
    lambda: ff.eer(read()),
    lambda: ff.thresholds.own_thresholds,
    lambda: ff.synthesis.binormal_comparisons,
    lambda: ff.error_model(read(), "sex", ff.at_fmr(0.1)),
]
start = threading.Barrier(len(calls))
failed = []

def run(call):
    start.wait()
    try:
        call()
    except BaseException as error:
        failed.append(error)

sys.setswitchinterval(1e-4)
threads = [threading.Thread(target=run, args=(call,)) for call in calls]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for error in failed:
    raise error
"""


@pytest.mark.slow
@pytest.mark.jit
def test_first_calls_of_several_threads_may_come_at_once(tmp_path):
    people = [(f"p{k}", "fm"[k % 2]) for k in range(12)]
    rows = [(0.5 + k % 7 / 10, 1, who, who, sex) for k in range(4) for who, sex in people]
    rows += [
        (k % 9 / 10, 0, who, people[(k + 2) % 12][0], sex) for k, (who, sex) in enumerate(people)
    ]
    lines = [
        ",".join(map(str, row)) for row in (("score", "mated", "reference", "probe", "sex"), *rows)
    ]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        FIRST_CALLS_AT_ONCE,
        str(tmp_path / "scores.csv"),
    ]
    for _ in range(3):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, "")


FOLDERS_PASSED = """
import sys, threading, warnings
import numpy as np
import fastfair as ff

warnings.simplefilter("ignore")
passed = set()

def note(frame, event, argument):
    name = frame.f_globals.get("__name__", "")
    if event == "call" and name.startswith("fastfair."):
        passed.add(name.split(".")[1])

rng = np.random.default_rng(0)
reference, mated = rng.integers(60, size=4000), rng.random(4000) < 0.4
probe = np.where(mated, reference, (reference + 2) % 60)
sex = np.array(["f", "m"])
ff.write_comparisons(
    ff.Comparisons(rng.normal(size=4000) + 2 * mated, mated, reference, probe, {"sex": sex[reference % 2]},
                   {"sex": sex[probe % 2]}), "scores.csv")

def evaluate():
    ff.evaluate(ff.read_comparisons("scores.csv", groups=["sex"]), n_resamples=64, rng=0)

def roc_band():
    vectors = np.random.default_rng(0).normal(size=(60, 8))
    ff.roc_band(ff.Embeddings(vectors, np.repeat(np.arange(20), 3)), [0.01, 0.1], n_resamples=64, rng=0)

comparisons = ff.read_comparisons("scores.csv", groups=["sex"])
def fnmr_test():
    ff.fnmr_test(comparisons, ff.at_fmr(0.05), n_resamples=99, rng=0)

CALL()  # imports are not counted
threading.setprofile(note)
sys.setprofile(note)
CALL()
sys.setprofile(None)
print(*sorted(passed - {"kernels"}))
"""


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize(("call", "most"), [("evaluate", 10), ("roc_band", 8), ("fnmr_test", 7)])
def test_a_call_passes_few_folders(call, most, tmp_path):
    code = FOLDERS_PASSED.replace("CALL", call)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert 0 < len(done.stdout.split()) <= most, done.stdout + done.stderr

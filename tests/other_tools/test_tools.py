"""The tools themselves, in environments of their own: what the table of docs/from_other_tools says
of each is so."""

from __future__ import annotations

import csv
import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.other_tools import OURS, Scores, differ, tied_sets
from oracles.other_tools import RULES
from other_tools_rows import ROWS, SETS, Row

sys.path.append(str(Path(__file__).resolve().parents[2]))  # benchmarks are not installed

environments = importlib.import_module("benchmarks.versus.environments")
NotMeasuredError = importlib.import_module("benchmarks.versus.rows").NotMeasuredError

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

WORKERS = Path(__file__).parent / "workers"
PEER_OF = {
    "bob_measure": environments.BOB_MEASURE,
    "fairlearn_groups": environments.FAIRLEARN,
    "lir_metrics": environments.LIR,
    "llreval_metrics": environments.LLREVAL,
    "pyannote_metrics": environments.PYANNOTE,
    "pyeer_stats": environments.PYEER,
    "scikit_learn": environments.SCIKIT_LEARN,
    "score_analysis_rates": environments.SCORE_ANALYSIS,
    "torch_tools": environments.TORCH,
}
ROW = {row.key: row for row in ROWS}


def asked() -> list[tuple[Scores, Scores]]:
    """Return the sets that all tools are asked about: those drawn, then the examples of all
    rows."""
    examples = [([*example.mated], [*example.nonmated]) for row in ROWS for example in row.examples]
    return [*tied_sets(SETS), *examples]


def position_of(row: Row, number: int) -> int:
    """Return where an example of a row stands among the sets that tools are asked about."""
    before = ROWS[: ROWS.index(row)]
    return SETS + sum(len(other.examples) for other in before) + number


def confirm(key: str, answers: list[np.ndarray]) -> None:
    """Compare a tool's answers with its row, and with its rule where there is one."""
    row, sets = ROW[key], asked()
    ours = [OURS[row.answer](*scores) for scores in sets[:SETS]]
    answered = [k for k in range(SETS) if answers[k].size]
    differing = [sets[k] for k in answered if differ(answers[k], ours[k], row.tolerance)]
    assert (SETS - len(answered), len(differing)) == (row.refused, row.differing), (
        key,
        differing[:3],
    )
    for number, example in enumerate(row.examples):
        theirs = answers[position_of(row, number)]
        assert theirs == pytest.approx(example.theirs, abs=row.tolerance, nan_ok=True), (
            key,
            example,
        )
    if key in RULES:
        for scores, theirs in zip(sets, answers, strict=True):
            assert not differ(RULES[key](*scores), theirs, row.tolerance), (key, scores)


@pytest.mark.parametrize("worker", PEER_OF)
def test_python_tools_answer_as_their_rows_say(worker, tmp_path):
    try:
        python = PEER_OF[worker].python()
    except NotMeasuredError as error:
        pytest.skip(str(error))
    (tmp_path / "sets.json").write_text(json.dumps(asked()))
    command = [str(python), str(WORKERS / f"{worker}.py"), str(tmp_path / "sets.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for key, answers in json.loads(done.stdout.splitlines()[-1]).items():
        confirm(
            key,
            [
                np.array([] if isinstance(numbers, str) else numbers, dtype=float)
                for numbers in answers
            ],
        )


def test_r_packages_answer_as_their_rows_say(tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip(
            "R is not installed: apt-get install r-base-core r-cran-proc r-cran-rocr"
            " r-cran-cutpointr"
        )
    for package, version in environments.R_PACKAGES.items():
        ask = (
            f"cat(tryCatch(as.character(packageVersion('{package}')), error = function(e) 'none'))"
        )
        there = subprocess.run(
            ["Rscript", "-e", ask], capture_output=True, text=True, check=True
        ).stdout
        if there != version:
            pytest.skip(f"{package} {version} is not installed: there is {there}")
    with (tmp_path / "sets.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["set", "mated", "score"])
        for k, (mated, nonmated) in enumerate(asked()):
            lines.writerows(
                [k, flag, score] for flag, scores in ((1, mated), (0, nonmated)) for score in scores
            )
    command = ["Rscript", str(WORKERS / "r_packages.R"), str(tmp_path / "sets.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers: dict[str, list[np.ndarray]] = {}
    for line in done.stdout.splitlines():
        key, _, *numbers = line.split()
        answers.setdefault(key, []).append(np.array(numbers, dtype=float))
    for key, numbers in answers.items():
        confirm(key, numbers)

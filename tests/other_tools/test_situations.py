"""What fastfair and other tools answer to the questions of docs/other_tools_situations."""

from __future__ import annotations

import importlib
import json
import math
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from helpers.other_tools import OURS
from oracles.other_tools import RULES
from other_tools_situations import SITUATIONS

import fastfair as ff

sys.path.append(str(Path(__file__).resolve().parents[2]))  # benchmarks are not installed

environments = importlib.import_module("benchmarks.versus.environments")
NotMeasuredError = importlib.import_module("benchmarks.versus.rows").NotMeasuredError

WORKERS = Path(__file__).parent / "workers"
SCORES = {
    "eer-tie": ([1], [1]),
    "eer-apart": ([1], [0]),
    "fmr-not-there": ([1], [0, 2]),
    "auc-tie": ([1], [1]),
    "auc-apart": ([1], [0]),
    "rank-tie": ([1], [1]),
    "base": ([1], [-1]),
}
RULE_OF = {
    "Kaldi: compute-eer": "kaldi-eer",
    "bob.measure: eer": "bob-eer",
    "bob.measure: far_threshold": "bob-far",
    "bob.measure: recognition_rate": "bob-rank",
    "faiss-cpu: IndexFlatIP, all candidates": "faiss-rank-of-all",
    "faiss-cpu: IndexFlatIP, one candidate": "faiss-rank-of-one",
    "pyannote.metrics: det_curve": "pyannote-eer",
    "pyeer: get_eer_stats": "pyeer-eer",
    "pytorch-metric-learning: precision_at_1": "metric-learning-rank",
    "scikit-learn: EER of trainers": "trainer-eer-default",
    "scikit-learn: nearest of roc_curve": "nearest-fmr",
    "score-analysis: threshold_at_fpr": "score-analysis-fmr",
    "speechbrain: EER": "speechbrain-eer",
    "torchmetrics: binary_eer": "torchmetrics-eer",
    "torchmetrics: retrieval_hit_rate": "torchmetrics-rank",
}


def answers() -> dict[tuple[str, str], str]:
    """Return what the table says of each question and call."""
    return {
        (asked.key, f"{call.tool}: {call.call}"): answer
        for asked in SITUATIONS
        for answer, calls in asked.theirs.items()
        for call in calls
    }


def written(answer: object) -> str:
    """Write an answer as the table does: a word, or numbers."""
    if isinstance(answer, str):
        return answer
    numbers = np.atleast_1d(np.asarray(answer, dtype=float)).tolist()
    return ", ".join("NaN" if math.isnan(number) else f"{number:.3g}" for number in numbers)


def our_answers() -> dict[str, object]:
    """Return what fastfair says."""
    answers: dict[str, object] = {
        key: OURS[name](*SCORES[key])
        for key, name in {
            "eer-tie": "eer",
            "eer-apart": "eer",
            "fmr-not-there": "at-fmr",
            "rank-tie": "rank-1",
            "base": "cllr",
        }.items()
    }
    for key in ("auc-tie", "auc-apart"):
        mated, nonmated = SCORES[key]
        answers[key] = ff.auc(ff.Comparisons([*mated, *nonmated], [1, 0]))
    answers["no-errors"] = ff.intervals.upper_limit_without_errors(10, 0.95)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ff.errors.FastfairWarning)
        c = ff.Comparisons([1, 0, 1], [1, 1, 0], reference_group=["a", "a", "b"])
        answers["nobody"] = ff.rates(c, ff.at_threshold(1)).group_fnmr[1]
    with pytest.raises(ff.errors.InputError, match="missing in row 2"):
        ff.Comparisons([1, 0, 1], [1, 1, 0], reference_group=["a", "a", None])
    return answers | {"no-label": "refused"}


def test_our_answers_are_those_of_the_table():
    ours = {key: written(answer) for key, answer in our_answers().items()}
    assert ours == {asked.key: asked.ours for asked in SITUATIONS}


def test_twenty_tools_with_versions_are_asked():
    tools = {call.partition(": ")[0] for _, call in answers()}
    assert len(tools) >= 20
    assert [tool for tool in sorted(tools) if not environments.version_of(tool)] == ["Kaldi"]
    asked = "".join((WORKERS / f"situations.{suffix}").read_text() for suffix in ("py", "R"))
    assert {call for _, call in answers() if f'"{call}"' not in asked} == {"Kaldi: compute-eer"}


def test_rules_of_tools_give_the_same_answers():
    table = answers()
    for (key, call), answer in table.items():
        if call in RULE_OF:
            assert written(RULES[RULE_OF[call]](*SCORES[key])) == answer, (key, call)
    assert {*RULE_OF} <= {call for _, call in table}


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("peer", environments.PEERS, ids=lambda peer: peer.name)
def test_tools_give_the_answers_of_the_table(peer):
    """Each environment answers for the tools that are pinned in it."""
    pinned = {pin.partition("==")[0] for pin in (peer.requirement, *peer.beside)}
    expected = {
        (key, call): answer
        for (key, call), answer in answers().items()
        if call.partition(": ")[0] in pinned
    }
    if not expected:
        pytest.skip(f"no tool of {peer.name} is asked")
    try:
        python = peer.python()
    except NotMeasuredError as error:
        pytest.skip(str(error))
    command = [str(python), str(WORKERS / "situations.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    given = {
        (key, call): written(answer)
        for key, calls in json.loads(done.stdout.splitlines()[-1]).items()
        for call, answer in calls.items()
    }
    assert {item: given.get(item) for item in expected} == expected


@pytest.mark.slow
@pytest.mark.nightly
def test_r_packages_give_the_answers_of_the_table():
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed: apt-get install r-base-core r-cran-proc r-cran-rocr")
    command = ["Rscript", str(WORKERS / "situations.R")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|") for line in done.stdout.splitlines()]
    given = {(key, call): written(float(number)) for key, call, number in lines}
    expected = {
        item: answer for item, answer in answers().items() if item[1].startswith(("pROC", "ROCR"))
    }
    assert given == expected

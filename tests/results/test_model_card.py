"""The card of a model, and metrics of MLflow."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest
import yaml
from helpers.quiet import quietly
from helpers.refusals import refused

import fastfair as ff
from fastfair.errors import MissingDependencyError
from fastfair.results.model_card import metrics_of

AT = ff.at_threshold(0.5)


def evaluation(labels: tuple[str, str] = ("f|x", "m"), **more) -> ff.evaluation.result.Evaluation:
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(20, 1)
    reference, probe = np.append(np.arange(20), first), np.append(np.arange(20), second)
    mated = reference == probe
    sides = [np.array(labels)[side % 2] for side in (reference, probe)]
    c = ff.Comparisons(rng.normal(size=mated.size) + mated, mated, reference, probe, *sides)
    with quietly():
        return ff.evaluate(c, AT, n_resamples=20, rng=0, **more)


@pytest.fixture(scope="module")
def evaluated():
    return evaluation()


def test_the_metadata_have_every_number_and_the_text_the_intervals(evaluated, tmp_path):
    text = evaluated.to_model_card(tmp_path / "README.md", model='our "m": 1', dataset="scores")
    assert (tmp_path / "README.md").read_text("utf-8") == text
    _, metadata, body = text.split("---\n", 2)
    (model,) = yaml.safe_load(metadata)["model-index"]
    assert model["name"] == 'our "m": 1'
    (result,) = model["results"]
    assert result["dataset"] == {"type": "scores", "name": "scores"}
    finite = [row for row in evaluated.quantities if math.isfinite(row.estimate)]
    assert result["metrics"] == [
        {"type": row.name, "name": row.title, "value": row.estimate} for row in finite
    ]
    lines = [line for line in body.splitlines() if line.startswith("| ")]
    assert len(lines) == 1 + len(evaluated.quantities)
    assert "FNMR of f\\|x at threshold=0.5" in body
    assert "95 % interval in brackets" in body


def test_a_check_has_a_card_too(evaluated):
    made = ff.check(evaluated.comparisons, "fnmr <= 99 %", AT, n_resamples=20, rng=0)
    (row,) = made.rows
    lines = made.to_model_card().splitlines()
    (written,) = [line for line in lines if line.startswith("| FNMR at threshold=0.5 | ")]
    assert written.endswith(f"| fnmr \\<= 99 % | {row.verdict} |")


def test_metrics_have_names_that_mlflow_takes(evaluated):
    metrics = metrics_of(evaluated.quantities, "test/")
    assert metrics["test/FNMR of f x at threshold 0.5"] == evaluated.value("fnmr", group="f|x")
    assert all(math.isfinite(value) for value in metrics.values())
    row = evaluated.quantity("fnmr")
    ends = [metrics[f"test/FNMR at threshold 0.5 {end}"] for end in ("low", "high")]
    assert ends == [row.low, row.high]


def test_two_quantities_are_not_one_metric():
    refused("would be the metric", metrics_of, evaluation(("f|", "f=")).quantities)


@pytest.mark.skipif(importlib.util.find_spec("mlflow") is not None, reason="mlflow is here")
def test_without_mlflow_the_message_says_what_brings_it(evaluated):
    with pytest.raises(MissingDependencyError, match=r"fastfair\[mlflow\]"):
        evaluated.to_mlflow()


@pytest.mark.skipif(importlib.util.find_spec("mlflow") is None, reason="mlflow is not installed")
def test_a_run_has_the_metrics(evaluated, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow

    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        metrics = evaluated.to_mlflow()
    assert mlflow.get_run(run.info.run_id).data.metrics == metrics

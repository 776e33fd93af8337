"""`--checkpoint`: a command goes on from what an earlier one has finished."""

import numpy as np
import pytest
from click.testing import CliRunner

import fastfair as ff
from fastfair.cli.main import cli

VERBS = {
    "evaluate": ("scores.csv", "--group", "sex"),
    "compare": ("scores.csv", "scores.csv", "--group", "sex"),
    "embeddings": ("vectors.npz", "--fmr", "0.1"),
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    e = ff.von_mises_fisher_embeddings(20, 4, 8, concentration=20, rng=0)
    np.savez("vectors.npz", vectors=e.vectors, subject=e.subject)
    sex = np.where(e.subject % 2, "f", "m")
    ff.write_comparisons(
        ff.Embeddings(e.vectors, e.subject, {"sex": sex}).comparisons(), "scores.csv"
    )
    return tmp_path


def run(*words):
    return CliRunner().invoke(cli, [*words, "--n-resamples", "130", "--json", "--no-progress"])


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_goes_on_from_what_is_finished(verb, files):
    line = verb, *VERBS[verb], "--seed", "1"
    wanted = run(*line)
    assert wanted.exit_code == 0, wanted.output
    for _ in range(2):
        assert run(*line, "--checkpoint", "kept").stdout == wanted.stdout
    parts = sorted(files.glob("kept/*/*.part"))
    parts[0].write_bytes(b"")
    assert f"{parts[0].name} is damaged" in str(run(*line, "--checkpoint", "kept").exception)
    parts[0].unlink()
    assert run(*line, "--checkpoint", "kept").stdout == wanted.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_a_checkpoint_needs_a_seed(verb, files):
    found = run(verb, *VERBS[verb], "--checkpoint", "kept")
    assert found.exit_code == 2
    assert "--checkpoint needs --seed" in found.output
    assert not (files / "kept").exists()


def test_a_configuration_file_may_hold_the_seed_and_does_not_hold_the_folder(files):
    assert (
        run(
            "evaluate", "scores.csv", "--seed", "1", "--checkpoint", "kept", "--output", "out"
        ).exit_code
        == 0
    )
    assert "checkpoint" not in (files / "out" / "config.toml").read_text()
    found = run("evaluate", "--config", "out/config.toml", "scores.csv", "--checkpoint", "kept")
    assert found.exit_code == 0, found.output

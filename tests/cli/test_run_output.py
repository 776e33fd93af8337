"""Where results of the command line go: checked before work, written before they are printed."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path

import click
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from helpers.command_line import COMMAND, PLOTS, succeeded
from helpers.each import each

from fastfair.cli import main
from fastfair.cli.actions import evaluate, plan, synthesize

PLAN = [
    "plan",
    "--groups",
    3,
    "--subjects",
    100,
    "--attempts",
    2,
    "--fnmr",
    0.05,
    "--correlation",
    0.2,
]
VERBS = {
    "evaluate": ["evaluate", "nowhere.csv"],
    "compare": ["compare", "nowhere.csv", "nowhere.csv"],
    "embeddings": ["embeddings", "nowhere.npz"],
    "group-test": ["group-test", "nowhere.csv"],
    "demo": ["demo"],
    "plan": PLAN,
    "synthesize": ["synthesize", "--fmr", 0.01],
}


def run(*arguments: object):
    return CliRunner().invoke(main.cli, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def scores(tmp_path_factory) -> Path:
    """Scores in which mated comparisons are the lower ones, which is warned of."""
    rng = np.random.default_rng(0)
    mated = np.arange(60) < 30
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    frame = {"score": rng.normal(size=60) - 3 * mated, "mated": mated, "sex": ["=1+1", "m"] * 30}
    pl.DataFrame(frame).write_csv(path)
    return path


@pytest.fixture
def no_work(monkeypatch):
    def work(*_args, **_kwargs):
        pytest.fail("worked before the output was checked")

    # the others are stopped by files that are not there
    monkeypatch.setattr(evaluate, "demo", work)
    for chapter, verb in ((plan, "plan"), (synthesize, "synthesize")):
        monkeypatch.setattr(chapter, verb, work)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.usefixtures("no_work")
def test_the_folder_is_checked_before_work(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    for output, said in (
        ("", "the name is empty"),
        ("file", "is a file"),
        ("file/below", "file/below cannot be written: a part of its path is a file"),
        ("a" * 300, "name too long"),
    ):
        done = run(*VERBS[verb], "--output", output)
        assert said in " ".join(f"{done.output} {done.exception}".split())
        assert done.exit_code != 0
    assert [path.name for path in Path().iterdir()] == ["file"]
    real = Path.open

    def refuse(path, *arguments, **named):
        if ".fastfair" in path.name:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", refuse)
    assert "there is no permission to write there" in str(
        run(*VERBS[verb], "--output", "new/folder").exception
    )


@each("verb", sorted(VERBS.keys() - {"synthesize"}))
@pytest.mark.usefixtures("no_work")
def test_plots_without_a_folder_are_refused_before_work(verb):
    done = run(*VERBS[verb], *PLOTS)
    assert "--plots needs --output" in done.output
    assert done.exit_code == 2


def verbs_with_data(scores: Path) -> dict[str, tuple[list[object], set[str]]]:
    of_scores = ["--group", "sex", "--n-resamples", 0, "--at", "eer"]
    vectors = scores.with_name("vectors.npz")
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(12), 4)
    np.savez(
        vectors,
        vectors=rng.normal(size=(12, 8))[subject] + rng.normal(size=(48, 8)),
        subject=subject,
    )
    pairs = scores.with_name("pairs.csv")
    first, second = np.triu_indices(12)
    pl.DataFrame(
        {"score": rng.normal(size=78) + 2 * (first == second), "reference": first, "probe": second}
    ).write_csv(pairs)
    table = scores.with_name("counts.csv")
    pl.DataFrame({"failures": [0, 1, 0, 2] * 5, "attempts": 4, "sex": ["f", "m"] * 10}).write_csv(
        table
    )
    return {
        "evaluate": (["evaluate", scores, *of_scores], {"evaluation.csv", "evaluation.json"}),
        "compare": (
            ["compare", pairs, pairs, "--at", "eer", "--n-resamples", 20],
            {"comparison.csv", "comparison.json"},
        ),
        "embeddings": (
            ["embeddings", vectors, "--fmr", 0.1, "--n-resamples", 20],
            {"roc.csv", "roc.json"},
        ),
        "group-test": (
            ["group-test", table, "--input", "counts", "--group", "sex", "--n-resamples", 20],
            {"fnmr_test.json", "margin.json", "fnmr_test.csv", "margin.csv"},
        ),
        "plan": (PLAN, {"plan.csv", "plan.json"}),
        "synthesize": (
            ["synthesize", "--fmr", 0.01, "--n-steps", 2],
            {"synthesis.json", "scores.csv"},
        ),
    }


@pytest.mark.parametrize(
    "verb", ["evaluate", "compare", "embeddings", "group-test", "plan", "synthesize"]
)
@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
def test_results_are_written_before_they_are_printed(verb, scores, tmp_path, monkeypatch):
    def unread(*_args, **_kwargs):
        raise RuntimeError("nobody reads")

    monkeypatch.setattr(click, "echo", unread)
    arguments, files = verbs_with_data(scores)[verb]
    done = run(*arguments, "--json", "--output", tmp_path)
    assert str(done.exception) == "nobody reads"
    assert {path.name for path in tmp_path.iterdir()} == files | {"config.toml"}
    for path in tmp_path.glob("*.json"):
        json.loads(path.read_text())


@pytest.fixture
def closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def evaluated(scores: Path, output: Path, **streams: object) -> subprocess.CompletedProcess[str]:
    arguments = [
        COMMAND,
        "evaluate",
        scores,
        "--group",
        "sex",
        "--n-resamples",
        "0",
        "--at",
        "eer",
        "--output",
        output,
    ]
    return subprocess.run(arguments, text=True, check=False, timeout=120, **streams)  # type: ignore[call-overload]


def require_results(output: Path) -> None:
    assert json.loads((output / "evaluation.json").read_text())["quantities"]
    table = (output / "evaluation.csv").read_text()
    assert table.endswith("\n")
    assert "fnmr,'=1+1,EER," in table


@pytest.mark.slow
def test_a_reader_who_goes_away_loses_nothing(scores, tmp_path, closed_pipe):
    done = evaluated(scores, tmp_path, stdout=closed_pipe, stderr=subprocess.PIPE)
    assert done.returncode == 141  # as a shell has it of `yes | true`
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("Warning: the EER is")
    require_results(tmp_path)


@pytest.mark.slow
def test_warnings_that_nobody_reads_do_not_cost_the_results(scores, tmp_path, closed_pipe):
    done = evaluated(scores, tmp_path, stdout=subprocess.PIPE, stderr=closed_pipe)
    assert done.returncode == 0
    assert "Error rates at EER" in done.stdout
    require_results(tmp_path)


@pytest.mark.slow
def test_closed_streams(scores, tmp_path):
    def close() -> None:
        os.close(1)
        os.close(2)

    assert evaluated(scores, tmp_path, preexec_fn=close).returncode == 0
    require_results(tmp_path)


@pytest.mark.slow
def test_a_full_disk_behind_the_standard_output(scores, tmp_path):
    with Path("/dev/full").open("w") as full:
        done = evaluated(scores, tmp_path, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.splitlines()[1:] == [
        "Error: the results cannot be printed: No space left on device"
    ]
    require_results(tmp_path)


@pytest.mark.slow
def test_the_same_run_writes_the_same_figures(tmp_path):
    asked = [
        "--group",
        "sex",
        "--at",
        "threshold=0.5",
        "--seed",
        1,
        "--n-resamples",
        64,
        *PLOTS,
        "--plots",
        "pdf",
    ]
    for name in ("once", "again"):
        run("evaluate", "docs/samples/scores.csv", *asked, "--output", tmp_path / name)
    figures = sorted(
        path.name
        for path in (tmp_path / "once").iterdir()
        if path.suffix in {".svg", ".png", ".pdf"}
    )
    assert "det.svg" in figures
    for name in figures:
        assert (tmp_path / "once" / name).read_bytes() == (
            tmp_path / "again" / name
        ).read_bytes(), name


def test_figures_of_systems_for_papers_embed_true_type_fonts(tmp_path):
    scores = "docs/samples/scores.csv"
    asked = [
        "--group",
        "sex",
        "--at",
        "threshold=0.5",
        "--n-resamples",
        20,
        "--seed",
        1,
        "--output",
        tmp_path,
    ]
    succeeded("compare", scores, scores, *asked, "--plots", "pdf", "--plots", "svg")
    assert {path.name for path in tmp_path.glob("*.pdf")} == {
        f"{name}.pdf" for name in ("det", "fmr_at_threshold_0.5", "fnmr_at_threshold_0.5")
    }
    for path in tmp_path.glob("*.pdf"):
        content = path.read_bytes()
        assert b"/FontFile2" in content
        assert b"/Type3" not in content
    assert "scores.csv</text>" in (tmp_path / "det.svg").read_text("utf-8")

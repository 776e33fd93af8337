"""Every verb as people run it: a process of its own, whose threads import what they need, on small
data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from helpers.command_line import COMMAND, run

import fastfair as ff
from fastfair.cli.main import cli

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
import command_lines

# Verbs by their lines; a word in brackets tells two lines of a verb apart.
LINES: dict[str, tuple[str, ...]] = command_lines.VERBS | {
    "evaluate [vectors]": ("vectors.npz", "--input", "vectors", "--group", "group", "--n-resamples", "64", "--seed",
                           "0"),
    "evaluate [trials]": ("trials.csv", "--embeddings", "named.npz", "--subject-pattern", "^([^/]+)/",
                          "--n-resamples", "64", "--seed", "0", "--at", "fmr=0.1"),
    "evaluate [page]": ("scores.csv", "--group", "group", "--quick", "--output", "made", "--plots", "svg", "--report",
                        "page.html"),
    "group-test [decisions]": ("decisions.csv", "--input", "decisions", "--rate", "fta", "--group", "sex",
                               "--n-resamples", "100", "--seed", "0"),
    "group-test [scores]": ("three.csv", "--at", "threshold=0.5", "--rate", "fnmr", "--group", "group",
                            "--n-resamples", "100", "--seed", "0"),
    "plan requirement": ("frr <= 30 %", "--subjects", "20", "--attempts", "2", "--rate", "0.05", "--n-simulations",
                         "5", "--seed", "0"),
    "plan fmr": ("--claimed", "1e-2", "--fmr", "5e-3", "--covariance", "1.2"),
    "demo": ("--n-resamples", "64", "--seed", "0", "--report", "demo.html"),
    "warm-up": (),
}  # fmt: skip
QUICK = (
    "evaluate", "check", "evaluate [vectors]", "claim", "compare", "identify", "group-test", "group-test [decisions]",
    "measures", "model", "plan", "apply",
)  # fmt: skip
OTHERS = [name for name in LINES if name not in QUICK]
VERDICTS = (0, 1, 3)  # of the verb `check`; the others end with 0

pytestmark = pytest.mark.jit


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write what the lines read."""
    made, before = tmp_path_factory.mktemp("small data"), Path.cwd()
    os.chdir(made)
    try:
        command_lines.make_files()
        e = ff.von_mises_fisher_embeddings(12, 3, 8, concentration=20, rng=0)
        names = [f"s{subject}/{k % 3}" for k, subject in enumerate(e.subject)]
        np.savez("named.npz", vectors=e.vectors, name=names)
        pairs = [f"{first},{second}" for k, first in enumerate(names) for second in names[k + 1 :]]
        Path("trials.csv").write_text("\n".join(["reference,probe", *pairs]) + "\n")
        rows = [f"s{k // 3},{'fm'[k // 3 % 2]},{int(k % 9 == 0)}" for k in range(60)]
        Path("decisions.csv").write_text("\n".join(["subject,sex,failed", *rows]) + "\n")
    finally:
        os.chdir(before)
    return made


def words_of(name: str) -> list[str]:
    """Return the words of a line, with two threads where its verb has any."""
    words = name.partition(" [")[0].split()
    command: click.Command = cli
    for word in words:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    has_threads = any(param.name == "n_threads" for param in command.params)
    return [*words, *LINES[name], *(("--n-threads", "2") if has_threads else ())]


def test_every_verb_has_a_line():
    verbs = {name.partition(" [")[0] for name in LINES}
    groups = {name: group for name, group in cli.commands.items() if isinstance(group, click.Group)}
    assert verbs == {
        *cli.commands,
        *(f"{name} {verb}" for name, group in groups.items() for verb in group.commands),
    }
    assert set(QUICK) < set(LINES)


def ends_well(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line in a process of its own, which must end well, without an error of Python's."""
    minutes = 15  # for all kernels may have to be compiled, on a busy machine
    done = subprocess.run(
        [COMMAND, *words_of(name)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60 * minutes,
        check=False,
    )
    assert done.returncode in (VERDICTS if name == "check" else (0,)), done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of the few subjects of these files
@pytest.mark.parametrize(
    "name", [*QUICK[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in QUICK[2:])]
)
def test_a_process_of_its_own_prints_what_one_thread_does(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = words_of(name)
    with_a_thread = [*words[:-1], "1"] if "--n-threads" in words else words
    assert ends_well(name, folder).stdout == run(*with_a_thread).stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_other_verbs_end_well_in_a_process_of_their_own(name, folder):
    ends_well(name, folder)

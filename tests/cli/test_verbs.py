"""What all verbs share: help in sections with examples, and `--config`, which repeats a run."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path

import click
import numpy as np
import pytest
from helpers.command_line import refused, run, run_program, succeeded
from helpers.each import each

from fastfair.cli.commands import Command, GroupCommand
from fastfair.cli.main import cli
from fastfair.cli.verbs import SECTIONS
from fastfair.errors import FileFormatError, MissingFileError

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
import command_lines

ALL = {
    **cli.commands,
    **{f"plan {name}": verb for name, verb in cli.commands["plan"].commands.items()},
}


def test_the_list_of_verbs_is_not_cut():
    listed = run("--help").output
    assert "..." not in listed.partition("Commands:")[2]
    assert max(map(len, listed.splitlines())) <= 80
    for name, verb in ALL.items():
        assert isinstance(verb, Command), name
        shown = listed if " " not in name else run("plan", "--help").output
        assert f"{name.split()[-1]} " in shown
        assert verb.short_help in shown


@each("name", ALL)
def test_help_has_sections_and_ends_with_examples_that_parse(name):
    verb = ALL[name]
    brief, shown = (run(*name.split(), option).output for option in ("--help", "--help-all"))
    assert len(brief.splitlines()) <= 40
    for text in (brief, shown):
        sections = [
            line[:-1]
            for line in text.splitlines()
            if line.endswith(":") and not line.startswith(" ")
        ]
        assert [one for one in (*SECTIONS, "Commands", "Examples") if one in sections] == sections
        assert {"Output", "Examples"} <= set(sections)
        assert len(verb.examples) >= 2
        assert [line.strip() for line in text.splitlines()][-len(verb.examples) :] == verb.examples
    for example in verb.examples:
        words = shlex.split(example)
        assert words[: 1 + len(name.split())] == ["fastfair", *name.split()]
        context = verb.make_context(name, words[1 + len(name.split()) :])
        assert not isinstance(verb, GroupCommand) or not context.args
    options = [
        param
        for param in verb.params
        if isinstance(param, click.Option) and param.opts[0] != "--help-all"
    ]
    assert all(param.opts[0] in shown and param.help for param in options)
    first = [param for param in options if param.name in verb.verb.first.split()]
    assert 2 <= len(first) == len(verb.verb.first.split()) <= 10
    assert all(param.opts[0] in brief for param in first)


def documented_commands() -> list[str]:
    """Return the commands in blocks of README and docs."""
    root, found = Path(__file__).parents[2], []
    for page in (root / "README.md", *sorted((root / "docs").glob("*.md"))):
        for block in re.findall(
            r"^```(?:sh|console)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S
        ):
            lines = block.replace("\\\n", " ").splitlines()
            found += [
                line.removeprefix("$ ") for line in lines if re.match(r"(\$ )?fastfair ", line)
            ]
    return found


def test_every_command_of_readme_and_docs_can_be_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("results", "again", "other"):
        Path(name).mkdir()
        Path(name, "config.toml").write_text('scores = "scores.csv"\n')
    commands = documented_commands()
    assert len(commands) > 25
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        if "|" not in words:
            name = " ".join(words[:2]) if " ".join(words[:2]) in ALL else words[0]
            ALL[name].make_context(name, words[len(name.split()) :])


@pytest.mark.jit
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of the few subjects of these files
@pytest.mark.parametrize("name", command_lines.VERBS)
def test_a_run_is_repeated_by_the_file_that_it_writes(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command_lines.make_files()
    words = [word for word in command_lines.VERBS[name] if word not in ("--output", "made")]
    if "--seed" in words:  # the seed that is chosen is written, too
        at = words.index("--seed")
        words = words[:at] + words[at + 2 :]
    assert run(name, *words, "--output", "first").exit_code == 0
    succeeded(name, "--config", "first/config.toml", "--output", "second")
    written = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert written == sorted(path.name for path in (tmp_path / "second").iterdir())
    assert "config.toml" in written
    for file in written:
        assert (tmp_path / "first" / file).read_bytes() == (
            tmp_path / "second" / file
        ).read_bytes(), file


def test_options_given_count_before_those_of_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command_lines.make_files()
    Path("c.toml").write_text(
        'scores = "scores.csv"\ngroup = "group"\nn-resamples = 0\nat = ["fmr=0.1", "eer"]\nalpha ='
        ' 0.25\nplots = ["png"]\n'
    )
    done = succeeded(
        "evaluate",
        "--config",
        "c.toml",
        "--at",
        "threshold=0.5",
        "--output",
        "a",
        "--measure",
        "fdr",
    )
    assert "Error rates at threshold=0.5" in done.output
    assert "Error rates at EER" not in done.output
    written = tomllib.loads(Path("a/config.toml").read_text())
    seed = written.pop("seed")
    assert int(seed) >= 0
    assert written == {
        "verb": "evaluate",
        "scores": "scores.csv",
        "group": ["group"],
        "n-resamples": "0",
        "at": ["threshold=0.5"],
        "alpha": "0.25",
        "plots": ["png"],
        "measure": ["fdr"],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('verb = "compare"', "holds options of fastfair compare, not of fastfair evaluate"),
        ('n_resample = 3', "no option 'n_resample' (did you mean 'n-resamples'"),
        ('config = "x.toml"', "no option 'config'"),
        ('quick = "yes"', "quick is true or false, not 'yes'"),
        ("alpha = [1, 2]", "alpha is text or a number, not [1, 2]"),
        ("at = [[1]]", "at is text or a number, or a list of them"),
        ("alpha = 2024-01-01", "alpha is text or a number"),
        ('at = "far=1"', "'far=1' is not an operating point"),
        ("n-resamples = 1.5", "not a valid integer"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_file_is_told(text, message, write):
    path = write("c.toml", text)
    assert message in refused("evaluate", "scores.csv", "--config", path)


def test_a_file_that_is_not_toml_or_not_there(tmp_path, write):
    path = write("c.toml", "at = fmr\n")
    with pytest.raises(FileFormatError, match="is not TOML"):
        run("evaluate", "s.csv", "--config", path)
    with pytest.raises(MissingFileError, match=r"did you mean 'c\.toml'"):
        run("evaluate", "s.csv", "--config", tmp_path / "d.toml")


def test_labels_of_any_kind_come_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = 'a "b"\\x41é\x1b\x7f\n'
    Path("s.csv").write_text("score,reference,probe\n0.9,a,a\n0.1,a,b\n0.8,b,b\n0.2,b,a\n")
    run(
        "evaluate",
        "s.csv",
        "--n-resamples",
        0,
        "--at",
        "eer",
        "--subject-pattern",
        f"^(.)|{name}",
        "--output",
        "a",
    )
    assert tomllib.loads(Path("a/config.toml").read_text())["subject-pattern"] == f"^(.)|{name}"


@pytest.mark.parametrize(
    "verb", ["evaluate", "compare", "embeddings", "calibration", "shrink", "check", "claim"]
)
def test_no_help_promises_what_is_refused_without_replicates(verb, tmp_path):
    rng = np.random.default_rng(0)
    vectors = np.repeat(rng.normal(size=(40, 8)), 3, 0) + rng.normal(size=(120, 8))
    np.savez(tmp_path / "v.npz", vectors=vectors, subject=np.arange(120) // 3)
    who, other = np.repeat(np.arange(40), 8), np.tile(np.arange(40), 8)
    rows = "".join(
        f"{a},{b},{2 * (a == b) + x:.3f},{'fm'[a % 2]}\n"
        for a, b, x in zip(
            np.append(who, who), np.append(other, who), rng.normal(size=640), strict=True
        )
    )
    (tmp_path / "s.csv").write_text(f"reference,probe,score,sex\n{rows}")
    scores, at = tmp_path / "s.csv", ("--at", "fmr=0.1")
    given = {
        "evaluate": (scores, *at),
        "compare": (scores, scores, *at),
        "embeddings": (tmp_path / "v.npz", "--fmr", 0.05),
        "calibration": (scores, "--score-kind", "log-likelihood-ratio", "--application", 0.1),
        "shrink": (scores, *at, "--group", "sex"),
        "check": (scores, *at, "--require", "fnmr <= 90 %"),
        "claim": (scores, "fnmr <= 90 %", *at),
    }[verb]
    promised = "With 0," in " ".join(run(verb, "--help-all").stdout.split())
    assert (run_program(verb, *given, "--n-resamples", 0).returncode == 0) == promised


def test_numbers_in_options_say_what_to_write():
    for given, says in (
        (
            ("plan", "fmr", "--claimed", "0.1%"),
            "'0.1%' is a percentage: write it as a fraction, 0.001",
        ),
        (("plan", "fmr", "--claimed", "0,1"), "'0,1' is no number: write decimals with a point"),
        (("plan", "fmr", "--claimed", "few"), "'few' is no number"),
        (
            ("plan", "fmr", "--claimed", "0.1", "--fmr", "1 %"),
            "'1 %' is a percentage: write it as a fraction, 0.01",
        ),
        (("evaluate", "s.csv", "--at", "fmr=0,01"), "has a decimal comma: write fmr=0.01"),
        (
            ("identify", "v.npz", "--at", "rank=1,5"),
            "give operating points one by one, as rank=1 and rank=5",
        ),
        (
            ("evaluate", "s.csv", "--at", "fmr=x"),
            "has no number after the =, but 'x': write it as in fmr=0.001",
        ),
    ):
        done = run_program(*given)
        assert done.returncode == 2
        assert says in " ".join(done.stderr.split())


def test_tables_of_many_systems_have_short_lines(tmp_path):
    rows = [
        f"system-{k:03d},{1e-4 * (1 + k % 7)},{1e-4},{0.01 + k / 9e3},{0.02}\n" for k in range(126)
    ]
    for n in (3, 126):
        (tmp_path / "t.csv").write_text("Algorithm,FMR.f,FMR.m,FNMR.f,FNMR.m\n" + "".join(rows[:n]))
        columns = "--fmr-column", "FMR.{group}", "--fnmr-column", "FNMR.{group}"
        lines = succeeded(
            "measures", tmp_path / "t.csv", *columns, "--by", "Algorithm"
        ).stdout.splitlines()
        assert max(map(len, lines)) <= 120
        of_last = " ".join(line for line in lines if line.startswith(f"system-{n - 1:03d} "))
        assert (n == 3) == ("FDR" in lines[1]) == (not of_last)
    titles = " ".join(line for line in lines if line.startswith("system "))
    assert titles.count("max-geomean ratio of FNMR") == 1
    assert lines.count("") >= 2


@pytest.mark.slow
def test_columns_of_published_rates_are_called_by_their_options(tmp_path):
    path = tmp_path / "rates.csv"
    path.write_text("group,fmr,fnmr\nf,0.001,0.03\nm,0.002,0.02\n")
    done = run_program("measures", path, "--fmr-column", "fmr", "--fnmr-column", "fnmr")
    assert done.stderr.startswith("Error: --fmr-column fmr has no {group} in it")
    assert "--fmr-column FMR.{group}; or name the column of groups with --group" in done.stderr

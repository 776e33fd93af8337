"""Names of groups, subjects and files are printed by every verb so that they steer neither
terminals nor jobs."""

from __future__ import annotations

import json
import re

import pytest
from fuzz.command_lines import VERBS, harms, make_files, spoil
from helpers.command_line import run_program

from fastfair.cli.terminal import harmless

MORE = {
    "check": ("--worst", "3"),
    "evaluate": ("--require", "fnmr@fmr=0.3 <= 0.5"),
    "model": ("--level", "0.9"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("::hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        make_files()
    for path in folder.iterdir():
        if path.name not in ("empty.csv", "text.csv"):
            spoil(path)
    return folder


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors in toy data
def test_no_verb_prints_what_steers_terminals_or_jobs(folder):
    told = ""
    for verb, words in VERBS.items():
        for more in (MORE.get(verb, ()), ("--json",), ("--output", "::x\x1b")):
            done = run_program(verb, *words, *more, cwd=folder)
            assert done.returncode in (0, 1, 2, 3), (verb, done.stderr)
            lines = "\n".join(
                line
                for line in done.stderr.splitlines()
                if not re.match(r"::(error|warning|notice) ", line)
            )
            assert not harms(done.stdout + lines), verb
            if more == ("--json",) and done.returncode == 0:
                told += json.dumps(json.loads(done.stdout), ensure_ascii=False)
            else:
                told += done.stdout
    for shown in (
        r"\x1b[31mred\x07",
        r"\x3a:stop-commands::x",
        r"\x9b2J\u202ered",
        r"\x23#[error]x",
    ):
        assert shown in told
    for path in folder.glob("*/*.csv"):
        assert not re.findall(r"^[=+@-]", path.read_text(), re.M), path


def test_commands_of_jobs_are_escaped_wherever_a_line_may_begin():
    assert harmless("a ::x:: b\n::y a::b ##[z]") == "a \\x3a:x:: b\n\\x3a:y a::b \\x23#[z]"

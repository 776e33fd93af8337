"""Names of groups, subjects and files are printed by every verb so that they steer neither terminals nor jobs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fuzz.command_lines import VERBS, make_files
from helpers.command_line import run_program

from fastfair.cli.terminal import harmless

# ESC, BEL, C1, an override of the direction of writing, and lines that GitHub Actions obeys.
HOSTILE = ("\x1b[31mred\x07", "::stop-commands::x", "\x9b2J\u202ered", "##[error]x", "a\n::error::b", "\u2028::x::")
MORE = {
    "check": ("--worst", "3"),
    "evaluate": ("--claim", "fnmr@fmr=0.3 <= 0.5"),
    "model": ("--level", "0.9"),
}


def spoiled(text: str) -> str:
    """Put hostile words before a name, the same before the same name."""
    return f"{HOSTILE[ord(text[-1]) % len(HOSTILE)]}{text}"


def spoil(path: Path) -> None:
    """Spoil all names that a file holds."""
    if path.suffix == ".npz":
        arrays = dict(np.load(path))
        np.savez(path, **arrays | {"group": np.array(list(map(spoiled, arrays["group"])))})
        return
    numbers = "mated|score|failures|attempts|quality|.*[.].*"
    table = pl.read_csv(path, infer_schema=False)
    table.select(
        column if re.fullmatch(numbers, column.name) else pl.Series(column.name, list(map(spoiled, column)))
        for column in table
    ).write_csv(path)


def harms(text: str) -> list[str]:
    """Return what of a text would steer a terminal or a job."""
    return re.findall(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]|^\s*::.*|##\[.*", text, re.M
    )


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
@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
def test_no_verb_prints_what_steers_terminals_or_jobs(folder):
    told = ""
    for verb, words in VERBS.items():
        for more in (MORE.get(verb, ()), ("--json",), ("--output", "::x\x1b")):
            done = run_program(verb, *words, *more, cwd=folder)
            assert done.returncode in (0, 1, 2, 3), (verb, done.stderr)
            lines = "\n".join(
                line for line in done.stderr.splitlines() if not re.match(r"::(error|warning|notice) ", line)
            )
            assert not harms(done.stdout + lines), verb
            if more == ("--json",) and done.returncode == 0:
                told += json.dumps(json.loads(done.stdout), ensure_ascii=False)
            else:
                told += done.stdout
    for shown in (r"\x1b[31mred\x07", r"\x3a:stop-commands::x", r"\x9b2J\u202ered", r"\x23#[error]x"):
        assert shown in told
    for path in folder.glob("*/*.csv"):
        assert not re.findall(r"^[=+@-]", path.read_text(), re.M), path


def test_commands_of_jobs_are_escaped_wherever_a_line_may_begin():
    assert harmless("a ::x:: b\n::y a::b ##[z]") == "a \\x3a:x:: b\n\\x3a:y a::b \\x23#[z]"

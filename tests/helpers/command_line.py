"""The command line, run in this process or found for another."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from click.testing import CliRunner

from fastfair.cli import main
from fastfair.cli.main import cli

PLOTS = ("--plots", "png", "--plots", "svg")
COMMAND = str(Path(sys.executable).with_name("fastfair"))


def run(*arguments: object):
    return CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)


def succeeded(*arguments: object):
    """Run a command that must end well, and return what it prints."""
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done


def printed(*arguments: object) -> dict:
    """Return the JSON that a command prints, without the names of its files."""
    content = json.loads(succeeded(*arguments).stdout)
    content.pop("inputs", None)
    return content


def refused(*arguments: object) -> str:
    """Return what a command says, on one line, that must refuse its words."""
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    return " ".join(done.output.split())


def run_program(*arguments: object, cwd: Path | None = None) -> CompletedProcess[str]:
    """Run the whole program in this process, which prints errors and warnings as lines: much
    quicker than another."""
    words, code = [str(a) for a in arguments], 0
    with (
        contextlib.chdir(cwd or "."),
        warnings.catch_warnings(),
        mock.patch.object(sys, "argv", ["fastfair", *words]),
        mock.patch.multiple(
            main, guard_streams=mock.DEFAULT, leave_the_end_to_the_interrupt=mock.DEFAULT
        ),
        CliRunner().isolation() as (out, err, _),
    ):
        try:
            main.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        return CompletedProcess(words, code, out.getvalue().decode(), err.getvalue().decode())

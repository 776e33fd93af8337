"""The command line, run in this process or found for another."""

from __future__ import annotations

import contextlib
import gc
import sys
import warnings
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from click.testing import CliRunner

from fastfair.cli import main
from fastfair.cli.main import cli

COMMAND = str(Path(sys.executable).with_name("fastfair"))


def run(*arguments: object):
    return CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)


def run_program(*arguments: object, cwd: Path | None = None) -> CompletedProcess[str]:
    """Run the whole program in this process, which prints errors and warnings as lines: much quicker than another."""
    words, code = [str(a) for a in arguments], 0
    with (
        contextlib.chdir(cwd or "."),
        warnings.catch_warnings(),
        mock.patch.object(sys, "argv", ["fastfair", *words]),
        mock.patch.multiple(main, guard_streams=mock.DEFAULT, leave_the_end_to_the_interrupt=mock.DEFAULT),
        mock.patch.object(gc, "freeze"),
        CliRunner().isolation() as (out, err, _),
    ):
        try:
            main.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        return CompletedProcess(words, code, out.getvalue().decode(), err.getvalue().decode())

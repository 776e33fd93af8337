"""The command line, run in this process or found for another."""

from __future__ import annotations

import sys
from pathlib import Path

from click.testing import CliRunner

from fastfair.cli.main import cli

COMMAND = str(Path(sys.executable).with_name("fastfair"))


def run(*arguments: object):
    return CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)

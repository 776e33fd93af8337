"""A sample of the command lines, and that it finds what it looks for."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from helpers.each import each

sys.path.insert(0, str(Path(__file__).parent))

import calls
import command_lines


def test_a_sample_of_command_lines_ends_as_allowed():
    told = []
    counts = command_lines.run(60, seed=20, tell=told.append)
    assert told == []
    assert counts["exit 2"] > 20


@each("verb", command_lines.VERBS)
def test_the_lines_that_others_are_made_of_are_valid(verb):
    with calls.away():
        command_lines.make_files()
        what, told = command_lines.attempt([verb, *command_lines.VERBS[verb]])
    assert what == "exit 0", told


def test_a_foreign_exception_is_found(monkeypatch):
    @click.command()
    def broken():
        raise KeyError("a")

    monkeypatch.setattr(command_lines, "cli", broken)
    assert command_lines.attempt([])[0] == "foreign"

"""Messages mark the arguments that they speak of, so that Python's names and the terminal's options
are both right."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import click
import pytest
from helpers.each import each
from hypothesis import given
from hypothesis import strategies as st

import fastfair
from fastfair.cli.main import cli
from fastfair.errors import Argument, FastfairWarning, InputError, OutputError, visible
from fastfair.planning.fnmr import RATES_OF_GROUPS

OPTIONS = {"n_groups": "--groups", "failures": "--failures", "percent": "--percent", "at": "--at"}


@each(
    ("message", "in_python", "in_options"),
    [
        (
            "⟦n_groups⟧ must be at least 2",
            "n_groups must be at least 2",
            "--groups must be at least 2",
        ),
        ("⟦n_groups⟧[1] is 0", "n_groups[1] is 0", "--groups[1] is 0"),
        ('pass ⟦failures="exclude"⟧.', 'pass failures="exclude".', "pass --failures exclude."),
        ("give ⟦failures=⟧", "give failures=", "give --failures"),
        ("with ⟦percent=True⟧", "with percent=True", "with --percent"),
        ("⟦at=fmr=0.1⟧ holds it", "at=fmr=0.1 holds it", "--at fmr=0.1 holds it"),
        ("⟦at=^(.+)_⟧", "at=^(.+)_", "--at ^(.+)_"),
        ("⟦rng⟧ and fmr=0.1", "rng and fmr=0.1", "rng and fmr=0.1"),
        ("the label ⟦a b⟧ and ⟦", "the label ⟦a b⟧ and ⟦", "the label ⟦a b⟧ and ⟦"),
        ("", "", ""),
    ],
)
def test_arguments_become_options(message, in_python, in_options):
    for kind in (InputError, FastfairWarning, OutputError):
        said = kind(message)
        assert str(said) == in_python
        assert said.in_options(OPTIONS) == in_options
        assert kind(f"more: {said.marked}").in_options(OPTIONS) == f"more: {in_options}"
        copy = pickle.loads(pickle.dumps(said))
        assert (str(copy), copy.in_options(OPTIONS)) == (in_python, in_options)


def test_the_fields_of_an_error():
    error = InputError('use ⟦unit="subject"⟧ or ⟦n_resamples⟧', 3)
    assert error.parts == (
        "use ",
        Argument("unit", '"subject"', 'unit="subject"'),
        " or ",
        Argument("n_resamples", "", "n_resamples"),
        "",
    )
    assert error.row == 3


@given(st.text())
def test_what_marks_nothing_stays_as_it_is(text):
    text = text.replace("⟦", "")
    assert (
        str(InputError(text[:1000]))
        == InputError(text[:1000]).in_options(OPTIONS)
        == visible(text[:1000])
    )


def test_long_messages_are_cut_and_still_show_their_ends():
    error = InputError(f"⟦n_groups⟧ {'x' * 3000} ⟦at=⟧")
    assert len(str(error)) < 1600
    assert str(error) == error.in_options(OPTIONS)
    assert str(error).startswith("n_groups x")


def _options() -> set[str]:
    commands = [cli, *cli.commands.values(), *cli.commands["plan"].commands.values()]
    return {
        str(param.name)
        for command in commands
        for param in command.params
        if isinstance(param, click.Option)
    }


def _messages(tree: ast.AST) -> list[str]:
    """Return the texts that errors and warnings are made of, without what is put in."""
    texts = []
    for node in ast.walk(tree):
        is_warning = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "warn"
        if isinstance(node, ast.Raise) or is_warning:
            texts += [
                part.value
                for part in ast.walk(node)
                if isinstance(part, ast.Constant) and type(part.value) is str
            ]
    return texts


SOURCES = [
    path for path in Path(fastfair.__file__).parent.rglob("*.py") if path.parent.name != "cli"
]


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.AST]:
    return {path: ast.parse(path.read_text("utf-8")) for path in SOURCES}


def test_messages_mark_all_arguments_that_are_options(trees: dict[Path, ast.AST]):
    # Neither operating points, such as fmr=0.001, nor calls, such as Policies(failures=...)
    proposes = re.compile(r"(?<![⟦\w.(@])([a-z_]+)=(?!\d)")
    options = _options()
    for path, tree in trees.items():
        for text in _messages(tree):
            assert not options.intersection(proposes.findall(text)), f"{path.name}: {text}"


def test_marks_are_of_arguments(trees: dict[Path, ast.AST]):
    arguments, fields = set(), set()
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                arguments.add(node.arg)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                fields.add(node.target.id)
    for path in SOURCES:
        named = set(re.findall(r"⟦([a-z_]+)[⟧=]", path.read_text("utf-8")))
        assert named <= arguments | fields | set(RATES_OF_GROUPS), path.name
    with pytest.raises(InputError, match=r"^n_resamples must be"):
        fastfair.evaluate(fastfair.Comparisons([0.1, 0.2], [True, False]), n_resamples=-1)

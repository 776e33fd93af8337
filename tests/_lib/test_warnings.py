"""Warnings point at the line of whoever called the library, from whatever depth they are given."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
from helpers.each import each

import fastfair as ff
from fastfair._lib.warnings import warn
from fastfair.errors import EmptyGroupWarning, FastfairWarning, ReversedScoresWarning

LIBRARY = Path(ff.__file__).parent


def test_a_warning_points_at_the_caller_at_any_depth():
    reversed_scores = ff.Comparisons([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0])
    with pytest.warns(ReversedScoresWarning) as told:
        ff.evaluate(reversed_scores, n_resamples=0)
    line = inspect.currentframe().f_lineno - 1
    assert [(one.filename, one.lineno) for one in told] == [(__file__, line)]
    groups = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0], reference_group=list("abaa"))
    with pytest.warns(EmptyGroupWarning) as told:
        ff.rates(groups, ff.at_threshold(0.5))
    assert [one.filename for one in told] == [__file__]


def test_outside_the_library_a_warning_points_at_the_line_itself():
    with pytest.warns(FastfairWarning) as told:
        warn("first", FastfairWarning)
    assert (told[0].filename, str(told[0].message)) == (__file__, "first")


@each("path", sorted(LIBRARY.rglob("*.py")))
def test_no_module_counts_frames_of_its_own(path):
    text = path.read_text()
    if "stacklevel" not in text:
        return
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    assert not [
        call.lineno for call in calls if any(word.arg == "stacklevel" for word in call.keywords)
    ]

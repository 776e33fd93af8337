"""A sample of the fuzzer's calls, and that it finds what it looks for."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import calls
import valid_calls
from helpers import public_api

from fastfair.error_rates.rates import Rates


def test_a_sample_of_calls_ends_as_allowed():
    told = []
    counts = calls.run(150, seed=21, tell=told.append)
    assert told == []
    assert counts["refused"] > 30
    assert counts["accepted"] > 1
    assert counts["same"] > 1


def test_every_public_function_has_a_valid_call():
    expected = set(public_api.FUNCTIONS) - valid_calls.LEFT_OUT
    bases = {name for name in expected if name.startswith("_Plan.")}  # called as their children's
    assert expected - bases <= set(valid_calls.calls())


@pytest.mark.slow  # golden results are those of these calls
def test_the_valid_calls_are_valid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # toy data
        for name, given in valid_calls.calls().items():
            try:
                calls.call(name, given)
            except Exception as error:
                error.add_note(f"the call of {name}")
                raise


def faulty(what):
    if what == "foreign":
        raise KeyError("a")
    if what == "foreign warning":
        warnings.warn("odd", RuntimeWarning, stacklevel=1)
    while what == "hang":
        pass
    return Rates(None, 0.5, 2.0 if what == "wrong" else 0.5, 0.5, (), *[None] * 5)


@pytest.mark.parametrize("what", ["foreign", "foreign warning", "hang", "wrong", "accepted"])
def test_what_is_not_allowed_is_found(what, monkeypatch):
    monkeypatch.setattr(calls, "call", lambda name, given: faulty(what))
    monkeypatch.setattr(calls, "LIMIT", 0.2)
    assert calls.attempt("fastfair.eer", {}, ()).what == what

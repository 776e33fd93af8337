"""A sample of the searches drawn at random, and that the fuzzer finds what it looks for."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import searches

import fastfair as ff


def test_a_sample_of_searches_has_the_counts_of_loops():
    told = []
    counts = searches.run(40, seed=3, tell=told.append)
    assert told == []
    assert counts["right"] > 20


def test_wrong_counts_and_limits_are_found(monkeypatch):
    identify = ff.identify

    def changed(**more):
        def wrong(*args, **kwargs):
            found = identify(*args, **kwargs)
            return replace(found, rows=tuple(replace(row, **more) for row in found.rows))

        return wrong

    for more in ({"estimate": 0.123}, {"low": 1.0, "high": 0.0}, {"n_searches": 99}):
        monkeypatch.setattr(ff, "identify", changed(**more))
        assert searches.run(30, seed=3, tell=lambda _: None)["wrong"] > 2

"""Kinds of operating points; a new one is one class: see `tests/test_one_home.py`."""

from __future__ import annotations

from fastfair.error_rates import operating_points
from fastfair.error_rates.operating_points import read_point


def test_every_kind_has_its_own_name_and_example():
    rules = operating_points.RULES
    assert list(rules) == [
        "fmr",
        "fnmr",
        "threshold",
        "eer",
        "mean group eer",
        "fpir",
        "fnir",
        "rank",
    ]
    for kind, rule in rules.items():
        assert read_point(rule.example).kind == kind
        assert read_point(str(read_point(rule.example))) == read_point(rule.example)

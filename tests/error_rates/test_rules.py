"""A new kind of operating point is one class, and is then known everywhere."""

from __future__ import annotations

import pytest
from helpers.data_sets import population

import fastfair as ff
from fastfair.data.comparisons import keys_of
from fastfair.error_rates import operating_points
from fastfair.error_rates.operating_points import Rule, read_point


@pytest.fixture
def no_false_match():
    """A toy: the threshold next above all non-mated scores of the data, in replicates, too."""

    class NoFalseMatch(Rule):
        kind, title, example = "no false match", "no false match", "nofm"
        holds, signs = ("fmr",), (0.0, 1.0)

        def key(self, comparisons, at, groups):
            highest = keys_of(comparisons).nonmated[-1]
            return highest + highest.dtype.type(1)

        def keys_in_block(self, block, places):
            return block.given(places)

    yield ff.OperatingPoint("no false match")
    del operating_points.RULES["no false match"]


def test_a_toy_kind_is_written_read_and_evaluated(no_false_match):
    at = no_false_match
    assert str(at) == "no false match"
    assert read_point(str(at)) == read_point("nofm") == at
    c = population()
    assert ff.rates(c, at).fmr == 0
    assert ff.rates(c, at).threshold == ff.rates(c, ff.at_fmr(0)).threshold
    found, wanted = (ff.evaluate(c, one, [], metrics=[], n_resamples=64, rng=0) for one in (at, ff.at_fmr(0)))
    assert found.value("fnmr") == wanted.value("fnmr")
    given = ff.evaluate(c, ff.at_threshold(found.rates[0].threshold), [], metrics=[], n_resamples=64, rng=0)
    drawn = [one.replicates("fnmr") for one in (found, given, wanted)]
    assert drawn[0].tolist() == drawn[1].tolist() != drawn[2].tolist()
    with pytest.raises(ff.errors.InputError, match="nofm"):
        read_point("fmr")


def test_every_kind_has_its_own_name_and_example():
    rules = operating_points.RULES
    assert list(rules) == ["fmr", "fnmr", "threshold", "eer", "mean group eer"]
    for kind, rule in rules.items():
        assert read_point(rule.example).kind == kind
        assert read_point(str(read_point(rule.example))) == read_point(rule.example)

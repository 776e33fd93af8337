"""Score tests of two systems' rates against the plain oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import paired as slow
from oracles.strategies import comparisons_of_system, two_systems

import fastfair as ff
from fastfair.data import derived
from fastfair.error_rates import operating_points
from fastfair.evaluation.score_tests import SystemAtThreshold, UnitCounts, score_pvalues

POINTS = (ff.at_threshold(3.0), ff.at_fmr(0.3), ff.at_fnmr(0.2), ff.at_eer())


@pytest.mark.jit
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of groups that lack comparisons
@given(two_systems(), st.sampled_from([1, 30]))
def test_pvalues_are_those_of_the_plain_formulas(found, enough):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operating_points, "ENOUGH_ERRORS", enough)
        agree(found, enough)


def agree(found, enough):
    first = comparisons_of_system(found, 0)
    second = derived.match(first, comparisons_of_system(found, 1), one_by_one=False)
    one, other = (
        ff.evaluate(
            c,
            POINTS,
            [],
            metrics=[],
            n_resamples=0,
            settings=ff.EvaluationSettings(incomplete_groups="nan"),
        )
        for c in (first, second)
    )
    pairs = list(zip(one.quantities, other.quantities, strict=True))
    counts = UnitCounts(first, "subject")
    both = [
        {point: SystemAtThreshold(system, point, counts) for point in POINTS}
        for system in (first, second)
    ]
    (pvalues,) = score_pvalues(both, [one.quantities, other.quantities], [(0, 1)])
    tested = 0
    for (mine, theirs), pvalue in zip(pairs, pvalues, strict=True):
        if mine.name == "threshold" or not mine.n_comparisons:
            continue
        cell = None if mine.group is None else (mine.group, mine.probe_group or mine.group)
        freedom = mine.n_subjects - (len(first.groups) if cell is None else len(set(cell)))
        if freedom < 1:
            assert np.isnan(pvalue)
            continue
        limits = [e.quantity("threshold", at=mine.at).estimate for e in (one, other)]
        name = "fnmr" if mine.name == "fnmr" else "fmr"
        aim = 0.0 if mine.at.kind == "eer" else mine.at.value
        difference, expected = slow.score_test(
            found, name, cell, mine.at.kind, tuple(limits), freedom, aim, enough
        )
        assert mine.estimate - theirs.estimate == pytest.approx(difference, abs=1e-12)
        assert pvalue == pytest.approx(expected, rel=1e-6, abs=1e-12, nan_ok=True), (
            mine.name,
            cell,
            str(mine.at),
        )
        tested += 1
    assert tested > 3


@pytest.mark.jit
@pytest.mark.parametrize(
    ("failures", "expected"), [((0, 5), 0.0625), ((1, 8), 0.0390625), ((3, 3), 1.0)]
)
def test_few_decisions_of_different_people_are_tested_exactly(failures, expected):
    """A normal law gives 0 and 5 failures of 50 people p = 0.03."""
    people = np.arange(50)
    first, second = np.ones(50), np.ones(50)
    first[: failures[0]] = second[failures[0] : sum(failures)] = 0
    sides = np.append(people, 0), np.append(people, 1)
    mated = np.append(np.ones(50, int), 0)
    both = [ff.Comparisons(np.append(scores, 0), mated, *sides) for scores in (first, second)]
    found = ff.compare(*both, ff.at_threshold(0.5), [], metrics=[], n_resamples=0)
    (contrast,) = [one for one in found.contrasts if one.name == "fnmr"]
    assert contrast.pvalue == pytest.approx(expected)

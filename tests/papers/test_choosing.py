"""The page on choosing measures: rules on made-up numbers, laws against samples, and the page
itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from papers import choosing
from papers.choosing import rules
from papers.choosing.runs import POINTS, Runs, made_system, run
from papers.settings import Settings


def ability(**changes):
    base = rules.Ability(
        measure="garbe",
        error_types=2,
        needs_policy=True,
        has_reference=False,
        bounded=True,
        fails_without_errors=False,
        computable=1.0,
        orders_one=1.0,
        orders_two=1.0,
        orders_three=0.5,
        sees_shared=False,
        keeps_scale=True,
        tells_bias=1.0,
        false_alarms=0,
        uncertainty=0.1,
    )
    return dataclasses.replace(base, **changes)


def test_recommended_measures_exist():
    able = {"garbe": ability()}
    for question in rules.questions(able):
        for name in question.recommended:
            assert rules.title(name)


@pytest.mark.jit
def test_made_systems_have_subjects_and_groups():
    made = made_system("1:1:1:5", seed=3)
    assert len(made.groups) == 4
    assert made.subject_counts == (1000, 1000)
    assert made.nonmated_by_group.cells.trace() == len(made.nonmated)  # inside groups alone


@pytest.mark.slow
@pytest.mark.jit
def test_on_voxceleb_measures_contradict_each_other_but_not_beyond_chance(voxceleb):
    found = run(Settings.of(quick=False))
    assert isinstance(found, Runs)
    by_gender, by_both = (
        choosing.count_relations([one for one in contrasts if one.at in (None, POINTS[1])])
        for contrasts in found.contrasts.values()
    )
    assert by_gender["disagree"] == by_both["disagree"] == 0
    # Two large groups: nearly all measures tell the systems apart. Many small ones, some of them
    # without false matches: ratios are not computable, and few of the others tell.
    assert by_gender["agree"] > 200
    assert by_gender["withheld"] == by_gender["not computable"] == 0
    assert 0 < by_both["agree"] < 10
    assert (by_both["withheld"], by_both["not computable"]) == (0, 123)
    assert by_both["opposite estimates"] > 50
    inside = [
        one.quantity.low <= one.truth <= one.quantity.high
        for one in found.made
        if one.computable and one.truth == one.truth
    ]
    assert np.mean(inside) > 0.8

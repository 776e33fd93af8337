"""What the documentation says of models of errors: how often they find an effect that is not there,
and one that is."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from studies.bounds import error
from studies.error_model_study import PLACEBO, POINTS, study

pytestmark = pytest.mark.study
ALLOWED = 0.07
BY_NAME = {faces.name: faces for faces in PLACEBO}


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("faces", PLACEBO, ids=lambda faces: faces.name)
def test_an_attribute_without_effect_is_found_no_more_often_than_documented(faces, name, data_sets):
    n = data_sets(500)
    found = study(faces, name, n)
    for look in ("value", "different", "attribute"):
        assert math.isnan(found[look]) or found[look] <= ALLOWED + error(ALLOWED, n)


def test_taken_for_independent_comparisons_find_what_is_not_there(data_sets):
    n = data_sets(500)
    assert study(BY_NAME["as many of each, all pairs"], "FMR 0.01", n)["naive"] > 0.25


def test_a_margin_that_region_makes_is_contradicted(data_sets):
    n = data_sets(300)
    found = study(BY_NAME["gender and region go together"], "FNMR 0.05", n)
    assert found["contradiction"] > 0.35
    assert study(BY_NAME["as many of each, all pairs"], "FNMR 0.05", n)[
        "contradiction"
    ] <= 0.01 + error(0.01, n)


def test_twice_the_odds_are_found_as_often_as_documented(data_sets):
    n = data_sets(300)
    found = study(replace(BY_NAME["compared inside groups"], odds_ratio=2.0), "FMR 0.01", n)
    assert found["value"] > 0.86 - error(0.86, n)
    assert found["interval"] > 0.93 - error(0.93, n)

"""What the documentation says of failure counts compared: equal ones are rarely told apart, and one
with half the failures is found."""

from __future__ import annotations

import pytest
from studies.bounds import least, most
from studies.compared_counts_study import COLUMNS, look, study
from studies.counts_study import BY_NAME

pytestmark = pytest.mark.jit


@pytest.mark.study
@pytest.mark.parametrize("name", BY_NAME)
def test_equal_counts_are_rarely_told_apart(name, data_sets):
    n = data_sets(100)
    seen = study(BY_NAME[name], n)
    for column in ("differ", "wrong met"):
        assert seen[column] <= most(0.05, n), column
    for column in ("a group differs", "wrong met [*]"):
        assert not seen[column] > most(0.05, n), column  # totals have no groups
    assert seen["interval holds"] >= least(0.93, n)
    if name in ("unlike people, 100", "pairs, 120 people"):  # which are enough to find it
        assert seen["half found"] >= least(0.4, n)


def test_a_study_says_one_thing_a_column():
    for name in ("goats, 40 people", "totals of 174"):
        assert len(look(BY_NAME[name], 0, 1)) == len(COLUMNS)

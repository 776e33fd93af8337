"""Sessions of a person's own are harmless to intervals, and days that people share are not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from studies import session_study
from studies.bounds import least_coverage
from studies.processes import coverage

pytestmark = pytest.mark.study
DATA_SETS = 300


@pytest.mark.parametrize("design", session_study.DESIGNS, ids=lambda design: design.name)
def test_only_shared_sessions_matter(design: session_study.Design, data_sets: Callable[[int], int]):
    n = data_sets(DATA_SETS)
    held = coverage(partial(session_study.look, design), n, 1, session_study.QUANTITIES)
    for share in held.values():
        if not design.n_shared:
            assert share >= least_coverage(n)
        elif design.n_shared <= 20 and n >= 100:
            assert share < 0.9  # what the documentation warns of

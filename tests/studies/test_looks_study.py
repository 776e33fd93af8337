"""What the documentation says of gates that are looked at again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from studies import looks_study
from studies.bounds import most
from studies.looks_study import LEVEL, WIDTH, Setting

import fastfair as ff
from fastfair.claims import MET, NOT_MET
from fastfair.claims.looks import level_at_look


@pytest.mark.study
@pytest.mark.parametrize("setting", looks_study.SETTINGS, ids=lambda setting: setting.name)
def test_planned_looks_and_sequences_are_rarely_wrong_at_any(
    setting: Setting, data_sets: Callable[[int], int]
):
    n = data_sets(200)
    found = looks_study.study(setting, n)
    for verdict in ("met", "not met"):
        for way in ("planned", "any"):
            assert found[f"{verdict}, {way}"] <= most(1 - LEVEL, n), (verdict, way)
    assert found["power, planned"] >= found["one last look"] - 0.15
    assert found[WIDTH] > 1


@pytest.mark.slow
def test_verdicts_of_the_study_are_those_of_check():
    """With so many replicates that standard errors are those of the closed form."""
    setting = Setting("small", 4, n_people=400, goats=0.1)
    for seed in range(3):
        for k, (evidence, (e, m, _)) in enumerate(setting.looks(seed), 1):
            counts = ff.FailureCounts(e, m, np.zeros(len(e), int))
            error = 1 - level_at_look(LEVEL, k, 4)
            for bound in (0.02, 0.05, 0.09):
                row = ff.check(counts, f"fnmr <= {bound}", looks=(k, 4), rng=0).rows[0]
                is_met, is_not_met = (
                    float(evidence.pvalue(bound, side)) <= error for side in ("upper", "lower")
                )
                if abs(row.compared - bound) > 0.05 * bound:
                    assert is_met == (row.verdict == MET)
                if abs(row.opposite_limit - bound) > 0.05 * bound:
                    assert is_not_met == (row.verdict == NOT_MET)

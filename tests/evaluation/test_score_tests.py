"""Score tests of two systems' rates against the plain oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import paired as slow

import fastfair as ff
from fastfair.data import matching
from fastfair.evaluation import score_tests

POINTS = (ff.at_threshold(3.0), ff.at_fmr(0.3), ff.at_fnmr(0.2), ff.at_eer())


@st.composite
def trials(draw: st.DrawFn) -> list[slow.Trial]:
    """Some comparisons inside and across two groups, with ties and repeated pairs; both kinds occur."""
    subjects = {f"{group}{k}": group for group in "xy" for k in range(draw(st.integers(2, 4)))}
    score = st.integers(0, 6).map(float)
    names = st.sampled_from(sorted(subjects))
    found = [
        slow.Trial(name, name, True, draw(st.tuples(score, score)), (group,) * 2) for name, group in subjects.items()
    ]
    for _ in range(draw(st.integers(3, 25))):
        one, other = draw(st.lists(names, min_size=2, max_size=2, unique=True))
        found.append(slow.Trial(one, other, False, draw(st.tuples(score, score)), (subjects[one], subjects[other])))
    for name in draw(st.lists(names, max_size=6)):
        found.append(slow.Trial(name, name, True, draw(st.tuples(score, score)), (subjects[name],) * 2))
    return found


def comparisons(found: list[slow.Trial], system: int) -> ff.Comparisons:
    columns = [[trial.scores[system], trial.mated, trial.reference, trial.probe, *trial.groups] for trial in found]
    return ff.Comparisons(*map(list, zip(*columns, strict=True)))


@pytest.mark.jit
@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of groups that lack comparisons
@settings(deadline=None, max_examples=60)
@given(trials(), st.sampled_from([1, 30]))
def test_pvalues_are_those_of_the_plain_formulas(found, enough):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_tests, "ENOUGH_ERRORS", enough)
        agree(found, enough)


def agree(found, enough):
    first = comparisons(found, 0)
    second = matching.match(first, comparisons(found, 1), one_by_one=False)
    one, other = (
        ff.evaluate(c, POINTS, [], metrics=[], n_resamples=0, incomplete_groups="nan") for c in (first, second)
    )
    pairs = list(zip(one.quantities, other.quantities, strict=True))
    pvalues = score_tests.score_pvalues(first, second, POINTS, pairs, "subject")
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
        difference, expected = slow.score_test(found, name, cell, mine.at.kind, tuple(limits), freedom, aim, enough)
        assert mine.estimate - theirs.estimate == pytest.approx(difference, abs=1e-12)
        assert pvalue == pytest.approx(expected, rel=1e-6, abs=1e-12, nan_ok=True), (mine.name, cell, str(mine.at))
        tested += 1
    assert tested > 3

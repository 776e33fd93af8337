"""Paper 4 made anew: the rules, the study, and the tests on VoxCeleb1-H."""

from __future__ import annotations

import numpy as np
import pytest

import fastfair as ff
from papers import fnmr_groups
from papers.figure_style import style
from papers.fnmr_groups import chance, rules
from papers.fnmr_groups import margin_studies as studies
from papers.fnmr_groups import voxceleb as voxceleb_tests
from papers.page_parts import Figure, Table
from papers.settings import Settings
from papers.verdict_rules import by_count

SETTINGS = Settings(n_resamples=64, n_seeds=2, n_datasets=4, quick=True)


def test_trends():
    assert rules.steps(np.array([[1, 2, 2], [3, 2, 4]]), 1) == (2, 1, 1)
    assert rules.steps(np.array([[1.0, 2.0], [1 + 1e-12, 3.0]]), 0) == (1, 1, 0)
    assert rules.trend_outcome(100, 0) == "holds"
    assert rules.trend_outcome(200, 1) == "in part"
    assert rules.trend_outcome(60, 40) == "open"
    assert rules.trend_outcome(40, 60) == "fails"
    assert rules.trend_outcome(0, 0) == "fails"


def test_slower_beyond():
    slowing, straight = [0.0, 7.0, 20.0], [0.0, 7.0, 27.1]
    assert rules.slower_beyond(np.array([slowing, straight]), [3, 10, 30], 10) == 0.5


def test_effects():
    factors = {"a": 0.25, "b": 3.0, "c": 1.5}
    assert rules.order_outcome(factors, ["a", "b", "c"]) == "holds"
    assert rules.order_outcome(factors, ["a", "c", "b"]) == "in part"
    assert rules.order_outcome(factors, ["b", "a", "c"]) == "fails"
    assert rules.larger_outcome(factors, ["a", "b"], ["c"]) == "holds"
    assert rules.larger_outcome(factors, ["a", "c"], ["b"]) == "in part"
    assert rules.larger_outcome(factors, ["c"], ["b"]) == "fails"
    assert [rules.only_outcome(found, ["a"]) for found in (["a"], ["a", "b"], ["b"])] == ["holds", "in part", "fails"]


def test_bend():
    x = [0.0, 1.0, 4.0]
    assert rules.bend(np.array([[1.0, 2.0, 5.0], [1.0, 3.0, 5.0]]), x) == pytest.approx([0, 0.5])


def test_levels():
    assert rules.level_outcome(0.04, 0.06, 0.05) == "holds"
    assert rules.level_outcome(0.01, 0.06, 0.05) == "open"
    assert rules.level_outcome(0.04, 0.11, 0.05) == "open"
    assert rules.level_outcome(0.01, 0.04, 0.05) == "in part"
    assert rules.level_outcome(0.06, 0.09, 0.05) == "fails"
    assert [by_count(n, 3) for n in (0, 1, 3)] == ["fails", "in part", "holds"]


def test_unclustered_keeps_rates_and_forgets_subjects():
    counts = ff.FailureCounts([0, 3, 1, 2], [4, 4, 2, 3], list("aabb"))
    naive = chance.unclustered(counts)
    assert naive.groups == counts.groups
    assert naive.n_attempts.tolist() == naive.n_subjects.tolist() == [8, 5]
    assert naive.n_failures.tolist() == counts.n_failures.tolist()
    assert np.allclose(naive.design_effect, 1)


def test_drawn_groups_have_the_fnmrs_asked():
    design = chance.Design(3, 2000, 2, 0.1, 0.05)
    counts = chance.draw(design, np.random.SeedSequence(1), {1: 0.3})
    assert counts.groups == ("group 01", "group 02", "group 03")
    assert counts.group_fnmr == pytest.approx([0.1, 0.3, 0.1], abs=0.03)
    assert (counts.n_subjects == 2000).all()


def test_formulas_4_and_6_are_the_same():
    counts = ff.FailureCounts([0, 3, 1, 2, 1], [4, 4, 2, 3, 7], list("aabbb"))
    four, six = voxceleb_tests.formulas(counts)
    assert four == pytest.approx(six, rel=1e-12)
    assert six == pytest.approx(counts.standard_error**2, rel=1e-12)


@pytest.fixture(scope="module")
def study() -> studies.Study:
    return studies.study(SETTINGS)


@pytest.mark.jit
def test_study(study):
    """The figures of the user guide's page on planning."""
    found = study.factors()
    expected = {"n_subjects": 1 / 2.81, "fnmr": 2.52, "n_attempts": 1 / 1.90, "correlation": 1.17, "n_groups": 1.29}
    assert found == pytest.approx(expected, rel=5e-3)
    # By formula (6) a factor is a root of a ratio of variances.
    by_formula = study.factors_by_formula()
    assert by_formula["n_subjects"] == pytest.approx(8**-0.5)
    assert by_formula["fnmr"] == pytest.approx((0.2 * 0.8 / (0.025 * 0.975)) ** 0.5)
    assert by_formula["correlation"] == pytest.approx((1.45 / 1.05) ** 0.5)
    verdicts = {verdict.claim: verdict.verdict for verdict in studies.claims(study)}
    assert verdicts["M grows as G grows"] == "holds"
    assert verdicts["M falls as m grows"] == "in part"
    assert verdicts["Only ρ is negatively associated with M"] == "fails"
    assert verdicts["The relationship between ρ and M is positive, though not linear"] == "holds"
    assert verdicts["n has the largest impact on M, followed by π, m and ρ"] == "holds"


@pytest.mark.jit
def test_figures_leave_none_open(study):
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    for quick in (True, False):
        two, three = studies.figures(study, quick=quick)
        assert len(two.drawing.axes) == 20
        assert len(three.drawing.axes) == 4
        assert ("exact" in two.caption) == quick
    assert pyplot.get_fignums() == before


@pytest.mark.jit
def test_example_finds_the_groups_that_differ():
    fair, unfair = chance.example(Settings(n_resamples=500, n_seeds=2, n_datasets=4))
    assert fair.outside == ()
    assert unfair.outside == ("group 05", "group 12", "group 18")


@pytest.mark.slow
def test_fair_systems_are_found_unfair_as_often_as_asked():
    findings = chance.fair_studies(Settings(n_resamples=64, n_seeds=2, n_datasets=600))
    assert findings.outcome(chance.TEST) == "holds"
    shares = {name: findings.share(name) for name in findings.found}
    assert shares[chance.OWN_MARGIN].low < 0.05 < shares[chance.OWN_MARGIN].high
    # Wider than need be, as the documentation of `margin_of_error` says, and at 1 - alpha/2 wider still.
    assert shares[chance.MARGIN].value < shares[chance.OWN_MARGIN].value
    assert shares[chance.PAPER_MARGIN].high < 0.05
    assert findings.outcome(chance.NAIVE_TEST) == "fails"
    assert findings.share(chance.NAIVE_TEST).low > 0.8


# `write_pages` silences what the page itself tells of its few errors; this is below it.
@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
@pytest.mark.jit
def test_page(voxceleb, study, monkeypatch):
    monkeypatch.setattr(fnmr_groups, "study", lambda settings: study)
    with style():
        made = fnmr_groups.page(SETTINGS)
    figures = [part.name for part in made.parts if isinstance(part, Figure)]
    assert figures == ["figure_1", "figure_2", "figure_3", "voxceleb"]
    tables = [part for part in made.parts if isinstance(part, Table)]
    assert all(len(row) == len(table.columns) for table in tables for row in table.written())
    # Figures of the user guide's page on group tests.
    groups = {row[0]: row for row in made.table("groups_resnetse34v2").rows}
    assert round(groups["Norway"][3].value, 1) == 33.7
    assert round(groups["USA"][6]) == 38
    first = made.table("tests").rows[0]
    assert first[0] == "resnetse34v2"
    assert round(first[3], 2) == 5.68
    assert first[7] < made.table("tests").rows[2][7]

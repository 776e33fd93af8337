"""Paper 4 made anew: the rules, the study, and the tests on VoxCeleb1-H."""

from __future__ import annotations

import pytest

import fastfair as ff
from papers import fnmr_groups
from papers.figure_style import style
from papers.fnmr_groups import chance
from papers.fnmr_groups import margin_studies as studies
from papers.fnmr_groups import voxceleb as voxceleb_tests
from papers.page_parts import Figure, Table
from papers.settings import Settings

SETTINGS = Settings(n_resamples=64, n_seeds=2, n_datasets=4, quick=True)


def test_formulas_4_and_6_are_the_same():
    counts = ff.FailureCounts([0, 3, 1, 2, 1], [4, 4, 2, 3, 7], list("aabbb"))
    four, six = voxceleb_tests.formulas(counts)
    assert four == pytest.approx(six, rel=1e-12)
    assert six == pytest.approx(counts.standard_error**2, rel=1e-12)


@pytest.fixture(scope="module")
def study() -> studies.Study:
    return studies.study(SETTINGS)


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
    # Wider than need be, as the documentation of `margin_of_error` says, and at 1 - alpha/2 wider
    # still.
    assert shares[chance.MARGIN].value < shares[chance.OWN_MARGIN].value
    assert shares[chance.PAPER_MARGIN].high < 0.05
    assert findings.outcome(chance.NAIVE_TEST) == "fails"
    assert findings.share(chance.NAIVE_TEST).low > 0.8


@pytest.mark.slow
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

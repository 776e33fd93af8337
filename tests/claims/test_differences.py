"""Requirements on the differences of systems and of independent data sets."""

from __future__ import annotations

import pytest
from evaluation.test_compare_unpaired import of_other_people
from helpers.data_sets import columns
from helpers.refusals import refused

import fastfair as ff

pytestmark = pytest.mark.jit
AT = ff.at_threshold(1.0)


def months(**more) -> object:
    old = ff.Comparisons(**columns(n=20_000))
    new = of_other_people(columns(seed=7, n=20_000), 0.5)
    asked = {"at": AT, "paired": False, "n_resamples": 200, "rng": 1} | more
    return ff.compare({"new": new, "old": old}, None, **asked)


@pytest.fixture(scope="module")
def compared():
    return months()


def test_a_requirement_is_met_where_the_limit_of_the_difference_keeps_it(compared):
    asked = [
        "fnmr(new) - fnmr(old) <= 20 %",
        "fnmr(new) - fnmr(old)[f] <= 5 %",
        "fnmr(new) - fnmr(old)[*] <= 5 %",
        "difference(fmr) < 0.9 %",
        "eer(new) - eer(old) <= 10 %",
        "FRR(new) - FRR(old) <= 20 %",
        "tar(new) - tar(old) >= -20 %",
        "fnmr(old) - fnmr(new) >= -20 %",
        "gini(fnmr)(new) - gini(fnmr)(old) <= 0.9",
    ]
    made = ff.check(compared, asked)
    assert list(made.verdicts.values()) == [
        "met", "not met", "not met", "undecided", "met", "met", "met", "met", "met",
    ]  # fmt: skip
    overall = made.rows[0]
    at_90 = months(confidence_level=0.9).contrast("fnmr")
    assert overall.limit == pytest.approx(at_90.high, abs=1e-12)
    assert (overall.name, overall.at) == ("difference(fnmr)", AT)
    assert overall.title == "difference in FNMR at threshold=1"
    assert "%" in overall.reason
    turned = next(row for row in made.rows if row.requirement == asked[7])
    assert turned.estimate == -overall.estimate
    assert turned.limit == -overall.limit
    assert len([row for row in made.rows if row.requirement == asked[2]]) == 3
    assert ff.check(compared, "fnmr(new) - fnmr(old)[group=f] <= 5 %").verdict == "not met"


def counted(*groups: str) -> ff.FailureCounts:
    return ff.FailureCounts([0, 1] * 60, [3] * 120, group=groups * 60, rate="frr")


def test_a_gate_names_the_groups_that_one_data_set_lacks(tmp_path):
    compared = ff.compare({"new": counted("f", "m"), "old": counted("f", "x")}, paired=False, rng=1)
    made = ff.check(compared, "frr(new) - frr(old)[*] <= 50 %")
    assert [row.group for row in made.rows] == ["f"]
    for system, group in (("new", "m"), ("old", "x")):
        said = f"{system}: 1 of 2 groups left out, as not all data sets have them: {group}."
        assert said in made.summary()
        assert said in made.to_junit()
    made.to_json(tmp_path / "check.json")
    (back,) = ff.read_results(tmp_path / "check.json")
    assert back.summary() == made.summary()
    assert not ff.check(compared, "frr(new) - frr(old) <= 50 %").left_out
    apart = ff.compare({"new": counted("f", "m"), "old": counted("w", "x")}, paired=False, rng=1)
    refused("no group in common", ff.check, apart, "frr(new) - frr(old)[*] <= 50 %")


def test_paired_systems_have_the_same_gate(tmp_path):
    made = columns()
    better = made | {"scores": made["scores"] + 0.3 * made["mated"]}
    systems = {"a": ff.Comparisons(**made), "b": ff.Comparisons(**better)}
    compared = ff.compare(systems, None, AT, [], n_resamples=0)
    assert ff.check(compared, "fnmr(b) - fnmr(a) <= 0 %").verdict == "met"
    assert ff.check(compared, "fnmr(a) - fnmr(b) <= 0 %").verdict == "not met"
    compared.to_json(tmp_path / "c.json")
    (again,) = ff.read_results(tmp_path / "c.json")
    refused("compare the systems again", ff.check, again, "difference(fnmr) <= 5 %")


def test_what_is_not_compared_is_refused(compared):
    for text, says in {
        "fnmr <= 5 %": r"as in fnmr\(new\) - fnmr\(old\) or difference\(fnmr\)",
        "fnmr(new) - fmr(old) <= 5 %": "is no difference of systems",
        "fnmr(new) - fnmr(older) <= 5 %": "is no difference of systems",
        "difference(fnmr)@fmr=0.01 <= 5 %": "at FMR=0.01: add it to what",
        "difference(fnmr)[q] <= 5 %": "there is no group 'q'",
        "difference(fnmr) <= 5": "between -1 and 1",
        "difference(unknown) <= 5 %": "there is no quantity",
    }.items():
        refused(says, ff.check, compared, text)


def test_comparisons_of_the_same_people_taken_for_independent_ones_are_in_doubt():
    with pytest.warns(ff.errors.NarrowIntervalsWarning):
        compared = months(unit="comparison", n_resamples=0)
    made = ff.check(compared, "difference(fnmr) <= 20 %")
    assert made.verdict == "undecided"
    assert "taken for independent" in made.rows[0].doubt

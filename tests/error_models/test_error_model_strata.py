"""`stratified_rates`: rates and standardised rates counted by hand, their limits, and
contradictions that are told."""

from __future__ import annotations

import json
import math
import warnings

import pytest
from helpers.attribute_tables import AT, comparisons, draw, table
from helpers.each import each
from helpers.quiet import quietly
from helpers.refusals import refused

import fastfair as ff
from fastfair.error_models.error_model import StratifiedRate, StratifiedRates
from fastfair.errors import ContradictingStrataWarning, NotComputableWarning

# Most pairs of the region with most errors are men, and women have twice the odds in each region.
HIDDEN = {
    ("f", "A"): (40, 2000),
    ("m", "A"): (5, 500),
    ("f", "B"): (40, 200),
    ("m", "B"): (200, 2000),
}
EVEN = {
    ("f", "A"): (40, 1000),
    ("m", "A"): (42, 1000),
    ("f", "B"): (80, 1000),
    ("m", "B"): (81, 1000),
}


def rows(found: StratifiedRates) -> dict[tuple[str, str | None, bool], StratifiedRate]:
    return {(row.group, row.stratum, row.standardised): row for row in found.rates}


def test_rates_and_standardised_rates_are_those_counted_by_hand():
    with pytest.warns(ContradictingStrataWarning, match="higher in 2 and lower in 0 of 2 strata"):
        found = ff.stratified_rates(table(HIDDEN, 60), "gender", "region", AT)
    of = rows(found)
    for (gender, region), (errors, n) in HIDDEN.items():
        row = of[gender, region, False]
        assert (row.n_errors, row.n_comparisons) == (errors, n)
        assert row.estimate == errors / n
        assert row.low < row.estimate < row.high
    assert of["f", None, False].estimate == 80 / 2200
    assert of["m", None, False].estimate == 205 / 2500
    mix = dict(found.mix)
    assert mix == pytest.approx({"A": 2500 / 4700, "B": 2200 / 4700})
    assert of["f", None, True].estimate == pytest.approx(mix["A"] * 0.02 + mix["B"] * 0.2)
    assert of["m", None, True].estimate == pytest.approx(mix["A"] * 0.01 + mix["B"] * 0.1)
    (one,) = found.differences
    assert one.ratio == pytest.approx(2)
    assert one.margin_ratio == pytest.approx((80 / 2200) / (205 / 2500))
    assert found.contradictions == (one,)
    assert "contradict each other: FMR" in found.summary()


def test_alike_groups_contradict_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContradictingStrataWarning)
        found = ff.stratified_rates(table(EVEN), "gender", "region", AT)
    assert found.contradictions == ()
    assert "Rates overall and within strata do not contradict each other" in found.summary()
    assert found.differences[0].pvalue > 0.5


def test_a_hidden_difference_is_told_where_the_margin_shows_none():
    hidden = {
        ("f", "A"): (60, 2000),
        ("m", "A"): (6, 500),
        ("f", "B"): (60, 250),
        ("m", "B"): (160, 2000),
    }
    with pytest.warns(ContradictingStrataWarning):
        found = ff.stratified_rates(table(hidden, 60), "gender", "region", AT)
    (one,) = found.differences
    assert one.margin_pvalue > 0.05 > one.pvalue


def test_limits_of_one_rate_are_those_of_the_dyadic_variance():
    trials = [t for t in draw(11, 40, 900, 0.3) if t.values[0] == t.values[1]]
    data = comparisons(trials, "fmr").by("gender")
    with quietly():
        found = ff.stratified_rates(data, "gender", "region", AT)
        evaluation = ff.evaluate(data, AT, [], metrics=[], rng=0)
    for row in found.rates:
        if row.stratum is None and not row.standardised:
            low, high = evaluation.interval("fmr", row.group)
            assert math.log(row.high / row.low) == pytest.approx(math.log(high / low), rel=0.25)


def test_a_stratum_without_errors_has_an_upper_limit_that_knows_of_subjects():
    data = table(EVEN | {("f", "C"): (0, 400), ("m", "C"): (8, 400)})
    found = ff.stratified_rates(data, "gender", "region", AT)
    row = rows(found)["f", "C", False]
    assert (row.estimate, row.low) == (0, 0)
    assert row.high >= ff.intervals.upper_limit_without_errors(400, 0.95) - 1e-12
    assert "no errors in C" in rows(found)["f", None, True].note


def test_strata_that_a_value_is_not_in_are_left_out_of_the_mix():
    found = ff.stratified_rates(table(EVEN | {("f", "C"): (5, 400)}), "gender", "region", AT)
    assert dict(found.mix)["C"] == 0
    assert (
        "Strata left out of the mix, as some value has no comparisons there: C." in found.summary()
    )
    assert rows(found)["f", None, True].n_comparisons == 2000
    assert rows(found)["f", None, False].n_comparisons == 2400


def test_without_a_shared_stratum_nothing_is_standardised():
    with pytest.warns(NotComputableWarning, match="no stratum of region"):
        found = ff.stratified_rates(
            table({("f", "A"): (5, 200), ("m", "B"): (5, 200)}), "gender", "region", AT
        )
    assert math.isnan(rows(found)["f", None, True].estimate)
    assert math.isnan(found.differences[0].ratio)


def test_comparisons_of_different_strata_are_a_stratum():
    trials = draw(9, 40, 900, 0.3)
    with quietly():
        found = ff.stratified_rates(comparisons(trials, "fmr"), "gender", "region", AT)
    inside = [
        t
        for t in trials
        if {side[0] for side in t.values} == {"f"} and t.values[0][1] != t.values[1][1]
    ]
    row = rows(found)["f", "different region", False]
    assert (row.n_comparisons, row.n_errors) == (len(inside), sum(t.error for t in inside))


@each(
    ("by", "strata", "named", "message"),
    [
        ("nothing", "region", {}, "nothing"),
        ("gender", "gender", {}, "other than 'gender'"),
        ("gender", [], {}, "strata must name"),
        ("gender", "region", {"rate": "eer"}, "rate"),
        ("region", "gender", {}, "no comparisons of two values"),
    ],
)
def test_what_cannot_be_stratified_is_refused(by, strata, named, message):
    refused(
        message,
        ff.stratified_rates,
        table({("f", "A"): (5, 50), ("m", "A"): (3, 50)}),
        by,
        strata,
        AT,
        **named,
    )


def test_exports_hold_all_rows(tmp_path):
    found = ff.stratified_rates(table(EVEN), "gender", "region", AT)
    written = json.loads(found.to_json(tmp_path / "rates.json"))
    assert len(written["rates"]) == len(found.rates) == found.to_frame("polars").shape[0] == 8
    assert written["differences"][0]["value"] == "f"


def test_the_plot_has_a_row_for_each_stratum():
    found = ff.stratified_rates(table(EVEN), "gender", "region", AT)
    labels = [label.get_text() for label in found.plot().get_yticklabels()]
    assert labels == ["overall", "same mix of region", "A", "B"]

"""Requirements: what is read from text, and what is refused, where and with what would do."""

from __future__ import annotations

import math

import pytest
from helpers.each import each
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.claims import number_of, read_requirement
from fastfair.error_rates.operating_points import read_point
from fastfair.errors import InputError
from fastfair.measures import MEASURES
from fastfair.measures._registry import range_of

DEFAULT = ff.at_fmr(0.01)


@each(
    ("text", "name", "group", "at", "relation", "bound"),
    [
        ("fnmr@fmr=0.001 <= 0.05", "fnmr", None, ff.at_fmr(0.001), "<=", 0.05),
        ("FNMR <= 5%", "fnmr", None, DEFAULT, "<=", 0.05),
        ("max_geomean_ratio(fnmr) <= 1.5", "max_geomean_ratio(fnmr)", None, DEFAULT, "<=", 1.5),
        (
            "max-geomean ratio of FNMR @ eer < 1.5",
            "max_geomean_ratio(fnmr)",
            None,
            ff.at_eer(),
            "<",
            1.5,
        ),
        ("fnmr[f & USA]@fmr=0.1 % \u2264 5 %", "fnmr", "f & USA", ff.at_fmr(0.001), "<=", 0.05),
        ("fnmr [ * ] @ FNMR = 5 % <= 0.1", "fnmr", "*", ff.at_fnmr(0.05), "<=", 0.1),
        (
            "fmr[[18, 30) <= x@y]@threshold=-0.4 <= 1e-3",
            "fmr",
            "[18, 30) <= x@y",
            ff.at_threshold(-0.4),
            "<=",
            1e-3,
        ),
        ("fmr[*]@fmr=0.01 <= 2 %", "fmr", "*", ff.at_fmr(0.01), "<=", 0.02),
        ("fmr[*]@mean-group-eer <= 2 %", "fmr", "*", ff.at_mean_group_eer(), "<=", 0.02),
        ("EER[f] < 3 %", "eer", "f", None, "<", 0.03),
        ("minDCF <= 0.1", "min_dcf", None, None, "<=", 0.1),
        ("NRB of EER <= 1", "nrb(eer)", None, None, "<=", 1.0),
        ("GARBE <= 20 %", "garbe", None, DEFAULT, "<=", 0.2),
        ("fdr >= 0.9", "fdr", None, DEFAULT, ">=", 0.9),
        ("fdr \u2265 0.9", "fdr", None, DEFAULT, ">=", 0.9),
        ("mape <= 1", "mape(fmr)", None, DEFAULT, "<=", 1.0),
        ("sed[*] <= 2", "sed", "*", None, "<=", 2.0),
        ("sed_mean <= 2", "sed_mean", None, None, "<=", 2.0),
        (
            "group_to_average_ratio(fnmr)[m] > 0.5",
            "group_to_average_ratio(fnmr)",
            "m",
            DEFAULT,
            ">",
            0.5,
        ),
    ],
)
def test_what_is_written_is_read(text, name, group, at, relation, bound):
    found = read_requirement(text, DEFAULT)
    assert (found.name, found.group, found.at, found.relation) == (name, group, at, relation)
    assert found.bound == pytest.approx(bound)


@each(
    ("text", "would_do"),
    [
        ("", "a relation and a number, as in"),
        ("fnmr", r"as in fnmr\[f\]@fmr=0.001 <= 0.05"),
        ("fnmr = 0.1", "not that it equals one"),
        ("fnmr <= 5", "for 5 % write 5 % or 0.05"),
        ("fnmr <= 0", "between 0 and 1"),
        ("fnmr <= x", "ends with a number"),
        ("fnmr <= nan", "ends with a number"),
        ("fnmr <=", "ends with a number"),
        ("fnrm <= 0.1", "did you mean 'fnmr'"),
        ("fnmr] <= 0.1", "no quantity"),
        ("-fnmr <= 0.1", "no quantity"),
        ("threshold <= 0.1", "no quantity"),
        ("<= 0.1", "write a quantity"),
        ("garbe(fnmr) <= 0.1", "write garbe"),
        (
            "max_geomean_ratio <= 1.5",
            r"write max_geomean_ratio\(fmr\) or max_geomean_ratio\(fnmr\)",
        ),
        ("gini(eer) <= 0.1", r"write gini\(fmr\) or gini\(fnmr\)"),
        ("max_geomean_ratio(fnmr) <= 1", "between 1 and inf"),
        ("fmr@fmr=0.001 <= 0.1", "FMR=0.001 holds the FMR"),
        ("eer@fmr=0.1 <= 0.1", "needs no operating point"),
        ("fnmr@fmr=0.001[f] <= 0.1", "perhaps a group in brackets and an operating point"),
        ("fnmr[f@fmr=0.001 <= 0.1", "a group in brackets"),
        ("fnmr[ ] <= 0.1", "a group in brackets"),
        ("fnmr@ <= 0.1", "write one of fmr=0.001"),
        ("fnmr@fmr=5 <= 0.1", "for 5 % write 0.05"),
        ("fnmr@threshold=5 % <= 0.1", "is a percentage"),
        ("fnmr[f] x <= 0.1", "a group in brackets and an operating point"),
        ("sed <= 0.1", r"write sed\[\*\], sed_mean or sed_std"),
        ("garbe[f] <= 0.1", "over all groups"),
        ("sed_mean[f] <= 0.1", "over all groups"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_would_do(text, would_do):
    refused(would_do, read_requirement, text, DEFAULT)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        found = read_requirement(text, DEFAULT)
    except InputError:
        return
    least, most = range_of(found.name)
    assert least < found.bound < most


@each("name", MEASURES)
def test_each_measure_of_each_metric_can_be_required(name):
    measure = MEASURES[name]
    for metric in measure.of or ("",):
        written = f"{name}({metric})" if metric else name
        group = "[f]" if measure.per_group else ""
        least, most = measure.range
        bound = least + 0.4 if math.isfinite(least) else 0.4
        if metric == "act_dcf":
            refused(
                "actual DCFs are not checked",
                read_requirement,
                f"{written}{group} <= {bound}",
                DEFAULT,
            )
            continue
        found = read_requirement(f"{written}{group} <= {bound}", DEFAULT)
        assert found.name == written
        assert (found.at is None) == (measure.own_threshold or metric in ("eer", "min_dcf", "cllr"))
        assert least < found.bound < most


def test_groups_are_those_of_the_comparisons():
    every = read_requirement("fnmr[*] <= 0.1", DEFAULT)
    assert [one.group for one in every.of_groups(("f", "m"))] == ["f", "m"]
    with pytest.raises(InputError, match=r"there is no group 'F' \(did you mean 'f'"):
        read_requirement("fnmr[F] <= 0.1", DEFAULT).of_groups(("f", "m"))
    for text in ("fnmr[*] <= 0.1", "fnmr[f] <= 0.1"):
        refused(
            "there are no groups: name .* as with groups=",
            read_requirement(text, DEFAULT).of_groups,
            (),
        )
    assert read_requirement("fnmr <= 0.1", DEFAULT).of_groups(()) == [
        read_requirement("fnmr <= 0.1", DEFAULT)
    ]


def test_a_value_is_held_against_the_bound():
    for relation, expected in (
        ("<=", (True, True, False)),
        ("<", (True, False, False)),
        (">=", (False, True, True)),
        (">", (False, False, True)),
    ):
        one = read_requirement(f"fnmr {relation} 0.5", DEFAULT)
        assert tuple(one.allows(value) for value in (0.4, 0.5, 0.6)) == expected
        assert not one.allows(math.nan)
        assert one.is_upper == relation.startswith("<")


def test_numbers_and_points_as_people_write_them():
    assert [number_of(text) for text in ("1e-4", " 2 % ", "2%", "-0.5")] == [1e-4, 0.02, 0.02, -0.5]
    for text in ("", "x", "1 2", "%", "inf", "1 % %"):
        with pytest.raises(ValueError):
            number_of(text)
    for at in (ff.at_fmr(0.001), ff.at_fnmr(0.05), ff.at_threshold(-2.5), ff.at_eer()):
        assert read_point(str(at)) == at


def test_other_terms_are_read_as_the_standard_ones():
    at = ff.at_fmr(0.01)
    for term, name in {"far": "fmr", "FPR": "fmr", "frr": "fnmr", "fnr": "fnmr"}.items():
        text = f"{term}[f]@threshold=0.5 <= 5 %"
        found = read_requirement(text, at)
        assert (found.name, found.relation, found.bound) == (name, "<=", 0.05)
        assert found.text == text
    for term in ("tar", "GAR", "tpr", "tmr"):
        found = read_requirement(f"{term} >= 95 %", at)
        assert (found.name, found.relation, found.bound) == ("fnmr", "<=", 0.05)
        written = found.as_written
        assert (written.name, written.relation, written.bound) == ("tmr", ">=", 0.95)
        assert read_requirement(f"{term} < 0.7", at).relation == ">"


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
def test_a_term_that_counts_failures_needs_them_counted():
    scores, mated = [0.9, 0.8, 0.3, None, 0.1, 0.2], [1, 1, 1, 1, 0, 0]
    for policy in ("exclude", "non-match"):
        c = ff.Comparisons(scores, mated, policies=ff.Policies(policy))
        how = {"at": ff.at_threshold(0.5), "unit": "comparison", "n_resamples": 50, "rng": 0}
        if policy == "exclude":
            refused('failures="non-match"', ff.check, c, "frr <= 0.9", **how)
            assert ff.check(c, "fnr <= 0.99", **how).rows[0].estimate == 1 / 3
        else:
            assert ff.check(c, "frr <= 0.99", **how).rows[0].estimate == 0.5


def test_room_makes_limits_worse_and_leaves_no_rate_below_0():
    tpir, difference = (
        read_requirement(text, ff.at_rank(1), ["fnir", "tpir"], pairs)
        for text, pairs in (
            ("tpir >= 10 %", []),
            ("difference(fnir) <= -1 %", [("first", "second")]),
        )
    )
    assert tpir.with_room(0.95, 4) == pytest.approx(0.8)
    assert tpir.with_room(0.6, 4) == 0
    assert difference.with_room(0.02, 4) == pytest.approx(0.08)
    assert difference.with_room(-0.02, 4) == pytest.approx(-0.005)
    assert difference.room_in_words(4, -0.02) == "divided by 4"

"""`evaluate_attributes`: an evaluation for each attribute, requirements that name attributes, and
what people read of both."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from helpers.refusals import refused

import fastfair as ff
from fastfair.errors import DroppedWarning

AT = ff.at_threshold(0.3)
FEW = {"n_resamples": 200, "rng": 0, "n_threads": 1}
pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")


@cache
def comparisons(*, old_men: int = 30) -> ff.Comparisons:
    """Draw 4 mated comparisons of each person, and non-mated ones of all; the last are old men."""
    rng = np.random.default_rng(0)
    n = 150 + old_men
    sex = np.array(["f", "m"])[np.arange(n) % 2]
    age = np.array(["young", "old", "other"], "U8")[np.arange(n) // 50 % 3]
    sex[150:], age[150:] = "m", "very old"
    mated, (first, second) = np.repeat(np.arange(n), 4), rng.integers(0, n, (2, 6000))
    differ = first != second
    sides = [np.append(mated, side[differ]) for side in (first, second)]
    is_mated = np.arange(sides[0].size) < mated.size
    scores = rng.normal(0, 0.3, is_mated.size) + is_mated
    labels = [{"sex": sex[side], "age": age[side]} for side in sides]
    return ff.Comparisons(scores, is_mated, *sides, *labels)


def test_each_attribute_has_the_evaluation_that_it_has_alone():
    c = comparisons()
    found = ff.evaluate_attributes(c, ["sex", ("sex", "age")], at=AT, **FEW)
    assert list(found.by_grouping) == [("sex",), ("sex", "age")]
    for names in (("sex",), ("sex", "age")):
        settings = ff.EvaluationSettings(incomplete_groups="raise" if names == ("sex",) else "drop")
        alone = ff.evaluate(c.by(*names), AT, settings=settings, **FEW)
        assert repr(alone.quantities) == repr(found.by(*names).quantities)
    frame = found.to_frame("polars")
    overall = frame.filter((frame["name"] == "fnmr") & frame["group"].is_null())
    assert overall["grouping"].to_list() == [None]
    assert set(frame["grouping"].drop_nulls()) == {"sex", "sex & age"}
    by_default = ff.evaluate_attributes(c, at=AT, n_resamples=0)
    assert list(by_default.by_grouping) == [("sex",), ("age",)]


def test_what_cannot_be_evaluated_is_refused():
    c = comparisons()
    refused("attribute must be", ff.evaluate_attributes, c, "height")
    refused("groups is empty", ff.evaluate_attributes, c, [])
    refused("have no groups", ff.evaluate_attributes, ff.Comparisons([1.0, 0.0], [1, 0]))
    found = ff.evaluate_attributes(c, "sex", at=AT, n_resamples=0)
    refused("attributes must be", found.by, "age")


def test_warnings_of_all_attributes_are_given_once():
    c = comparisons(old_men=1)
    with pytest.warns(DroppedWarning) as given:
        ff.evaluate_attributes(c, [("sex", "age"), ("age", "sex")], at=AT, n_resamples=0)
    texts = [str(one.message) for one in given]
    assert len(texts) == len(set(texts))


def test_small_intersections_are_summarised_and_stand_last():
    ev = ff.evaluate(
        comparisons(old_men=3),
        AT,
        settings=ff.EvaluationSettings(incomplete_groups="drop"),
        **FEW,
    )
    said = ev.summary()
    assert "1 of 7 groups has fewer than 10 people (3 in all); the limits" in said
    lines = [line for line in said.splitlines() if " & " in line[:12]]
    assert lines[-1].startswith("m & very old")


def test_the_summary_and_the_page_show_attributes_one_by_one(tmp_path):
    c = comparisons()
    found = ff.evaluate_attributes(c, ["sex", "age", ("sex", "age")], at=AT, **FEW)
    lines = found.summary().splitlines()
    assert lines[0].endswith("in 2 groups by sex, 4 by age, 7 by sex & age.")
    for name in ("Overall:", "Sex:", "Age:", "Sex & age:", "Measures by sex:"):
        assert sum(line.startswith(name) for line in lines) == 1
    table = lines[lines.index("") :]
    assert [line for line in table if line.startswith("by ")] == ["by sex", "by age"]
    assert sum(line.startswith("all ") for line in table) == 1
    check = ff.check(c, ["fnmr[*] <= 50 %", "fnmr[age=old] <= 40 %"], AT, **FEW)
    ff.report([found, check], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert [page.count(f">{title}</h2>") for title in ("By sex", "By age", "By sex &amp; age")] == [
        1,
        1,
        1,
    ]
    first = page[: page.index("<nav")]
    assert 'class="title">Sex<' in first
    assert 'class="title">Age<' in first
    assert first.count(">very old</th>") == 1
    assert "m &amp; very old</th>" not in first
    again = ff.read_results(tmp_path / "page.html")
    ff.report(again, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text("utf-8") == page


def test_a_result_is_read_from_its_json(tmp_path):
    found = ff.evaluate_attributes(comparisons(), at=AT, **FEW)
    found.to_json(tmp_path / "found.json")
    (again,) = ff.read_results(tmp_path / "found.json")
    assert again.summary() == found.summary()
    assert found._repr_html_().count("<table>") == 1


def of_groups(*requirements: str) -> list[tuple[str, float]]:
    found = ff.check(comparisons(), list(requirements), AT, **FEW)
    return [(row.group, row.limit_level) for row in found.rows]


def test_requirements_name_attributes():
    by_sex = ["sex=f", "sex=m"]
    by_age = [f"age={age}" for age in ("old", "other", "very old", "young")]
    both = [
        "f & old",
        "f & other",
        "f & young",
        "m & old",
        "m & other",
        "m & very old",
        "m & young",
    ]
    assert [name for name, _ in of_groups("fnmr[sex=*] <= 50 %")] == by_sex
    assert [name for name, _ in of_groups("fnmr[ sex = f ] <= 50 %")] == ["sex=f"]
    assert [name for name, _ in of_groups("fnmr[*] <= 50 %")] == [*by_sex, *by_age]
    assert [name for name, _ in of_groups("fnmr[age=*, sex=*] <= 50 %")] == both
    assert [name for name, _ in of_groups("fnmr[age=*, sex=f] <= 50 %")] == both[:3]
    assert [name for name, _ in of_groups("fnmr[f & old] <= 50 %")] == ["f & old"]
    assert [name for name, _ in of_groups("fdr >= 0.1", "fnmr <= 0.5")] == ["sex", "age", None]


def test_holm_is_over_all_groups_of_all_attributes():
    (level,) = {level for _, level in of_groups("fnmr[*] <= 0.001 %")}
    assert level == pytest.approx(1 - 0.05 / 6)


def test_rows_are_those_of_the_evaluation_of_their_attribute():
    c = comparisons()
    for row in ff.check(c, "fnmr[*] <= 50 %", AT, **FEW).rows:
        attribute, _, label = row.group.partition("=")
        alone = ff.check(c.by(attribute), f"fnmr[{label}] <= 50 %", AT, **FEW).rows[0]
        assert (row.estimate, row.low, row.high) == (alone.estimate, alone.low, alone.high)


def test_a_group_without_its_attribute_is_proposed_with_it():
    c = comparisons()
    refused(r"write fnmr\[sex=f\]", ff.check, c, "fnmr[f] <= 5 %")
    refused("there is no group 'x'", ff.check, c, "fnmr[sex=x] <= 5 %")
    refused("there is no group 'height=1'", ff.check, c, "fnmr[height=1] <= 5 %")
    refused("there is no group 'f & very old'", ff.check, c, "fnmr[sex=f, age=very old] <= 5 %")

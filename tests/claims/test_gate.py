"""`check`: verdicts by the limits of `evaluate`, what leaves a requirement open, and what is
written."""

from __future__ import annotations

import json
import math
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers.data_sets import few_errors_between_groups, scores_with_hubs
from helpers.refusals import refused

import fastfair as ff
from fastfair.claims import MET, NOT_MET, UNDECIDED
from fastfair.errors import EmptyGroupWarning

AT = ff.at_threshold(0.0)
FEW = {"n_resamples": 300, "rng": 0}


def population(
    sizes: tuple[int, ...] = (60, 60, 60), mean: float = 2.0, seed: int = 0
) -> ff.Comparisons:
    """Draw 4 mated comparisons of each subject, and all non-mated ones within each group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    mated = np.repeat(np.arange(group.size), 4)
    first, second = np.triu_indices(group.size, 1)
    same = group[first] == group[second]
    reference, probe = np.append(mated, first[same]), np.append(mated, second[same])
    scores = rng.normal(size=reference.size) + np.where(
        np.arange(reference.size) < mated.size, mean, -mean
    )
    labels = np.array(list("abcdefgh"))[group]
    return ff.Comparisons(
        scores,
        np.arange(scores.size) < mated.size,
        reference,
        probe,
        labels[reference],
        labels[probe],
    )


@pytest.fixture(scope="module")
def comparisons() -> ff.Comparisons:
    return population()


@pytest.mark.parametrize(
    "text",
    ["fnmr <= 0.05", "fnmr >= 0.01", "eer < 0.05", "max_geomean_ratio(fnmr) <= 3", "fdr >= 0.5"],
)
def test_limits_are_the_one_sided_ones_of_evaluate(comparisons, text):
    found = ff.check(comparisons, text, AT, confidence_level=0.9, **FEW).rows[0]
    at = found.at
    ends = {}
    for side, end in (("less", 1), ("greater", 0)):
        evaluation = ff.evaluate(comparisons, AT, alternative=side, confidence_level=0.9, **FEW)
        ends[side] = evaluation.interval(found.name, at=at)[end]
    is_upper = found.relation in ("<=", "<")
    assert found.limit == ends["less" if is_upper else "greater"]
    assert found.opposite_limit == ends["greater" if is_upper else "less"]
    assert found.estimate == evaluation.value(found.name, at=at)


def test_the_limit_decides_and_not_the_estimate(comparisons):
    rate = ff.evaluate(comparisons, AT, alternative="less", **FEW).quantity("fnmr")
    low = ff.evaluate(comparisons, AT, alternative="greater", **FEW).interval("fnmr")[0]
    texts = {
        MET: f"fnmr <= {1.001 * rate.high!r}",
        UNDECIDED: f"fnmr <= {0.999 * rate.high!r}",
        NOT_MET: f"fnmr <= {0.999 * low!r}",
    }
    for verdict, text in texts.items():
        found = ff.check(comparisons, text, AT, **FEW)
        assert (found.verdict, found.passed) == (verdict, verdict == MET)
        assert found.rows[0].n_errors == rate.n_errors
    assert rate.estimate < 0.999 * rate.high  # so the estimate alone would have passed


def test_lower_bounds_are_the_other_way_round(comparisons):
    texts = {"fnmr >= 0.001": MET, "fnmr >= 0.5": NOT_MET, "fdr >= 0.5": MET}
    found = ff.check(comparisons, list(texts), AT, **FEW)
    assert found.verdicts == texts
    assert found.verdict == NOT_MET


def test_every_group_has_to_be_met_and_violations_are_adjusted(comparisons):
    found = ff.check(comparisons, ["fnmr[*] <= 50 %", "eer <= 0.5"], AT, **FEW)
    assert [row.group for row in found.rows] == ["a", "b", "c", None]
    assert found.passed
    assert found.verdicts == {"fnmr[*] <= 50 %": MET, "eer <= 0.5": MET}
    alone = ff.check(comparisons, "fnmr[b] <= 50 %", AT, **FEW).rows[0]
    assert alone.limit == found.rows[1].limit
    level = 1 - 0.05 / 4
    wide = ff.evaluate(comparisons, AT, alternative="greater", confidence_level=level, **FEW)
    assert found.rows[1].opposite_limit == wide.interval("fnmr", "b")[0] < alone.opposite_limit
    highest = max(row.limit for row in found.rows[:3])
    assert ff.check(comparisons, f"fnmr[*] <= {0.999 * highest!r}", AT, **FEW).verdict == UNDECIDED


def test_with_few_false_matches_four_times_the_limit_has_to_be_allowed():
    data = population((80, 80), mean=1.6)
    for threshold, room in (
        (0.0, 1),
        (1.2, 4),
        (4.0, 4),
    ):  # hundreds of false matches, a few and none
        at = ff.at_threshold(threshold)
        first = ff.check(data, "fmr <= 0.9", at, **FEW).rows[0]
        assert (first.n_errors < 30) == (room == 4)
        for share, verdict in ((1.01, MET), (0.99, UNDECIDED)):
            found = ff.check(data, f"fmr <= {share * room * first.limit!r}", at, **FEW).rows[0]
            assert found.verdict == verdict
            assert ("times 4 for few false matches" in found.reason) == (room == 4)
            assert found.compared == room * found.limit
    assert first.n_errors == 0


def test_a_limit_noted_as_too_narrow_leaves_a_requirement_open():
    found = ff.check(
        scores_with_hubs(2.0), ["fmr <= 0.9", "fmr <= 0.0001"], ff.at_threshold(2.3), **FEW
    )
    assert [row.verdict for row in found.rows] == [UNDECIDED, NOT_MET]
    assert found.rows[0].limit < 0.9
    assert "limit is in doubt" in found.rows[0].reason
    assert "likely too narrow" in found.rows[0].reason


def test_comparisons_taken_for_independent_leave_all_open(comparisons):
    found = ff.check(comparisons, "fnmr <= 0.9", AT, unit="comparison", **FEW).rows[0]
    assert found.limit < 0.9
    assert found.verdict == UNDECIDED
    assert "taken for independent" in found.reason
    n = 200
    scores = np.where(np.arange(n) % 10 == 0, -0.1, 0.1)
    alone = ff.Comparisons(scores, np.arange(n) < n // 2)
    assert ff.check(alone, "fnmr <= 0.5", AT, unit="comparison", **FEW).passed


def test_without_a_limit_a_requirement_is_open_with_the_reason():
    data = ff.Comparisons(
        [0.9, 0.2, 0.8, 0.1, 0.3],
        [1, 0, 1, 0, 0],
        list("aacde"),
        list("abcef"),
        list("fffmm"),
        list("fffmm"),
    )
    with pytest.warns(EmptyGroupWarning):
        found = ff.check(
            data,
            ["fnmr[*] <= 0.5", "sed_mean <= 2", "max_min_ratio(fnmr) <= 2"],
            ff.at_threshold(0.5),
            **FEW,
        )
    assert not found.passed
    by_title = {row.title: row for row in found.rows}
    assert math.isnan(by_title["FNMR of m at threshold=0.5"].limit)
    for title in (
        "FNMR of m at threshold=0.5",
        "mean SED",
        "max-min ratio of FNMR at threshold=0.5",
    ):
        assert by_title[title].verdict == UNDECIDED
        assert "without a limit" in by_title[title].reason


def test_operating_points_of_requirements_and_the_default(comparisons):
    found = ff.check(
        comparisons, ["fnmr@fmr=0.01 <= 0.9", "fnmr <= 0.9", "nrb(eer) <= 9"], ff.at_fmr(0.1), **FEW
    )
    assert [row.operating_point for row in found.rows] == ["FMR=0.01", "FMR=0.1", None]
    assert [row.title for row in found.rows] == [
        "FNMR at FMR=0.01",
        "FNMR at FMR=0.1",
        "NRB of EER",
    ]


def test_a_scan_is_checked_as_comparisons_are(tmp_path, comparisons):
    ff.write_comparisons(comparisons, tmp_path / "scores.parquet")
    scan = ff.scan_comparisons(tmp_path / "scores.parquet", storage=ff.Storage(memory_limit="1 GB"))
    texts = ["fnmr[*]@fmr=0.01 <= 0.5", "garbe <= 0.9"]
    assert ff.check(scan, texts, AT, **FEW).rows == ff.check(comparisons, texts, AT, **FEW).rows


def test_bad_calls_are_refused_before_any_work(comparisons):
    for call, message in (
        ({"requirements": []}, "requirements is empty"),
        ({"requirements": "fnmr[z] <= 0.1"}, "no group 'z'"),
        ({"requirements": "fnmr <= 0.1", "n_resamples": 0}, "n_resamples must be at least 2"),
        ({"requirements": "fnmr <= 0.1", "confidence_level": 0.5}, "above 0.5"),
        ({"requirements": 3}, "requirements must be text"),
    ):
        refused(message, ff.check, comparisons, **call)


def test_the_summary_names_what_decides(comparisons):
    text = ff.check(
        comparisons, ["fnmr[*] <= 50 %", "fnmr[*] <= 0.1 %", "eer <= 0.5"], AT, **FEW
    ).summary()
    assert text.startswith("3 requirements: 2 met, 1 not met, with 95 % confidence.")
    assert "\nMet: fnmr[*] <= 50 % (3 of 3 groups): a: 2.9 % [1.3, 7.3]; upper limit" in text
    assert "\nNot met: fnmr[*] <= 0.1 % (3 of 3 groups): a: 2.9 % [1.3, 7.3]; lower limit" in text
    assert "\nMet: eer <= 0.5: 2.22 % [1.64, 3.41]; upper limit" in text


def test_exports_hold_all_rows(tmp_path, comparisons):
    found = ff.check(comparisons, ["fnmr[*] <= 50 %", "fnmr <= 0.1 %"], AT, **FEW)
    written = json.loads(found.to_json(tmp_path / "check.json"))
    assert [row["verdict"] for row in written["rows"]] == [MET, MET, MET, NOT_MET]
    assert written["verdicts"] == {"fnmr[*] <= 50 %": MET, "fnmr <= 0.1 %": NOT_MET}
    assert (written["passed"], written["verdict"], written["confidence_level"]) == (
        False,
        NOT_MET,
        0.95,
    )
    assert found.to_frame("polars").shape[0] == 4
    root = ElementTree.fromstring(found.to_junit(tmp_path / "junit.xml"))
    assert ElementTree.parse(tmp_path / "junit.xml").getroot().attrib == root.attrib
    assert root.attrib == {"tests": "4", "failures": "1", "errors": "0", "skipped": "0"}
    cases = root.findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == [row.title for row in found.rows]
    (failure,) = root.iter("failure")
    assert failure.get("type") == NOT_MET
    assert failure.get("message") == found.rows[3].reason


def test_an_allowed_undecided_requirement_passes_in_every_format(comparisons):
    found = ff.check(comparisons, "fnmr <= 0.3", ff.at_fmr(1e-9), **FEW, allow_undecided=True)
    assert found.verdict == "undecided"
    assert found.passed
    assert json.loads(found.to_json())["passed"]
    root = ElementTree.fromstring(found.to_junit())
    assert (root.get("failures"), root.get("skipped")) == ("0", "1")
    assert next(root.iter("skipped")).get("message").startswith("undecided: ")


def test_labels_that_no_xml_may_hold_are_escaped(tmp_path):
    data = ff.Comparisons(
        [0.9, 0.3, 0.4, 0.1] * 3, [1, 1, 0, 0] * 3, reference_group=["a\x07<b>", "c"] * 6
    )
    found = ff.check(data, "fnmr[*] <= 0.9", ff.at_threshold(0.35), unit="comparison", **FEW)
    names = [case.get("name") for case in ElementTree.fromstring(found.to_junit()).iter("testcase")]
    assert names[0].startswith(r"FNMR of a\x07<b>")


def test_the_plot_shows_every_quantity_against_what_is_required(comparisons):
    texts = ["fnmr[*] <= 50 %", "fdr >= 0.99999", "group_to_average_log_ratio(fnmr)[a] <= -1"]
    ax = ff.check(comparisons, texts, AT, **FEW).plot()
    assert ax.get_yticklabels()[0].get_text() == "FNMR of a at threshold=0 <= 50 %"
    assert len(ax.get_yticklabels()) == 5
    assert [text.get_text() for text in ax.texts] == ["  not met: its limit cannot be drawn"]


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors
def test_a_fair_system_with_few_errors_fails_no_measure():
    """Its lower limit lies above the value of a fair system in four of five such data sets, as its
    note tells."""
    (fair,) = few_errors_between_groups(0, 1)
    (row,) = ff.check(fair, "mape(fmr) <= 0.05", ff.at_fmr(0.001), n_resamples=200, rng=0).rows
    assert row.low > 0.05
    assert row.verdict == "undecided"
    assert "likely too narrow" in row.reason

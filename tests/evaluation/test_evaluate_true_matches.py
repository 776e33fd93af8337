"""The TMR, 1 - FNMR, an estimand that must be asked for, and requirements written as one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from helpers.data_sets import columns
from helpers.refusals import refused

import fastfair as ff
from fastfair.pages.parts import Beside

pytestmark = pytest.mark.jit
AT = [ff.at_threshold(1.0), ff.at_fmr(0.05)]
SCORES = [0.9, 0.8, 0.3, None, 0.1, 0.2]  # of which one failed
WHERE = [(group, at) for group in (None, *"fmx") for at in AT]


@pytest.fixture(scope="module")
def made():
    return columns()


@pytest.fixture(scope="module")
def found(made):
    return ff.evaluate(ff.Comparisons(**made), AT, [], metrics=["eer", "tmr"], rng=1)


def test_it_is_the_share_of_mated_comparisons_accepted(made, found):
    for at in AT:
        accepted = made["scores"] >= found.value("threshold", None, at)
        of_all = accepted[made["mated"] == 1]
        assert found.value("tmr", None, at) == pytest.approx(of_all.mean(), abs=1e-12)
        assert found.quantity("tmr", None, at).n_errors == (~of_all).sum()


def test_interval_and_replicates_mirror_those_of_the_fnmr_at_every_level(found):
    for evaluation in (
        found,
        found.with_intervals(0.5, "percentile"),
        found.with_intervals(simultaneous=True),
    ):
        for where in WHERE:
            errors, success = (evaluation.quantity(name, *where) for name in ("fnmr", "tmr"))
            assert (success.low, success.high) == (1 - errors.high, 1 - errors.low)
            same = replace(
                errors, name="tmr", estimate=success.estimate, low=success.low, high=success.high
            )
            assert success == same
            drawn = [evaluation.replicates(name, *where) for name in ("fnmr", "tmr")]
            assert (drawn[1] == 1 - drawn[0]).all()


def test_it_is_called_by_its_other_names_and_only_where_it_was_asked_for(made, found):
    for name in ("TAR", "GAR", "TPR", "true match rate", "genuine acceptance rate"):
        assert found.quantity(name, "f", AT[0]) is found.quantity("tmr", "f", AT[0])
    data = ff.Comparisons(**made)
    usual = ff.evaluate(data, AT, [], metrics="all", n_resamples=20, rng=1)
    assert not {"tmr", "tar"} & {quantity.name for quantity in usual.quantities}
    refused('evaluate with metrics="tmr"', usual.quantity, "TAR")
    refused("minus that of FNMRs", ff.compare, data, data, metrics=["eer", "tmr"])
    only_mated = ff.Comparisons([0.9, 0.2], [1, 1])
    alone = ff.evaluate(only_mated, AT[0], [], metrics="tmr", n_resamples=0)
    assert (alone.value("tmr"), alone.quantity("tmr").low) == (0.0, None)


def test_one_sided_limits_are_of_the_side_that_is_asked_for(made, found):
    for k, (alternative, opposite) in enumerate((("less", "greater"), ("greater", "less"))):
        result = found.with_intervals(alternative=alternative)
        errors = found.with_intervals(alternative=opposite)
        for where in WHERE:
            limit_of_errors = errors.quantity("fnmr", *where)
            ends = (1 - limit_of_errors.high, 1 - limit_of_errors.low)
            assert result.interval("tmr", *where) == ends
            is_held = limit_of_errors.low == limit_of_errors.high
            assert is_held or ends[k] == k
    asked = {"metrics": ["eer", "tmr"], "alternative": "greater", "rng": 1}
    again = ff.evaluate(ff.Comparisons(**made), AT, [], **asked)
    assert again.quantities == result.quantities


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
def test_where_comparisons_failed_the_tar_is_1_minus_the_frr():
    c = ff.Comparisons(SCORES, [1, 1, 1, 1, 0, 0], policies=ff.Policies("exclude"))
    result = ff.evaluate(c, ff.at_threshold(0.5), [], metrics="tmr", unit="comparison", rng=1)
    for success, errors, value in (("tmr", "fnmr", 2 / 3), ("tar", "frr", 0.5)):
        assert result.value(success) == pytest.approx(value)
        assert result.interval(success) == tuple(1 - end for end in result.interval(errors)[::-1])


def test_pages_and_terminal_have_a_table_of_it(found, tmp_path):
    found.report(tmp_path / "page.html")
    for text in ((tmp_path / "page.html").read_text("utf-8"), found.table("tmr").to_markdown()):
        assert "True match rate (TMR), 1 - FNMR" in text
        assert "64.2" in text  # of m at an FMR of 5 %, where the FNMR is 35.8 %


def test_a_line_of_success_is_judged_as_that_of_errors_and_reported_as_written(made):
    data = ff.Comparisons(**made)
    bounds = ((">=", "<=", 55), (">=", "<=", 35), ("<", ">", 55))
    pairs = [
        (f"{term}{group} {success} {100 - bound} %", f"fnmr{group} {errors} {bound} %")
        for term, group in (("tar", ""), ("GAR", "[*]"), ("tmr", "[f]"))
        for success, errors, bound in bounds
    ]
    judge = {"at": AT[1], "n_resamples": 200, "rng": 1}
    successes = ff.check(data, [pair[0] for pair in pairs], **judge)
    errors = ff.check(data, [pair[1] for pair in pairs], **judge)
    assert set(errors.verdicts.values()) == {"met", "not met", "undecided"}
    assert [successes.verdicts[first] for first, _ in pairs] == [
        errors.verdicts[second] for _, second in pairs
    ]
    of_errors = {(row.requirement, row.group): row for row in errors.rows}
    lines = dict(pairs)
    for row in successes.rows:
        other = of_errors[lines[row.requirement], row.group]
        assert (row.name, row.title.startswith("TMR")) == ("tmr", True)
        for name in ("bound", "estimate", "limit", "compared", "opposite_limit", "decided_by"):
            assert getattr(row, name) == pytest.approx(1 - getattr(other, name), abs=1e-12)
        assert (row.low, row.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)
        sides = ("lower limit", "upper limit")
        assert row.reason.split("; ")[1].startswith(
            sides[(row.relation == "<") != (row.verdict == "not met")]
        )
        assert ("would be enough" in row.reason) == ("would be enough" in other.reason)


def test_rates_of_groups_on_a_page_show_what_is_required_of_their_success(made):
    data = ff.Comparisons(**made)
    lines = ["tar[*] >= 60 %", "fnmr[f] <= 50 %"]
    judged = ff.check(data, lines, at=AT[1], n_resamples=200, rng=1)
    rows = Beside(checks=[judged]).required("fnmr", str(AT[1]))
    assert [row.group for row in rows] == ["f", *"fmx"]
    assert [row.relation for row in rows] == ["<="] * 4
    assert [row.bound for row in rows] == pytest.approx([0.5, 0.4, 0.4, 0.4])
    assert Beside(checks=[judged]).required("fmr", str(AT[1])) == []


def test_counts_answer_lines_on_success():
    for rate, success in (("frr", "TAR"), ("fnmr", "TMR")):
        counts = ff.FailureCounts([0, 1, 0, 2], [50] * 4, rate=rate)
        lines = (f"{success} >= 90 %", f"{rate} <= 10 %")
        row, errors = (ff.check(counts, line, rng=1).rows[0] for line in lines)
        assert (row.title, row.relation, row.bound) == (success, ">=", 0.9)
        assert row.limit == pytest.approx(1 - errors.limit)
        assert row.verdict == errors.verdict
    acquired = ff.FailureCounts([0, 1], [50] * 2, rate="fta")
    refused("there is no quantity 'tar'", ff.check, acquired, "tar >= 90 %")


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
def test_messages_name_the_rate_that_was_asked_for(made):
    c = ff.Comparisons(SCORES, [1, 1, 1, 1, 0, 0], policies=ff.Policies("exclude"))
    for text, named in (("tar >= 80 %", "tmr"), ("frr <= 20 %", "fnmr")):
        refused(f"write {named}, or count them", ff.check, c, text, AT[0])
    sexes = {
        side: {"sex": made[side], "age": made[side]} for side in ("reference_group", "probe_group")
    }
    both = ff.Comparisons(**made | sexes)
    for text, named in (("tar[f] >= 80 %", "tmr"), ("fnmr[f] <= 20 %", "fnmr")):
        refused(rf"{named}\[sex=f\]", ff.check, both, text, AT[0])

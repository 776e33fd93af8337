"""Failures to acquire and to enrol: counts against the oracle, and results that call them by their
names."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import failures as oracle

import fastfair as ff
from fastfair.errors import InputError, NarrowIntervalsWarning, NotComputableWarning

ROWS = st.lists(st.tuples(st.booleans(), st.sampled_from("abcdefgh")), min_size=1, max_size=30)
RATES = {"fta": "failure-to-acquire rate", "fte": "failure-to-enrol rate"}


def group_of(who):
    return ["first" if name < "d" else "second" for name in who]


def samples(n=40, seed=0):
    """Whether samples failed, subjects and groups: three a subject, failing more often in group
    "m"."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(100, 100 + n), 3)  # in the same order as numbers and as text
    sex = np.where(who % 2, "f", "m")
    return rng.random(who.size) < np.where(sex == "m", 0.6, 0.3), who, sex


@pytest.mark.parametrize("rate", RATES)
@given(ROWS)
def test_counts_are_the_oracles(rate, rows):
    failed, who = zip(*rows, strict=True)
    expected = oracle.failures_and_attempts(rows, rate)
    said = ["no face" if one else "ok" for one in failed]
    for counts in (
        ff.FailureCounts.from_decisions(failed, who, group_of(who), rate=rate),
        ff.FailureCounts.from_decisions(np.array(failed, np.int8), who, group_of(who), rate=rate),
        *(
            [
                ff.FailureCounts.from_decisions(
                    said, who, group_of(who), rate=rate, failed_value="no face"
                )
            ]
            if any(failed)
            else []
        ),
    ):
        assert list(zip(counts.failures.tolist(), counts.attempts.tolist(), strict=True)) == list(
            expected.values()
        )
        assert [counts.groups[k] for k in counts.subject_group] == group_of(expected)
        for k, group in enumerate(counts.groups):
            own = [both for name, both in expected.items() if group_of([name]) == [group]]
            assert counts.group_rate[k] == sum(e for e, _ in own) / sum(m for _, m in own)
        assert counts.rate_name == counts.without([]).rate_name == rate


@pytest.mark.parametrize(("rate", "attempts"), [("fta", "acquisitions"), ("fte", "enrolments")])
def test_results_speak_of_the_rate(rate, attempts, tmp_path):
    counts = ff.FailureCounts.from_decisions(*samples(), rate=rate)
    assert repr(counts).split(", ")[1] == f"{counts.n_attempts.sum()} {attempts}"
    test, margin = (f(counts, n_resamples=199, rng=1) for f in (ff.fnmr_test, ff.margin_of_error))
    symbol = rate.upper()
    assert test.summary().startswith(f"The overall {symbol} is ")
    assert f"of {counts.n_attempts.sum()} {attempts} of 40 people failed." in margin.summary()
    ff.report([test, margin], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert f"Do {RATES[rate]}s differ between groups?" in page
    chapters = page[: page.index('<h2 id="glossary">')]
    said = [repr(counts), counts._repr_html_(), test.summary(), margin.summary(), chapters]
    assert not any("FNMR" in text or "non-match" in text for text in said)
    for result, again in zip((test, margin), ff.read_results(tmp_path / "page.html"), strict=True):
        for one in (result, again):
            assert one.plot().get_xlabel().lower() == RATES[rate]
        assert again.to_frame("polars")[rate].to_list() == counts.group_rate.tolist()
        assert again.summary().splitlines() == [
            line for line in result.summary().splitlines() if line
        ]
        assert again._chapter().title == result._chapter().title
    assert test.rate_name == margin.rate_name == rate


def test_remarks_on_enrolments_do_not_ask_for_a_second_one():
    failed, who, sex = samples(400)
    assert ff.FailureCounts.from_decisions(failed, who, sex, rate="fte").remarks() == []
    lost = ff.FailureCounts.from_decisions(sex == "m", who, sex, rate="fte")
    why = "as if a subject had one enrolment, as the correlation is not known"
    ends = f"failed; the interval is Clopper and Pearson's, {why}."
    assert lost.remarks() == [
        f"f: no enrolment {ends}",
        f"m: all enrolments {ends}",
    ]


def test_counted_enrolments_may_be_several_of_a_subject():
    counts = ff.FailureCounts([1, 0], [3, 1], ["f", "m"], rate="fte")
    assert repr(counts) == "FailureCounts(2 subjects, 4 enrolments, 1 failure, 2 groups)"
    assert counts.group_rate.tolist() == [1 / 3, 0]


def test_tables_of_samples_are_read(tmp_path):
    failed, who, sex = samples()
    said = np.where(failed, "-1", "50")
    table = pl.DataFrame({"failed": failed, "quality": said, "subject": who, "group": sex})
    table.write_csv(tmp_path / "samples.csv")
    for source in (table, tmp_path / "samples.csv"):
        for rate in RATES:
            expected = ff.FailureCounts.from_decisions(failed, who, sex, rate=rate)
            for options in ({"failed": "failed"}, {"failed": "quality", "failed_value": "-1"}):
                found = ff.read_failure_counts(source, rate=rate, **options)
                assert np.array_equal(found.failures, expected.failures)
                assert (found.n_attempts.tolist(), found.rate_name) == (
                    expected.n_attempts.tolist(),
                    rate,
                )
    with pytest.raises(
        InputError,
        match="failed= and failed_value= of one with one row for each attempt",
    ):
        ff.read_failure_counts(table, attempts="failed", failed_value="x")


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"rate": "eer"}, "rate must be one of 'fnmr', 'fmr', 'frr', .*not 'eer'"),
        ({"failed": [0, 2]}, "failed must be 0 or 1, but row 1"),
        ({"failed": ["ok", "lost"]}, "failed"),
        (
            {"failed": ["ok", "lost"], "failed_value": "lsot"},
            r"no row of failed is 'lsot'.*did you mean 'lost'\?.*zeros",
        ),
        ({"subject": ["a"]}, "need one value for each attempt"),
        ({"subject": ["a", "a"]}, "group"),
    ],
)
def test_what_is_refused(given_, message):
    with pytest.raises(InputError, match=message):
        ff.FailureCounts.from_decisions(
            **({"failed": [0, 1], "subject": ["a", "b"], "group": ["f", "m"]} | given_)
        )
    known = "'fnmr', 'fmr', 'frr', 'far', 'fta', 'fte', 'fnir', 'fpir', 'apcer', 'bpcer', 'iapar'"
    refused(
        f"rate must be one of {known}, not 'eer'", ff.FailureCounts, [0], [1], ["f"], rate="eer"
    )


def test_numbers_of_a_table_are_put_into_bands():
    table = pl.DataFrame({"failures": [0, 1, 2, 0], "attempts": [4] * 4, "age": [17, 34, 35, 80]})
    read = ff.read_failure_counts(table, groups="age", bands="age=0,35")
    assert read.groups == ("0-34", "35+")
    assert read.n_failures.tolist() == [1, 2]
    lacking = table.with_columns(age=pl.Series([17, None, 35, 80]))
    with pytest.warns(ff.errors.DroppedWarning):
        left = ff.read_failure_counts(
            lacking, groups="age", bands="age=0,35", missing_labels="drop"
        )
    assert left.n_attempts.tolist() == [4, 8]
    unknown = ff.read_failure_counts(
        lacking, groups="age", bands="age=0,35", missing_labels="unknown"
    )
    assert unknown.groups == ("0-34", "35+", "unknown")
    refused("must name an attribute", ff.read_failure_counts, table, groups="age", bands="sex=0,35")
    texts = table.with_columns(age=pl.Series(["a", "b", "c", "d"]))
    refused("needs numbers", ff.read_failure_counts, texts, groups="age", bands="age=0,35")


def test_totals_that_are_not_called_so_are_warned_of():
    table = pl.DataFrame({"failures": [5, 21], "attempts": [174, 180], "sex": ["f", "m"]})
    for groups, words in (("sex", "one row for each group"), ((), "one row for all")):
        rows = table if groups else table[:1]
        with pytest.warns(NotComputableWarning, match=f"{words}, .* with totals=True"):
            ff.read_failure_counts(rows, groups=groups)
        ff.read_failure_counts(rows, groups=groups, totals=True)
    single = table.with_columns(attempts=pl.lit(22), subject=pl.Series(["ann", "bob"]))
    ff.read_failure_counts(single, "failures", "attempts", "sex", subject="subject")


def test_rows_of_one_person_are_warned_of_where_the_column_is_not_named():
    table = pl.DataFrame({"failures": [0, 1, 2], "attempts": [4, 4, 4], "subject": [7, 8, 7]})
    with pytest.warns(NarrowIntervalsWarning, match="several rows of one person .* such as '7'"):
        each_row = ff.read_failure_counts(table, groups=())
    named = ff.read_failure_counts(table, attempts="attempts", subject="subject", groups=())
    assert "(3 subjects" in repr(each_row)
    assert "(2 subjects" in repr(named)
    objects = pl.Series([object(), object(), object()])
    for source, options in (
        (table, {"totals": True}),
        (table[:2], {}),
        (table.with_columns(subject=objects), {}),
    ):
        ff.read_failure_counts(source, groups=(), **options)

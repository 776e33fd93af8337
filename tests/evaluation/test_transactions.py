"""FRR and FAR over the number of attempts allowed: rates of loops, intervals of evaluations, words,
plots, and what claims and checks call them."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from helpers.command_line import run
from helpers.refusals import refused
from oracles import transactions as oracle

import fastfair as ff
from fastfair.data.derived import subset
from fastfair.evaluation.evaluate import evaluate_at_thresholds
from fastfair.uncertainty.notes import Code, has_code

AT = ff.at_threshold(1.2)
pytestmark = [
    pytest.mark.filterwarnings("ignore::fastfair.errors.DroppedWarning"),
    pytest.mark.filterwarnings("ignore::fastfair.errors.NarrowIntervalsWarning"),
]


def rows_of(seed=0, n_people=40, attempts=3):
    """Return rows of transactions: some people fail often, and one attempt in 20 has no score."""
    rng = np.random.default_rng(seed)
    level = rng.normal(1.5, 0.7, n_people)
    rows = []
    for person in range(n_people):
        for other in (person, *rng.choice(n_people, 2, replace=False).tolist()):
            mated = person == other
            for _ in range(attempts * rng.integers(1, 3)):
                score = rng.normal(level[person] if mated else 0, 1)
                rows.append((mated, person, other, 0, np.nan if rng.random() < 0.05 else score))
    return rows


def compare(rows, failures="exclude"):
    mated, reference, probe, _, scores = map(list, zip(*rows, strict=True))
    groups = [np.array(["f", "m"])[np.array(side) % 2] for side in (reference, probe)]
    policies = ff.Policies(failures=failures)
    return ff.Comparisons(scores, mated, reference, probe, *groups, policies=policies)


def test_rows_are_those_of_loops_and_of_evaluations():
    rows = rows_of()
    c = compare(rows)
    t = ff.transactions(c, 3)
    result = ff.evaluate_transactions(t, AT)
    made = oracle.consecutive(rows, 3)
    for allowed in (1, 2, 3):
        evaluation = evaluate_at_thresholds(t.transactions.allowing(allowed), [AT.value])
        for name, rate, wanted in zip(
            ("frr", "far"), ("fnmr", "fmr"), oracle.rates(made, AT.value, allowed), strict=True
        ):
            row = result.of(name)[allowed - 1]
            assert (row.allowed, row.estimate) == (allowed, wanted)
            for group in (None, "f", "m"):
                ours = result.of(name, group)[allowed - 1]
                assert (ours.low, ours.high) == evaluation.interval(rate, group)
    single = evaluate_at_thresholds(c, [AT.value])
    for name in ("fnmr", "fmr", "failure_rate_mated"):
        (row,) = result.of(name, "f")
        assert (row.allowed, row.estimate) == (None, single.value(name, "f"))
        assert (row.low, row.high) == single.interval(name, "f")
    assert result.threshold == AT.value


def test_more_attempts_are_easier_for_everybody():
    result = ff.evaluate_transactions(ff.transactions(compare(rows_of(1)), 3), AT)
    frr, far = ([row.estimate for row in result.of(name)] for name in ("frr", "far"))
    assert frr == sorted(frr, reverse=True)
    assert far == sorted(far)
    assert "FRR of transactions of up to 3 attempts" in result.summary()
    assert set(result._figures()) == {
        "transactions_frr_at_threshold_1.2",
        "transactions_far_at_threshold_1.2",
    }


def test_an_operating_point_is_that_of_attempts():
    c = compare(rows_of(2), "non-match")
    t = ff.transactions(c, 3)
    at = ff.at_fmr(0.1)
    result = ff.evaluate_transactions(t, at)
    assert result.threshold == ff.rates(c, at).threshold
    checked = ff.check(t, ["frr@fmr=0.1 <= 0.9", "far[*]@fmr=0.1 <= 0.9"], rng=0, n_resamples=50)
    assert [row.name for row in checked.rows] == ["frr", "far", "far"]
    assert checked.rows[0].estimate == result.of("frr")[-1].estimate
    assert checked.rows[0].title.startswith("FRR at threshold=")
    claimed = ff.claim(t, "far <= 0.9", at, rng=0, n_resamples=50)
    assert (claimed.rate, claimed.at.value) == ("far", result.threshold)
    assert "transactions are errors" in claimed.summary()


def test_rates_of_attempts_are_refused_of_transactions():
    t = ff.transactions(compare(rows_of(3)), 3)
    refused("write frr, or give the attempts", ff.check, t, "fnmr <= 5 %", AT)
    refused('"frr" or "far"', ff.claim, t, "fmr <= 5 %", AT)
    refused("are no transactions", ff.evaluate_transactions, compare(rows_of(3)), AT)
    some = subset(t, np.arange(3), None)
    refused("some of these transactions were left out", ff.evaluate_transactions, some, AT)


def test_measures_of_transactions_are_of_their_rates():
    t = ff.transactions(compare(rows_of(4)), 3)
    lines = ["max_min_ratio(frr) <= 9", "group_to_average_ratio(far)[*] <= 9"]
    checked = ff.check(t, lines, AT, rng=0, n_resamples=50)
    assert [row.name for row in checked.rows] == [
        "max_min_ratio(frr)",
        *["group_to_average_ratio(far)"] * 2,
    ]
    result = ff.evaluate_transactions(t, AT)
    women, men = (result.of("frr", group)[-1].estimate for group in "fm")
    assert checked.rows[0].estimate == pytest.approx(max(women, men) / min(women, men))
    refused(r"write max_min_ratio\(frr\)", ff.check, t, "max_min_ratio(fnmr) <= 2", AT)
    refused(r"write max_min_ratio\(fmr\)", ff.check, compare(rows_of(4)), lines, AT)


def test_evaluations_say_what_their_rates_are():
    t = ff.transactions(compare(rows_of(4), "non-match"), 3)
    evaluation = ff.evaluate(t, AT, n_resamples=0)
    assert evaluation.settings["transactions"] == 3
    assert "FNMR is here the false rejection rate (FRR)" in evaluation.summary()
    assert "transactions" not in ff.evaluate(compare(rows_of(4)), AT, n_resamples=0).settings


def test_commands_take_transactions(tmp_path):
    mated, reference, probe, _, scores = map(list, zip(*rows_of(5), strict=True))
    sex = [np.array(["f", "m"])[np.array(side) % 2] for side in (reference, probe)]
    columns = {"reference": reference, "probe": probe, "score": scores}
    columns |= {"reference_sex": sex[0], "probe_sex": sex[1], "mated": mated}
    columns["visit"] = np.arange(len(scores)) // 3
    pl.DataFrame(columns).write_csv(tmp_path / "s.csv")
    given = [str(tmp_path / "s.csv"), "--at", "threshold=1.2", "--failures", "exclude", "--seed"]
    given += ["1", "--json"]
    done = run("evaluate", *given, "--attempts", "3", "--group", "sex")
    rows = json.loads(done.stdout)["rows"]
    assert {row["name"] for row in rows} >= {"frr", "far", "fnmr", "fmr"}
    of_visits = run("evaluate", *given, "--transaction", "visit", "--group", "sex")
    assert json.loads(of_visits.stdout)["rows"] == rows
    done = run("check", *given, "--attempts", "3", "--require", "frr <= 90 %")
    assert [row["name"] for row in json.loads(done.stdout)["rows"]] == ["frr"]
    done = run("check", *given, "--attempts", "3", "--require", "far <= 0.1 %", "--worst", "2")
    assert json.loads(done.stdout)["worst"]["error"] == ["false match"] * 2
    counts = tmp_path / "c.csv"
    counts.write_text("subject,failures,n\na,1,10\nb,0,12\nc,0,9\nd,1,10\n")
    words = ["--input", "counts", "--attempts", "n", "--rate", "frr", "--require", "frr <= 90 %"]
    done = run("check", str(counts), *words, "--seed", "1", "--json")
    assert json.loads(done.stdout)["rows"][0]["n_comparisons"] == 41
    done = run("group-test", *given, "--attempts", "3", "--group", "sex", "--n-resamples", "99")
    assert "fnmr_test" in done.stdout


def test_sessions_that_tell_attempts_apart_are_named_where_intervals_ignore_them():
    rows = [row for row in rows_of(3) for _ in range(2)]
    mated, reference, probe, _, score = map(list, zip(*rows, strict=True))
    session = np.arange(len(rows)) // 2 % 12
    alone = ff.Comparisons(
        score, mated, reference, probe, policies=ff.Policies(failures="non-match")
    )
    shared = ff.Comparisons(
        score,
        mated,
        reference,
        probe,
        session=session,
        policies=ff.Policies(failures="non-match"),
    )
    for comparisons, is_noted in ((alone, True), (shared, False)):
        made = ff.transactions(comparisons, 2, session=session)
        rates = ff.evaluate_transactions(made, AT)
        whole = ff.evaluate(made, AT, n_resamples=0)
        check = ff.check(made, "frr <= 90 %", AT, n_resamples=20, rng=0)
        claim = ff.claim(made, "frr <= 90 %", AT)
        for result in (rates, check, claim):
            errors = [row for row in result.rows if "failure_rate" not in getattr(row, "name", "")]
            assert {has_code(row, Code.OF_PEOPLE_ALONE) for row in errors} == {is_noted}
        assert has_code(whole.quantity("fnmr"), Code.OF_PEOPLE_ALONE) == is_noted
        for result in (rates, whole, check, claim):
            assert result.summary().count("Intervals take people alone") == is_noted
    named = ff.transactions(alone, transaction=session)
    assert not has_code(
        ff.evaluate(named, AT, n_resamples=0).quantity("fnmr"), Code.OF_PEOPLE_ALONE
    )

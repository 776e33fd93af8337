"""Plans of requirements: the shares of simulated studies with each verdict of `check`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers.command_line import printed
from helpers.command_line import refused as refused_words
from helpers.refusals import refused
from scipy.stats import beta, binom

import fastfair as ff
from fastfair.claims.plans import _Design

FEW = {"n_simulations": 20, "n_resamples": 60, "rng": 0}
STUDY = {"n_attempts": 3, "rate": 0.1, "n_groups": 2, "correlation": 0.2}


def test_studies_are_judged_as_check_judges_them():
    """A plan of one study of a size is the verdict on the same counts."""
    plan = ff.plan_requirement("frr[*] <= 20 %", n_subjects=[20, 200], **STUDY, **FEW)
    for row in plan.rows:
        assert row.met + row.not_met + row.undecided == pytest.approx(1)
        assert row.low <= row.met <= row.high
        assert row.people == 2 * row.n_subjects
    assert plan.rows[0].met < plan.rows[1].met
    again = ff.plan_requirement("frr[*] <= 20 %", n_subjects=200, **STUDY, **FEW)
    assert again.rows[0] == plan.rows[1]


def test_the_share_is_the_power_of_the_exact_test_where_that_is_known():
    """Of one attempt of each subject, whose failures are binomial: the requirement is met where the
    limit is within the bound. Ours allows for one more subject, so it is met a little less often."""
    n, bound, rate = 300, 0.08, 0.04
    plan = ff.plan_requirement(
        f"fta <= {bound}",
        n_subjects=n,
        n_attempts=1,
        rate=rate,
        n_simulations=100,
        n_resamples=60,
        rng=1,
    )
    failures = np.arange(n)
    is_met = beta.ppf(0.95, failures + 1, n - failures) <= bound
    power = binom.pmf(failures, n, rate)[is_met].sum()
    (row,) = plan.rows
    assert power - 0.15 < row.met <= power + 3 * np.sqrt(power * (1 - power) / 100)


def test_more_people_decide_whether_groups_are_alike():
    """NIST's rule of 25 %: of equal groups, four times as many people decide what few cannot."""
    few = FEW | {"n_simulations": 10}
    plan = ff.plan_requirement(
        "group_to_average_ratio(fnmr)[*] <= 1.25", n_subjects=[100, 400], n_attempts=10, rate=0.07,
        n_groups=4, correlation=0.05, **few,
    )  # fmt: skip
    assert plan.rows[0].met <= 0.3
    assert plan.rows[1].met >= 0.8
    assert plan.n_needed == 400
    assert "400 subjects in each group are enough that 80 % of studies meet it." in plan.summary()


def test_one_group_has_no_others_beside_it():
    few = FEW | {"n_simulations": 4}
    plan = ff.plan_requirement("bpcer <= 5 %", n_subjects=[40], n_attempts=1, rate=0.02, **few)
    text = plan.summary()
    assert "One group with a BPCER of 2 %, 1 bona fide presentation of each subject" in text
    assert "With 40 subjects " in text
    assert "each group" not in text


def test_the_largest_of_species_is_what_counts():
    alike, unlike = (
        ff.plan_requirement("apcer[*] <= 15 %", n_subjects=150, n_attempts=1, rate=rates, **FEW)
        for rates in ([0.05] * 3, [0.05, 0.05, 0.2])
    )
    assert alike.rows[0].met > 0.8
    assert (unlike.rows[0].met, unlike.n_needed) == (0, None)
    assert "None of these sizes is enough" in unlike.summary()
    assert "3 groups with an APCER of 5 % to 20 %, 1 attack presentation of" in unlike.summary()


def test_attempts_may_be_those_of_a_pilot():
    pilot = ff.FailureCounts([0] * 4, [1, 1, 2, 8])
    plan = ff.plan_requirement("frr <= 20 %", n_subjects=40, n_attempts=pilot, rate=0.1, **FEW)
    assert plan.mean_attempts == 3
    assert plan.plot().get_xlabel() == "Subjects in each group"


def test_what_cannot_be_planned_is_refused():
    given = {"n_subjects": 10, "n_attempts": 2, "rate": 0.1}
    refused("claims of an FMR are planned by plan_fmr", ff.plan_requirement, "fmr <= 1 %", **given)
    refused("must name the rate", ff.plan_requirement, "eer <= 1 %", **given)
    refused("no group 'x'", ff.plan_requirement, "frr[x] <= 1 %", **given)
    refused(
        "rate must be a fraction|fractions",
        ff.plan_requirement,
        "frr <= 1 %",
        **given | {"rate": 7},
    )
    refused(
        "rate has 2 values, but n_groups is 3",
        ff.plan_requirement,
        "frr <= 1 %",
        **given | {"rate": [0.1, 0.2], "n_groups": 3},
    )
    refused("at least 2, not 1", ff.plan_requirement, "frr <= 1 %", **given | {"n_subjects": 1})


def test_the_command_line_plans_the_same(tmp_path):
    words = ["plan", "requirement", "frr[*] <= 30 %", "--subjects", "20,60", "--rate", "0.1,0.2"]
    words += ["--n-simulations", 5, "--n-resamples", 40, "--seed", 1]
    plan = ff.plan_requirement(
        "frr[*] <= 30 %", n_subjects=[20, 60], n_attempts=2, rate=[0.1, 0.2], n_simulations=5,
        n_resamples=40, rng=1,
    )  # fmt: skip
    assert printed(*words, "--attempts", 2, "--json") == json.loads(plan.to_json())
    (tmp_path / "pilot.csv").write_text("failures,attempts\n0,1\n1,3\n")
    found = printed(*words, "--pilot", tmp_path / "pilot.csv", "--json")
    assert found["mean_attempts"] == 2
    assert "give --attempts, or a --pilot" in refused_words(*words)


def test_what_people_share_is_drawn_as_the_formula_says():
    design = _Design(50, np.array([6]), np.array([0.1, 0.2]), 0.1, ["a", "b"], "frr", 10, 0.04)
    rates, correlations = [], []
    for seed in range(100):
        counts = design.draw(np.random.SeedSequence(seed))
        assert counts.sessions.size <= 10
        rates.append(counts.group_rate)
        correlations.append(counts.session_correlation)
    of_groups = np.array(rates)
    mean = of_groups.mean(axis=0)
    assert mean == pytest.approx([0.1, 0.2], abs=0.01)
    expected = mean * (1 - mean) * (1 + 5 * 0.1 + (300 / 10 - 1) * 0.04) / 300
    assert of_groups.var(axis=0) == pytest.approx(expected, rel=0.45)
    assert np.corrcoef(of_groups.T)[0, 1] > 0.1  # groups share their days
    assert np.mean(correlations) == pytest.approx(0.04, abs=0.012)


def test_more_people_on_the_same_days_hardly_help():
    plan = ff.plan_requirement(
        "frr <= 15 %", n_subjects=[60, 240], n_attempts=5, rate=0.1, n_sessions=[6, 40],
        session_correlation=0.03, n_simulations=3, n_resamples=20, rng=0,
    )  # fmt: skip
    assert [(row.n_sessions, row.n_subjects) for row in plan.rows] == [
        (6, 60),
        (6, 240),
        (40, 60),
        (40, 240),
    ]
    assert plan.rows[1].met < plan.rows[3].met
    assert plan.session_correlation == 0.03
    assert "of people in a session 0.03." in plan.summary()
    assert "None of these sizes is enough in 6 sessions" in plan.summary()
    assert "In fewer than 10 sessions no study meets it" in plan.summary()
    assert {row.met for row in plan.rows if row.n_sessions == 6} == {0}
    labels = [text.get_text() for text in plan.plot().get_legend().get_texts()]
    assert {"6 sessions", "40 sessions"} <= set(labels)


def test_a_pilot_tells_how_alike_people_in_a_session_are(tmp_path):
    design = _Design(60, np.array([6]), np.array([0.2]), 0.1, ["a"], "frr", 8, 0.1)
    pilot = design.draw(np.random.SeedSequence(3))
    plan = ff.plan_requirement(
        "frr <= 50 %",
        n_subjects=20,
        n_attempts=pilot,
        rate=0.1,
        n_sessions=12,
        **FEW | {"n_simulations": 2},
    )
    assert plan.session_correlation == pilot.session_correlation > 0
    assert plan.mean_attempts == 6
    given = {"n_subjects": 10, "rate": 0.1}
    alone = ff.FailureCounts([0], [2])
    for attempts in (2, alone):
        refused(
            "needs session_correlation=, or a pilot whose counts have sessions",
            ff.plan_requirement,
            "frr <= 1 %",
            n_attempts=attempts,
            n_sessions=10,
            **given,
        )
    refused(
        "given without n_sessions",
        ff.plan_requirement,
        "frr <= 1 %",
        n_attempts=2,
        session_correlation=0.1,
        **given,
    )
    path = tmp_path / "pilot.csv"
    path.write_text("who,day,failures,attempts\na,mon,1,4\na,tue,0,4\nb,mon,2,4\nc,tue,0,4\n")
    words = ["plan", "requirement", "frr <= 60 %", "--subjects", "20", "--rate", "0.1"]
    words += ["--n-simulations", 1, "--n-resamples", 20, "--seed", 1, "--sessions", 12, "--json"]
    of_pilot = ["--pilot", path, "--subject", "who", "--session", "day"]
    counts = ff.read_failure_counts(path, "failures", "attempts", (), subject="who", session="day")
    found = printed(*words, *of_pilot)
    assert found["session_correlation"] == counts.session_correlation > 0
    assert found["mean_attempts"] == pytest.approx(16 / 3)
    assert "columns of a --pilot" in refused_words(*words, "--attempts", 2, "--session", "day")

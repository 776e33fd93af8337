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


def test_the_largest_of_species_is_what_counts():
    alike, unlike = (
        ff.plan_requirement("apcer[*] <= 15 %", n_subjects=150, n_attempts=1, rate=rates, **FEW)
        for rates in ([0.05] * 3, [0.05, 0.05, 0.2])
    )
    assert alike.rows[0].met > 0.8
    assert (unlike.rows[0].met, unlike.n_needed) == (0, None)
    assert "None of these sizes is enough" in unlike.summary()
    assert "3 groups with an APCER of 5 % to 20 %, 1 attack presentations" in unlike.summary()


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

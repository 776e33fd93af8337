"""Failure counts of independent data sets compared, as the same decisions with scores are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.refusals import refused

import fastfair as ff

pytestmark = pytest.mark.jit
AT = ff.at_threshold(0.5)
HOW = {"paired": False, "n_resamples": 100, "rng": 3}


def drawn(rate: float, seed: int, groups: str = "fm", name: str = "frr") -> ff.FailureCounts:
    rng = np.random.default_rng(seed)
    attempts = rng.integers(1, 7, 60)
    return ff.FailureCounts(
        rng.binomial(attempts, rate), attempts, {"sex": [*(groups * 60)[:60]]}, rate=name
    )


def as_scores(counts: ff.FailureCounts, first: int = 0) -> ff.Comparisons:
    """Give each attempt a score, below 0.5 those that failed; people have numbers from the first."""
    rows = [
        (
            0.1 + 0.3 * (k % 7) / 7 if k < failed else 0.6 + 0.3 * (k % 5) / 5,
            who,
            counts.groups[code],
        )
        for who, (failed, n, code) in enumerate(
            zip(counts.failures, counts.attempts, counts.subject_group, strict=True), first
        )
        for k in range(n)
    ]
    scores, people, groups = map(list, zip(*rows, strict=True))
    return ff.Comparisons(
        scores, [1] * len(scores), people, people, reference_group={"sex": groups}
    )


NEW, OLD = drawn(0.1, 1), drawn(0.25, 2)


@pytest.fixture(scope="module")
def compared():
    return ff.compare({"new": NEW, "old": OLD}, **HOW)


def test_counts_differ_as_the_same_decisions_with_scores(compared):
    of_scores = ff.compare(
        {"new": as_scores(NEW), "old": as_scores(OLD, 100)}, at=AT, metrics=(), **HOW
    )
    assert len(compared.contrasts) > 10
    others = [row for row in of_scores.contrasts if "tmr" not in row.name]
    for row, other in zip(compared.contrasts, others, strict=True):
        assert row.name == other.name.replace("fnmr", "frr")
        assert repr(replace(row, name=other.name, at=other.at)) == repr(other)
    lines = ["frr(new) - frr(old)[*] <= 1 %", "difference(frr) <= -20 %"]
    judged = ff.check(compared, lines)
    with_scores = ff.check(of_scores, [line.replace("frr", "fnmr") for line in lines])
    assert [row.limit for row in judged.rows] == [row.limit for row in with_scores.rows]
    assert list(judged.verdicts.values()) == list(with_scores.verdicts.values())
    assert judged.rows[0].title == "difference in FRR of f"
    assert judged.rows[0].at is None


def test_the_rate_that_was_counted_is_drawn_and_ranked_unless_another_is_named(compared):
    assert compared.ranking() == compared.ranking("frr")
    for ax in (compared.plot(), compared.plot_differences()):
        assert "FRR" in ax.get_xlabel()
    counts = ff.evaluate(NEW, rng=1)
    assert "max-min ratio of FRR" in counts.table("measures").to_markdown()
    assert "| FRR | Errors |" in counts.table().to_markdown()


def test_a_difference_is_that_of_plain_rates(compared):
    for group in (None, "f", "m"):
        rates = []
        for counts in (NEW, OLD):
            inside = [
                group is None or counts.groups[code] == group for code in counts.subject_group
            ]
            decisions = [
                k < failed
                for failed, n, here in zip(counts.failures, counts.attempts, inside, strict=True)
                if here
                for k in range(n)
            ]
            rates.append(sum(decisions) / len(decisions))
        row = compared.contrast("frr", group)
        assert (row.first, row.second) == tuple(rates)
        assert row.difference == rates[0] - rates[1]
    assert compared.evaluation("new").quantity("frr", "f").n_subjects == 30


def test_more_data_sets_rank_in_the_groups_that_all_have(tmp_path):
    sets = {"new": NEW, "old": drawn(0.25, 2, "fxm"), "lab": drawn(0.05, 5, "mfy")}
    ranked = ff.compare(sets, **HOW)
    assert ranked.groups == ("f", "m")
    assert [row.system for row in ranked.ranking("frr")] == ["lab", "new", "old"]
    for group in ("f", "m"):
        values = {row.system: row.estimate for row in ranked.ranking("frr", group)}
        assert values == {
            name: counts.group_rate[counts.groups.index(group)] for name, counts in sets.items()
        }
    assert set(ranked._figures()) == {"frr", "frr_ranks"}
    of_scores = ff.compare(
        {name: as_scores(c, 100 * k) for k, (name, c) in enumerate(sets.items())}, at=AT, **HOW
    )
    assert [row.estimate for row in of_scores.ranking("fnmr", "m")] == [
        row.estimate for row in ranked.ranking("frr", "m")
    ]
    assert "Left out of the measures" not in str(ranked._chapter())
    ranked.to_json(tmp_path / "ranked.json")
    (again,) = ff.read_results(tmp_path / "ranked.json")
    assert again.summary() == ranked.summary()


def test_what_is_said_of_two_data_sets(compared):
    said = compared.summary().splitlines()
    assert said[0] == f"new: {NEW.attempts.sum()} transactions of 60 people, in 2 groups."
    assert "The data sets are compared as independent ones." in said
    assert compared.counted == "frr"
    assert set(compared._figures()) == {"frr"}
    assert "False rejection rate" in str(compared._chapter())


def test_totals_have_exact_limits():
    labs = {"a": ff.FailureCounts(5, 174, rate="fta"), "b": ff.FailureCounts(21, 180, rate="fta")}
    made = ff.compare(labs, paired=False)
    assert made.settings["n_resamples"] == 0
    assert made.contrast("fta").verdict == "first"
    assert "people are not given" in made.summary()
    ends = [ff.evaluate(counts).interval("fta") for counts in labs.values()]
    row = made.contrast("fta")
    low = row.difference - np.hypot(row.first - ends[0][0], ends[1][1] - row.second)
    assert row.low == pytest.approx(low, abs=1e-12)


def test_false_matches_of_two_people_have_no_rates_between_groups():
    def pairs(seed: int) -> ff.FailureCounts:
        rng = np.random.default_rng(seed)
        first, second = rng.integers(0, 20, 300), rng.integers(20, 40, 300)
        return ff.FailureCounts(
            rng.binomial(3, 0.1, 300),
            [3] * 300,
            np.array([*"fm"])[first % 2],
            rate="fmr",
            subject=first,
            other_subject=second,
            other_group=np.array([*"fm"])[second % 2],
        )

    made = ff.compare(pairs(1), pairs(2), **HOW)
    names = {row.name for row in made.contrasts}
    assert {"fmr", "gini(fmr)"} <= names
    assert "fmr_matrix" not in names


def test_what_cannot_be_compared_says_what_would_do(compared):
    both = {"new": NEW, "old": OLD}
    refused("with paired=False", ff.compare, both)
    others = {"new": NEW, "old": drawn(0.1, 1, name="fta")}
    says = "the FRR of 'new' was counted, and the FTA of 'old': give both counts of one rate"
    refused(says, ff.compare, others, paired=False)
    mixed = {"new": NEW, "old": as_scores(OLD)}
    refused("FailureCounts.from_comparisons", ff.compare, mixed, paired=False)
    for asked in ({"at": AT}, {"metrics": "eer"}, {"common": True}):
        refused("leave it out", ff.compare, both, paired=False, **asked)
    ungrouped = ff.FailureCounts([1, 0], [3, 3], rate="frr")
    refused("by no attribute", ff.compare, {"new": NEW, "old": ungrouped}, paired=False)
    says = "on the FNMR, but the FRR was counted"
    refused(says, ff.check, compared, "difference(fnmr) <= 1 %")
    refused("leave FMR=0.1 out", ff.check, compared, "difference(frr)@fmr=0.1 <= 1 %")
    refused("leave it out", ff.check, compared, "difference(frr) <= 1 %", AT)

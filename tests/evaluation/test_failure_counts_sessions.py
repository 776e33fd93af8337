"""Counts of people in sessions become decisions in these sessions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import sessions as oracle

import fastfair as ff
from fastfair.errors import InputError

AT = ff.at_threshold(0.5)


def decisions_in_sessions(counts: ff.FailureCounts) -> Counter:
    """Count decisions by person, session, and whether they failed."""
    c = counts.decisions
    side = c.mated
    assert side.reference_session is side.probe_session
    failed = side.similarities < 0.5
    return Counter(
        zip(side.reference.tolist(), c.sessions[side.probe_session], failed.tolist(), strict=True)
    )


rows = st.tuples(st.sampled_from("abcd"), st.sampled_from(["mon", "tue", "wed"]), st.integers(0, 3))


@given(st.lists(rows, min_size=1))
def test_rows_of_a_person_stay_in_their_sessions(people):
    who, days, failures = zip(*people, strict=True)
    attempts = np.add(failures, 1)
    counts = ff.FailureCounts(failures, attempts, subject=who, session=days)
    plain = ff.FailureCounts(failures, attempts, subject=who)
    assert counts.failures.tolist() == plain.failures.tolist()
    assert counts.attempts.tolist() == plain.attempts.tolist()
    number = {name: k for k, name in enumerate(sorted(set(who)))}
    expected = Counter()
    for name, day, failed in people:
        expected[number[name], day, True] += failed
        expected[number[name], day, False] += 1
    assert decisions_in_sessions(counts) == +expected
    assert counts.sessions.tolist() == sorted(set(days))


def test_decisions_are_counted_by_person_and_session():
    failed, who = [0, 1, 1, 0, 1], list("aabbb")
    days, groups = ["mon", "tue", "mon", "mon", "mon"], list("ffmmm")
    counts = ff.FailureCounts.from_decisions(failed, who, groups, session=days)
    assert repr(counts) == (
        "FailureCounts(2 subjects, 5 attempts, 3 failures, 2 sessions, 2 groups)"
    )
    assert decisions_in_sessions(counts) == {
        (0, "mon", False): 1,
        (0, "tue", True): 1,
        (1, "mon", True): 2,
        (1, "mon", False): 1,
    }
    women = counts.without(["m"])
    assert decisions_in_sessions(women) == {(0, "mon", False): 1, (0, "tue", True): 1}


def test_an_enrolment_is_of_one_session():
    failed, who = [1, 1, 1, 0], list("aabb")
    counts = ff.FailureCounts.from_decisions(failed, who, rate="fte", session=list("mmtt"))
    assert decisions_in_sessions(counts) == {(0, "m", True): 1, (1, "t", False): 1}
    with pytest.raises(InputError, match=r"session"):
        ff.FailureCounts.from_decisions(failed, who, rate="fte", session=list("mtmt"))


def test_comparisons_give_their_sessions_to_counts():
    people = list("aabbab"), list("aabbba")
    groups = list("ffmmfm"), list("ffmmmf")
    of_reference, of_probe = list("mmmttm"), list("mttmtt")
    scores = [0.9, 0.3, 0.8, 0.6, 0.4, 0.1]
    c = ff.Comparisons(scores, None, *people, *groups, session=(of_reference, of_probe))
    counts = ff.FailureCounts.from_comparisons(c, AT)
    side = counts.decisions.mated
    names = counts.sessions
    seen = {
        (who, names[first], names[second], score)
        for who, first, second, score in zip(
            side.reference.tolist(),
            side.reference_session,
            side.probe_session,
            side.similarities.tolist(),
            strict=True,
        )
    }
    assert seen == {(0, "m", "m", 1), (0, "m", "t", 0), (1, "m", "t", 1), (1, "t", "m", 1)}
    accepted = ff.FailureCounts.from_comparisons(c, ff.at_threshold(0.3), rate="fmr")
    side = accepted.decisions.nonmated
    both = [names[codes].tolist() for codes in (side.reference_session, side.probe_session)]
    assert sorted(zip(*both, strict=True)) == [("m", "t"), ("t", "t")]
    days = ff.Comparisons(scores, None, *people, *groups, session=of_probe)
    one_column = ff.FailureCounts.from_comparisons(days, AT)
    assert decisions_in_sessions(one_column).total() == 4


def test_comparisons_of_two_people_have_sessions():
    counts = ff.FailureCounts(
        [0, 1], [2, 3], rate="fmr", subject=["a", "b"], other_subject=["b", "c"], session=[1, 2]
    )
    c = counts.decisions
    assert sorted(c.sessions[c.nonmated.probe_session].tolist()) == [1, 1, 2, 2, 2]


def test_sessions_need_people_and_as_many_rows():
    with pytest.raises(InputError, match="leave session= out"):
        ff.FailureCounts([1], [4], totals=True, session=["mon"])
    with pytest.raises(InputError, match="give subject and other_subject"):
        ff.FailureCounts([1], [4], rate="fmr", session=["mon"])
    with pytest.raises(InputError, match="session"):
        ff.FailureCounts([1, 0], [4, 4], session=["mon"])


def test_intervals_of_groups_are_those_of_evaluate():
    rng = np.random.default_rng(3)
    who, day = np.repeat(np.arange(40), 6), rng.integers(0, 12, 240)
    failed = (rng.normal(size=240) + rng.normal(size=12)[day] < -1).astype(int)
    group = np.where(who % 2, "f", "m")
    plain, counts = (
        ff.FailureCounts.from_decisions(failed, who, group, session=days) for days in (None, day)
    )
    evaluation = ff.evaluate(counts, n_resamples=0)
    low, high = counts.confidence_interval()
    for k, name in enumerate(counts.groups):
        row = evaluation.quantity("fnmr", name)
        assert low[k] == pytest.approx(row.low)
        assert high[k] == pytest.approx(row.high)
        assert row.high - row.low > 1.2 * np.diff(evaluation_of(plain, name))
    assert (counts.standard_error > plain.standard_error).all()
    of_effects = np.sqrt(counts.design_effect / plain.design_effect)
    assert of_effects == pytest.approx(counts.standard_error / plain.standard_error)


def evaluation_of(counts: ff.FailureCounts, group: str) -> tuple[float, float]:
    """Return the interval of a group in closed form."""
    return ff.evaluate(counts, n_resamples=0).interval("fnmr", group)


def test_few_sessions_give_no_interval():
    failed, who = [0, 1, 0, 1, 0, 0, 1, 0], np.arange(8)
    counts = ff.FailureCounts.from_decisions(failed, who, ["x"] * 8, session=who % 3)
    assert np.isnan(counts.confidence_interval()).all()
    assert "x: fewer than 4 sessions, which give no interval." in counts.remarks()
    assert np.isnan(evaluation_of(counts, "x")).all()
    four = ff.FailureCounts.from_decisions(failed, who, ["x"] * 8, session=who % 4)
    assert not np.isnan(four.confidence_interval()).any()


def attacks_in_sessions(seed: int = 0, n: int = 240) -> tuple[np.ndarray, ...]:
    """Draw decisions on attacks that imitate the same people by three species on the same days."""
    rng = np.random.default_rng(seed)
    who, day = rng.integers(0, 20, n), rng.integers(0, 12, n)
    species = np.array(list("pms"))[rng.integers(0, 3, n)]
    chance = 0.3 + 0.2 * rng.normal(size=12)[day] + 0.1 * rng.normal(size=20)[who]
    return (rng.random(n) < chance).astype(int), who, species, day


def test_variances_of_species_are_those_of_a_double_loop():
    failed, who, species, day = attacks_in_sessions()
    counts = ff.FailureCounts.from_decisions(failed, who, species, rate="apcer", session=day)
    assert counts.groups_share_people
    for k, name in enumerate(counts.groups):
        rows = np.flatnonzero(species == name)
        rate = failed[rows].mean()
        attempts = [
            oracle.Attempt(
                (failed[i] - rate) / rows.size, (who[i].item(),) * 2, (day[i].item(),) * 2
            )
            for i in rows
        ]
        people = oracle.sum_over(attempts, oracle.share_a_person)
        both = max(oracle.two_way_sum(attempts), people)
        assert counts.standard_error[k] == pytest.approx(np.sqrt(both), rel=0.06)
        assert both > 1.3 * people


def test_species_and_all_attacks_have_the_limits_of_rates_of_people_in_sessions():
    failed, who, species, day = attacks_in_sessions(1)
    counts = ff.FailureCounts.from_decisions(failed, who, species, rate="iapar", session=day)
    low, high = counts.confidence_interval()
    for k, name in enumerate(counts.groups):
        rows = species == name
        alone = ff.FailureCounts.from_decisions(
            failed[rows], who[rows], ["x"] * rows.sum(), session=day[rows]
        )
        assert (low[k], high[k]) == pytest.approx(np.concatenate(alone.confidence_interval()))
    as_attempts = ff.FailureCounts.from_decisions(failed, who, session=day)
    of_all = ff.evaluate(counts, n_resamples=0).interval("iapar")
    assert of_all == pytest.approx(ff.evaluate(as_attempts, n_resamples=0).interval("fnmr"))
    few = ff.FailureCounts.from_decisions(failed, who, species, rate="iapar", session=day % 3)
    assert np.isnan(few.confidence_interval()).all()
    assert ff.check(few, "iapar[*] <= 99 %").verdict == "undecided"

"""Tests of groups are withheld where these hardly share sessions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import sessions as oracle

import fastfair as ff
from fastfair.errors import NotComputableWarning
from fastfair.group_tests.sessions import effects_of_sessions, sums_of_shared

AT = ff.at_threshold(2.0)
attempts_of_few = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12
)


@given(attempts_of_few)
def test_sums_over_what_shares_a_unit_are_those_of_every_pair(rows):
    attempts = [oracle.Attempt(part, (a, b), (a, b)) for part, a, b in rows]
    parts, first, second = map(np.array, zip(*rows, strict=True))
    (total,) = sums_of_shared([parts], first, second)
    assert total == oracle.sum_over(attempts, oracle.share_a_person)


@given(
    st.lists(
        st.tuples(*[st.booleans()] * 2, *[st.integers(0, 4)] * 2, st.integers(0, 2)),
        min_size=4,
        max_size=14,
    )
)
def test_effects_are_those_of_every_pair(rows):
    errors, group, first, second, session = map(np.array, zip(*rows, strict=True))
    rate = errors.mean()
    groups = [np.flatnonzero(group), np.flatnonzero(~group)]
    cells = first * 3 + session, second * 3 + session
    units = [(first, second), (session, session), cells]
    effects = effects_of_sessions(errors, groups, units)
    if not (0 < rate < 1 and group.any() and not group.all()):
        assert (effects == 1).all()
        return

    def sums(parts):
        attempts = [
            oracle.Attempt(part, (a, b), (s, s))
            for part, a, b, s in zip(parts, first, second, session, strict=True)
        ]
        shares = oracle.share_a_person, oracle.share_a_session, oracle.share_a_cell
        return [oracle.sum_over(attempts, share) for share in shares]

    _, in_sessions, in_cells = sums(errors - rate)
    _, pairs, pairs_in_cells = sums(np.ones(errors.size))
    covariance = 0.05 * rate * (1 - rate)  # as sessions are few
    if pairs > pairs_in_cells:
        covariance = max(covariance, (in_sessions - in_cells) / (pairs - pairs_in_cells))
    for effect, inside in zip(effects, (group, ~group), strict=True):
        weights = np.where(inside, 1 / inside.sum(), -1 / (~inside).sum())
        variance = max(sums(weights * (errors - rate))[0], rate * (1 - rate) * (weights**2).sum())
        _, of_sessions, of_cells = sums(weights)
        more = covariance * max(0.0, of_sessions - of_cells)
        assert effect == pytest.approx(1 + more / variance)


def draw(shared: bool, n_days: int = 12) -> ff.Comparisons:
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(60), 5)
    first = rng.integers(0, 60, 1500)
    second = (first + 2 * rng.integers(1, 30, first.size)) % 60
    reference, probe = np.append(person, first), np.append(person, second)
    group = np.where(np.arange(60) % 2, "f", "m")
    day = rng.integers(0, n_days, probe.size)
    if not shared:
        day = 2 * (day // 2) + probe % 2
    scores = np.where(reference == probe, 3.0, 0.0) + rng.normal(size=12)[day]
    scores += rng.normal(size=day.size)
    return ff.Comparisons(
        scores, None, reference, probe, group[reference], group[probe], session=day
    )


@pytest.mark.parametrize("test", [ff.fnmr_test, ff.fmr_test])
def test_a_test_needs_groups_that_share_sessions(test):
    assert test(draw(True), AT, n_resamples=49, rng=0).pvalue > 0
    with pytest.warns(NotComputableWarning, match="hardly share sessions"):
        withheld = test(draw(False), AT, n_resamples=49, rng=0)
    assert np.isnan(withheld.pvalue)
    assert np.isnan(withheld.group_pvalue_adjusted).all()
    assert withheld.different == ()
    assert "hardly share sessions" in withheld.summary()
    assert withheld.settings["sessions_apart"] is True


@pytest.mark.parametrize("test", [ff.fnmr_test, ff.fmr_test])
def test_a_test_needs_four_sessions(test):
    assert test(draw(True, 4), AT, n_resamples=49, rng=0).pvalue > 0
    with pytest.warns(NotComputableWarning, match="fewer than 4 sessions"):
        withheld = test(draw(True, 3), AT, n_resamples=49, rng=0)
    assert np.isnan(withheld.pvalue)
    assert withheld.different == ()
    assert "fewer than 4 sessions" in withheld.summary()
    assert withheld.settings["few_sessions"] is True


def test_counts_in_sessions_are_judged_as_comparisons_are():
    for shared in (True, False):
        c = draw(shared)
        counts = ff.FailureCounts.from_comparisons(c, AT)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotComputableWarning)
            tests = [
                ff.fnmr_test(c, AT, n_resamples=49, rng=0),
                ff.fnmr_test(counts, n_resamples=49, rng=0),
            ]
        assert [bool(np.isnan(test.pvalue)) for test in tests] == [not shared] * 2


@pytest.mark.parametrize("test", [ff.fnmr_test, ff.fmr_test])
@pytest.mark.parametrize(
    ("n_days", "flag", "words"),
    [
        (12, "", ""),
        (6, "narrow", "f, m: fewer than 10 sessions, whose intervals are likely too narrow."),
        (3, "", "f, m: fewer than 4 sessions, which give no interval."),
    ],
)
@pytest.mark.filterwarnings("ignore::fastfair.errors.NotComputableWarning")
def test_a_test_has_the_numbers_of_sessions_and_flags_few(test, n_days, flag, words, tmp_path):
    result = test(draw(True, n_days), AT, n_resamples=49, rng=0)
    result.to_json(tmp_path / "test.json")
    (read,) = ff.read_results(tmp_path / "test.json")
    assert read.n_sessions.tolist() == [n_days] * 2
    assert read.flags == (flag,) * 2
    assert np.isnan(read.standard_error).all() == np.isnan(read.low).all() == (n_days < 4)
    assert words in result.summary()
    assert result.to_frame("pandas")["n_sessions"].tolist() == [n_days] * 2
    assert ("sessions" in result.summary()) == bool(words)

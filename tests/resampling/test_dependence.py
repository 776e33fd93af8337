"""The number of independent comparisons behind rates without errors, and two-way variances, against
oracles.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import sessions
from oracles import zero_errors as slow

import fastfair as ff
from fastfair.resampling import dependence
from fastfair.resampling.engine import NO_METRICS, Resampler


@st.composite
def clustered(draw: st.DrawFn) -> list[tuple[float, bool, int, int]]:
    """Tied scores of up to 9 subjects, in one group or two: enough pairs for five of them to
    err."""
    n_subjects = draw(st.integers(2, 9))
    subject = st.integers(0, n_subjects - 1)
    score = st.integers(0, 6).map(float)
    nonmated = st.tuples(score, subject, subject).filter(lambda row: row[1] != row[2])
    rows = [(s, False, a, b) for s, a, b in draw(st.lists(nonmated, min_size=1, max_size=30))]
    mated = draw(st.lists(st.tuples(score, subject), min_size=1, max_size=20))
    return rows + [(s, True, a, a) for s, a in mated]


@given(rows=clustered(), n_groups=st.integers(1, 2))
def test_independent_comparisons_are_those_of_the_oracle(rows, n_groups):
    scores, mated, reference, probe = map(list, zip(*rows, strict=True))
    groups = [[k % n_groups for k in column] for column in (reference, probe)]
    resampler = Resampler(
        ff.Comparisons(scores, mated, reference, probe, *groups), [], metrics=NO_METRICS
    )
    strata = {k: k % n_groups for k in (*reference, *probe)}
    sizes = {g: list(strata.values()).count(g) for g in set(strata.values())}
    for of_mated in (True, False):
        cells = {(a % n_groups, b % n_groups) for _, is_mated, a, b in rows if is_mated == of_mated}
        for cell in (None, *cells):
            inside = [
                (score, a, None if of_mated else b)
                for score, is_mated, a, b in rows
                if is_mated == of_mated and (cell is None or (a % n_groups, b % n_groups) == cell)
            ]
            for ones in (False, True):
                expected = slow.independent_comparisons(inside, of_mated, ones, strata, sizes)
                # Codes of groups stand in the order of their labels.
                code = cell and tuple(sorted(sizes).index(g) for g in cell)
                assert resampler.effective_sample_size(of_mated, code, ones) == pytest.approx(
                    expected, rel=1e-9
                )


def test_comparisons_of_their_own_subjects_are_independent_but_for_one():
    rng = np.random.default_rng(0)
    n = 400
    subjects = np.arange(4 * n)
    c = ff.Comparisons(
        rng.normal(size=2 * n),
        np.arange(2 * n) < n,
        np.append(subjects[:n], subjects[n::3]),
        np.append(subjects[:n], subjects[n + 1 :: 3]),
    )
    resampler = Resampler(c, [], metrics=NO_METRICS)
    assert resampler.effective_sample_size(True) >= 0.99 * n
    assert resampler.effective_sample_size(False) >= 0.99 * n


def test_units_that_are_not_subjects_leave_the_number_as_it_is():
    c = ff.Comparisons([1.0, 2.0, 3.0, 0.0], [1, 1, 1, 0], list("aaab"), list("aaac"))
    assert Resampler(c, [], unit="comparison", metrics=NO_METRICS).effective_sample_size(True) == 3
    assert Resampler(c, [], metrics=NO_METRICS).effective_sample_size(True) == 1


attempts_of_few = st.lists(
    st.builds(
        lambda part, persons, session: sessions.Attempt(part, persons, (session, session)),
        st.integers(-3, 3),
        st.tuples(*[st.integers(0, 4)] * 2),
        st.integers(0, 3),
    ),
    max_size=12,
)


@given(attempts_of_few)
def test_a_person_and_a_session_in_common_are_a_cell_in_common(attempts):
    together = sum(
        one.part * other.part
        for one in attempts
        for other in attempts
        if sessions.share_a_person(one, other) or sessions.share_a_session(one, other)
    )
    assert sessions.two_way_sum(attempts) == together


@given(attempts_of_few)
def test_two_way_variances_are_sums_over_pairs_and_never_below_those_of_people(attempts):
    people, of_sessions, cells = (
        sessions.sum_over(attempts, share)
        for share in (sessions.share_a_person, sessions.share_a_session, sessions.share_a_cell)
    )
    assert dependence.two_way_variance(people, of_sessions, cells) == max(
        people, sessions.two_way_sum(attempts)
    )


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_sessions_of_a_persons_own_change_no_bit(people, cells):
    assert dependence.two_way_variance(people, cells, cells) == people


def test_sessions_limit_degrees_of_freedom():
    freedom = dependence.two_way_freedom(np.array([99.0, 99.0, 3.0, np.inf]), [20, 1, 20, 5])
    assert freedom.tolist() == [19, 1, 3, 4]

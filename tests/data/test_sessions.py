"""Sessions follow their comparisons through sorting, selections, failures and pickles."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.data.derived import match, shared_comparisons, subset
from fastfair.errors import InputError

SCORES, PEOPLE = [0.9, 0.2, 0.8, 0.1], (list("aabb"), list("abba"))
DAYS, LATER = ["mon", "tue", "mon", "wed"], ["tue", "tue", "fri", "fri"]


def sessions_by_row(c: ff.Comparisons) -> dict[int, tuple[str, str]]:
    """Return the sessions of each comparison, by its row."""
    return {
        int(row): (str(c.sessions[reference]), str(c.sessions[probe]))
        for side in (c.mated, c.nonmated)
        for row, reference, probe in zip(
            side.rows, side.reference_session, side.probe_session, strict=True
        )
    }


@given(st.lists(st.tuples(st.floats(0, 1), *[st.sampled_from("abcd")] * 4), min_size=2))
def test_every_session_follows_its_score(rows):
    scores, reference, probe, days, later = zip(*rows, strict=True)
    mated = np.append(True, [False] * (len(rows) - 1))
    reference, probe = ("z", *reference[1:]), ("z", *(f"{p}'" for p in probe[1:]))
    c = ff.Comparisons(scores, mated, reference, probe, session=(days, later))
    assert sessions_by_row(c) == dict(enumerate(zip(days, later, strict=True)))
    assert c.sessions.tolist() == sorted({*days, *later})
    of_one_column = ff.Comparisons(scores, mated, reference, probe, session=days)
    side = of_one_column.nonmated
    assert side.reference_session is side.probe_session
    assert sessions_by_row(of_one_column) == dict(enumerate(zip(days, days, strict=True)))


def test_a_pair_of_two_columns_is_no_column_of_two_labels():
    people = list("ab"), list("ac")
    c = ff.Comparisons([0.9, 0.1], None, *people, session=("mon", "tue"))
    assert sessions_by_row(c) == {0: ("mon", "mon"), 1: ("tue", "tue")}
    c = ff.Comparisons([0.9, 0.1], None, *people, session=[["mon", "tue"], ["wed", "thu"]])
    assert sessions_by_row(c) == {0: ("mon", "wed"), 1: ("tue", "thu")}


def test_frames_name_one_column_or_two():
    columns = {"score": SCORES, "r": PEOPLE[0], "p": PEOPLE[1], "day": DAYS, "day_2": LATER}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        roles = {"mated": None, "reference": "r", "probe": "p"}
        of_one = ff.Comparisons.from_frame(frame, **roles, session="day")
        assert sessions_by_row(of_one) == dict(enumerate(zip(DAYS, DAYS, strict=True)))
        of_two = ff.Comparisons.from_frame(frame, **roles, session=["day", "day_2"])
        assert sessions_by_row(of_two) == dict(enumerate(zip(DAYS, LATER, strict=True)))


def test_sessions_stay_in_selections_copies_and_pickles():
    groups = {"reference_group": list("ffmm"), "probe_group": list("fmmf")}
    c = ff.Comparisons(SCORES, None, *PEOPLE, session=(DAYS, LATER), **groups)
    assert "4 sessions" in repr(c)
    everything = sessions_by_row(c)
    assert sessions_by_row(pickle.loads(pickle.dumps(c))) == everything
    assert sessions_by_row(c.by("group")) == everything
    kept = subset(c, np.array([1]), None)
    assert sessions_by_row(kept) == {k: everything[k] for k in (0, 1, 3)}
    # a smaller set has only the sessions that it uses
    shared = shared_comparisons(
        {"x": c, "y": ff.Comparisons(SCORES[:2], None, *(p[:2] for p in PEOPLE))}
    )
    assert shared["x"].sessions.tolist() == ["mon", "tue"]
    assert sessions_by_row(shared["x"]) == {k: everything[k] for k in (0, 1)}


def test_failed_and_dropped_comparisons_take_their_sessions_along():
    failed = [0.9, np.nan, 0.8, 0.1]
    c = ff.Comparisons(
        failed, None, *PEOPLE, session=DAYS, policies=ff.Policies(failures="non-match")
    )
    assert sessions_by_row(c) == dict(enumerate(zip(DAYS, DAYS, strict=True)))
    with pytest.warns(ff.errors.DroppedWarning):
        c = ff.Comparisons(
            SCORES,
            [1, 1, 1, 0],
            *PEOPLE,
            session=DAYS,
            policies=ff.Policies(label_conflicts="drop"),
        )
    assert c.sessions.tolist() == ["mon", "wed"]
    assert c.mated.reference_session is c.mated.probe_session
    assert [c.sessions[k] for k in c.mated.probe_session] == ["mon", "mon"]


def test_transactions_are_of_one_session():
    people = list("aabb"), list("aabb")
    given_scores = [0.9, 0.2, 0.8, 0.1]
    c = ff.Comparisons(given_scores, [1] * 4, *people, session=["mon", "mon", "tue", "tue"])
    of_two = ff.transactions(c, 2)
    assert [of_two.sessions[k] for k in of_two.mated.probe_session] == ["tue", "mon"]
    c = ff.Comparisons(given_scores, [1] * 4, *people, session=["mon", "tue", "tue", "tue"])
    with pytest.raises(InputError, match="attempts of a transaction differ in 'session'"):
        ff.transactions(c, 2)


def test_two_systems_have_the_same_sessions():
    c = ff.Comparisons(SCORES, None, *PEOPLE, session=DAYS)
    order = [2, 0, 3, 1]
    other = ff.Comparisons(
        *([values[k] for k in order] for values in (SCORES,)),
        None,
        *([values[k] for k in order] for values in PEOPLE),
        session=[DAYS[k] for k in order],
    )
    assert match(c, other, one_by_one=True).sessions is other.sessions
    with pytest.raises(InputError, match="second has no sessions: give session= of both"):
        match(c, ff.Comparisons(SCORES, None, *PEOPLE), one_by_one=False)
    swapped = ff.Comparisons(SCORES, None, *PEOPLE, session=[DAYS[k] for k in (1, 0, 2, 3)])
    with pytest.raises(InputError, match="the sessions of 1 comparisons differ"):
        match(c, swapped, one_by_one=False)


def test_what_is_wrong_with_sessions_is_said():
    with pytest.raises(InputError, match="session= needs the people"):
        ff.Comparisons(SCORES, [1, 0, 1, 0], session=DAYS)
    with pytest.raises(InputError, match="session is missing in row 2"):
        ff.Comparisons(SCORES, None, *PEOPLE, session=["mon", "tue", None, "wed"])
    with pytest.raises(InputError, match="session"):
        ff.Comparisons(SCORES, None, *PEOPLE, session=DAYS[:3])
    with pytest.raises(InputError, match="session must be"):
        ff.Comparisons(SCORES, None, *PEOPLE, session="mon")

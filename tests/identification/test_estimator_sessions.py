"""Sessions of searches: two-way variances of rates, how they are read, and what refuses them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import fastfair as ff
from fastfair.errors import DroppedWarning, InputError
from fastfair.identification.estimator import Estimator
from fastfair.identification.rates import RATES

AT = ff.at_threshold(1.5)


def searches_on(n_days: int | None, seed: int = 0, n: int = 60, own: bool = False) -> ff.Searches:
    """Draw three searches of each of so many people, two thirds of whom are enrolled."""
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(n), 3)
    enrolled = np.arange(0, n, 3).tolist() + np.arange(1, n, 3).tolist()
    day = rng.integers(0, n_days or 12, people.size)
    mates = people[:, None] == enrolled
    scores = rng.normal(size=mates.shape) - 2 + 4.5 * mates
    scores -= 0.8 * rng.normal(size=n_days or 12)[day][:, None] * mates
    told = people * 100 + day if own else day
    return ff.Searches.from_matrix(
        scores,
        people,
        enrolled,
        group=np.where(people % 2, "f", "m"),
        session=None if n_days is None else told,
    )


def two_way(s: ff.Searches, value: np.ndarray, rows: np.ndarray) -> tuple[float, float, float]:
    """Sum products of residuals of searches that share a person, a session, and both."""
    added = (value - value.mean()) / value.size
    person, session = s.subject[rows], s.session[rows]
    sums = np.zeros(3)
    for a, b in itertools.product(range(value.size), repeat=2):
        alike = person[a] == person[b], session[a] == session[b]
        sums += added[a] * added[b] * np.array([alike[0], alike[1], all(alike)])
    factors = [len(set(person)), len(set(session)), len({*zip(person, session, strict=True)})]
    people, sessions, cells = (part * k / (k - 1) for part, k in zip(sums, factors, strict=True))
    return people, sessions, cells


def test_variances_are_those_of_a_double_loop():
    s = searches_on(12)
    estimator = Estimator(s, None, "fixed", 0.95)
    errors = RATES["fnir"].errors(s, estimator.criterion_at(AT))
    people, sessions, cells = two_way(s, errors.value, np.flatnonzero(s.is_mated))
    influence = estimator.influence(errors)
    expected = people + max(sessions - cells, 0)
    assert influence.variance == pytest.approx(expected)
    assert influence.in_sessions == pytest.approx((12, people, sessions))
    assert influence.freedom <= 11


def test_intervals_are_wider_and_say_by_how_much():
    row, plain = (ff.identify(searches_on(n_days), AT).of("fnir") for n_days in (12, None))
    assert row.estimate == plain.estimate
    assert row.high - row.low > plain.high - plain.low
    assert "12 sessions: the standard error is" in row.note
    assert not plain.note


def test_own_sessions_change_nothing():
    row, plain = (ff.identify(searches_on(12, own=own), AT).of("fnir") for own in (True, False))
    untold = ff.identify(searches_on(None), AT).of("fnir")
    assert row.high - row.low == pytest.approx(untold.high - untold.low, rel=0.05)
    assert plain.high - plain.low > 1.05 * (untold.high - untold.low)


def test_few_sessions_are_flagged_or_have_no_interval():
    few = ff.identify(searches_on(6), AT)
    assert "narrow" in few.of("fnir").flags
    check = few.check("fnir <= 99 %")
    assert check.verdict == "undecided"
    fewest = ff.identify(searches_on(3), AT, measures=["max_min_ratio"])
    for row in fewest.rows:
        assert np.isnan([row.low, row.high]).all()
        assert "fewer than 4 sessions" in row.note
    assert fewest.check("fnir <= 99 %").verdict == "undecided"


def test_sessions_follow_searches():
    scores, who, enrolled = [[0.9, 0.2], [0.4, 0.3], [0.1, np.nan]], ["a", "e", "b"], ["a", "b"]
    policies = ff.Policies(failures="exclude")
    of = {"session": ["tue", "mon", "tue"], "policies": policies}
    with pytest.warns(DroppedWarning, match="1 of 3 searches"):
        s = ff.Searches.from_matrix(scores, who, enrolled, **of)
    assert s.sessions[s.session].tolist() == ["tue", "mon"]
    assert "2 sessions" in repr(s)
    rows = [0, 0, 1, 1], ["a", "a", "e", "e"], ["a", "b", "a", "b"], [0.9, 0.2, 0.4, 0.3]
    s = ff.Searches.from_scores(*rows, session=["tue", "tue", "mon", "mon"])
    assert s.sessions[s.session].tolist() == ["tue", "mon"]
    with pytest.raises(InputError, match="two labels of 'session'"):
        ff.Searches.from_scores(*rows, session=["tue", "mon", "mon", "mon"])
    vectors, people = [[1, 0], [0, 1], [2, 1], [1, 3], [-1, 1]], list("ababc")
    role = ["reference"] * 2 + ["probe"] * 3
    e = ff.Embeddings(vectors, people, role=role, session=["mon", "mon", "tue", "wed", "mon"])
    s = ff.Searches.from_embeddings(e)
    assert s.sessions[s.session].tolist() == ["tue", "wed", "mon"]


def test_sessions_are_read(tmp_path):
    log, table, gallery = (tmp_path / name for name in ("log.csv", "searches.csv", "who.csv"))
    log.write_text("search,candidate,score\np,ann,0.9\np,bob,0.4\nq,cid,0.3\n")
    table.write_text("search,probe,day\np,ann,mon\nq,eve,tue\nr,dan,mon\n")
    gallery.write_text("person\nann\nbob\ncid\n")
    layout = ff.SearchLayout(session="day")
    s = ff.read_searches(log, searches=table, enrolled=gallery, layout=layout)
    assert s.sessions[s.session].tolist() == ["mon", "tue", "mon"]
    with pytest.raises(InputError, match="no column 'week'"):
        ff.read_searches(
            log, searches=table, enrolled=gallery, layout=ff.SearchLayout(session="week")
        )
    whole = tmp_path / "whole.csv"
    whole.write_text("search,probe,day,candidate,score\np,ann,mon,ann,0.9\nq,eve,tue,ann,0.3\n")
    s = ff.read_searches(whole, enrolled=gallery, layout=layout)
    assert s.sessions[s.session].tolist() == ["mon", "tue"]
    wide = tmp_path / "wide.csv"
    wide.write_text("search,probe,day,ann,bob\np,ann,mon,0.9,0.1\nq,eve,tue,0.3,0.2\n")
    as_matrix = ff.SearchLayout(shape="matrix", session="day")
    s = ff.read_searches(wide, layout=as_matrix)
    assert s.sessions[s.session].tolist() == ["mon", "tue"]
    np.savez(tmp_path / "m.npz", scores=[[0.9, 0.1], [0.3, 0.2], [0.4, 0.5]])
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("person\nann\nbob\n")
    s = ff.read_searches(tmp_path / "m.npz", searches=table, enrolled=pairs, layout=layout)
    assert s.sessions[s.session].tolist() == ["mon", "tue", "mon"]


def test_more_people_are_needed_in_more_sessions():
    rng = np.random.default_rng(1)
    who, day = np.repeat(np.arange(30), 4), rng.integers(0, 12, 120)
    scores = rng.normal(size=(120, 20)) + 3 * (who[:, None] == np.arange(20))
    searches = ff.Searches.from_matrix(scores, who, np.arange(20), session=day)
    found = ff.identify(searches, ff.at_threshold(2.0), gallery="fixed")
    bound = 1.2 * found.of("fpir").estimate
    (row,) = found.check([f"fpir <= {bound}"]).rows
    assert row.verdict == "undecided"
    assert "times as many sessions who search" in row.reason


def test_what_sessions_do_is_said_of_each_rate():
    rng = np.random.default_rng(1)
    who, day = np.repeat(np.arange(30), 4), rng.integers(0, 12, 120)
    scores = rng.normal(size=(120, 20)) + 2 * (who[:, None] == np.arange(20))
    searches = ff.Searches.from_matrix(scores, who, np.arange(20), session=day)
    text = ff.identify(searches, ff.at_threshold(2.0), gallery="fixed").summary()
    for rate in ("FPIR", "FNIR"):
        assert f"Note: {rate} at threshold=2: 12 sessions: the standard error is" in text

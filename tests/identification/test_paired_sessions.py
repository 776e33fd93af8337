"""Differences of two systems' searches in sessions that people share."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

import fastfair as ff
from fastfair.errors import InputError
from fastfair.identification.estimator import Estimator
from fastfair.identification.paired import SystemPair
from fastfair.identification.rates import RATES

AT = ff.at_threshold(1.5)


def two_systems(
    seed: int = 0,
    n_days: int = 12,
    *,
    told: tuple[str, ...] = ("first", "second"),
    own: bool = False,
    worse: float = 0.0,
    days: tuple[float, float] = (0.8, 0.0),
    n_groups: int = 0,
) -> list[ff.Searches]:
    """Draw three searches by each of 60 people with both systems, on days that lower the scores of
    mates; the second system has its searches in another order.

    days: standard deviations between days of the first system and of both. told: whose sessions are
    given.
    """
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(60), 3)
    enrolled = np.arange(40)
    day = rng.integers(0, n_days, people.size)
    mates = people[:, None] == enrolled
    of_days = rng.normal(size=(2, n_days))[:, day, None] * mates
    scores = rng.normal(size=mates.shape) - 2 + 4.5 * mates - days[1] * of_days[1]
    session = people * 100 + day if own else day
    systems = []
    for name, lower in (("first", days[0] * of_days[0]), ("second", worse * mates)):
        order = rng.permutation(people.size) if name == "second" else np.arange(people.size)
        noise = 0.5 * rng.normal(size=scores.shape)
        systems.append(
            ff.Searches.from_matrix(
                (scores - lower + noise)[order],
                people[order],
                enrolled,
                group=np.array(["f", "m"])[people[order] % 2] if n_groups else None,
                session=session[order] if name in told else None,
            )
        )
    return systems


def sum_of_products(first: list, second: list, shared: tuple[int, ...]) -> float:
    """Sum products of what searches add over those that share a person (0), a session (1)."""
    return sum(
        a[2] * b[2]
        for a, b in itertools.product(first, second)
        if all(a[place] == b[place] for place in shared)
    )


@given(st.integers(0, 99), st.booleans(), st.sampled_from([4, 7, 15]))
def test_the_score_test_in_sessions_is_that_of_a_double_loop(seed, mated, n_days):
    systems = two_systems(seed, n_days)
    name = "fnir" if mated else "fpir"
    listed, residuals, rates = [], [], []
    for sign, s in zip((1, -1), systems, strict=True):
        estimator = Estimator(s, None, "fixed", 0.95)
        errors = RATES[name].errors(s, estimator.criterion_at(AT))
        rates.append(errors.value.mean())
        listed += [
            (sign, who, day, e)
            for who, day, e in zip(
                errors.subject.tolist(), errors.session.tolist(), errors.value.tolist(), strict=True
            )
        ]
        n = errors.value.size
    difference, mean = rates[0] - rates[1], sum(rates) / 2
    at_zero = [(who, day, sign * (e - mean) / n) for sign, who, day, e in listed]
    residuals = [(who, day, sign * (e - rates[sign < 0]) / n) for sign, who, day, e in listed]
    people = sum_of_products(at_zero, at_zero, (0,))
    n_sessions = len({day for _, day, _ in residuals})
    n_cells = len({(who, day) for who, day, _ in residuals})
    sessions = sum_of_products(residuals, residuals, (1,)) * n_sessions / (n_sessions - 1)
    cells = sum_of_products(residuals, residuals, (0, 1)) * n_cells / (n_cells - 1)
    more = max(sessions - cells, 0)
    added = np.bincount([who for who, _, _ in at_zero], [part for _, _, part in at_zero])
    share = np.bincount([who for _, who, _, _ in listed]) / len(listed)
    freedom = min(max((added**2).sum() ** 2 / (added**4).sum() - 1, 1), n_sessions - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastfair.identification.paired._MOST_SIGNS", -1)
        low, high, pvalue = SystemPair(*systems, None, "fixed").test(name, None, AT, 0.95)
    assert pvalue == pytest.approx(2 * stdtr(freedom, -abs(difference) / np.sqrt(people + more)))
    critical = stdtrit(freedom, 0.975)
    for end in (low, high):
        if abs(end) < 1:
            of_people = ((added - end * share) ** 2).sum()
            assert (difference - end) ** 2 == pytest.approx(critical**2 * (of_people + more))


def test_own_sessions_change_nothing_and_shared_ones_widen():
    for points in (AT, ff.at_fpir(0.1)):
        compare = partial(ff.compare_searches, at=points, gallery="fixed")
        own, untold, shared = (
            compare(*two_systems(**how)).of("fnir") for how in ({"own": True}, {"told": ()}, {})
        )
        assert (own.low, own.high, own.pvalue) == pytest.approx(
            (untold.low, untold.high, untold.pvalue)
        )
        assert shared.estimate == untold.estimate
        assert shared.low <= untold.low
        assert shared.high >= untold.high
        assert shared.pvalue >= untold.pvalue


def test_intervals_are_wider_where_days_matter():
    shared, untold = (
        ff.compare_searches(*two_systems(1, days=(1.5, 0), worse=0.5, told=names), AT).of("fnir")
        for names in (("first", "second"), ())
    )
    assert shared.estimate == untold.estimate
    assert shared.high - shared.low > 1.1 * (untold.high - untold.low)


def test_what_days_do_to_both_systems_cancels():
    both, first = (
        ff.compare_searches(*two_systems(days=days), AT).of("fnir") for days in ((0, 0.8), (0.8, 0))
    )
    assert both.high - both.low < 0.8 * (first.high - first.low)


def test_few_differing_people_and_none():
    systems = two_systems(days=(0.0, 0.0), n_days=4)
    few, untold = (
        ff.compare_searches(*pair, ff.at_threshold(1.0), gallery="fixed").of("fpir")
        for pair in (systems, two_systems(days=(0.0, 0.0), n_days=4, told=()))
    )
    assert few.pvalue >= untold.pvalue
    same = ff.compare_searches(systems[0], systems[0], AT, gallery="fixed").of("fnir")
    assert (same.estimate, same.pvalue) == (0, 1)
    assert same.high == -same.low == pytest.approx(1 - 0.025 ** (1 / 4), abs=0.02)


def test_few_sessions_are_flagged_or_withheld():
    few = ff.compare_searches(*two_systems(n_days=6), AT)
    assert "narrow" in few.of("fnir").flags
    assert "standard error" not in few.of("fnir").note
    for paired in (True, False):
        fewest = ff.compare_searches(*two_systems(n_days=3, n_groups=2), AT, paired=paired)
        assert all(np.isnan([row.low, row.high, row.pvalue]).all() for row in fewest.rows)
        assert all("fewer than 4 sessions" in row.note for row in fewest.rows)
        assert "fewer than 4 sessions" in fewest.summary()
        assert fewest.check("difference(fnir) <= 99 %").verdict == "undecided"


def test_unpaired_searches_have_the_limits_of_both():
    told, untold = (
        ff.compare_searches(*two_systems(days=(0.8, 0.8), told=names), AT, paired=False).of("fnir")
        for names in (("first", "second"), ())
    )
    assert told.estimate == untold.estimate
    assert told.high - told.low > 1.1 * (untold.high - untold.low)


def test_both_systems_need_the_same_sessions():
    for paired in (True, False):
        with pytest.raises(InputError, match="session= of both, or of neither"):
            ff.compare_searches(*two_systems(told=("second",)), AT, paired=paired)
    others = two_systems()[0], two_systems(n_days=11)[1]
    with pytest.raises(InputError, match="probe differs between the systems"):
        ff.compare_searches(*others, AT)

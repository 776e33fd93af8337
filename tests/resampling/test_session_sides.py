"""Variances of comparisons that share people and sessions, against every pair of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from fastfair.kernels import dyadic
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import resampling as slow
from oracles import sessions as oracle

import fastfair as ff
from fastfair._lib.workers import Workers
from fastfair.resampling.dependence import two_way_variance
from fastfair.resampling.engine import NO_METRICS, Resampler
from fastfair.resampling.session_sides import CELLS, OF_PEOPLE, OF_SESSIONS, PEOPLE
from fastfair.resampling.units import SessionUnits

KEY = np.array([1, 2], np.uint32)
THRESHOLD = 0.5


@st.composite
def rows_in_sessions(draw: st.DrawFn) -> list[tuple[int, int, int, int, int]]:
    """Draw comparisons: whether each is an error, both people, and both sessions."""
    person, session = st.integers(0, 4), st.integers(0, 3)
    one_column = draw(st.booleans())
    mated = st.tuples(st.integers(0, 1), person, session, session)
    other = st.tuples(st.integers(0, 1), person, person, session, session)
    rows = [(e, p, p, s, t) for e, p, s, t in draw(st.lists(mated, min_size=2, max_size=14))]
    nonmated = [row for row in draw(st.lists(other, min_size=2, max_size=14)) if row[1] != row[2]]
    rows = [*rows, *nonmated]
    return [(e, p, q, s, s if one_column else t) for e, p, q, s, t in rows]


def comparisons_of(rows: list[tuple[int, int, int, int, int]]) -> ff.Comparisons:
    error, reference, probe, first, second = map(np.array, zip(*rows, strict=True))
    scores = np.where(reference == probe, 1 - error, error).astype(float)
    return ff.Comparisons(
        scores, reference == probe, reference, probe, session=(first.tolist(), second.tolist())
    )


def attempts_of(
    rows: list[tuple[int, int, int, int, int]], *, mated: bool
) -> tuple[list[oracle.Attempt], list[int]]:
    """Return the comparisons of a class with their residuals, and whether each is an error."""
    some = [row for row in rows if (row[1] == row[2]) is mated]
    rate = sum(row[0] for row in some) / len(some)
    attempts = [oracle.Attempt(e - rate, (p, q), (s, t)) for e, p, q, s, t in some]
    return attempts, [row[0] for row in some]


def units_of(attempt: oracle.Attempt) -> list[tuple[object, object]]:
    """Return the two people, sessions and cells of a comparison."""
    return [attempt.persons, attempt.sessions, tuple(zip(*attempt[1:], strict=True))]


def slow_variance(attempts: list[oracle.Attempt], errors: list[int], kind: int, n: int) -> float:
    """Return n^2 times the variance where one kind of unit is drawn, with its finite-sample
    factors, of n units in all."""
    pairs = [units_of(attempt)[kind] for attempt in attempts]
    dyads = [
        (float(error), a, None if a == b else b)
        for error, (a, b) in zip(errors, pairs, strict=True)
    ]
    nodes = {node for pair in pairs for node in pair}
    strata = dict.fromkeys([*nodes, *(f"another {k}" for k in range(n - len(nodes)))], "all")
    variance = slow.dyadic_variance(dyads, strata, {"all": n}) * len(attempts) ** 2
    is_one_way = all(b is None for _, _, b in dyads)
    # one-way variances are those of the bootstrap there, which the estimates have times K / (K - 1)
    return variance * (n / (n - 1) if is_one_way and n > 1 else 1.0)


def slow_repeats(attempts: list[oracle.Attempt], errors: list[int], side: object) -> float:
    """Return what comparisons of the same two cells add to the variance of product weights."""
    rate = sum(errors) / len(errors)
    of_pairs = Counter()
    for attempt, error in zip(attempts, errors, strict=True):
        of_pairs[frozenset(units_of(attempt)[CELLS])] += error - rate
    in_two = sum(a.sessions[0] != a.sessions[1] for a in attempts) / len(attempts)
    return side._of_four_weights * in_two * sum(e**2 for e in of_pairs.values())


@given(rows_in_sessions(), st.booleans())
def test_variances_are_sums_over_pairs_up_to_their_factors(rows, mated):
    assume(any(p != q for _, p, q, _, _ in rows))
    comparisons = comparisons_of(rows)
    resampler = Resampler(comparisons, [ff.at_threshold(THRESHOLD)], metrics=NO_METRICS)
    lists = resampler.error_lists.of(mated)
    n_errors = lists.errors_at(resampler.thresholds)
    attempts, errors = attempts_of(rows, mated=mated)
    units = resampler.units
    assert isinstance(units, SessionUnits)
    parts = [
        side.variances(of_kind)[0][0, 0]
        for side, of_kind in zip(
            lists.source.sides,
            lists.source.errors_of_kinds(_errors(lists, n_errors)),
            strict=True,
        )
    ]
    for kind, part in enumerate(parts):
        n = units.kinds[kind].n_rows - 1
        expected = slow_variance(attempts, errors, kind, n)
        assert part[dyadic.ROBUST] == pytest.approx(expected, abs=1e-9)
    variances, _ = lists.variances(n_errors)
    robust = [part[dyadic.ROBUST] for part in parts] * lists.source.few_units[:, 0]
    assert variances[0, 0, dyadic.ROBUST] == pytest.approx(two_way_variance(*robust), abs=1e-12)
    assert variances[0, 0, dyadic.ROBUST] >= parts[PEOPLE][dyadic.ROBUST]
    products = [part[dyadic.PRODUCT] for part in parts]
    repeats = 0.0 if mated else slow_repeats(attempts, errors, lists.source)
    assert variances[0, 0, dyadic.PRODUCT] == pytest.approx(sum(products) + repeats, abs=1e-9)
    for asked in (lists, replace(lists)):  # from what was computed, and anew
        alone, _ = asked.variance(0, int(n_errors[0, 0]), from_the_end=False)
        assert np.array_equal(alone, variances[0, 0])
    of_kinds = variances[0, 0, [OF_PEOPLE, OF_SESSIONS]]
    assert of_kinds == pytest.approx(robust[:CELLS], abs=1e-12)
    if mated and all(s == t for _, p, q, s, t in rows if p == q):
        # each part is what every pair of comparisons adds up to, times K / (K - 1)
        shares = oracle.share_a_person, oracle.share_a_session, oracle.share_a_cell
        of_list = [len({units_of(a)[kind][0] for a in attempts}) for kind in range(3)]
        of_list[PEOPLE] = units.kinds[PEOPLE].n_rows - 1
        for kind, share in enumerate(shares):
            k = max(of_list[kind], 2)
            expected = k / (k - 1) * oracle.sum_over(attempts, share)
            assert robust[kind] == pytest.approx(expected, abs=1e-9)


def _errors(lists, n_errors):
    from fastfair.resampling.pair_source import Errors

    return Errors(lists.a, lists.b, lists.start, lists.start + n_errors)


@given(rows_in_sessions())
def test_a_comparison_weighs_as_its_people_and_sessions(rows):
    assume(any(p != q for _, p, q, _, _ in rows))
    _require_products(comparisons_of(rows))


def test_a_non_mated_comparison_of_one_person_weighs_as_others_do():
    kept = ff.Policies(label_conflicts="keep")
    people, sessions = ([*"aabaa"], [*"aabab"]), ([0, 0, 1, 1, 0], [0, 1, 1, 0, 1])
    comparisons = ff.Comparisons(
        np.arange(5.0), [1, 1, 0, 0, 0], *people, session=sessions, policies=kept
    )
    _require_products(comparisons)


def _require_products(comparisons):
    units = Resampler(comparisons, [ff.at_threshold(THRESHOLD)], metrics=NO_METRICS).units
    weights = units.new_weights()
    units.draw(0, KEY, weights)
    people, sessions = (
        {label: weights[row] for label, row in zip(labels.tolist(), of_rows, strict=True)}
        for labels, of_rows in (
            (comparisons.subjects, units.row),
            (comparisons.sessions, units._first_session + np.arange(comparisons.sessions.size)),
        )
    )
    for mated, side in ((True, comparisons.mated), (False, comparisons.nonmated)):
        cells = units.cells.of_side(side, mated)
        a, b = units.rows_of_part(side, mated, slice(None))
        back = units.cells_of_rows(a, b)
        assert [column.tolist() for column in back] == [column.tolist() for column in cells]
        for k in range(len(side)):
            expected = np.ones(64, np.int64)
            for person in {comparisons.subjects[c[k]] for c in side.compared()}:
                expected = expected * people[person]
            of_sessions = side.reference_session[k], side.probe_session[k]
            for session in {comparisons.sessions[code] for code in of_sessions}:
                expected = expected * sessions[session]
            weight = weights[a[k]].astype(np.int64) * weights[b[k]]
            assert np.array_equal(weight, expected)


def shared_days(
    n_people: int = 60,
    n_days: int = 30,
    *,
    two: bool = False,
    own: bool = False,
    with_groups: bool = True,
) -> ff.Comparisons:
    rng = np.random.default_rng(3)
    mated = np.repeat(np.arange(n_people), 8)
    first = rng.integers(0, n_people, 1500)
    second = (first + rng.integers(1, n_people, first.size)) % n_people
    reference, probe = np.append(mated, first), np.append(mated, second)
    day = rng.integers(0, n_days, probe.size)
    effect = rng.normal(size=n_days)[day] * (not own)
    is_mated = reference == probe
    scores = np.where(is_mated, 1.5, -1.0) + effect + rng.normal(size=day.size)
    session = probe * 3 + rng.integers(0, 3, probe.size) if own else day
    if two:
        session = (rng.integers(0, n_days, day.size), day)
    group = np.where(np.arange(n_people) % 2, "f", "m")
    groups = (group[reference], group[probe]) if with_groups else ()
    return ff.Comparisons(scores, is_mated, reference, probe, *groups, session=session)


@pytest.mark.jit
@pytest.mark.parametrize("two", [False, True])
def test_replicates_have_the_two_way_variance(two):
    comparisons = shared_days(two=two)
    for scheme in ("dyadic", "product"):
        resampler = Resampler(
            comparisons,
            [ff.at_threshold(0.0)],
            scheme=scheme,
            metrics=NO_METRICS,
            with_groups=False,
        )
        drawn = resampler.replicate(3200, KEY)
        for mated, rates in ((True, drawn.fnmr), (False, drawn.fmr)):
            lists = resampler.error_lists.of(mated)
            variances, _ = lists.variances(lists.errors_at(resampler.thresholds))
            column = dyadic.ROBUST if scheme == "dyadic" else dyadic.PRODUCT
            expected = variances[0, 0, column] / int(lists.sizes[0]) ** 2
            assert rates[0, 0].var() == pytest.approx(expected, rel=0.2 if two else 0.15)


@pytest.mark.jit
def test_replicates_do_not_depend_on_threads():
    comparisons = shared_days()
    drawn = [
        Resampler(comparisons, [ff.at_fnmr(0.1)], workers=Workers(n_threads)).replicate(
            128, KEY, Workers(n_threads)
        )
        for n_threads in (1, 3)
    ]
    for name in ("threshold", "fmr", "fnmr"):
        assert np.array_equal(*(getattr(of_threads, name) for of_threads in drawn))
    assert all(np.array_equal(drawn[0].metrics[m], drawn[1].metrics[m]) for m in drawn[0].metrics)


def test_sessions_of_a_persons_own_change_no_standard_error():
    comparisons = shared_days(own=True)
    without = comparisons._with_parts(
        sessions=None,
        mated=_without_sessions(comparisons.mated),
        nonmated=_without_sessions(comparisons.nonmated),
    )
    of_both = [
        ff.evaluate(data, ff.at_threshold(0.0), [], metrics=[], n_resamples=0)
        for data in (comparisons, without)
    ]
    for group in (None, "f", "m"):
        fnmr, fnmr_without = (e.quantity("fnmr", group) for e in of_both)
        assert fnmr.standard_error == pytest.approx(fnmr_without.standard_error, rel=1e-12)
        assert (fnmr.low, fnmr.high) == pytest.approx((fnmr_without.low, fnmr_without.high), 1e-12)
        (low, high), (own_low, own_high) = (e.interval("fmr", group) for e in reversed(of_both))
        assert own_high - own_low <= 1.05 * (high - low)


def test_replicates_of_a_persons_own_sessions_vary_no_more():
    rng = np.random.default_rng(3)
    first = rng.integers(0, 60, 900)
    second = (first + rng.integers(1, 60, 900)) % 60
    days = rng.integers(0, 8, (2, 900))
    scores = rng.normal(size=900) + rng.normal(size=60)[first]
    session = first * 8 + days[0], second * 8 + days[1]
    spread = []
    for of_data in (None, session):
        c = ff.Comparisons(scores, np.zeros(900), first, second, session=of_data)
        drawn = ff.evaluate(c, ff.at_threshold(0.5), [], metrics=[], n_resamples=2000, rng=1)
        spread.append(drawn.replicates("fmr").std())
    assert spread[1] == pytest.approx(spread[0], rel=0.08)


def _without_sessions(side):
    from dataclasses import replace

    return replace(side, reference_session=None, probe_session=None)


def test_costs_and_areas_have_two_way_variances_too():
    comparisons = shared_days()
    drawn = Resampler(comparisons, [], with_groups=False).replicate(320, KEY)
    without = comparisons._with_parts(
        sessions=None,
        mated=_without_sessions(comparisons.mated),
        nonmated=_without_sessions(comparisons.nonmated),
    )
    alone = Resampler(without, [], with_groups=False).replicate(320, KEY)
    for name in ("cllr", "min_cllr", "auc", "d_prime", "min_dcf", "eer"):
        spread, spread_alone = (of.metrics[name][0].std() for of in (drawn, alone))
        assert spread > 1.05 * spread_alone, name


@pytest.mark.parametrize("unit", ["comparison", "sample", "subject+sample"])
def test_other_units_are_refused(unit):
    with pytest.raises(ff.errors.InputError, match="draws no sessions"):
        ff.evaluate(shared_days(), ff.at_threshold(0.0), unit=unit, n_resamples=10)


def test_the_jackknife_is_refused():
    with pytest.raises(ff.errors.InputError, match="two kinds"):
        ff.evaluate(
            shared_days(),
            ff.at_threshold(0.0),
            [],
            metrics=[],
            n_resamples=10,
            settings=ff.EvaluationSettings(method="bca"),
        )

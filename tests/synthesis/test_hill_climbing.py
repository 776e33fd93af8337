"""Synthesis: hill climbing against the oracle, the rates of paper 1's tables, and systems put
together from sets."""

from __future__ import annotations

import numpy as np
import pytest
from fastfair.kernels import climb as kernel
from fastfair.kernels import philox
from helpers.each import each
from helpers.quiet import quietly
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import climb as slow

import fastfair as ff
from fastfair import measures
from fastfair._lib import seeds
from fastfair.data import score_keys
from fastfair.data.comparisons import keys_of
from fastfair.error_rates.operating_points import threshold_key
from fastfair.error_rates.score_metrics import nearest_equal_error
from fastfair.errors import TargetMissedWarning
from fastfair.synthesis.hill_climbing import KINDS

FACTORS = (1, 2, 3, 5, 10, 20, 50)  # of paper 1's table II
TABLE_II = [factor * 1e-3 for factor in FACTORS]
SMALL = {"overall_mated": 1000, "overall_nonmated": 10_000}
START, CHANGE = 5, 6  # kinds of draws


def first_accepted(c, key):
    """Return the lowest score that could be accepted, which a measure of other data is taken at."""
    return c.to_scale(float(score_keys.decode(np.array([key]))[0]))


def changes_of(n, draw, kind_of_draw, stream, key):
    """Numbers inside (-1, 1), four words of 64 replicates at a time."""
    words, found = np.empty((4, 64), np.uint64), []
    for first in range(0, n, 256):
        philox.fill(draw, stream, kind_of_draw, first // 4, key, words)
        found.append((words.reshape(-1).astype(float) + 0.5) / 2**31 - 1)
    return np.concatenate(found)[:n]


def slow_climb(n_mated, n_nonmated, kind, target, n_steps, step, rule, seed):
    """What the first of a seed's sets must be."""
    key, _ = seeds.stream(seed)
    stream = KINDS.index(kind)
    n_held, n = n_mated if kind == "fmr" else n_nonmated, n_mated + n_nonmated
    first = 0.25 * (1 + changes_of(n, 0, START, stream, key))
    changes = [changes_of(n, number, CHANGE, stream, key) for number in range(1, n_steps + 1)]
    return slow.climb(
        first[:n_held], 0.5 + first[n_held:], changes, target=target, step=step, rule=rule
    )


@each("rule", ["improving", "plateau"])
@each("kind", KINDS)
@each("step", [0.02, 0.05, 0.7])
def test_fixed_steps_are_those_of_the_oracle(step, kind, rule):
    options = {"step": step, "accept": rule, "n_steps": 25, "stop": False, "rng": 3}
    with quietly(TargetMissedWarning):
        made = ff.synthesis.synthesize_each(140, 160, kind, [0.05], **options)[0]
    climbed = slow_climb(140, 160, kind, 0.05, 25, step, rule, 3)
    mated, nonmated = slow.to_distances(climbed.held, climbed.free, kind)
    assert np.array_equal(made.distances[made.mated], mated)
    assert np.array_equal(made.distances[~made.mated], nonmated)
    assert made.history == pytest.approx(climbed.history, abs=1e-14)
    assert (made.n_accepted, made.n_steps) == (sum(climbed.accepted), 25)
    assert getattr(made, kind) == slow.rate(climbed.held, climbed.free, 0.95)


def test_those_steps_are_taken_and_left():
    improving, plateau = (
        slow_climb(140, 160, "fmr", 0.05, 25, 0.05, rule, 3).accepted
        for rule in ("improving", "plateau")
    )
    assert 0 < sum(improving) < sum(plateau) < 25


@each("n", [1, 63, 64, 65, 256, 300])
def test_a_step_changes_each_distance_as_the_oracle_does(n):
    key, _ = seeds.stream(0)
    rng = np.random.default_rng(n)
    scores, n_held, step = rng.random(n), n // 3, 0.8
    before, words = scores.copy(), np.empty((4, 64), np.uint64)
    kernel.move(7, n_held, step / 64, step, 9, key, words, scores)
    changes = changes_of(n, 7, CHANGE, 9, key)
    changes[:n_held] /= 64
    assert np.array_equal(
        scores, np.concatenate(slow.propose(before[:n_held], before[n_held:], changes, step))
    )
    assert scores.min() >= 0
    assert scores.max() <= 1
    # The same of a few of them, by position.
    some = np.flatnonzero(rng.random(n) < 0.4)
    some = some[some >= n_held]
    proposed, counters = np.empty(n), np.empty(64, np.int64)
    kernel._propose(7, step, 9, key, kernel.Near(some, before[some]), counters, words, proposed)
    assert np.array_equal(proposed[: some.size], scores[some])


@given(
    values=st.lists(
        st.sampled_from([0.0, 0.25, 0.5, 0.75]) | st.floats(0, 1), min_size=1, max_size=40
    ),
    data=st.data(),
)
def test_select_finds_the_value_of_a_rank(values, data):
    size = data.draw(st.integers(1, len(values)))
    rank = data.draw(st.integers(0, size - 1))
    left = np.array(values)
    assert kernel.select(left, size, rank) == np.partition(values[:size], rank)[rank]
    assert sorted(left[:size]) == sorted(values[:size])
    assert np.array_equal(left[size:], values[size:])


@given(
    sizes=st.tuples(st.integers(20, 120), st.integers(20, 120)),
    kind=st.sampled_from(KINDS),
    rule=st.sampled_from(["improving", "plateau"]),
    step=st.none() | st.floats(0.01, 0.5),
    seed=st.integers(0, 2**32),
    errors=st.integers(1, 10),
)
def test_the_rates_never_move_away(sizes, kind, rule, step, seed, errors):
    target = errors / sizes[KINDS.index(kind) - 1]
    with quietly(TargetMissedWarning):
        made = ff.synthesis.synthesize_each(
            *sizes, kind, [target], n_steps=20, step=step, accept=rule, rng=seed
        )[0]
    assert np.diff(made.history).max() <= 1e-12
    assert made.history.size == 21
    other, at = (made.tmr, made.at) if kind == "fmr" else (made.tnmr, made.at)
    assert made.history[-1] == pytest.approx(
        abs(getattr(made, kind) - target) + abs(other - at), abs=1e-12
    )
    assert made.history[0] == pytest.approx(
        slow_climb(*sizes, kind, target, 0, 0.1, rule, seed).history[0], abs=1e-12
    )
    classes = slow.to_classes(made.distances[made.mated], made.distances[~made.mated], kind)
    assert slow.rate(*classes, 0.95) == pytest.approx(getattr(made, kind), abs=1e-12)


def same(one, other):
    return np.array_equal(one.distances, other.distances) and np.array_equal(
        one.history, other.history
    )


@pytest.mark.jit
def test_threads_and_other_targets_change_no_set():
    one, two = (
        ff.synthesis.synthesize_each(500, 700, "fmr", [0.01, 0.02, 0.01, 0.1], rng=1, n_threads=n)
        for n in (1, 2)
    )
    fewer = ff.synthesis.synthesize_each(500, 700, "fmr", [0.01, 0.02], rng=1)
    assert all(map(same, one, two))
    assert all(map(same, one[:2], fewer))
    assert not same(one[0], one[2])
    assert same(ff.synthesize(500, 700, fmr=0.01, rng=1), one[0])
    assert not np.array_equal(ff.synthesize(500, 700, fmr=0.01, rng=2).distances, one[0].distances)


def asked_again(made):
    """The rate of made comparisons at their operating point, as any others' is found."""
    at = ff.at_fnmr(0.05) if made.kind == "fmr" else ff.at_fmr(0.05)
    return getattr(ff.rates(made.comparisons(), at), made.kind)


@pytest.mark.jit
@pytest.mark.parametrize("kind", KINDS)
def test_every_target_of_table_ii_is_reached(kind):
    for factor, made in zip(
        FACTORS, ff.synthesis.synthesize_each(3000, 3000, kind, TABLE_II, rng=0), strict=True
    ):
        assert getattr(made, kind) == asked_again(made) == 3 * factor / 3000
        assert (made.tmr if kind == "fmr" else made.tnmr) == 0.95
        at_its_threshold = ff.rates(made.comparisons(), ff.at_threshold(made.threshold))
        assert (at_its_threshold.fmr, at_its_threshold.fnmr) == (made.fmr, made.fnmr)
        assert (made.history[made.n_steps :] < 1e-12).all()
        assert 0 < made.n_accepted <= made.n_steps < 1000


@pytest.mark.jit
def test_either_rate_is_reached_where_two_are_as_near():
    made = [ff.synthesize(1000, 1000, fmr=0.0125, rng=seed) for seed in range(20)]
    assert {one.fmr for one in made} == {0.012, 0.013}
    assert max(one.n_steps for one in made) < 1000


def test_a_miss_is_named():
    with pytest.warns(
        TargetMissedWarning, match=r"1 of 1 targets of the FMR missed in 1 steps: 0.3 \(0 reached\)"
    ):
        made = ff.synthesize(100, 100, fmr=0.3, n_steps=1, step=1e-6, rng=0)
    assert (made.n_steps, made.n_accepted, made.fmr) == (1, 0, 0)


SETS = ff.synthesize, {"n_mated": 2000, "n_nonmated": 3000}
SYSTEM = ff.biased_system, {"ratios": "1:2"}


@each(
    ("make", "options", "said"),
    [
        (
            SETS,
            {"fmr": 1e-4},
            "non-mated comparisons is 0.3 of them: the nearest rate there can be is 0.000333333",
        ),
        (
            SETS,
            {"fnmr": 1e-4},
            "of 2,000 mated comparisons is 0.2 of them: the nearest rate there can be is 0.0005",
        ),
        (SETS, {"fmr": 0.9999}, "the nearest rate there can be is 0.999667"),
        (SETS, {"fmr": 0}, r"fmr must be .*fractions? in \(0, 1\), not 0"),
        (SETS, {"fmr": 1}, "for 1 % write 0.01"),
        (SETS, {"fnmr": 1.5}, "for 1.5 % write 0.015"),
        (SETS, {"fmr": 5}, "for 5 % write 0.05"),
        (SETS, {"fmr": float("nan")}, "fmr must be a finite number"),
        (SETS, {"fmr": 0.01, "tmr": 95}, "tmr must be .*fractions? .*for 95 % write 0.95"),
        (SETS, {"fnmr": 0.01, "tnmr": 0}, r"tnmr must be .*fractions? in \(0, 1\), not 0"),
        (SETS, {}, "give either fmr"),
        (SETS, {"fmr": 0.01, "fnmr": 0.01}, "give either fmr"),
        (SETS, {"fmr": 0.01, "n_mated": 0}, "n_mated must be a whole number of at least 1, not 0"),
        (
            SETS,
            {"fmr": 0.01, "n_nonmated": 0},
            "n_nonmated must be a whole number of at least 1, not 0",
        ),
        (SETS, {"fmr": 0.01, "n_mated": 10.5}, "n_mated must be a whole number"),
        (SETS, {"fmr": 0.01, "step": -0.1}, "step must be above 0, not -0.1"),
        (
            SETS,
            {"fmr": 0.01, "accept": "plateaus"},
            "accept must be one of .*did you mean 'plateau'",
        ),
        (SETS, {"fmr": 0.01, "n_steps": 0}, "n_steps must be a whole number of at least 1, not 0"),
        (SYSTEM, {"ratios": [1, 0]}, "ratios must be 2 to 100 numbers above 0"),
        (SYSTEM, {"ratios": [1, "a"]}, r"ratios\[1\] must be a finite number, not 'a'"),
        (SYSTEM, {"rate": 0}, "rate must be above 0"),
        (SYSTEM, {"rate": 1e-4}, "the nearest rate there can be is 0.000333333"),
        (SYSTEM, {"ratios": "1:1000"}, "for 1 % write 0.01"),
        (SYSTEM, {"kind": "fm"}, "kind must be one of"),
        (SYSTEM, {"overall_fmr": 1e-5, **SMALL}, "the nearest rate there can be is 0.0001"),
    ],
)
def test_what_cannot_be_made_is_said(make, options, said):
    make, given_otherwise = make
    refused(said, make, **given_otherwise | options)


def test_kinds_are_checked():
    refused(
        "kind must be one of 'fmr', 'fnmr'", ff.synthesis.synthesize_each, 100, 100, "eer", [0.1]
    )


def test_the_history_is_drawn():
    made = ff.synthesize(100, 100, fmr=0.1, rng=0)
    (line,) = made.plot(color="C3").get_lines()
    assert np.array_equal(line.get_ydata(), made.history[: made.n_steps + 1])
    assert line.get_color() == "C3"


@each(
    "ratios", ["1", "", "1:x", "1:0:2", "1:-1", "1:nan", "1:inf", "1::2", [3], ":".join("1" * 101)]
)
def test_malformed_ratios_are_named(ratios):
    refused(
        "ratios must be 2 to 100 numbers above 0 with colons between them", ff.biased_system, ratios
    )


@pytest.mark.jit
@pytest.mark.parametrize("kind", KINDS)
def test_groups_are_their_sets(kind):
    system = ff.biased_system(
        "3:1:1:5:3:1:1:1:1:1", kind=kind, n_mated=2000, n_nonmated=1000, **SMALL, rng=1
    )
    assert system.groups.groups[:4] == ("01 (x 3)", "02 (x 1)", "03 (x 1)", "04 (x 5)")
    assert system.groups.groups[-1] == "10 (x 1)"
    assert system.sets[0] is system.sets[4]
    assert system.sets[1] is system.sets[2]
    assert system.sets[0] is not system.sets[1]
    at = ff.at_fnmr(0.05) if kind == "fmr" else ff.at_fmr(0.05)
    for label, factor, made in zip(
        system.groups.groups, map(int, system.ratios.split(":")), system.sets, strict=True
    ):
        found = ff.rates(system.groups.within_group(label), at)
        assert (found.fmr, found.fnmr) == (made.fmr, made.fnmr)
        assert getattr(found, kind) == pytest.approx(factor * 1e-3, abs=1e-15)
        assert (found.fnmr if kind == "fmr" else found.fmr) == 0.05


@pytest.mark.jit
@pytest.mark.parametrize("kind", KINDS)
def test_measures_are_those_of_rates_by_hand(kind):
    system = ff.biased_system("1:1:3:5", kind=kind, **SMALL, rng=0)
    at = ff.at_fmr(0.02)

    def by_hand(threshold):
        accepted = [made.distances <= threshold for made in system.sets]
        fmr = [yes[~made.mated].mean() for yes, made in zip(accepted, system.sets, strict=True)]
        fnmr = [1 - yes[made.mated].mean() for yes, made in zip(accepted, system.sets, strict=True)]
        return np.array(fmr), np.array(fnmr)

    overall = ff.rates(system.overall, at)
    fmr, fnmr = by_hand(first_accepted(system.overall, threshold_key(system.overall, at)))
    of_groups = [made.comparisons() for made in system.sets]
    values = np.array([ff.eer(c).value for c in of_groups])
    mean = np.mean([first_accepted(c, nearest_equal_error(keys_of(c)).key) for c in of_groups])
    overall_eer = ff.eer(system.overall).value
    at_mean = ff.rates(system.overall, ff.at_threshold(mean))
    sed = measures.sed(*by_hand(mean), at_mean.fmr, at_mean.fnmr)
    expected = {
        "fdr": measures.fdr(fmr, fnmr, 0.3),
        "inequity_rate": measures.inequity_rate(fmr, fnmr, 0.3),
        "garbe": measures.garbe(fmr, fnmr, 0.3),
        "std(eer)": measures.std(values),
        "std(fmr)": measures.std(fmr),
        "mape(fmr)": measures.mape(fmr, overall.fmr),
        "group_to_average_ratio(fnmr)": measures.group_to_average_ratio(fnmr, overall.fnmr),
        "nrb(eer)": measures.nrb(values, overall_eer),
        "max_min_ratio(fnmr)": measures.max_min_ratio(fnmr),
        "sed": sed,
        "sed_mean": sed.mean(),
        "sed_std": sed.std(),
    }
    found = system.measures(at, alpha=0.3)
    for name, value in expected.items():
        rows = [row for row in found if row.name == name]
        assert [row.group for row in rows] == (
            [None] if np.ndim(value) == 0 else list(system.groups.groups)
        )
        assert [row.estimate for row in rows] == pytest.approx(np.atleast_1d(value), rel=1e-12)

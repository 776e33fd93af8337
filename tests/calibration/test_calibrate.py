"""Scores made log-likelihood ratios: the transforms, the folds, and who is trained on."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers.data_sets import columns
from helpers.quiet import quietly
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import calibration as slow
from oracles.strategies import TIED

import fastfair as ff
from fastfair.calibration.calibrate import ALL_FOLDS, fit_logistic, fit_pav, parts_of
from fastfair.errors import InputError, SharedSubjectsWarning

SCORES = st.lists(st.one_of(TIED, st.floats(-9, 9, width=32)), min_size=1, max_size=15)
PRIORS = st.sampled_from([0.5, 0.01, 0.9])


@pytest.fixture(scope="module")
def comparisons() -> ff.Comparisons:
    return ff.Comparisons(**columns())


def arrays(*lists):
    return [np.array(one, np.float64) for one in lists]


@given(SCORES, SCORES, PRIORS)
def test_no_line_costs_less_than_that_of_logistic_regression(mated, nonmated, p):
    if min(mated) >= max(nonmated) or max(mated) <= min(nonmated):
        return
    try:
        found = fit_logistic(*arrays(mated, nonmated), p)
    except InputError:  # mated comparisons score lower
        best = min(slow.logistic_cost(mated, nonmated, (0.01, b / 4), p) for b in range(-40, 41))
        assert (
            best
            >= min(slow.logistic_cost(mated, nonmated, (0.0, b / 4), p) for b in range(-40, 41))
            - 1e-9
        )
        return
    least = slow.logistic_cost(mated, nonmated, (found.slope, found.offset), p)
    for da, db in (
        (1e-3, 0),
        (-1e-3, 0),
        (0, 1e-3),
        (0, -1e-3),
        (1e-3, -1e-3),
        (0.3, 0.5),
        (-0.3, -0.5),
    ):
        assert (
            slow.logistic_cost(mated, nonmated, (found.slope + da, found.offset + db), p)
            >= least - 1e-10
        )


@pytest.mark.parametrize("p", [0.5, 0.02])
def test_the_line_is_scikit_learns(comparisons, p):
    from sklearn.linear_model import LogisticRegression

    mated, nonmated = comparisons.mated.similarities, comparisons.nonmated.similarities
    found = fit_logistic(mated, nonmated, p)
    flags = np.arange(mated.size + nonmated.size) < mated.size
    weights = np.where(flags, p / mated.size, (1 - p) / nonmated.size) * flags.size
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    model.fit(np.concatenate((mated, nonmated))[:, None], flags, weights)
    assert found.slope == pytest.approx(model.coef_[0, 0], rel=1e-5)
    assert found.offset == pytest.approx(model.intercept_[0] - np.log(p / (1 - p)), abs=1e-5)


@given(SCORES, SCORES)
def test_steps_are_those_of_pooling_adjacent_violators(mated, nonmated):
    found = fit_pav(*arrays(mated, nonmated))
    expected = slow.pav_ratios(mated, nonmated)
    assert found.ratios_of(np.array(list(expected))) == pytest.approx(
        list(expected.values()), abs=1e-12
    )
    beyond = found.ratios_of(np.array([-1e9, 1e9]))
    assert beyond.tolist() == [found.ratios[0], found.ratios[-1]]
    assert (np.diff(found.ratios) >= 0).all()
    assert (np.diff(found.similarities) > 0).all()


def test_steps_are_scikit_learns_isotonic_regression(comparisons):
    from sklearn.isotonic import IsotonicRegression

    mated, nonmated = comparisons.mated.similarities, comparisons.nonmated.similarities
    found = fit_pav(mated, nonmated)
    x = np.concatenate((mated, nonmated, [-99, -99, 99, 99]))
    y = np.concatenate((np.ones(mated.size), np.zeros(nonmated.size), [0, 1, 0, 1]))
    share = IsotonicRegression().fit(x, y).predict(mated)
    expected = np.log(share / (1 - share)) - np.log((mated.size + 2) / (nonmated.size + 2))
    assert found.ratios_of(mated) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("method", ["logistic", "pav"])
def test_ratios_come_from_other_people(comparisons, method):
    """Each comparison, with the transform of training on all comparisons without its subjects'
    folds."""
    found = ff.calibrate(comparisons, method, n_folds=4, rng=3)
    parts = list(parts_of(comparisons, 4, np.random.default_rng(3)))
    sides = comparisons.mated, comparisons.nonmated
    made = [
        dict(zip(side.rows.tolist(), side.similarities.tolist(), strict=True))
        for side in (found.comparisons.mated, found.comparisons.nonmated)
    ]
    seen = [0, 0]
    for _, tested, used in parts:
        who = [
            {*side.reference[mask].tolist(), *side.probe[mask].tolist()}
            for masks in (tested, used)
            for side, mask in zip(sides, masks, strict=True)
        ]
        assert not (who[0] | who[1]) & (who[2] | who[3])
        trained = [side.similarities[mask] for side, mask in zip(sides, used, strict=True)]
        transform = fit_logistic(*trained, 0.5) if method == "logistic" else fit_pav(*trained)
        for k, (side, mask) in enumerate(zip(sides, tested, strict=True)):
            seen[k] += int(mask.sum())
            expected = transform.ratios_of(side.similarities[mask])
            assert [made[k][row] for row in side.rows[mask].tolist()] == expected.tolist()
    assert seen == [len(side) for side in sides]


@given(st.integers(3, 6), st.integers(0, 99))
def test_folds_leave_out_just_the_folds_of_both_subjects(n_folds, seed):
    c = ff.Comparisons(**columns(n_subjects=20, n=300))
    fold_of: dict[int, int] = {}
    parts = list(parts_of(c, n_folds, np.random.default_rng(seed)))
    for name, masks, _ in parts:
        folds = {int(one) for one in name.split(" and ")}
        if len(folds) == 1:
            fold_of |= dict.fromkeys(c.mated.reference[masks[0]].tolist(), min(folds))
    side = c.nonmated
    trials = [(0.0, False, str(a), str(b)) for a, b in zip(side.reference, side.probe, strict=True)]
    of_names = {str(subject): fold for subject, fold in fold_of.items()}
    if len(of_names) < 20:
        return
    for _, masks, used in parts:
        for tested in np.flatnonzero(masks[1])[:3]:
            expected = [slow.may_train(trial, trials[tested], of_names) for trial in trials]
            assert used[1].tolist() == expected
    sizes = np.bincount(list(fold_of.values()))[1:]
    assert sizes.max() - sizes.min() <= 3  # one for each of the three groups


def test_a_seed_makes_the_folds(comparisons):
    one, same, other = (ff.calibrate(comparisons, rng=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.comparisons.mated.keys, same.comparisons.mated.keys)
    assert not np.array_equal(one.comparisons.mated.keys, other.comparisons.mated.keys)
    assert one.transform == other.transform  # trained on all


def test_rates_by_group_stay_with_their_comparisons(comparisons):
    found = quietly()(ff.calibrate(comparisons, rng=0).apply)(comparisons)
    at = ff.at_fmr(0.01)
    before, after = ff.rates(comparisons, at), ff.rates(found, at)
    assert before.group_fnmr.tolist() == after.group_fnmr.tolist()
    assert before.group_fmr.tolist() == after.group_fmr.tolist()


def test_distances_become_ratios():
    given = columns()
    near = ff.Comparisons(**given | {"scores": -given["scores"]}, score_kind="distance")
    one, other = ff.calibrate(near, rng=0), ff.calibrate(ff.Comparisons(**given), rng=0)
    assert one.comparisons.mated.similarities == pytest.approx(
        other.comparisons.mated.similarities, abs=1e-9
    )
    refused("training is on scores of the kind distance", one.apply, ff.Comparisons(**given))
    refused(
        "training is on scores of the kind distance",
        ff.calibrate,
        ff.Comparisons(**given),
        development=near,
    )
    assert one.plot().get_xlabel() == "Distance"


def test_development_data_train(comparisons):
    given = columns(seed=5)
    other = ff.Comparisons(**given | {side: given[side] + 1000 for side in ("reference", "probe")})
    found = ff.calibrate(comparisons, development=other)
    assert [one.folds for one in found.transforms] == [ALL_FOLDS]
    transform = fit_logistic(other.mated.similarities, other.nonmated.similarities, 0.5)
    assert found.transform == transform
    assert (
        found.comparisons.mated.similarities.tolist()
        == transform.ratios_of(comparisons.mated.similarities).tolist()
    )
    assert "Trained on Comparisons(" in found.summary()
    assert "both" not in found.summary()


def test_training_on_the_same_people_is_told(comparisons):
    given = columns()
    renamed = ff.Comparisons(
        **given | {side: given[side] + 1000 for side in ("reference", "probe")}
    )
    unnamed = ff.Comparisons(given["scores"], given["mated"])
    same_scores, same_people = "the very same scores", "60 of 60 subjects are in both data sets"
    others = ff.Comparisons(**columns(seed=5))
    for development, says in (
        (comparisons, same_scores),
        (renamed, same_scores),
        (unnamed, same_scores),
        (others, same_people),
    ):
        with pytest.warns(SharedSubjectsWarning, match=says):
            found = ff.calibrate(comparisons, development=development)
        assert says in found.summary()
        assert says in found.to_json()
        with pytest.warns(SharedSubjectsWarning, match=says):
            found.apply(comparisons)
        with pytest.warns(SharedSubjectsWarning, match=says):
            ff.thresholds.expected_performance_curve(comparisons, development, 0.5)


def test_groups_have_transforms_of_their_own():
    given = columns()
    moved = given["scores"] + 3.0 * (given["reference_group"] == "f") * (
        given["probe_group"] == "f"
    )
    c = ff.Comparisons(**given | {"scores": moved})
    alike, own = (ff.calibrate(c, group_wise=wise, rng=0) for wise in (False, True))
    assert [one.group for one in own.transforms[:4]] == [None, "f", "m", "x"]
    costs = [ff.cllr(found.comparisons.within_group("f")) for found in (alike, own)]
    assert costs[0] > 1.2 * costs[1]
    # Between groups, the transform of all.
    by_group = c.nonmated_by_group
    apart = by_group.reference_group != by_group.probe_group
    applied = quietly()(own.apply)(c).nonmated.similarities
    assert applied.size == apart.size
    expected = own.transform.ratios_of(c.nonmated.similarities[apart])
    assert set(expected.tolist()) <= set(applied.tolist())
    of_f = (given["reference_group"] == "f") & (given["probe_group"] == "f")
    train = ff.Comparisons(**{name: values[of_f] for name, values in given.items()})
    refused(
        "no transform of group 'm'", quietly()(ff.calibrate), c, development=train, group_wise=True
    )


def test_what_cannot_be_calibrated_says_why(comparisons):
    given = columns()
    plain = ff.Comparisons(given["scores"], given["mated"])
    refused("folds are of subjects", ff.calibrate, plain)
    for n_folds in (0, 2):
        refused("n_folds must be at least", ff.calibrate, comparisons, n_folds=n_folds)
    refused("more than there are subjects", ff.calibrate, comparisons, n_folds=61)
    apart, reversed_ = (
        ff.Comparisons([2.0, 3.0, 0.0, 1.0], [1, 1, 0, 0]),
        ff.Comparisons(-given["scores"], given["mated"]),
    )
    with pytest.raises(InputError, match="separates the mated"):
        quietly()(ff.calibrate)(apart, development=apart)
    refused("do not score higher", quietly()(ff.calibrate), reversed_, development=reversed_)
    few = ff.Comparisons([2.0, 1.0, 0.5], [1, 1, 0], list("abc"), list("abd"))
    refused("non-mated comparisons outside folds", ff.calibrate, few, "pav", n_folds=3, rng=0)
    refused("method", ff.calibrate, comparisons, method="platt")
    refused("p_target", ff.calibrate, comparisons, p_target=1.0)


def test_tables_and_json_hold_the_transforms(comparisons):
    line, steps = ff.calibrate(comparisons, rng=0), ff.calibrate(comparisons, "pav", rng=0)
    frame = line.to_frame("polars")
    assert frame["slope"][0] == line.transform.slope
    assert frame["folds"].to_list()[:2] == ["all", "1"]
    assert "logistic regression at p_target=0.5" in line.summary()
    written = json.loads(steps.to_json())
    assert written["transforms"][0]["transform"]["ratios"] == steps.transform.ratios.tolist()
    assert "pooling adjacent violators" in steps.summary()
    x, y = steps.plot().lines[0].get_data()
    assert y == pytest.approx(steps.transform.ratios_of(x))

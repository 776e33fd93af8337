"""`shrunken_rates`: the posterior of the oracle, and what it does to small groups."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from oracles.shrinkage import shrink

import fastfair as ff
from fastfair.errors import EmptyGroupWarning
from fastfair.evaluation.result import Evaluation
from fastfair.small_groups import learn

AT = ff.at_threshold(0.5)
NAMES = np.array(list("abcdefghij"))


def evaluation(errors: list[int], sizes: list[int], **options) -> Evaluation:
    """Evaluate groups with one mated comparison for each subject, of which so many are errors."""
    group = np.repeat(NAMES[: len(sizes)], sizes)
    failed = np.concatenate([np.arange(size) < x for x, size in zip(errors, sizes, strict=True)])
    subject = np.arange(group.size)
    start = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    neighbour = start + (subject - start + 1) % np.repeat(sizes, sizes)
    scores = np.concatenate((np.where(failed, 0.2, 0.8), np.where(subject % 4 == 0, 0.7, 0.1)))
    own = np.tile(group, 2)
    c = ff.Comparisons(
        scores,
        np.repeat([1, 0], group.size),
        np.tile(subject, 2),
        np.concatenate((subject, neighbour)),
        own,
        own,
        reference_sample=np.arange(scores.size),
        probe_sample=np.arange(scores.size) + scores.size,
    )
    return ff.evaluate(c, AT, [], metrics=[], rng=0, **({"n_resamples": 300} | options))


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(9, 40)), min_size=2, max_size=3),
    st.sampled_from([0.8, 0.95]),
)
def test_the_posterior_is_that_of_the_oracle(groups, level):
    errors, n = (list(values) for values in zip(*groups, strict=True))
    want = np.array(shrink(errors, n, level)).T
    x, m = np.array(errors, float), np.array(n, float)
    laws = learn(x, m)
    ends = [laws.quantiles(x, m, share) for share in ((1 - level) / 2, (1 + level) / 2)]
    assert np.array([laws.rates(x, m), *ends, laws.shares(m)]) == pytest.approx(
        want, rel=1e-5, abs=1e-8
    )


def test_small_groups_borrow_more_and_all_are_drawn_to_the_others():
    found = ff.shrunken_rates(evaluation([12, 15, 4, 0], [100, 100, 10, 10]))
    assert found.groups == ("a", "b", "c", "d")
    assert found.n_errors.tolist() == [12, 15, 4, 0]
    assert found.borrowed[2] > found.borrowed[0]
    assert found.raw[3] == 0 < found.low[3] < found.shrunken[3] < found.shrunken[2] < found.raw[2]
    assert (found.high - found.low < found.raw_high - found.raw_low).all()
    assert ((found.low < found.shrunken) & (found.shrunken < found.high)).all()


def test_groups_that_surely_differ_keep_their_rates():
    alike, apart = (
        ff.shrunken_rates(evaluation(x, [300] * 4)) for x in ([30, 32, 28, 31], [15, 30, 120, 250])
    )
    assert alike.between < 0.03 < 0.2 < apart.between
    assert apart.borrowed.max() < 0.05 < 0.5 < alike.borrowed.min()
    assert apart.shrunken == pytest.approx(apart.raw, rel=0.1)


def test_false_match_rates_are_shrunken_too():
    ev = evaluation([3, 4, 5], [40, 60, 80])
    found = ff.shrunken_rates(ev, "fmr", AT)
    assert found.raw == pytest.approx([0.25] * 3)
    assert [found.raw_low[k] for k in range(3)] == [ev.interval("fmr", g)[0] for g in "abc"]


def test_the_result_is_told_drawn_and_written(tmp_path):
    found = ff.shrunken_rates(evaluation([12, 15, 4], [100, 100, 10]))
    assert "c borrows most" in found.summary()
    assert "do not replace the raw rates" in found.summary()
    assert found.to_frame("polars").columns[:3] == ["group", "n_comparisons", "n_errors"]
    content = json.loads(found.to_json(tmp_path / "found.json"))
    assert content["shrunken"][2] == pytest.approx(found.shrunken[2])
    assert json.loads((tmp_path / "found.json").read_text()) == content
    ax = found.plot()
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "False non-match rate"
    plt.close("all")


def test_what_cannot_be_shrunken_is_refused():
    ev = evaluation([3, 4, 5], [40, 60, 80])
    refused("2 groups with an FNMR: at least 3", ff.shrunken_rates, evaluation([3, 4], [40, 60]))
    refused("no group has errors", ff.shrunken_rates, evaluation([0, 0, 0], [40, 60, 80]))
    refused(
        "no group has anything but errors",
        ff.shrunken_rates,
        evaluation([40, 60, 80], [40, 60, 80]),
    )
    refused("no replicates", ff.shrunken_rates, evaluation([3, 4, 5], [40, 60, 80], n_resamples=0))
    for other in (ev.with_intervals(alternative="less"), ev.with_intervals(simultaneous=True)):
        refused("one side, or simultaneous", ff.shrunken_rates, other)
    refused("rate must be", ff.shrunken_rates, ev, "eer")
    refused(
        "draws samples",
        ff.shrunken_rates,
        evaluation([3, 4, 5], [40, 60, 80], n_resamples=20, unit="sample"),
    )


def test_a_group_of_one_subject_is_shrunk_by_the_correlation_of_all():
    group = np.repeat(list("abcd"), [20, 20, 20, 1])
    subject = np.append(
        np.arange(group.size), group.size - 1
    )  # the last has two attempts, of which one fails
    group = np.append(group, "d")
    scores = np.where(np.arange(group.size) % 7 == 0, 0.2, 0.8)
    scores[-2:] = 0.2, 0.8
    c = ff.Comparisons(
        np.append(scores, 0.1),
        np.append(np.ones(group.size), 0),
        np.append(subject, 0),
        np.append(subject, 1),
        np.append(group, "a"),
        np.append(group, "a"),
    )
    with pytest.warns(EmptyGroupWarning):
        ev = ff.evaluate(
            c,
            AT,
            [],
            metrics=[],
            n_resamples=100,
            rng=0,
            settings=ff.EvaluationSettings(incomplete_groups="nan"),
        )
    found = ff.shrunken_rates(ev)
    assert 1 <= found.n_effective[3] <= 2
    assert math.isnan(found.raw_low[3])
    assert 0 < found.low[3] < found.shrunken[3] < found.raw[3]

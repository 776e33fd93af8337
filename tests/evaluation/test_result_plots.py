"""The plots of evaluations: nothing is left out in silence, whatever the number of groups and their
labels."""

from __future__ import annotations

import pickle
from functools import cache

import matplotlib as mpl
import numpy as np
import pytest
from helpers.data_sets import columns
from helpers.refusals import refused

import fastfair as ff
from fastfair.evaluation.result import Evaluation

mpl.use("Agg")

POINTS = [ff.at_fmr(0.01), ff.at_fmr(0.05)]
LONG = (
    " & a label that is longer than a row of a plot can be, as intersections of five attributes"
    " are $x$"
)


@cache
def evaluation(n_groups: int, n_resamples: int = 40) -> Evaluation:
    """Evaluate groups with long labels, the last of which has no errors."""
    rng = np.random.default_rng(n_groups)
    n, each = 400 * n_groups, 6
    reference = rng.integers(0, n_groups * each, n)
    mated = rng.random(n) < 0.5
    probe = np.where(
        mated, reference, (reference + rng.integers(1, n_groups * each, n)) % (n_groups * each)
    )
    within = rng.random(n) < 0.5
    probe = np.where(~mated & within, reference // each * each + (reference + 1) % each, probe)
    group = np.array([f"_group {k}{LONG}" for k in range(n_groups)])
    scores = rng.normal(0, 1, n) + 2.5 * mated
    last = (reference // each == n_groups - 1) & (probe // each == n_groups - 1)
    scores[last] = np.where(mated[last], 9, -9)
    c = ff.Comparisons(
        scores, mated, reference, probe, group[reference // each], group[probe // each]
    )
    return ff.evaluate(c, POINTS, rng=0, n_resamples=n_resamples)


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def rendered(ax) -> None:
    ax.get_figure().canvas.draw()


@pytest.mark.parametrize("n_groups", [2, 18, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rate", ["fmr", "fnmr"])
def test_a_forest_has_a_row_for_all_and_each_group(n_groups, rate):
    ev = evaluation(n_groups)
    ax = ev.plot(rate=rate, at=POINTS[1])
    rendered(ax)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(labels)) == n_groups + 1
    assert labels[0] == "all"
    assert all(label.startswith(" _group") and r"\$x\$" in label for label in labels[1:])
    marks = [line for line in ax.lines if line.get_marker() in ("o", "<")]
    assert [mark.get_ydata()[0] for mark in marks] == list(range(n_groups + 1))
    estimates = np.array([ev.value(rate, group, POINTS[1]) for group in (None, *ev.groups)])
    drawn = np.array([mark.get_xdata()[0] for mark in marks])
    known = estimates > 0
    assert np.allclose(drawn[known], estimates[known])
    assert not known[1 + ev.groups.index(f"_group {n_groups - 1}{LONG}")]
    few = [mark.get_markerfacecolor() == "none" for mark in marks]
    behind = [ev.quantity(rate, group, POINTS[1]).n_errors for group in (None, *ev.groups)]
    assert few == [n < 30 for n in behind]
    assert any(text.endswith("from fewer than 30 errors") for text in legend(ax))
    assert any("no errors" in text for text in legend(ax)) == (rate == "fmr")


@pytest.mark.parametrize("n_groups", [2, 18, pytest.param(40, marks=pytest.mark.slow)])
def test_every_group_is_a_curve_that_is_named_or_counted(n_groups):
    ev = evaluation(n_groups)
    ax = ev.plot_det()
    rendered(ax)
    named = [text for text in legend(ax) if text.startswith(" _group")]
    others = [text for text in legend(ax) if text.endswith("other groups")]
    if n_groups == 2:
        assert (len(named), others) == (2, [])
        assert any("no curve: no errors" in text for text in named)
    else:
        assert (len(named), others) == (6, [f"{n_groups - 6} other groups"])
        rates = sorted(ev.rates[0].group_fnmr)
        assert f"FNMR {100 * rates[-1]:.3g} %" in named[0]
    assert legend(ax)[0] == "all"


@pytest.mark.parametrize("kind", ["similarity", "distance"])
def test_histograms_hold_every_score_and_show_thresholds(kind):
    rng = np.random.default_rng(0)
    mated = np.arange(4000) % 2 == 0
    scores = rng.normal(size=4000) + 3 * mated
    scores[:2] = 80, -80  # outside all bins
    c = ff.Comparisons(scores if kind == "similarity" else -scores, mated, score_kind=kind)
    ev = ff.evaluate(c, POINTS, n_resamples=0)
    ax = ev.plot_scores()
    rendered(ax)
    for step, side in zip(ax.patches[::2], (c.mated, c.nonmated), strict=True):
        heights, edges = step.get_data()[:2]
        assert np.isclose((heights * np.diff(edges)).sum(), 1)
        middle = np.average((edges[1:] + edges[:-1]) / 2, weights=heights)
        assert np.isclose(
            middle, np.median(side.similarities) * (1 if kind == "similarity" else -1), atol=0.1
        )
    drawn = [line.get_xdata()[0] for line in ax.lines]
    assert drawn == [rates.threshold for rates in ev.rates]
    assert legend(ax) == [
        "mated (2,000)",
        "non-mated (2,000)",
        *(f"threshold at {point}" for point in POINTS),
    ]


def test_plots_say_what_they_lack():
    ev = evaluation(2)
    plain = ff.evaluate(ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0]), n_resamples=0, at=[])
    bare = pickle.loads(pickle.dumps(plain))
    object.__setattr__(bare, "comparisons", None)
    for draw, message in (
        (ev.plot, "at FMR=0.01, FMR=0.05: choose one with at="),
        (lambda: ev.plot(at=ff.at_eer()), "there is no fnmr at EER"),
        (lambda: ev.plot(rate="eer", at=POINTS[0]), "rate must be one of 'fmr', 'fnmr'"),
        (lambda: ev.plot_det(groups="nobody"), "group must be one of"),
        (plain.plot, "there is no quantity 'fnmr'"),
        (bare.plot_det, "this evaluation has no comparisons"),
    ):
        refused(message, draw)


def test_plots_outlive_pickling_and_other_intervals():
    ev = pickle.loads(pickle.dumps(evaluation(2))).with_intervals(0.9, simultaneous=True)
    assert "estimate and 90 % interval, for all groups together" in legend(ev.plot(at=POINTS[0]))
    assert ev.plot_det(color="red").lines[-2].get_marker() == "o"


def test_two_systems_are_drawn_with_their_differences():
    given = columns(0, 60, 3000)
    bad, good = (
        ff.Comparisons(**given | {"scores": given["scores"] + k * given["mated"]}) for k in (-1, 2)
    )
    found = ff.compare(bad, good, POINTS[1], rng=0, n_resamples=200)
    assert legend(found.plot_det()) == ["first", "second"]
    ax = found.plot_differences()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["all", "f", "m", "x"]
    marks = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "D"]
    assert np.allclose(
        marks, [found.contrast("fnmr", group).difference for group in (None, *"fmx")]
    )
    assert [*found._figures()] == ["det", "fnmr_at_fmr_0.05", "fmr_at_fmr_0.05"]
    ungrouped = ff.Comparisons(*(given[name] for name in ("scores", "mated", "reference", "probe")))
    alone = ff.compare(ungrouped, ungrouped, POINTS[1], rng=0, n_resamples=20)
    refused(
        r"no difference in FMR at .*, which holds this rate", alone.plot_differences, rate="fmr"
    )

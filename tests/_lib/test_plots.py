"""Plots of results with long labels, and with many groups: nothing is cut off."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

import fastfair as ff
from fastfair._lib import plots

SEX, AGE = "sex of the person as recorded", "age of the person at enrolment"
LONG = (
    "a very long label of a group, which nobody would want but some data sets have",
    "people of the second group with $dollars$ and <html> & more words than needed",
)
AT = ff.at_fmr(0.1)


def comparisons(n_groups: int) -> ff.Comparisons:
    rng = np.random.default_rng(0)
    labels = np.array([*LONG, *(f"group {k}" for k in range(2, n_groups))], dtype=object)
    age = np.array(["old people over sixty-five years of age", "young"], dtype=object)
    n, size = 400 * n_groups, 12 * n_groups
    reference, mated = rng.integers(0, size, n), rng.random(n) < 0.5
    probe = np.where(mated, reference, (reference + rng.integers(1, size, n)) % size)
    sides = [
        {SEX: labels[who % n_groups], AGE: age[who // n_groups % 2]} for who in (reference, probe)
    ]
    scores = rng.normal(size=n) + 2 * mated
    scores[mated & (reference % n_groups == n_groups - 1)] = 5  # a group without false non-matches
    return ff.Comparisons(scores, mated, reference, probe, *sides)


def quality(c: ff.Comparisons) -> np.ndarray:
    return np.arange(float(len(c.mated) + len(c.nonmated))) % 97


def calibration(c: ff.Comparisons) -> object:
    return ff.evaluate_calibration(ff.calibrate(c, "logistic", rng=0).comparisons, **FEW)


def searches(c: ff.Comparisons) -> ff.Searches:
    people = np.arange(4 * len(c.groups))
    scores = np.random.default_rng(0).normal(size=(people.size, people.size // 2))
    labels = np.array(c.groups, object)[people % len(c.groups)]
    return ff.Searches.from_matrix(scores, people, people[::2], group=labels)


def systems(one: ff.Comparisons) -> list[ff.Comparisons]:
    """Return up to twelve systems, but few of many groups, whose pairs would take a minute."""
    return [one] * (min(len(one.groups), 12) if len(one.groups) < 40 else 3)


FEW = {"n_resamples": 99, "rng": 0}
PLOTS = {  # of comparisons with two attributes, and of one of these
    "effects": lambda c, one: ff.error_model(c, [SEX, AGE], AT).plot(),
    "strata": lambda c, one: ff.stratified_rates(c, SEX, AGE, AT).plot(),
    "claim of an FMR": lambda c, one: ff.claim(
        one, "fmr <= 0.012345", ff.at_threshold(1.5), **FEW
    ).plot(),
    "claim of an FNMR": lambda c, one: ff.claim(one, "fnmr <= 0.12345", AT, **FEW).plot(),
    "check": lambda c, one: ff.check(one, ["fnmr[*] <= 0.12345", "garbe <= 0.3"], AT, **FEW).plot(),
    "test": lambda c, one: ff.fnmr_test(one, AT, **FEW).plot(),
    "margin": lambda c, one: ff.margin_of_error(one, AT, **FEW).plot(),
    "shrunken": lambda c, one: ff.shrunken_rates(
        ff.evaluate(one, AT, (), metrics=(), **FEW)
    ).plot(),
    "systems": lambda c, one: ff.compare(one, one, AT, (), metrics=(), **FEW).plot_differences(),
    "ranks": lambda c, one: ff.compare(
        {"a" * 70: one, "b": one}, None, AT, (), metrics=(), **FEW
    ).plot(show="ranks"),
    "ranked rates": lambda c, one: ff.compare(systems(one), None, AT, (), metrics=(), **FEW).plot(),
    "measure over FMR": lambda c, one: ff.fairness_band(
        one,
        "group_to_min_difference",
        "fnmr",
        [0.05, 0.1, 0.3],
        settings=ff.BandSettings(method="percentile"),
        n_resamples=20,
        rng=0,
    ).plot(),
    "discarding": lambda c, one: ff.discard_curve(one, AT, quality(one)).plot(),
    "discarded": lambda c, one: ff.discard_curve(one, AT, quality(one)).plot(show="discarded"),
    "identified": lambda c, one: ff.identify(searches(one), ff.at_threshold(1.0)).plot(),
    "identified over ranks": lambda c, one: ff.identify(
        searches(one), [ff.at_rank(1), ff.at_rank(4)]
    ).plot(),
    "applied": lambda c, one: ff.apply_threshold(one, AT, one).plot(),
    "expected": lambda c, one: ff.thresholds.expected_performance_curve(
        one, one, [0.2, 0.5]
    ).plot(),
    "rates": lambda c, one: ff.evaluate(one, AT, (), metrics=(), **FEW).plot(rate="fmr"),
    "DET curves": lambda c, one: ff.evaluate(one, AT, (), metrics=(), **FEW).plot_det(),
    "scores": lambda c, one: ff.evaluate(one, AT, (), metrics=(), **FEW).plot_scores(),
    "band": lambda c, one: ff.roc_band(one, [0.05, 0.1, 0.3], **FEW).plot(),
    "calibration": lambda c, one: calibration(one).plot(),
    "errors over priors": lambda c, one: calibration(one).plot_bayes_error(),
    "transforms": lambda c, one: ff.calibrate(one, "logistic", rng=0).plot(),
}


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize(
    "n_groups", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (18, 40))]
)
@pytest.mark.parametrize("name", PLOTS)
def test_nothing_is_cut(name, n_groups):
    c = comparisons(max(n_groups, 3) if name == "shrunken" else n_groups)
    found = PLOTS[name](c, c.by(SEX))
    figure = found if hasattr(found, "savefig") else found.get_figure(root=True)
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 > -0.02
    assert box.y0 > -0.02
    assert box.x1 < width + 0.02
    assert box.y1 < height + 0.02
    renderer = figure.canvas.get_renderer()
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend is not None and ax.get_xlabel():
            label = ax.xaxis.label.get_window_extent(renderer)
            assert not label.overlaps(legend.get_window_extent(renderer))
    plt.close(figure)


def test_groups_differ_in_line_and_marker_besides_their_colour():
    lines, marks = ([style(k) for k in range(12)] for style in (plots.line_style, plots.mark_style))
    for styles, look in ((lines, "linestyle"), (marks, "marker")):
        assert len({(style["color"], style[look]) for style in styles}) == 12
        assert all(a[look] != b[look] for a, b in pairwise(styles))

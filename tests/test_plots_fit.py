"""Plots of results with long labels, and with many groups: nothing is cut off."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import fastfair as ff

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
    sides = [{SEX: labels[who % n_groups], AGE: age[who // n_groups % 2]} for who in (reference, probe)]
    scores = rng.normal(size=n) + 2 * mated
    scores[mated & (reference % n_groups == n_groups - 1)] = 5  # a group without false non-matches
    return ff.Comparisons(scores, mated, reference, probe, *sides)


def drawn(name: str, n_groups: int):
    c = comparisons(max(n_groups, 3) if name == "shrunken" else n_groups)
    one, few = c.by(SEX), {"n_resamples": 99, "rng": 0}
    made = {
        "effects": lambda: ff.error_model(c, [SEX, AGE], AT).plot(),
        "strata": lambda: ff.stratified_rates(c, SEX, AGE, AT).plot(),
        "claim of an FMR": lambda: ff.claim(one, "fmr <= 0.012345", ff.at_threshold(1.5), **few).plot(),
        "claim of an FNMR": lambda: ff.claim(one, "fnmr <= 0.12345", AT, **few).plot(),
        "check": lambda: ff.check(one, ["fnmr[*] <= 0.12345", "garbe <= 0.3"], AT, **few).plot(),
        "test": lambda: ff.fnmr_test(one, AT, **few).plot(),
        "margin": lambda: ff.margin_of_error(one, AT, **few).plot(),
        "shrunken": lambda: ff.shrunken_rates(ff.evaluate(one, AT, (), metrics=(), **few)).plot(),
        "systems": lambda: ff.compare(one, one, AT, (), metrics=(), **few).plot(),
        "ranks": lambda: ff.compare({"a" * 70: one, "b": one}, None, AT, (), metrics=(), **few).plot_ranking(),
        "ranked rates": lambda: ff.compare([one] * n_groups, None, AT, (), metrics=(), **few).plot(),
        "measure over FMR": lambda: ff.fairness_band(
            one, "group_to_min_difference", "fnmr", [0.05, 0.1, 0.3], method="percentile", n_resamples=20, rng=0
        ).plot(),
        "discarding": lambda: ff.discard_curve(one, AT, np.arange(400.0 * n_groups) % 97).plot(),
        "discarded": lambda: ff.discard_curve(one, AT, np.arange(400.0 * n_groups) % 97).plot(show="discarded"),
        "applied": lambda: ff.apply_threshold(one, AT, one).plot(),
        "over thresholds": lambda: ff.rates_over_thresholds(one, [0.5, 1.0, 1.5]).plot(rate="fnmr"),
        "expected": lambda: ff.expected_performance_curve(one, one, [0.2, 0.5]).plot(),
        "differences": lambda: ff.compare(one, one, AT, (), metrics=(), **few).plot_differences(),
    }
    return made[name]()


CASES = (
    "effects",
    "strata",
    "claim of an FMR",
    "claim of an FNMR",
    "check",
    "test",
    "margin",
    "shrunken",
    "systems",
    "ranks",
    "ranked rates",
    "measure over FMR",
    "discarding",
    "discarded",
    "applied",
    "over thresholds",
    "expected",
    "differences",
)


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")  # of few errors in small data
@pytest.mark.parametrize("n_groups", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (18, 40))])
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_cut(name, n_groups):
    found = drawn(name, n_groups)
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

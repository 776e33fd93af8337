"""
Why people count, and not comparisons
=====================================

Half a million comparisons sound like a lot. But 1,190 people make them, and
who fails once tends to fail again. An interval that takes comparisons for
independent is too narrow. This example shows by how much, and what comes of
it.
"""

# %%
# Two intervals of one rate
# -------------------------
# The same data and the same rate, twice with the bootstrap. It draws people
# with all their comparisons, or it draws comparisons, as if each had been made
# by another person. fastfair warns of the latter.

import warnings
from typing import Literal

import matplotlib.pyplot as plt

import fastfair as ff

comparisons = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
unit: Literal["subject", "comparison"]
for unit in ("subject", "comparison"):
    evaluation = ff.evaluate(
        comparisons, ff.at_fmr(0.001), unit=unit, n_resamples=200, rng=0
    )
    low, high = evaluation.interval("fnmr", "f")
    print(f"{unit}s drawn: FNMR of women from {low:.2%} to {high:.2%}")

# %%
# Where people are drawn the interval is three times as wide.
#
# Which of the two is right?
# --------------------------
# In real data the true rate is not known. So here are data in which it is.
# Scores are drawn from two normal distributions, and each of 100 people has an
# effect of their own on all of their comparisons. At the threshold used here
# the true :term:`FNMR` is 5 %. A 95 % interval should hold it in 95 of 100
# such data sets. Each line of the plot is the interval from one data set, and
# those that miss the true rate are red.

law = ff.synthesis.Binormal.of_rates(fmr=0.01, tmr=0.95)
at = ff.at_threshold(float(law.threshold_at_fmr(0.01)))

warnings.simplefilter("ignore", ff.errors.NarrowIntervalsWarning)  # seen
figure, axes = plt.subplot_mosaic(
    [["subject", "comparison"]], figsize=(9, 4.5), layout="constrained"
)
for unit in ("subject", "comparison"):
    ax = axes[unit]
    hits = 0
    for seed in range(100):
        drawn = law.draw(
            2000, 2000, n_subjects=100, subject_effect=0.3, rng=seed
        )
        evaluation = ff.evaluate(
            drawn, at, [], metrics=[], n_resamples=100, unit=unit, rng=seed
        )
        low, high = evaluation.interval("fnmr")
        holds = low <= 0.05 <= high
        hits += holds
        ends = [100 * low, 100 * high]
        ax.plot(ends, [seed, seed], color="C7" if holds else "C3")
    ax.axvline(5, color="black")
    ax.set_title(f"{unit}s drawn: {hits} of 100 hold the true rate")
    ax.set(xlabel="FNMR (%)", ylabel="data set", xlim=(0, 12))

# %%
# Who draws comparisons is told of differences that are none, and of certainty
# that is not there. fastfair draws people wherever the data say who was
# compared. Where they do not, more than a number of comparisons is not known,
# and the warning stays.
#
# :doc:`/intervals` has the methods, and :doc:`/coverage` such counts for many
# kinds of data.

"""
Fairness from a published table of rates
========================================

An evaluation has published the error rates of three algorithms for four
groups, and no scores. How fair are they, and by which measure?
"""

# %%
# The table
# ---------
# One row for each algorithm, and one column for each rate of each group. These
# numbers are made up: Beta has four times as many false matches in one group,
# and Gamma four times as many false non-matches in another.

import matplotlib.pyplot as plt
import polars as pl

import fastfair as ff

published = pl.DataFrame(
    {
        "algorithm": ["Alpha", "Beta", "Gamma"],
        "FMR.north": [0.0010, 0.0010, 0.0010],
        "FMR.east": [0.0012, 0.0040, 0.0011],
        "FMR.south": [0.0009, 0.0011, 0.0009],
        "FMR.west": [0.0011, 0.0010, 0.0010],
        "FNMR.north": [0.021, 0.010, 0.012],
        "FNMR.east": [0.024, 0.011, 0.013],
        "FNMR.south": [0.019, 0.012, 0.048],
        "FNMR.west": [0.022, 0.010, 0.011],
    }
)

# %%
# All measures in one call
# ------------------------
# ``{group}`` stands for the group in the names of the columns. The result has
# a row for each algorithm and measure, and for measures of single groups a row
# for each group.

published_measures = ff.measures.table(
    published, fmr="FMR.{group}", fnmr="FNMR.{group}", by="algorithm"
)
published_measures.filter(pl.col("algorithm") == "Beta").head(6)

# %%
# Which algorithm is fairest?
# ---------------------------
# Three measures that look at both kinds of error:

titles = {
    "fdr": "FDR (higher is fairer)",
    "inequity_rate": "Inequity Rate (lower is fairer)",
    "garbe": "GARBE (lower is fairer)",
}
figure, axes = plt.subplots(1, 3, figsize=(9, 4), layout="constrained")
for ax, (name, title) in zip(axes, titles.items(), strict=True):
    rows = published_measures.filter(pl.col("name") == name)
    bars = ax.bar(rows["algorithm"], rows["value"])
    ax.bar_label(bars, fmt="%.3f")
    ax.set_title(title)
    ax.margins(y=0.15)

# %%
# By FDR, Beta is as fair as Alpha. FDR takes differences of rates, and those
# of FMRs are small, as FMRs themselves are. Inequity Rate and GARBE compare
# rates with each other, whatever their size, and find Beta about as unfair as
# Gamma.
#
# So say which question a measure is to answer before looking at its values:
# :doc:`/measures` has them all, and :doc:`/generated/papers/choosing` tells
# which one fits which question. What cannot be had from a table of rates is
# how certain they are: there are no intervals without comparisons.

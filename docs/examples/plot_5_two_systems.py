"""
Which of two systems is better, and for whom
============================================

Two speaker recognition systems have scored the same comparisons. Is one of
them better, and is it so for women and for men?
"""

# %%
# Both systems, one call
# ----------------------
# :func:`~fastfair.compare` matches the comparisons of both, and draws the same
# people for both in every replicate. What is hard about these people is hard
# for both systems, so their difference is known better than either rate.

import matplotlib.pyplot as plt

import fastfair as ff

first, second = (
    ff.datasets.voxceleb1_h(name, groups="Gender")
    for name in ("resnetse34v2", "resnetse34l")
)
comparison = ff.compare(first, second, ff.at_fmr(0.001), rng=0)
print(comparison.summary())

# %%
# At a glance
# -----------
# Each system has the threshold at which its own overall :term:`FMR` is 0.1 %.

figure = plt.figure(figsize=(9, 5), layout="constrained")
left, right = figure.subplots(1, 2)
comparison.plot_det(left)
ax = comparison.plot_differences(right)

# %%
# For each group
# --------------
# A contrast holds both rates, their difference with its interval, and a
# verdict. The p-value is adjusted for the number of questions asked.

for group in (None, *comparison.evaluations[0].groups):
    contrast = comparison.contrast("fnmr", group)
    print(
        f"{group or 'all'}: {contrast.first:.1%} and {contrast.second:.1%}"
    )
    print(
        f"  difference from {contrast.low:.1%} to {contrast.high:.1%}",
        end=", ",
    )
    print(f"lower in the {contrast.verdict}")

# %%
# Is one of them fairer?
# ----------------------
# Fairness measures are compared in the same way:

for measure in (
    "fdr",
    "inequity_rate",
    "garbe",
    "max_geomean_ratio(fnmr)",
):
    contrast = comparison.contrast(measure)
    print(
        f"{measure}: {contrast.first:.3f} and {contrast.second:.3f}",
        end=", ",
    )
    print(contrast.verdict)

# %%
# The first system has fewer false non-matches for women and for men, by far
# more than chance makes, and is fairer by all four measures. A verdict of
# "undecided" would mean that these data cannot tell the systems apart, and not
# that they are alike. :doc:`/intervals` explains the tests.

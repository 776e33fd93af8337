"""
Groups of few people
====================

Some groups have a handful of people, and their error rates are largely chance.
What can be said about them?
"""

# %%
# Rates of eleven nationalities
# -----------------------------
# Norway has the highest :term:`FNMR`. But is it because of the system, or
# because of the few people who happen to be in the data? The intervals are
# wide where people are few. (The warning is about another rate, a false match
# rate.)

import fastfair as ff

comparisons = ff.datasets.voxceleb1_h("resnetse34v2", groups="Nationality")
evaluation = ff.evaluate(comparisons, ff.at_fmr(0.001), rng=0)
evaluation.plot(rate="fnmr")

# %%
# Borrowing from the others
# -------------------------
# If all that is known is that Norway is a group like the others, its true rate
# is probably nearer to theirs than the one found.
# :func:`~fastfair.shrunken_rates` moves each rate towards the others, those
# that are hardly known the most.

shrunken = ff.shrunken_rates(evaluation, "fnmr")
shrunken.plot()

# %%
print(shrunken.summary())

# %%
# Use such rates to guess what a group would have with more people. To find out
# whether groups differ at all, test it, as shrunken rates lie closer together
# by construction:

test = ff.fnmr_test(comparisons, ff.at_fmr(0.001), n_resamples=2000, rng=0)
print(test.summary())

# %%
# :doc:`/small_groups` tells how rates are moved, and how often their intervals
# hold the truth.

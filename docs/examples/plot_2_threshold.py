"""
A threshold for an FMR of 1 in 10,000
=====================================

A system is to let in at most 1 impostor in 10,000. Which threshold does that,
and can these data show that it does?
"""

# %%
# The threshold that holds it in these data
# -----------------------------------------

import matplotlib.pyplot as plt
import numpy as np

import fastfair as ff

comparisons = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
rates = ff.rates(comparisons, ff.at_fmr(1e-4))
print(f"threshold {rates.threshold:.4f}, FNMR {rates.fnmr:.1%}")
print(f"{rates.counts.false_matches} false matches", end=" ")
print(f"in {rates.counts.nonmated:,} non-mated comparisons")

# %%
# The threshold rests on 27 false matches. Other people would have brought a
# few more or a few less, so with them the :term:`FMR` at this very threshold
# would be another one.
#
# What the data support
# ---------------------
# :func:`~fastfair.claim` asks whether the data support that the FMR is at most
# 0.01 % at a threshold. Here it is asked for a row of thresholds, each a
# little stricter than the one before. The limit takes into account that false
# matches come together, as the same people cause several.

thresholds = np.linspace(rates.threshold, rates.threshold + 0.025, 6)
points = [ff.at_threshold(float(threshold)) for threshold in thresholds]
claims = [
    ff.claim(comparisons, "fmr <= 0.01 %", at, rng=0) for at in points
]
for at, claim in zip(points, claims, strict=True):
    found, fnmr = claim.overall, ff.rates(comparisons, at).fnmr
    print(f"{at}: FMR {found.estimate:.4%}", end=", ")
    print(f"at most {found.limit:.4%}: {found.verdict}. FNMR {fnmr:.1%}")

# %%
# The plot shows the same: the estimate is below the claim from the first
# threshold on, its upper limit only later.

figure, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
limits = [100 * claim.overall.limit for claim in claims]
estimates = [100 * claim.overall.estimate for claim in claims]
ax.plot(thresholds, limits, "v-", label="upper limit (95 %)")
ax.plot(thresholds, estimates, "o-", label="estimate")
ax.axhline(0.01, color="black", linestyle="--", label="what is claimed")
ax.set(xlabel="threshold", ylabel="FMR (%)", yscale="log")
ax.legend()

# %%
# A stricter threshold costs false non-matches. Choose the threshold on one set
# of data, and claim on another: a threshold that is chosen because the data
# look good there makes the claim look better than it is.
#
# How many people would do
# ------------------------
# If the true FMR is half of what is claimed, how many people must be compared,
# each with all others, so that four studies of five support the claim? The
# data at hand tell how strongly false matches come together.

plan = ff.plan_fmr(
    claimed=1e-4, fmr=5e-5, pilot=comparisons, at=ff.at_fmr(1e-3), rng=0
)
print(plan.summary())

# %%
# :doc:`/claims` explains limits and verdicts, and :doc:`/planning` what such a
# plan takes into account.

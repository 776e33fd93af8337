"""
Embeddings, compared with each other
====================================

Where there are embeddings, every two of them make a comparison, and no list of
pairs is needed. This example draws error curves with bands for two groups.
"""

# %%
# The vectors
# -----------
# These are made up: 300 people with 2 to 6 images each. The vectors of women
# spread a little more about their centres, so that women have more errors.
# Your own come from a file, with :func:`~fastfair.read_embeddings`, or from
# arrays as here.

import matplotlib.pyplot as plt
import numpy as np

import fastfair as ff

people = ff.VonMisesFisherIdentities.random(
    300, dim=64, concentration=(60, 180), rng=0
)
sex = np.where(np.arange(300) % 2 == 0, "m", "f")
spread = ff.VonMisesFisherIdentities(
    people.centers, np.where(sex == "f", 0.85, 1) * people.concentrations
)
images_each = np.arange(300) % 5 + 2
subject = np.repeat(np.arange(300), images_each)
embeddings = ff.Embeddings(
    spread.draw(images_each, rng=1), subject, group=sex[subject]
)
embeddings

# %%
# Error curves with bands
# -----------------------
# All pairs are compared, but only those near the thresholds are kept. The
# darker band holds the true rate at each single :term:`FMR` in 95 % of data
# sets, the lighter one the whole curve.

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for group, label in (("f", "women"), ("m", "men")):
    fmrs = np.geomspace(1e-3, 0.1, 15)
    band = ff.roc_band(
        embeddings, fmrs, group=group, n_resamples=200, rng=0
    )
    band.plot(ax, label=label)
ax.legend()

# %%
# Each group has thresholds of its own in this plot. With the one threshold of
# a system in use, which holds the FMR of all pairs:

band = ff.roc_band(embeddings, [0.001, 0.01], n_resamples=200, rng=0)
for fmr, fnmr, low, high in zip(
    band.fmr, band.fnmr, band.low, band.high, strict=True
):
    print(f"FMR {fmr:.1%}: FNMR {fnmr:.1%}, from {low:.1%} to {high:.1%}")

# %%
# How unfair, at which FMR?
# -------------------------
# The max-geomean ratio of FNMR is 1 where all groups have the same FNMR at the
# common threshold.

fmrs = np.geomspace(1e-3, 0.02, 7)
fairness = ff.fairness_band(
    embeddings, "max_geomean_ratio", "fnmr", fmrs, n_resamples=500, rng=0
)
fairness.plot()

# %%
# :doc:`/embeddings` tells what the bands mean, which memory they need, and how
# to compare two models.

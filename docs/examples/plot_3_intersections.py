"""
Auditing gender and nationality
===============================

A speaker recognition system is used by women and men of eleven nationalities.
Does it err more often for some of them? This is asked of each attribute alone,
and then of both together.
"""

# %%
# Each attribute alone
# --------------------

import matplotlib.pyplot as plt

import fastfair as ff

comparisons = ff.datasets.voxceleb1_h(
    "resnetse34v2", groups=["Gender", "Nationality"]
)
operating_point = ff.at_fmr(0.001)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained"
)
for attribute, ax in (("Gender", left), ("Nationality", right)):
    evaluation = ff.evaluate(
        comparisons.by(attribute),
        operating_point,
        rng=0,
        settings=ff.EvaluationSettings(simultaneous=True),
    )
    evaluation.plot(rate="fmr", ax=ax)
    ax.set_title(attribute)

# %%
# With ``simultaneous=True`` the intervals hold in all groups at once. Lighter
# ones rest on fewer than 30 errors. Women have about twice the FMR of men.
# Some nationalities have FMRs far above the others, but from few people, as
# their wide intervals say. The warning names a group most of whose errors
# involve few of its people.
#
# The intersections
# -----------------
# Eighteen combinations of both attributes are in the data.

evaluation = ff.evaluate(
    comparisons,
    operating_point,
    rng=0,
    settings=ff.EvaluationSettings(simultaneous=True),
)
# sphinx_gallery_thumbnail_number = 2
evaluation.plot(rate="fmr")

# %%
# Most combinations have fewer than 30 false matches, so their rates are hardly
# known. So many of them do:

rates = ff.rates(comparisons, operating_point)
false_matches = rates.counts.group_false_matches
print(f"{(false_matches < 30).sum()} of {len(evaluation.groups)} groups")

# %%
# A test of all groups at once
# ----------------------------
# Among 18 groups some look bad by chance. The test asks how often groups would
# differ this much if all had the same FMR.

test = ff.fmr_test(comparisons, operating_point, rng=0)
print(test.summary())

# %%
# The groups differ by more than chance. With so few errors the test
# cannot say which of them differ from the others.
#
# Gender or nationality?
# ----------------------
# A model looks at both attributes at once, and tells the effect of each with
# the other held fixed. Here it is one of FNMRs, as there are thousands of
# false non-matches:

model = ff.error_model(
    comparisons, ["Gender", "Nationality"], operating_point, rate="fnmr"
)
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
model.plot(ax)

# %%
print(model.summary())

# %%
# What an audit may say of these data:
#
# - Women have about twice the FMR of men, and their intervals lie apart.
# - FMRs of the 18 combinations differ by more than chance, but most rest on
#   too few false matches to name one.
# - With nationality held fixed, the odds that women are falsely rejected are
#   0.97 times those of men, from 0.85 to 1.11.
# - Speakers from the UK are falsely rejected less often than those from the
#   USA, and speakers from Norway more often. Ten nationalities were compared
#   with the USA, and taken together they are not detectably different (p =
#   0.19).
#
# :doc:`/attributes` and :doc:`/small_groups` go on from here.

"""
Planning a study, then testing
==============================

A face recognition system is to be tested with people of five groups. How many
are needed to find a group that fails more often, and what does the study find
in the end?
"""

# %%
# Before: how many people
# -----------------------
# Each person makes four attempts, and 5 % of the attempts fail. Attempts of
# one person are alike, with a correlation of 0.2. A group with an :term:`FNMR`
# of 10 % is to be found in four studies of five.

from typing import Any

import numpy as np

import fastfair as ff

expected: dict[str, Any] = {"n_groups": 5, "n_attempts": 4}
expected |= {"fnmr": 0.05, "correlation": 0.2}
plan = ff.plan_subjects(**expected, difference=0.05, power=0.8, rng=0)
n = int(plan.n_subjects)
print(f"{n} people in each group")

# %%
# More people make smaller differences visible. The margin is what five groups
# treated alike may differ from the overall FNMR by chance:

sizes = [50, 100, 200, 400, 800]
margins = ff.plan_margin(n_subjects=sizes, **expected, method="exact")
margins.plot(over="n_subjects")

# %%
# The study
# ---------
# Here the study is drawn: four groups as expected, and one, E, with twice the
# FNMR. A row of decisions is a person, and True is an attempt that failed.

groups = list("ABCDE")
failed = [
    ff.correlated_decisions(
        n, 4, fnmr=0.10 if group == "E" else 0.05, correlation=0.2, rng=k
    )
    for k, group in enumerate(groups)
]
counts = ff.FailureCounts(
    failures=np.concatenate(
        [decisions.sum(axis=1) for decisions in failed]
    ),
    attempts=np.full(5 * n, 4),
    group=np.repeat(groups, n),
)
counts

# %%
# After: do the groups differ?
# ----------------------------

test = ff.fnmr_test(counts, n_resamples=2000, rng=0)
print(test.summary())

# %%
test.plot()

# %%
# The margin answers the same question in another way, group by group:

margin = ff.margin_of_error(counts, n_resamples=2000, rng=0)
print(margin.summary())

# %%
# No scores were needed: decisions are enough. :doc:`/planning` goes through
# what a plan has to know, and :doc:`/group_tests` through what the tests say
# and do not say.

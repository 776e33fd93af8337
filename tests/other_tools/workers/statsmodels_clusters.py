"""statsmodels' variance of the mean of errors in two-way clusters: of a file with errors, persons
and sessions, it prints that of people and sessions together."""

import sys

import numpy as np
from statsmodels.api import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

errors, people, sessions = np.load(sys.argv[1])
fit = OLS(errors, np.ones(errors.size)).fit()
of_both, _, _ = cov_cluster_2groups(fit, people.astype(int), sessions.astype(int))
print(float(of_both[0, 0]))

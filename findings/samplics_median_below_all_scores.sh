#!/bin/sh
# samplics 0.6.1: the weighted median of scores from 1 to 5 is -47.
#
# TaylorEstimator interpolates between the scores whose cumulated shares of weight enclose one half. Where the lowest score has more than
# half of the weight there is none below, and it continues the line between the first two downwards, by the more the greater that weight.
# Nothing is raised. With whole weights the median is that of each score repeated as often; of five equal ones it is the third, and
# samplics has 2.5. It is no longer maintained, says its README, but keeps working.
#
# Seen:
#   weights [1, 1, 1, 1, 1] median 2.5 of each repeated as often 3.0
#   weights [3, 1, 1, 1, 1] median 1.5 of each repeated as often 2.0
#   weights [4, 1, 1, 1, 1] median 1.0 of each repeated as often 1.5
#   weights [10, 1, 1, 1, 1] median -2.0 of each repeated as often 1.0
#   weights [100, 1, 1, 1, 1] median -47.0 of each repeated as often 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check samplics==0.6.1 numpy==2.4.6 pandas==3.1.1 polars==2.1.0 scipy==1.17.1 statsmodels==0.15.0
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from samplics.estimation import TaylorEstimator
from samplics.utils.types import PopParam

scores = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
for weights in ([1, 1, 1, 1, 1], [3, 1, 1, 1, 1], [4, 1, 1, 1, 1], [10, 1, 1, 1, 1], [100, 1, 1, 1, 1]):
    estimator = TaylorEstimator(PopParam.median)
    estimator.estimate(y=scores, samp_weight=np.array(weights, dtype=float))
    by_hand = np.median(np.repeat(scores, weights))
    print("weights", weights, "median", round(float(estimator.point_est), 2), "of each repeated as often", by_hand)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
weights [1, 1, 1, 1, 1] median 2.5 of each repeated as often 3.0
weights [3, 1, 1, 1, 1] median 1.5 of each repeated as often 2.0
weights [4, 1, 1, 1, 1] median 1.0 of each repeated as often 1.5
weights [10, 1, 1, 1, 1] median -2.0 of each repeated as often 1.0
weights [100, 1, 1, 1, 1] median -47.0 of each repeated as often 1.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

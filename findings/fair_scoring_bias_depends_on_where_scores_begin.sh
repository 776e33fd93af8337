#!/bin/sh
# fair-scoring 0.2.1: two groups differ in one tenth of the scores, and their bias is 0.03, -0.50 or 4.74, depending on where scores begin.
#
# CalibrationMetric with weighting="scores" is documented as the integral over scores of the difference between two calibration curves, which
# is at most 1, and scores need not be transformed. The weight of a bin is its width, but that of the lowest is its width less the mean score
# in it. From 0 to 1 it has half its weight; from 50 on it has a negative one. With weighting="quantiles" the bias is right.
#
# Seen:
#   scores from 0 to 0.99 scores 0.0286 quantiles 0.05 by hand 0.05
#   scores from 50 to 149 scores -0.5011 quantiles 0.05 by hand 0.05
#   scores from 105 to 204 scores 4.7429 quantiles 0.05 by hand 0.05
#   scores from 300 to 399 scores 0.7168 quantiles 0.05 by hand 0.05
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check fair-scoring==0.2.1 numpy==1.26.4 scipy==1.17.1 scikit-learn==1.9.1 matplotlib==3.11.2 seaborn==0.13.2
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from fairscoring.metrics import CalibrationMetric

scores = np.tile(np.repeat(np.arange(100.0), 2), 2)
groups = np.repeat(["first", "second"], 200)
mated = np.tile([0, 1], 200)
mated[:20] = 1

shares = np.array([[mated[(groups == g) & (scores // 10 == tenth)].mean() for tenth in range(10)] for g in ("first", "second")])
by_hand = np.mean(np.abs(shares[0] - shares[1]))
for name, moved in (("0 to 0.99", scores / 100), ("50 to 149", scores + 50), ("105 to 204", scores + 105), ("300 to 399", scores + 300)):
    print("scores from", name, end=" ")
    for weighting in ("scores", "quantiles"):
        metric = CalibrationMetric(weighting=weighting, n_bins=10)
        print(weighting, round(metric.bias(moved, mated, groups, ["first", "second"], 1).bias, 4), end=" ")
    print("by hand", round(by_hand, 4))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
scores from 0 to 0.99 scores 0.0286 quantiles 0.05 by hand 0.05
scores from 50 to 149 scores -0.5011 quantiles 0.05 by hand 0.05
scores from 105 to 204 scores 4.7429 quantiles 0.05 by hand 0.05
scores from 300 to 399 scores 0.7168 quantiles 0.05 by hand 0.05
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

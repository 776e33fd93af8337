#!/bin/sh
# pyannote.metrics 4.2.0: the equal error rate of scores without an error is 0.25.
#
# det_curve averages the four rates of the first point of the ROC whose false alarm rate is the larger and of the point
# before. Where positives and negatives are apart the curve goes from no error to the point that accepts all negatives, as
# points between them on a line were dropped.
#
# Seen:
#   2 of each: some threshold has no error: True EER 0.25
#   20 of each: some threshold has no error: True EER 0.25
#   200 of each: some threshold has no error: True EER 0.25
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyannote.metrics==4.2.0 scikit-learn==1.9.1 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from pyannote.metrics.binary_classification import det_curve

for n in (2, 20, 200):
    false_alarms, false_rejections, thresholds, eer = det_curve(np.repeat([0, 1], n), np.arange(2.0 * n))
    print(n, "of each: some threshold has no error:", bool(np.min(false_alarms + false_rejections) == 0), "EER", float(eer))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
2 of each: some threshold has no error: True EER 0.25
20 of each: some threshold has no error: True EER 0.25
200 of each: some threshold has no error: True EER 0.25
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

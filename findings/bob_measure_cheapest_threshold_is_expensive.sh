#!/bin/sh
# bob.measure 6.1.1 (Python 3.11): the threshold that is to have the least weighted error rate has one fifty times as high.
#
# The highest score is a positive's and a negative's. To accept nothing would cost 0.01, which the search finds; but the
# threshold it returns for that is the highest score itself, and a score equal to the threshold is accepted.
#
# Seen:
#   threshold 3.0 FAR 0.5 FRR 0.0 weighted 0.495
#   threshold 4.0 FAR 0.0 FRR 1.0 weighted 0.01
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check bob.measure==6.1.1 numpy==1.26.4
cat > "$folder/finding.py" <<'PYTHON'
import bob.measure
import numpy as np

negatives, positives = np.array([0.0, 3.0]), np.array([3.0])
threshold = bob.measure.min_weighted_error_rate_threshold(negatives, positives, 0.99)
for at in (threshold, 4.0):
    far, frr = bob.measure.farfrr(negatives, positives, at)
    print("threshold", at, "FAR", far, "FRR", frr, "weighted", round(0.99 * far + 0.01 * frr, 6))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
threshold 3.0 FAR 0.5 FRR 0.0 weighted 0.495
threshold 4.0 FAR 0.0 FRR 1.0 weighted 0.01
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

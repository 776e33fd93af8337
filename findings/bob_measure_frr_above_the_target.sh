#!/bin/sh
# bob.measure 6.1.1 (Python 3.11): where many positives tie at the lowest score, the threshold for a false rejection rate exceeds it.
#
# frr_threshold is documented to give a rate of at most the one asked for, if possible. Of [1, 1, 1, 2] none is rejected at
# threshold 1. Asked for at most 0.25 it returns a number just above 1, where the rate is 0.75.
#
# Seen:
#   threshold 1.0000000000000002 FRR 0.75
#   threshold 1.0 FRR 0.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check bob.measure==6.1.1 numpy==1.26.4
cat > "$folder/finding.py" <<'PYTHON'
import bob.measure
import numpy as np

negatives, positives = np.array([0.0, 0.0]), np.array([1.0, 1.0, 1.0, 2.0])
threshold = bob.measure.frr_threshold(negatives, positives, 0.25)
print("threshold", threshold, "FRR", bob.measure.farfrr(negatives, positives, threshold)[1])
print("threshold 1.0 FRR", bob.measure.farfrr(negatives, positives, 1.0)[1])
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
threshold 1.0000000000000002 FRR 0.75
threshold 1.0 FRR 0.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

#!/bin/sh
# llreval 0.0.3: the area under the curve of perfect scores is 0.
#
# It is documented as the probability that a target score exceeds a non-target score, which is 1 here. What is computed is
# the area under miss rates over false-alarm rates, 1 less that probability on the convex hull.
#
# Seen:
#   targets above 0.0 targets equal 0.5
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check llreval==0.0.3 scikit-learn==1.9.1 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from llreval.quick_eval import tarnon_2_auc

high, low = np.array([2.0, 3.0]), np.array([0.0, 1.0])
print("targets above", float(tarnon_2_auc(high, low)), "targets equal", float(tarnon_2_auc(high, high)))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
targets above 0.0 targets equal 0.5
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

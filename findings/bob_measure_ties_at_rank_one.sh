#!/bin/sh
# bob.measure 6.1.1 (Python 3.11): a positive that ties with the best negative is not at rank one, though the documentation counts it.
#
# recognition_rate is documented, in words and as a formula, to count probes whose best positive is greater than *or equal*
# to all negatives. Such a probe is counted as wrong.
#
# Seen:
#   best negative 0.5, best positive 0.4 recognition rate 0.0
#   best negative 0.5, best positive 0.5 recognition rate 0.0
#   best negative 0.5, best positive 0.6 recognition rate 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check bob.measure==6.1.1 numpy==1.26.4
cat > "$folder/finding.py" <<'PYTHON'
import bob.measure
import numpy as np

for best_positive in (0.4, 0.5, 0.6):
    rate = bob.measure.recognition_rate([(np.array([0.5, 0.1]), np.array([best_positive]))])
    print("best negative 0.5, best positive", best_positive, "recognition rate", rate)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
best negative 0.5, best positive 0.4 recognition rate 0.0
best negative 0.5, best positive 0.5 recognition rate 0.0
best negative 0.5, best positive 0.6 recognition rate 1.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

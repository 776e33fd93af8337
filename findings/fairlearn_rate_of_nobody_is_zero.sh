#!/bin/sh
# fairlearn 0.15.0: a group without a positive has a false negative rate of 0, so it is the fairest of all.
#
# There is no false negative rate of a group in which nobody could be a false negative. MetricFrame reports 0 for it without
# a warning, and the difference and ratio between groups are those to that 0. A missing label of a group is refused.
#
# Seen:
#   {'a': 0.5, 'b': 0.5, 'c': 0.0} difference 0.5 ratio 0.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check fairlearn==0.15.0 scikit-learn==1.9.1 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
from fairlearn.metrics import MetricFrame, false_negative_rate

frame = MetricFrame(
    metrics=false_negative_rate,
    y_true=[1, 1, 1, 1, 0, 0],
    y_pred=[1, 0, 1, 0, 1, 0],
    sensitive_features=["a", "a", "b", "b", "c", "c"],
)
print(frame.by_group.to_dict(), "difference", float(frame.difference()), "ratio", float(frame.ratio()))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
{'a': 0.5, 'b': 0.5, 'c': 0.0} difference 0.5 ratio 0.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

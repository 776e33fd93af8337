#!/bin/sh
# fairlearn 0.15.0: two groups with equal rates differ by 0, and the 95 % interval of that begins above 0.
#
# The difference of a MetricFrame is the largest rate less the smallest, never below 0. In each bootstrap resample it is above 0,
# so that percentiles of these leave out the estimate and the truth; the ratio's leave out 1. A reader who looks whether 0 is in
# the interval finds a difference in any data.
#
# Seen:
#   {'a': 0.5, 'b': 0.5}
#   difference 0.0 interval [0.0006, 0.0507] holds it: False
#   ratio 1.0 interval [0.9035, 0.9989] holds it: False
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check fairlearn==0.15.0 scikit-learn==1.9.1 numpy==2.4.6 pandas==3.1.1 scipy==1.17.1
cat > "$folder/finding.py" <<'PYTHON'
from fairlearn.metrics import MetricFrame, selection_rate

frame = MetricFrame(
    metrics=selection_rate,
    y_true=[1] * 2000,
    y_pred=[1, 0] * 1000,
    sensitive_features=["a"] * 1000 + ["b"] * 1000,
    n_boot=400,
    ci_quantiles=[0.025, 0.975],
    random_state=0,
)
print(frame.by_group.to_dict())
for name, value, ends in (
    ("difference", frame.difference(), frame.difference_ci()),
    ("ratio", frame.ratio(), frame.ratio_ci()),
):
    print(name, float(value), "interval", [round(float(end), 4) for end in ends], "holds it:", bool(ends[0] <= value <= ends[1]))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
{'a': 0.5, 'b': 0.5}
difference 0.0 interval [0.0006, 0.0507] holds it: False
ratio 1.0 interval [0.9035, 0.9989] holds it: False
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

#!/bin/sh
# fairmedfm 0.4.2: two groups without an error at a threshold differ in true positive rates at it by 1, the most that there is.
#
# equal_opportunity_difference is documented as that between rates "at the best-F1 threshold". find_threshold returns the score from which
# on predictions are best, as scikit-learn's curves count them; rates are those above it. All samples with that very score change
# sides: those of one group, where its mated scores are all alike. With the same score in both no one is accepted, and the groups are equal.
#
# Seen:
#   0.9 and 0.9 threshold 0.9 no error from it on: True TPR [0.0, 0.0] difference 0.0
#   0.9 and 0.8 threshold 0.8 no error from it on: True TPR [1.0, 0.0] difference 1.0
#   0.9 and 0.7 threshold 0.7 no error from it on: True TPR [1.0, 0.0] difference 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check fairmedfm==0.4.2 numpy==2.4.6 pandas==3.1.1 scikit-learn==1.9.1 scipy==1.17.1
cat > "$folder/finding.py" <<'PYTHON'
import fairmedfm
from fairmedfm.metrics import find_threshold

labels = [1, 1, 0, 0] * 2
groups = ["a"] * 4 + ["b"] * 4
for mated in (0.9, 0.8, 0.7):
    scores = [0.9, 0.9, 0.1, 0.1, mated, mated, 0.1, 0.1]
    threshold = find_threshold(scores, labels)
    right = all((score >= threshold) == label for score, label in zip(scores, labels))
    rates = fairmedfm.evaluate(labels, scores, {"group": groups}).by_group["tpr@best_f1"].tolist()
    difference = fairmedfm.equal_opportunity_difference(labels, scores, sensitive_features=groups)
    print("0.9 and", mated, "threshold", threshold, "no error from it on:", right, "TPR", rates, "difference", difference)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
0.9 and 0.9 threshold 0.9 no error from it on: True TPR [0.0, 0.0] difference 0.0
0.9 and 0.8 threshold 0.8 no error from it on: True TPR [1.0, 0.0] difference 1.0
0.9 and 0.7 threshold 0.7 no error from it on: True TPR [1.0, 0.0] difference 1.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

#!/bin/sh
# confidenceinterval 1.0.5: the macro F1 of predictions without an error has an interval from 0.69 to 1.31.
#
# By the delta method, which its documentation names, the variance is 0 there, as it is for micro F1. Where all are wrong the
# interval has as many numbers below 0 as above. Neither is cut off at 0 or 1, though intervals of accuracy are.
#
# Seen:
#   all right micro 1.0 [1.0, 1.0]
#   all right macro 1.0 [0.6901, 1.3099]
#   all wrong micro 0.0 [0.0, 0.0]
#   all wrong macro 0.0 [-0.4383, 0.4383]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check confidenceinterval==1.0.5 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 pandas==3.1.1
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from confidenceinterval import f1_score

labels = np.repeat([0, 1], 10)
for name, predicted in (("all right", labels), ("all wrong", 1 - labels)):
    for average in ("micro", "macro"):
        value, ends = f1_score(labels, predicted, average=average)
        print(name, average, round(float(value), 4), [round(float(end), 4) for end in ends])
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
all right micro 1.0 [1.0, 1.0]
all right macro 1.0 [0.6901, 1.3099]
all wrong micro 0.0 [0.0, 0.0]
all wrong macro 0.0 [-0.4383, 0.4383]
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

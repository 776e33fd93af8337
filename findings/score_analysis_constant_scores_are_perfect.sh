#!/bin/sh
# score-analysis 0.3.12: a system that gives every sample the same score has an equal error rate of 0.
#
# Perfect separation is taken for granted where the lowest positive score equals the highest negative one. At the threshold
# returned with it all negatives are accepted.
#
# Seen:
#   EER 0.0 at a threshold with FPR 1.0 and FNR 0.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check score-analysis==0.3.12 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
from score_analysis import Scores

scores = Scores(pos=[1.0, 1.0, 1.0], neg=[1.0, 1.0, 1.0])
threshold, eer = scores.eer()
print("EER", eer, "at a threshold with FPR", float(scores.fpr(threshold)), "and FNR", float(scores.fnr(threshold)))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
EER 0.0 at a threshold with FPR 1.0 and FNR 0.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

#!/bin/sh
# score-analysis 0.3.12: the threshold for a false positive rate has a rate that is one negative higher.
#
# Its README sets a threshold "at 30% False Positive Rate" by threshold_at_fpr(0.3). Of ten distinct negative scores, 40 %
# are at or above it; for a rate of 0 it is 10 %. Rates that ten scores can have exactly are missed, each by 0.1, and the
# method "lower" makes no difference. threshold_at_fnr has no such shift.
#
# Seen:
#   FPR 0.0 becomes [0.1, 0.1] and FNR 0.0
#   FPR 0.1 becomes [0.2, 0.2] and FNR 0.1
#   FPR 0.3 becomes [0.4, 0.4] and FNR 0.3
#   FPR 0.5 becomes [0.6, 0.6] and FNR 0.5
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check score-analysis==0.3.12 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
from score_analysis import Scores

scores = Scores(pos=range(5, 15), neg=range(10))
for target in (0.0, 0.1, 0.3, 0.5):
    rates = [float(scores.fpr(scores.threshold_at_fpr(target, method=method))) for method in ("linear", "lower")]
    print("FPR", target, "becomes", rates, "and FNR", float(scores.fnr(scores.threshold_at_fnr(target))))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
FPR 0.0 becomes [0.1, 0.1] and FNR 0.0
FPR 0.1 becomes [0.2, 0.2] and FNR 0.1
FPR 0.3 becomes [0.4, 0.4] and FNR 0.3
FPR 0.5 becomes [0.6, 0.6] and FNR 0.5
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

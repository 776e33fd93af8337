#!/bin/sh
# scipy 1.17.1: binomtest rejects a rate at 5 % that is inside its own exact 95 % interval.
#
# One result has a p-value and proportion_ci. The two-sided p-value adds outcomes that are less probable, the interval leaves
# 2.5 % on each side. So 2 errors of 3 differ from 10 %, with p = 0.028, and 10 % is in the interval. Nothing says so.
#
# Seen:
#   2 of 2 rate 0.2 p 0.04 interval from 0.1581
#   2 of 3 rate 0.1 p 0.028 interval from 0.0943
#   3 of 4 rate 0.2 p 0.0272 interval from 0.1941
#   disagree in 63 of 2475
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check scipy==1.17.1 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
from scipy.stats import binomtest

for errors, n, rate in ((2, 2, 0.2), (2, 3, 0.1), (3, 4, 0.2)):
    result = binomtest(errors, n, rate)
    interval = result.proportion_ci(0.95, method="exact")
    print(errors, "of", n, "rate", rate, "p", round(float(result.pvalue), 4), "interval from", round(float(interval.low), 4))
disagree = sum(
    (result.pvalue < 0.05) == (interval.low <= rate <= interval.high)
    for n in range(1, 31)
    for errors in range(n + 1)
    for rate in (0.05, 0.1, 0.2, 0.3, 0.4)
    for result in [binomtest(errors, n, rate)]
    for interval in [result.proportion_ci(0.95, method="exact")]
)
print("disagree in", disagree, "of", sum(n + 1 for n in range(1, 31)) * 5)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
2 of 2 rate 0.2 p 0.04 interval from 0.1581
2 of 3 rate 0.1 p 0.028 interval from 0.0943
3 of 4 rate 0.2 p 0.0272 interval from 0.1941
disagree in 63 of 2475
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

#!/bin/sh
# statsmodels 0.15.0: no error in ten comparisons refutes an error rate of 10 %, with a p-value of 0.
#
# With a rate of 10 % that has a probability of 0.35. proportions_ztest takes the variance from the sample, as documented; where
# no comparison has an error, or all have one, it is 0, so that z is infinite, and p is 0 for every rate but that of the sample.
#
# Seen:
#   0 of 10, rate 0.1 z -inf p 0.0 exact p 0.6126
#   0 of 10, rate 0.01 z -inf p 0.0 exact p 1.0
#   0 of 10, rate 0.001 z -inf p 0.0 exact p 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check statsmodels==0.15.0 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1
cat > "$folder/finding.py" <<'PYTHON'
from statsmodels.stats.proportion import binom_test, proportions_ztest

for rate in (0.1, 0.01, 0.001):
    z, p = proportions_ztest(0, 10, rate)
    print("0 of 10, rate", rate, "z", float(z), "p", float(p), "exact p", round(float(binom_test(0, 10, rate)), 4))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
0 of 10, rate 0.1 z -inf p 0.0 exact p 0.6126
0 of 10, rate 0.01 z -inf p 0.0 exact p 1.0
0 of 10, rate 0.001 z -inf p 0.0 exact p 1.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

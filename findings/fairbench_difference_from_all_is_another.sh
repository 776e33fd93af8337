#!/bin/sh
# fairbench 0.9.6: the largest difference of a group from the whole population is that between two groups.
#
# largestmaxdiff of a vsall report is described as "the maximum difference from the largest group (the whole population if
# included)". Rates of 0.4 and 0.6 are 0.1 from 0.5; it reports 0.2. largestmaxrel, the relative one, is that from the population:
# 1 less 0.4 over 0.5.
#
# Seen:
#   rates {'a': 0.5, 'b': 0.4, 'c': 0.65} of all 0.51
#   largestmaxdiff 0.25 differences from all [0.01, 0.11, 0.14]
#   largestmaxrel 0.2157 relative differences from all [0.0196, 0.2157, 0.2154]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check fairbench==0.9.6 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import contextlib
import io

import fairbench as fb
import numpy as np

groups = np.repeat(["a", "b", "c"], [600, 200, 200])
accepted = np.array([1] * 300 + [0] * 300 + [1] * 80 + [0] * 120 + [1] * 130 + [0] * 70)
with contextlib.redirect_stdout(io.StringIO()):
    report = fb.reports.vsall(predictions=accepted, sensitive=fb.Dimensions(fb.categories @ groups))
rates = {name: round(float(accepted[groups == name].mean()), 4) for name in "abc"}
population = float(accepted.mean())
print("rates", rates, "of all", population)
differences = [round(abs(rate - population), 4) for rate in rates.values()]
print("largestmaxdiff", round(float(report.largestmaxdiff.pr), 4), "differences from all", differences)
relative = [round(1 - min(rate, population) / max(rate, population), 4) for rate in rates.values()]
print("largestmaxrel", round(float(report.largestmaxrel.pr), 4), "relative differences from all", relative)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
rates {'a': 0.5, 'b': 0.4, 'c': 0.65} of all 0.51
largestmaxdiff 0.25 differences from all [0.01, 0.11, 0.14]
largestmaxrel 0.2157 relative differences from all [0.0196, 0.2157, 0.2154]
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

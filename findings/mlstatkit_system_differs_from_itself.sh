#!/bin/sh
# MLstatkit 0.1.91: a system differs from itself, with a p-value of 0.
#
# DeLong's test compares two areas under ROC curves. Where the variance of their difference is 0 it is documented to fall back
# to a bootstrap. Of 5000 differences that are all 0 it counts those above 0, none, and doubles that: z is 0, and so is p.
# The same where both systems have no error.
#
# Seen:
#   the same scores: z 0.0 p 0.0 AUC 0.8125 0.8125
#   both without an error: z 0.0 p 0.0 AUC 1.0 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check MLstatkit==0.1.91 numpy==2.4.6 scipy==1.17.1
cat > "$folder/finding.py" <<'PYTHON'
from MLstatkit import Delong_test

labels = [0, 0, 0, 0, 1, 1, 1, 1]
system = [0.1, 0.4, 0.2, 0.6, 0.5, 0.9, 0.3, 0.8]
z, p, *areas = Delong_test(labels, system, system, return_ci=False, random_state=0)
print("the same scores: z", z, "p", p, "AUC", *areas)
z, p, *areas = Delong_test(labels, [0, 0, 1, 1, 4, 4, 5, 5], [0, 1, 2, 3, 4, 5, 6, 7], return_ci=False, random_state=0)
print("both without an error: z", z, "p", p, "AUC", *areas)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
the same scores: z 0.0 p 0.0 AUC 0.8125 0.8125
both without an error: z 0.0 p 0.0 AUC 1.0 1.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

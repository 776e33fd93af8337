#!/bin/sh
# diff-binom-confint 0.1.0: the interval of a rate of 9 in 10 ends at 0.0025, below where it begins.
#
# Method "modified-wilson" is for rates near 0 and 1: where one to three people have an error, or have none, it takes an end from a
# Poisson variable. The upper end is one of the rate of those without, which is not taken from 1 again. So that of 9 in 10 is the
# lower end of 1 in 10. The same in "modified-newcombe". Nothing is raised, and the ends are rates.
#
# Seen:
#   1 of 10 wilson [0.0179, 0.4042] holds its rate: True
#   1 of 10 modified-wilson [0.0025, 0.4042] holds its rate: True
#   5 of 10 wilson [0.2366, 0.7634] holds its rate: True
#   5 of 10 modified-wilson [0.2366, 0.7634] holds its rate: True
#   9 of 10 wilson [0.5958, 0.9821] holds its rate: True
#   9 of 10 modified-wilson [0.5958, 0.0025] holds its rate: False
#   98 of 100 wilson [0.93, 0.9945] holds its rate: True
#   98 of 100 modified-wilson [0.93, 0.0024] holds its rate: False
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check diff-binom-confint==0.1.0 numpy==2.4.6 pandas==3.1.1 scipy==1.17.1
cat > "$folder/finding.py" <<'PYTHON'
from diff_binom_confint import compute_confidence_interval

for right, n in ((1, 10), (5, 10), (9, 10), (98, 100)):
    for method in ("wilson", "modified-wilson"):
        interval = compute_confidence_interval(right, n, method=method)
        lower, upper = float(interval.lower_bound), float(interval.upper_bound)
        print(right, "of", n, method, [round(lower, 4), round(upper, 4)], "holds its rate:", lower <= right / n <= upper)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
1 of 10 wilson [0.0179, 0.4042] holds its rate: True
1 of 10 modified-wilson [0.0025, 0.4042] holds its rate: True
5 of 10 wilson [0.2366, 0.7634] holds its rate: True
5 of 10 modified-wilson [0.2366, 0.7634] holds its rate: True
9 of 10 wilson [0.5958, 0.9821] holds its rate: True
9 of 10 modified-wilson [0.5958, 0.0025] holds its rate: False
98 of 100 wilson [0.93, 0.9945] holds its rate: True
98 of 100 modified-wilson [0.93, 0.0024] holds its rate: False
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

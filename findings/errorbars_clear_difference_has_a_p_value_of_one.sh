#!/bin/sh
# errorbars 0.2.4: a system is right more often than another by as much for each of twenty people, with a clustered p-value of 1.
#
# paired_compare is documented to give a paired t-test, and one robust to clusters. Where all people have the same difference the standard
# error is 0, t is infinite, and p tends to 0; it is set to 1, beside an interval from 0.5 to 0.5, which leaves out 0. So with 40 of 40
# against none, where p is 2e-12 by McNemar's test beside it. With 39 of 40 it is 1e-19.
#
# Seen:
#   one of two by each person difference 0.5 clustered [0.5, 0.5] p 2e-07 clustered 1 McNemar 2e-06
#   all difference 1.0 clustered [1.0, 1.0] p 1 clustered 1 McNemar 2e-12
#   all but one difference 0.975 clustered [0.923, 1.027] p 7e-33 clustered 1e-19 McNemar 4e-12
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check errorbars==0.2.4 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
from errorbars.compare import paired_compare

people = [person for person in range(20) for _ in range(2)]
for name, a in (("one of two by each person", [1, 0] * 20), ("all", [1] * 40), ("all but one", [1] * 39 + [0])):
    result = paired_compare(a, [0] * 40, people)
    interval = [round(end, 3) for end in (result.ci_low_clustered, result.ci_high_clustered)]
    ps = [f"{p:.1g}" for p in (result.p_value, result.p_value_clustered, result.mcnemar.p_value)]
    print(name, "difference", result.mean_diff, "clustered", interval, "p", ps[0], "clustered", ps[1], "McNemar", ps[2])
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
one of two by each person difference 0.5 clustered [0.5, 0.5] p 2e-07 clustered 1 McNemar 2e-06
all difference 1.0 clustered [1.0, 1.0] p 1 clustered 1 McNemar 2e-12
all but one difference 0.975 clustered [0.923, 1.027] p 7e-33 clustered 1e-19 McNemar 4e-12
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

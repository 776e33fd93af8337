#!/bin/sh
# oxonfair 0.3: of ten groups one is accepted half as often as the others, and the disparate impact is 0.9.
#
# Its measures.md defines gm.disparate_impact as the smallest rate of positive predictions of any group divided by the largest. It is the
# ratio averaged over all pairs of groups, so that the groups which are treated alike hide the one which is not: from three groups on a
# ratio of 0.5 exceeds that, and from five on it passes the rule of four fifths. gm.pos_pred_rate.min_ratio is what was promised.
#
# Seen:
#   2 groups, rates 0.3 to 0.6 disparate_impact 0.5 smallest by largest 0.5
#   3 groups, rates 0.3 to 0.6 disparate_impact 0.6667 smallest by largest 0.5
#   10 groups, rates 0.3 to 0.6 disparate_impact 0.9 smallest by largest 0.5
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check oxonfair==0.3 numpy==2.4.6 pandas==3.1.1 scikit-learn==1.9.1 scipy==1.17.1
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from oxonfair.utils import group_metrics as gm

for n_groups in (2, 3, 10):
    groups = np.repeat(np.arange(n_groups), 10)
    accepted = np.tile([1] * 6 + [0] * 4, n_groups)
    accepted[-10:] = [1] * 3 + [0] * 7
    labels = np.ones(10 * n_groups, dtype=int)
    rates = [float(accepted[groups == group].mean()) for group in range(n_groups)]
    ratio = float(gm.disparate_impact(labels, accepted, groups)[0])
    smallest = min(rates) / max(rates)
    print(n_groups, "groups, rates", min(rates), "to", max(rates), "disparate_impact", round(ratio, 4), "smallest by largest", smallest)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
2 groups, rates 0.3 to 0.6 disparate_impact 0.5 smallest by largest 0.5
3 groups, rates 0.3 to 0.6 disparate_impact 0.6667 smallest by largest 0.5
10 groups, rates 0.3 to 0.6 disparate_impact 0.9 smallest by largest 0.5
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

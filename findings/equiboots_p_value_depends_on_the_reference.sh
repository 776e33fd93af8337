#!/bin/sh
# equiboots 0.0.1a14: the two-sided p-value of a difference is 0.05, or 0.95 if the other group is the reference.
#
# p is the share of resamples whose difference is below 0. For two sides it was to be doubled, but the code compares the tail_type with
# "two-tailed", and all else accepts "two_tailed" alone. A share is taken from 1 only above 0.975. So a difference and its negative have
# p-values that add up to 1, and half of what they should be at best.
#
# Seen:
#   b less a below 0 in 0.02 p 0.02 by hand 0.04
#   a less b below 0 in 0.98 p 0.02 by hand 0.04
#   b less a below 0 in 0.05 p 0.05 by hand 0.1
#   a less b below 0 in 0.95 p 0.95 by hand 0.1
#   b less a below 0 in 0.1 p 0.1 by hand 0.2
#   a less b below 0 in 0.9 p 0.9 by hand 0.2
#   b less a below 0 in 0.5 p 0.5 by hand 1.0
#   a less b below 0 in 0.5 p 0.5 by hand 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check equiboots==0.0.1a14 numpy==2.2.4 pandas==2.2.3 scipy==1.15.2 scikit-learn==1.8.0
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
import pandas as pd
from equiboots import EquiBoots

groups = pd.DataFrame({"group": ["a", "b"]})
config = {
    "test_type": "bootstrap_test",
    "alpha": 0.05,
    "adjust_method": "none",
    "confidence_level": 0.95,
    "tail_type": "two_tailed",
    "metrics": ["FN_Rate_diff"],
}
for percent in (2, 5, 10, 50):
    below = 50 * percent
    rates = np.concatenate([np.linspace(0.06, 0.09, below), np.linspace(0.11, 0.2, 5000 - below)])
    resamples = [{"a": {"FN Rate": 0.1}, "b": {"FN Rate": float(rate)}} for rate in rates]
    for reference, other in (("a", "b"), ("b", "a")):
        bootstrap = EquiBoots(
            np.ones(2), np.ones(2), groups, ["group"], reference_groups=[reference], bootstrap_flag=True
        )
        differences = bootstrap.calculate_differences(resamples, "group")
        below_0 = np.mean([of_groups[other]["FN_Rate_diff"] < 0 for of_groups in differences])
        result = bootstrap.analyze_statistical_significance(resamples, "group", config, differences)
        p = round(float(result[other]["FN_Rate_diff"].p_value), 2)
        by_hand = round(float(2 * min(below_0, 1 - below_0)), 2)
        print(other, "less", reference, "below 0 in", round(float(below_0), 2), "p", p, "by hand", by_hand)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
b less a below 0 in 0.02 p 0.02 by hand 0.04
a less b below 0 in 0.98 p 0.02 by hand 0.04
b less a below 0 in 0.05 p 0.05 by hand 0.1
a less b below 0 in 0.95 p 0.95 by hand 0.1
b less a below 0 in 0.1 p 0.1 by hand 0.2
a less b below 0 in 0.9 p 0.9 by hand 0.2
b less a below 0 in 0.5 p 0.5 by hand 1.0
a less b below 0 in 0.5 p 0.5 by hand 1.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

#!/bin/sh
# dalex 1.8.0: a group with more than twice the false positive rate of another has a ratio of 1, and "no bias was detected".
#
# fairness_check is documented to compare ratios of rates with 0.8 and 1.25. The rates are rounded to three decimals before they are
# divided, which nothing says. Of 10 000 impostors, rates of 0.0006 and 0.0014 become 0.001 and 0.001. 0.0004 and 0.0001 become 0 and
# their ratio is missing, which counts as no bias, with a warning of NaN. Rates a hundred times as high have the ratio expected.
#
# Seen:
#   6 and 14 of 10000: rates [0.001, 0.001] ratio 1.0 no bias: True
#   4 and 1 of 10000: rates [0.0, 0.0] ratio nan no bias: True
#   600 and 1400 of 10000: rates [0.06, 0.14] ratio 2.3333 no bias: False
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check dalex==1.8.0 numpy==2.4.6 pandas==2.3.3 scipy==1.17.1 plotly==7.1.0
cat > "$folder/finding.py" <<'PYTHON'
import contextlib
import io

import numpy as np
from dalex.fairness import GroupFairnessClassification


def accepted(false_positives):
    """Return decisions on 1000 mated pairs, of which 950 are accepted, and 10 000 others."""
    return [1.0] * 950 + [0.0] * 50 + [1.0] * false_positives + [0.0] * (10000 - false_positives)


truth = np.array(([1] * 1000 + [0] * 10000) * 2)
for a, b in ((6, 14), (4, 1), (600, 1400)):
    decisions = np.array(accepted(a) + accepted(b))
    check = GroupFairnessClassification(truth, decisions, np.repeat(["a", "b"], 11000), "a", "decisions")
    with contextlib.redirect_stdout(io.StringIO()) as words:
        check.fairness_check()
    rates, ratio = check.metric_scores["FPR"].tolist(), round(float(check.result["FPR"]["b"]), 4)
    print(a, "and", b, "of 10000: rates", rates, "ratio", ratio, "no bias:", "No bias was detected!" in words.getvalue())
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
6 and 14 of 10000: rates [0.001, 0.001] ratio 1.0 no bias: True
4 and 1 of 10000: rates [0.0, 0.0] ratio nan no bias: True
600 and 1400 of 10000: rates [0.06, 0.14] ratio 2.3333 no bias: False
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

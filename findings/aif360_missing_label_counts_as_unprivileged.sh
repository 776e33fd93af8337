#!/bin/sh
# aif360 0.6.1: who has no label of a group counts as unprivileged.
#
# The differences of aif360.sklearn are documented as those between unprivileged and privileged groups. All who are not
# privileged are taken for the former, those without a label as well, and nothing is said. aif360's own data sets refuse
# missing labels. Of two privileged and one unprivileged person half and all have a true positive, a difference of 0.5.
#
# Seen:
#   no one without a label: 0.5
#   one more without a label, who has a true positive: 0.5
#   one more without a label, who has none: 0.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check aif360==0.6.1 numpy==2.4.6 pandas==3.1.1 scikit-learn==1.9.1 scipy==1.17.1
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
import pandas as pd
from aif360.sklearn.metrics import equal_opportunity_difference


def difference(labels, predicted):
    truth = pd.Series([1] * len(labels), pd.Index(labels, name="group"))
    return float(equal_opportunity_difference(truth, np.array(predicted), prot_attr="group", priv_group="a"))


print("no one without a label:", difference(["a", "a", "b"], [1, 0, 1]))
print("one more without a label, who has a true positive:", difference(["a", "a", "b", None], [1, 0, 1, 1]))
print("one more without a label, who has none:", difference(["a", "a", "b", None], [1, 0, 1, 0]))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
no one without a label: 0.5
one more without a label, who has a true positive: 0.5
one more without a label, who has none: 0.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt" 2> "$folder/warnings.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

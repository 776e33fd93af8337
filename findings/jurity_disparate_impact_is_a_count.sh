#!/bin/sh
# jurity 2.1.0: a ratio of rates grows with the number of people, where the other group's rate is 0.
#
# DisparateImpact is documented as the rate of positive predictions of one group over that of the other, and as fair from 0.8 to
# 1.2. Where nobody of the other has one it returns how many of the first have: 1, which is perfect, for one of 100. The warning
# asks to check the model, and says nothing of that. The other way round the ratio is 0.
#
# Seen:
#   1 of 100, and 0 of 100: ratio 1.0 and the other way round 0.0
#   2 of 100, and 0 of 100: ratio 2.0 and the other way round 0.0
#   50 of 100, and 0 of 100: ratio 50.0 and the other way round 0.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check jurity==2.1.0 numpy==2.4.6 pandas==3.1.1 scikit-learn==1.9.1 scipy==1.17.1
cat > "$folder/finding.py" <<'PYTHON'
from jurity.fairness import BinaryFairnessMetrics

members = [1] * 100 + [0] * 100
for n in (1, 2, 50):
    predicted = [1] * n + [0] * (200 - n)
    ratios = [BinaryFairnessMetrics.DisparateImpact().get_score(predicted, members, label) for label in (1, 0)]
    print(n, "of 100, and 0 of 100: ratio", float(ratios[0]), "and the other way round", float(ratios[1]))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
1 of 100, and 0 of 100: ratio 1.0 and the other way round 0.0
2 of 100, and 0 of 100: ratio 2.0 and the other way round 0.0
50 of 100, and 0 of 100: ratio 50.0 and the other way round 0.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

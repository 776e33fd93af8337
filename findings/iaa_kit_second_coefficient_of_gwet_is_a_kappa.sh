#!/bin/sh
# iaa-kit 0.1.2: two experts agree on 90 of 100 faces; Gwet's AC1 is 0.89, and his AC2, which is the same with two labels, is -0.05.
#
# Its README has Gwet's AC1 and AC2. The latter is AC1 with weights for labels that are near each other; with two labels there are none. ac2
# returns Cohen's weighted kappa, the number of weighted_kappa, which falls to 0 and below where nearly all faces have one label. That is the
# paradox for which Gwet's coefficients were made.
#
# Seen:
#   two labels AC1 0.8895 AC2 -0.0526 by hand 0.8895 weighted kappa -0.0526
#   three labels AC1 0.894 AC2 0.247 by hand 0.9448 weighted kappa 0.247
#   balanced AC1 0.8 AC2 0.8 by hand 0.8 weighted kappa 0.8
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check iaa-kit==0.1.2 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import iaa_kit
import numpy as np


def ac2(first, second):
    labels = sorted(set(first) | set(second))
    places = np.arange(len(labels))
    weights = 1 - np.abs(places[:, None] - places) / (len(labels) - 1)
    agreement = np.mean([weights[labels.index(a), labels.index(b)] for a, b in zip(first, second)])
    shares = np.array([np.mean([label == a for a in first + second]) for label in labels])
    chance = weights.sum() / (len(labels) * (len(labels) - 1)) * np.sum(shares * (1 - shares))
    return (agreement - chance) / (1 - chance)


tested = {
    "two labels": ([1] * 90 + [1] * 5 + [2] * 5, [1] * 90 + [2] * 5 + [1] * 5),
    "three labels": ([1] * 90 + [1] * 4 + [2] * 4 + [3] * 2, [1] * 90 + [2] * 4 + [1] * 4 + [2] * 2),
    "balanced": ([1] * 45 + [2] * 45 + [1] * 5 + [2] * 5, [1] * 45 + [2] * 45 + [2] * 5 + [1] * 5),
}
for name, (first, second) in tested.items():
    print(name, "AC1", round(iaa_kit.ac1(first, second), 4), "AC2", round(iaa_kit.ac2(first, second), 4), end=" ")
    print("by hand", round(float(ac2(first, second)), 4), end=" ")
    print("weighted kappa", round(iaa_kit.weighted_kappa(first, second), 4))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
two labels AC1 0.8895 AC2 -0.0526 by hand 0.8895 weighted kappa -0.0526
three labels AC1 0.894 AC2 0.247 by hand 0.9448 weighted kappa 0.247
balanced AC1 0.8 AC2 0.8 by hand 0.8 weighted kappa 0.8
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

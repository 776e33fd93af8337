#!/bin/sh
# pauc 0.2.2: a system without an error has a sensitivity between 0.42 and 0.58 at a specificity of 1.
#
# ci_sensitivity bootstraps sensitivities at given specificities, which its README names. Where the curve is vertical, as many mated scores lie
# between two others, each point on it has the same specificity, and the mean of their sensitivities is taken instead of the largest, which is
# the one of the best threshold. A perfect curve begins with such a line from 0 to 1. More people do not help. test_operating_point and the
# band of plot_roc take the same mean.
#
# Seen:
#   perfect of 20 specificity 1.0 interval [0.42, 0.58] by hand [1.0, 1.0]
#   perfect of 20 specificity 0.9 interval [0.81, 1.0] by hand [1.0, 1.0]
#   perfect of 200 specificity 1.0 interval [0.47, 0.52] by hand [1.0, 1.0]
#   perfect of 200 specificity 0.9 interval [1.0, 1.0] by hand [1.0, 1.0]
#   half above of 20 specificity 1.0 interval [0.17, 0.42] by hand [0.35, 0.8]
#   half above of 20 specificity 0.9 interval [0.39, 0.87] by hand [0.4, 0.9]
#   half above of 200 specificity 1.0 interval [0.22, 0.29] by hand [0.44, 0.58]
#   half above of 200 specificity 0.9 interval [0.52, 0.68] by hand [0.53, 0.69]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pauc==0.2.2 numpy==2.4.6 scipy==1.17.1 matplotlib==3.11.2
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
import pauc


def sensitivities(mated, others, specificity, rng):
    allowed = int(np.floor((1 - specificity) * len(others) + 1e-9))
    for _ in range(2000):
        threshold = np.sort(rng.choice(others, len(others)))[::-1][allowed]
        yield np.mean(rng.choice(mated, len(mated)) > threshold)


for name, above in (("perfect", 1.0), ("half above", 0.5)):
    for people in (20, 200):
        others = np.arange(people, dtype=float)
        mated = np.arange(people) + above * people + 0.5
        curve = pauc.ROC(np.repeat([0, 1], people), np.concatenate([others, mated]))
        for specificity in (1.0, 0.9):
            np.random.seed(0)
            low, high = pauc.ci_sensitivity(curve, [specificity])
            drawn = list(sensitivities(mated, others, specificity, np.random.default_rng(0)))
            by_hand = [float(round(end, 2)) for end in np.percentile(drawn, [2.5, 97.5])]
            interval = [float(round(low[0], 2)), float(round(high[0], 2))]
            print(name, "of", people, "specificity", specificity, "interval", interval, "by hand", by_hand)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
perfect of 20 specificity 1.0 interval [0.42, 0.58] by hand [1.0, 1.0]
perfect of 20 specificity 0.9 interval [0.81, 1.0] by hand [1.0, 1.0]
perfect of 200 specificity 1.0 interval [0.47, 0.52] by hand [1.0, 1.0]
perfect of 200 specificity 0.9 interval [1.0, 1.0] by hand [1.0, 1.0]
half above of 20 specificity 1.0 interval [0.17, 0.42] by hand [0.35, 0.8]
half above of 20 specificity 0.9 interval [0.39, 0.87] by hand [0.4, 0.9]
half above of 200 specificity 1.0 interval [0.22, 0.29] by hand [0.44, 0.58]
half above of 200 specificity 0.9 interval [0.52, 0.68] by hand [0.53, 0.69]
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

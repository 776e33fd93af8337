#!/bin/sh
# research-roc-utils 0.1.1: the more people show the same difference between two systems, the less it is one.
#
# roc_z_score is that of Hanley and McNeil, says its README: the difference of two areas by the standard error that both of them and their
# correlation r have. The variances are not divided by the numbers of mated and other scores, and their product is taken where the product
# of standard errors belongs. So ten times as many people reduce z instead of raising it by 3.16, until the number under the root is below 0.
# roc_t_stat divides, but only the root of each variance, and rises by 5.6 instead.
#
# Seen:
#   10 of each, areas 0.79 0.55 z 0.145 t 1.56 by hand 1.45
#   100 of each, areas 0.79 0.55 z 0.054 t 8.9 by hand 4.68
#   1000 of each, areas 0.79 0.55 z nan t 50.11 by hand 14.84
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check research-roc-utils==0.1.1 scikits-bootstrap==1.1.0 setuptools==68.2.2 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 scikit-learn==1.9.1 matplotlib==3.11.2
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
import research_roc_utils.roc_utils as utils
from scipy.stats import kendalltau


def area(mated, others):
    return np.mean(mated[:, None] > others) + 0.5 * np.mean(mated[:, None] == others)


def variance(auc, n, m):
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    return (auc * (1 - auc) + (n - 1) * (first - auc**2) + (m - 1) * (second - auc**2)) / (n * m)


ten = np.arange(10.0)
for times in (1, 10, 100):
    labels = np.tile(np.repeat([0, 1], 10), times)
    one = np.tile(np.concatenate([ten, ten + 3.5]), times)
    other = np.tile(np.concatenate([ten[::-1], ten + 0.5]), times)
    z = utils.roc_z_score(labels, one, other, kendalltau)
    t = utils.roc_t_stat(labels, one, other, kendalltau)
    n = 10 * times
    areas = [area(scores[labels == 1], scores[labels == 0]) for scores in (one, other)]
    v, w = (variance(auc, n, n) for auc in areas)
    r = utils.find_r_val(utils.avg_corr_fun(labels, one, other, kendalltau), np.mean(areas))
    by_hand = (areas[0] - areas[1]) / np.sqrt(v + w - 2 * r * np.sqrt(v * w))
    print(n, "of each, areas", *np.round(areas, 2), "z", round(z, 3), "t", round(t, 2), "by hand", round(by_hand, 2))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
10 of each, areas 0.79 0.55 z 0.145 t 1.56 by hand 1.45
100 of each, areas 0.79 0.55 z 0.054 t 8.9 by hand 4.68
1000 of each, areas 0.79 0.55 z nan t 50.11 by hand 14.84
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

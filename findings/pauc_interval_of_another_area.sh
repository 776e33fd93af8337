#!/bin/sh
# pauc 0.2.2: a partial area of 0.78 has a bootstrap interval from 0.04 to 0.08, or one as wide as that of the whole area.
#
# Its README has intervals of AUC and of partial AUC, by bootstrap or DeLong's method. ci_auc makes curves of resamples without the arguments
# partial_auc_focus and standardize_pauc, so that the interval is one of an area that is not standardized, or lies at specificities instead
# of sensitivities. With DeLong's method, the default, the standard error is that of the whole area: an area that is at most 0.1 gets ends
# below 0 and above 0.15.
#
# Seen:
#   whole 0.888 bootstrap [0.78, 0.965] DeLong [0.791, 0.984] width 0.193
#   partial 0.059 bootstrap [0.035, 0.084] DeLong [-0.038, 0.155] width 0.193
#   standardized 0.783 bootstrap [0.035, 0.084] DeLong [0.687, 0.879] width 0.193
#   at sensitivities 0.042 bootstrap [0.035, 0.084] DeLong [-0.054, 0.139] width 0.193
#   by hand partial [0.04, 0.08] standardized [0.66, 0.9]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pauc==0.2.2 numpy==2.4.6 scipy==1.17.1 matplotlib==3.11.2
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
import pauc

labels = np.repeat([0, 1], 20)
scores = np.concatenate([np.arange(20), np.arange(20) + 10.5])
areas = {
    "whole": {},
    "partial": {"partial_auc": (0.9, 1.0)},
    "standardized": {"partial_auc": (0.9, 1.0), "standardize_pauc": True},
    "at sensitivities": {"partial_auc": (0.9, 1.0), "partial_auc_focus": "sensitivity"},
}
for name, options in areas.items():
    curve = pauc.ROC(labels, scores, **options)
    np.random.seed(0)
    low, high = pauc.ci_auc(curve, method="bootstrap")
    print(name, round(curve.auc, 3), "bootstrap", [float(round(low, 3)), float(round(high, 3))], end=" ")
    low, high = pauc.ci_auc(curve)
    print("DeLong", [float(round(low, 3)), float(round(high, 3))], "width", round(high - low, 3))

rng = np.random.default_rng(0)
drawn = []
for _ in range(2000):
    others, mated = rng.choice(scores[:20], 20), rng.choice(scores[20:], 20)
    thresholds = np.concatenate([[np.inf], np.unique(np.concatenate([others, mated]))[::-1]])
    false_alarms = [np.mean(others >= threshold) for threshold in thresholds]
    hits = [np.mean(mated >= threshold) for threshold in thresholds]
    rates = np.linspace(0, 0.1, 2001)
    sensitivity = np.interp(rates, false_alarms, hits)
    drawn.append(np.mean((sensitivity[1:] + sensitivity[:-1]) / 2) * 0.1)
ends = np.percentile(drawn, [2.5, 97.5])
print("by hand partial", [float(round(end, 2)) for end in ends], end=" ")
print("standardized", [float(round(0.5 * (1 + (end - 0.005) / 0.095), 2)) for end in ends])
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
whole 0.888 bootstrap [0.78, 0.965] DeLong [0.791, 0.984] width 0.193
partial 0.059 bootstrap [0.035, 0.084] DeLong [-0.038, 0.155] width 0.193
standardized 0.783 bootstrap [0.035, 0.084] DeLong [0.687, 0.879] width 0.193
at sensitivities 0.042 bootstrap [0.035, 0.084] DeLong [-0.054, 0.139] width 0.193
by hand partial [0.04, 0.08] standardized [0.66, 0.9]
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

#!/bin/sh
# pyeer 0.5.6: the equal error rate is 1 where the highest score is an impostor's, though both rates are lower at a score.
#
# Its documentation takes the midpoint of FMR and FNMR at the threshold where they are nearest. At threshold 1 they are
# 0.5 and 0, whose midpoint is 0.25. The search looks for a threshold whose FMR is not above its FNMR; the one that accepts
# nothing is no candidate, and without another the answer is 1.
#
# Seen:
#   thresholds [0.0, 1.0] FMR [1.0, 0.5] FNMR [0.0, 0.0]
#   EER 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyeer==0.5.6 numpy==2.4.6 setuptools==80.9.0
cat > "$folder/finding.py" <<'PYTHON'
from pyeer.eer_info import get_eer_stats

stats = get_eer_stats([1.0], [0.0, 1.0])
print("thresholds", stats.thrs.tolist(), "FMR", stats.fmr.tolist(), "FNMR", stats.fnmr.tolist())
print("EER", float(stats.eer))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
thresholds [0.0, 1.0] FMR [1.0, 0.5] FNMR [0.0, 0.0]
EER 1.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

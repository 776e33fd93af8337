#!/bin/sh
# pynndescent 0.7.0: the angular distance of a vector to itself is 1, and gets smaller the further another is away.
#
# true_angular, a metric for its searches as well, is documented to return 0 for identical directions and to approach 1 for opposite
# ones. It returns 1 less the angle over pi, which is a similarity, and from a right angle on the largest number of 32 bits. A threshold
# on this distance accepts the wrong side of it.
#
# Seen:
#   0 degrees: 1.0 documented 0.0
#   30 degrees: 0.8333 documented 0.1667
#   60 degrees: 0.6667 documented 0.3333
#   89 degrees: 0.5056 documented 0.4944
#   90 degrees: 3.4028234663852886e+38 documented 0.5
#   180 degrees: 3.4028234663852886e+38 documented 1.0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pynndescent==0.7.0 numba==0.68.1 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from pynndescent.distances import true_angular

for degrees in (0, 30, 60, 89, 90, 180):
    other = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]).round(12)
    print(degrees, "degrees:", round(float(true_angular(np.array([1.0, 0.0]), other)), 4), "documented", round(degrees / 180, 4))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
0 degrees: 1.0 documented 0.0
30 degrees: 0.8333 documented 0.1667
60 degrees: 0.6667 documented 0.3333
89 degrees: 0.5056 documented 0.4944
90 degrees: 3.4028234663852886e+38 documented 0.5
180 degrees: 3.4028234663852886e+38 documented 1.0
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

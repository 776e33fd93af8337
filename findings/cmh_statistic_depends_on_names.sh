#!/bin/sh
# CMH 1.0.1: whether groups differ in their conclusions depends on what the conclusions are called.
#
# Its documentation calls it a port of R's mantelhaen.test(), to which the order of categories makes no difference. Of tables with three
# rows and columns or more it puts the counts row by row, and their covariances column by column, so that the statistic is one of other
# cells. With one site it is Pearson's chi-square by n - 1 over n, here 4.26 with p = 0.37. Categories are sorted by name: with other names
# for the same people p is as low as 3e-16. Two by any number of categories are not affected.
#
# Seen:
#   by hand 4.262
#   conclusions named x y z M2 65.827 of 4 p 1.7e-13
#   conclusions named x z y M2 75.082 of 4 p 1.9e-15
#   conclusions named y x z M2 58.535 of 4 p 5.9e-12
#   conclusions named y z x M2 78.44 of 4 p 3.3e-16
#   conclusions named z x y M2 3.733 of 4 p 0.44
#   conclusions named z y x M2 4.261 of 4 p 0.37
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check CMH==1.0.1 numpy==2.4.6 pandas==3.1.1 scipy==1.17.1 scikit-learn==1.9.1
cat > "$folder/finding.py" <<'PYTHON'
from itertools import permutations

import numpy as np
import pandas as pd
from cmh import CMH

counts = np.array([[7, 2, 1], [37, 27, 3], [83, 34, 6]])
n = counts.sum()
expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
print("by hand", round(float((n - 1) / n * ((counts - expected) ** 2 / expected).sum()), 3))
people = [(i, j) for i in range(3) for j in range(3) for _ in range(counts[i, j])]
for names in permutations("xyz"):
    frame = pd.DataFrame([(names[i], "abc"[j], "laboratory") for i, j in people], columns=["conclusion", "group", "site"])
    statistic, freedom, p = CMH(frame, "group", "conclusion", "site", raw=True)
    print("conclusions named", *names, "M2", round(float(statistic), 3), "of", freedom, "p", f"{p:.2g}")
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
by hand 4.262
conclusions named x y z M2 65.827 of 4 p 1.7e-13
conclusions named x z y M2 75.082 of 4 p 1.9e-15
conclusions named y x z M2 58.535 of 4 p 5.9e-12
conclusions named y z x M2 78.44 of 4 p 3.3e-16
conclusions named z x y M2 3.733 of 4 p 0.44
conclusions named z y x M2 4.261 of 4 p 0.37
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

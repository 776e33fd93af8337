#!/bin/sh
# rocauc_comparison 0.1.1: a perfect system and one with 50 mated scores below as many others do not differ, with p = 0.66.
#
# delong_roc_test is documented as DeLong's test. It adds 1e-10 to the variance of each area, which its README does not say. Of 20 000
# mated and as many other scores the variance of the difference is 1.6e-12 here, as small as areas near 1 have it, so that what was added
# decides. By DeLong's formula p is 6e-7.
#
# Seen:
#   20 mated and others exchanged: areas 1 and 0.999999 p 0.94 by hand 0.0016
#   50 mated and others exchanged: areas 1 and 0.99999375 p 0.66 by hand 5.6e-07
#   100 mated and others exchanged: areas 1 and 0.999975 p 0.086 by hand 1.4e-12
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check rocauc-comparison==0.1.1 numpy==2.2.4 scipy==1.15.2
cat > "$folder/finding.py" <<'PYTHON'
from math import erfc, sqrt

import numpy as np
from rocauc_comparison import delong_roc_test

n = 20000
labels = np.repeat([1, 0], n)
perfect = np.repeat([3.0, 0.0], n)
for errors in (20, 50, 100):
    other = perfect.copy()
    other[:errors], other[n : n + errors] = 1.0, 2.0
    area = 1 - (errors / n) ** 2
    # Of both systems' shares of pairs in order only those of the exchanged differ, by errors / n from 1.
    of_mated = np.where(np.arange(n) < errors, errors / n, 0.0)
    z = (1 - area) / sqrt(2 * of_mated.var(ddof=1) / n)
    p = float(delong_roc_test(labels, perfect, other).p_value)
    print(errors, "mated and others exchanged: areas 1 and", round(area, 8), "p", f"{p:.2g}", "by hand", f"{erfc(z / sqrt(2)):.2g}")
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
20 mated and others exchanged: areas 1 and 0.999999 p 0.94 by hand 0.0016
50 mated and others exchanged: areas 1 and 0.99999375 p 0.66 by hand 5.6e-07
100 mated and others exchanged: areas 1 and 0.999975 p 0.086 by hand 1.4e-12
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

#!/bin/sh
# episia 0.1.3: the difference of two error rates, pooled over sites that all have 0.1, is 5, or 50 with ten times as many people.
#
# mantel_haenszel_or is documented to pool tables of several sites, as which its Table2x2 has the exposed in the first column. The difference
# is not divided by the weights of Mantel and Haenszel, but by the number of sites. The ratio of rates is that between rows, so that it
# is 1.42 where each site has 2. The interval of the odds ratio lacks half of its variance: with one site it is narrower than that of the very
# table, and leaves out 1, which the latter holds.
#
# Seen:
#   1 of 200 ratio 1.42 difference 5.0 odds [1.23, 4.1] by hand 2.0 0.1 [0.99, 5.09] one table 2.0 0.1
#   2 of 200 ratio 1.42 difference 5.0 odds [1.47, 3.44] by hand 2.0 0.1 [1.26, 4.01] one table 2.0 0.1
#   1 of 2000 ratio 1.42 difference 50.0 odds [1.86, 2.72] by hand 2.0 0.1 [1.74, 2.91] one table 2.0 0.1
#   2 of 2000 ratio 1.42 difference 50.0 odds [1.97, 2.57] by hand 2.0 0.1 [1.87, 2.7] one table 2.0 0.1
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check episia==0.1.3 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 matplotlib==3.11.2 plotly==7.1.0
cat > "$folder/finding.py" <<'PYTHON'
import numpy as np
from episia.stats.contingency import Table2x2
from episia.stats.stratified import mantel_haenszel_or


def pool(tables):
    counts = np.array([(t.a, t.b, t.c, t.d) for t in tables], dtype=float)
    a, b, c, d = counts.T
    exposed, others, everyone = a + c, b + d, counts.sum(axis=1)
    ratio = np.sum(a * others / everyone) / np.sum(b * exposed / everyone)
    difference = np.sum((a * others - b * exposed) / everyone) / np.sum(exposed * others / everyone)
    p, q, r, s = (a + d) / everyone, (b + c) / everyone, a * d / everyone, b * c / everyone
    variance = np.sum(p * r) / np.sum(r) ** 2 + np.sum(p * s + q * r) / (np.sum(r) * np.sum(s)) + np.sum(q * s) / np.sum(s) ** 2
    ends = np.sum(r) / np.sum(s) * np.exp(np.array([-1.96, 1.96]) * np.sqrt(variance / 2))
    return round(float(ratio), 2), round(float(difference), 2), [float(round(end, 2)) for end in ends]


for times in (1, 10):
    for sites in (1, 2):
        table = Table2x2(20 * times, 10 * times, 80 * times, 90 * times)
        pooled = mantel_haenszel_or([table] * sites)
        ends = [float(round(end, 2)) for end in pooled.or_ci]
        print(sites, "of", table.total, "ratio", round(pooled.common_rr, 2), "difference", round(pooled.common_rd, 2), "odds", ends, end=" ")
        print("by hand", *pool([table] * sites), end=" ")
        print("one table", table.risk_ratio().estimate, round(float(table.risk_difference()["estimate"]), 2))
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
1 of 200 ratio 1.42 difference 5.0 odds [1.23, 4.1] by hand 2.0 0.1 [0.99, 5.09] one table 2.0 0.1
2 of 200 ratio 1.42 difference 5.0 odds [1.47, 3.44] by hand 2.0 0.1 [1.26, 4.01] one table 2.0 0.1
1 of 2000 ratio 1.42 difference 50.0 odds [1.86, 2.72] by hand 2.0 0.1 [1.74, 2.91] one table 2.0 0.1
2 of 2000 ratio 1.42 difference 50.0 odds [1.97, 2.57] by hand 2.0 0.1 [1.87, 2.7] one table 2.0 0.1
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

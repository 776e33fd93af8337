#!/bin/sh
# equiboots 0.0.1a14: of a thousand bootstrap resamples ten are different, and the interval of a rate is too narrow.
#
# num_bootstraps is documented as the number of iterations, seeds as a list for reproducibility. Iterations take the seeds in turn, and ten
# are the default, so that the eleventh resample is the first again. The percentiles are the smallest and the largest of ten rates;
# more iterations change nothing. Of 50 errors in 500 an interval has ends near those by hand, which as many seeds as iterations give.
#
# Seen:
#   by hand [0.0737, 0.1263]
#   default seeds 1000 resamples 10 different [0.088, 0.124]
#   1000 seeds 1000 resamples 1000 different [0.074, 0.128]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check equiboots==0.0.1a14 numpy==2.2.4 pandas==2.2.3 scipy==1.15.2 scikit-learn==1.8.0
cat > "$folder/finding.py" <<'PYTHON'
import contextlib
import io

import numpy as np
import pandas as pd
from equiboots import EquiBoots

groups = pd.DataFrame({"group": np.repeat(["a", "b"], 500)})
matched = np.tile([0] + [1] * 9, 100)
error = float(np.sqrt(0.1 * 0.9 / 500))
print("by hand", [round(0.1 - 1.96 * error, 4), round(0.1 + 1.96 * error, 4)])
for name, seeds in (("default seeds", {}), ("1000 seeds", {"seeds": list(range(1000))})):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        bootstrap = EquiBoots(
            np.ones(1000, dtype=int),
            matched,
            groups,
            ["group"],
            y_prob=matched.astype(float),
            bootstrap_flag=True,
            num_bootstraps=1000,
            boot_sample_size=1000,
            **seeds,
        )
        bootstrap.grouper(["group"])
        metrics = bootstrap.get_metrics(bootstrap.slicer("group"), metric_list=["FN Rate"])
    samples = {tuple(resample["group"]["indices"]["a"]) for resample in bootstrap.groups}
    rates = [float(of_groups["a"]["FN Rate"]) for of_groups in metrics]
    ends = [round(float(end), 4) for end in np.percentile(rates, [2.5, 97.5])]
    print(name, len(rates), "resamples", len(samples), "different", ends)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
by hand [0.0737, 0.1263]
default seeds 1000 resamples 10 different [0.088, 0.124]
1000 seeds 1000 resamples 1000 different [0.074, 0.128]
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"

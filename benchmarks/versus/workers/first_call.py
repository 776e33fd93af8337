"""The first calls of a process. Argument: how often to evaluate."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import fastfair as ff
from benchmarks._data import labelled_columns

comparisons = ff.Comparisons(**labelled_columns(20_000, n_groups=4, subjects_per_group=50))
for _ in range(int(sys.argv[1])):
    ff.evaluate(comparisons, at=[ff.at_fmr(1e-2)], rng=0)

"""The first calls of a process; their seconds are left in `calls.json`."""

import json
import sys
import time
from pathlib import Path

start = time.perf_counter()
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import fastfair as ff  # noqa: E402, importing is clocked
from benchmarks._data import labelled_columns  # noqa: E402

marks = {"imports": time.perf_counter()}
columns = labelled_columns(20_000, n_groups=4, subjects_per_group=50)
marks["making of scores"] = time.perf_counter()
comparisons = ff.Comparisons(**columns)
marks["comparisons"] = time.perf_counter()
for call in ("first evaluate", "second evaluate"):
    ff.evaluate(comparisons, at=[ff.at_fmr(1e-2)], rng=0)
    marks[call] = time.perf_counter()
times = [start, *marks.values()]
Path("calls.json").write_text(
    json.dumps({name: times[k + 1] - times[k] for k, name in enumerate(marks)})
)

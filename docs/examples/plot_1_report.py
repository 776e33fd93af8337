"""
From a score file to a report
=============================

You have a file of comparison scores and want error rates for each group, with
intervals, on a page to hand on. It takes four calls.
"""

# %%
# The file
# --------
# Each row is one comparison: its score, whether it is mated, who was compared
# with whom, and the group of both. So that this example has such a file, it
# writes one of real scores, those of VoxCeleb1-H by a speaker recognition
# system:

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import fastfair as ff

folder = Path(tempfile.mkdtemp())
file = folder / "scores.csv"
ff.write_comparisons(
    ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender"), file
)

with file.open() as lines:
    for _ in range(4):
        print(next(lines).strip())

# %%
# Read it
# -------
# Columns with these names are found. Files with other names and formats are
# read, too: :doc:`/files`.

comparisons = ff.read_comparisons(file, groups="Gender")
comparisons

# %%
# Evaluate it
# -----------
# The operating point is the threshold at which the overall :term:`FMR` is 0.1
# %. All people are compared with the same threshold, as they would be in use.
# ``rng`` is the seed: the same seed gives the same intervals. A notebook, such
# as this page is when downloaded, shows the rates of groups with their
# intervals, and then the metrics and measures; ``print(evaluation.summary())``
# says the same elsewhere.

evaluation = ff.evaluate(comparisons, ff.at_fmr(0.001), rng=0)
evaluation

# %%
# Look at it
# ----------
# The FMR of women is twice that of men, and the intervals lie apart. Their
# :term:`FNMRs <FNMR>` are nearly the same.

figure, (top, bottom) = plt.subplots(
    2, figsize=(7, 4.5), layout="constrained"
)
evaluation.plot(rate="fmr", ax=top)
evaluation.plot(rate="fnmr", ax=bottom)

# %%
# Single numbers are asked for by name, here the FMR of women and its interval:

evaluation.value("fmr", "f"), evaluation.interval("fmr", "f")

# %%
# Hand it on
# ----------
# The report is one file with plots, tables, remarks and the origin of the
# numbers, which any browser opens. A test of whether the groups differ goes
# into it as well.

test = ff.fmr_test(comparisons, ff.at_fmr(0.001), rng=0)
report = folder / "report.html"
ff.report(
    [evaluation, test],
    report,
    title="VoxCeleb1-H by gender",
    inputs=[file],
)
print(f"{report.name}: {report.stat().st_size // 1000:,} kB")

# %%
# The same from a terminal::
#
#    fastfair evaluate scores.csv --group Gender --at fmr=0.001 --seed 0 \
#        --report report.html
#
# :doc:`/report` tells what is in it.

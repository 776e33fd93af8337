"""bob.measure's Cllr of log-likelihood ratios, with both error rates at the Bayes threshold: Cllr,
FMR, FNMR."""

from bob.measure import farfrr
from bob.measure.calibration import cllr
from serve import load, serve

nonmated, mated, threshold = load("nonmated"), load("mated"), float(load("threshold"))
serve(
    {"costs": lambda: [cllr(nonmated, mated), *farfrr(nonmated, mated, threshold)]},
    ["bob.measure", "numpy"],
)

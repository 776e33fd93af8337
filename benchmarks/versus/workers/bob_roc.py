"""bob.measure's ROC at 2,000 thresholds: FMR and FNMR."""

from bob.measure import roc
from serve import load, serve

nonmated, mated = load("nonmated"), load("mated")
serve({"roc": lambda: roc(nonmated, mated, 2000)}, ["bob.measure", "numba", "numpy"])

"""pyannote.metrics' equal error rate."""

from answers import answer, flags_and_scores
from pyannote.metrics.binary_classification import det_curve

answer({"pyannote-eer": lambda mated, nonmated: det_curve(*flags_and_scores(mated, nonmated))[3]})

"""scikit-learn's ROC: false positive rates, true positive rates, thresholds."""

from serve import load, serve
from sklearn.metrics import roc_curve

mated, scores = load("mated"), load("scores")
serve(
    {
        "every-point": lambda: roc_curve(mated, scores, drop_intermediate=False),
        "default": lambda: roc_curve(mated, scores),
    },
    ["scikit-learn", "numpy"],
)

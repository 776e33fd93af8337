"""fairlearn's rates of groups."""

import numpy as np
from answers import THRESHOLD, answer, flags_and_scores
from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate


def groups(mated: np.ndarray, nonmated: np.ndarray) -> np.ndarray:
    """Return FMR and FNMR of two groups, which take turns in each list."""
    flags, scores = flags_and_scores(mated, nonmated)
    frame = MetricFrame(
        metrics={"fmr": false_positive_rate, "fnmr": false_negative_rate},
        y_true=flags,
        y_pred=scores >= THRESHOLD,
        sensitive_features=np.concatenate(
            [np.arange(mated.size) % 2, np.arange(nonmated.size) % 2]
        ),
    )
    return frame.by_group[["fmr", "fnmr"]].to_numpy().ravel()


answer({"fairlearn-groups": groups})

"""score-analysis' equal error rate and thresholds."""

import numpy as np
from answers import RATE, answer
from score_analysis import Scores


def rates(mated: np.ndarray, nonmated: np.ndarray) -> list[float]:
    scores = Scores(pos=mated, neg=nonmated)
    threshold = scores.threshold_at_fpr(RATE)
    return [scores.fpr(threshold), scores.fnr(threshold)]


answer(
    {
        "score-analysis-eer": lambda mated, nonmated: Scores(pos=mated, neg=nonmated).eer()[1],
        "score-analysis-fmr": rates,
    }
)

"""bob.measure's rates, thresholds and ranks."""

import bob.measure as bob
import numpy as np
from answers import RATE, THRESHOLD, answer
from bob.measure.calibration import cllr


def rates(mated: np.ndarray, nonmated: np.ndarray, threshold: float) -> tuple[float, float]:
    return bob.farfrr(nonmated, mated, threshold)


def least_cost(mated: np.ndarray, nonmated: np.ndarray) -> float:
    fmr, fnmr = rates(mated, nonmated, bob.min_weighted_error_rate_threshold(nonmated, mated, 0.99))
    return 0.99 * fmr + 0.01 * fnmr


answer(
    {
        "bob-farfrr": lambda mated, nonmated: rates(mated, nonmated, THRESHOLD),
        "bob-eer": lambda mated, nonmated: bob.eer(nonmated, mated),
        "bob-far": lambda mated, nonmated: rates(
            mated, nonmated, bob.far_threshold(nonmated, mated, RATE)
        ),
        "bob-frr": lambda mated, nonmated: rates(
            mated, nonmated, bob.frr_threshold(nonmated, mated, RATE)
        ),
        "bob-min-dcf": least_cost,
        "bob-cllr": lambda mated, nonmated: cllr(nonmated, mated),
        "bob-rank": lambda mated, nonmated: [bob.recognition_rate([(nonmated, mated[:1])])] * 2,
    }
)

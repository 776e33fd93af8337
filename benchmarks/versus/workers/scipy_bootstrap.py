"""SciPy's bootstrap of the EER: standard errors from mated and non-mated trials resampled apart."""

from collections.abc import Callable

import eers
import numpy as np
from scipy.stats import bootstrap
from serve import load, serve

scores, flags = load("scores"), load("mated")
sides = scores[flags], scores[~flags]
mated = np.repeat(
    [True, False], [side.size for side in sides]
)  # of both sides one behind the other


def run(eer: Callable[[np.ndarray, np.ndarray], float], n_resamples: int) -> float:
    found = bootstrap(
        sides,
        lambda *resampled: eer(mated, np.concatenate(resampled)),
        n_resamples=n_resamples,
        vectorized=False,
        batch=1,  # faster than all at once
        method="percentile",  # the default leaves out every trial once
        rng=0,
    )
    return found.standard_error


serve(
    {
        "eer": lambda: [eers.by_sorting(flags, scores), eers.by_roc_curve(flags, scores)],
        "sorting": lambda: run(eers.by_sorting, 6),
        "roc_curve": lambda: run(eers.by_roc_curve, 6),
        "hundred": lambda: run(eers.by_sorting, 100),
    },
    ["scipy", "scikit-learn", "numpy"],
)

"""lir's metrics of decimal log-likelihood ratios."""

import numpy as np
from answers import answer, flags_and_scores
from lir.data.models import LLRData
from lir.metrics import cllr, cllr_min


def decimal(mated: np.ndarray, nonmated: np.ndarray) -> LLRData:
    """Return natural logarithms as lir wants them, to base 10."""
    flags, ratios = flags_and_scores(mated, nonmated)
    return LLRData(features=ratios[:, None] / np.log(10), labels=flags)


answer(
    {
        "lir-cllr": lambda mated, nonmated: cllr(decimal(mated, nonmated)),
        "lir-min-cllr": lambda mated, nonmated: cllr_min(decimal(mated, nonmated)),
    }
)

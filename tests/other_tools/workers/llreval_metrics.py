"""llreval's metrics of natural log-likelihood ratios."""

from answers import answer
from llreval.quick_eval import tarnon_2_eer_cllr_mincllr

answer(
    {
        "llreval-eer": lambda mated, nonmated: tarnon_2_eer_cllr_mincllr(mated, nonmated)[0],
        "llreval-cllr": lambda mated, nonmated: tarnon_2_eer_cllr_mincllr(mated, nonmated)[1],
        "llreval-min-cllr": lambda mated, nonmated: tarnon_2_eer_cllr_mincllr(mated, nonmated)[2],
    }
)

"""pyeer's statistics."""

from answers import answer
from pyeer.eer_info import get_eer_stats

answer(
    {
        "pyeer-eer": lambda mated, nonmated: get_eer_stats(mated, nonmated).eer,
        "pyeer-fmr10": lambda mated, nonmated: get_eer_stats(mated, nonmated).fmr10,
    }
)

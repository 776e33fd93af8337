"""pyeer's statistics of mated and non-mated scores."""

from pyeer.eer_info import get_eer_stats
from serve import load, serve

mated, nonmated = load("mated"), load("nonmated")


def curve() -> list:
    found = get_eer_stats(mated, nonmated)
    return [found.thrs, found.fmr, found.fnmr]


def values() -> list[float]:
    found = get_eer_stats(mated, nonmated)
    return [found.eer, found.fmr1000, found.fmr100, found.fmr20]


serve(
    {"curve": curve, "values": values, "stats": lambda: get_eer_stats(mated, nonmated)},
    ["pyeer", "numpy"],
)

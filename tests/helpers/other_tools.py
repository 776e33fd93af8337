"""Sets of tied scores, and what fastfair says of them where the table of docs/from_other_tools
compares it.

An answer is an array: a number, the rates at a threshold, or a curve, of which all FMRs come before
all FNMRs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement

import numpy as np

import fastfair as ff

Scores = list[int]
Answer = Callable[[Scores, Scores], np.ndarray]

# Scores from here on are accepted where a tool is asked about a threshold.
THRESHOLD = 2
# The FMR or FNMR that is asked for: one of small sets, which none has exactly.
RATE = 0.3


def tied_sets(n: int = 200) -> list[tuple[Scores, Scores]]:
    """Draw mated and non-mated scores, up to eight of each, from few whole numbers; systems are of
    any quality."""
    rng = np.random.default_rng(0)
    sets = []
    for _ in range(n):
        n_mated, n_nonmated = rng.integers(1, 9, 2)
        highest, shift = rng.integers(1, 6), rng.integers(0, 4)
        mated, nonmated = (
            rng.integers(0, highest + 1, n_mated),
            rng.integers(0, highest + 1, n_nonmated),
        )
        sets.append(((mated + shift).tolist(), nonmated.tolist()))
    return sets


def sets_of_size(n: int, highest: int) -> Iterator[tuple[Scores, Scores]]:
    """Give all sets of n scores from 0 to the highest, up to their order within mated and non-mated
    ones."""
    for n_mated in range(1, n):
        for mated in combinations_with_replacement(range(highest + 1), n_mated):
            for nonmated in combinations_with_replacement(range(highest + 1), n - n_mated):
                yield list(mated), list(nonmated)


def differ(theirs: np.ndarray, ours: np.ndarray, tolerance: float) -> bool:
    """Say whether two answers differ; what is undefined for both is equal."""
    same_length = len(theirs) == len(ours)
    return not same_length or not np.allclose(theirs, ours, rtol=0, atol=tolerance, equal_nan=True)


def _comparisons(mated: Scores, nonmated: Scores, **columns: np.ndarray) -> ff.Comparisons:
    scores = np.array([*mated, *nonmated], dtype=float)
    return ff.Comparisons(scores, np.arange(scores.size) < len(mated), **columns)


def _eer(method: str) -> Answer:
    return lambda mated, nonmated: np.array([ff.eer(_comparisons(mated, nonmated), method).value])


def _rates(at: ff.OperatingPoint) -> Answer:
    def answer(mated: Scores, nonmated: Scores) -> np.ndarray:
        rates = ff.rates(_comparisons(mated, nonmated), at)
        return np.array([rates.fmr, rates.fnmr])

    return answer


def _least_cost(p_target: float, normalize: bool = False) -> Answer:
    costs = ff.Costs(p_target, normalize=normalize)
    return lambda mated, nonmated: np.array(
        [ff.min_dcf(_comparisons(mated, nonmated), costs).value]
    )


def _cllr(mated: Scores, nonmated: Scores) -> np.ndarray:
    return np.array([ff.cllr(_comparisons(mated, nonmated))])


def _cllr_of_prior(mated: Scores, nonmated: Scores) -> np.ndarray:
    return np.array([ff.cllr(_comparisons(mated, nonmated), 0.02)])


def _min_cllr(mated: Scores, nonmated: Scores) -> np.ndarray:
    return np.array([ff.min_cllr(_comparisons(mated, nonmated))])


def _curve(mated: Scores, nonmated: Scores) -> np.ndarray:
    curve = ff.roc(_comparisons(mated, nonmated))
    return np.concatenate([curve.fmr, curve.fnmr])


def _counts(mated: Scores, nonmated: Scores) -> np.ndarray:
    curve = ff.roc(_comparisons(mated, nonmated))
    return np.concatenate([curve.fmr[:-1] * len(nonmated), curve.fnmr[:-1] * len(mated)])


def _group_rates(mated: Scores, nonmated: Scores) -> np.ndarray:
    """Return FMR and FNMR of two groups, which take turns in each list."""
    groups = np.array([k % 2 for scores in (mated, nonmated) for k in range(len(scores))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ff.errors.FastfairWarning)
        rates = ff.rates(
            _comparisons(mated, nonmated, reference_group=groups), ff.at_threshold(THRESHOLD)
        )
    return np.stack([rates.group_fmr, rates.group_fnmr], axis=1).ravel()


def _hits(mated: Scores, nonmated: Scores) -> np.ndarray:
    """Say of a search whether its mate has rank 1: the mate enrolled first, and last."""
    first = ff.Searches.from_matrix([[mated[0], *nonmated]], [0], np.arange(len(nonmated) + 1))
    last = ff.Searches.from_matrix(
        [[*nonmated, mated[0]]], [len(nonmated)], np.arange(len(nonmated) + 1)
    )
    return (np.concatenate([first.rank, last.rank]) == 1).astype(float)


OURS: dict[str, Answer] = {
    "roc": _curve,
    "counts": _counts,
    "eer": _eer("nearest"),
    "eer-nearest-max": _eer("nearest-max"),
    "eer-interpolated": _eer("interpolated"),
    "eer-convex-hull": _eer("convex-hull"),
    "at-threshold": _rates(ff.at_threshold(THRESHOLD)),
    "at-fmr": _rates(ff.at_fmr(RATE)),
    "fnmr-at-0.1": lambda mated, nonmated: _rates(ff.at_fmr(0.1))(mated, nonmated)[1:],
    "at-fnmr": _rates(ff.at_fnmr(RATE)),
    "min-dcf-0.01": _least_cost(0.01),
    "min-dcf-0.05-normalized": _least_cost(0.05, normalize=True),
    "min-dcf-0.5": _least_cost(0.5),
    "min-dcf-0.9": _least_cost(0.9),
    "cllr": _cllr,
    "cllr-0.02": _cllr_of_prior,
    "min-cllr": _min_cllr,
    "groups": _group_rates,
    "rank-1": _hits,
}

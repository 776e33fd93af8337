"""Transforms of scores into log-likelihood ratios: a straight line by logistic regression, and steps by PAV."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fastfair.data import score_keys
from fastfair.errors import InputError

Floats = NDArray[np.float64]
_MOST_STEPS = 100
_CONVERGED = 1e-12  # of the decrement of Newton's method, twice what the cost can still fall


class Transform(Protocol):
    """What makes log-likelihood ratios of similarities."""

    method: ClassVar[str]

    def ratios_of(self, similarities: NDArray[np.floating]) -> Floats:
        """Return the (n,) log-likelihood ratios of (n,) similarities."""


@dataclass(frozen=True)
class LogisticTransform:
    """Log-likelihood ratios that are a straight line over the similarity.

    Attributes
    ----------
    slope, offset : float
        The ratio of a similarity s is slope * s + offset.
    """

    slope: float
    offset: float
    method: ClassVar[str] = "logistic"

    def ratios_of(self, similarities: NDArray[np.floating]) -> Floats:
        """Return the (n,) log-likelihood ratios of (n,) similarities."""
        return self.slope * np.asarray(similarities, np.float64) + self.offset


@dataclass(frozen=True, eq=False)
class PavTransform:
    """Log-likelihood ratios that rise from block to block of similarities, with straight lines between blocks.

    Attributes
    ----------
    similarities : (n,) ndarray
        The ends of the blocks, ascending.
    ratios : (n,) ndarray
        The ratios there; beyond the first and the last they stay the same.
    """

    similarities: Floats
    ratios: Floats
    method: ClassVar[str] = "pav"

    def ratios_of(self, similarities: NDArray[np.floating]) -> Floats:
        """Return the (n,) log-likelihood ratios of (n,) similarities."""
        return np.interp(np.asarray(similarities, np.float64), self.similarities, self.ratios)


def fit_logistic(mated: Floats, nonmated: Floats, p_target: float, of_whom: str = "") -> LogisticTransform:
    """Fit the line whose ratios have the least cross-entropy at a prior.

    Parameters
    ----------
    mated, nonmated : (n,) ndarray
        Similarities, at least one each.
    p_target : float
        Prior probability of a mated comparison.
    of_whom : str
        Whose scores they are, in messages.

    Returns
    -------
    LogisticTransform

    Raises
    ------
    InputError
        Where a score separates the classes, so that no line is the best, and where mated comparisons score lower.

    Notes
    -----
    Minimises p mean(log(1 + exp(-z))) over mated plus (1 - p) mean(log(1 + exp(z))) over non-mated comparisons, where z
    = slope * s + offset + logit p, by Newton's method.
    """
    from scipy.special import expit, log_expit

    if mated.min() >= nonmated.max() or mated.max() <= nonmated.min():
        raise InputError(
            f"a score separates the mated from the non-mated comparisons{of_whom}, so no line is the best: calibrate "
            'with more comparisons, or with method="pav"'
        )
    scores = np.concatenate((mated, nonmated))
    center, scale = float(scores.mean()), float(scores.std())
    x = (scores - center) / scale
    is_mated = np.arange(x.size) < mated.size
    weights = np.where(is_mated, p_target / mated.size, (1 - p_target) / nonmated.size)
    sign = np.where(is_mated, 1.0, -1.0)
    log_odds = float(np.log(p_target / (1 - p_target)))

    def of_true_class(line: Floats) -> Floats:
        return sign * (line[0] * x + line[1] + log_odds)

    def cost(log_odds_of_truth: Floats) -> float:
        return -float(weights @ log_expit(log_odds_of_truth))

    line = np.array([1.0, 0.0])
    found = of_true_class(line)
    now = cost(found)
    for _ in range(_MOST_STEPS):
        wrong = expit(-found)  # probability of the other class
        slope, curvature = weights * sign * wrong, weights * wrong * (1 - wrong)
        gradient = -np.array([slope @ x, slope.sum()])
        middle = curvature @ x
        hessian = np.array([[curvature @ x**2, middle], [middle, curvature.sum()]])
        step = np.linalg.solve(hessian + 1e-300 * np.eye(2), gradient)
        if gradient @ step <= _CONVERGED * now:
            break
        size = 1.0
        while True:
            found = of_true_class(line - size * step)
            tried = cost(found)
            if tried <= now or size <= 1e-10:
                break
            size /= 2
        line, now = line - size * step, tried
    if line[0] <= 0:
        raise InputError(
            f"the mated comparisons{of_whom} do not score higher than the non-mated ones, so scores do not become "
            "log-likelihood ratios: are they distances, or is mated the wrong way round?"
        )
    return LogisticTransform(float(line[0] / scale), float(line[1] - line[0] * center / scale))


def fit_pav(mated: Floats, nonmated: Floats) -> PavTransform:
    """Pool adjacent violators: the rising steps whose ratios have the least cross-entropy at any prior.

    Parameters
    ----------
    mated, nonmated : (n,) ndarray
        Similarities, at least one each.

    Returns
    -------
    PavTransform

    Notes
    -----
    A mated and a non-mated comparison are added below all scores, and above them, so that no ratio is infinite, as the
    BOSARIS toolkit does by Laplace's rule of succession.
    """
    from fastfair.kernels import curves as kernels

    sides = [np.sort(np.asarray(side, np.float64)) for side in (mated, nonmated)]
    ends = np.iinfo(np.int64)
    keys = [np.concatenate(([ends.min], score_keys.encode(side), [ends.max])) for side in sides]
    false_matches, false_nonmatches = kernels.convex_hull(*keys)
    of_mated, of_nonmated = np.diff(false_nonmatches), -np.diff(false_matches)
    ratios = np.log(of_mated / keys[0].size) - np.log(of_nonmated / keys[1].size)
    # The first and the last score of each block: those of the class whose is lower, or higher.
    firsts, lasts = [], []
    for side, counts in zip(sides, (of_mated, of_nonmated), strict=True):
        stop = np.clip(np.cumsum(counts) - 1, 0, side.size)  # without the one added below, nor that above
        start = np.concatenate(([0], stop[:-1]))
        has = stop > start
        firsts.append(np.where(has, side[np.minimum(start, side.size - 1)], np.inf))
        lasts.append(np.where(has, side[np.maximum(stop - 1, 0)], -np.inf))
    first, last = np.minimum(*firsts), np.maximum(*lasts)
    filled = first <= last
    at = np.column_stack((first, last))[filled].ravel()
    known, place = np.unique(at, return_index=True)
    return PavTransform(known, np.repeat(ratios[filled], 2)[place])

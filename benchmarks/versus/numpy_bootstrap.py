"""EER and FNMR of replicates of subjects in NumPy alone, as one would write it with speed in mind:
sorted once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .common import Trials

Weights = NDArray[np.int32]


class NumpyBootstrap:
    """Trials sorted once; a replicate gathers weights and sums them up.

    A mated trial weighs as often as its subject is drawn, a non-mated one the product of its two
    subjects' weights.
    """

    def __init__(self, trials: Trials, n_subjects: int) -> None:
        self._n_subjects = n_subjects
        mated, nonmated = (
            self._ascending(trials, np.flatnonzero(flags))
            for flags in (trials.mated, ~trials.mated)
        )
        self._mated_subject = trials.reference[mated]
        self._reference, self._probe = trials.reference[nonmated], trials.probe[nonmated]
        self._thresholds = thresholds = np.unique(trials.scores)
        # How many of each class lie below every threshold, the last of which accepts none.
        self._mated_below, self._nonmated_below = (
            np.append(np.searchsorted(trials.scores[rows], thresholds), rows.size)
            for rows in (mated, nonmated)
        )

    @staticmethod
    def _ascending(trials: Trials, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        return rows[np.argsort(trials.scores[rows])]

    def draw(self, rng: np.random.Generator) -> Weights:
        """Draw as many subjects as there are, and count."""
        return rng.multinomial(
            self._n_subjects, np.full(self._n_subjects, 1 / self._n_subjects)
        ).astype(np.int32)

    def _sums(self, weights: Weights) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sum the weights of the trials of each class below every position."""
        mated, nonmated = (
            np.zeros(side.size + 1, np.int64) for side in (self._mated_subject, self._reference)
        )
        np.cumsum(weights[self._mated_subject], out=mated[1:])
        np.cumsum(weights[self._reference] * weights[self._probe], out=nonmated[1:])
        return mated, nonmated

    def eer_of_curve(self, weights: Weights) -> float:
        """Compute both rates at every threshold and take them where they are nearest."""
        mated, nonmated = self._sums(weights)
        fnmr = mated[self._mated_below] / mated[-1]
        fmr = 1 - nonmated[self._nonmated_below] / nonmated[-1]
        k = np.argmin(np.abs(fnmr - fmr))
        return float(fnmr[k] + fmr[k]) / 2

    def eer_by_bisection(self, weights: Weights) -> float:
        """Find by bisection where the one rate overtakes the other; the nearest are there or just
        before."""
        return self._eer(self._rates(weights))

    def eer_and_fnmr(self, weights: Weights, level: float) -> tuple[float, float]:
        """Compute the EER, and the FNMR at the lowest threshold at which the FMR is not above a
        level."""
        rates = self._rates(weights)
        return self._eer(rates), rates(self._first(lambda k: rates(k)[1] <= level))[0]

    def threshold(self, weights: Weights, level: float) -> float:
        """Find the lowest threshold at which the FMR is not above a level: a float above the last
        score rejected."""
        rates = self._rates(weights)
        k = self._first(lambda k: rates(k)[1] <= level)
        return float(np.nextafter(self._thresholds[k - 1], self._thresholds.dtype.type(np.inf)))

    def rates_at(self, weights: Weights, threshold: float) -> tuple[float, float]:
        """Compute FNMR and FMR at a threshold."""
        return self._rates(weights)(int(np.searchsorted(self._thresholds, threshold)))

    def _rates(self, weights: Weights) -> Callable[[int], tuple[float, float]]:
        """Return what computes FNMR and FMR at a threshold."""
        mated, nonmated = self._sums(weights)

        def rates(k: int) -> tuple[float, float]:
            above = nonmated[-1] - nonmated[self._nonmated_below[k]]
            return mated[self._mated_below[k]] / mated[-1], above / nonmated[-1]

        return rates

    def _eer(self, rates: Callable[[int], tuple[float, float]]) -> float:
        k = self._first(lambda k: np.greater_equal(*rates(k)))
        fnmr, fmr = min(
            (rates(k) for k in (k, max(k - 1, 0))), key=lambda pair: abs(pair[0] - pair[1])
        )
        return float(fnmr + fmr) / 2

    def _first(self, holds: Callable[[int], bool]) -> int:
        """Find the first threshold at which something holds that holds from there on."""
        low, high = 0, self._mated_below.size - 1
        while low < high:
            middle = (low + high) // 2
            if holds(middle):
                high = middle
            else:
                low = middle + 1
        return low

"""Standard errors of error rates, and correlations of two systems' rates, in closed form, near those of replicates.

With A_k what unit k adds to an FNMR, minus its mean over the stratum, replicates have the variance V = sum_k A_k^2.
That of an FMR is the dyadic-robust one, which weights are shrunk for; see `fastfair.kernels.dyadic`. A threshold that
holds a rate is an estimate. With B_k what unit k adds to the rate held, and s the slope of a rate over the rate held,
the rate at the estimated threshold has the variance

    V(A) + s^2 V(B) - 2 s C(A, B),    C(A, B) = sum_k A_k B_k - sum_kl a_kl b_kl.

The last sum is over the pairs of units behind both, and counts each once; a_kl and b_kl are what the pair adds. The
covariance of two systems' rates is C(A - s B, A' - s' B'), of which what units have in several pairs counts for no
more than it does in the variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fastfair.error_rates.threshold_slopes import KINDS, HeldThreshold

from .comparison_lists import ErrorLists
from .preparation import Preparation

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]
Pairs = NDArray[np.int32]
_ROUNDING = 1e-12  # of a variance, relative to its parts


class _Rates:
    """The error rates of lists of comparisons at all operating points, and what units and their pairs add to them."""

    def __init__(self, lists: ErrorLists, thresholds: NDArray[np.int64]) -> None:
        self.lists, self.sizes = lists, np.maximum(lists.sizes, 1)
        self.errors = lists.count_errors(np.repeat(thresholds[:, None], lists.end.size, axis=1))
        self.rates = self.errors / self.sizes
        self._pairs: dict[tuple[int, int], tuple[Pairs, Integers, Integers]] = {}

    @cached_property
    def variances(self) -> Floats:
        """(points, lists) variances at given thresholds, which replicates have; NaN for lists without comparisons."""
        from fastfair.kernels import dyadic as kernels

        found, _ = self.lists.variances(self.errors)
        least = np.minimum(found[..., kernels.ROBUST], found[..., kernels.PRODUCT])
        return np.where(self.lists.sizes, least / self.sizes**2, np.nan)

    def of_units(self, point: int, k: int) -> Floats:
        """Return what each unit adds to the rate of a list, minus the mean of its stratum."""
        lists, n_rows = self.lists, self.lists.stratum.size
        start = lists.start[k]
        errors, comparisons = (
            np.bincount(lists.a[start:stop], minlength=n_rows) + np.bincount(lists.b[start:stop], minlength=n_rows)
            for stop in (start + self.errors[point, k], lists.end[k])
        )
        added = (errors - self.rates[point, k] * comparisons) / self.sizes[k]
        mean = np.bincount(lists.stratum, weights=added) / lists.stratum_size
        return np.asarray(added - mean[lists.stratum])

    def sums_of_units(self, point: int, of_units: Floats) -> Floats:
        """Sum, for each list, what units add to its rate times what they add to another."""
        from fastfair.kernels import unit_sums

        lists, found = self.lists, np.empty((self.sizes.size, 2))
        unit_sums.sum_units(lists.a, lists.b, of_units, lists.end, self.errors[point], found)
        return np.asarray((found[:, 0] - self.rates[point] * found[:, 1]) / self.sizes)

    def errors_of_pairs(self, point: int, k: int) -> tuple[Pairs, Integers, Integers]:
        """Return the pairs of units whose weights vary that have errors in a list, how many each has, and its code."""
        if (point, k) not in self._pairs:
            start = self.lists.start[k]
            wrong, errors = np.unique(
                self.lists.pairs.of_comparison[start : start + self.errors[point, k]], return_counts=True
            )
            vary = self.repeats[0][wrong] > 0
            wrong, errors = wrong[vary], errors[vary]
            # Systems number pairs in the orders of their scores; a code is of the two units.
            codes = self.lists.pairs.first[wrong] * np.int64(self.lists.stratum.size) + self.lists.pairs.second[wrong]
            self._pairs[point, k] = wrong, errors, codes
        return self._pairs[point, k]

    @cached_property
    def repeats(self) -> tuple[Floats, Floats]:
        """How often each pair of units occurs, 0 where the weight of one never varies, and sums of squares by list."""
        pairs, varies = self.lists.pairs, self.lists.stratum_size[self.lists.stratum] > 1
        repeats = np.where(varies[pairs.first] & varies[pairs.second], pairs.repeats, 0).astype(np.float64)
        running = np.concatenate(([0.0], np.cumsum(repeats**2)))
        return repeats, np.diff(running[pairs.end], prepend=0.0)


def _sum_of_pairs(point: int, k: int, first: tuple[_Rates, int], second: tuple[_Rates, int]) -> float:
    """Sum what the pairs of units in list k add to two rates: each that of a list of one system."""
    (one, of_one), (other, of_other) = first, second
    rate, other_rate = one.rates[point, of_one], other.rates[point, of_other]
    pairs, errors, codes = one.errors_of_pairs(point, k)
    other_pairs, other_errors, other_codes = other.errors_of_pairs(point, k)
    _, here, there = np.intersect1d(codes, other_codes, assume_unique=True, return_indices=True)
    repeats, squared = one.repeats
    found = errors[here] @ other_errors[there] + rate * other_rate * squared[k]
    found -= other_rate * (errors @ repeats[pairs]) + rate * (other_errors @ other.repeats[0][other_pairs])
    return float(found / one.sizes[of_one] / other.sizes[of_other])


@dataclass(frozen=True, eq=False)
class _Threshold:
    """How the threshold of an operating point moves with the data.

    Attributes
    ----------
    sign : float
        How the FMR enters what the operating point holds.
    of_units : two (units,) ndarray
        What each unit adds to what is held in mated, and in non-mated comparisons; 0 where the threshold is given.
    variance : float
        Of what is held.
    slopes : two (lists,) ndarray
        Of the rates of mated and non-mated lists over what is held.
    """

    sign: float
    of_units: tuple[Floats, Floats]
    variance: float
    slopes: tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class _Linear:
    """A rate as a sum over units and pairs of units.

    Attributes
    ----------
    mated, nonmated : (units,) ndarray
        What each unit adds in mated, and in non-mated comparisons, with the threshold's part.
    slope : float
        What is subtracted of the FMR of all comparisons, as the threshold moves.
    norm : float
        The size of what is added up.
    fmr : _Rates
        The FMRs of the system.
    """

    mated: Floats
    nonmated: Floats
    slope: float
    norm: float
    fmr: _Rates


def _of_pairs(first: _Linear, second: _Linear, mated: bool, point: int, k: int) -> float:
    """Sum what pairs of units add to two systems' rates of list k."""
    one, another, found = first.fmr, second.fmr, 0.0
    if not one.lists.two_way:
        return found
    if first.slope and second.slope:
        found += first.slope * second.slope * _sum_of_pairs(point, 0, (one, 0), (another, 0))
    if not mated:
        found += _sum_of_pairs(point, k, (one, k), (another, k))
        found -= second.slope * _sum_of_pairs(point, k, (one, k), (another, 0)) if second.slope else 0.0
        found -= first.slope * _sum_of_pairs(point, k, (one, 0), (another, k)) if first.slope else 0.0
    return found


def _correlation(first: _Linear, second: _Linear, mated: bool, point: int, k: int) -> float:
    """Return the correlation of the rate of list k in two systems.

    What units have in several pairs adds to the variance of an FMR; where it is estimated to be negative it counts as
    none, and in the covariance it counts for no more than in the variances.
    """
    both = ((first, first), (second, second), (first, second))
    of_pairs = [_of_pairs(*pair, mated, point, k) for pair in both]
    two_way = first.fmr.lists.two_way
    in_several = [
        float(one.nonmated @ other.nonmated) - (2 * pairs if two_way else 0.0)
        for (one, other), pairs in zip(both, of_pairs, strict=True)
    ]
    if two_way:
        in_several[:2] = [max(0.0, value) for value in in_several[:2]]
        most = float(np.sqrt(in_several[0] * in_several[1]))
        in_several[2] = min(max(in_several[2], -most), most)
    variance, another, covariance = (
        float(one.mated @ other.mated + one.mated @ other.nonmated + one.nonmated @ other.mated) + pairs + several
        for (one, other), pairs, several in zip(both, of_pairs, in_several, strict=True)
    )
    if variance <= _ROUNDING * first.norm**2 or another <= _ROUNDING * second.norm**2:
        return 0.0
    return float(np.clip(covariance / np.sqrt(variance * another), -1, 1))


class LinearizedRates:
    """The error rates of one system, and how their thresholds move with the data.

    Parameters
    ----------
    prepared : Preparation
        The comparisons and the operating points. Units are subjects or comparisons.
    """

    def __init__(self, prepared: Preparation) -> None:
        self.prepared = prepared
        self._sides = (
            _Rates(prepared.complete(True), prepared.thresholds),
            _Rates(prepared.complete(False), prepared.thresholds),
        )

    @cached_property
    def _errors(self) -> tuple[Floats, Floats]:
        """(points, mated lists) and (points, non-mated lists) standard errors."""
        found = [np.full(side.rates.shape, np.nan) for side in self._sides]
        for point, threshold in self._thresholds.items():
            for side, slopes, variances in zip(self._sides, threshold.slopes, found, strict=True):
                shared = side.sums_of_units(point, threshold.of_units[0] + threshold.of_units[1])
                if threshold.sign and side is self._sides[1] and side.lists.two_way:
                    pairs = [_sum_of_pairs(point, k, (side, k), (side, 0)) for k in range(side.sizes.size)]
                    shared = shared - threshold.sign * np.array(pairs)
                own, held = side.variances[point], threshold.variance
                most = np.sqrt(own * held)
                apart = own + slopes**2 * held
                together = apart - 2 * slopes * np.clip(shared, -most, most)
                variances[point] = np.where(together > _ROUNDING * apart, together, np.where(np.isnan(apart), apart, 0))
        return np.sqrt(found[0]), np.sqrt(found[1])

    def standard_error(self, mated: bool, point: int, cell: tuple[int, int] | None = None) -> float:
        """Return the standard error of an error rate.

        Parameters
        ----------
        mated : bool
            Whether the rate is an FNMR.
        point : int
            Position of the operating point.
        cell : tuple of int, optional
            The groups of its references and probes; by default all comparisons.

        Returns
        -------
        float
            NaN without comparisons, and at operating points that fix no threshold in a way that is known here.
        """
        return float(self._errors[0 if mated else 1][point, self.prepared.position(cell)])

    def correlation(
        self, other: LinearizedRates, mated: bool, point: int, cell: tuple[int, int] | None = None
    ) -> float:
        """Return the correlation of the same error rate of two systems that scored the same comparisons.

        Parameters
        ----------
        other : LinearizedRates
            Of the other system, with the same operating points and units.
        mated, point, cell
            As in `standard_error`, which is finite.

        Returns
        -------
        float
            0 where one of the rates does not vary.
        """
        place = mated, point, self.prepared.position(cell)
        return _correlation(self._linear(*place), other._linear(*place), *place)

    def _linear(self, mated: bool, point: int, k: int) -> _Linear:
        threshold = self._thresholds[point]
        slope = float(threshold.slopes[0 if mated else 1][k])
        own, moved = self._sides[0 if mated else 1].of_units(point, k), [slope * one for one in threshold.of_units]
        norm = float(np.linalg.norm(own) + sum(map(np.linalg.norm, moved)))
        parts = (own - moved[0], -moved[1]) if mated else (-moved[0], own - moved[1])
        return _Linear(*parts, slope * threshold.sign, norm, self._sides[1])

    @cached_property
    def _thresholds(self) -> dict[int, _Threshold]:
        points = self.prepared.points
        return {k: self._threshold(k) for k, point in enumerate(points) if point.kind in KINDS}

    def _threshold(self, point: int) -> _Threshold:
        prepared, at = self.prepared, self.prepared.points[point]
        nothing = np.zeros(prepared.units.n_rows)
        if at.kind == "threshold":
            slopes = np.zeros(prepared.y.end.size), np.zeros(prepared.x.end.size)
            return _Threshold(0.0, (nothing, nothing), 0.0, slopes)
        held = HeldThreshold(prepared.comparisons, at)
        mated, nonmated = (
            sign * side.of_units(point, 0) if sign else nothing
            for side, sign in zip(self._sides, held.signs, strict=True)
        )
        variance = float(2 * (mated @ nonmated))
        variance += sum(
            abs(sign) * side.variances[point, 0] for side, sign in zip(self._sides, held.signs, strict=True)
        )
        variance = max(variance, 0.0)
        slope = held.slopes(float(np.sqrt(variance)))
        cells = [None, *((k, k) for k in range(prepared.n_groups)), *prepared.cells]
        of_mated, of_nonmated = (
            np.array([slope(mated, cell)[0] if n else 0.0 for cell, n in zip(cells, side.lists.sizes, strict=False)])
            for mated, side in zip((True, False), self._sides, strict=True)
        )
        return _Threshold(held.signs[1], (mated, nonmated), variance, (of_mated, of_nonmated))

"""Standard errors of error rates, and correlations of two systems' rates, in closed form, near
those of replicates.

With A_k what unit k adds to an FNMR, minus its mean over the stratum, replicates have the variance
V = sum_k A_k^2. That of an FMR is the dyadic-robust one, which weights are shrunk for; see
`fastfair.kernels.dyadic`. A threshold that holds a rate is an estimate. With B_k what unit k adds
to the rate held, and s the slope of a rate over the rate held, the rate at the estimated threshold
has the variance

    V(A) + s^2 V(B) - 2 s C(A, B),    C(A, B) = sum_k A_k B_k - sum_kl a_kl b_kl.

The last sum is over the pairs of units behind both, and counts each once; a_kl and b_kl are what
the pair adds. The covariance of two systems' rates is C(A - s B, A' - s' B'), of which what units
have in several pairs counts for no more than it does in the variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from fastfair._lib.arrays import Codes, Floats, Integers
from fastfair.error_rates.operating_points import HeldThreshold

from .dependence import two_way_variance
from .engine import Resampler
from .error_lists import ErrorLists
from .pair_source import Classes

_ROUNDING = 1e-12  # of a variance, relative to its parts


class _Rates:
    """The error rates of lists of comparisons at all operating points, and what units and their
    pairs add to them.
    """

    def __init__(
        self, lists: ErrorLists, thresholds: Integers, few_units: Floats | None = None
    ) -> None:
        self.lists = lists
        self._few_units = few_units  # (lists,) factors, of sessions and of cells
        self.sizes = np.maximum(lists.sizes, 1)
        self.errors = lists.errors_at(thresholds)
        self.rates = self.errors / self.sizes
        self.errors_of_pairs = cache(self._errors_of_pairs)
        self.unit_counts = cache(lists.source.unit_counts)

    @cached_property
    def variances(self) -> Floats:
        """(points, lists) variances at given thresholds, which replicates have; NaN for lists
        without comparisons.
        """
        from fastfair.kernels import dyadic as kernels

        variances, _ = self._walked
        robust = variances[..., kernels.ROBUST]
        if self._few_units is not None:
            least = robust * self._few_units
        else:
            least = np.minimum(robust, variances[..., kernels.PRODUCT])
        return np.where(self.lists.sizes, least / self.sizes**2, np.nan)

    @cached_property
    def _walked(self) -> tuple[Floats, Floats]:
        """Variances and sums over pairs, as `ErrorLists.variances` returns them."""
        return self.lists.variances(self.errors)

    def of_units(self, point: int, k: int) -> Floats:
        """Return what each unit adds to the rate of a list, minus the mean of its stratum."""
        comparisons = self.unit_counts(k)
        source = self.lists.source
        units = np.concatenate(self._units_of_errors(point, k))
        errors = np.bincount(units, minlength=source.stratum.size)
        added = (errors - self.rates[point, k] * comparisons) / self.sizes[k]
        mean = np.bincount(source.stratum, weights=added) / source.stratum_size
        return added - mean[source.stratum]

    def _units_of_errors(self, point: int, k: int) -> tuple[Codes, Codes]:
        """Return the two units of each error of a list."""
        lists = self.lists
        wrong = slice(lists.start[k], lists.start[k] + self.errors[point, k])
        return lists.a[wrong], lists.b[wrong]

    def sums_of_units(self, point: int, of_units: Floats) -> Floats:
        """Sum, for each list, what units add to its rate times what they add to another."""
        from fastfair.kernels import unit_sums

        lists = self.lists
        errors = np.empty(self.sizes.size)
        unit_sums.sum_errors(lists.a, lists.b, of_units, lists.start, self.errors[point], errors)
        comparisons = np.array([self.unit_counts(k) @ of_units for k in range(self.sizes.size)])
        few = 1.0 if self._few_units is None else self._few_units
        return few * (errors - self.rates[point] * comparisons) / self.sizes

    def _errors_of_pairs(self, point: int, k: int) -> tuple[Integers, Integers]:
        """Return the pairs of units whose weights vary that have errors in a list, as codes, and
        how many each has.
        """
        source = self.lists.source
        a, b = self._units_of_errors(point, k)
        varies = source.varies
        codes = np.minimum(a, b) * np.int64(source.stratum.size) + np.maximum(a, b)
        return np.unique(codes[varies[a] & varies[b]], return_counts=True)

    def sums_of_pairs(self, point: int, k: int) -> tuple[float, float, float]:
        """Sum over the pairs of units whose weights vary: squared errors, errors times, and
        squared, comparisons.
        """
        from fastfair.kernels import pair_walk

        columns = (
            pair_walk.S_SQUARED_OF_BOTH,
            pair_walk.S_TIMES_M_OF_BOTH,
            pair_walk.REPEATS_SQUARED_OF_BOTH,
        )
        squared, times, repeats_squared = (
            float(self._walked[1][point, k, column]) for column in columns
        )
        return squared, times, repeats_squared


def _sum_of_pairs(
    point: int, k: int, first: tuple[_Rates, int], second: tuple[_Rates, int]
) -> float:
    """Sum what the pairs of units in list k add to two rates: each that of a list of one system."""
    (system, row), (other, other_row) = first, second
    rate, other_rate = system.rates[point, row], other.rates[point, other_row]
    shared, times, repeats_squared = system.sums_of_pairs(point, k)
    other_times = times
    if other is not system:
        codes, errors = system.errors_of_pairs(point, k)
        other_codes, other_errors = other.errors_of_pairs(point, k)
        _, here, there = np.intersect1d(codes, other_codes, assume_unique=True, return_indices=True)
        shared = float(errors[here] @ other_errors[there])
        other_times = other.sums_of_pairs(point, k)[1]
    added = shared + rate * other_rate * repeats_squared - (other_rate * times + rate * other_times)
    return float(added / system.sizes[row] / other.sizes[other_row])


@dataclass(frozen=True, eq=False)
class _Threshold:
    """How the threshold of an operating point moves with the data.

    Attributes
    ----------
    sign : float
        How the FMR enters what the operating point holds.
    of_units : Classes of (units,) ndarray
        What each unit adds to what is held in mated, and in non-mated comparisons; 0 where the
        threshold is given.
    variance : float
        Of what is held.
    slopes : Classes of (lists,) ndarray
        Of the rates of mated and non-mated lists over what is held.
    """

    sign: float
    of_units: Classes[Floats]
    variance: float
    slopes: Classes[Floats]


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
    fmr = first.fmr
    other_fmr = second.fmr
    added = 0.0
    if not fmr.lists.source.two_way:
        return added
    if first.slope and second.slope:
        added += first.slope * second.slope * _sum_of_pairs(point, 0, (fmr, 0), (other_fmr, 0))
    if not mated:
        added += _sum_of_pairs(point, k, (fmr, k), (other_fmr, k))
        added -= (
            second.slope * _sum_of_pairs(point, k, (fmr, k), (other_fmr, 0))
            if second.slope
            else 0.0
        )
        added -= (
            first.slope * _sum_of_pairs(point, k, (fmr, 0), (other_fmr, k)) if first.slope else 0.0
        )
    return added


def _covariances(
    first: _Linear, second: _Linear, mated: bool, point: int, k: int
) -> tuple[float, float, float]:
    """Return the variances of the rate of list k in two systems, and their covariance.

    What units have in several pairs adds to the variance of an FMR; where it is estimated to be
    negative it counts as none, and in the covariance it counts for no more than in the variances.
    """
    both = ((first, first), (second, second), (first, second))
    of_pairs = [_of_pairs(*pair, mated, point, k) for pair in both]
    two_way = first.fmr.lists.source.two_way
    in_several = [
        float(system.nonmated @ other.nonmated) - (2 * pairs if two_way else 0.0)
        for (system, other), pairs in zip(both, of_pairs, strict=True)
    ]
    if two_way:
        in_several[:2] = [max(0.0, value) for value in in_several[:2]]
        most = float(np.sqrt(in_several[0] * in_several[1]))
        in_several[2] = min(max(in_several[2], -most), most)
    variance, another, covariance = (
        float(
            system.mated @ other.mated
            + system.mated @ other.nonmated
            + system.nonmated @ other.mated
        )
        + pairs
        + several
        for (system, other), pairs, several in zip(both, of_pairs, in_several, strict=True)
    )
    if variance <= _ROUNDING * first.norm**2 or another <= _ROUNDING * second.norm**2:
        return 0.0, 0.0, 0.0
    return variance, another, covariance


class LinearizedRates:
    """The error rates of one system, and how their thresholds move with the data.

    Where people share sessions, variances and covariances are those of people, plus those of
    sessions, minus those of cells; see `dependence.two_way_variance`.

    Parameters
    ----------
    resampler : Resampler
        The comparisons and the operating points. Units are subjects or comparisons.
    """

    def __init__(self, resampler: Resampler) -> None:
        self.resampler = resampler
        thresholds = resampler.thresholds
        of_classes = [
            lists.of_kinds(lists.errors_at(thresholds)) for lists in resampler.error_lists
        ]
        few_units = [lists.source.few_units for lists in resampler.error_lists]
        self._kinds = [
            _RatesOfUnits(
                resampler,
                Classes(
                    *(
                        _Rates(lists, thresholds, None if few is None or not kind else few[kind])
                        for lists, few in zip(both, few_units, strict=True)
                    )
                ),
            )
            for kind, both in enumerate(zip(*of_classes, strict=True))
        ]

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
            NaN without comparisons, and at operating points that fix no threshold in a way that is
            known here.
        """
        place = point, self.resampler.position(cell)
        variances = [float(kind.variances.of(mated)[place]) for kind in self._kinds]
        return float(np.sqrt(_combined(variances)))

    def correlation(
        self, other: LinearizedRates, mated: bool, point: int, cell: tuple[int, int] | None = None
    ) -> float:
        """Return the correlation of the same error rate of two systems that scored the same
        comparisons.

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
        rate = mated, point, self.resampler.position(cell)
        of_kinds = [
            _covariances(first.linear(*rate), second.linear(*rate), *rate)
            for first, second in zip(self._kinds, other._kinds, strict=True)
        ]
        variances, others, covariances = zip(*of_kinds, strict=True)
        variance, another = _combined(variances), _combined(others)
        if not (variance > 0 and another > 0):
            return 0.0
        covariance = covariances[0]
        if len(covariances) > 1:
            covariance += covariances[1] - covariances[2]
        return float(np.clip(covariance / np.sqrt(variance * another), -1, 1))


def _combined(variances: Sequence[float]) -> float:
    """Return a variance from that of each kind of unit that is drawn."""
    return float(variances[0] if len(variances) == 1 else two_way_variance(*variances))


class _RatesOfUnits:
    """The error rates of one system where one kind of unit is drawn."""

    def __init__(self, resampler: Resampler, sides: Classes[_Rates]) -> None:
        self.resampler, self._sides = resampler, sides

    @cached_property
    def variances(self) -> Classes[Floats]:
        """(points, mated lists) and (points, non-mated lists) variances; NaN as in
        `LinearizedRates.standard_error`.
        """
        of_classes = Classes(*(np.full(side.rates.shape, np.nan) for side in self._sides))
        for point, threshold in self._thresholds.items():
            for side, slopes, variances in zip(
                self._sides, threshold.slopes, of_classes, strict=True
            ):
                covariance = side.sums_of_units(
                    point, threshold.of_units[0] + threshold.of_units[1]
                )
                if threshold.sign and side is self._sides.nonmated and side.lists.source.two_way:
                    pairs = [
                        _sum_of_pairs(point, k, (side, k), (side, 0))
                        for k in range(side.sizes.size)
                    ]
                    covariance = covariance - threshold.sign * np.array(pairs)
                given = side.variances[point]
                held = threshold.variance
                bound = np.sqrt(given * held)  # by Cauchy and Schwarz
                total = given + slopes**2 * held
                variance = total - 2 * slopes * np.clip(covariance, -bound, bound)
                variances[point] = np.where(
                    variance > _ROUNDING * total, variance, np.where(np.isnan(total), total, 0)
                )
        return of_classes

    def linear(self, mated: bool, point: int, k: int) -> _Linear:
        """Return the rate of list k as a sum over units."""
        threshold = self._thresholds[point]
        slope = float(threshold.slopes.of(mated)[k])
        given = self._sides.of(mated).of_units(point, k)
        of_mated, of_nonmated = threshold.of_units
        norm = float(
            np.linalg.norm(given)
            + np.linalg.norm(slope * of_mated)
            + np.linalg.norm(slope * of_nonmated)
        )
        added = (given, 0.0) if mated else (0.0, given)
        parts = added[0] - slope * of_mated, added[1] - slope * of_nonmated
        return _Linear(*parts, slope * threshold.sign, norm, self._sides.nonmated)

    @cached_property
    def _thresholds(self) -> dict[int, _Threshold]:
        points = self.resampler.points
        return {
            k: self._threshold(k) for k, point in enumerate(points) if point.rule.signs is not None
        }

    def _threshold(self, point: int) -> _Threshold:
        resampler = self.resampler
        at = self.resampler.points[point]
        nothing = np.zeros(self._sides.mated.lists.source.stratum.size)
        if at.is_given:
            slopes = Classes(*(np.zeros(side.sizes.size) for side in self._sides))
            return _Threshold(0.0, Classes(nothing, nothing), 0.0, slopes)
        held = HeldThreshold(resampler.comparisons, at)
        signed = [*zip(self._sides, held.signs, strict=True)]
        of_units = Classes(
            *(sign * side.of_units(point, 0) if sign else nothing for side, sign in signed)
        )
        variance = float(2 * (of_units.mated @ of_units.nonmated))
        variance += sum(abs(sign) * side.variances[point, 0] for side, sign in signed)
        variance = max(variance, 0.0)
        slope = held.slopes(float(np.sqrt(variance)))
        cells = [None, *((k, k) for k in range(resampler.n_groups)), *resampler.cells]
        slopes = Classes(
            *(
                np.array(
                    [
                        slope(mated, cell)[0] if n else 0.0
                        for cell, n in zip(cells, side.lists.sizes, strict=False)
                    ]
                )
                for mated, side in zip((True, False), self._sides, strict=True)
            )
        )
        return _Threshold(held.signs[1], of_units, variance, slopes)

"""What data say about rates: their limits, the p-values of these, and the errors that a held
threshold leaves.

This is the one home for the limits of a rate. `RateEvidence` holds arrays of rates with what is
known of each, and says how far the rates may lie from these estimates: `interval`, `pvalue`,
`times_needed`. `HeldRate` is a rate that an operating point holds: its threshold is an estimate,
which lies between two scores of the data (`errors`).

Each rule below is a `Line`: it gives the limit for an error probability and, read the other way,
the error probability (the p-value) for a limit. Where several rules apply, the outermost limit and
the largest p-value count:

- Student's t on the scale of log odds, for both limits of rates that are neither 0 nor 1;
- the same with one more subject of typical weight, half of whose attempts fail, for upper limits of
  rates of failure (`resampling.dependence.typical_subject` says what it is where those who fail try
  more often). Where a few subjects fail most of their attempts it is luck whether any of them
  is in the data, which the variance of those in the data does not show: it is the step of Agresti
  and Coull, for subjects. The subject raises the estimate, and its standard error by as much again;
- Clopper and Pearson's of as many independent attempts as have the rate's standard error, for lower
  limits of rates below a half and upper ones of rates above: an interval that is symmetric on the
  scale of log odds ends too soon towards the side where it is long;
- the same of the effective sample size, where errors, or what is no error, are few; and for rates
  of 0 and 1, which have no other line.

Rates of attempts that are taken for independent, as it is not known whose they are, have Clopper and
Pearson's limits of these attempts alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from fastfair._lib.arrays import Floats
from fastfair._lib.bisection import least_multiple, least_whole
from fastfair._lib.proportions import Line, Numbers, clopper_pearson_line, student_line
from fastfair.error_rates.operating_points import allowed_errors
from fastfair.intervals import difference_interval
from fastfair.resampling.dependence import AddedSubject

Side = Literal["lower", "upper"]
_LEAST_FREEDOM = 1.0
_OF_ERRORS_ALONE = 2  # lines of limits, the first ones
_MOST_TIMES = 1e12  # as many subjects as there are; beyond it no number is named
_MOST_TIMES_OF_HELD = 1e9  # as many comparisons as there are; likewise
_LEAST_HELD = 1e-300  # no data hold a rate below it, and its square is 0
_INFINITE = 700.0  # log odds of rates that floats tell from neither 0 nor 1
_WIDE = 16.0  # the shape of a gamma law from which on its quantiles do not fall as it gets wider


def raised_rate(rate: Numbers, n: Numbers, added: AddedSubject) -> Floats:
    """Return by how much one more subject raises rates of failure of n attempts; NaN for 0 and 1."""
    raised = np.maximum(0.0, (added.failures - added.attempts * rate) / (n + added.attempts))
    return np.where((rate > 0) & (rate < 1), raised, np.nan)


@dataclass(frozen=True, eq=False)
class RateEvidence:
    """What the limits of rates are computed from: arrays of one shape, or numbers that are the same
    for all rates.

    Attributes
    ----------
    estimate : (...) ndarray
        The rates in the data.
    standard_error, degrees_of_freedom : (...) ndarray
        Of each; the degrees of freedom are the number of independent units minus the number of
        their strata.
    effective : (...) ndarray
        The effective sample size where a rate is 0 or 1, or few comparisons are errors, or are
        none; else NaN.
    raised : (...) ndarray
        By how much one more subject raises a rate of failure; NaN for other rates.
    strata : (...) ndarray
        The number of subjects minus the degrees of freedom, mostly the number of strata.
    independent : (...) ndarray
        The number of attempts where these are taken for independent; else NaN.
    """

    estimate: Any
    standard_error: Any
    degrees_of_freedom: Any = np.inf
    effective: Any = np.nan
    raised: Any = np.nan
    strata: Any = 1.0
    independent: Any = np.nan

    def __post_init__(self) -> None:
        names = [part.name for part in fields(self)]
        arrays = np.broadcast_arrays(
            *(np.asarray(getattr(self, name), np.float64) for name in names)
        )
        for name, array in zip(names, arrays, strict=True):
            object.__setattr__(self, name, array)

    def __getitem__(self, rows: Any) -> Self:
        """Return the evidence of some of the rates."""
        return replace(self, **{part.name: getattr(self, part.name)[rows] for part in fields(self)})

    def interval(self, level: Numbers) -> tuple[Floats, Floats]:
        """Return the limits to both sides; NaN for a rate of 0 or 1 whose effective sample size is
        not known.
        """
        low, high = self._outermost(np.nan, np.nan, level, 0)
        # Nothing is below a rate of 0, nor above one of 1, so that one limit tells whether there is
        # an interval.
        return (
            np.where((self.estimate == 0) & ~np.isnan(high), 0.0, low),
            np.where((self.estimate == 1) & ~np.isnan(low), 1.0, high),
        )

    def widened(self, low: Numbers, high: Numbers, level: float) -> tuple[Floats, Floats]:
        """Widen intervals that were made otherwise, as by quantiles, for few errors and for one
        more subject.
        """
        return self._outermost(low, high, level, _OF_ERRORS_ALONE)

    def pvalue(self, bound: Numbers, side: Side) -> Floats:
        """Return p-values of the hypotheses that rates are above a bound ("upper"), or below it
        ("lower").

        It is at most 1 minus a level exactly where the one-sided limit on that side is within the
        bound: an upper limit at most, a lower one at least the bound. NaN where there is no limit.
        """
        pvalues = np.fmax.reduce(
            np.broadcast_arrays(*(line.pvalue(bound) for line in self._lines(side)))
        )
        return np.asarray(np.where(self.estimate == (side == "upper"), 1.0, pvalues))

    def times(self, share: Numbers) -> Self:
        """Return the evidence of the same rates in data of so many times as many subjects; share:
        the factor, at least 1.
        """
        freedom = share * (self.degrees_of_freedom + self.strata) - self.strata
        return replace(
            self,
            standard_error=self.standard_error / np.sqrt(share),
            degrees_of_freedom=np.maximum(_LEAST_FREEDOM, freedom),
            effective=self.effective * share,
            raised=self.raised / share,
            independent=self.independent * share,
        )

    def times_needed(
        self, bound: float, level: float, room: Callable[[float], float] = lambda _: 1.0
    ) -> float:
        """Return how many times as many subjects would bring the upper limit of a single rate
        within a bound.

        The rate stays the same; infinite where no number would do. room: how many times the limit
        may be too low, given how many times as many subjects there are.
        """

        def are_enough(times: float) -> bool:
            return bool(self.times(times).pvalue(bound / room(times), "upper") <= 1 - level)

        if self.estimate >= bound or np.isnan(self.pvalue(bound, "upper")):
            return 1.0 if are_enough(1.0) else math.inf
        return least_multiple(are_enough, _MOST_TIMES, 1 + 1e-9)

    def _lines(self, side: Side) -> list[Line]:
        """Return the lines of limits to one side, NaN where one says nothing; `widened` leaves out
        those made of standard errors alone.
        """
        is_exact = ~np.isnan(self.independent)
        exact = clopper_pearson_line(
            1 if side == "upper" else -1, self.estimate * self.independent, self.independent
        )
        rate = np.where(is_exact, np.nan, self.estimate)
        error = np.where(is_exact, np.nan, self.standard_error)
        freedom = self.degrees_of_freedom
        varies = (rate > 0) & (rate < 1) & (error > 0)
        reach = np.where(varies, np.minimum(error, np.minimum(rate, 1 - rate)), np.nan)
        independent = rate * (1 - rate) / reach**2
        sizes = np.where((rate == 0) | (rate == 1) | ~np.isnan(error), self.effective, np.nan)
        if side == "upper":
            is_long = rate >= 0.5
            return [
                student_line(1, rate, error, freedom),
                clopper_pearson_line(1, np.where(is_long, rate * independent, np.nan), independent),
                student_line(1, rate + self.raised, np.hypot(error, self.raised), freedom + 1),
                clopper_pearson_line(
                    1, np.where((rate == 0) | (is_long & (rate < 1)), rate * sizes, np.nan), sizes
                ),
                exact,
            ]
        return [
            student_line(-1, rate, error, freedom),
            clopper_pearson_line(
                -1, np.where(rate <= 0.5, rate * independent, np.nan), independent
            ),
            clopper_pearson_line(-1, np.where(rate > 0, rate * sizes, np.nan), sizes),
            exact,
        ]

    def _outermost(
        self, low: Numbers, high: Numbers, level: Numbers, first: int
    ) -> tuple[Floats, Floats]:
        """Return the outermost of ends and of the lines from the first on."""
        tail = (1 - level) / 2
        lower, upper = (
            [line.limit(tail) for line in self._lines(side)[first:]] for side in get_args(Side)
        )
        return (
            np.asarray(np.fmin.reduce(np.broadcast_arrays(low, *lower))),
            np.asarray(np.fmax.reduce(np.broadcast_arrays(high, *upper))),
        )


def joined_limits(
    rate: float, given: tuple[float, float], ends: Sequence[float], correlation: float = 0.0
) -> tuple[float, float]:
    """Join the limits of a rate at a given threshold with the rates at the ends of the threshold's
    interval, by the method of Zou and Donner.

    Rates grow in proportion, so they are joined as log odds; where there are none, as they are.
    """
    from scipy.special import expit, logit

    has_odds = 0 < rate < 1
    values = np.array([rate, *given, min(*ends, rate), max(*ends, rate)])
    if has_odds:
        with np.errstate(divide="ignore"):
            values = np.clip(logit(values), -_INFINITE, _INFINITE)
    center, low, high, least, most = values
    # what the threshold adds, with the sign turned
    other = np.array([0.0, center - most, center - least])
    difference_ends = difference_interval(
        np.array([center, low, high]), other, np.asarray(correlation)
    )
    both = expit(np.array(difference_ends)) if has_odds else np.clip(difference_ends, 0.0, 1.0)
    return float(both[0]), float(both[1])


def may_be_equal(lower: tuple[float, float], higher: tuple[float, float]) -> bool:
    """Return whether two rates may be the same, by the method of Zou and Donner; both as estimated,
    with the limit toward the other.
    """
    (low, its_upper), (high, its_lower) = lower, higher
    return high - low <= math.hypot(its_upper - low, high - its_lower)


class HeldRate(NamedTuple):
    """A rate that an operating point holds: its threshold is where the population's rate is that,
    not the data's.

    Attributes
    ----------
    rate : float
        What it is held at.
    n : int
        The number of comparisons, or of searches, that it is held over.
    standard_error, degrees_of_freedom : float
        Of the data's rate at the population's threshold.
    name : str
        Which rate it is, such as "fmr".
    """

    rate: float
    n: int
    standard_error: float
    degrees_of_freedom: float
    name: str = ""

    @classmethod
    def of(
        cls,
        rate: float,
        n: int,
        degrees_of_freedom: float,
        standard_error: float = 0.0,
        effective: float | None = None,
        name: str = "",
    ) -> Self:
        """Make that of a rate.

        standard_error: as estimated, and at least that of independent errors. effective: the
        effective sample size where errors are too few for such an estimate.
        """
        binomial = rate * (1 - rate) / n
        error = (
            max(standard_error, math.sqrt(binomial))
            if effective is None
            else math.sqrt(binomial * n / effective)
        )
        return cls(rate if rate > _LEAST_HELD else 0.0, n, error, degrees_of_freedom, name)

    @property
    def expected(self) -> float:
        """The effective number of errors that are expected."""
        return (self.rate / self.standard_error) ** 2 if self.rate and self.standard_error else 0.0

    def quantiles(self, tail: float) -> tuple[float, float]:
        """Return quantiles of the data's rate at the population's threshold, with so much
        probability beyond each.
        """
        from scipy.optimize import minimize_scalar
        from scipy.special import gammaincinv, ndtri, stdtrit

        if not self.rate or not self.standard_error:
            return self.rate, self.rate

        def quantile(shape: float, share: float) -> float:
            return float(gammaincinv(shape, share)) * self.rate / shape

        student = stdtrit(self.degrees_of_freedom, 1 - tail) / ndtri(1 - tail)
        shape = (
            self.rate / (self.standard_error * student * math.sqrt(1 + 1 / self.degrees_of_freedom))
        ) ** 2
        high = quantile(shape, 1 - tail)
        if shape < _WIDE:
            # Of laws that are wider still, nearly all is at 0, and quantiles fall again: the widest
            # interval is kept, so that one of a higher level is never narrower.
            widest = minimize_scalar(
                lambda log_shape: -quantile(math.exp(log_shape), 1 - tail),
                bounds=(math.log(shape), math.log(_WIDE)),
                method="bounded",
            )
            high = max(high, -float(widest.fun))
        # Of skewed laws even an upper quartile is below the mean; an interval holds what it is
        # about.
        return min(quantile(shape, tail), self.rate), min(max(high, self.rate), 1.0)

    def errors(
        self, tail: float, upper_limit: Callable[[int], float] = lambda _: 0.0
    ) -> tuple[int, int]:
        """Return the fewest and the most errors that chance leaves beyond the population's
        threshold.

        upper_limit: that of a rate of failure at the threshold where the data have so many errors.
        It knows of one more subject, who may fail often and not be in the data: the population's
        threshold may be wherever the limit still reaches what is held.
        """
        low, high = self.quantiles(tail)
        fewest = least_whole(
            lambda errors: upper_limit(errors) >= self.rate, -1, allowed_errors(low, self.n)
        )
        return fewest, min(self.n, math.ceil(high * self.n - 1e-9))

    def comparisons_needed(self, tail: float) -> float:
        """Return about how many comparisons would leave an error at the least; infinite where no
        number would.
        """

        def leaves_errors(times: float) -> bool:
            error = self.standard_error / math.sqrt(times)
            return (
                self._replace(n=math.ceil(self.n * times), standard_error=error).errors(tail)[0] > 0
            )

        return self.n * least_multiple(leaves_errors, _MOST_TIMES_OF_HELD, 1.01)

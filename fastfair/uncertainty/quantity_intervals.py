"""Compute the intervals of an evaluation's quantities from replicates, each by the method that suits it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib.threads import in_threads
from fastfair.error_rates.score_metrics import DetectionCosts
from fastfair.errors import InputError

from . import ratios_to_average
from .count_inversion import CountedSystems
from .entries import Key, n_calls
from .few_held_errors import FewHeld
from .held_thresholds import widened
from .interval_maker import IntervalMaker
from .interval_notes import (
    FAILURE_RATES,
    FEW_DRAWN,
    FEW_GROUP_ERRORS,
    FITTED,
    INVERSION,
    NO_GROUP_ERRS,
    RATES,
    WITH_FAILURES,
    Case,
    are_concentrated,
    has_few_false_matches,
    rests_on_any,
    with_interval,
)
from .inversion import Inversion, MovedSystems, is_fairer_above
from .quantities import HELD, Quantity
from .simultaneous import families, level_of_groups

Floats = NDArray[np.float64]


@dataclass(eq=False)
class Uncertainty(IntervalMaker):
    """The replicates of an evaluation's quantities, and all else that intervals are computed from.

    Attributes
    ----------
    quantities : tuple of Quantity
        The quantities, without intervals.
    replicates : (quantities, r) ndarray
        The value of each quantity in every replicate.
    held : (quantities,) ndarray of bool
        Quantities that the operating point fixes, so that they are the same in every replicate.
    unit, scheme : str
        As in `evaluate`.
    jackknife : callable
        Computes the (quantities, units) values with one unit left out.
    freedom : (quantities,) ndarray
        Degrees of freedom of rates, and of groups' ratios to the average.
    independent : (quantities,) ndarray
        Effective sample sizes of rates and EERs of 0 or 1, and of rates with one to four errors; NaN for others.
    systems : callable
        Makes the fairer and less fair systems whose replicates give fairness measures their intervals.
    counted : callable
        Makes such systems with numbers of errors drawn anew, or None where units are samples.
    rows : dict of int
        The position in `quantities` of each key of the inversion; empty without measures.
    n_threads : int, optional
        Number of threads; all processors by default.
    costs, few_held, places
        As in `IntervalMaker`.
    raised : (quantities,) ndarray
        By how much one more subject raises rates of failure, EERs and minDCFs; NaN for others.
    """

    quantities: tuple[Quantity, ...]
    replicates: Floats
    held: NDArray[np.bool_]
    unit: str
    scheme: str
    jackknife: Callable[[], Floats]
    freedom: Floats
    independent: Floats
    systems: Callable[[], MovedSystems]
    counted: Callable[[], CountedSystems | None]
    rows: dict[Key, int]
    n_threads: int | None = None
    costs: DetectionCosts | None = None
    few_held: FewHeld | None = None
    places: Sequence[int] = ()
    raised: Floats = field(default_factory=lambda: np.empty(0))
    _left_out: Floats | None = field(default=None, repr=False)
    _inverted: Inversion | None = field(default=None, repr=False)
    _by_counts: tuple[CountedSystems, Inversion] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.raised.size:
            self.raised = np.full(len(self.quantities), np.nan)

    def left_out(self) -> Floats:
        """Return the jackknife, computed once."""
        if self._left_out is None:
            self._left_out = self.jackknife()
        return self._left_out

    def inverted(self) -> Inversion:
        """Return the test inversion, computed once."""
        if self._inverted is None:
            self._inverted = self.systems().invert()
        return self._inverted

    def inverted_counts(self) -> tuple[CountedSystems, Inversion] | None:
        """Return the systems with numbers of errors drawn anew and their test inversion, computed once."""
        if self._by_counts is None:
            systems = self.counted()
            if systems is not None:
                self._by_counts = systems, systems.invert()
        return self._by_counts

    def _pointwise(self, confidence_level: float, method: str) -> tuple[Quantity, ...]:
        require_method(method, self.unit, self.scheme)
        estimates = np.array([quantity.estimate for quantity in self.quantities])
        errors, means, varies, not_computable = self._in_stretches(_spread)
        shift = means - estimates
        low, high, made = self._limits(estimates, shift, confidence_level, method)
        errors[~varies & (errors < 1)] = 0.0  # and not what rounding makes of it
        concentrated = [q for q in self.quantities if are_concentrated(q)]
        few = [q for q in self.quantities if has_few_false_matches(q)]
        cases = (
            Case(
                replace(quantity, standard_error=float(errors[k]), not_computable=float(not_computable[k])),
                low=float(low[k]), high=float(high[k]), made_by=made[k], method=method, shift=float(shift[k]),
                varies=bool(varies[k]), held=bool(self.held[k]), unit=self.unit, confidence_level=confidence_level,
                independent=float(self.independent[k]), concentrated=rests_on_any(quantity, concentrated),
                few=has_few_false_matches(quantity) or (quantity.name not in FITTED and rests_on_any(quantity, few)),
                costs=self.costs, raised=float(self.raised[k]), freedom=float(self.freedom[k]),
            )
            for k, quantity in enumerate(self.quantities)
        )  # fmt: skip
        found = tuple(map(with_interval, cases))
        if method != "auto":
            return found
        found = tuple(
            widened(q, row, confidence_level) if _is_at_held_threshold(q) else q
            for q, row in zip(found, self.replicates, strict=True)
        )
        return tuple(self._within_few_held(q, k, confidence_level) for k, q in enumerate(found))

    def _simultaneous(self, confidence_level: float, method: str) -> tuple[Quantity, ...]:
        found = list(self._pointwise(confidence_level, method))
        for rows in families(self.quantities):
            rows = [k for k in rows if not math.isnan(found[k].low or 0.0)]
            drawn = [k for k in rows if found[k].method != "clopper-pearson"]
            estimates = np.array([self.quantities[k].estimate for k in drawn])
            level = level_of_groups(self.replicates[drawn], estimates, confidence_level, len(rows) - len(drawn))
            for k, wider in zip(rows, self.restricted_to(rows)._pointwise(level, method), strict=True):
                found[k] = replace(found[k], low=wider.low, high=wider.high)
        return tuple(found)

    def restricted_to(self, rows: Sequence[int]) -> Uncertainty:
        """Return the same of a few quantities."""
        new = {k: place for place, k in enumerate(rows)}
        keys = {key: new[k] for key, k in self.rows.items() if k in new}
        return replace(
            self,
            quantities=tuple(self.quantities[k] for k in rows),
            replicates=self.replicates[rows],
            held=self.held[rows],
            freedom=self.freedom[rows],
            independent=self.independent[rows],
            raised=self.raised[rows],
            places=[self.places[k] for k in rows] if self.places else (),
            rows=keys,
            _left_out=None if self._left_out is None else self._left_out[rows],
        )

    def _in_stretches(self, work: Callable[[slice, Floats], tuple[NDArray[Any], ...]]) -> list[NDArray[Any]]:
        """Call a function with as many rows of replicates at once as the cache holds, and join what it returns."""
        n, r = self.replicates.shape
        ends = np.linspace(0, n, max(1, n_calls(n, r)) + 1).astype(int).tolist()
        rows = [slice(*both_ends) for both_ends in itertools.pairwise(ends)]
        found = in_threads(n * r, lambda some: work(some, self.replicates[some]), rows, self.n_threads)
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    def _limits(
        self, estimates: Floats, shift: Floats, confidence_level: float, method: str
    ) -> tuple[Floats, Floats, list[str]]:
        """Compute intervals and name the method of each, as some methods are for some kinds of quantities only."""
        general = "percentile" if method in ("auto", "dyadic") else method
        left_out = self.left_out() if method == "bca" else None

        def general_limits(rows: slice, replicates: Floats) -> tuple[Floats, Floats]:
            of_rows = None if left_out is None else left_out[rows]
            return intervals.confidence_interval(
                replicates, estimates[rows], confidence_level, general, jackknife=of_rows
            )

        low, high = self._in_stretches(general_limits)
        made = [general] * len(estimates)
        for special, has_it in _SPECIAL.get(method, ()):
            rows = [k for k, quantity in enumerate(self.quantities) if has_it(quantity)]
            low[rows], high[rows] = intervals.confidence_interval(
                self.replicates[rows], estimates[rows], confidence_level, special,
                degrees_of_freedom=self.freedom[rows],
            )  # fmt: skip
            for k in rows:
                made[k] = special
        if method == "auto":
            for k in [k for k, quantity in enumerate(self.quantities) if quantity.name in FITTED]:
                optimism = max(-shift[k], 0.0)
                if estimates[k] + optimism > 0:
                    error = float(intervals.standard_error(self.replicates[k]))
                    ends = estimates[k], optimism, error, self.freedom[k], confidence_level
                    low[k], high[k] = _of_cost(*ends, raised=0.0)
                    if not math.isnan(self.raised[k]):
                        high[k] = max(high[k], _of_cost(*ends, raised=float(self.raised[k]))[1])
                    made[k] = "log"
            for k, quantity in enumerate(self.quantities):
                ratio = ratios_to_average.ratio_of(quantity.name)
                if ratio and ratios_to_average.has_few_errors(quantity, self.quantities):
                    made[k] = FEW_GROUP_ERRORS
                elif ratio:
                    low[k], high[k] = ratios_to_average.widened(
                        ratio, quantity.estimate, (low[k], high[k]), self.replicates[k], self.freedom[k],
                        confidence_level,
                    )  # fmt: skip
                    made[k] = "log"
        if method == "auto" and self.rows:
            inverted, without_errors = self.inverted(), []
            for key, least, most in zip(inverted.keys, *inverted.intervals(confidence_level), strict=True):
                if key not in self.rows:  # inverted with others, as the measure of another rate
                    continue
                if math.isnan(least):
                    without_errors.append(key)
                    continue
                k = self.rows[key]
                made[k] = INVERSION
                # To the unfair side at least as far as percentiles reach that are rid of their shift.
                if is_fairer_above(key[0]):
                    low[k], high[k] = min(least, estimates[k], low[k] - shift[k]), max(most, estimates[k])
                else:
                    low[k], high[k] = min(least, estimates[k]), max(most, estimates[k], high[k] - shift[k])
            for key, least, most, is_of_few in self._of_counts(without_errors, confidence_level):
                k = self.rows[key]
                low[k], high[k] = np.minimum(least, estimates[k]), np.maximum(most, estimates[k])
                made[k] = NO_GROUP_ERRS if math.isnan(least) else FEW_DRAWN if is_of_few else INVERSION
        return low, high, made

    def _of_counts(self, keys: Sequence[Key], confidence_level: float) -> Iterator[tuple[Key, float, float, bool]]:
        """Yield the intervals of measures where a group has no errors, and whether all have few; NaN where none has."""
        if not any(np.isfinite(self.quantities[self.rows[key]].estimate) for key in keys):
            return
        found = self.inverted_counts()
        if found is None:
            return
        systems, inverted = found
        for key, low, high in zip(systems.keys, *inverted.intervals(confidence_level), strict=True):
            if systems.key_of(key) in keys:
                yield systems.key_of(key), low, high, systems.rests_on_few_errors(key)


def require_method(method: str, unit: str, scheme: str) -> None:
    """Refuse the method "dyadic" where replicates do not have the dyadic-robust variance."""
    if method == "dyadic" and (unit, scheme) != ("subject", "dyadic"):
        raise InputError(
            f'method="dyadic" needs replicates with the dyadic-robust variance, which unit="subject" with '
            f'scheme="dyadic" has, not unit="{unit}" with scheme="{scheme}"'
        )


def _spread(_: slice, replicates: Floats) -> tuple[Floats, Floats, NDArray[np.bool_], Floats]:
    """Return standard errors, means, whether rows vary, and the shares that are not finite."""
    not_finite = (~np.isfinite(replicates)).mean(axis=1)
    return intervals.standard_error(replicates), _finite_means(replicates), _varies(replicates), not_finite


def _finite_means(replicates: Floats) -> Floats:
    finite = np.isfinite(replicates)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(finite, replicates, 0.0).sum(axis=1) / finite.sum(axis=1))


def _of_cost(
    estimate: float, optimism: float, error: float, freedom: float, confidence_level: float, *, raised: float
) -> tuple[float, float]:
    """Compute the interval of a cost at a threshold, or of a calibration, that is fitted to the same comparisons.

    It is symmetric on the scale of logarithms. Replicates fit once more, so they lie below the estimate about half as
    far as this lies below the truth: the interval's middle is raised by this optimism, and twice it is part of the
    error. `raised`: by how much one more subject raises the cost, for the upper limit; see `one_more_subject`.
    """
    from scipy.special import stdtrit

    center, freedom = estimate + optimism + raised, freedom + (raised > 0)
    widened = min(math.hypot(error, 2 * optimism, raised), center) * math.sqrt(1 + 1 / freedom)
    reach = float(stdtrit(freedom, (1 + confidence_level) / 2)) * widened / center
    return min(estimate, center * math.exp(-reach)), center * math.exp(reach)


def _varies(replicates: Floats) -> NDArray[np.bool_]:
    """Return which rows hold more than one value, apart from rounding."""
    low, high = np.fmin.reduce(replicates, axis=1), np.fmax.reduce(replicates, axis=1)  # NaN aside
    with np.errstate(invalid="ignore"):
        rounding = 1e-12 * np.maximum(np.abs(high), 1e-3)
        return np.asarray((high > low) & (np.isinf(high) | (high - low > rounding)))


def _is_rate(quantity: Quantity) -> bool:
    return (
        quantity.name in (*RATES, *WITH_FAILURES, *FAILURE_RATES, "eer")
        and HELD not in quantity.note
        and 0 < quantity.estimate < 1
    )


def _is_at_held_threshold(quantity: Quantity) -> bool:
    at_held = quantity.at is not None and quantity.at.kind != "threshold"
    return quantity.name in (*RATES, *WITH_FAILURES) and at_held and HELD not in quantity.note


def _is_false_match_rate(quantity: Quantity) -> bool:
    return quantity.name in ("fmr", "fmr_matrix") and HELD not in quantity.note and quantity.estimate > 0


_SPECIAL: dict[str, tuple[tuple[str, Callable[[Quantity], bool]], ...]] = {
    "auto": (("logit", _is_rate),),
    "dyadic": (("dyadic", _is_false_match_rate),),
}

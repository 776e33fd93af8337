"""Intervals of an evaluation's quantities, and when a quantity gets none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair.errors import InputError
from fastfair.measures._compute import measure_of

from .entries import Key
from .inversion import Inversion, is_fairer_above
from .quantities import HELD, Quantity

Floats = NDArray[np.float64]
ENOUGH_EFFECTIVE_ERRORS = 10
_SHIFTED = 0.5  # standard errors between estimate and mean of replicates from which on intervals miss the truth
_OFTEN = 0.05  # share of replicates without a value from which on an interval must be read with care
RATES = ("fmr", "fnmr", "fmr_matrix")
INVERSION = "inversion"  # what the method of intervals by test inversion is called


@dataclass(eq=False)
class Uncertainty:
    """Replicates of an evaluation's quantities.

    Attributes
    ----------
    quantities : tuple of Quantity
        Without intervals.
    replicates : (quantities, r) ndarray
        Their values in every replicate.
    held : (quantities,) ndarray of bool
        Which are the same in every replicate by what was asked.
    unit, scheme : str
        As in `evaluate`.
    jackknife : callable
        Gives (quantities, units) values with one unit left out.
    freedom : (quantities,) ndarray
        Degrees of freedom of rates.
    inversion : callable
        Gives the test inversion of measures.
    rows : dict of int
        Where quantities are, by the keys of the inversion; empty without measures.
    """

    quantities: tuple[Quantity, ...]
    replicates: Floats
    held: NDArray[np.bool_]
    unit: str
    scheme: str
    jackknife: Callable[[], Floats]
    freedom: Floats
    inversion: Callable[[], Inversion]
    rows: dict[Key, int]
    _left_out: Floats | None = field(default=None, repr=False)
    _inverted: Inversion | None = field(default=None, repr=False)

    def left_out(self) -> Floats:
        """Return the jackknife, computed once."""
        if self._left_out is None:
            self._left_out = self.jackknife()
        return self._left_out

    def inverted(self) -> Inversion:
        """Return the test inversion, computed once."""
        if self._inverted is None:
            self._inverted = self.inversion()
        return self._inverted

    def with_intervals(self, confidence_level: float, method: str) -> tuple[Quantity, ...]:
        """Return the quantities with intervals."""
        require_method(method, self.unit, self.scheme)
        estimates = np.array([quantity.estimate for quantity in self.quantities])
        errors = intervals.standard_error(self.replicates)
        varies = _varies(self.replicates)
        shift = _finite_means(self.replicates) - estimates
        low, high, made = self._limits(estimates, shift, confidence_level, method)
        errors[~varies & (errors < 1)] = 0.0  # and not what rounding makes of it
        not_computable = (~np.isfinite(self.replicates)).mean(axis=1)
        found = []
        for k, quantity in enumerate(self.quantities):
            spread = replace(quantity, standard_error=float(errors[k]), not_computable=float(not_computable[k]))
            if self.held[k]:
                found.append(replace(spread, low=quantity.estimate, high=quantity.estimate))
            elif not math.isfinite(quantity.estimate):
                found.append(replace(spread, low=math.nan, high=math.nan))
            elif quantity.name in RATES and quantity.n_errors in (0, quantity.n_comparisons):
                found.append(_without_errors(spread, confidence_level))
            elif self.unit == "subject" and quantity.n_subjects == 1:
                alone = replace(spread, low=math.nan, high=math.nan)
                found.append(_noted(alone, "no interval: one subject, whose draws do not vary"))
            elif not varies[k]:
                found.append(
                    _noted(replace(spread, low=math.nan, high=math.nan), "no interval: replicates do not vary")
                )
            elif np.isnan(low[k]) or np.isnan(high[k]):
                none = replace(spread, low=math.nan, high=math.nan)
                found.append(_noted(none, "no interval: too few replicates have a value for this method"))
            else:
                limits = np.clip((low[k], high[k]), *_bounds(quantity.name))
                spread = replace(spread, low=float(limits[0]), high=float(limits[1]), method=made[k])
                if has_few_effective_errors(spread):
                    spread = _noted(spread, f"fewer than {ENOUGH_EFFECTIVE_ERRORS} effective errors: likely too narrow")
                measure = measure_of(quantity.name)
                if method == "auto" and made[k] != INVERSION and measure is not None and measure.fairer != "nearer":
                    spread = _noted(spread, "of percentiles, as a group has no errors: likely too narrow")
                if made[k] != INVERSION and measure is not None and abs(shift[k]) > _SHIFTED * errors[k]:
                    spread = _noted(
                        spread, "resampling shifts it, as chance makes groups differ: see Coverage in the docs"
                    )
                if not_computable[k] > _OFTEN:
                    spread = _noted(spread, f"not computable in {100 * not_computable[k]:.0f} % of replicates")
                if not np.isfinite(limits).all():
                    spread = _noted(spread, "the interval has no end, as groups without errors occur in replicates")
                found.append(spread)
        return tuple(found)

    def _limits(
        self, estimates: Floats, shift: Floats, confidence_level: float, method: str
    ) -> tuple[Floats, Floats, list[str]]:
        """Make intervals, and name the method of each: those of a method that is not for all quantities differ."""
        general = "percentile" if method in ("auto", "dyadic") else method
        left_out = self.left_out() if method == "bca" else None
        low, high = intervals.confidence_interval(
            self.replicates, estimates, confidence_level, general, jackknife=left_out
        )
        made = [general] * len(estimates)
        for special, has_it in _SPECIAL.get(method, ()):
            rows = [k for k, quantity in enumerate(self.quantities) if has_it(quantity)]
            low[rows], high[rows] = intervals.confidence_interval(
                self.replicates[rows], estimates[rows], confidence_level, special,
                degrees_of_freedom=self.freedom[rows],
            )  # fmt: skip
            for k in rows:
                made[k] = special
        if method == "auto" and self.rows:
            inverted = self.inverted()
            for key, least, most in zip(inverted.keys, *inverted.intervals(confidence_level), strict=True):
                k = self.rows[key]
                if math.isnan(least):
                    continue
                made[k] = INVERSION
                # To the unfair side at least as far as percentiles reach that are rid of their shift.
                if is_fairer_above(key[0]):
                    low[k], high[k] = min(least, estimates[k], low[k] - shift[k]), max(most, estimates[k])
                else:
                    low[k], high[k] = min(least, estimates[k]), max(most, estimates[k], high[k] - shift[k])
        return low, high, made


def has_few_effective_errors(quantity: Quantity) -> bool:
    """Tell a rate whose interval is likely too narrow: few errors, or many that hang on few subjects.

    As many independent errors as have the rate's relative standard error: 95 % intervals made of quantiles that rest on
    fewer than 10 hold the truth in about 90 % of simulated data sets, and on fewer than 3 in about 80 %. Those on a
    logarithmic scale, "logit" and "dyadic", hold it often enough.
    """
    if quantity.name not in RATES or not quantity.standard_error or not 0 < quantity.estimate < 1:
        return False
    rarer = min(quantity.estimate, 1 - quantity.estimate)
    few = (rarer / quantity.standard_error) ** 2 < ENOUGH_EFFECTIVE_ERRORS
    return few and quantity.method not in ("logit", "dyadic")


def require_method(method: str, unit: str, scheme: str) -> None:
    """Raise where replicates do not have the variance that a method is named after."""
    if method == "dyadic" and (unit, scheme) != ("subject", "dyadic"):
        raise InputError(
            f'method="dyadic" needs replicates with the dyadic-robust variance, which unit="subject" with '
            f'scheme="dyadic" has, not unit="{unit}" with scheme="{scheme}"'
        )


def _finite_means(replicates: Floats) -> Floats:
    finite = np.isfinite(replicates)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(finite, replicates, 0.0).sum(axis=1) / finite.sum(axis=1))


def _varies(replicates: Floats) -> NDArray[np.bool_]:
    """Tell rows with more than one value, rounding aside."""
    low, high = np.fmin.reduce(replicates, axis=1), np.fmax.reduce(replicates, axis=1)  # NaN aside
    with np.errstate(invalid="ignore"):
        rounding = 1e-12 * np.maximum(np.abs(high), 1e-3)
        return np.asarray((high > low) & (np.isinf(high) | (high - low > rounding)))


def _is_min_cllr(quantity: Quantity) -> bool:
    return quantity.name == "min_cllr"


def _is_rate(quantity: Quantity) -> bool:
    return quantity.name in (*RATES, "eer") and HELD not in quantity.note and 0 < quantity.estimate < 1


def _is_false_match_rate(quantity: Quantity) -> bool:
    return quantity.name in ("fmr", "fmr_matrix") and HELD not in quantity.note and quantity.estimate > 0


_SPECIAL: dict[str, tuple[tuple[str, Callable[[Quantity], bool]], ...]] = {
    "auto": (("logit", _is_rate), ("basic", _is_min_cllr)),  # replicates of min Cllr lie too low
    "dyadic": (("dyadic", _is_false_match_rate),),
}


def _without_errors(quantity: Quantity, confidence_level: float) -> Quantity:
    """Give a rate of 0 (or of 1) the interval of independent trials, as resampling what never failed shows nothing."""
    assert quantity.n_comparisons is not None
    upper = intervals.upper_limit_without_errors(quantity.n_comparisons, confidence_level)
    what = "no errors" if quantity.estimate == 0 else "nothing but errors"
    note = f"{what}: the interval is Clopper and Pearson's, for independent comparisons"
    if quantity.n_subjects:
        independent = quantity.n_subjects if quantity.name == "fnmr" else quantity.n_subjects // 2
        if 0 < independent < quantity.n_comparisons:
            widest = intervals.upper_limit_without_errors(independent, confidence_level)
            limit = widest if quantity.estimate == 0 else 1 - widest
            note += f"; if only subjects are independent it reaches to {limit:.3g}"
    low, high = (0.0, upper) if quantity.estimate == 0 else (1 - upper, 1.0)
    return _noted(replace(quantity, low=low, high=high, method="clopper-pearson"), note)


def _noted(quantity: Quantity, note: str) -> Quantity:
    return replace(quantity, note=f"{quantity.note}; {note}" if quantity.note else note)


def _bounds(name: str) -> tuple[float, float]:
    if name in (*RATES, "eer"):
        return 0.0, 1.0
    if name in ("min_dcf", "cllr"):
        return 0.0, math.inf
    measure = measure_of(name)
    return measure.bounds if measure else (-math.inf, math.inf)

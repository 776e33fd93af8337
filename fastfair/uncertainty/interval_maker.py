"""`IntervalMaker`: intervals of quantities, each by the method that suits it, from replicates or in closed form.

Which interval a quantity gets, and which notes warn of its weaknesses, are rules at the beginning.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib.bisection import least_between
from fastfair._lib.threads import in_threads
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.error_rates.score_metrics import Costs
from fastfair.errors import InputError
from fastfair.measures._registry import measure_of, methods_of, range_of
from fastfair.resampling.dependence import ENOUGH_PAIRS

from .few_errors import SampleSizes, widened_for_few_errors, widened_to_quantiles
from .inversion import FEW_DRAWN, INVERSION, NO_SUCH_ERRORS, MeasureInversion
from .notes import CONCENTRATED, ENOUGH_EFFECTIVE_ERRORS, Code, Note
from .quantities import (
    FAILURE_RATES,
    FITTED,
    OF_MATED,
    RATES,
    RATIOS,
    WITH_FAILURES,
    Key,
    Quantity,
    base_metric_of_ratio,
    errors_behind_ratios,
    n_calls,
    noted,
)
from .rate_limits import RateEvidence

_ROUNDING = 1e-12
_SHIFTED = 0.5  # standard errors between estimate and mean of replicates from which on intervals miss the truth
_OFTEN = 0.05  # share of replicates without a value from which on an interval must be read with care
# Where few subjects cause most false matches, which fewer than 30 of these do not show, up to 30 % of FMRs that are
# just too high had an upper limit below the bound in simulations, and at most 5 % one below a fourth of it. More
# subjects do not help: moderately skewed ones needed room for 2 to 2.6 times the limit, 100 of them as well as 1,000,
# and very skewed ones for 4 times.
ROOM = 4
FEW_GROUP_ERRORS = "few errors of the group"  # instead of a method
CLOSED_FORM = "closed form"  # what that of intervals without replicates is called


def _without_errors(quantity: Quantity, independent: float, confidence_level: float) -> Quantity:
    """Give a rate or EER of 0 or 1, which is the same in all replicates, Clopper and Pearson's interval."""
    upper = intervals.upper_limit_without_errors(independent, confidence_level)
    code = Code.NO_ERRORS if quantity.estimate == 0 else Code.NOTHING_BUT_ERRORS
    values: dict[str, float | str] = {"errors": "failures" if quantity.name in FAILURE_RATES else "errors"}
    # Only where subjects are drawn is it known how much their errors come together.
    known = independent != quantity.n_comparisons
    notes = [Note.of(code, **values, **({"n": independent} if known else {}))]
    if quantity.n_subjects and quantity.n_comparisons and not known:
        fewest = quantity.n_subjects if quantity.name in OF_MATED else quantity.n_subjects // 2
        if 0 < fewest < quantity.n_comparisons:
            widest = intervals.upper_limit_without_errors(fewest, confidence_level)
            limit = widest if quantity.estimate == 0 else 1 - widest
            notes.append(Note.of(Code.CAUTIOUS_LIMIT, limit=limit))
    low, high = (0.0, upper) if quantity.estimate == 0 else (1 - upper, 1.0)
    return noted(replace(quantity, low=low, high=high, method="clopper-pearson"), *notes)


def one_sided(quantity: Quantity, alternative: str, costs: Costs | None) -> Quantity:
    """Return a quantity with one limit of its interval, the other end being the bound of possible values.

    What an operating point holds stays as it is, and so does what has no interval.
    """
    if quantity.low is None or math.isnan(quantity.low) or quantity.low == quantity.high == quantity.estimate:
        return quantity
    least, most = range_of(quantity.name, costs)
    return replace(quantity, low=least) if alternative == "less" else replace(quantity, high=most)


def has_few_effective_errors(quantity: Quantity) -> bool:
    """Return whether a rate's interval is likely too narrow: errors are few, or few subjects cause most of them.

    Effective errors are the number of independent errors that would have the rate's relative standard error. In
    simulations, 95 % intervals made of quantiles contain the true rate in about 90 % of the data sets with fewer than
    10 effective errors, and in about 80 % of those with fewer than 3. Intervals on a logarithmic scale, "logit" and
    "dyadic", contain it often enough.
    """
    if quantity.name not in RATES or not quantity.standard_error or not 0 < quantity.estimate < 1:
        return False
    rarer = min(quantity.estimate, 1 - quantity.estimate)
    few = (rarer / quantity.standard_error) ** 2 < ENOUGH_EFFECTIVE_ERRORS
    return few and quantity.method not in ("logit", "dyadic", CLOSED_FORM)


def rests_on_any(quantity: Quantity, rates: Collection[Quantity]) -> bool:
    """Return whether a quantity rests on one of these FMRs, such as those whose false matches few subjects cause.

    A minDCF, and the min Cllr of a group, rest on those of their own group, a threshold that holds an FMR on that of
    all comparisons, and a fairness measure of false matches on those of all groups at its operating point. The min Cllr
    of all comparisons depends on so many scores that it is hardly changed by them.
    """
    name, at, of_all = quantity.name, quantity.at, quantity.name == "threshold"
    if name == "min_dcf" or (name == "min_cllr" and quantity.group is not None):
        return any(fmr.name == "fmr" and fmr.group == quantity.group for fmr in rates)
    measure = measure_of(name)
    is_of_fmrs = measure is not None and (not measure.of or name.endswith("(fmr)"))
    rests = at is not None and (at.rate == "fmr" if of_all else is_of_fmrs)
    return rests and any(fmr.name == "fmr" and (fmr.group is None) is of_all and fmr.at == at for fmr in rates)


def are_concentrated(quantity: Quantity) -> bool:
    """Return whether few subjects cause so many of the errors behind an FMR that its interval is likely too narrow.

    Whether such subjects are in the data is luck. In populations where 95 % intervals contain the true rate in 91 % of
    data sets, 4 of 5 had the note; where they contain it in 94 %, 1 of 3; and in others, at most 3 of 100. Few errors,
    and those of few subjects, are always concentrated, which says nothing.
    """
    if quantity.name in OF_MATED or quantity.concentration is None:
        return False
    return are_of_few(quantity.n_errors or 0, quantity.n_subjects or 0, quantity.concentration)


def are_of_few(n_errors: int, n_subjects: int, concentration: float) -> bool:
    """Return whether few of the subjects cause most errors, by the share of those that involve 5 % of them."""
    known = n_subjects >= 20 and n_errors >= max(10, 3 * -(-n_subjects // 20))
    return known and concentration >= CONCENTRATED


def may_be_of_few(quantity: Any, times: float = 1.0) -> bool:
    """Return whether an FMR has too few errors to see whether a few subjects cause most of them.

    Where nobody is in two comparisons, nobody can cause several errors. times: how many times as many errors there are.
    """
    if quantity.name not in ("fmr", "fmr_matrix") or (quantity.n_errors or 0) * times >= ENOUGH_ERRORS:
        return False
    return quantity.n_subjects is None or quantity.n_subjects < 2 * (quantity.n_comparisons or 0)


def has_few_false_matches(quantity: Quantity) -> bool:
    """Return whether an FMR has errors, but too few to see whether a few of its known subjects cause most of them."""
    is_known = not quantity.is_held and quantity.n_subjects is not None
    return is_known and bool(quantity.n_errors) and may_be_of_few(quantity)


def room_for(quantity: Any, times: float = 1.0) -> float:
    """Return how many times too low the limit of a quantity may be, which a bound has to allow.

    times: how many times as many errors as its own there are.
    """
    return ROOM if quantity.name == "fmr" and may_be_of_few(quantity, times) else 1.0


Floats = NDArray[np.float64]
_FARTHEST = 8.0  # standard errors; beyond it a normal quantile's level cannot be told from 1
_STEPS = 50  # of a bisection
NO_REPLICATES = "there are no replicates, and so no intervals: evaluate with ⟦n_resamples⟧ > 0"


class IntervalMaker:
    """Gives quantities intervals of any level, to both sides or to one, from replicates or from standard errors.

    Parameters
    ----------
    quantities : tuple of Quantity
        The quantities, without intervals.
    replicates : (quantities, r) ndarray, optional
        The value of each quantity in every replicate.
    standard_errors : (quantities,) ndarray, optional
        Without replicates, the standard errors of rates at their operating points; NaN for all other quantities, which
        get no interval.
    sizes : SampleSizes, optional
        How much data are behind the quantities, where more is known of that than replicates tell.
    jackknife : callable, optional
        Computes the (quantities, units) values with one unit left out, for the method "bca".
    inversion : MeasureInversion, optional
        The test inversion of fairness measures.
    costs : Costs, optional
        The costs of DCFs, which bound them.
    n_threads : int, optional
        Number of threads; all processors by default.

    Attributes
    ----------
    quantities, sizes, inversion, costs
        As given.
    """

    def __init__(
        self,
        quantities: tuple[Quantity, ...],
        replicates: Floats | None = None,
        *,
        standard_errors: Floats | None = None,
        sizes: SampleSizes | None = None,
        jackknife: Callable[[], Floats] | None = None,
        inversion: MeasureInversion | None = None,
        costs: Costs | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.quantities, self.inversion, self.costs = quantities, inversion, costs
        self.sizes = SampleSizes.unknown(len(quantities)) if sizes is None else sizes
        self._replicates, self._errors, self._jackknife = replicates, standard_errors, jackknife
        self._n_threads = n_threads
        self._estimates = np.array([quantity.estimate for quantity in quantities])

    @property
    def has_replicates(self) -> bool:
        """Whether there are replicates."""
        return self._replicates is not None

    @property
    def replicates(self) -> Floats:
        """(quantities, r) values of the quantities in every replicate."""
        if self._replicates is None:
            raise InputError(NO_REPLICATES)
        return self._replicates

    @cached_property
    def left_out(self) -> Floats:
        """(quantities, units) values of the quantities with one unit left out."""
        assert self._jackknife is not None
        return self._jackknife()

    def with_intervals(
        self, confidence_level: float, method: str, alternative: str = "two-sided", simultaneous: bool = False
    ) -> tuple[Quantity, ...]:
        """Return the quantities with intervals, or with one limit and the bound of what is possible.

        Parameters
        ----------
        confidence_level, method, alternative, simultaneous
            As in `evaluate`. Simultaneous intervals of a quantity hold in all groups together.

        Returns
        -------
        tuple of Quantity
        """
        level = confidence_level if alternative == "two-sided" else two_sided_level(confidence_level)
        made = self.quantities_at(range(len(self.quantities)), level, method)
        if simultaneous:
            self._widen_to_hold_together(made, level, method)
        found = tuple(_far_within_fmr(made))
        return found if alternative == "two-sided" else tuple(one_sided(q, alternative, self.costs) for q in found)

    def pvalue_of_limit(self, row: int, bound: float, *, upper: bool) -> float:
        """Return the smallest error probability of a one-sided limit of a quantity that is on its side of a bound.

        That of an upper limit which is at most the bound, or of a lower one which is at least it. It is looked for
        between 1e-6 and 0.5, and 1 where there is none.
        """

        def excludes(tail: float) -> bool:
            (quantity,) = self.quantities_at([row], 1 - 2 * tail, "auto")
            end = quantity.high if upper else quantity.low
            return end is not None and (end <= bound if upper else end >= bound)

        return least_between(excludes, 1e-6, 0.499, 1.005) if excludes(0.499) else 1.0

    def quantities_at(self, rows: Sequence[int], confidence_level: float, method: str) -> list[Quantity]:
        """Return some of the quantities with two-sided intervals of a level."""
        if self._replicates is None:
            if method != "auto":
                raise InputError(
                    f'⟦method="{method}"⟧ needs replicates: evaluate with ⟦n_resamples⟧ > 0, or ⟦method="auto"⟧'
                )
            low, high = self._limits_in_closed_form(rows, confidence_level)
            made_by = [CLOSED_FORM] * len(rows)
        else:
            low, high, made_by = self._limits_of_replicates(rows, confidence_level, method)
        made = zip(rows, low.tolist(), high.tolist(), made_by, strict=True)
        return [self._with_interval(k, (least, most), by, confidence_level, method) for k, least, most, by in made]

    def _with_interval(
        self, k: int, ends: tuple[float, float], made_by: str, confidence_level: float, method: str
    ) -> Quantity:
        """Return a quantity with the interval and the notes that the rules choose; ends: the limits by its method."""
        quantity, (errors, _, _, not_computable) = self.quantities[k], self._spread
        held, independent = self._is_held(quantity), float(self.sizes.effective[k])
        if self._replicates is not None:
            share = float(not_computable[k])
            quantity = replace(quantity, standard_error=float(errors[k]), not_computable=share)
        elif not held:
            if math.isnan(errors[k]):
                return self._within_few_held(quantity, k, confidence_level)
            quantity = replace(quantity, standard_error=float(errors[k]))
        if held:
            quantity = replace(quantity, low=quantity.estimate, high=quantity.estimate)
        elif not math.isfinite(quantity.estimate):
            quantity = replace(quantity, low=math.nan, high=math.nan)
        elif quantity.estimate in (0, 1) and not math.isnan(independent):
            quantity = _without_errors(quantity, independent, confidence_level)
        elif reason := self._why_none(k, ends, made_by):
            quantity = noted(replace(quantity, low=math.nan, high=math.nan), Note(reason))
        else:
            quantity = self._as_computed(k, quantity, ends, made_by, confidence_level, method)
        if method != "auto":
            return quantity
        if self._replicates is not None and _is_at_held_threshold(quantity):
            quantity = widened_to_quantiles(quantity, self._replicates[k], confidence_level)
        return self._within_few_held(quantity, k, confidence_level)

    def _why_none(self, k: int, ends: tuple[float, float], made_by: str) -> Code | None:
        """Return why a quantity has no interval; None where it has the one computed."""
        if made_by == NO_SUCH_ERRORS:
            return Code.NO_SUCH_ERRORS
        if made_by == FEW_GROUP_ERRORS:
            return Code.FEW_GROUP_ERRORS
        if self.sizes.unit == "subject" and self.quantities[k].n_subjects == 1:
            return Code.ONE_SUBJECT
        if not self._spread[2][k]:
            return Code.CONSTANT_RATE if made_by == CLOSED_FORM else Code.CONSTANT_REPLICATES
        return Code.FEW_COMPUTABLE if any(map(math.isnan, ends)) else None

    def _as_computed(
        self, k: int, quantity: Quantity, ends: tuple[float, float], made_by: str, confidence_level: float, method: str
    ) -> Quantity:
        """Return a quantity with the interval by its method, widened for few errors and within what is possible."""
        if method == "auto":
            raised = math.nan if quantity.name in FITTED else float(self.sizes.raised[k])
            freedom, independent = float(self.sizes.degrees_of_freedom[k]), float(self.sizes.effective[k])
            of_rate = quantity.standard_error or 0.0, freedom, independent, raised
            ends = widened_for_few_errors(ends, quantity.estimate, of_rate, confidence_level)
        least, most = range_of(quantity.name, self.costs)
        low, high = (min(max(end, least), most) for end in ends)
        if quantity.name == "threshold":  # which is a score or a decimal near one, and replicates' are scores
            low, high = min(low, quantity.estimate), max(high, quantity.estimate)
        called = INVERSION if made_by == FEW_DRAWN else made_by
        if called == INVERSION and abs(low) < _ROUNDING:  # of a fair system's standard deviation, which is 0
            low = 0.0
        quantity = replace(quantity, low=low, high=high, method=called)
        return noted(quantity, *self._notes(k, quantity, made_by, method))

    def _notes(self, k: int, quantity: Quantity, made_by: str, method: str) -> Iterator[Note]:
        """Yield what there is to say of a quantity with its interval."""
        few_effective, concentrated = has_few_effective_errors(quantity), are_concentrated(quantity)
        concentrated = concentrated and not quantity.is_held
        rests_on_concentrated = rests_on_any(quantity, self._concentrated)
        few = has_few_false_matches(quantity) or (
            quantity.name not in FITTED and rests_on_any(quantity, self._of_few_false_matches)
        )
        measure, not_computable = measure_of(quantity.name), quantity.not_computable or 0.0
        if few_effective:
            yield Note(Code.FEW_EFFECTIVE_ERRORS)
        if made_by == FEW_DRAWN:
            yield Note(Code.FEW_DRAWN)
        if concentrated:
            yield Note.of(Code.CONCENTRATED, share=f"{100 * (quantity.concentration or 0.0):.0f} %")
        if rests_on_concentrated:
            yield Note(Code.RESTS_ON_CONCENTRATED)
        is_noted = rests_on_concentrated or few_effective or concentrated or made_by == FEW_DRAWN
        if few and self.sizes.unit == "subject" and not is_noted:
            yield Note(Code.UNKNOWN_WHOSE if quantity.name in RATES else Code.FEW_FALSE_MATCHES)
        if quantity.name.endswith("(min_dcf)"):
            yield Note(Code.FITTED_COST)
        if measure is not None and made_by not in (INVERSION, FEW_DRAWN):
            if method == "auto" and measure.fairer != "nearer":
                yield Note(Code.BY_PERCENTILES)
            if abs(self._spread[1][k]) > _SHIFTED * (quantity.standard_error or 0.0):
                yield Note(Code.SHIFTED_REPLICATES)
        if not_computable > _OFTEN:
            yield Note.of(Code.OFTEN_NOT_COMPUTABLE, share=f"{100 * not_computable:.0f} %")
        if quantity.low == -math.inf or quantity.high == math.inf:
            yield Note(Code.UNBOUNDED)

    def _widen_to_hold_together(self, made: list[Quantity], confidence_level: float, method: str) -> None:
        """Widen the intervals of quantities that two or more groups have at one operating point, in place.

        Without replicates, groups count as independent, which is Sidak's way.
        """
        for rows in families(self.quantities):
            rows = [k for k in rows if made[k].low is not None and not math.isnan(made[k].low or 0.0)]
            if self._replicates is None:
                level = confidence_level ** (1 / max(1, len(rows)))
            else:
                drawn = [k for k in rows if made[k].method != "clopper-pearson"]
                of_drawn = self._replicates[drawn], self._estimates[drawn]
                level = level_of_groups(*of_drawn, confidence_level, len(rows) - len(drawn))
            for k, wider in zip(rows, self.quantities_at(rows, level, method), strict=True):
                made[k] = replace(made[k], low=wider.low, high=wider.high)

    def _is_held(self, quantity: Quantity) -> bool:
        """Return whether the operating point fixes a quantity."""
        if quantity.name == "threshold":
            return quantity.at is not None and quantity.at.is_given
        # A rate of 0 or 1 is not held, but all that the data have below, or above, what is asked for.
        return self._replicates is None and quantity.is_held and quantity.estimate not in (0, 1)

    @cached_property
    def evidence(self) -> RateEvidence:
        """What the limits of rates are computed from, (quantities,) of each; of no meaning for what is no rate."""
        sizes = self.sizes
        subjects = np.array([quantity.n_subjects or 0 for quantity in self.quantities])
        fitted = [quantity.name in FITTED for quantity in self.quantities]
        return RateEvidence(
            self._estimates, self._spread[0], sizes.degrees_of_freedom, sizes.effective,
            np.where(fitted, np.nan, sizes.raised), np.maximum(1.0, subjects - sizes.degrees_of_freedom),
        )  # fmt: skip

    @cached_property
    def _concentrated(self) -> list[Quantity]:
        """The FMRs whose false matches few subjects cause."""
        return [quantity for quantity in self.quantities if are_concentrated(quantity)]

    @cached_property
    def _of_few_false_matches(self) -> list[Quantity]:
        return [q for q in self.quantities if has_few_false_matches(q)] if self.has_replicates else []

    @cached_property
    def _errors_behind_ratios(self) -> dict[Key, int]:
        return errors_behind_ratios(self.quantities)

    @cached_property
    def _spread(self) -> tuple[Floats, Floats, NDArray[np.bool_], Floats]:
        """(quantities,) standard errors, shifts from the estimate to the replicates' mean, and whether replicates vary.

        The last are the shares of replicates that are not computable.
        """
        n = len(self.quantities)
        if self._replicates is None:
            errors = np.full(n, np.nan) if self._errors is None else self._errors
            at_ends = [q.is_held and q.estimate in (0, 1) for q in self.quantities]
            errors = np.where(at_ends, 0.0, errors)
            return errors, np.zeros(n), errors > 0, np.zeros(n)
        errors, means, varies, not_computable = self._in_stretches(_spread, range(n))
        errors[~varies & (errors < 1)] = 0.0  # and not what rounding makes of it
        return errors, means - self._estimates, varies, not_computable

    def _in_stretches(
        self, work: Callable[[NDArray[np.intp], Floats], tuple[NDArray[Any], ...]], rows: Sequence[int]
    ) -> list[NDArray[Any]]:
        """Call a function with as many rows of replicates at once as the cache holds, and join what it returns."""
        replicates, n = self.replicates, len(rows)
        r, positions = replicates.shape[1], np.array(rows, np.intp)
        drawn = replicates if n == len(replicates) else replicates[positions]
        ends = np.linspace(0, n, max(1, n_calls(n, r)) + 1).astype(int).tolist()
        stretches = [slice(*both_ends) for both_ends in itertools.pairwise(ends)]
        found = in_threads(n * r, lambda some: work(positions[some], drawn[some]), stretches, self._n_threads)
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    def _limits_in_closed_form(self, rows: Sequence[int], confidence_level: float) -> tuple[Floats, Floats]:
        some = list(rows)
        estimates, errors, freedom = self._estimates[some], self._spread[0][some], self.sizes.degrees_of_freedom[some]
        known = ~np.isnan(errors) & (estimates >= 0) & (estimates <= 1)
        low, high = np.full((2, len(some)), np.nan)
        of_known = estimates[known], errors[known], freedom[known]
        low[known], high[known] = intervals.logit_interval(*of_known, confidence_level)
        return low, high

    def _limits_of_replicates(
        self, rows: Sequence[int], confidence_level: float, method: str
    ) -> tuple[Floats, Floats, list[str]]:
        """Compute intervals and name the method of each, as some methods are for some kinds of quantities only."""
        general = "percentile" if method in ("auto", "dyadic") else method
        left_out = self.left_out if method == "bca" else None

        def general_limits(some: NDArray[np.intp], drawn: Floats) -> tuple[Floats, Floats]:
            jackknife = None if left_out is None else left_out[some]
            return intervals.confidence_interval(
                drawn, self._estimates[some], confidence_level, general, jackknife=jackknife
            )

        low, high = self._in_stretches(general_limits, rows)
        made_by = [general] * len(rows)
        places = [place for place, k in enumerate(rows) if _has_method(self.quantities[k], method)]
        if places:
            special = "logit" if method == "auto" else "dyadic"
            some = [rows[place] for place in places]
            low[places], high[places] = intervals.confidence_interval(
                self.replicates[some], self._estimates[some], confidence_level, special,
                degrees_of_freedom=self.sizes.degrees_of_freedom[some],
            )  # fmt: skip
            for place in places:
                made_by[place] = special
        if method == "auto":
            for place, k in enumerate(rows):
                ends = float(low[place]), float(high[place])
                low[place], high[place], made_by[place] = self._special(k, ends, made_by[place], confidence_level)
            if self.inversion is not None:
                place_of = {k: place for place, k in enumerate(rows)}
                unshifted = dict(zip(rows, np.array([low, high]).T - self._spread[1][list(rows), None], strict=True))
                for k, least, most, made in self.inversion.intervals(self._estimates, unshifted, confidence_level):
                    low[place_of[k]], high[place_of[k]], made_by[place_of[k]] = least, most, made
        return low, high, made_by

    def _special(
        self, k: int, ends: tuple[float, float], made_by: str, confidence_level: float
    ) -> tuple[float, float, str]:
        """Return the interval of a cost that is fitted to the data, or of a group's ratio; that of others as it is."""
        quantity, freedom = self.quantities[k], float(self.sizes.degrees_of_freedom[k])
        base = base_metric_of_ratio(quantity.name)
        if base:
            n_errors = self._errors_behind_ratios.get((base, quantity.group, None, quantity.at), ENOUGH_PAIRS)
            if n_errors < ENOUGH_PAIRS:
                return *ends, FEW_GROUP_ERRORS
            name, drawn = quantity.name.partition("(")[0], self.replicates[k]
            return *interval_of_ratio(name, quantity.estimate, ends, drawn, freedom, confidence_level), "log"
        if quantity.name not in FITTED:
            return *ends, made_by
        optimism, error = max(-self._spread[1][k], 0.0), float(intervals.standard_error(self.replicates[k]))
        if not quantity.estimate + optimism > 0:
            return *ends, made_by
        of_cost = quantity.estimate, optimism, error, freedom, confidence_level
        low, high = _interval_of_fitted_cost(*of_cost, raised=0.0)
        if not math.isnan(self.sizes.raised[k]):
            high = max(high, _interval_of_fitted_cost(*of_cost, raised=float(self.sizes.raised[k]))[1])
        return low, high, "log"

    def _within_few_held(self, quantity: Quantity, row: int, confidence_level: float) -> Quantity:
        """Widen the interval of a quantity at a threshold that few errors hold."""
        few_held, place = self.sizes.few_held, self.sizes.places[row] if self.sizes.places else -1
        limits = None if few_held is None else few_held.limits(place, confidence_level)
        if limits is None or math.isnan(quantity.estimate):
            return quantity
        if quantity.low is not None and quantity.high is not None and not math.isnan(quantity.low):
            ends = [limits.low, limits.high]
            if quantity.name in WITH_FAILURES:
                ends = [_with_failures(quantity, self.quantities[place].estimate, end) for end in ends]
            least, most = range_of(quantity.name, self.costs)
            low, high = max(least, np.fmin(quantity.low, ends[0])), min(most, np.fmax(quantity.high, ends[1]))
            quantity = replace(quantity, low=float(low), high=float(high))
        return noted(quantity, limits.missing) if limits.missing else quantity


def _is_at_held_threshold(quantity: Quantity) -> bool:
    at_held = quantity.at is not None and not quantity.at.is_given
    return quantity.name in (*RATES, *WITH_FAILURES) and at_held and not quantity.is_held


def _has_method(quantity: Quantity, method: str) -> bool:
    """Return whether a method is meant for a quantity: for "auto", the logit interval of a rate."""
    name = "logit" if method == "auto" else method
    inside = 0 < quantity.estimate < (1 if name == "logit" else math.inf)
    return name in methods_of(quantity.name) and not quantity.is_held and inside


def _with_failures(quantity: Quantity, scored: float, rate: float) -> float:
    """Return what an FRR or FAR would be with another FNMR or FMR, of which `scored` is that in the data."""
    if quantity.name == "far":
        return rate * quantity.estimate / scored if scored else rate
    failed = (quantity.estimate - scored) / (1 - scored) if scored < 1 else 0.0
    return failed + (1 - failed) * rate


def _far_within_fmr(quantities: Sequence[Quantity]) -> Iterator[Quantity]:
    """Let no interval of a FAR reach above that of the FMR, which a FAR never exceeds."""
    tops = {(q.group, q.at): q.high for q in quantities if q.name == "fmr" and q.high is not None}
    for quantity in quantities:
        top = tops.get((quantity.group, quantity.at), math.nan)
        if quantity.name != "far" or quantity.low is None or quantity.high is None or not quantity.high > top:
            yield quantity
        else:
            yield replace(quantity, low=min(quantity.low, top), high=top)


def two_sided_level(confidence_level: float) -> float:
    """Return the level of the interval whose limits are one-sided ones of another level, above 0.5."""
    if confidence_level <= 0.5:
        raise InputError(
            f"⟦confidence_level⟧ must be above 0.5 for a limit to one side, not {confidence_level:g}: below that the "
            "limit would lie beyond the estimate"
        )
    return 2 * confidence_level - 1


def require_method(method: str, unit: str, scheme: str) -> None:
    """Refuse the method "dyadic" where replicates do not have the dyadic-robust variance."""
    if method == "dyadic" and (unit, scheme) != ("subject", "dyadic"):
        raise InputError(
            f'⟦method="dyadic"⟧ needs replicates with the dyadic-robust variance, which ⟦unit="subject"⟧ with '
            f'⟦scheme="dyadic"⟧ has, not ⟦unit="{unit}"⟧ with ⟦scheme="{scheme}"⟧'
        )


def _spread(_: NDArray[np.intp], replicates: Floats) -> tuple[Floats, Floats, NDArray[np.bool_], Floats]:
    """Return standard errors, means, whether rows vary, apart from rounding, and the shares that are not finite."""
    low, high = np.fmin.reduce(replicates, axis=1), np.fmax.reduce(replicates, axis=1)  # NaN aside
    with np.errstate(invalid="ignore"):
        rounding = 1e-12 * np.maximum(np.abs(high), 1e-3)
        varies = (high > low) & (np.isinf(high) | (high - low > rounding))
    not_finite = (~np.isfinite(replicates)).mean(axis=1)
    return intervals.standard_error(replicates), intervals.finite_mean(replicates), varies, not_finite


def _interval_of_fitted_cost(
    estimate: float, optimism: float, error: float, freedom: float, confidence_level: float, *, raised: float
) -> tuple[float, float]:
    """Compute the interval of a cost at a threshold, or of a calibration, that is fitted to the same comparisons.

    It is symmetric on the scale of logarithms. Replicates fit once more, so they lie below the estimate about half as
    far as this lies below the truth: the interval's middle is raised by this optimism, and twice it is part of the
    error. `raised`: by how much one more subject raises the cost, for the upper limit; see `few_errors`.
    """
    from scipy.special import stdtrit

    center, freedom = estimate + optimism + raised, freedom + (raised > 0)
    widened = min(math.hypot(error, 2 * optimism, raised), center) * math.sqrt(1 + 1 / freedom)
    reach = float(stdtrit(freedom, (1 + confidence_level) / 2)) * widened / center
    return min(estimate, center * math.exp(-reach)), center * math.exp(reach)


def interval_of_ratio(
    name: str, estimate: float, quantiles: tuple[float, float], replicates: Floats, freedom: float, level: float
) -> tuple[float, float]:
    """Widen the interval of a group's ratio to the average, or of its logarithm, that quantiles of replicates give.

    Where errors are few or few subjects cause most, quantiles reach too little to the side of larger ratios.

    Parameters
    ----------
    name : str
        One of `RATIOS`.
    estimate : float
        The ratio, or minus its logarithm.
    quantiles : tuple of float
        Low and high of the interval by quantiles.
    replicates : (r,) ndarray
        The same in every replicate.
    freedom : float
        Degrees of freedom of the group's own value.
    level : float
        In (0, 1).

    Returns
    -------
    low, high : float
        Wide enough also for the interval that is symmetric on the scale of logarithms, with a quantile of Student's t
        and a relative standard error of at most 1. The quantiles themselves where they or the ratio are not known, or
        it is 0.
    """
    from scipy.special import stdtrit

    is_log = name == RATIOS[1]
    ratio, ratios = (math.exp(-estimate), np.exp(-replicates)) if is_log else (estimate, replicates)
    if not 0 < ratio < math.inf or any(map(math.isnan, quantiles)):
        return quantiles
    error = min(float(intervals.standard_error(ratios)) / ratio, 1.0) * math.sqrt(1 + 1 / freedom)
    reach = float(stdtrit(freedom, (1 + level) / 2)) * error
    ends = (estimate - reach, estimate + reach) if is_log else (ratio / math.exp(reach), ratio * math.exp(reach))
    return min(quantiles[0], ends[0]), max(quantiles[1], ends[1])


def level_of_curve(replicates: Floats, estimate: Floats, confidence_level: float) -> float:
    """Find the confidence level at which the intervals of a rate hold at all operating points together.

    Parameters
    ----------
    replicates : (points, r) ndarray
        The rate in every replicate.
    estimate : (points,) ndarray
        The rate in the data. Points at which it is 0 or 1 do not count.
    confidence_level : float
        How often the intervals are to hold together.

    Returns
    -------
    float
        That of normal intervals that reach as many standard errors as replicates of the whole curve stay within.
    """
    from scipy.special import ndtr

    counted = (estimate > 0) & (estimate < 1)
    farthest = _farthest(replicates[counted], estimate[counted])
    reach = min(float(np.quantile(farthest, confidence_level)), _FARTHEST)
    return max(confidence_level, float(2 * ndtr(reach) - 1))


def level_of_groups(replicates: Floats, estimate: Floats, confidence_level: float, n_others: int = 0) -> float:
    """Find the confidence level at which the intervals of one quantity hold in all groups together.

    Parameters
    ----------
    replicates : (groups, r) ndarray
        The quantity of each group in every replicate.
    estimate : (groups,) ndarray
        The quantity in the data.
    confidence_level : float
        How often the intervals are to hold together.
    n_others : int, default 0
        Number of groups besides, whose intervals do not come from replicates, as those of groups without errors. They
        are taken for independent of the others.

    Returns
    -------
    float
        That of normal intervals that reach as many standard errors as replicates of all groups stay within; at most
        that of Bonferroni's intervals.
    """
    from scipy.special import ndtri

    n = len(estimate) + n_others
    low, high = confidence_level, 1 - (1 - confidence_level) / max(n, 1)
    farthest = _farthest(replicates, estimate)
    for _ in range(_STEPS):
        level = (low + high) / 2
        inside = np.mean(farthest <= ndtri((1 + level) / 2)) * level**n_others
        low, high = (low, level) if inside >= confidence_level else (level, high)
    return high


def _farthest(replicates: Floats, estimate: Floats) -> Floats:
    """Return how many standard errors each replicate is away from the estimates, where it is farthest."""
    errors = intervals.standard_error(replicates)
    moving = errors > 0
    away = np.abs(replicates[moving] - estimate[moving, None]) / errors[moving, None]
    return np.asarray(np.fmax.reduce(away, axis=0, initial=0.0))  # without what was not computable


def families(quantities: Sequence[Quantity]) -> Iterator[list[int]]:
    """List the positions of each quantity that two or more groups have at one operating point."""
    found: dict[object, list[int]] = {}
    for k, quantity in enumerate(quantities):
        if quantity.group is not None and not quantity.is_held:
            found.setdefault((quantity.name, quantity.at), []).append(k)
    yield from (rows for rows in found.values() if len(rows) > 1)

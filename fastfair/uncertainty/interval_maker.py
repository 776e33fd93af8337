"""`IntervalMaker`: intervals of quantities, each by the method that suits it, from replicates or in
closed form.

What is asked of a quantity, such as whether it is a rate, are functions at the beginning.
`IntervalMaker.ends_at` says which interval a quantity gets, in three steps: a method makes it, it is
withheld where it would not tell how uncertain the quantity is, and it is widened. `_notes` says what
else there is to say of it.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib.arrays import AnyArray, Flags, Floats
from fastfair._lib.arrays import Indices as Rows
from fastfair._lib.bisection import least_between
from fastfair._lib.threads import in_threads
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.error_rates.score_metrics import Costs
from fastfair.errors import InputError
from fastfair.measures._registry import METRICS, NONMATED, measure_of, methods_of, range_of
from fastfair.resampling.dependence import ENOUGH_PAIRS

from .few_errors import SampleSizes
from .inversion import FEW_DRAWN, INVERSION, NO_SUCH_ERRORS, MeasureInversion
from .notes import (
    CONCENTRATED,
    ENOUGH_EFFECTIVE_ERRORS,
    ENOUGH_SESSIONS,
    FEWEST_SESSIONS,
    Code,
    Note,
)
from .quantities import (
    FAILURE_RATES,
    FITTED,
    OF_MATED,
    RATES,
    RATIOS,
    WITH_FAILURES,
    Quantity,
    base_metric_of_ratio,
    errors_behind_ratios,
    n_calls,
)
from .rate_limits import RateEvidence
from .sessions import note_of_few

_ROUNDING = 1e-12
# standard errors between estimate and mean of replicates from which on intervals miss the truth
_SHIFTED = 0.5
# share of replicates without a value from which on an interval must be read with care
_OFTEN = 0.05
# Where few subjects cause most false matches, which fewer than 30 of these do not show, up to 30 %
# of FMRs that are just too high had an upper limit below the bound in simulations, and at most 5 %
# one below a fourth of it. More subjects do not help: moderately skewed ones needed room for 2 to
# 2.6 times the limit, 100 of them as well as 1,000, and very skewed ones for 4 times.
ROOM = 4
FEW_GROUP_ERRORS = "few errors of the group"  # instead of a method
CLOSED_FORM = "closed form"  # what that of intervals without replicates is called
CLOPPER_PEARSON = "clopper-pearson"
# standard errors, in units of a rate or its complement, from which on replicates' quantiles are
# held, too
_FEW = 0.5


def notes_without_errors(
    quantity: Quantity, independent: float, confidence_level: float
) -> list[Note]:
    """Return what there is to say of a rate or EER of 0 or 1, which is the same in all
    replicates.
    """
    code = Code.NO_ERRORS if quantity.estimate == 0 else Code.NOTHING_BUT_ERRORS
    values: dict[str, float | str] = {
        "errors": "failures" if quantity.name in FAILURE_RATES else "errors"
    }
    # Only where subjects are drawn is it known how much their errors come together.
    is_clustered = independent != quantity.n_comparisons
    notes = [Note.of(code, **values, **({"n": independent} if is_clustered else {}))]
    if quantity.n_subjects and quantity.n_comparisons and not is_clustered:
        fewest = quantity.n_subjects if quantity.name in OF_MATED else quantity.n_subjects // 2
        if 0 < fewest < quantity.n_comparisons:
            widest = intervals.upper_limit_without_errors(fewest, confidence_level)
            limit = widest if quantity.estimate == 0 else 1 - widest
            notes.append(Note.of(Code.CAUTIOUS_LIMIT, limit=limit))
    return notes


def is_ratio(name: str) -> bool:
    """Return whether a name is that of a group's ratio to the average, or of a logarithm of one."""
    return bool(base_metric_of_ratio(name))


def is_logarithm(name: str) -> bool:
    """Return whether a name is that of minus the logarithm of a group's ratio to the average."""
    return name.startswith(f"{RATIOS[1]}(")


def is_measure(name: str) -> bool:
    """Return whether a name is that of a fairness measure."""
    return measure_of(name) is not None


def is_one_sided_measure(name: str) -> bool:
    """Return whether a name is that of a fairness measure that no data move beyond that of a fair
    system.
    """
    measure = measure_of(name)
    return measure is not None and measure.fairer != "nearer"


def rests_on_fmrs(name: str) -> bool:
    """Return whether a name is that of a measure that is made of FMRs."""
    measure = measure_of(name)
    return measure is not None and (not measure.of or name.endswith("(fmr)"))


def rest_on_any(quantities: Sequence[Quantity], rates: Sequence[Quantity]) -> list[bool]:
    """Return which quantities rest on one of some FMRs, such as those whose false matches few
    subjects cause.

    A minDCF, and the min Cllr of a group, rest on those of their own group, a threshold that holds
    an FMR on that of all comparisons, and a fairness measure of false matches on those of all
    groups at its operating point. The min Cllr of all comparisons depends on so many scores that it
    is hardly changed by them.
    """
    fmrs = [fmr for fmr in rates if fmr.name == "fmr"]
    groups = {fmr.group for fmr in fmrs}
    points = {(fmr.group is None, fmr.at) for fmr in fmrs}

    def rests(quantity: Quantity) -> bool:
        if quantity.name in FITTED:
            return quantity.group in groups and (quantity.name, quantity.group) != (
                "min_cllr",
                None,
            )
        if quantity.name == "threshold":
            return (
                (True, quantity.at) in points
                and quantity.at is not None
                and quantity.at.rate == "fmr"
            )
        return (
            (False, quantity.at) in points
            and quantity.at is not None
            and rests_on_fmrs(quantity.name)
        )

    return [rests(quantity) for quantity in quantities] if fmrs else [False] * len(quantities)


def are_concentrated(quantity: Quantity) -> bool:
    """Return whether few subjects cause so many of the errors behind an FMR that its interval is
    likely too narrow.

    Whether such subjects are in the data is luck. In populations where 95 % intervals contain the
    true rate in 91 % of data sets, 4 of 5 had the note; where they contain it in 94 %, 1 of 3; and
    in others, at most 3 of 100. Few errors, and those of few subjects, are always concentrated,
    which says nothing.
    """
    if quantity.name in OF_MATED or quantity.concentration is None:
        return False
    return are_of_few(quantity.n_errors or 0, quantity.n_subjects or 0, quantity.concentration)


def are_of_few(n_errors: int, n_subjects: int, concentration: float) -> bool:
    """Return whether few of the subjects cause most errors, by the share of those that involve 5 %
    of them.
    """
    are_enough = n_subjects >= 20 and n_errors >= max(10, 3 * -(-n_subjects // 20))
    return are_enough and concentration >= CONCENTRATED


def may_be_of_few(quantity: Any, times: float = 1.0) -> bool:
    """Return whether an FMR has too few errors to see whether a few subjects cause most of them.

    Where nobody is in two comparisons, nobody can cause several errors. times: how many times as
    many errors there are.
    """
    if (
        quantity.name not in ("fmr", "fmr_matrix")
        or (quantity.n_errors or 0) * times >= ENOUGH_ERRORS
    ):
        return False
    return quantity.n_subjects is None or quantity.n_subjects < 2 * (quantity.n_comparisons or 0)


def has_few_false_matches(quantity: Quantity) -> bool:
    """Return whether an FMR has errors, but too few to see whether a few of its known subjects
    cause most of them.
    """
    is_known = not quantity.is_held and quantity.n_subjects is not None
    return is_known and bool(quantity.n_errors) and may_be_of_few(quantity)


def room_for(quantity: Any, times: float = 1.0) -> float:
    """Return how many times too low the limit of a quantity may be, which a bound has to allow.

    times: how many times as many errors as its own there are.
    """
    return ROOM if quantity.name == "fmr" and may_be_of_few(quantity, times) else 1.0


_FARTHEST = 8.0  # standard errors; beyond it a normal quantile's level cannot be told from 1
_STEPS = 50  # of a bisection
NO_REPLICATES = "there are no replicates, and so no intervals: evaluate with ⟦n_resamples⟧ > 0"


class Spread(NamedTuple):
    """How replicates vary, or rates do without them: (quantities,) of each.

    Attributes
    ----------
    error, shift : (quantities,) ndarray
        Standard errors, and shifts from the estimate to the replicates' mean.
    varies : (quantities,) ndarray of bool
        Whether replicates vary, apart from rounding.
    not_computable : (quantities,) ndarray
        Shares of replicates that are not computable.
    """

    error: Floats
    shift: Floats
    varies: Flags
    not_computable: Floats


class Ends(NamedTuple):
    """Intervals of some quantities, as arrays over all: NaN for others, and where there is none.

    Attributes
    ----------
    low, high : (quantities,) ndarray
        The limits; those of what an operating point fixes are the estimate.
    made_by : (quantities,) ndarray of object
        The method of each; None without one.
    computed : (quantities,) ndarray of bool
        Which are computed from replicates, or standard errors.
    missing : dict of Code
        Why there is no interval, by position.
    widened : list of int
        Positions of rates of 0 or 1 whose intervals reach to the quantiles of replicates.
    below : dict of Note
        What is said of quantities at thresholds that too few errors hold, by position.
    """

    low: Floats
    high: Floats
    made_by: NDArray[np.object_]
    computed: Flags
    missing: dict[int, Code]
    widened: list[int]
    below: dict[int, Note]


class IntervalMaker:
    """Gives quantities intervals of any level, to both sides or to one, from replicates or from
    standard errors.

    Limits of all quantities of a kind are computed at once, and rows with notes are made at the
    end.

    Parameters
    ----------
    quantities : tuple of Quantity
        The quantities, without intervals.
    replicates : (quantities, r) ndarray, optional
        The value of each quantity in every replicate.
    standard_errors : (quantities,) ndarray, optional
        Without replicates, the standard errors of rates at their operating points; NaN for all
        other quantities, which get no interval.
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
        self.quantities = quantities
        self.inversion = inversion
        self.costs = costs
        self.sizes = SampleSizes.unknown(len(quantities)) if sizes is None else sizes
        self._replicates = replicates
        self._errors = standard_errors
        self._jackknife = jackknife
        self._n_threads = n_threads
        self._estimates = np.array([quantity.estimate for quantity in quantities])
        self._held = np.array([quantity.is_held for quantity in quantities], np.bool_)
        names, of_names = np.unique([q.name for q in quantities], return_inverse=True)
        self._names = names.tolist()
        self._of_names = of_names

    def without_raising(self) -> IntervalMaker:
        """Return one whose upper limits allow for no subject, and no session, that the data lack."""
        other = copy.copy(self)
        other.sizes = replace(self.sizes, raised=np.full(len(self.quantities), np.nan))
        vars(other).pop("evidence", None)
        return other

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

    @cached_property
    def evidence(self) -> RateEvidence:
        """What the limits of rates are computed from, (quantities,) of each; of no meaning for what
        is no rate.
        """
        sizes, freedom = self.sizes, self.sizes.degrees_of_freedom
        n_units = np.array([quantity.n_subjects or 0 for quantity in self.quantities])
        strata = np.minimum(n_units, self._sessions) - freedom
        raised = np.where(self._named(FITTED.__contains__), np.nan, sizes.raised)
        too_few = self._sessions < FEWEST_SESSIONS  # of which nothing is known
        return RateEvidence(
            self._estimates,
            np.where(too_few, np.nan, self._spread.error),
            freedom,
            np.where(too_few, np.nan, sizes.effective),
            raised,
            np.maximum(1.0, strata),
            np.where(too_few, np.nan, sizes.independent),
        )

    @property
    def standard_errors(self) -> Floats:
        """(quantities,) standard errors as computed, also where sessions are too few to report
        them.
        """
        return self._spread.error

    def n_sessions(self, row: int) -> float:
        """Return the number of sessions behind a quantity; infinite where they are not known."""
        return float(self._sessions[row])

    @property
    def _sessions(self) -> Floats:
        """(quantities,) numbers of sessions behind each."""
        return np.broadcast_to(self.sizes.sessions, len(self.quantities))

    def with_intervals(
        self,
        confidence_level: float,
        method: str,
        alternative: str = "two-sided",
        simultaneous: bool = False,
    ) -> tuple[Quantity, ...]:
        """Return the quantities with intervals, or with one limit and the bound of what is
        possible.

        Parameters
        ----------
        confidence_level, method, alternative, simultaneous
            As in `evaluate`. Simultaneous intervals of a quantity hold in all groups together.

        Returns
        -------
        tuple of Quantity
        """
        rows = range(len(self.quantities))
        level = (
            confidence_level if alternative == "two-sided" else two_sided_level(confidence_level)
        )
        ends = self.ends_at(rows, level, method)
        notes = self._notes(ends, level, method)
        if simultaneous:
            self._widen_to_hold_together(ends, level, method)
        for k, fmr in self._far_and_fmr:  # a FAR never exceeds the FMR
            if ends.high[k] > ends.high[fmr]:
                ends.low[k] = min(ends.low[k], ends.high[fmr])
                ends.high[k] = ends.high[fmr]
        if alternative != "two-sided":
            # The other end is the bound of possible values. What an operating point holds stays as
            # it is.
            opened = ~np.isnan(ends.low) & ~(
                (ends.low == ends.high) & (ends.low == self._estimates)
            )
            end, bound = (
                (ends.low, self._range[0]) if alternative == "less" else (ends.high, self._range[1])
            )
            end[opened] = bound[opened]
        return tuple(self._reported(rows, ends, notes))

    def pvalue_of_limit(self, row: int, bound: float, *, upper: bool) -> float:
        """Return the smallest error probability of a one-sided limit of a quantity that is on its
        side of a bound.

        That of an upper limit which is at most the bound, or of a lower one which is at least it.
        It is looked for between 1e-6 and just below 0.5, and 1 where there is none.
        """

        def excludes(tail: float) -> bool:
            ends = self.ends_at([row], 1 - 2 * tail, "auto")
            return bool(ends.high[row] <= bound if upper else ends.low[row] >= bound)

        return least_between(excludes, 1e-6, 0.499, 1.005) if excludes(0.499) else 1.0

    def quantities_at(
        self, rows: Sequence[int], confidence_level: float, method: str
    ) -> list[Quantity]:
        """Return some of the quantities with two-sided intervals of a level."""
        ends = self.ends_at(rows, confidence_level, method)
        return list(self._reported(rows, ends, self._notes(ends, confidence_level, method)))

    def ends_at(self, rows: Sequence[int], confidence_level: float, method: str) -> Ends:
        """Compute the two-sided intervals of some of the quantities, by the method that each is to
        have.

        The order matters: a method is in `made_by` before intervals are withheld, so that those
        that are withheld have none and are not widened.
        """
        if self._replicates is None and method != "auto":
            raise InputError(
                f'⟦method="{method}"⟧ needs replicates: evaluate with ⟦n_resamples⟧ > 0, or'
                ' ⟦method="auto"⟧'
            )
        n = len(self.quantities)
        estimate = self._estimates
        asked = np.zeros(n, np.bool_)
        is_fixed = self._is_fixed
        asked[list(rows)] = True
        low = np.where(asked & is_fixed, estimate, np.nan)
        varying = asked & ~is_fixed & np.isfinite(estimate) & self._has_error
        without = varying & ((estimate == 0) | (estimate == 1)) & ~np.isnan(self.sizes.effective)
        computed = varying & ~without
        ends = Ends(low, low.copy(), np.full(n, None, object), computed, {}, [], {})
        if self._replicates is None:
            by_evidence = computed.copy()
            ends.made_by[by_evidence] = CLOSED_FORM
        else:
            by_evidence = computed & self._have_method("logit") & (method == "auto")
            ends.made_by[by_evidence] = "logit"
            self._set_by_replicates(
                ends, np.flatnonzero(computed & ~by_evidence), confidence_level, method
            )
        is_exact = ~np.isnan(np.broadcast_to(self.sizes.independent, n))
        ends.made_by[without | (by_evidence & is_exact)] = CLOPPER_PEARSON
        limits = self.evidence[by_evidence | without].interval(confidence_level)
        ends.low[by_evidence | without], ends.high[by_evidence | without] = limits
        self._withhold(ends)
        if method == "auto":
            others = computed & ~by_evidence
            limits = self.evidence[others].widened(
                ends.low[others], ends.high[others], confidence_level
            )
            ends.low[others], ends.high[others] = limits
        for end in (ends.low, ends.high):
            end[computed] = np.clip(end[computed], *self._range[:, computed])
        # Scores or decimals near them, and replicates' are scores.
        thresholds = computed & self._named("threshold".__eq__)
        ends.low[thresholds] = np.minimum(ends.low[thresholds], estimate[thresholds])
        ends.high[thresholds] = np.maximum(ends.high[thresholds], estimate[thresholds])
        inverted = np.isin(ends.made_by, (INVERSION, FEW_DRAWN))
        ends.low[inverted & (abs(ends.low) < _ROUNDING)] = (
            0.0  # of a fair system's standard deviation, which is 0
        )
        if method == "auto":
            self._widen_to_quantiles(ends, confidence_level)
            self._widen_within_few_held(ends, np.flatnonzero(asked), confidence_level)
        return ends

    def _set_by_replicates(
        self, ends: Ends, rows: Rows, confidence_level: float, method: str
    ) -> None:
        """Set intervals made of replicates; rows: of those that do not come from what is known of a
        rate.
        """
        general = "percentile" if method in ("auto", "dyadic") else method
        left_out = self.left_out if method == "bca" else None
        above_zero = self._named(FITTED.__contains__) & (self._estimates + self._optimism > 0)
        fitted = rows[above_zero[rows] & (method == "auto")]

        def of_general(some: Rows, drawn: Floats) -> tuple[Floats, Floats]:
            jackknife = None if left_out is None else left_out[some]
            return intervals.confidence_interval(
                drawn, self._estimates[some], confidence_level, general, jackknife=jackknife
            )

        by_general = np.setdiff1d(rows, fitted)
        ends.made_by[by_general] = general
        ends.low[by_general], ends.high[by_general] = self._in_stretches(of_general, by_general)
        if method == "dyadic":
            dyadic = rows[self._have_method(method)[rows]]
            ends.made_by[dyadic] = method
            ends.low[dyadic], ends.high[dyadic] = intervals.confidence_interval(
                self.replicates[dyadic], self._estimates[dyadic], confidence_level, method
            )
        if method != "auto":
            return
        ends.made_by[fitted] = "log"
        ends.low[fitted], ends.high[fitted] = self._limits_of_fitted_costs(fitted, confidence_level)
        self._widen_ratios(ends, confidence_level)
        if self.inversion is not None:
            shift = self._spread.shift
            asked = np.zeros(len(self.quantities), np.bool_)
            asked[rows] = True
            unshifted = ends.low - shift, ends.high - shift
            inverted, *made = self.inversion.intervals(
                self._estimates, asked, unshifted, confidence_level
            )
            ends.low[inverted], ends.high[inverted], ends.made_by[inverted] = made

    def _limits_of_fitted_costs(self, rows: Rows, confidence_level: float) -> tuple[Floats, Floats]:
        """Compute intervals of costs at thresholds, or of calibrations, that are fitted to the same
        comparisons.

        They are symmetric on the scale of logarithms. Replicates fit once more, so they lie below
        the estimate about half as far as this lies below the truth: the interval's middle is raised
        by this optimism, and twice it is part of the error. The upper limit is also that with one
        more subject, who raises the cost; see `rate_limits`.
        """
        from scipy.special import stdtrit

        optimism = self._optimism[rows]
        raised = np.nan_to_num(self.sizes.raised[rows])
        estimate = self._estimates[rows]
        error = np.hypot(self._spread.error[rows], 2 * optimism)

        def middle_and_factor(raised: Floats) -> tuple[Floats, Floats]:
            center = estimate + optimism + raised
            freedom = self.sizes.degrees_of_freedom[rows] + (raised > 0)
            widened = np.minimum(np.hypot(error, raised), center) * np.sqrt(1 + 1 / freedom)
            with np.errstate(
                over="ignore"
            ):  # of levels near 1, whose limits are those of the range
                factor = np.exp(stdtrit(freedom, (1 + confidence_level) / 2) * widened / center)
            return center, factor

        center, factor = middle_and_factor(np.zeros(rows.size))
        higher, its_factor = middle_and_factor(raised)
        return np.minimum(estimate, center / factor), np.maximum(
            center * factor, higher * its_factor
        )

    def _widen_ratios(self, ends: Ends, confidence_level: float) -> None:
        """Widen intervals by quantiles of groups' ratios to the average, in place, and withhold
        those of few errors.
        """
        rows = np.flatnonzero(ends.computed & self._named(is_ratio))
        if not rows.size:
            return
        ends.made_by[rows] = np.where(self._rests_on_few_errors[rows], FEW_GROUP_ERRORS, "log")
        ends.low[rows], ends.high[rows] = intervals_of_ratios(
            self._estimates[rows],
            self._named(is_logarithm)[rows],
            (ends.low[rows], ends.high[rows]),
            self._relative_error[rows],
            self.sizes.degrees_of_freedom[rows],
            confidence_level,
        )

    def _withhold(self, ends: Ends) -> None:
        """Take back intervals, in place, that do not tell how uncertain a quantity is, and keep
        why.
        """
        n_subjects = np.array([quantity.n_subjects or 0 for quantity in self.quantities])
        of_one_subject = (n_subjects == 1) & (self.sizes.unit == "subject")
        constant = Code.CONSTANT_RATE if self._replicates is None else Code.CONSTANT_REPLICATES
        in_few_sessions = (self._sessions < FEWEST_SESSIONS) & ~self._is_fixed
        ends.computed[in_few_sessions & (ends.made_by != None)] = True  # noqa: E711 - elementwise
        for which, code in (
            (in_few_sessions, Code.TOO_FEW_SESSIONS),
            (ends.made_by == NO_SUCH_ERRORS, Code.NO_SUCH_ERRORS),
            (ends.made_by == FEW_GROUP_ERRORS, Code.FEW_GROUP_ERRORS),
            (of_one_subject, Code.ONE_SUBJECT),
            (~self._spread.varies, constant),
            (np.isnan(ends.low) | np.isnan(ends.high), Code.FEW_COMPUTABLE),
        ):
            ends.missing.update((k, code) for k in np.flatnonzero(ends.computed & which).tolist())
            for end in (ends.low, ends.high):
                end[ends.computed & which] = np.nan
            ends.made_by[ends.computed & which] = None
            ends.computed[which] = False

    def _widen_to_quantiles(self, ends: Ends, confidence_level: float) -> None:
        """Widen intervals of rates at thresholds held by others, in place, where few errors are
        left.

        Such a rate may depend on the threshold, which replicates find anew, more than on chance: the
        interval is to hold the quantiles of its replicates. The note of a rate of 0 or 1 says so.
        """
        if self._replicates is None:
            return
        rarer = np.minimum(self._estimates, 1 - self._estimates)
        rows = np.flatnonzero(
            self._at_held_threshold & ~np.isnan(ends.low) & (self._spread.error > _FEW * rarer)
        )
        low, high = self._in_stretches(
            lambda some, drawn: intervals.confidence_interval(
                drawn, self._estimates[some], confidence_level
            ),
            rows,
        )
        low = np.minimum(ends.low[rows], np.fmax(low, 0.0))
        high = np.maximum(ends.high[rows], np.fmin(high, 1.0))
        is_wider = (low < ends.low[rows]) | (high > ends.high[rows])
        ends.widened.extend(rows[is_wider & np.isin(self._estimates[rows], (0, 1))].tolist())
        ends.low[rows], ends.high[rows] = low, high

    def _widen_within_few_held(self, ends: Ends, rows: Rows, confidence_level: float) -> None:
        """Widen intervals of quantities at thresholds that few errors hold, in place."""
        if self.sizes.few_held is None or not self.sizes.places:
            return
        rows = rows[~np.isnan(self._estimates[rows])]
        places = [self.sizes.places[k] for k in rows.tolist()]
        limits = self.sizes.few_held.limits(places, confidence_level)
        for k, row, limit in zip(rows.tolist(), places, limits, strict=True):
            if limit is None:
                continue
            if limit.missing:
                ends.below[k] = limit.missing
            if not math.isnan(ends.low[k]):
                low, high = (
                    _with_failures(self.quantities[k], self.quantities[row].estimate, end)
                    for end in limit[:2]
                )
                least, most = self._range[:, k]
                ends.low[k] = max(least, np.fmin(ends.low[k], low))
                ends.high[k] = min(most, np.fmax(ends.high[k], high))

    def _widen_to_hold_together(self, ends: Ends, confidence_level: float, method: str) -> None:
        """Widen the intervals of quantities that two or more groups have at one operating point, in
        place.

        Without replicates, groups count as independent, which is Sidak's way.
        """
        for family in families(self.quantities):
            rows = [k for k in family if not math.isnan(ends.low[k])]
            if self._replicates is None:
                level = confidence_level ** (1 / max(1, len(rows)))
            else:
                drawn = [k for k in rows if ends.made_by[k] != CLOPPER_PEARSON]
                of_drawn = self._replicates[drawn], self._estimates[drawn]
                level = level_of_groups(*of_drawn, confidence_level, len(rows) - len(drawn))
            wider = self.ends_at(rows, level, method)
            ends.low[rows], ends.high[rows] = wider.low[rows], wider.high[rows]

    def _notes(self, ends: Ends, confidence_level: float, method: str) -> dict[int, list[Note]]:
        """Return what there is to say of quantities with their intervals, by position."""
        said: dict[int, list[Note]] = defaultdict(list)

        def say(which: Flags, note: Note | Callable[[int], Note]) -> None:
            for k in np.flatnonzero(which).tolist():
                said[k].append(note if isinstance(note, Note) else note(k))

        computed, spread = ends.computed, self._spread
        without, inverted, few_drawn, on_scale = (
            np.isin(ends.made_by, methods)
            for methods in (
                (CLOPPER_PEARSON,),
                (INVERSION, FEW_DRAWN),
                (FEW_DRAWN,),
                ("logit", "dyadic", CLOSED_FORM),
            )
        )
        without &= (self._estimates == 0) | (self._estimates == 1)
        for k in np.flatnonzero(without).tolist():
            said[k] += notes_without_errors(
                self.quantities[k], float(self.sizes.effective[k]), confidence_level
            )
        for k, code in ends.missing.items():
            said[k].append(Note(code))
        on_scale |= ~np.isnan(np.broadcast_to(self.sizes.independent, len(self.quantities)))
        few_effective = computed & self._has_few_effective_errors & ~on_scale
        concentrated = computed & self._concentrated & ~self._held
        rest_on_concentrated = computed & self._rest_on(self._concentrated)
        is_noted = few_effective | concentrated | rest_on_concentrated | few_drawn
        say(few_effective, Note(Code.FEW_EFFECTIVE_ERRORS))
        few_sessions = (self._sessions < ENOUGH_SESSIONS) & (ends.made_by != None)  # noqa: E711
        say(few_sessions, lambda k: note_of_few(float(self._sessions[k])))
        say(few_drawn, Note(Code.FEW_DRAWN))
        say(
            concentrated,
            lambda k: Note.of(
                Code.CONCENTRATED, share=f"{100 * (self.quantities[k].concentration or 0.0):.0f} %"
            ),
        )
        say(rest_on_concentrated, Note(Code.RESTS_ON_CONCENTRATED))
        if self.sizes.unit == "subject":
            few = self._few_false_matches
            of_few = computed & ~is_noted
            rest = self._rest_on(few) & ~self._named(FITTED.__contains__) & self.has_replicates
            say(of_few & few, Note(Code.UNKNOWN_WHOSE))
            say(of_few & rest & ~few, Note(Code.FEW_FALSE_MATCHES))
        say(computed & self._named(lambda name: name.endswith("(min_dcf)")), Note(Code.FITTED_COST))
        of_group = np.array([quantity.group is not None for quantity in self.quantities], np.bool_)
        say(computed & of_group & self._named("cllr".__eq__), Note(Code.EXTREME_SCORES))
        say(computed & self._named({"auc", "d_prime"}.__contains__), Note(Code.UNLIKE_SUBJECTS))
        by_others = computed & ~inverted & self._named(is_measure)
        if method == "auto":
            say(by_others & self._named(is_one_sided_measure), Note(Code.BY_PERCENTILES))
        say(
            by_others & (abs(spread.shift) > _SHIFTED * spread.error), Note(Code.SHIFTED_REPLICATES)
        )
        say(
            computed & (spread.not_computable > _OFTEN),
            lambda k: Note.of(
                Code.OFTEN_NOT_COMPUTABLE, share=f"{100 * spread.not_computable[k]:.0f} %"
            ),
        )
        say(computed & ((ends.low == -np.inf) | (ends.high == np.inf)), Note(Code.UNBOUNDED))
        for k in ends.widened:
            said[k].append(Note(Code.WIDENED))
        for k, note in ends.below.items():
            said[k].append(note)
        return said

    def _reported(
        self, rows: Sequence[int], ends: Ends, notes: Mapping[int, Sequence[Note]]
    ) -> Iterator[Quantity]:
        """Yield quantities with their intervals and notes."""
        in_few_sessions = [
            code is Code.TOO_FEW_SESSIONS for code in map(ends.missing.get, range(len(ends.low)))
        ]
        known_errors = np.where(in_few_sessions, np.nan, self._spread.error)
        # One object stands for all NaN, so that equal quantities compare equal.
        low, high, errors, shares = (
            [math.nan if math.isnan(number) else number for number in numbers.tolist()]
            for numbers in (ends.low, ends.high, known_errors, self._spread.not_computable)
        )
        have_ends = (self._has_error | self._is_fixed).tolist()
        have_errors = (self._has_error & (self.has_replicates | ~self._is_fixed)).tolist()
        for k in rows:
            more = vars(self.quantities[k]).copy()
            if k in notes:
                more["notes"] = (*more["notes"], *notes[k])
            if have_errors[k]:
                more["standard_error"] = errors[k]
            if have_ends[k]:
                made_by = INVERSION if ends.made_by[k] == FEW_DRAWN else ends.made_by[k]
                more |= {"low": low[k], "high": high[k], "method": made_by}
                if self.has_replicates:
                    more["not_computable"] = shares[k]
            yield Quantity(**more)

    def _named(self, rule: Callable[[str], bool]) -> Flags:
        """(quantities,) whether a rule holds of the name of each."""
        return np.array([rule(name) for name in self._names], np.bool_)[self._of_names]

    def _have_method(self, method: str) -> Flags:
        """(quantities,) whether a method is meant for each."""
        most = 1 if method == "logit" else math.inf
        inside = (self._estimates > 0) & (self._estimates < most) & ~self._held
        return inside & self._named(lambda name: method in methods_of(name))

    def _of_fmrs(self, rule: Callable[[Quantity], bool]) -> Flags:
        """(quantities,) whether each is the FMR of some comparisons of which a rule holds."""
        is_of_fmrs = self._named(
            lambda name: name in METRICS and METRICS[name].sides == (NONMATED,)
        )
        for k in np.flatnonzero(is_of_fmrs).tolist():
            is_of_fmrs[k] = rule(self.quantities[k])
        return is_of_fmrs

    @cached_property
    def _concentrated(self) -> Flags:
        """(quantities,) whether few subjects cause so many of the errors behind each FMR."""
        return self._of_fmrs(are_concentrated)

    @cached_property
    def _few_false_matches(self) -> Flags:
        """(quantities,) whether each is an FMR with errors, but too few to see whose they are."""
        return self._of_fmrs(has_few_false_matches)

    def _rest_on(self, which: Flags) -> Flags:
        """(quantities,) whether each rests on one of some FMRs."""
        rates = [self.quantities[k] for k in np.flatnonzero(which).tolist()]
        return np.array(rest_on_any(self.quantities, rates), np.bool_)

    @cached_property
    def _is_fixed(self) -> Flags:
        """(quantities,) whether the operating point fixes each."""
        # A rate of 0 or 1 is not held, but all that the data have below, or above, what is asked
        # for.
        inside = (self._estimates != 0) & (self._estimates != 1) & (self._replicates is None)
        given = self._named("threshold".__eq__) & (self._is_given == 1)
        return given | (self._held & inside)

    @cached_property
    def _is_given(self) -> Floats:
        """(quantities,) whether each stands at a given threshold, at one that the data set, or at
        none, which is NaN.
        """
        return np.array([np.nan if q.at is None else q.at.is_given for q in self.quantities])

    @cached_property
    def _at_held_threshold(self) -> Flags:
        """(quantities,) whether each is a rate at a threshold that the data set, and is not what
        holds it.
        """
        rates = self._named((*RATES, *WITH_FAILURES).__contains__)
        return rates & (self._is_given == 0) & ~self._held

    @cached_property
    def _has_error(self) -> Flags:
        """(quantities,) whether there is something that an interval is made of."""
        return (
            np.full(len(self.quantities), True)
            if self.has_replicates
            else ~np.isnan(self._spread.error)
        )

    @cached_property
    def _range(self) -> Floats:
        """(2, quantities) the least and the greatest value that each can have."""
        of_names = [range_of(name, self.costs) for name in self._names]
        return np.reshape(of_names, (-1, 2)).T[:, self._of_names]

    @cached_property
    def _optimism(self) -> Floats:
        """(quantities,) how far replicates lie below each estimate."""
        return np.maximum(-self._spread.shift, 0.0)

    @cached_property
    def _has_few_effective_errors(self) -> Flags:
        """(quantities,) whether a rate's errors are few, or few subjects cause most of them.

        Effective errors are the number of independent errors that would have the rate's relative
        standard error. In simulations, 95 % intervals made of quantiles contain the true rate in
        about 90 % of the data sets with fewer than 10 effective errors, and in about 80 % of those
        with fewer than 3. Intervals on a logarithmic scale, "logit" and "dyadic", contain it often
        enough.
        """
        rarer = np.minimum(self._estimates, 1 - self._estimates)
        error = self._spread.error
        return (
            self._named(RATES.__contains__)
            & (error > 0)
            & (rarer > 0)
            & (rarer < np.sqrt(ENOUGH_EFFECTIVE_ERRORS) * error)
        )

    @cached_property
    def _rests_on_few_errors(self) -> Flags:
        """(quantities,) whether a group's ratio to the average rests on too few errors, of its own
        or of all others.
        """
        errors = errors_behind_ratios(self.quantities)
        rests = self._named(is_ratio)
        for k in np.flatnonzero(rests).tolist():
            ratio = self.quantities[k]
            key = base_metric_of_ratio(ratio.name), ratio.group, None, ratio.at
            rests[k] = errors.get(key, ENOUGH_PAIRS) < ENOUGH_PAIRS
        return rests

    @cached_property
    def _relative_error(self) -> Floats:
        """(quantities,) the standard error of each group's ratio to the average, divided by the
        ratio.
        """
        error = self._spread.error.copy()
        ratio = self._estimates.copy()
        is_log = self._named(is_logarithm)
        ratio[is_log] = np.exp(-ratio[is_log])
        (error[is_log],) = self._in_stretches(
            lambda _, drawn: (intervals.standard_error(np.exp(-drawn)),), np.flatnonzero(is_log)
        )
        return np.divide(error, ratio, out=np.full(ratio.size, np.nan), where=ratio != 0)

    @cached_property
    def _far_and_fmr(self) -> list[tuple[int, int]]:
        """The positions of each FAR and of the FMR of the same comparisons."""
        fmrs = {(q.group, q.at): k for k, q in enumerate(self.quantities) if q.name == "fmr"}
        fars = ((k, (q.group, q.at)) for k, q in enumerate(self.quantities) if q.name == "far")
        return [(k, fmrs[key]) for k, key in fars if key in fmrs]

    @cached_property
    def _spread(self) -> Spread:
        """How replicates vary."""
        n = len(self.quantities)
        if self._replicates is None:
            errors = np.full(n, np.nan) if self._errors is None else self._errors
            at_ends = self._held & ((self._estimates == 0) | (self._estimates == 1))
            errors = np.where(at_ends, 0.0, errors)
            return Spread(errors, np.zeros(n), errors > 0, np.zeros(n))
        errors, means, varies, not_computable = self._in_stretches(_spread, np.arange(n))
        errors[~varies & (errors < 1)] = 0.0  # and not what rounding makes of it
        return Spread(errors, means - self._estimates, varies, not_computable)

    def _in_stretches(
        self, work: Callable[[Rows, Floats], tuple[AnyArray, ...]], rows: Rows
    ) -> list[AnyArray]:
        """Call a function with as many rows of replicates at once as the cache holds, and join what
        it returns.
        """
        replicates, n = self.replicates, rows.size
        r = replicates.shape[1]
        are_all = n == len(replicates)
        ends = np.linspace(0, n, max(1, n_calls(n, r)) + 1).astype(int).tolist()
        stretches = [slice(*both_ends) for both_ends in itertools.pairwise(ends)]
        computed = in_threads(
            n * r,
            lambda some: work(rows[some], replicates[some if are_all else rows[some]]),
            stretches,
            self._n_threads,
        )
        return [np.concatenate(parts) for parts in zip(*computed, strict=True)]


def _with_failures(quantity: Quantity, scored: float, rate: float) -> float:
    """Return what an FRR or FAR would be with another FNMR or FMR, of which `scored` is that in the
    data.
    """
    if quantity.name not in WITH_FAILURES:
        return rate
    if quantity.name == "far":
        return rate * quantity.estimate / scored if scored else rate
    failed = (quantity.estimate - scored) / (1 - scored) if scored < 1 else 0.0
    return failed + (1 - failed) * rate


def two_sided_level(confidence_level: float) -> float:
    """Return the level of the interval whose limits are one-sided ones of another level, above
    0.5.
    """
    if confidence_level <= 0.5:
        raise InputError(
            "⟦confidence_level⟧ must be above 0.5 for a limit to one side, not"
            f" {confidence_level:g}: below that the limit would lie beyond the estimate"
        )
    return 2 * confidence_level - 1


def require_method(method: str, unit: str, scheme: str) -> None:
    """Refuse the method "dyadic" where replicates do not have the dyadic-robust variance."""
    if method == "dyadic" and (unit, scheme) != ("subject", "dyadic"):
        raise InputError(
            '⟦method="dyadic"⟧ needs replicates with the dyadic-robust variance, which'
            f' ⟦unit="subject"⟧ with ⟦scheme="dyadic"⟧ has, not ⟦unit="{unit}"⟧ with'
            f' ⟦scheme="{scheme}"⟧'
        )


def _spread(_: Rows, replicates: Floats) -> tuple[Floats, Floats, Flags, Floats]:
    """Return standard errors, means, whether rows vary, apart from rounding, and the shares that
    are not finite.
    """
    # NaN aside
    low = np.fmin.reduce(replicates, axis=1)
    high = np.fmax.reduce(replicates, axis=1)
    with np.errstate(invalid="ignore"):
        rounding = 1e-12 * np.maximum(np.abs(high), 1e-3)
        varies = (high > low) & (np.isinf(high) | (high - low > rounding))
    not_finite = (~np.isfinite(replicates)).mean(axis=1)
    return (
        intervals.standard_error(replicates),
        intervals.finite_mean(replicates),
        varies,
        not_finite,
    )


def intervals_of_ratios(
    estimate: Floats,
    is_log: Flags,
    quantiles: tuple[Floats, Floats],
    error: Floats,
    freedom: Floats,
    level: float,
) -> tuple[Floats, Floats]:
    """Widen intervals of groups' ratios to the average, or of their logarithms, that quantiles of
    replicates give.

    Where errors are few or few subjects cause most, quantiles reach too little to the side of
    larger ratios.

    Parameters
    ----------
    estimate : (n,) ndarray
        The ratios, or minus their logarithms.
    is_log : (n,) ndarray of bool
        Which are logarithms.
    quantiles : tuple of (n,) ndarray
        Low and high of the intervals by quantiles.
    error : (n,) ndarray
        Standard errors of the ratios, relative to them.
    freedom : (n,) ndarray
        Degrees of freedom of the groups' own values.
    level : float
        In (0, 1).

    Returns
    -------
    low, high : (n,) ndarray
        Wide enough also for the interval that is symmetric on the scale of logarithms, with a
        quantile of Student's t and a relative standard error of at most 1. The quantiles themselves
        where they or the ratio are not known, or it is 0.
    """
    from scipy.special import stdtrit

    low, high = quantiles
    reach = stdtrit(freedom, (1 + level) / 2) * np.minimum(error, 1.0) * np.sqrt(1 + 1 / freedom)
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = np.where(is_log, np.exp(-estimate), estimate)
        is_defined = (ratio > 0) & (ratio < np.inf) & ~np.isnan(low) & ~np.isnan(high)
        lower = np.where(is_log, estimate - reach, ratio / np.exp(reach))
        upper = np.where(is_log, estimate + reach, ratio * np.exp(reach))
    return np.where(is_defined, np.fmin(low, lower), low), np.where(
        is_defined, np.fmax(high, upper), high
    )


def level_of_curve(replicates: Floats, estimate: Floats, confidence_level: float) -> float:
    """Find the confidence level at which the intervals of a rate hold at all operating points
    together.

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
        That of normal intervals that reach as many standard errors as replicates of the whole curve
        stay within.
    """
    from scipy.special import ndtr

    counted = (estimate > 0) & (estimate < 1)
    farthest = _farthest(replicates[counted], estimate[counted])
    reach = min(float(np.quantile(farthest, confidence_level)), _FARTHEST)
    return max(confidence_level, float(2 * ndtr(reach) - 1))


def level_of_groups(
    replicates: Floats, estimate: Floats, confidence_level: float, n_others: int = 0
) -> float:
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
        Number of groups besides, whose intervals do not come from replicates, as those of groups
        without errors. They are treated as independent of the others.

    Returns
    -------
    float
        That of normal intervals that reach as many standard errors as replicates of all groups stay
        within; at most that of Bonferroni's intervals.
    """
    from scipy.special import ndtri

    n = len(estimate) + n_others
    low = confidence_level
    high = 1 - (1 - confidence_level) / max(n, 1)
    farthest = _farthest(replicates, estimate)
    for _ in range(_STEPS):
        level = (low + high) / 2
        inside = np.mean(farthest <= ndtri((1 + level) / 2)) * level**n_others
        low, high = (low, level) if inside >= confidence_level else (level, high)
    return high


def _farthest(replicates: Floats, estimate: Floats) -> Floats:
    """Return how many standard errors each replicate is away from the estimates, where it is
    farthest.
    """
    errors = intervals.standard_error(replicates)
    moving = errors > 0
    away = np.abs(replicates[moving] - estimate[moving, None]) / errors[moving, None]
    return np.asarray(np.fmax.reduce(away, axis=0, initial=0.0))  # without what was not computable


def families(quantities: Sequence[Quantity]) -> Iterator[list[int]]:
    """List the positions of each quantity that two or more groups have at one operating point."""
    rows_of_families: dict[object, list[int]] = {}
    for k, quantity in enumerate(quantities):
        if quantity.group is not None and not quantity.is_held:
            rows_of_families.setdefault((quantity.name, quantity.at), []).append(k)
    yield from (rows for rows in rows_of_families.values() if len(rows) > 1)

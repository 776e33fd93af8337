"""Rules: which interval a quantity gets, and which notes warn of its weaknesses."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from fastfair import intervals
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.error_rates.score_metrics import Costs
from fastfair.measures._registry import METRICS, measure_of, range_of
from fastfair.resampling.dependence import ENOUGH_PAIRS

from .few_errors import CONCENTRATED, widened_for_few_errors
from .quantities import (
    FAILURE_RATES,
    FITTED,
    HELD,
    NARROW,
    OF_MATED,
    RATES,
    UNKNOWN_CONCENTRATION,
    Quantity,
    noted,
)

ENOUGH_EFFECTIVE_ERRORS = 10
NOT_KNOWN_WHOSE = "too narrow if few subjects cause most of them"  # after "fewer than 30 errors"
OF_FEW_FALSE_MATCHES = f"fewer than {ENOUGH_ERRORS} false matches: {NOT_KNOWN_WHOSE}"
_SHIFTED = 0.5  # standard errors between estimate and mean of replicates from which on intervals miss the truth
_ROUNDING = 1e-12
_OFTEN = 0.05  # share of replicates without a value from which on an interval must be read with care
# Where few subjects cause most false matches, which fewer than 30 of these do not show, up to 30 % of FMRs that are
# just too high had an upper limit below the bound in simulations, and at most 5 % one below a fourth of it. More
# subjects do not help: moderately skewed ones needed room for 2 to 2.6 times the limit, 100 of them as well as 1,000,
# and very skewed ones for 4 times.
ROOM = 4
NO_GROUP_ERRS = "no group has errors"  # instead of a method
NO_SUCH_ERRORS = "no group has such errors"
FEW_GROUP_ERRORS = f"the group has fewer than {ENOUGH_PAIRS} such errors"  # instead of a method, too
BY_PERCENTILES = "a group has no errors, so the interval is of percentiles: likely too narrow"
FEW_DRAWN = "inversion with few errors"  # drawn anew
INVERSION = "inversion"  # what the method of intervals by test inversion is called
CLOSED_FORM = "closed form"  # what that of intervals without replicates is called


@dataclass(frozen=True)
class Case:
    """A quantity, the interval computed from its replicates, and all else that the rules depend on.

    Attributes
    ----------
    quantity : Quantity
        The quantity with its standard error and without interval.
    low, high : float
        Limits of the interval; NaN where the method could not compute them.
    made_by, method : str
        The method that computed the interval, and the `method` given to `evaluate`, such as "auto".
    shift : float
        Mean of the replicates minus the estimate.
    varies, held : bool
        Whether the replicates differ from each other, and whether the operating point fixes the quantity.
    unit, confidence_level
        As in `evaluate`.
    independent : float
        The effective sample size of a rate or EER of 0 or 1, and of a rate with one to four errors; else NaN.
    concentrated, few : bool
        Whether few subjects cause most of the false matches that a minDCF, a threshold or a fairness measure rests on,
        and whether there are fewer than 30 of these, or of an FMR's own, so that it is not known.
    costs : Costs, optional
        The costs of DCFs, which bound them.
    raised, freedom : float
        By how much one more subject raises a rate of failure, NaN for other quantities; and degrees of freedom.
    """

    quantity: Quantity
    low: float
    high: float
    made_by: str
    method: str
    shift: float
    varies: bool
    held: bool
    unit: str
    confidence_level: float
    independent: float
    concentrated: bool
    few: bool
    costs: Costs | None = None
    raised: float = math.nan
    freedom: float = math.inf

    @property
    def is_inverted(self) -> bool:
        """Whether the interval was computed by test inversion, which needs no warning of shifted replicates."""
        return self.made_by in (INVERSION, FEW_DRAWN)


def with_interval(case: Case) -> Quantity:
    """Return the quantity with the interval and the notes that the rules choose."""
    quantity, costs = case.quantity, case.costs
    if case.held:
        return replace(quantity, low=quantity.estimate, high=quantity.estimate)
    if not math.isfinite(quantity.estimate):
        return replace(quantity, low=math.nan, high=math.nan)
    if quantity.estimate in (0, 1) and not math.isnan(case.independent):
        return _without_errors(case)
    reason = _why_none(case)
    if reason:
        return noted(replace(quantity, low=math.nan, high=math.nan), f"no interval: {reason}")
    low, high = case.low, case.high
    if case.method == "auto":
        raised = math.nan if quantity.name in FITTED else case.raised
        of_rate = quantity.standard_error or 0.0, case.freedom, case.independent, raised
        low, high = widened_for_few_errors((low, high), quantity.estimate, of_rate, case.confidence_level)
    least, most = range_of(quantity.name, costs)
    low, high = (min(max(end, least), most) for end in (low, high))
    if quantity.name == "threshold":  # which is a score or a decimal near one, and replicates' are scores
        low, high = min(low, quantity.estimate), max(high, quantity.estimate)
    if case.is_inverted and abs(low) < _ROUNDING:  # of a fair system's standard deviation, which is 0
        low = 0.0
    quantity = replace(quantity, low=low, high=high, method=INVERSION if case.is_inverted else case.made_by)
    for note, flag in _notes(case, quantity):
        quantity = noted(quantity, note, flag)
    return quantity


def _why_none(case: Case) -> str:
    """Say why a quantity has no interval; nothing where it has the one computed."""
    if case.made_by == NO_GROUP_ERRS:
        return NO_SUCH_ERRORS
    if case.made_by == FEW_GROUP_ERRORS:
        return FEW_GROUP_ERRORS
    if case.unit == "subject" and case.quantity.n_subjects == 1:
        return "there is one subject, so replicates do not vary"
    if not case.varies:
        return "the rate does not vary between units" if case.made_by == CLOSED_FORM else "replicates do not vary"
    if math.isnan(case.low) or math.isnan(case.high):
        return "too few replicates have a computable value for this method"
    return ""


def _without_errors(case: Case) -> Quantity:
    """Give a rate or EER of 0 or 1, which is the same in all replicates, Clopper and Pearson's interval."""
    quantity, confidence_level = case.quantity, case.confidence_level
    upper = intervals.upper_limit_without_errors(case.independent, confidence_level)
    kind = "failures" if quantity.name in FAILURE_RATES else "errors"
    what = f"no {kind}" if quantity.estimate == 0 else f"nothing but {kind}"
    # Only where subjects are drawn is it known how much their errors come together.
    known = case.independent != quantity.n_comparisons
    number = f"{case.independent:,.0f} " if known else ""
    note = f"{what}: the interval is Clopper and Pearson's, for {number}independent comparisons"
    if quantity.n_subjects and quantity.n_comparisons and not known:
        independent = quantity.n_subjects if quantity.name in OF_MATED else quantity.n_subjects // 2
        if 0 < independent < quantity.n_comparisons:
            widest = intervals.upper_limit_without_errors(independent, confidence_level)
            limit = widest if quantity.estimate == 0 else 1 - widest
            note += f"; if only subjects are independent, it extends to {limit:.3g}"
    low, high = (0.0, upper) if quantity.estimate == 0 else (1 - upper, 1.0)
    return noted(replace(quantity, low=low, high=high, method="clopper-pearson"), note)


def _notes(case: Case, quantity: Quantity) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a quantity with its interval, and the code of each note."""
    few_effective, concentrated = has_few_effective_errors(quantity), has_concentrated_errors(quantity)
    measure, not_computable = measure_of(quantity.name), quantity.not_computable or 0.0
    if few_effective:
        yield f"fewer than {ENOUGH_EFFECTIVE_ERRORS} effective errors: likely too narrow", NARROW
    if case.made_by == FEW_DRAWN:
        note = "fewer than 10 errors in all groups, and none in one: likely too narrow where few subjects cause most"
        yield note, NARROW
    if concentrated:
        share = f"{100 * (quantity.concentration or 0.0):.0f} %"
        yield f"{share} of the errors involve the 5 % of subjects with most: likely too narrow", NARROW
    if case.concentrated:
        yield "few subjects cause most false matches: likely too narrow", NARROW
    is_noted = case.concentrated or few_effective or concentrated or case.made_by == FEW_DRAWN
    if case.few and case.unit == "subject" and not is_noted:
        yield NOT_KNOWN_WHOSE if quantity.name in RATES else OF_FEW_FALSE_MATCHES, UNKNOWN_CONCENTRATION
    if quantity.name.endswith("(min_dcf)"):
        yield METRICS["min_dcf"].note, NARROW
    if measure is not None and not case.is_inverted:
        if case.method == "auto" and measure.fairer != "nearer":
            yield BY_PERCENTILES, NARROW
        if abs(case.shift) > _SHIFTED * (quantity.standard_error or 0.0):
            to_one_side = "replicates lie mostly to one side of the estimate, as chance makes groups differ"
            yield f"{to_one_side}: see Coverage in the docs", ""
    if not_computable > _OFTEN:
        yield f"not computable in {100 * not_computable:.0f} % of replicates", ""
    if quantity.low == -math.inf or quantity.high == math.inf:
        yield "the interval is unbounded, as groups have no errors in some replicates", ""


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


def has_concentrated_errors(quantity: Quantity) -> bool:
    """Return whether few subjects cause so many of the errors behind an FMR that its interval is likely too narrow.

    Whether such subjects are in the data is luck. In populations where 95 % intervals contain the true rate in 91 % of
    data sets, 4 of 5 had the note; where they contain it in 94 %, 1 of 3; and in others, at most 3 of 100. Few errors,
    and those of few subjects, are always concentrated, which says nothing.
    """
    return HELD not in quantity.note and are_concentrated(quantity)


def rests_on_any(quantity: Quantity, rates: Collection[Quantity]) -> bool:
    """Return whether a quantity rests on one of these FMRs, such as those whose false matches few subjects cause.

    A minDCF, and the min Cllr of a group, rest on those of their own group, a threshold that holds an FMR on that of
    all comparisons, and a fairness measure of false matches on those of all groups at its operating point. The min Cllr
    of all comparisons depends on so many scores that it is hardly changed by them.
    """
    if not rates:
        return False
    if quantity.name == "min_dcf" or (quantity.name == "min_cllr" and quantity.group is not None):
        return any(fmr.name == "fmr" and fmr.group == quantity.group for fmr in rates)
    if quantity.at is None:
        return False
    of_all = quantity.name == "threshold"
    if of_all:
        rests = quantity.at.rate == "fmr"
    else:
        measure = measure_of(quantity.name)
        rests = measure is not None and (not measure.of or quantity.name.endswith("(fmr)"))
    return rests and any(fmr.name == "fmr" and (fmr.group is None) is of_all and fmr.at == quantity.at for fmr in rates)


def are_concentrated(quantity: Quantity) -> bool:
    """Return whether few subjects cause most of enough false matches; `False` for what is no FMR."""
    if quantity.name in OF_MATED or quantity.concentration is None:
        return False
    assert quantity.n_errors is not None
    assert quantity.n_subjects is not None
    n_top = -(-quantity.n_subjects // 20)
    known = quantity.n_subjects >= 20 and quantity.n_errors >= max(10, 3 * n_top)
    return known and quantity.concentration >= CONCENTRATED


def has_few_false_matches(quantity: Quantity) -> bool:
    """Return whether an FMR has errors, but too few to see whether a few subjects cause most of them."""
    is_known = quantity.name in ("fmr", "fmr_matrix") and HELD not in quantity.note and quantity.n_subjects is not None
    return is_known and 0 < (quantity.n_errors or 0) < ENOUGH_ERRORS


def room_for(name: str, n_errors: float) -> float:
    """Return how many times too low the limit of a quantity with so many errors may be, which a bound has to allow."""
    return ROOM if name == "fmr" and n_errors < ENOUGH_ERRORS else 1.0

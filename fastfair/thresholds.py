"""Thresholds from elsewhere: found on development data, or of each group its own.

How far the threshold may lie from where the development data have it: at the population's threshold
the data's rate differs from what is to be held by no more than chance allows: it varies about that,
with the standard error of the rate there. So the interval of the threshold is that between the
thresholds at which the data's rates are the quantiles of a law with this mean and standard error: a
gamma law for a rate, as numbers of few errors are skewed, and Student's for the difference of the
two rates that an EER holds at 0.

How the error rates of two sets of comparisons go together where subjects are in both: what subject
k adds to a rate of comparisons, A_k, is the sum over its comparisons of (error - rate) / n; a_kl is
the same for the comparisons of the pair k, l. Subjects of both sets are drawn together, so the
covariance of two rates is sum_k A_k B_k - sum_kl a_kl b_kl over the subjects, and the pairs of
non-mated comparisons, of both. Each such pair is in two of the A_k, and so counts once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.arrays import Flags, Floats, Integers
from fastfair._lib.plots import STANDS_OUT, USUAL, Bar, Line, draw_lines, draw_rows, rate_ticks
from fastfair._lib.text import per_cent, rate_with_interval, typed
from fastfair._lib.warnings import hold_warnings
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.derived import overlap, shift_scores, warn_of_overlap
from fastfair.data.exclusions import Exclusions, exclusions_of_systems
from fastfair.data.sorted_scores import pair_codes
from fastfair.error_rates.operating_points import (
    HeldThreshold,
    OperatingPoint,
    allowed_errors,
    at_threshold,
    threshold_key,
)
from fastfair.error_rates.rates import ERROR_RATES, ErrorRate, rates_at_key
from fastfair.error_rates.score_metrics import Costs, least_cost
from fastfair.errors import InputError
from fastfair.evaluation.evaluate import evaluate_at_thresholds
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import METRICS
from fastfair.results.result import Result
from fastfair.uncertainty.notes import Code, Note, notes_about
from fastfair.uncertainty.quantities import (
    Estimate,
    Quantity,
    ends_of,
    in_words,
    of_group,
    warn_of_narrow,
)
from fastfair.uncertainty.rate_limits import HeldRate, joined_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FoundThreshold:
    """A threshold found on data, and how far it may be from the population's.

    Attributes
    ----------
    key : int
        The threshold, as a key of the comparisons that it was found in.
    threshold, laxest, strictest : float
        The threshold, and the ends of its interval, on the scale of the scores; infinite where the
        data set no end.
    relative : float
        The rate held at the laxest threshold divided by the rate held; 1 for an EER.
    standard_error : float
        Of the rate held, or of FMR minus FNMR.
    freedom : float
        Its degrees of freedom.
    """

    key: int
    threshold: float
    laxest: float
    strictest: float
    relative: float
    standard_error: float
    freedom: float


def found_threshold(
    comparisons: Comparisons, at: OperatingPoint, confidence_level: float
) -> FoundThreshold:
    """Find the threshold of an operating point that holds an FMR, an FNMR or an EER, and its
    interval.
    """
    from scipy.special import stdtrit

    if not at.rule.is_looked_for:
        raise InputError(
            f"⟦at={at}⟧ finds no threshold in development data: use at_fmr, at_fnmr or at_eer, or"
            " evaluate with at_threshold for one that is given"
        )
    held = HeldThreshold(comparisons, at)
    of_key = comparisons.mated.keys.dtype.type
    threshold = comparisons.to_threshold(of_key(held.key))
    evaluation = evaluate_at_thresholds(comparisons, [threshold])
    quantities = [evaluation.quantity(name) for name in at.rule.holds]
    error, freedom = zip(
        *(_error_of(evaluation, quantity, at) for quantity in quantities), strict=True
    )
    spread = math.hypot(*error)
    least = min(freedom)
    tail = (1 - confidence_level) / 2
    held_errors = evaluation.maker.sizes.few_held
    assert held_errors is not None
    if at.rate is None:  # FMR minus FNMR is as far from 0 as chance takes it
        reach = (
            float(stdtrit(least, (1 + confidence_level) / 2)) * spread * math.sqrt(1 + 1 / least)
        )
        near = held.near(reach)
        relative = 1.0
        lax = held_errors.lax_end_of_equal_errors(int(held.key), tail)
        laxest_key = -math.inf if lax is None else min(near[1], lax - 1, held.key)
        ends: tuple[int | float, ...] = laxest_key, max(near[0], held.key)
    else:
        of_rate = HeldRate(at.value, quantities[0].n_comparisons or 1, spread, least)
        low, high = of_rate.quantiles(tail)
        few = allowed_errors(low, of_rate.n)
        if at.rate == "fnmr":
            few = of_rate.errors(tail, lambda errors: held_errors.failures_at(errors, tail)[1])[0]
        ends = _ends_of_rate(held, comparisons, few, allowed_errors(high, of_rate.n))
        relative = high / at.value if at.value else 1.0
    laxest, strictest = (
        end if isinstance(end, float) else comparisons.to_threshold(of_key(end)) for end in ends
    )
    if not isinstance(ends[0], float):  # at most what the threshold of these data may be
        laxest = comparisons.to_scale(
            float(score_keys.decode(np.array([ends[0]], comparisons.mated.keys.dtype))[0])
        )
    if comparisons.score_kind == "distance":
        laxest, strictest = (0.0 - end if math.isinf(end) else end for end in (laxest, strictest))
    return FoundThreshold(held.key, threshold, laxest, strictest, relative, spread, least)


def _error_of(
    evaluation: Evaluation, quantity: Quantity, at: OperatingPoint
) -> tuple[float, float]:
    """Return the standard error of a rate at its threshold, and its degrees of freedom."""
    maker = evaluation.maker
    row = evaluation.quantities.index(quantity)
    n = quantity.n_comparisons or 1
    freedom = float(maker.sizes.degrees_of_freedom[row])
    rate = quantity.estimate if at.rate is None else at.value
    independent = float(maker.sizes.effective[row])
    if math.isnan(independent):
        error = float(np.nan_to_num(maker.standard_errors[row]))
        return max(error, math.sqrt(rate * (1 - rate) / n)), freedom
    return math.sqrt(max(rate * (1 - rate), rate / n) / independent), freedom


def _ends_of_rate(
    held: HeldThreshold, comparisons: Comparisons, few: int, many: int
) -> tuple[int | float, ...]:
    """Return the laxest and the strictest threshold that the population may have.

    A threshold holds an FMR if the rate is at most that, and above it where the score below is
    accepted, too. So of the data's scores s it may be next above those that few or more non-mated
    comparisons reach, and at most many exceed.
    """
    is_fmr = held.at.rate == "fmr"
    keys = (comparisons.nonmated if is_fmr else comparisons.mated).keys
    n = keys.size
    if is_fmr:
        laxest = -math.inf if many >= n else int(keys[n - 1 - many]) + 1
        return laxest, math.inf if few == 0 else int(keys[n - few]) + 1
    laxest = -math.inf if few == 0 else int(keys[few - 1])
    return laxest, math.inf if many >= n else int(keys[many])


@dataclass(frozen=True, eq=False)
class Added:
    """What subjects, and pairs of them, add to a rate or to a difference of rates.

    Attributes
    ----------
    of_subjects : (k,) ndarray
        Sums over the comparisons of each subject.
    codes, of_pairs : (p,) ndarray
        The pairs of subjects of non-mated comparisons as lower * k + higher, ascending, and the sum
        over each.
    """

    of_subjects: Floats
    codes: Integers
    of_pairs: Floats

    def minus(self, other: Added) -> Added:
        """Return what is added to the difference of two rates, of which one at most is of non-mated
        comparisons.
        """
        of_pairs = self if self.codes.size else other
        sign = 1.0 if self.codes.size else -1.0
        return Added(self.of_subjects - other.of_subjects, of_pairs.codes, sign * of_pairs.of_pairs)


def added(
    comparisons: Comparisons,
    numbers: Integers,
    n_subjects: int,
    key: int,
    *,
    mated: bool,
    group: int | None,
) -> Added:
    """Sum what subjects add to the FNMR, or FMR, of all or of a group, at a threshold's key.

    numbers has a number below n_subjects for each of the (subjects,), the same in both sets.
    """
    side = comparisons.mated if mated else comparisons.nonmated
    below = score_keys.count_below(side.keys, key)
    wrong = (np.arange(side.keys.size) < below) == mated
    inside: Flags | slice = slice(None)
    if group is not None:
        inside = comparisons._grouped(mated).inside(group)
    first, second = (numbers[subject] for subject in side.compared(inside))
    errors = wrong[inside]
    values = (errors - errors.mean()) / errors.size if errors.size else np.zeros(0)
    apart = first != second
    sums: Floats = np.bincount(first, weights=values, minlength=n_subjects).astype(np.float64)
    sums += np.bincount(second[apart], weights=values[apart], minlength=n_subjects)
    if mated:
        return Added(sums, np.zeros(0, np.int64), np.zeros(0))
    codes, where = np.unique(pair_codes(first, second, n_subjects), return_inverse=True)
    of_pairs: Floats = np.bincount(where, weights=values, minlength=codes.size).astype(np.float64)
    return Added(sums, codes, of_pairs)


def correlation(first: Added, second: Added) -> float:
    """Return the correlation of two rates; 0 where one of them does not vary.

    What subjects have in several pairs adds to the variance of an FMR; where it is estimated to be
    negative it counts as none, and between two rates of non-mated comparisons for no more than it
    does in their variances.
    """
    (pairs, several), *variances_of = (
        _parts(*both) for both in ((first, second), (first, first), (second, second))
    )
    in_several = [max(0.0, each) for _, each in variances_of]
    if first.codes.size and second.codes.size:
        most = math.sqrt(in_several[0] * in_several[1])
        several = min(max(several, -most), most)
    variances = [
        of_pairs + each for (of_pairs, _), each in zip(variances_of, in_several, strict=True)
    ]
    scale = math.sqrt(variances[0] * variances[1])
    return min(max((pairs + several) / scale, -1.0), 1.0) if scale > 0 else 0.0


def _parts(first: Added, second: Added) -> tuple[float, float]:
    """Return the sum over pairs, and what subjects have in several pairs, of a covariance."""
    _, here, there = np.intersect1d(
        first.codes, second.codes, assume_unique=True, return_indices=True
    )
    of_pairs = float(first.of_pairs[here] @ second.of_pairs[there])
    return of_pairs, float(first.of_subjects @ second.of_subjects) - 2 * of_pairs


def numbered(first: Comparisons, second: Comparisons) -> tuple[Integers, Integers, int, int]:
    """Number the subjects of two sets so that those of both have the same number.

    Returns the (subjects,) numbers of either set, how many numbers there are, and how many subjects
    are in both.
    """
    assert first.subjects is not None
    assert second.subjects is not None
    n = first.subjects.size
    position = {who: k for k, who in enumerate(first.subjects.tolist())}
    others = second.subjects.tolist()
    of_second = np.array([position.get(who, n + k) for k, who in enumerate(others)], np.int64)
    return np.arange(n), of_second, n + len(others), int(np.count_nonzero(of_second < n))


_ENDS = ("low", "high", "given_low", "given_high")
_APART = 0.14  # rows between the two intervals of a rate


@dataclass(frozen=True, kw_only=True)
class AppliedRate(Estimate):
    """An error rate of the evaluation data at a threshold found on development data: an `Estimate`,
    and its name.

    Attributes
    ----------
    name : {"fmr", "fnmr"}
        The rate.
    low, high : float
        Its interval with the uncertainty of the threshold: of the rate that follows from choosing a
        threshold this way on such development data.
    given_low, given_high : float
        Its interval for exactly this threshold, as `evaluate` gives it with `at_threshold`.
    """

    name: str
    given_low: float
    given_high: float


@dataclass(frozen=True, eq=False, repr=False)
class AppliedThreshold(Result):
    """The result of `apply_threshold`.

    Attributes
    ----------
    at : OperatingPoint
        The operating point that the development data hold.
    threshold : float
        The threshold found on them.
    laxest, strictest : float
        The ends of its interval, on the scale of the scores; infinite where the development data
        set no end.
    held : float
        The rate that the development data have at the threshold: what `at` holds, as far as ties
        allow. For an EER the mean of both rates.
    groups : tuple of str
        The groups of the evaluation data.
    rates : tuple of AppliedRate
        FMR and FNMR of all evaluation comparisons, and of each group.
    n_shared : int
        Number of subjects that are in both sets.
    confidence_level : float
        The level of all intervals.
    """

    at: OperatingPoint
    threshold: float
    laxest: float
    strictest: float
    held: float
    groups: tuple[str, ...]
    rates: tuple[AppliedRate, ...]
    n_shared: int
    confidence_level: float

    _title = "Errors at the threshold of development data"
    _rows = "rates"
    _printed = "group name n_comparisons n_errors estimate given"

    @property
    def names(self) -> list[ErrorRate]:
        """The rates that the evaluation data have: one where all are mated, or none is."""
        there = {row.name for row in self.rates}
        return [name for name in ERROR_RATES if name in there]

    @checked
    def rate(self, name: ErrorRate, group: str | None = None) -> AppliedRate:
        """Return one rate.

        Parameters
        ----------
        name : {"fmr", "fnmr"}
            The rate.
        group : str, optional
            One of `groups`; by default all comparisons.

        Returns
        -------
        AppliedRate
        """
        validation.choice("name", name, self.names)
        return of_group(self.rates, group, self.groups, name)[0]

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        held = self.at.rule.title
        shared = (
            f"{self.n_shared:,} subjects are in both" if self.n_shared else "No subject is in both"
        )
        text = [
            f"At {self.at} the threshold of the development data is {typed(self.threshold)}, where"
            f" their {held} is {per_cent(self.held)}. Its interval reaches from {_end(self.laxest)}"
            f" (lax) to {_end(self.strictest)} (strict). {shared} data sets."
        ]
        for name in self.names:
            applied = self.rate(name)
            text.append(
                f"On the evaluation data the {name.upper()} is {in_words(applied)} with the uncertainty"
                " of the threshold, and"
                f" {rate_with_interval(applied.estimate, applied.given_low, applied.given_high)} for exactly"
                " this threshold."
            )
        rate = next(
            (row for row in self.rates if row.group is None and row.name == self.at.rate), None
        )
        if rate is not None and rate.has_interval:
            word, aim = "does not differ significantly from", self.at.value
            if rate.low > aim or rate.high < aim:
                word = f"is significantly {'above' if rate.low > aim else 'below'}"
            text.append(f"This {held} {word} the {per_cent(aim)} that the development data hold.")
        return text

    def _figures(self) -> Mapping[str, Axes | Figure]:
        return {f"applied_{rate}": self.plot(rate=rate) for rate in self.names}

    @checked
    def plot(self, ax: Axes | None = None, *, rate: ErrorRate = "fmr") -> Axes:
        """Draw a rate of all comparisons and of each group, with both intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        rate : {"fmr", "fnmr"}
            The rate.

        Returns
        -------
        matplotlib Axes
        """
        rows = [self.rate(rate, group) for group in (None, *self.groups)]
        bars = [
            Bar(y + shift, row.estimate, low, high, color=color, label=label)
            for y, row in enumerate(rows)
            for low, high, shift, color, label in (
                (row.low, row.high, -_APART, USUAL, "with the uncertainty of the threshold"),
                (row.given_low, row.given_high, _APART, STANDS_OUT, "for exactly this threshold"),
            )
            if not math.isnan(low)
        ]
        aim = [Line(self.at.value, "held on development")] if self.at.rate == rate else []
        return draw_rows(
            ax, [row.group or "all" for row in rows], bars, aim, xlabel=METRICS[rate].long_title
        )


def _end(threshold: float) -> str:
    return "no limit" if math.isinf(threshold) else f"{threshold:g}"


@checked
def apply_threshold(
    comparisons: Comparisons,
    at: OperatingPoint,
    development: Comparisons,
    *,
    confidence_level: float = 0.95,
) -> AppliedThreshold:
    """Find the threshold of an operating point on development data, and compute error rates at it
    on other data.

    A threshold is chosen before a system is used, on data that are at hand then. What errors it
    makes elsewhere is asked in two ways. Of *exactly this threshold*: then only the evaluation data
    are uncertain. And of the *procedure*, "hold this rate on such development data": then the
    threshold is uncertain, too, as other development data would have given another one. Each rate
    has both intervals.

    Parameters
    ----------
    comparisons : Comparisons
        The evaluation data, with subjects; with or without groups.
    at : OperatingPoint
        What the development data hold: an FMR, an FNMR or the EER.
    development : Comparisons
        The development data, with subjects. Those with an id that is in the evaluation data, too,
        are the same people.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    AppliedThreshold

    Raises
    ------
    InputError
        For comparisons without subjects, scores of two kinds, and operating points that find no
        threshold in this way.

    Warns
    -----
    NarrowIntervalsWarning
        Where intervals are likely too narrow.

    Notes
    -----
    The interval of the threshold holds those thresholds at which the development data have a rate
    that chance may give where the true one is what is held. Those of rates on evaluation data join
    the interval of `evaluate` for a given threshold with the rates at both ends of the threshold's
    interval by MOVER [1]_. Where subjects are in both sets, what they add to both rates gives the
    correlation of the two parts; otherwise it is 0.

    References
    ----------
    .. [1] Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
       Medicine 27 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> import fastfair as ff
    >>> rng = np.random.default_rng(0)
    >>> def drawn(first):
    ...     k = np.arange(first, first + 300)
    ...     reference, probe = np.tile(k, 9), np.r_[k, *(np.roll(k, shift) for shift in range(1, 9))]
    ...     mated = reference == probe
    ...     return ff.Comparisons(rng.normal(size=2700) + 3 * mated, mated, reference, probe)
    >>> applied = ff.apply_threshold(drawn(300), ff.at_fmr(0.01), drawn(0))
    >>> fmr = applied.rate("fmr")
    >>> round(fmr.estimate, 4), [round(end, 4) for end in (fmr.low, fmr.high, fmr.given_low, fmr.given_high)]
    (0.0071, [0.0022, 0.0132, 0.0041, 0.0116])
    """
    level = intervals.level(confidence_level)
    for name, data in (("comparisons", comparisons), ("development", development)):
        if data.subjects is None:
            raise InputError(
                f"{name} have no subjects, and intervals need subject ids: give reference and probe"
            )
    require_same_scores(comparisons, development)
    with hold_warnings():  # notes tell what matters
        held = found_threshold(development, at, level)
    evaluation = evaluate_at_thresholds(comparisons, [held.threshold], level)
    ends = [_rates_at(comparisons, threshold) for threshold in (held.laxest, held.strictest)]
    correlation_of, n_shared = _correlation_of(comparisons, development, at, held)
    rows = []
    for group in (None, *comparisons.groups):
        for name in (rate for rate in ERROR_RATES if rate in comparisons.rates):
            quantity = evaluation.quantity(name, group)
            given = ends_of(quantity)
            notes = quantity.notes
            low = high = math.nan
            if not math.isnan(given[0]):
                of_ends = [rates[name, group] for rates in ends]
                if (
                    name == at.rate == "fmr"
                    and quantity.estimate == 0
                    and not math.isinf(held.laxest)
                ):
                    # Without errors nothing tells how the FMR grows: as that of the development
                    # data does, at most.
                    of_ends[0] = max(of_ends[0], given[1] * (held.relative - 1))
                low, high = joined_limits(
                    quantity.estimate, given, of_ends, correlation_of(name, group)
                )
                if math.isinf(held.laxest) or math.isinf(held.strictest):
                    notes = (*notes, Note(Code.NO_END))
            ends_there = dict(zip(_ENDS, (low, high, *given), strict=True))
            rows.append(AppliedRate._of(quantity, name=name, notes=notes, **ends_there))
    warn_of_narrow(rows)
    of_development = rates_at_key(development, at, development.mated.keys.dtype.type(held.key))
    held_there = float(np.mean([getattr(of_development, name) for name in at.rule.holds]))
    return AppliedThreshold(
        at,
        held.threshold,
        held.laxest,
        held.strictest,
        held_there,
        comparisons.groups,
        tuple(rows),
        n_shared,
        level,
        left_out=_left_out_of(comparisons, development),
    )


def _left_out_of(comparisons: Comparisons, development: Comparisons) -> Exclusions:
    """Return what was left out of the data that are evaluated, and of the development data."""
    return (*comparisons.left_out, *exclusions_of_systems([("development", development)]))


def require_same_scores(comparisons: Comparisons, development: Comparisons) -> None:
    """Refuse development data with scores of another kind than the comparisons have."""
    if comparisons.score_kind != development.score_kind:
        raise InputError(
            f"the scores of development are of the kind {development.score_kind!r}, those of the"
            f" comparisons {comparisons.score_kind!r}"
        )


def _rates_at(comparisons: Comparisons, threshold: float) -> dict[tuple[str, str | None], float]:
    """Return the rates of all comparisons and of groups at one end of the threshold's interval."""
    groups = (None, *comparisons.groups)
    if math.isinf(threshold):
        accepts = (threshold < 0) == (comparisons.score_kind != "distance")
        return {
            (name, group): float(accepts == (name == "fmr"))
            for name in ERROR_RATES
            for group in groups
        }
    rates = rates_at_key(comparisons, at_threshold(threshold), comparisons.to_key(threshold))
    return {
        (name, group): rate
        for name in ERROR_RATES
        for group, rate in zip(
            groups, (getattr(rates, name), *getattr(rates, f"group_{name}").tolist()), strict=True
        )
    }


def _correlation_of(
    comparisons: Comparisons, development: Comparisons, at: OperatingPoint, held: FoundThreshold
) -> tuple[Callable[[str, str | None], float], int]:
    """Return what computes how a rate at a threshold goes with what the threshold held adds, sign
    turned.

    0 where no subject is in both sets; and in how many are.
    """
    numbers, of_development, n, n_shared = numbered(comparisons, development)
    parts = [
        added(development, of_development, n, held.key, mated=name == "fnmr", group=None)
        for name in (at.rule.holds if n_shared else ())
    ]
    key = int(comparisons.to_key(held.threshold))

    def correlation_of(name: str, group: str | None) -> float:
        if not parts:
            return 0.0
        code = None if group is None else comparisons.groups.index(group)
        at_threshold_here = added(comparisons, numbers, n, key, mated=name == "fnmr", group=code)
        of_held = parts[0] if len(parts) == 1 else parts[0].minus(parts[1])
        return (
            at.rule.grows
            * (1.0 if name == "fmr" else -1.0)
            * correlation(at_threshold_here, of_held)
        )

    return correlation_of, n_shared


@dataclass(frozen=True, kw_only=True)
class ExpectedError(Estimate):
    """The half total error rate, the mean of FMR and FNMR, at the threshold that costs least on
    development data.

    Attributes
    ----------
    weight : float
        The weight of false matches in the cost.
    threshold : float
        The threshold found on development data.
    fmr, fnmr : float
        The two rates.
    cost : float
        The least cost on development data, ``weight * FMR + (1 - weight) * FNMR``.
    """

    weight: float
    threshold: float
    fmr: float
    fnmr: float
    cost: float

    _unused = ("n_comparisons", "n_errors", "n_subjects")


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedPerformance(Result):
    """The result of `expected_performance_curve`.

    Attributes
    ----------
    weights : (w,) ndarray
        The weights of false matches, ascending.
    groups : tuple of str
        The groups of the evaluation data; empty without.
    errors : tuple of ExpectedError
        A row for each weight, of all comparisons first, then of each group.
    confidence_level : float
        The level of each interval.
    """

    weights: Floats
    groups: tuple[str, ...]
    errors: tuple[ExpectedError, ...]
    confidence_level: float

    _title = "Errors at thresholds that cost least on development data"
    _rows = "errors"

    @checked
    def of(self, group: str | None = None) -> tuple[ExpectedError, ...]:
        """Return the rows of a group, or of all comparisons, one for each weight.

        Parameters
        ----------
        group : str, optional
            One of `groups`.

        Returns
        -------
        tuple of ExpectedError
        """
        return tuple(of_group(self.errors, group, self.groups))

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        rows = self.of()
        best = min(rows, key=lambda row: row.estimate)
        worst = max(rows, key=lambda row: row.estimate)
        return [
            (
                "At the thresholds that cost least on the development data, the half total error"
                f" rate is lowest, {in_words(best)}, where false matches have the weight"
                f" {best.weight:g}, and highest, {in_words(worst)}, at the weight {worst.weight:g}."
            ),
            "The intervals take these thresholds as given.",
        ]

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the half total error rate over the weight of false matches, of each group where
        there are groups.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        curves = {group or "all": self.of(group) for group in self.groups or (None,)}
        ends = ("estimate", "low", "high")
        drawn = {
            name: [np.array([getattr(row, end) for row in rows]) for end in ends]
            for name, rows in curves.items()
        }
        ax = draw_lines(
            self.weights, drawn, ax, ("Weight of false matches", "Half total error rate")
        )
        ax.set_ylim(bottom=0)
        rate_ticks(ax.yaxis)
        return ax


_WEIGHTS = tuple(k / 20 for k in range(1, 20))


@checked
def expected_performance_curve(
    comparisons: Comparisons,
    development: Comparisons,
    weights: ArrayLike = _WEIGHTS,
    *,
    confidence_level: float = 0.95,
) -> ExpectedPerformance:
    """Compute the half total error rate at thresholds that cost least on development data, one for
    each weight.

    A ROC curve of evaluation data compares systems at thresholds that nobody could have known. Here
    each threshold is the one of least ``weight * FMR + (1 - weight) * FNMR`` on development data,
    and what it leads to is computed on evaluation data [1]_.

    Parameters
    ----------
    comparisons : Comparisons
        The evaluation data, with or without groups and subjects.
    development : Comparisons
        The development data, of other people.
    weights : float or (w,) array_like, default 0.05, 0.1, ..., 0.95
        Weights of false matches, in (0, 1).
    confidence_level : float, default 0.95
        In (0, 1), of each interval alone.

    Returns
    -------
    ExpectedPerformance

    Raises
    ------
    InputError
        For weights outside (0, 1), scores of two kinds, and a level outside (0, 1).

    Warns
    -----
    NarrowIntervalsWarning
        Where intervals are likely too narrow.
    SharedSubjectsWarning
        Where some of the people are in both sets, or the scores are the very same.

    Notes
    -----
    The half total error rate is the mean of FMR and FNMR. Its interval joins those of the two rates
    by MOVER [2]_, as if these were not correlated, *for the thresholds as they are*: how much other
    development data would have moved them is not part of it.

    References
    ----------
    .. [1] Bengio, Mariéthoz and Keller, "The expected performance curve", ICML Workshop on ROC Analysis (2005).
    .. [2] Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
       Medicine 27 (2008).

    Examples
    --------
    >>> import fastfair as ff
    >>> development = ff.Comparisons([0.9, 0.5, 0.8, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
    >>> evaluation = ff.Comparisons([0.9, 0.3, 0.8, 0.4, 0.1, 0.7], [1, 1, 1, 0, 0, 0])
    >>> curve = ff.thresholds.expected_performance_curve(evaluation, development, [0.2, 0.8])
    >>> [(row.weight, row.threshold, round(row.estimate, 3)) for row in curve.errors]
    [(0.2, 0.5, 0.333), (0.8, 0.8, 0.167)]
    """
    level = intervals.level(confidence_level)
    given = np.unique(validation.numbers_of("weights", weights))
    if not ((given > 0) & (given < 1)).all():
        raise InputError(
            f"weights must be in (0, 1), not {given[~((given > 0) & (given < 1))][0]:g}"
        )
    require_same_scores(comparisons, development)
    warn_of_overlap(
        overlap(comparisons, development), "thresholds look better than they are for other people"
    )
    development._require_rates("an expected performance curve")
    keys = keys_of(development)
    costs = [least_cost(Costs(1 - float(weight)), keys) for weight in given]
    thresholds = [development.to_threshold(key) for _, key in costs]
    evaluation = evaluate_at_thresholds(comparisons, thresholds, level)
    rows = []
    for group in (None, *comparisons.groups):
        for weight, threshold, (cost, _) in zip(given, thresholds, costs, strict=True):
            fmr, fnmr = (
                evaluation.quantity(name, group, at_threshold(threshold))
                for name in ("fmr", "fnmr")
            )
            first, second = (np.array([rate.estimate, *ends_of(rate)]) / 2 for rate in (fmr, fnmr))
            low, high = np.clip(
                intervals.sum_interval(first, second, np.zeros(())), 0.0, 1.0
            ).tolist()
            expected = ExpectedError(
                group=group,
                estimate=(fmr.estimate + fnmr.estimate) / 2,
                low=low,
                high=high,
                notes=notes_about(fmr, fnmr),
                weight=float(weight),
                threshold=threshold,
                fmr=fmr.estimate,
                fnmr=fnmr.estimate,
                cost=cost,
            )
            rows.append(expected)
    warn_of_narrow(rows)
    left_out = _left_out_of(comparisons, development)
    return ExpectedPerformance(given, comparisons.groups, tuple(rows), level, left_out=left_out)


@checked
def own_thresholds(comparisons: Comparisons, at: OperatingPoint) -> dict[str, float]:
    """Find the threshold of each group that holds a rate within it.

    Parameters
    ----------
    comparisons : Comparisons
        With groups, each with mated and non-mated comparisons of its own.
    at : OperatingPoint
        What holds in each group: `at_fmr`, `at_fnmr` or `at_eer`.

    Returns
    -------
    dict of str to float
        The threshold of each group, on the scale of the scores, for `with_own_thresholds`.

    Raises
    ------
    InputError
        Without groups, for groups that lack comparisons, and for other operating points.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.8, 0.1, 0.6], [1, 0, 1, 1, 0, 0], reference_group=list("ffmfmm"))
    >>> ff.thresholds.own_thresholds(c, ff.at_fnmr(0))
    {'f': 0.8, 'm': 0.7}
    """
    comparisons.require_groups()
    if not at.rule.is_looked_for:
        raise InputError(
            f"⟦at={at}⟧ is no rate that each group could hold: use at_fmr, at_fnmr or at_eer"
        )
    thresholds = {}
    for group in comparisons.groups:
        inside = comparisons.within_group(group)
        thresholds[group] = inside.to_threshold(threshold_key(inside, at))
    return thresholds


@checked
def with_own_thresholds(
    comparisons: Comparisons,
    thresholds: Mapping[str, float],
    *,
    side: Literal["probe", "reference"] = "probe",
) -> Comparisons:
    """Give each group its own threshold: scores are made relative to it, so that all groups'
    threshold is 0.

    Whatever takes comparisons then tells what own thresholds do: `evaluate` at ``at_threshold(0)``
    gives rates of groups at their thresholds, rates of all, and fairness measures with intervals;
    `compare` with the same comparisons at one common threshold tells whether it makes a difference.

    Parameters
    ----------
    comparisons : Comparisons
        With groups.
    thresholds : dict of str to float
        A threshold for each group, on the scale of the scores.
    side : {"probe", "reference"}
        Whose group decides in comparisons between two groups. It is the probe's by default, as who
        wants to be recognised is there, and known to the system by the claim made.

    Returns
    -------
    Comparisons
        With scores minus the threshold; a comparison is accepted at the threshold 0 exactly where
        it was at its own.

    Raises
    ------
    InputError
        Without groups, for a group without a threshold, and for names that are no group.

    Notes
    -----
    Intervals take the thresholds as they are, which is right where these come from other people, as
    by ``own_thresholds(development, at)``. Thresholds found on the same comparisons are estimates,
    and fit these better than others: FMRs are then what was held, and 95 % intervals of FNMRs hold
    the truth in some 75 % of data sets. Each ``evaluate(comparisons.within_group(group), at)`` has
    right ones.

    Only FMR, FNMR and what is made of them mean what they did: an EER or a minDCF of such scores is
    that of a system whose threshold is moved by the same amount in all groups.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.8, 0.1, 0.6], [1, 0, 1, 1, 0, 0], reference_group=list("ffmfmm"))
    >>> own = ff.thresholds.with_own_thresholds(c, {"f": 0.85, "m": 0.5})
    >>> r = ff.rates(own, ff.at_threshold(0))
    >>> r.group_fnmr, r.group_fmr
    (array([0.5, 0. ]), array([0. , 0.5]))
    """
    comparisons.require_groups()
    for group in thresholds:
        validation.choice("a group of thresholds", group, comparisons.groups)
    missing = [group for group in comparisons.groups if group not in thresholds]
    if missing:
        raise InputError(
            f"thresholds has none for {', '.join(map(repr, missing))}: each group needs one"
        )
    values = np.array([thresholds[group] for group in comparisons.groups], np.float64)
    return shift_scores(comparisons, values, of_probe=side == "probe")

"""`error_model`: a logit of errors on several attributes at once; `stratified_rates`: rates by one
within others.

Where rates overall and within strata contradict each other, as groups are made up differently, a
warning says so.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import Probability, checked
from fastfair._lib.arrays import Flags, Floats, Indices, Integers
from fastfair._lib.plots import (
    GREY,
    LONGEST_LABEL,
    USUAL,
    Bar,
    Line,
    axes_or_new,
    draw_ranges,
    draw_rows,
    mark_style,
    plain_ticks,
    row_size,
)
from fastfair._lib.text import drawn, p_in_words, shortened, value_and_interval
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.data.exclusions import gathering
from fastfair.data.group_labels import INTERSECTION, check_attributes
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.error_rates.rates import ErrorRate
from fastfair.errors import ContradictingStrataWarning, InputError, NotComputableWarning
from fastfair.measures._registry import METRICS
from fastfair.results.result import Printed, Result, printed
from fastfair.uncertainty.notes import Code, Note, Noted
from fastfair.uncertainty.quantities import Estimate, in_words
from fastfair.uncertainty.rate_limits import RateEvidence

from . import fitting
from .covariates import Line as NumberLine
from .covariates import list_cells, read_covariates, with_lines
from .fitting import Cells, Fit, StudentEstimate, Term, Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ENOUGH_ERRORS = 10  # of two values in a stratum, for their order to count
# of subjects that err, where the variance stands for that of a rate without errors
_PAIRS_OF_LIMIT = 5


@dataclass(frozen=True, kw_only=True)
class StratifiedRate(Estimate):
    """A rate of errors of one value of an attribute: an `Estimate`, whose `group` is the value, and
    its stratum.

    Attributes
    ----------
    group : str
        The value, which of non-mated comparisons both sides have.
    stratum : str or None
        The stratum; None for all comparisons of the value.
    standardised : bool
        Whether it is the mean over strata with the mix that all values share.
    """

    stratum: str | None = None
    standardised: bool = False

    _unused = ("n_subjects",)


@dataclass(frozen=True)
class StratifiedDifference:
    """How the rates of two values of an attribute compare, in the margin and within strata of
    others.

    Attributes
    ----------
    by, strata : str
        The attribute, and those that make the strata.
    value, baseline : str
        The two values.
    margin_ratio, margin_low, margin_high : float
        The rate of the value over that of the baseline, each of all of its comparisons, and its
        interval.
    margin_pvalue : float
        The p-value of the two being alike, adjusted for the number of pairs of values by Holm's
        procedure.
    ratio, low, high, pvalue : float
        The same of standardised rates.
    higher_in, lower_in : tuple of str
        Strata in which the rate of the value is higher, and lower.
    contradicts : bool
        Whether margin and strata say different things: the ratio in the margin is outside the
        interval of that of standardised rates, and either only one of them tells detectably which
        rate is higher (or they tell the opposite), or the order in the margin is the opposite of
        that in every stratum with errors enough.
    """

    by: str
    strata: str
    value: str
    baseline: str
    margin_ratio: float
    margin_low: float
    margin_high: float
    margin_pvalue: float
    ratio: float
    low: float
    high: float
    pvalue: float
    higher_in: tuple[str, ...]
    lower_in: tuple[str, ...]
    contradicts: bool


def contradictions_in(differences: Sequence[StratifiedDifference], rate: str) -> list[str]:
    """Say, in a sentence each, where rates overall and within strata contradict each other."""
    return [
        f"Rates by {row.by} overall and within {row.strata} contradict each other: {rate.upper()}"
        f" of {row.value} over that of {row.baseline} is {row.margin_ratio:.3g} overall"
        f" [{row.margin_low:.3g}, {row.margin_high:.3g}], but {row.ratio:.3g} with the same mix of"
        f" {row.strata} [{row.low:.3g}, {row.high:.3g}]; it is higher in {len(row.higher_in)} and"
        f" lower in {len(row.lower_in)} of {len(row.higher_in) + len(row.lower_in)} strata."
        for row in differences
        if row.contradicts
    ]


def warn_of_contradictions(differences: Sequence[StratifiedDifference], rate: str) -> None:
    """Warn of each difference whose margin and strata contradict each other."""
    for sentence in contradictions_in(differences, rate):
        warn(sentence, ContradictingStrataWarning)


@dataclass(frozen=True, eq=False)
class Stratification:
    """Cells of one attribute and others that make strata, with fits of a rate for each value and
    stratum.

    Attributes
    ----------
    by, strata : str
        The attribute, and those that make the strata.
    cells : Cells
        Those in which both sides have the same value.
    values : tuple of str
        The values of the attribute.
    names : tuple of str
        The strata.
    value, stratum : (cells,) ndarray of int
        The value and the stratum of each cell.
    n, errors : (values, strata) ndarray of int
        Numbers of comparisons and of errors.
    mix : (strata,) ndarray
        The share of each stratum; 0 for those in which some value has no comparisons.
    """

    by: str
    strata: str
    cells: Cells
    values: tuple[str, ...]
    names: tuple[str, ...]
    value: Indices
    stratum: Indices
    n: Integers
    errors: Integers
    mix: Floats

    def rates(self, level: float) -> list[StratifiedRate]:
        """Return the rates of each value: of all its comparisons, standardised, and in each
        stratum.
        """
        margins, inside = self._fits
        shared = self.mix > 0
        rows = []
        for v in range(len(self.values)):
            of_value = self.value == v
            limits = self._limits(np.eye(1, len(self.values), v)[0], margins, of_value, level)
            rows.append(self._row(v, slice(None), limits))
            mean = math.nan
            limits = (math.nan, math.nan)
            notes: tuple[Note, ...] = ()
            if shared.any():
                mean = float((self.errors[v, shared] / self.n[v, shared]) @ self.mix[shared])
                limits = (
                    self._standardised(inside, v).rate_interval(level)
                    if mean
                    else self._upper_limit(of_value & shared[self.stratum], level)
                )
                empty = ", ".join(
                    self.names[s] for s in np.flatnonzero(shared & (self.errors[v] == 0))
                )
                notes = (Note.of(Code.NO_ERRORS_IN_STRATA, strata=empty),) if empty else ()
            rows.append(self._row(v, shared, limits, estimate=mean, standardised=True, notes=notes))
            for s in np.flatnonzero(self.n[v]).tolist():
                contrast = np.eye(1, self.n.size, v * len(self.names) + s)[0]
                limits = self._limits(contrast, inside, of_value & (self.stratum == s), level)
                rows.append(self._row(v, s, limits, stratum=self.names[s]))
        return rows

    def _row(self, v: int, strata: Any, limits: tuple[float, float], **more: Any) -> StratifiedRate:
        """Make the row of a value in some strata, whose rate is errors over comparisons unless it
        is given.
        """
        n = int(self.n[v, strata].sum())
        errors = int(self.errors[v, strata].sum())
        more.setdefault("estimate", errors / max(n, 1))
        low, high = limits
        return StratifiedRate(
            group=self.values[v], low=low, high=high, n_comparisons=n, n_errors=errors, **more
        )

    def differences(self, level: float) -> list[StratifiedDifference]:
        """Compare each two values."""
        margins, inside = self._fits
        pairs = list(itertools.combinations(range(len(self.values)), 2))
        both = []
        for v, w in pairs:
            margin = _log_ratio(
                margins,
                *(
                    fitting.mean_chance(margins, np.eye(1, len(self.values), k), np.ones(1))
                    for k in (v, w)
                ),
            )
            within = _log_ratio(inside, *(self._mean(inside, k) for k in (v, w)))
            both.append((margin, within))
        adjusted = [intervals.holm([row[k].pvalue for row in both]) for k in (0, 1)]
        return [
            self._difference(v, w, estimates, (float(p), float(q)), level)
            for (v, w), estimates, p, q in zip(pairs, both, *adjusted, strict=True)
        ]

    def _difference(
        self,
        v: int,
        w: int,
        both: tuple[StudentEstimate, StudentEstimate],
        pvalues: tuple[float, float],
        level: float,
    ) -> StratifiedDifference:
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = self.errors / self.n
            overall = self.errors.sum(axis=1) / self.n.sum(axis=1)
        shared = np.flatnonzero((self.n[v] > 0) & (self.n[w] > 0))
        # 1 where the rate of the value is higher, -1 where it is lower.
        order = {s: float(np.sign(rates[v, s] - rates[w, s])) for s in shared}
        errors = self.errors[v] + self.errors[w]
        enough = [order[s] for s in shared if errors[s] >= ENOUGH_ERRORS]
        margin = float(np.sign(overall[v] - overall[w]))
        reversed_in_all = margin != 0 and len(enough) > 1 and set(enough) == {-margin}
        verdicts = [
            float(np.sign(estimate.value)) if p <= 1 - level else 0.0
            for estimate, p in zip(both, pvalues, strict=True)
        ]
        ends = [estimate.ratio_interval(level) for estimate in both]
        ratios = [estimate.exponential for estimate in both]
        low, high = ends[1]
        apart = not low <= ratios[0] <= high and not math.isnan(sum(ratios))
        return StratifiedDifference(
            self.by,
            self.strata,
            self.values[v],
            self.values[w],
            ratios[0],
            *ends[0],
            pvalues[0],
            ratios[1],
            *ends[1],
            pvalues[1],
            tuple(self.names[s] for s in shared if order[s] > 0),
            tuple(self.names[s] for s in shared if order[s] < 0),
            bool(apart and (reversed_in_all or verdicts[0] != verdicts[1])),
        )

    @cached_property
    def _fits(self) -> tuple[Fit, Fit]:
        """Fit a rate for each value, and one for each value and stratum."""
        of_strata = np.eye(self.n.size)[self.value * len(self.names) + self.stratum]
        return fitting.fit(self.cells, np.eye(len(self.values))[self.value]), fitting.fit(
            self.cells, of_strata
        )

    def _mean(self, inside: Fit, v: int) -> tuple[float, Floats]:
        """Return the standardised rate of a value, and its gradient."""
        cells_of_value = np.arange(self.n.size).reshape(self.n.shape)[v]
        log_odds = inside.values(np.eye(self.n.size)[cells_of_value])
        gradient = np.zeros(self.n.size)
        # Where all comparisons are errors, or none, the data determine no log odds.
        fitted = 1 / (1 + np.exp(-log_odds))
        chances = np.where(np.isnan(log_odds), self.errors[v] > 0, fitted)
        gradient[cells_of_value] = self.mix * (chances * (1 - chances))
        return float(np.cumsum(self.mix * chances)[-1]), gradient

    def _standardised(self, inside: Fit, v: int) -> StudentEstimate:
        mean, gradient = self._mean(inside, v)
        if not 0 < mean < 1:
            return StudentEstimate()
        return fitting.of_function(
            inside, math.log(mean / (1 - mean)), gradient / (mean * (1 - mean))
        )

    def _limits(
        self, contrast: Floats, fitted: Fit, which: Flags, level: float
    ) -> tuple[float, float]:
        """Return the interval of one rate, whose log odds are a coefficient."""
        estimate = fitting.estimate(fitted, contrast)
        return (
            self._upper_limit(which, level)
            if math.isnan(estimate.value)
            else estimate.rate_interval(level)
        )

    def _upper_limit(self, which: Flags, level: float) -> tuple[float, float]:
        """Return the interval of a rate without errors, or with nothing else, whose errors come
        together by subject.

        The number of comparisons is divided by the design effect at the strictest threshold with a
        few errors.
        """
        cells = self.cells.only(which)
        n = float(cells.n.sum())
        if cells.errors.any():
            # nothing but errors: whoever wants a limit of those may ask for the opposite rate
            return (
                0.0,
                1.0,
            )
        laxer = cells.with_errors(_PAIRS_OF_LIMIT)
        intercept = np.ones((laxer.n.size, 1))
        fitted = fitting.fit(laxer, intercept)
        variance = (
            0.0
            if math.isnan(fitted.value(intercept[0]))
            else float(fitted.covariance_of(intercept[:1])[0, 0])
        )
        if variance > 0:
            chance = float(laxer.errors.sum() / n)
            n = min(n, 1 / (chance * (1 - chance) * variance))
        elif laxer.n_subjects is not None:
            n = min(n, laxer.n_subjects / (2 if laxer.rate == "fmr" else 1))
        low, high = RateEvidence(0.0, 0.0, effective=max(1.0, n)).interval(level)
        return float(low), float(high)


def stratify(
    cells: Cells, attributes: Sequence[str], by: str, strata: Sequence[str]
) -> Stratification:
    """Divide cells of some attributes by the values of one of them and, as strata, those of others.

    Non-mated comparisons of different strata are one more stratum. In the mix strata have the share
    that they have of the comparisons of all values together.
    """
    a = attributes.index(by)
    others = [attributes.index(name) for name in strata]
    cells = cells.only(cells.first[:, a] == cells.second[:, a])
    same = (cells.first[:, others] == cells.second[:, others]).all(axis=1)
    labels = [cells.labels[k] for k in others]
    of_cell = [
        INTERSECTION.join(labels_of[k] for labels_of, k in zip(labels, row, strict=True))
        if is_same
        else None
        for row, is_same in zip(cells.first[:, others], same, strict=True)
    ]
    same_strata = sorted({name for name in of_cell if name is not None})
    names = (
        (*same_strata, f"{fitting.DIFFERENT} {INTERSECTION.join(strata)}")
        if not same.all()
        else tuple(same_strata)
    )
    position = {name: k for k, name in enumerate(same_strata)} | {None: len(same_strata)}
    used, value = np.unique(cells.first[:, a], return_inverse=True)
    stratum = np.array([position[name] for name in of_cell], np.intp)
    n, errors = np.zeros((2, used.size, len(names)), np.int64)
    np.add.at(n, (value, stratum), cells.n)
    np.add.at(errors, (value, stratum), cells.errors)
    shared = (n > 0).all(axis=0)
    weights = np.where(shared, n.sum(axis=0), 0).astype(np.float64)
    total = weights.sum()
    return Stratification(
        by,
        INTERSECTION.join(strata),
        cells,
        tuple(cells.labels[a][k] for k in used),
        names,
        value,
        stratum,
        n,
        errors,
        weights / total if total else weights,
    )


def _log_ratio(
    fitted: Fit, first: tuple[float, Floats], second: tuple[float, Floats]
) -> StudentEstimate:
    """Estimate the logarithm of the ratio of two rates, each with its gradient."""
    (rate, gradient), (other_rate, other_gradient) = first, second
    if not (rate > 0 and other_rate > 0):
        return StudentEstimate()
    return fitting.of_function(
        fitted, math.log(rate / other_rate), gradient / rate - other_gradient / other_rate
    )


@dataclass(frozen=True, eq=False, repr=False)
class StratifiedRates(Result):
    """The result of `stratified_rates`.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        Which rate.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, which is taken as given.
    by, strata : str
        The attribute whose values are compared, and those that make the strata.
    mix : tuple of (str, float)
        The share of each stratum in standardised rates; 0 for those in which some value has no
        comparisons.
    rates : tuple of StratifiedRate
        For each value its rate overall, the standardised one, and those within strata.
    differences : tuple of StratifiedDifference
        Each two values compared.
    confidence_level : float
        Of the intervals.
    n_subjects : int or None
        Number of subjects; None where every comparison was taken for independent.
    settings : dict
        The arguments of the call.
    """

    rate: str
    at: OperatingPoint
    threshold: float
    by: str
    strata: str
    mix: tuple[tuple[str, float], ...]
    rates: tuple[StratifiedRate, ...]
    differences: tuple[StratifiedDifference, ...]
    confidence_level: float
    n_subjects: int | None
    settings: dict[str, Any]

    _title = "Rates within strata"
    _rows = "rates"
    _printed = "group stratum n_comparisons n_errors estimate"

    def _tables(self) -> list[Printed]:
        places = [
            row.stratum or ("same mix" if row.standardised else "overall") for row in self.rates
        ]
        return [printed(self._columns() | {"stratum": places}, self._printed.split())]

    @property
    def contradictions(self) -> tuple[StratifiedDifference, ...]:
        """The differences in which the margin and the strata contradict each other."""
        return tuple(difference for difference in self.differences if difference.contradicts)

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        text = [
            f"{self.rate.upper()} by {self.by} at {self.at}, overall and with the same mix of"
            f" {self.strata}:"
        ]
        for value in dict.fromkeys(row.group for row in self.rates):
            margin, same = (row for row in self.rates if row.group == value and row.stratum is None)
            text.append(f"{value}: {in_words(margin)} overall, {in_words(same)} with the same mix.")
        lost = [name for name, share in self.mix if not share]
        if lost:
            text.append(
                "Strata left out of the mix, as some value has no comparisons there:"
                f" {', '.join(lost)}."
            )
        contradicting = contradictions_in(self.differences, self.rate)
        text += contradicting or ["Rates overall and within strata do not contradict each other."]
        return text

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rates of each value overall, with the same mix, and in each stratum.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        values = list(dict.fromkeys(str(row.group) for row in self.rates))
        strata = dict.fromkeys(row.stratum for row in self.rates if row.stratum)
        places = ["overall", f"same mix of {self.strata}", *strata]
        width, height = row_size(places)
        ax = axes_or_new(ax, (width, height + 0.12 * len(values) * len(places) + 0.2 * len(values)))
        steps = np.linspace(-0.25, 0.25, len(values)) if len(values) > 1 else np.zeros(1)
        bars = []
        for k, (value, step) in enumerate(zip(values, steps, strict=True)):
            for row in self.rates:
                if row.group == value and not math.isnan(row.estimate):
                    y = places.index(row.stratum or places[int(row.standardised)]) + step
                    ends = row.estimate, row.low, row.high
                    bars.append(
                        Bar(
                            y,
                            *ends,
                            **mark_style(k),
                            label=drawn(shortened(value, LONGEST_LABEL)),
                        )
                    )
        logarithmic = self.rate == "fmr" and any(bar.value > 0 for bar in bars)
        ax = draw_rows(
            ax, places, bars, xlabel=METRICS[self.rate].long_title, logarithmic=logarithmic
        )
        ax.axhline(1.5, color="0.7", linewidth=0.8)
        return ax


@checked
def stratified_rates(
    comparisons: Comparisons,
    by: str,
    strata: str | list[str],
    at: OperatingPoint,
    *,
    rate: ErrorRate = "fmr",
    unit: Unit = "subject",
    confidence_level: Probability = 0.95,
) -> StratifiedRates:
    """Compute error rates by one attribute within strata of another, and with the same mix of
    strata for all.

    Where groups are made up differently by another attribute, rates of all their comparisons may
    hide, or make, a difference between them. A `ContradictingStrataWarning` says where they do.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons, with these attributes.
    by : str
        The attribute whose values are compared. Of non-mated comparisons those count whose two
        sides have one value.
    strata : str or list of str
        The attributes whose values make the strata. Non-mated comparisons of two strata are one
        more stratum.
    at : OperatingPoint
        The operating point, whose threshold is found from all comparisons.
    rate : {"fmr", "fnmr"}
        The error rate.
    unit : {"subject", "comparison"}
        What is independent. Where subjects are not known, "comparison" gives intervals that are
        likely too narrow.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    StratifiedRates

    Raises
    ------
    InputError
        For an unknown attribute, or one with a single value; and without subjects.

    Warns
    -----
    ContradictingStrataWarning
        Where the order of two values is another within strata than in the margin.

    Notes
    -----
    Variances are dyadic-robust for FMR and clustered by subject for FNMR, with the small-sample
    correction of `error_model`. The threshold is taken as given, even where it is found from the
    same comparisons. Standardised rates are means of the strata's rates, by direct standardisation:
    all values get the shares that strata have of the comparisons of all values together. Strata in
    which a value has no comparisons are left out.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2", groups=("Gender", "Nationality"))
    >>> rates = ff.stratified_rates(c, "Gender", "Nationality", ff.at_threshold(-1.1))
    >>> one = rates.differences[0]
    >>> one.value, one.baseline, round(one.margin_ratio, 2), round(one.ratio, 2), one.contradicts
    ('f', 'm', 1.51, 1.54, False)
    """
    others = [strata] if isinstance(strata, str) else list(strata)
    if not others or by in others:
        raise InputError(f"strata must name attributes other than {by!r}")
    key = threshold_key(comparisons, at)
    with gathering() as between:
        cells = fitting.count_cells(comparisons, [by, *others], key, rate, unit)
    stratification = stratify(cells, [by, *others], by, others)
    if len(stratification.values) < 2:
        raise InputError(
            f"there are no comparisons of two values of {by!r}, so there is nothing to compare"
        )
    if not stratification.mix.any():
        warn(
            f"no stratum of {stratification.strata} has comparisons of every value of {by!r}: there"
            " are no standardised rates",
            NotComputableWarning,
        )
    differences = stratification.differences(confidence_level)
    warn_of_contradictions(differences, rate)
    shares = tuple(zip(stratification.names, stratification.mix.tolist(), strict=True))
    settings = {
        "by": by,
        "strata": others,
        "at": str(at),
        "rate": rate,
        "unit": unit,
        "confidence_level": confidence_level,
    }
    return StratifiedRates(
        rate,
        at,
        comparisons.to_threshold(key),
        by,
        stratification.strata,
        shares,
        tuple(stratification.rates(confidence_level)),
        tuple(differences),
        confidence_level,
        stratification.cells.n_subjects,
        settings,
        left_out=(*comparisons.left_out, *between),
    )


@dataclass(frozen=True)
class Effect(Noted):
    """What one value of an attribute does to the odds of an error, with the other attributes held
    fixed.

    Attributes
    ----------
    attribute, value, baseline : str
        The attribute, its value and the value it is compared with; of FMR each is that of both
        sides. "different" and "same" stand for the two sides having different values, or one.
    odds_ratio, low, high : float
        By what the odds of an error are multiplied, and the interval; NaN where the data do not
        determine it.
    standard_error, degrees_of_freedom : float
        Those of the logarithm of the odds ratio.
    pvalue : float
        Two-sided p-value of an odds ratio of 1.
    difference, difference_low, difference_high : float
        The average marginal effect: how much larger the rate of all comparisons would be if each of
        them had the value than if each had the baseline, and its interval. The other attributes are
        as in the data.
    n_comparisons, n_errors : int
        Numbers of comparisons that have the value on either side, and of errors among them.
    notes : tuple of Note
        Warnings for the reader; `note` is their text.
    covariate : {"mean", "difference", "reference", "probe"} or None
        What is made of the numbers of both sides, where the attribute is a number. The odds ratio
        is that of one unit more in all comparisons, or of a spline, that of the last knot against
        the first.
    """

    attribute: str
    value: str
    baseline: str
    odds_ratio: float
    low: float
    high: float
    standard_error: float
    degrees_of_freedom: float
    pvalue: float
    difference: float
    difference_low: float
    difference_high: float
    n_comparisons: int
    n_errors: int
    notes: tuple[Note, ...] = ()
    covariate: str | None = None


@dataclass(frozen=True)
class AttributeTest:
    """A test of all effects of an attribute at once, or of one of its numbers.

    Attributes
    ----------
    attribute : str
        The attribute.
    statistic : float
        Hotelling's statistic as an F.
    n_effects : int
        The number of effects that the data determine.
    degrees_of_freedom : float
        Of the effects' variances, the median.
    pvalue : float
        The p-value of the attribute having no effect; NaN where too few subjects are behind so many
        effects.
    covariate : str or None
        The one that is tested, as in `Effect`; None for the attribute as a whole.
    """

    attribute: str
    statistic: float
    n_effects: int
    degrees_of_freedom: float
    pvalue: float
    covariate: str | None = None


@dataclass(frozen=True)
class CovariateCurve:
    """The odds of an error along a number, as a natural spline.

    Attributes
    ----------
    attribute, covariate : str
        The attribute, and what is made of the numbers of both sides.
    knots : tuple of float
        The knots, between which it is cubic; beyond the first and the last it is straight.
    baseline : float
        The number that all others are compared with: the median over comparisons.
    values : tuple of float
        Numbers from the first knot to the last.
    odds_ratio, low, high : tuple of float
        By what the odds of an error are multiplied there, and a simultaneous band: it holds the
        whole curve, and leaves out 1 only where the test of the number finds an effect.
    """

    attribute: str
    covariate: str
    knots: tuple[float, ...]
    baseline: float
    values: tuple[float, ...]
    odds_ratio: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def name(self) -> str:
        """What messages and files call it."""
        return f"{self.attribute} {self.covariate}"


@dataclass(frozen=True, eq=False, repr=False)
class ErrorModel(Result):
    """The result of `error_model`.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        Whether it is of false matches or of false non-matches.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, which is taken as given.
    baseline : dict of str to str
        The value of each attribute with which the others are compared.
    effects : tuple of Effect
        The effects of the attributes' values.
    tests : tuple of AttributeTest
        A test of each attribute.
    contradictions : tuple of StratifiedDifference
        Values of one attribute whose order is another within the values of a second than overall.
    confidence_level : float
        Of the intervals.
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    n_subjects : int or None
        Number of subjects; None where every comparison was taken for independent.
    settings : dict
        The arguments of the call.
    curves : tuple of CovariateCurve
        The effects that are splines.
    """

    rate: str
    at: OperatingPoint
    threshold: float
    baseline: dict[str, str]
    effects: tuple[Effect, ...]
    tests: tuple[AttributeTest, ...]
    contradictions: tuple[StratifiedDifference, ...]
    confidence_level: float
    n_comparisons: int
    n_errors: int
    n_subjects: int | None
    settings: dict[str, Any]
    curves: tuple[CovariateCurve, ...] = ()

    _title = "Which attributes go with errors?"
    _rows = "effects"
    _printed = "attribute value baseline n_comparisons n_errors odds_ratio difference pvalue"
    _estimate = "odds_ratio"

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        who = (
            "all comparisons taken for independent"
            if self.n_subjects is None
            else f"{self.n_subjects:,} subjects"
        )
        rate = METRICS[self.rate]
        text = [
            f"A logit model of {rate.errors} by {' and '.join(self._modelled)} at {self.at}, whose"
            f" threshold is taken as given: {self.n_errors:,} errors in {self.n_comparisons:,}"
            f" {rate.sides[0]} comparisons, {who}."
        ]
        text += map(self._sentence, self.effects)
        for test in self.tests:
            if test.n_effects > 1 and not math.isnan(test.pvalue):
                curved = f", the {test.covariate} as a curve" if test.covariate else " as a whole"
                text.append(
                    f"{test.attribute}{curved}, {test.n_effects} effects: {p_in_words(test.pvalue)}."
                )
        text += contradictions_in(self.contradictions, self.rate)
        return text

    @property
    def _modelled(self) -> list[str]:
        """The attributes in words."""
        numbers: dict[str, list[str]] = {}
        for effect in self.effects:
            if effect.covariate is not None:
                numbers.setdefault(effect.attribute, []).append(effect.covariate)
        return [
            *self.baseline,
            *(f"{name} ({' and '.join(words)})" for name, words in numbers.items()),
        ]

    def _sentence(self, effect: Effect) -> str:
        is_of_both = self.rate == "fmr" and effect.value != fitting.DIFFERENT
        both = "both " if is_of_both and effect.covariate is None else ""
        against = f" against {both}{effect.baseline}" if effect.baseline else ""
        name = f"{effect.attribute}, {both}{effect.value}{against}"
        if math.isnan(effect.odds_ratio):
            if math.isnan(effect.pvalue):
                return f"{name}: not known, {effect.note}."
            limit = (
                f"at most {effect.high:.3g}" if effect.low == 0 else f"at least {effect.low:.3g}"
            )
            odds = f"{limit} times the odds of a {METRICS[self.rate].error}"
            return f"{name}: {odds}, {p_in_words(effect.pvalue)} ({effect.note})."
        change = ""
        if not math.isnan(effect.difference):
            change = (
                f"; {100 * effect.difference:+.3g} percentage points "
                f"[{100 * effect.difference_low:.3g}, {100 * effect.difference_high:.3g}]"
            )
        note = f" ({effect.note})" if effect.note else ""
        value, ends = f"{effect.odds_ratio:.3g}", f"[{effect.low:.3g}, {effect.high:.3g}]"
        if effect.covariate is not None:  # that of one unit may be near 1
            value, ends = value_and_interval(effect.odds_ratio, effect.low, effect.high)
        return (
            f"{name}: {value} times the odds of a {METRICS[self.rate].error} "
            f"{ends}{change}, {p_in_words(effect.pvalue)}{note}."
        )

    @checked
    def plot(self, ax: Axes | None = None, *, curve: str | None = None) -> Axes:
        """Draw the odds ratios with their intervals, one below the other, or one curve with its
        band.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        curve : str, optional
            The number whose curve is drawn, such as "age difference", of those in `curves`.

        Returns
        -------
        matplotlib Axes
        """
        error = METRICS[self.rate].error
        if curve is not None:
            by_name = {of_number.name: of_number for of_number in self.curves}
            return _draw_curve(ax, by_name[validation.choice("curve", curve, by_name)], error)
        names = list(dict.fromkeys(effect.attribute for effect in self.effects))
        bars = [
            Bar(y, e.odds_ratio, e.low, e.high, **mark_style(names.index(e.attribute)))
            for y, e in enumerate(self.effects)
            if not math.isnan(e.odds_ratio)
        ]
        labels = [
            f"{e.attribute}: {e.value}{e.baseline and f' against {e.baseline}'}"
            for e in self.effects
        ]
        xlabel = f"Odds ratio of a {error},\nother attributes held fixed"
        return draw_rows(
            ax, labels, bars, [Line(1)], xlabel=xlabel, logarithmic=True, per_cent=False
        )

    def _figures(self) -> Mapping[str, Axes]:
        curves = {
            of_number.name.replace(" ", "_"): self.plot(curve=of_number.name)
            for of_number in self.curves
        }
        return {"": self.plot()} | curves


def _draw_curve(ax: Axes | None, curve: CovariateCurve, error: str) -> Axes:
    ax = axes_or_new(ax)
    ax.plot(curve.values, curve.odds_ratio, color=USUAL)
    draw_ranges(ax, curve.values, (curve.low, curve.high), USUAL)
    ax.axhline(1.0, color="k", linestyle="--", linewidth=1.2, zorder=0)
    ax.plot(
        curve.knots,
        np.zeros(len(curve.knots)),
        "|",
        color=GREY,
        clip_on=False,
        transform=ax.get_xaxis_transform(),
        markersize=9,
        label="Knots",
    )
    ax.set_yscale("log")
    of_sides = {"mean": "mean of both sides", "difference": "difference of the two sides"}
    what = of_sides.get(curve.covariate, f"of the {curve.covariate}")
    ax.set_xlabel(f"{drawn(curve.attribute)}, {what}")
    ax.set_ylabel(f"Odds ratio of a {error},\nagainst {curve.covariate} {curve.baseline:g}")
    plain_ticks(ax.yaxis)
    ax.grid(alpha=0.3)
    return ax


FEW_ERRORS = 5  # with fewer, an odds ratio depends on single subjects


@checked
def error_model(
    comparisons: Comparisons,
    attributes: str | list[str],
    at: OperatingPoint,
    *,
    rate: ErrorRate = "fmr",
    baseline: Mapping[str, str] | None = None,
    linear: str | Sequence[str] | Mapping[str, str] = (),
    spline: str | Sequence[str] | Mapping[str, str] = (),
    unit: Unit = "subject",
    confidence_level: Probability = 0.95,
) -> ErrorModel:
    """Model errors by several attributes at once, so that each effect is told with the others held
    fixed.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons, with these attributes.
    attributes : str or list of str
        Names in `comparisons.attributes`, whose values are compared; may be empty where there are
        numbers.
    at : OperatingPoint
        The operating point, whose threshold is found from all comparisons.
    rate : {"fmr", "fnmr"}
        Whether false matches or false non-matches are modelled.
    baseline : mapping of str to str, optional
        For an attribute, the value with which the others are compared; by default that of most
        comparisons.
    linear : str, sequence of str, or mapping of str to str
        Attributes that are numbers, and what is made of both sides, as in "age=difference" or
        "quality=mean,difference": "mean", "difference", "reference" and "probe"; by default mean
        and difference. Log odds change by as much for each unit.

        {"age": "difference"} is the same.
    spline : str, sequence of str, or mapping of str to str
        The same for effects that may be curved: natural splines with four knots.
    unit : {"subject", "comparison"}
        What is independent. Where subjects are not known, "comparison" gives intervals that are
        likely too narrow.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    ErrorModel

    Raises
    ------
    InputError
        For an unknown attribute, one with a single value, attributes that cannot be told apart,
        numbers that are none; and without subjects.

    Warns
    -----
    DroppedWarning
        Where comparisons lack a number, and are left out.
    NotComputableWarning
        Where a value has no errors, or nothing but errors, so that its odds ratio is not finite: it
        is NaN, with a limit and a p-value by a score test.
    ContradictingStrataWarning
        Where the order of two values of an attribute is another within the values of a second than
        overall.

    Notes
    -----
    The model is a logit. For FNMR, log odds are a sum of an effect of each value that the subject
    has. For FMR they are a sum of effects of the values on both sides, and of one of the two sides
    having different values. The odds ratio of a value compares two subjects who both have it with
    two who both have the baseline. That of "different" compares two of different values with the
    geometric mean of the odds of two of the one and of two of the other; it is left out where no
    comparisons, or all, are of different values.

    The effect of a number is that of one unit more: of the mean of both sides, or of their
    difference without its sign. Splines have their knots at the quantiles 0.05, 0.35, 0.65 and 0.95
    of comparisons, or of the numbers that occur where these are not apart. Their effect is that of
    the last knot against the first, and `curves` has the others against the median, with a
    simultaneous band. Subjects share their numbers, which the variances allow for.

    Variances allow for comparisons that share subjects: for FMR they are dyadic-robust, for FNMR
    those of clusters. Scores are corrected for being fitted, and t distributions have degrees of
    freedom that follow from how equally subjects contribute. The threshold is taken as given, even
    where it is found from the same comparisons.

    A value without errors, or with nothing else, has a score test and, by its inversion, a limit to
    one side: errors are compared with those expected without its effect. Their variance is that of
    the model times the overdispersion of the other effects, or the robust one where that is larger.

    References
    ----------
    Aronow, Samii and Assenova, "Cluster-robust variance estimation for dyadic data", Political
    Analysis 23 (2015). Bell and McCaffrey, "Bias reduction in standard errors for linear regression
    with multi-stage samples", Survey Methodology 28 (2002).

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2", groups=("Gender", "Nationality"))
    >>> model = ff.error_model(c, "Gender", ff.at_threshold(-1.1), rate="fnmr")
    >>> [(e.value, e.baseline, round(e.odds_ratio, 2), round(e.pvalue, 2)) for e in model.effects]
    [('f', 'm', 0.83, 0.2)]
    """
    names = (attributes,) if isinstance(attributes, str) else tuple(attributes)
    covariates = read_covariates(linear, spline, tuple(comparisons.attributes), names)
    if not names and not covariates:
        raise InputError(
            "a model needs at least one attribute: name one, or numbers as ⟦linear⟧ or ⟦spline⟧"
        )
    if names:
        names = check_attributes(names, comparisons.attributes)
    for name in baseline or {}:
        validation.choice("⟦baseline⟧", name, names)
    key = threshold_key(comparisons, at)
    with gathering() as between:
        cells = fitting.count_cells(comparisons, names, key, rate, unit)
        design, terms, bases = fitting.make_design(cells, names, baseline or {})
        contradictions = _contradictions(cells, names, confidence_level)
        lines: list[NumberLine] = []
        if covariates:
            listed = list_cells(comparisons, cells, covariates, key)
            cells = listed.cells
            design, lines = with_lines(listed, design, covariates)
            terms = [term.in_wider(design.shape[1], listed.category) for term in terms]
    for position, line in enumerate(lines, len(names)):
        terms.append(line.term(position, cells, design.shape[1]))
    parts = _parts(terms, lines, names)
    _require_distinct(design, parts)
    fitted = fitting.fit(cells, design)
    effects = tuple(_effect(fitted, term, confidence_level) for term in terms)
    lost = [effect for effect in effects if effect.notes and math.isnan(effect.odds_ratio)]
    if lost:
        limits_alone = "; ".join(
            f"{effect.attribute} {effect.value}: {effect.note}" for effect in lost
        )
        warn(f"odds ratios of which only a limit is known: {limits_alone}", NotComputableWarning)
    warn_of_contradictions(contradictions, rate)
    settings = {
        "attributes": list(names),
        "at": str(at),
        "rate": rate,
        "baseline": bases,
        "linear": _as_asked(lines, is_curved=False),
        "spline": _as_asked(lines, is_curved=True),
        "unit": unit,
        "confidence_level": confidence_level,
    }
    return ErrorModel(
        rate,
        at,
        comparisons.to_threshold(key),
        bases,
        effects,
        tuple(_tests(fitted, parts)),
        contradictions,
        confidence_level,
        int(cells.n.sum()),
        int(cells.errors.sum()),
        cells.n_subjects,
        settings,
        tuple(_curve(fitted, line, confidence_level) for line in lines if line.knots),
        left_out=(*comparisons.left_out, *between),
    )


@dataclass(frozen=True)
class _Part:
    """What is tested as one: an attribute, or one of its numbers.

    Attributes
    ----------
    attribute, covariate : str, str or None
        The attribute, and which of its numbers; None for all of it.
    columns : tuple of int
        The columns of the design.
    contrasts : (n, coefficients) ndarray
        The combinations of coefficients that are 0 without an effect.
    """

    attribute: str
    covariate: str | None
    columns: tuple[int, ...]
    contrasts: np.ndarray

    def __str__(self) -> str:
        of_number = "" if self.covariate is None else f"the {self.covariate} of "
        return f"{of_number}{self.attribute!r}"


def _parts(terms: Sequence[Term], lines: Sequence[NumberLine], names: Sequence[str]) -> list[_Part]:
    """Return each attribute, each number, and each attribute with several numbers."""
    parts = []
    for k, name in enumerate(names):
        contrasts = np.stack([term.contrast for term in terms if term.position == k])
        columns = tuple(np.flatnonzero(contrasts.any(axis=0)).tolist())
        parts.append(_Part(name, None, columns, contrasts))
    by_attribute: dict[str, list[int]] = {}
    for line in lines:
        covariate = line.covariate
        by_attribute.setdefault(covariate.attribute, []).extend(line.columns)
        unit = np.eye(terms[0].contrast.size)[list(line.columns)]
        parts.append(_Part(covariate.attribute, covariate.measure, tuple(line.columns), unit))
    for name, columns_of in by_attribute.items():
        if sum(part.attribute == name for part in parts) > 1:
            unit = np.eye(terms[0].contrast.size)[columns_of]
            parts.append(_Part(name, None, tuple(columns_of), unit))
    return parts


def _as_asked(lines: Sequence[NumberLine], *, is_curved: bool) -> dict[str, str]:
    """Return the numbers that are lines, or curves, as arguments would name them."""
    measures: dict[str, list[str]] = {}
    for line in lines:
        if bool(line.knots) == is_curved:
            measures.setdefault(line.covariate.attribute, []).append(line.covariate.measure)
    return {name: ",".join(words) for name, words in measures.items()}


def _curve(fitted: Fit, line: NumberLine, level: float) -> CovariateCurve:
    """Compare the odds along a spline with those at the median."""
    points = line.points()
    contrasts = line.contrasts(points, line.median, fitted.design.shape[1])
    with np.errstate(over="ignore"):
        curve, low, high = (
            tuple(np.exp(ends).tolist())
            for ends in fitting.joint_band(fitted, contrasts, line.columns, level)
        )
    named = line.covariate.attribute, line.covariate.measure
    return CovariateCurve(*named, line.knots, line.median, tuple(points.tolist()), curve, low, high)


def _require_distinct(design: np.ndarray, parts: Sequence[_Part]) -> None:
    """Refuse attributes of which one follows from the others in these comparisons."""
    root = np.asarray(np.linalg.qr(design, mode="r"))
    if np.linalg.matrix_rank(root) == root.shape[1]:
        return
    columns = [0]
    for k, part in enumerate(parts):
        columns = list(dict.fromkeys((*columns, *part.columns)))
        if np.linalg.matrix_rank(root[:, columns]) < len(columns):
            raise InputError(
                f"the effects of {part} cannot be told from"
                f" {', '.join(map(str, parts[:k])) or 'each other'}: in these comparisons one"
                " follows from the other. Leave one out, or merge values"
            )


def _effect(fitted: Fit, term: Term, level: float) -> Effect:
    cells = fitted.cells
    ratio = fitting.estimate(fitted, term.contrast)
    change = fitting.difference(
        fitted,
        term.with_baseline(fitted.design[fitted.kept]),
        term.contrast,
        cells.n[fitted.kept].astype(np.float64),
    )
    n = int(cells.n[term.concerned].sum())
    errors = int(cells.errors[term.concerned].sum())
    pvalue = ratio.pvalue
    ends = ratio.ratio_interval(level)
    has_both = 0 < cells.errors.sum() < cells.n.sum()
    if math.isnan(ratio.value) and has_both and np.count_nonzero(term.contrast) == 1:
        size = 1.0 if term.covariate is None else float(np.abs(term.contrast).max())
        pvalue, low, high = fitting.separated_ratio(
            cells, fitted.design, term.contrast, level, fitting.FARTHEST * size
        )
        ends = low, high
    return Effect(
        term.attribute,
        term.value,
        term.baseline,
        ratio.exponential,
        *ends,
        ratio.standard_error,
        ratio.degrees_of_freedom,
        pvalue,
        change.value,
        *change.interval(level),
        n,
        errors,
        _notes(math.isnan(ratio.value), n, errors, is_number=term.covariate is not None),
        term.covariate,
    )


def _notes(is_lost: bool, n: int, errors: int, *, is_number: bool) -> tuple[Note, ...]:
    if is_lost and is_number and 0 < errors < n:
        return (Note(Code.ERRORS_APART),)
    if is_lost and errors in (0, n):
        return (
            Note.of(
                Code.NOTHING_BUT_ERRORS_WITH_VALUE if errors else Code.NO_ERRORS_WITH_VALUE, n=n
            ),
        )
    if is_lost:
        return (Note(Code.NO_ERRORS_TO_COMPARE),)
    return (Note.of(Code.FEW_ERRORS_WITH_VALUE, n=errors),) if errors < FEW_ERRORS else ()


def _tests(fitted: Fit, parts: Sequence[_Part]) -> list[AttributeTest]:
    tests = []
    has_both = 0 < fitted.cells.errors.sum() < fitted.cells.n.sum()
    for part in parts:
        contrasts = part.contrasts
        tested: Fit = fitted
        if np.isnan(fitted.values(contrasts)).any() and has_both:
            tested = fitting.fit_without(fitted.cells, fitted.design, part.columns)
            contrasts = np.eye(len(part.columns))
        numbers = fitting.joint_test(tested, contrasts)
        tests.append(AttributeTest(part.attribute, *numbers, part.covariate))
    return tests


def _contradictions(
    cells: Cells, names: tuple[str, ...], level: float
) -> tuple[StratifiedDifference, ...]:
    """Look at each attribute within the values of each other."""
    contradicting = []
    for by, strata in itertools.permutations(names, 2):
        stratification = stratify(cells, names, by, [strata])
        if len(stratification.values) > 1:
            contradicting += [
                difference
                for difference in stratification.differences(level)
                if difference.contradicts
            ]
    return tuple(contradicting)

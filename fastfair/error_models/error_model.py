"""`error_model`: a logit of errors on several attributes at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.plots import COLORS, Bar, Line, draw_rows
from fastfair._lib.text import p_in_words
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.data.group_labels import chosen
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.error_rates.rates import ErrorRate
from fastfair.errors import InputError, NotComputableWarning
from fastfair.measures._registry import METRICS
from fastfair.results.result import Result

from . import fitting
from .fitting import Cells, Fit, Term, Unit
from .stratified_rates import StratifiedDifference, contradictions_in, stratify, warn_of_contradictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Effect:
    """What one value of an attribute does to the odds of an error, with the other attributes held fixed.

    Attributes
    ----------
    attribute, value, baseline : str
        The attribute, its value and the value it is compared with; of FMR each is that of both sides. "different" and
        "same" stand for the two sides having different values, or one.
    odds_ratio, low, high : float
        By what the odds of an error are multiplied, and the interval; NaN where the data do not determine it.
    standard_error, degrees_of_freedom : float
        Those of the logarithm of the odds ratio.
    pvalue : float
        Two-sided p-value of an odds ratio of 1.
    difference, difference_low, difference_high : float
        The average marginal effect: how much larger the rate of all comparisons would be if each of them had the value
        than if each had the baseline, and its interval. The other attributes are as in the data.
    n_comparisons, n_errors : int
        Numbers of comparisons that have the value on either side, and of errors among them.
    note : str
        Warnings for the reader.
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
    note: str = ""


@dataclass(frozen=True)
class AttributeTest:
    """A test of all effects of an attribute at once.

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
        The p-value of the attribute having no effect; NaN where too few subjects are behind so many effects.
    """

    attribute: str
    statistic: float
    n_effects: int
    degrees_of_freedom: float
    pvalue: float


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

    _title = "Which attributes go with errors?"
    _rows = "effects"
    _printed = "attribute value baseline n_comparisons n_errors odds_ratio difference pvalue"
    _estimate = "odds_ratio"

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        who = "all comparisons taken for independent" if self.n_subjects is None else f"{self.n_subjects:,} subjects"
        rate = METRICS[self.rate]
        text = [
            f"A logit model of {rate.errors} by {' and '.join(self.baseline)} at {self.at}, whose threshold "
            f"is taken as given: {self.n_errors:,} errors in {self.n_comparisons:,} {rate.sides[0]} comparisons, "
            f"{who}."
        ]
        text += map(self._sentence, self.effects)
        for test in self.tests:
            if test.n_effects > 1 and not math.isnan(test.pvalue):
                text.append(f"{test.attribute} as a whole, {test.n_effects} effects: {p_in_words(test.pvalue)}.")
        text += contradictions_in(self.contradictions, self.rate)
        return text

    def _sentence(self, effect: Effect) -> str:
        both = "both " if self.rate == "fmr" and effect.value != fitting.DIFFERENT else ""
        name = f"{effect.attribute}, {both}{effect.value} against {both}{effect.baseline}"
        if math.isnan(effect.odds_ratio):
            if math.isnan(effect.pvalue):
                return f"{name}: not known, {effect.note}."
            limit = f"at most {effect.high:.3g}" if effect.low == 0 else f"at least {effect.low:.3g}"
            odds = f"{limit} times the odds of a {METRICS[self.rate].error}"
            return f"{name}: {odds}, {p_in_words(effect.pvalue)} ({effect.note})."
        change = ""
        if not math.isnan(effect.difference):
            change = (
                f"; {100 * effect.difference:+.3g} percentage points "
                f"[{100 * effect.difference_low:.3g}, {100 * effect.difference_high:.3g}]"
            )
        note = f" ({effect.note})" if effect.note else ""
        return (
            f"{name}: {effect.odds_ratio:.3g} times the odds of a {METRICS[self.rate].error} "
            f"[{effect.low:.3g}, {effect.high:.3g}]{change}, {p_in_words(effect.pvalue)}{note}."
        )

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the odds ratios with their intervals, one below the other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        names = list(dict.fromkeys(effect.attribute for effect in self.effects))
        bars = [
            Bar(y, e.odds_ratio, e.low, e.high, color=COLORS[names.index(e.attribute) % len(COLORS)])
            for y, e in enumerate(self.effects)
            if not math.isnan(e.odds_ratio)
        ]
        labels = [f"{e.attribute}: {e.value} against {e.baseline}" for e in self.effects]
        xlabel = f"Odds ratio of a {METRICS[self.rate].error},\nother attributes held fixed"
        return draw_rows(ax, labels, bars, [Line(1)], xlabel=xlabel, logarithmic=True, per_cent=False)


FEW_ERRORS = 5


@checked
def error_model(
    comparisons: Comparisons,
    attributes: str | list[str],
    at: OperatingPoint,
    *,
    rate: ErrorRate = "fmr",
    baseline: Mapping[str, str] | None = None,
    unit: Unit = "subject",
    confidence_level: float = 0.95,
) -> ErrorModel:
    """Model errors by several attributes at once, so that each effect is told with the others held fixed.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons, with these attributes.
    attributes : str or list of str
        Names in `comparisons.attributes`.
    at : OperatingPoint
        The operating point, whose threshold is found from all comparisons.
    rate : {"fmr", "fnmr"}
        Whether false matches or false non-matches are modelled.
    baseline : mapping of str to str, optional
        For an attribute, the value with which the others are compared; by default that of most comparisons.
    unit : {"subject", "comparison"}
        What is independent. Where subjects are not known, "comparison" gives intervals that are likely too narrow.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    ErrorModel

    Raises
    ------
    InputError
        For an unknown attribute, one with a single value, attributes that cannot be told apart; and without subjects.

    Warns
    -----
    NotComputableWarning
        Where a value has no errors, or nothing but errors, so that its odds ratio is not finite: it is NaN, with a
        limit and a p-value by a score test.
    ContradictingStrataWarning
        Where the order of two values of an attribute is another within the values of a second than overall.

    Notes
    -----
    The model is a logit. For FNMR, log odds are a sum of an effect of each value that the subject has. For FMR they are
    a sum of effects of the values on both sides, and of one of the two sides having different values. The odds ratio of
    a value compares two subjects who both have it with two who both have the baseline. That of "different" compares two
    of different values with the geometric mean of the odds of two of the one and of two of the other; it is left out
    where no comparisons, or all, are of different values.

    Variances allow for comparisons that share subjects: for FMR they are dyadic-robust, for FNMR those of clusters.
    Scores are corrected for being fitted, and t distributions have degrees of freedom that follow from how equally
    subjects contribute. The threshold is taken as given, even where it is found from the same comparisons.

    A value without errors, or with nothing else, has a score test and, by its inversion, a limit to one side: errors
    are compared with those expected without its effect. Their variance is that of the model times the overdispersion of
    the other effects, or the robust one where that is larger.

    References
    ----------
    Aronow, Samii and Assenova, "Cluster-robust variance estimation for dyadic data", Political Analysis 23 (2015).
    Bell and McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage samples", Survey
    Methodology 28 (2002).

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2", groups=("Gender", "Nationality"))
    >>> found = ff.error_model(c, "Gender", ff.at_threshold(-1.1), rate="fnmr")
    >>> [(e.value, e.baseline, round(e.odds_ratio, 2), round(e.pvalue, 2)) for e in found.effects]
    [('f', 'm', 0.83, 0.2)]
    """
    level = intervals.level(confidence_level)
    names = chosen((attributes,) if isinstance(attributes, str) else tuple(attributes), comparisons.attributes)
    for name in baseline or {}:
        validation.choice("baseline", name, names)
    key = threshold_key(comparisons, at)
    cells = fitting.count_cells(comparisons, names, key, rate, unit)
    design, terms, bases = fitting.make_design(cells, names, baseline or {})
    _require_distinct(design, terms, names)
    fitted = fitting.fit(cells, design)
    effects = tuple(_effect(fitted, term, level) for term in terms)
    lost = [effect for effect in effects if effect.note and math.isnan(effect.odds_ratio)]
    if lost:
        told = "; ".join(f"{effect.attribute} {effect.value}: {effect.note}" for effect in lost)
        warn(f"odds ratios of which only a limit is known: {told}", NotComputableWarning)
    contradictions = _contradictions(cells, names, level)
    warn_of_contradictions(contradictions, rate)
    settings = {
        "attributes": list(names), "at": str(at), "rate": rate, "baseline": bases, "unit": unit,
        "confidence_level": level,
    }  # fmt: skip
    return ErrorModel(
        rate, at, comparisons.to_threshold(key), bases, effects, tuple(_tests(fitted, terms, names)),
        contradictions, level, int(cells.n.sum()), int(cells.errors.sum()), cells.n_subjects, settings,
    )  # fmt: skip


def _require_distinct(design: np.ndarray, terms: list[Term], names: tuple[str, ...]) -> None:
    """Refuse attributes of which one follows from the others in these comparisons."""
    if np.linalg.matrix_rank(design) == design.shape[1]:
        return
    for k, name in enumerate(names):
        columns = [0, *(j for j, term in enumerate(terms, 1) if term.position <= k)]
        if np.linalg.matrix_rank(design[:, columns]) < len(columns):
            raise InputError(
                f"the effects of {name!r} cannot be told from {', '.join(map(repr, names[:k])) or 'each other'}: "
                "in these comparisons one follows from the other. Leave one out, or merge values"
            )


def _effect(fitted: Fit, term: Term, level: float) -> Effect:
    cells = fitted.cells
    ratio = fitting.estimate(fitted, term.contrast)
    change = fitting.difference(
        fitted, term.with_baseline[fitted.kept], term.contrast, cells.n[fitted.kept].astype(np.float64)
    )
    n, errors = int(cells.n[term.concerned].sum()), int(cells.errors[term.concerned].sum())
    pvalue, ends = ratio.pvalue, ratio.ratio_interval(level)
    if math.isnan(ratio.value) and fitted.kept.any():
        pvalue, low, high = fitting.separated_ratio(cells, fitted.design, term.contrast, level)
        ends = low, high
    return Effect(
        term.attribute, term.value, term.baseline, ratio.exponential, *ends,
        ratio.standard_error, ratio.degrees_of_freedom, pvalue, change.value, *change.interval(level), n, errors,
        _note(math.isnan(ratio.value), n, errors),
    )  # fmt: skip


def _note(is_lost: bool, n: int, errors: int) -> str:
    if is_lost and errors in (0, n):
        return f"{'no' if errors == 0 else 'nothing but'} errors in {n} comparisons"
    if is_lost:
        return "no errors, or nothing but errors, in comparisons that it is compared with"
    return f"only {errors} errors" if errors < FEW_ERRORS else ""


def _tests(fitted: Fit, terms: list[Term], names: tuple[str, ...]) -> list[AttributeTest]:
    found = []
    for k, name in enumerate(names):
        contrasts = np.stack([term.contrast for term in terms if term.position == k])
        tested: Fit = fitted
        if np.isnan(fitted.values(contrasts)).any() and fitted.kept.any():
            columns = np.flatnonzero(contrasts.any(axis=0)).tolist()
            tested, contrasts = fitting.fit_without(fitted.cells, fitted.design, columns), np.eye(len(columns))
        found.append(AttributeTest(name, *fitting.joint_test(tested, contrasts)))
    return found


def _contradictions(cells: Cells, names: tuple[str, ...], level: float) -> tuple[StratifiedDifference, ...]:
    """Look at each attribute within the values of each other."""
    found = []
    for by, strata in itertools.permutations(names, 2):
        stratification = stratify(cells, names, by, [strata])
        if len(stratification.values) > 1:
            found += [one for one in stratification.differences(level) if one.contradicts]
    return tuple(found)

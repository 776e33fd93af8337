"""`error_model`: a logit of errors on several attributes at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np

from fastfair import intervals
from fastfair._lib import argument_kinds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.data.group_labels import chosen
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.errors import ContradictingStrataWarning, InputError, NotComputableWarning

from .cells import UNITS, Cells, count_cells
from .contrasts import difference, estimate, joint_test, separated_ratio
from .designs import Term, make_design
from .fitting import Fit, fit, fit_without
from .results import AttributeTest, Effect, ErrorModel
from .stratifying import StratifiedDifference, in_words, stratify

FEW_ERRORS = 5


@checked(at=argument_kinds.point, attributes=argument_kinds.texts)
def error_model(
    comparisons: Comparisons,
    attributes: str | list[str],
    at: OperatingPoint,
    *,
    rate: str = "fmr",
    baseline: Mapping[str, str] | None = None,
    unit: str = "subject",
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
        In (0, 1).

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
    validation.choice("rate", rate, ERROR_RATES)
    validation.choice("unit", unit, UNITS)
    level = intervals.level(confidence_level)
    names = chosen((attributes,) if isinstance(attributes, str) else tuple(attributes), comparisons.attributes)
    for name in baseline or {}:
        validation.choice("baseline", name, names)
    key = threshold_key(comparisons, at)
    cells = count_cells(comparisons, names, key, rate, unit)
    design, terms, bases = make_design(cells, names, baseline or {})
    _require_distinct(design, terms, names)
    fitted = fit(cells, design)
    effects = tuple(_effect(fitted, term, level) for term in terms)
    lost = [effect for effect in effects if effect.note and math.isnan(effect.odds_ratio)]
    if lost:
        told = "; ".join(f"{effect.attribute} {effect.value}: {effect.note}" for effect in lost)
        warn(f"odds ratios that are not known but for a limit: {told}", NotComputableWarning)
    contradictions = _contradictions(cells, names, level)
    for one in contradictions:
        warn(f"{one.by!r} and {one.strata!r} contradict each other: {in_words(one, rate)}", ContradictingStrataWarning)
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
    ratio = estimate(fitted, term.contrast)
    change = difference(
        fitted, term.with_value[fitted.kept], term.with_baseline[fitted.kept], cells.n[fitted.kept].astype(np.float64)
    )
    n, errors = int(cells.n[term.concerned].sum()), int(cells.errors[term.concerned].sum())
    pvalue, ends = ratio.pvalue, ratio.ratio_interval(level)
    if math.isnan(ratio.value) and fitted.kept.any():
        pvalue, low, high = separated_ratio(cells, fitted.design, term.contrast, level)
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
        return "no errors, or nothing but errors, in comparisons that it would be told from"
    return f"only {errors} errors" if errors < FEW_ERRORS else ""


def _tests(fitted: Fit, terms: list[Term], names: tuple[str, ...]) -> list[AttributeTest]:
    found = []
    for k, name in enumerate(names):
        contrasts = np.stack([term.contrast for term in terms if term.position == k])
        tested: Fit = fitted
        if np.isnan(fitted.values(contrasts)).any() and fitted.kept.any():
            columns = np.flatnonzero(contrasts.any(axis=0)).tolist()
            tested, contrasts = fit_without(fitted.cells, fitted.design, columns), np.eye(len(columns))
        found.append(AttributeTest(name, *joint_test(tested, contrasts)))
    return found


def _contradictions(cells: Cells, names: tuple[str, ...], level: float) -> tuple[StratifiedDifference, ...]:
    """Look at each attribute within the values of each other."""
    found = []
    for by, strata in itertools.permutations(names, 2):
        stratification = stratify(cells, names, by, [strata])
        if len(stratification.values) > 1:
            found += [one for one in stratification.differences(level) if one.contradicts]
    return tuple(found)

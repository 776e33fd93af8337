"""`Contrast`: the difference between two systems in one quantity, and whether the data show which is better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates import curves
from fastfair.error_rates.curve_results import Rates
from fastfair.error_rates.operating_points import FEWEST_ERRORS, OperatingPoint
from fastfair.measures._compute import measure_of
from fastfair.uncertainty.quantities import HELD, Quantity, TakenAt

from .result import Evaluation

Floats = NDArray[np.float64]
Errors = Sequence[int | None]
WITHHELD = "withheld"
OF_MEASURES = "no p-value and no verdict for measures over groups: the less certain of two fair systems looks less fair"
OF_FEW_ERRORS = f"no p-value and no verdict where one of the systems has fewer than {FEWEST_ERRORS} errors"
OF_THRESHOLDS = (
    f"no p-value and no verdict where the threshold of one of the systems is held by fewer than {FEWEST_ERRORS} errors"
)
REASONS = (OF_MEASURES, OF_FEW_ERRORS, OF_THRESHOLDS)
NO_SPREAD = "no interval, as replicates of a system, or of the difference, are all the same"


@dataclass(frozen=True)
class Contrast(TakenAt):
    """The difference between two systems in one quantity.

    Attributes
    ----------
    name, group, at, probe_group
        As in `Quantity`.
    first, second : float
        The two estimates.
    difference, low, high : float
        First estimate minus second, with its interval; NaN where not computable.
    pvalue : float
        Two-sided p-value of the hypothesis of no difference; NaN where withheld.
    pvalue_adjusted : float
        For a quantity of groups, the same after Holm's adjustment for the number of groups.
    ratio, ratio_low, ratio_high : float
        First estimate divided by second, with its interval.
    not_computable : float
        Share of replicates in which the difference was not computable.
    verdict : str
        For rates, EER and costs: "first" or "second", the system with the lower value, where the interval of the
        difference excludes zero; else "undecided". "withheld" where a verdict would mislead, and `note` says why.
        Empty where the difference is not computable.
    note : str
        Warnings for the reader.
    """

    name: str
    group: str | None
    at: OperatingPoint | None
    first: float
    second: float
    difference: float
    low: float
    high: float
    pvalue: float
    pvalue_adjusted: float
    ratio: float
    ratio_low: float
    ratio_high: float
    not_computable: float
    verdict: str
    note: str = ""
    probe_group: str | None = None


def errors_behind(comparisons: Comparisons, evaluation: Evaluation) -> tuple[int | None, ...]:
    """Count the errors behind each quantity of an evaluation, which decide whether a verdict can rest on it.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons that were evaluated.
    evaluation : Evaluation
        Their evaluation.

    Returns
    -------
    tuple of int or None
        For a rate, the number of errors or that of correct decisions, whichever is smaller. For the EER, and for Cllr
        and min Cllr, the EER times the number of mated or non-mated comparisons, whichever is smaller. For minDCF, the
        number of false matches or of false non-matches at its threshold, whichever is smaller. None for thresholds and
        fairness measures.
    """
    sides: dict[str | None, tuple[Any, Any]] = {None: (comparisons.mated.keys, comparisons.nonmated.keys)}
    if comparisons.groups:
        within = (side.within for side in (comparisons.mated_by_group, comparisons.nonmated_by_group))
        sides |= dict(zip(comparisons.groups, zip(*within, strict=True), strict=True))
    asked = evaluation.settings
    costs = curves.DetectionCosts(asked["p_target"], asked["c_miss"], asked["c_fa"])

    def count(quantity: Quantity) -> int | None:
        if quantity.n_errors is not None and quantity.n_comparisons is not None:
            return min(quantity.n_errors, quantity.n_comparisons - quantity.n_errors)
        if quantity.name == "threshold" or measure_of(quantity.name) is not None:
            return None
        mated, nonmated = sides[quantity.group]
        if not (mated.size and nonmated.size):
            return 0
        if quantity.name == "min_dcf":
            key = costs.least(mated, nonmated)[1]
            return min(int(np.searchsorted(mated, key)), nonmated.size - int(np.searchsorted(nonmated, key)))
        rate, _ = curves.equal_error(mated, nonmated, asked["eer_method"])
        return round(rate * min(mated.size, nonmated.size))

    return tuple(map(count, evaluation.quantities))


def contrasts_of(
    first: Evaluation, second: Evaluation, errors: Sequence[Errors], level: float, method: str
) -> tuple[Contrast, ...]:
    """Compute the differences between two evaluations with the same replicates.

    Parameters
    ----------
    first, second : Evaluation
        The evaluations, with replicates.
    errors : sequence of two sequences of int or None
        The numbers of errors that `errors_behind` counts in each.
    level : float
        Confidence level of the intervals.
    method : str
        Method of the intervals.

    Returns
    -------
    tuple of Contrast
        For every quantity but thresholds and the rates that operating points hold.
    """
    rows = [
        k
        for k, (one, other) in enumerate(zip(first.quantities, second.quantities, strict=True))
        if one.name != "threshold" and HELD not in one.note and one.key == other.key
    ]
    pair = [first, second]
    estimates = np.array([[evaluation.quantities[k].estimate for k in rows] for evaluation in pair])
    sets = np.array([_need(evaluation).replicates[rows] for evaluation in pair])
    left_out = [_need(evaluation).left_out()[rows] for evaluation in pair] if method == "bca" else None
    limits, replicates = [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        for combine in (np.subtract, np.divide):
            drawn = combine(*sets)
            drawn[~np.isfinite(sets).all(axis=0)] = np.nan  # nothing is known of infinity minus infinity
            jackknife = None if left_out is None else combine(*left_out)
            limits.append(intervals.confidence_interval(drawn, combine(*estimates), level, method, jackknife=jackknife))
            replicates.append(drawn)
        differences, ratios = estimates[0] - estimates[1], estimates[0] / estimates[1]
    pvalues = intervals.bootstrap_pvalue(replicates[0])
    not_computable = np.isnan(replicates[0]).mean(axis=1)
    # A system that no replicate finds otherwise, as one without errors, would part from any other beyond doubt.
    stands_still = np.logical_or.reduce([_all_the_same(drawn) for drawn in (*sets, replicates[0])])
    few = {result.at for evaluation in pair for result in evaluation.rates if _held_by_few(result)}
    contrasts = []
    for n, k in enumerate(rows):
        one, other = first.quantities[k], second.quantities[k]
        known = bool(np.isfinite(differences[n]))
        notes = [note for quantity in (one, other) for note in quantity.note.split("; ") if note]
        reason = _reason(one, [of_system[k] for of_system in errors], few) if known else ""
        notes += [reason] if reason else []
        has_interval = known and not stands_still[n]
        notes += [NO_SPREAD] if known and not has_interval else []
        low, high = _ends(limits[0], n, has_interval)
        ratio_low, ratio_high = _ends(limits[1], n, has_interval and bool(np.isfinite(ratios[n])))
        pvalue = float(pvalues[n]) if known and not reason else math.nan
        contrasts.append(
            Contrast(
                one.name,
                one.group,
                one.at,
                one.estimate,
                other.estimate,
                float(differences[n]) if known else math.nan,
                low,
                high,
                pvalue,
                pvalue,
                float(ratios[n]),
                ratio_low,
                ratio_high,
                float(not_computable[n]),
                _verdict(known, reason, low, high),
                "; ".join(dict.fromkeys(notes)),
                one.probe_group,
            )
        )
    return _adjusted(contrasts)


def _reason(quantity: Quantity, errors: Errors, few: set[OperatingPoint]) -> str:
    """Say why a quantity gets no verdict; "" if it may have one. `few`: operating points that rest on few errors."""
    if measure_of(quantity.name) is not None:
        return OF_MEASURES
    if any(number is None or number < FEWEST_ERRORS for number in errors):
        return OF_FEW_ERRORS
    return OF_THRESHOLDS if quantity.at in few else ""


def _held_by_few(result: Rates) -> bool:
    """Return whether too few errors fix the threshold of an operating point; a threshold that was given needs none."""
    held = {"fmr": (result.counts.false_matches,), "fnmr": (result.counts.false_nonmatches,), "threshold": ()}
    both = result.counts.false_matches, result.counts.false_nonmatches
    return any(number < FEWEST_ERRORS for number in held.get(result.at.kind, both))


def _all_the_same(drawn: Floats) -> NDArray[np.bool_]:
    """Return which rows have replicates that do not vary."""
    low, high = (np.where(np.isnan(drawn), fill, drawn) for fill in (np.inf, -np.inf))
    return np.asarray(low.min(axis=1) >= high.max(axis=1))


def _ends(interval: tuple[Floats, Floats], row: int, known: bool) -> tuple[float, float]:
    return (float(interval[0][row]), float(interval[1][row])) if known else (math.nan, math.nan)


def _verdict(known: bool, reason: str, low: float, high: float) -> str:
    if not known:
        return ""
    return WITHHELD if reason else "second" if low > 0 else "first" if high < 0 else "undecided"


def _adjusted(contrasts: list[Contrast]) -> tuple[Contrast, ...]:
    """Adjust the p-values of groups, separately for each quantity and operating point, without those withheld."""
    families: dict[Any, list[int]] = {}
    for n, contrast in enumerate(contrasts):
        if contrast.group is not None:
            families.setdefault((contrast.name, contrast.at), []).append(n)
    for family in families.values():
        adjusted = intervals.holm([contrasts[n].pvalue for n in family])
        for n, pvalue in zip(family, adjusted, strict=True):
            contrasts[n] = replace(contrasts[n], pvalue_adjusted=float(pvalue))
    return tuple(contrasts)


def _need(evaluation: Evaluation) -> Any:
    assert evaluation.uncertainty is not None
    return evaluation.uncertainty

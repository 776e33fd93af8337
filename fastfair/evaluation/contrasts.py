"""`Contrast`: the difference between two systems in one quantity, and whether the data show which is better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib.warnings import warn
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import FewResamplesWarning
from fastfair.intervals._replicates import Method
from fastfair.measures._registry import is_fairer_above
from fastfair.uncertainty.quantities import HELD, Estimated, Quantity

from .difference_tests import DifferenceTest
from .result import Evaluation, maker_of

Floats = NDArray[np.float64]
WITHHELD = "withheld"
NO_SPREAD = "no interval, as replicates of a system, or of the difference, are all the same"
NO_DIFFERENCE = "no interval, as the two systems do not differ, in the data or in what is drawn from them"


@dataclass(frozen=True)
class Contrast(Estimated):
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
        Two-sided p-value of the hypothesis of no difference, of the test that `compare` names; NaN where withheld.
    pvalue_adjusted : float
        For a quantity of groups, the same after Holm's adjustment for the number of groups.
    ratio, ratio_low, ratio_high : float
        First estimate divided by second, with its interval.
    not_computable : float
        Share of replicates in which the difference was not computable; NaN without replicates.
    verdict : str
        "first" or "second", the system with the lower rate, EER or cost, or with the fairer measure, where
        `pvalue_adjusted` is at most one minus the confidence level; else "undecided". "withheld" where there is no test
        that keeps its level, and `note` says why. Empty where the difference is not computable.
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


def contrasts_of(
    evaluations: Sequence[Evaluation],
    tests: Sequence[DifferenceTest],
    correlations: Floats,
    level: float,
    method: str,
    adjusted: Floats | None = None,
) -> tuple[Contrast, ...]:
    """Compute the differences between two evaluations with the same replicates.

    Parameters
    ----------
    evaluations : two Evaluation
        The evaluations, with the same replicates or without any.
    tests : sequence of DifferenceTest
        The test of each quantity.
    correlations : (quantities,) ndarray
        The correlations of rates in closed form; NaN where replicates have to tell.
    level : float
        Confidence level of the intervals; verdicts need p-values of at most one minus it.
    method : str
        Method of the intervals.
    adjusted : (quantities,) ndarray, optional
        Adjusted p-values, where there are more systems; by default these two are all.

    Returns
    -------
    tuple of Contrast
        For every quantity but thresholds and the rates that operating points hold.
    """
    first, second = evaluations
    rows = compared_rows(first.quantities, second.quantities)
    if adjusted is None:
        pvalues = pvalues_of(evaluations, [(0, 1)], [tests])
        adjusted = adjusted_pvalues(first.quantities, pvalues, [tests], 1 - level)[0]
    if first.settings["n_resamples"]:
        found = _of_replicates(evaluations, rows, correlations[rows], level, method)
    else:
        found = _in_closed_form(evaluations, rows, correlations[rows])
    contrasts = []
    for n, k in enumerate(rows):
        one, other, test = first.quantities[k], second.quantities[k], tests[k]
        difference, known = one.estimate - other.estimate, bool(np.isfinite(one.estimate - other.estimate))
        notes = [note for quantity in (one, other) for note in quantity.note.split("; ") if note]
        notes += [test.reason] if known and test.reason else []
        notes += [found.note[n]] if known and found.note[n] else []
        contrasts.append(
            Contrast(
                name=one.name,
                group=one.group,
                at=one.at,
                first=one.estimate,
                second=other.estimate,
                difference=difference if known else math.nan,
                low=float(found.low[n]),
                high=float(found.high[n]),
                pvalue=test.pvalue if known else math.nan,
                pvalue_adjusted=float(adjusted[k]),
                ratio=_ratio(one.estimate, other.estimate),
                ratio_low=float(found.ratio_low[n]),
                ratio_high=float(found.ratio_high[n]),
                not_computable=float(found.not_computable[n]),
                verdict=WITHHELD if known and test.reason else "",
                note="; ".join(dict.fromkeys(notes)),
                probe_group=one.probe_group,
            )
        )
    return tuple(_with_verdict(contrast, 1 - level) for contrast in contrasts)


def compared_rows(first: Sequence[Quantity], second: Sequence[Quantity]) -> list[int]:
    """Return which quantities of two evaluations are compared: not thresholds, and not rates that both hold."""
    return [
        k
        for k, (one, other) in enumerate(zip(first, second, strict=True))
        if _is_compared(one) and one.key == other.key
    ]


def _is_compared(quantity: Quantity) -> bool:
    return quantity.name != "threshold" and HELD not in quantity.note


def pvalues_of(
    evaluations: Sequence[Evaluation], pairs: Sequence[tuple[int, int]], tests: Sequence[Sequence[DifferenceTest]]
) -> Floats:
    """Return the p-values of the tests of pairs of systems, NaN for what is not compared or has no test.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Those of all systems.
    pairs : sequence of pairs of int
        The systems of each pair, by their positions.
    tests : sequence of sequence of DifferenceTest
        The tests of each pair.

    Returns
    -------
    (pairs, quantities) ndarray
    """
    keys = [one.key for one in evaluations[0].quantities]
    each = [evaluation.quantities for evaluation in evaluations]
    is_same = np.array([[one.key == key for one, key in zip(of_one, keys, strict=True)] for of_one in each])
    is_compared = np.array([[_is_compared(one) for one in of_one] for of_one in each])
    estimates = np.array([[one.estimate for one in of_one] for of_one in each])
    first, second = np.array(pairs, np.intp).T
    with np.errstate(invalid="ignore"):
        known = np.isfinite(estimates[first] - estimates[second])
    known &= is_compared[first] & is_same[first] & is_same[second]
    return np.where(known, np.array([[test.pvalue for test in of_pair] for of_pair in tests]), np.nan)


def adjusted_pvalues(
    quantities: Sequence[Quantity],
    pvalues: Floats,
    tests: Sequence[Sequence[DifferenceTest]],
    significance: float,
) -> Floats:
    """Adjust p-values by Holm's procedure, separately for each quantity of all, and of groups, at an operating point.

    Parameters
    ----------
    quantities : sequence of Quantity
        What is compared.
    pvalues : (pairs, quantities) ndarray
        For each pair of systems; NaN where withheld, which does not count as a test.
    tests : sequence of sequence of DifferenceTest
        The tests that gave them.
    significance : float
        The largest p-value that is a finding.

    Returns
    -------
    (pairs, quantities) ndarray

    Warns
    -----
    FewResamplesWarning
        Where replicates are too few for any adjusted p-value to be as small as `significance`.
    """
    families: dict[Any, list[int]] = {}
    for k, one in enumerate(quantities):
        families.setdefault((one.name, one.at, one.group is None), []).append(k)
    adjusted = np.full(pvalues.shape, np.nan)
    out_of_reach: list[str] = []
    for (name, _, is_of_all), family in families.items():
        of_family = pvalues[:, family]
        tested = int(np.count_nonzero(~np.isnan(of_family)))
        adjusted[:, family] = intervals.holm(of_family.ravel()).reshape(of_family.shape)
        if not tested or (len(pvalues) == 1 and is_of_all):
            continue
        if tested * max(of_pair[k].least for of_pair in tests for k in family) > significance:
            out_of_reach.append(name)
    if out_of_reach:
        many = "groups many" if len(pvalues) == 1 else "pairs of systems many"
        warn(
            f"no adjusted p-value of {', '.join(dict.fromkeys(out_of_reach))} can be as small as {significance:g}, "
            f"as replicates are few and {many}: raise n_resamples",
            FewResamplesWarning,
        )
    return adjusted


@dataclass(frozen=True, eq=False)
class _Intervals:
    """Intervals of differences and ratios, the notes on them, and the shares of replicates without a difference."""

    low: Floats
    high: Floats
    ratio_low: Floats
    ratio_high: Floats
    note: list[str]
    not_computable: Floats


def _in_closed_form(evaluations: Sequence[Evaluation], rows: list[int], correlations: Floats) -> _Intervals:
    """Compute the intervals of rates from those of the systems; other quantities have none."""
    here, there = (
        np.array([[q.estimate, _number(q.low), _number(q.high)] for q in _chosen(e, rows)]).T for e in evaluations
    )
    known = np.asarray(np.isfinite(here).all(axis=0) & np.isfinite(there).all(axis=0))
    correlation = np.where(known, correlations, 0.0)
    same = known & (here == there).all(axis=0) & (correlation > 1 - 1e-9)
    known &= ~same
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = intervals.difference_interval(here, there, correlation)
        ratio_low, ratio_high = intervals.ratio_interval(here, there, correlation)
    has_ratio = known & ((here[0] > 0) | (there[0] > 0))
    return _Intervals(
        low=np.where(known, low, np.nan),
        high=np.where(known, high, np.nan),
        ratio_low=np.where(has_ratio, ratio_low, np.nan),
        ratio_high=np.where(has_ratio, ratio_high, np.nan),
        note=[NO_DIFFERENCE if alike else "" for alike in same],
        not_computable=np.full(len(rows), np.nan),
    )


def _of_replicates(
    pair: Sequence[Evaluation], rows: list[int], correlations: Floats, level: float, method: str
) -> _Intervals:
    estimates = np.array([[evaluation.quantities[k].estimate for k in rows] for evaluation in pair])
    sets = np.array([maker_of(evaluation).replicates[rows] for evaluation in pair])
    unknown = ~np.isfinite(sets).all(axis=0)
    same = (sets[0] == sets[1]).all(axis=1) & (estimates[0] == estimates[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        finite = np.isfinite(estimates[0] - estimates[1]), np.isfinite(estimates[0] / estimates[1])
        if method == "auto":
            of_each = np.array(
                [[[_number(quantity.low), _number(quantity.high)] for quantity in _chosen(e, rows)] for e in pair]
            ).reshape(2, len(rows), 2)
            one, other = (np.vstack((values[None], ends.T)) for values, ends in zip(estimates, of_each, strict=True))
            of_replicates = intervals.correlations_of(np.where(unknown, np.nan, sets))
            correlation = np.where(np.isnan(correlations), of_replicates, correlations)
            limits = [
                intervals.difference_interval(one, other, correlation),
                intervals.ratio_interval(one, other, correlation),
            ]
            finite = finite[0], finite[0] & ((estimates[0] > 0) | (estimates[1] > 0))
            spread = np.ones(len(rows), bool)
        else:
            left_out = [maker_of(evaluation).left_out[rows] for evaluation in pair] if method == "bca" else None
            limits = []
            for combine in (np.subtract, np.divide):
                drawn = combine(*sets)
                drawn[unknown] = np.nan  # nothing is known of infinity minus infinity
                jackknife = None if left_out is None else combine(*left_out)
                limits.append(
                    intervals.confidence_interval(
                        drawn, combine(*estimates), level, cast("Method", method), jackknife=jackknife
                    )
                )
            # A system that no replicate finds otherwise, as one without errors, would part from any other.
            spread = ~np.logical_or.reduce([_all_the_same(drawn) for drawn in (*sets, sets[0] - sets[1])])
    given_at_all = [known & ~same & spread for known in finite]
    (low, high), (ratio_low, ratio_high) = (
        [np.where(known, end, np.nan) for end in ends] for known, ends in zip(given_at_all, limits, strict=True)
    )
    note = [NO_DIFFERENCE if alike else "" if varies else NO_SPREAD for alike, varies in zip(same, spread, strict=True)]
    return _Intervals(low, high, ratio_low, ratio_high, note, unknown.mean(axis=1))


def _chosen(evaluation: Evaluation, rows: list[int]) -> list[Quantity]:
    return [evaluation.quantities[k] for k in rows]


def _number(limit: float | None) -> float:
    return math.nan if limit is None else limit


def _ratio(first: float, second: float) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.float64(first) / np.float64(second))


def _all_the_same(drawn: Floats) -> NDArray[np.bool_]:
    """Return which rows have replicates that do not vary."""
    low, high = (np.where(np.isnan(drawn), fill, drawn) for fill in (np.inf, -np.inf))
    return np.asarray(low.min(axis=1) >= high.max(axis=1))


def _with_verdict(contrast: Contrast, significance: float) -> Contrast:
    if contrast.verdict or math.isnan(contrast.pvalue_adjusted):
        return contrast
    if contrast.pvalue_adjusted > significance:
        return replace(contrast, verdict="undecided")
    is_first_lower = contrast.difference < 0
    return replace(contrast, verdict="first" if is_first_lower != is_fairer_above(contrast.name) else "second")

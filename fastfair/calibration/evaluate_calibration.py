"""`evaluate_calibration`: what the decisions of log-likelihood ratios cost, and what of it is due to miscalibration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.workers import Workers
from fastfair.data.class_keys import keys_of
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.ratio_cost import require_ratios
from fastfair.errors import InputError
from fastfair.evaluation.evaluate import evaluate
from fastfair.resampling.units import UNITS

from .applications import Application, checked_applications
from .curves import bayes_error_of, tippett_of
from .replicated_costs import Drawing, Limits, ReplicatedCosts
from .results import (
    DIFFERENT,
    MISCALIBRATED,
    UNDECIDED,
    ApplicationCost,
    Calibration,
    CostDifference,
    CostMeasure,
    RatioCost,
)

Floats = NDArray[np.float64]
_USUAL = (Application(0.01), Application(0.5))


@checked(applications=argument_kinds.applications)
def evaluate_calibration(
    comparisons: Comparisons,
    applications: Application | Sequence[Application] = _USUAL,
    *,
    normalize: bool = True,
    unit: str = "subject",
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Calibration:
    """Compute what the decisions of log-likelihood ratios cost, overall and in each group, and what the best would.

    Parameters
    ----------
    comparisons : Comparisons
        Comparisons whose scores are declared to be log-likelihood ratios; `calibrate` makes such of other scores.
    applications : Application or sequence of Application
        Priors and costs; by default the priors 0.01 and 0.5 with equal costs.
    normalize : bool, default True
        Whether to divide costs by that of accepting, or of rejecting, everything, whichever is lower.
    unit, n_resamples, confidence_level, rng, n_threads, progress
        As in `evaluate`; at least 2 replicates.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        For scores that are not declared to be log-likelihood ratios, and as `evaluate` does.

    Warns
    -----
    DroppedWarning
        Names groups without mated, or without non-mated, comparisons of their own, which measures leave out.

    Notes
    -----
    The interval of the actual DCF is put together from those of FNMR and FMR at the Bayes threshold [1]_, which hold
    without errors, too. That of the miscalibration, actual minus minimum, has as its lower limit what the threshold
    saves that is 1, 2 or 4 to either side of the Bayes threshold, at least: those are fixed beforehand, while the
    minimum is looked for in the same comparisons and found too low. The p-value, that none of them saves anything, is
    Bonferroni's for the six. The upper limit is from the intervals of both costs [1]_.

    Differences between groups have intervals from those of both groups [1]_, and simultaneous ones that hold for all
    pairs together, by Bonferroni's inequality. Verdicts follow these.

    References
    ----------
    .. [1] Zou and Donner, "Construction of confidence limits about effect measures: A general approach", Statistics in
       Medicine 27 (2008).

    Examples
    --------
    >>> import fastfair as ff
    >>> scores = ff.binormal_comparisons(2000, 20_000, fmr=0.01, n_subjects=200, rng=0)
    >>> found = ff.evaluate_calibration(ff.calibrate(scores, rng=0).comparisons, ff.Application(0.01), rng=0)
    >>> cost = found.cost(ff.Application(0.01))
    >>> round(cost.actual, 3), round(cost.minimum, 3), cost.verdict
    (0.277, 0.27, 'undecided')
    """
    require_ratios(comparisons, "calibration")
    asked = checked_applications(applications)
    validation.choice("unit", unit, UNITS)
    level = intervals.level(confidence_level)
    if validation.count("n_resamples", n_resamples) < 2:
        raise InputError(f"calibration needs replicates: n_resamples must be at least 2, not {n_resamples}")
    fixed = seeds.fixed(rng)
    key, seed = seeds.stream(fixed)
    workers = Workers(n_threads, progress).checked(rng)
    ratio_costs = _ratio_costs(comparisons, Drawing(n_resamples, key, unit, workers), level, fixed)
    measured = _complete_groups(comparisons)
    drawing = Drawing(n_resamples, key, unit, workers)
    costs: list[ApplicationCost] = []
    differences: list[CostDifference] = []
    measures: list[CostMeasure] = []
    for application in asked:
        found = ReplicatedCosts(comparisons, application, normalize, measured, drawing)
        limits = found.limits(level)
        costs += _rows(found, limits, level)
        differences += _differences(found, limits, [1 + k for k in measured], level)
        measures += [CostMeasure._of(application, quantity) for quantity in limits.measures]
    groups = (None, *(comparisons.groups[k] for k in measured))
    keys = [keys_of(comparisons), *(keys_of(comparisons, k) for k in measured)]
    settings = {
        "applications": [str(one) for one in asked], "normalize": normalize, "grouping": list(comparisons.grouping),
        "unit": unit, "n_resamples": n_resamples, "confidence_level": level, "rng": seed,
    }  # fmt: skip
    return Calibration(
        tuple(costs),
        ratio_costs,
        tuple(differences),
        tuple(measures),
        {group: bayes_error_of(one) for group, one in zip(groups, keys, strict=True)},
        {group: tippett_of(one) for group, one in zip(groups, keys, strict=True)},
        repr(comparisons),
        settings,
    )


def _complete_groups(comparisons: Comparisons) -> tuple[int, ...]:
    """Return the positions of the groups with comparisons of both classes."""
    if not comparisons.groups:
        return ()
    sides = comparisons.mated_by_group, comparisons.nonmated_by_group
    has_both = np.logical_and(*(np.diagonal(side.cells) > 0 for side in sides))
    return tuple(np.flatnonzero(has_both).tolist())


def _ratio_costs(
    comparisons: Comparisons, drawing: Drawing, level: float, seed: int | np.random.SeedSequence
) -> tuple[RatioCost, ...]:
    """Compute Cllr and min Cllr at even odds; warns of incomplete groups and of comparisons drawn one by one."""
    evaluation = evaluate(
        comparisons, (), [], metrics=("cllr", "min_cllr"), unit=drawing.unit, n_resamples=drawing.n_resamples,
        confidence_level=level, rng=seed, n_threads=drawing.workers.n_threads, progress=drawing.workers.progress,
        incomplete_groups="drop",
    )  # fmt: skip
    rows = []
    for group in (None, *comparisons.groups):
        both = [evaluation.quantity(name, group) for name in ("cllr", "min_cllr")]
        actual, minimum = (
            np.array([one.estimate, *(math.nan if end is None else end for end in (one.low, one.high))]) for one in both
        )
        replicates = np.array([[evaluation.replicates(name, group)] for name in ("cllr", "min_cllr")])
        _, high = intervals.difference_interval(
            actual[:, None], minimum[:, None], intervals.correlations_of(replicates)
        )
        loss = max(actual[0] - minimum[0], 0.0) if not math.isnan(actual[0]) else math.nan
        ends = _named("cllr", actual) | _named("minimum", minimum)
        rows.append(RatioCost(group, **ends, loss=float(loss), loss_high=max(float(high[0]), float(loss))))
    return tuple(rows)


def _rows(found: ReplicatedCosts, limits: Limits, level: float) -> list[ApplicationCost]:
    pvalues = found.miscalibration_pvalues
    adjusted = [pvalues[0], *intervals.holm(pvalues[1:]).tolist()] if pvalues.size > 1 else pvalues.tolist()
    rates = found.at_bayes
    rows = []
    for k, group in enumerate(found.groups):
        mated, nonmated = limits.rates[0][k], limits.rates[1][k]
        known = not math.isnan(limits.miscalibration[1, k])
        pvalue, of_groups = (float(one) if known else math.nan for one in (pvalues[k], adjusted[k]))
        rows.append(
            ApplicationCost(
                found.application,
                group,
                rates.threshold,
                **_named("actual", limits.actual[:, k]),
                **_named("minimum", limits.minimum[:, k]),
                **_named("miscalibration", limits.miscalibration[:, k]),
                **_named("cllr", limits.cllr[:, k]),
                pvalue=pvalue,
                pvalue_adjusted=of_groups,
                verdict="" if math.isnan(of_groups) else MISCALIBRATED if of_groups <= 1 - level else UNDECIDED,
                fnmr=mated.estimate,
                fmr=nonmated.estimate,
                n_mated=mated.n_comparisons or 0,
                n_nonmated=nonmated.n_comparisons or 0,
                n_false_nonmatches=mated.n_errors or 0,
                n_false_matches=nonmated.n_errors or 0,
                note=limits.notes[k],
            )
        )
    return rows


def _differences(found: ReplicatedCosts, limits: Limits, rows: Sequence[int], level: float) -> list[CostDifference]:
    """Compare the costs of each pair of groups, and what miscalibration costs them."""
    pairs = list(itertools.combinations(rows, 2))
    if not pairs:
        return []
    together = found.limits(1 - (1 - level) / len(pairs))  # Bonferroni's
    made = []
    for name in ("act_dcf", "miscalibration"):
        alone, at_once = (_of_pairs(found, one, name, pairs) for one in (limits, together))
        for n, (first, second) in enumerate(pairs):
            low, high = (float(end[n]) for end in at_once)
            made.append(
                CostDifference(
                    found.application,
                    name,
                    str(found.groups[first]),
                    str(found.groups[second]),
                    difference=float(found.estimates[name][first] - found.estimates[name][second]),
                    low=float(alone[0][n]),
                    high=float(alone[1][n]),
                    simultaneous_low=low,
                    simultaneous_high=high,
                    verdict="" if math.isnan(low) else DIFFERENT if low > 0 or high < 0 else UNDECIDED,
                )
            )
    return made


def _of_pairs(
    found: ReplicatedCosts, limits: Limits, name: str, pairs: Sequence[tuple[int, int]]
) -> tuple[Floats, Floats]:
    """Compute intervals of differences between groups in the actual cost, or in what miscalibration costs."""
    first, second = (list(side) for side in zip(*pairs, strict=True))
    if name == "act_dcf":
        ends, replicates = limits.actual, found.replicates("act_dcf")
        correlation = intervals.correlations_of(np.array([replicates[first], replicates[second]]))
    else:  # whose lower limits are not those of replicates
        ends, correlation = limits.miscalibration, np.zeros(len(pairs))
    return intervals.difference_interval(ends[:, first], ends[:, second], correlation)


def _named(name: str, ends: Floats) -> dict[str, Any]:
    """Return an estimate and its limits by the names of their fields."""
    return {f"{name}{suffix}": float(end) for suffix, end in zip(("", "_low", "_high"), ends, strict=True)}

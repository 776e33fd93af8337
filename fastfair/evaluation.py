"""`evaluate`: the whole way from comparisons to rates and measures, in one call."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _validation, curves
from ._measuring import BaseMetric, RatePair, measure_all
from ._results import Rates
from .comparisons import Comparisons
from .error_rates import rates_at_key
from .errors import DroppedWarning, EmptyGroupWarning, InputError, ReversedScoresWarning
from .measures import MEASURES, ZERO_POLICIES
from .operating_points import (
    ENOUGH_ERRORS,
    OperatingPoint,
    at_fmr,
    at_mean_group_eer,
    mean_group_eer_key,
    threshold_key,
)
from .quantities import Evaluation, Quantity

INCOMPLETE_GROUPS = ("raise", "drop", "nan")


def evaluate(
    comparisons: Comparisons,
    at: OperatingPoint | Sequence[OperatingPoint] = (at_fmr(1e-3),),  # noqa: B008 - frozen
    measures: str | Sequence[str] = "all",
    *,
    alpha: float = 0.5,
    eer_method: str = "nearest",
    p_target: float = 0.05,
    c_miss: float = 1,
    c_fa: float = 1,
    zero_policy: str | float = "keep",
    incomplete_groups: str = "raise",
) -> Evaluation:
    """Compute error rates, EER, minDCF and Cllr overall and per group, and the fairness measures over the groups.

    Parameters
    ----------
    comparisons : Comparisons
        What to evaluate; without groups there are no measures.
    at : OperatingPoint or sequence of OperatingPoint
        Where rates, and the measures made of them, are taken. Thresholds are found from all comparisons.
    measures : "all" or sequence of str
        Names of functions in `fastfair.measures`.
    alpha : float, default 0.5
        Weight of false matches in measures that take both rates, in [0, 1].
    eer_method : {"nearest", "nearest-max", "interpolated", "convex-hull"}
        As in `eer`.
    p_target, c_miss, c_fa : float
        As in `min_dcf`.
    zero_policy : {"keep", "raise", "clopper-pearson"} or float
        What ratio measures make of group FMRs and FNMRs of zero; see `measures.replace_zeros`. A group's EER, minDCF
        or Cllr of zero stays.
    incomplete_groups : {"raise", "drop", "nan"}
        What becomes of groups without mated or without non-mated comparisons of their own: an error; left out of the
        measures, with a warning; or measures that are NaN, with a warning.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        For unknown names, percentages in place of rates, measures asked for without groups, incomplete groups, and
        zero rates under their "raise" policies.

    Warns
    -----
    DroppedWarning
        Names the groups left out.
    EmptyGroupWarning
        Names the groups that make measures NaN.
    ReversedScoresWarning
        For an EER above 50 %, as distances taken for similarities have.

    Examples
    --------
    >>> import fastfair as ff
    >>> scores = [0.9, 0.3, 0.4, 0.1, 0.8, 0.7, 0.6, 0.2]
    >>> c = ff.Comparisons(scores, [1, 1, 0, 0] * 2, reference_group=list("aaaabbbb"))
    >>> ev = ff.evaluate(c, at=[ff.at_threshold(0.5)])
    >>> ev.value("fdr"), ev.value("fnmr", group="a")
    (0.5, 0.5)
    """
    points = [at] if isinstance(at, OperatingPoint) else list(at) if isinstance(at, Iterable) else [at]
    for point in points:
        if not isinstance(point, OperatingPoint):
            raise InputError(f"at must be operating points such as at_fmr(1e-3) or at_threshold(0.5), not {at!r}")
    if not points:
        raise InputError("at is empty: give at least one operating point such as at_fmr(1e-3)")
    names = _measure_names(measures, comparisons)
    alpha = _validation.rate("alpha", alpha, one_allowed=True)
    _validation.choice("eer_method", eer_method, curves.EER_METHODS)
    _validation.choice("incomplete_groups", incomplete_groups, INCOMPLETE_GROUPS)
    if isinstance(zero_policy, str):
        _validation.choice("zero_policy", zero_policy, ZERO_POLICIES)
    else:
        _validation.positive("zero_policy", _validation.rate("zero_policy", zero_policy))
    costs = curves.DetectionCosts(p_target, c_miss, c_fa)
    complete = _complete_groups(comparisons, incomplete_groups)

    at_points = []
    for point in points:
        of_groups = point.kind == "mean group eer"  # then of the groups measured, some of which may be dropped
        key = mean_group_eer_key(comparisons, complete) if of_groups else threshold_key(comparisons, point)
        at_points.append(rates_at_key(comparisons, point, key))
    threshold_free = {
        "eer": _metric(comparisons, lambda mated, nonmated: curves.equal_error(mated, nonmated, eer_method)[0]),
        "min_dcf": _metric(comparisons, lambda mated, nonmated: costs.least(mated, nonmated)[0]),
        "cllr": _metric(comparisons, curves.log_likelihood_ratio_cost),
    }
    if threshold_free["eer"].overall > 0.5:
        warnings.warn(
            f"the EER is {100 * float(threshold_free['eer'].overall):.3g} %, as mated comparisons score lower than "
            'non-mated ones: if the scores are distances pass score_kind="distance", else look which value of mated '
            "means mated",
            ReversedScoresWarning,
            stacklevel=2,
        )
    quantities = [quantity for result in at_points for quantity in _rate_quantities(result)]
    for name, metric in threshold_free.items():
        quantities.append(Quantity(name, None, None, float(metric.overall)))
        quantities += [
            Quantity(name, group, None, float(value), note=_not_computable(value))
            for group, value in zip(comparisons.groups, metric.groups, strict=True)
        ]
    quantities.append(Quantity("min_cllr", None, None, curves.min_cllr(comparisons)))
    measured = tuple(comparisons.groups[k] for k in complete)
    if names:
        quantities += _measure_quantities(
            names,
            comparisons,
            at_points,
            threshold_free,
            complete,
            incomplete_groups == "nan",
            alpha,
            zero_policy,
        )
    settings = {
        "score_kind": comparisons.score_kind,
        "grouping": list(comparisons.grouping),
        "at": [str(point) for point in points],
        "thresholds": [result.threshold for result in at_points],
        "measures": names,
        "alpha": alpha,
        "eer_method": eer_method,
        "p_target": p_target,
        "c_miss": c_miss,
        "c_fa": c_fa,
        "zero_policy": zero_policy,
        "incomplete_groups": incomplete_groups,
    }
    return Evaluation(tuple(quantities), tuple(at_points), comparisons.groups, measured, settings, repr(comparisons))


def _measure_names(measures: str | Sequence[str], comparisons: Comparisons) -> list[str]:
    if isinstance(measures, str) and measures == "all":
        return list(MEASURES) if comparisons.groups else []
    names = [measures] if isinstance(measures, str) else list(measures or ())
    for name in names:
        _validation.choice("measure", name, MEASURES)
    if names and not comparisons.groups:
        raise InputError(f"{names[0]} is a measure over groups, but the comparisons have none: give reference_group")
    return names


def _complete_groups(comparisons: Comparisons, policy: str) -> list[int]:
    """Return the positions of the groups that measures run over."""
    if not comparisons.groups:
        return []
    sizes = zip(
        comparisons.groups,
        np.diagonal(comparisons.mated_by_group.cells).tolist(),
        np.diagonal(comparisons.nonmated_by_group.cells).tolist(),
        strict=True,
    )
    lacking = {group: (mated, nonmated) for group, mated, nonmated in sizes if not (mated and nonmated)}
    everything = list(range(len(comparisons.groups)))
    if not lacking:
        return everything
    found = "; ".join(
        f"{group!r} has {mated} mated and {nonmated} non-mated" for group, (mated, nonmated) in lacking.items()
    )
    if policy == "raise":
        raise InputError(
            f"{len(lacking)} of {len(everything)} groups lack comparisons of their own, so they have no FMR, FNMR or "
            f'EER: {found}. Merge groups, or pass incomplete_groups="drop" (leave them out of the measures) or "nan"'
        )
    if policy == "nan":
        warnings.warn(f"measures are NaN, as groups lack comparisons: {found}", EmptyGroupWarning, stacklevel=3)
        return everything
    kept = [k for k in everything if comparisons.groups[k] not in lacking]
    if not kept:
        raise InputError(f"no group has both mated and non-mated comparisons of its own: {found}")
    warnings.warn(f"left out of the measures: {found}", DroppedWarning, stacklevel=3)
    return kept


def _metric(comparisons: Comparisons, compute: Any) -> BaseMetric:
    groups = []
    if comparisons.groups:
        within = zip(comparisons.mated_by_group.within, comparisons.nonmated_by_group.within, strict=True)
        groups = [compute(mated, nonmated) if mated.size and nonmated.size else math.nan for mated, nonmated in within]
    overall = compute(comparisons.mated.keys, comparisons.nonmated.keys)
    return BaseMetric(np.float64(overall), np.array(groups, np.float64))


def _rate_quantities(result: Rates) -> list[Quantity]:
    counts, point = result.counts, str(result.at)
    low = f"asked below the data's resolution: fewer than {ENOUGH_ERRORS} errors" if result.below_resolution else ""
    rows = [Quantity("threshold", None, point, result.threshold, note=low)]

    def row(name: str, group: str | None, value: float, size: int, errors: int, subjects: int | None) -> Quantity:
        few = f"fewer than {ENOUGH_ERRORS} errors" if errors < ENOUGH_ERRORS else ""
        return Quantity(name, group, point, value, size, errors, subjects, few if size else "no comparisons")

    rows.append(row("fmr", None, result.fmr, counts.nonmated, counts.false_matches, counts.nonmated_subjects))
    rows.append(row("fnmr", None, result.fnmr, counts.mated, counts.false_nonmatches, counts.mated_subjects))
    for name, values, sizes, errors, subjects in (
        ("fmr", result.group_fmr, counts.group_nonmated, counts.group_false_matches, counts.group_nonmated_subjects),
        ("fnmr", result.group_fnmr, counts.group_mated, counts.group_false_nonmatches, counts.group_mated_subjects),
    ):
        for k, group in enumerate(result.groups):
            known = None if subjects is None else int(subjects[k])
            rows.append(row(name, group, float(values[k]), int(sizes[k]), int(errors[k]), known))
    across = counts.matrix_nonmated - np.diag(counts.group_nonmated)
    for i, j in np.argwhere(counts.matrix_nonmated) if across.any() else ():
        cell = f"{result.groups[i]} / {result.groups[j]}"
        known = None if counts.matrix_subjects is None else int(counts.matrix_subjects[i, j])
        errors_here, size = int(counts.matrix_false_matches[i, j]), int(counts.matrix_nonmated[i, j])
        rows.append(row("fmr_matrix", cell, float(result.fmr_matrix[i, j]), size, errors_here, known))
    return rows


def _measure_quantities(
    names: Sequence[str],
    comparisons: Comparisons,
    at_points: Sequence[Rates],
    threshold_free: dict[str, BaseMetric],
    complete: list[int],
    nan_allowed: bool,
    alpha: float,
    zero_policy: str | float,
) -> list[Quantity]:
    def pair(result: Rates) -> RatePair:
        counts = result.counts
        return RatePair(
            BaseMetric(np.float64(result.fmr), result.group_fmr[complete], counts.group_nonmated[complete]),
            BaseMetric(np.float64(result.fnmr), result.group_fnmr[complete], counts.group_mated[complete]),
        )

    usable = [k for k in complete if not np.isnan(threshold_free["eer"].groups[k])]
    if nan_allowed and len(usable) < len(complete):
        nothing = BaseMetric(np.float64(math.nan), np.full(len(complete), math.nan))
        at_mean = RatePair(nothing, nothing)
    else:
        at_mean = pair(rates_at_key(comparisons, at_mean_group_eer(), mean_group_eer_key(comparisons, complete)))
    kept = {name: BaseMetric(metric.overall, metric.groups[complete]) for name, metric in threshold_free.items()}
    found = measure_all(names, [pair(result) for result in at_points], kept, at_mean, alpha, zero_policy)
    labels = [comparisons.groups[k] for k in complete]
    rows = []
    for quantity in found:
        point = None if quantity.point is None else str(at_points[quantity.point].at)
        values: NDArray[np.float64] = np.atleast_1d(quantity.value)
        for group, value in zip(labels if quantity.per_group else [None], values, strict=True):
            rows.append(Quantity(quantity.name, group, point, float(value), note=_not_computable(value)))
    return rows


def _not_computable(value: float) -> str:
    if np.isnan(value):
        return "not computable: 0/0 or a group without comparisons"
    return "not computable: a group has no errors" if np.isinf(value) else ""

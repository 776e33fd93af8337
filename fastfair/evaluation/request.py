"""What was asked of `evaluate`, checked before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.threads import count_threads
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates import curves
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import DroppedWarning, EmptyGroupWarning, InputError
from fastfair.measures import MEASURES, ZERO_POLICIES
from fastfair.resampling.comparison_replicates import METRICS, SCHEMES
from fastfair.resampling.units import UNITS, require_units
from fastfair.uncertainty.quantity_intervals import require_method

INCOMPLETE_GROUPS = ("raise", "drop", "nan")


@dataclass(frozen=True)
class Asked:
    """The arguments of `evaluate` as they will be used; see there."""

    points: tuple[OperatingPoint, ...]
    measures: tuple[str, ...]
    metrics: tuple[str, ...]
    measured: tuple[int, ...]
    alpha: float
    eer_method: str
    costs: curves.DetectionCosts
    zero_policy: str | float
    unit: str
    n_resamples: int
    confidence_level: float
    method: str
    scheme: str
    n_threads: int | None


def check(
    comparisons: Comparisons,
    at: OperatingPoint | Sequence[OperatingPoint],
    *,
    measures: str | Sequence[str],
    metrics: str | Sequence[str],
    alpha: float,
    eer_method: str,
    costs: tuple[float, float, float],
    zero_policy: str | float,
    incomplete_groups: str,
    unit: str,
    n_resamples: int,
    confidence_level: float,
    method: str,
    scheme: str,
    n_threads: int | None,
) -> Asked:
    """Check the arguments of `evaluate`."""
    points = [at] if isinstance(at, OperatingPoint) else list(at)
    names = _measure_names(measures, comparisons)
    wanted = list(METRICS) if isinstance(metrics, str) and metrics == "all" else _listed(metrics)
    for name in wanted:
        validation.choice("metric", name, METRICS)
    if not points and not wanted:
        raise InputError("at is empty: give at least one operating point such as at_fmr(1e-3), or metrics")
    if isinstance(zero_policy, str):
        validation.choice("zero_policy", zero_policy, ZERO_POLICIES)
    else:
        validation.positive("zero_policy", validation.rate("zero_policy", zero_policy))
    validation.choice("incomplete_groups", incomplete_groups, INCOMPLETE_GROUPS)
    n_resamples = validation.count("n_resamples", n_resamples)
    if n_resamples == 1:
        raise InputError("n_resamples must be 0, or at least 2: one replicate has no spread")
    validation.choice("eer_method", eer_method, curves.EER_METHODS)
    if method in intervals.METHODS and method not in intervals.METHODS_OF_EVALUATIONS:
        raise InputError(
            'method="recentered" needs a V-statistic, which comparisons do not have: samples compared with themselves'
        )
    validation.choice("unit", unit, UNITS)
    if n_resamples:
        require_units(comparisons, unit)
        if method == "dyadic":
            require_method(method, unit, scheme)
    count_threads(n_threads)
    return Asked(
        points=tuple(dict.fromkeys(points)),
        measures=tuple(dict.fromkeys(names)),
        metrics=tuple(dict.fromkeys(wanted)),
        alpha=validation.rate("alpha", alpha, one_allowed=True),
        eer_method=eer_method,
        costs=curves.DetectionCosts(*costs),
        zero_policy=zero_policy,
        unit=unit,
        n_resamples=n_resamples,
        confidence_level=intervals.level(confidence_level),
        method=validation.choice("method", method, intervals.METHODS_OF_EVALUATIONS),
        scheme=validation.choice("scheme", scheme, SCHEMES),
        n_threads=n_threads,
        measured=tuple(_complete_groups(comparisons, incomplete_groups)),
    )


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _measure_names(measures: str | Sequence[str], comparisons: Comparisons) -> list[str]:
    if isinstance(measures, str) and measures == "all":
        return list(MEASURES) if comparisons.groups else []
    names = _listed(measures)
    for name in names:
        validation.choice("measure", name, MEASURES)
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
        warn(f"measures are NaN, as groups lack comparisons: {found}", EmptyGroupWarning)
        return everything
    kept = [k for k in everything if comparisons.groups[k] not in lacking]
    if not kept:
        raise InputError(f"no group has both mated and non-mated comparisons of its own: {found}")
    warn(f"left out of the measures: {found}", DroppedWarning)
    return kept

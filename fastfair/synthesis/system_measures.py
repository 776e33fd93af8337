"""Fairness measures of systems whose groups and whose overall performance come from different comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_threshold, mean_group_eer_key, threshold_key
from fastfair.error_rates.rates import rates_at_key
from fastfair.evaluation.evaluate import evaluate
from fastfair.measures import MEASURES
from fastfair.measures._compute import BaseMetric, RatePair, measure_all
from fastfair.measures._registry import OF_ANY_SCORES, measure_name
from fastfair.uncertainty.quantities import TakenAt


@dataclass(frozen=True)
class SystemMeasure(TakenAt):
    """A fairness measure of a system.

    Attributes
    ----------
    table : str
        The table of paper 1 that lists the system; "" for others.
    ratios, kind : str
        As in `BiasedSystem`.
    measure : str
        Named as in an evaluation, with the base metric in parentheses where it has one.
    group : str or None
        The group, for measures with a value for each group; else None.
    value : float
    at : OperatingPoint or None
        The operating point; None for measures that need no threshold or define their own. Tables hold its text as
        `operating_point`.
    """

    table: str
    ratios: str
    kind: str
    measure: str
    group: str | None
    value: float
    at: OperatingPoint | None


def threshold_free(comparisons: Comparisons) -> Mapping[str, BaseMetric]:
    """Compute the metrics that need no threshold, overall and of each group."""
    found = evaluate(comparisons, at=(), measures=(), metrics=OF_ANY_SCORES, n_resamples=0)
    return {
        name: BaseMetric(
            np.float64(found.value(name)), np.array([found.value(name, group=group) for group in comparisons.groups])
        )
        for name in OF_ANY_SCORES
    }


def system_measures(
    about: tuple[str, str, str],
    groups: Comparisons,
    overall: Comparisons,
    overall_metrics: Mapping[str, BaseMetric],
    at: OperatingPoint,
    measures: str | Sequence[str],
    alpha: float,
    zero_policy: str | float,
) -> tuple[SystemMeasure, ...]:
    """Compute measures of groups, with rates and metrics of other comparisons as the global ones.

    `about` is the table, the ratios and the kind; `overall_metrics` come from `threshold_free(overall)`.
    """
    named = [measures] if isinstance(measures, str) else measures
    names = list(MEASURES) if measures == "all" else [measure_name(name) for name in named]

    def rates(key: np.signedinteger[Any]) -> RatePair:
        point = at_threshold(overall.to_scale(float(score_keys.decode(np.array([key]))[0])))
        of_all, of_groups = (rates_at_key(part, point, key) for part in (overall, groups))
        counts = of_groups.counts
        return RatePair(
            BaseMetric(np.float64(of_all.fmr), of_groups.group_fmr, counts.group_nonmated),
            BaseMetric(np.float64(of_all.fnmr), of_groups.group_fnmr, counts.group_mated),
        )

    of_groups = threshold_free(groups)
    metrics = {name: BaseMetric(of_all.overall, of_groups[name].groups) for name, of_all in overall_metrics.items()}
    own = rates(mean_group_eer_key(groups, range(len(groups.groups))))
    at_point = rates(threshold_key(overall, at))

    def found() -> Iterator[SystemMeasure]:
        for one in measure_all(names, [at_point], metrics, own, alpha, zero_policy):
            point = None if one.point is None else at
            if one.per_group:
                for group, value in zip(groups.groups, one.value, strict=True):
                    yield SystemMeasure(*about, one.name, group, float(value), point)
            else:
                yield SystemMeasure(*about, one.name, None, float(one.value), point)

    return tuple(found())

"""Requirements on the differences of systems, or of independent data sets, that were compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from fastfair.data.exclusions import MOST_NAMED, Exclusion, Exclusions
from fastfair.data.group_labels import Grouping
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.evaluation.contrasts import Contrast
from fastfair.evaluation.evaluate import repeats_subjects
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.measures._registry import difference_of
from fastfair.uncertainty.notes import Code, Note
from fastfair.uncertainty.quantities import Estimate

from .requirements import Requirement
from .verdicts import Estimates


@dataclass(frozen=True, kw_only=True)
class Difference(Estimate):
    """The difference of two systems in a quantity, which a requirement is about."""

    name: str
    at: OperatingPoint | None


@dataclass(frozen=True)
class Labels:
    """The groups in which systems are compared, as requirements name them."""

    groups: tuple[str, ...]
    grouping: Grouping
    failed: Any

    @property
    def attributes(self) -> Mapping[str, tuple[str, ...]]:
        """The labels of the attribute that makes the groups, where it is one."""
        return {self.grouping[0]: self.groups} if len(self.grouping) == 1 else {}


def labels_of(comparison: SystemComparison) -> Labels:
    """Return the groups in which systems are compared."""
    first = comparison.evaluations[0]
    failed = None if first.comparisons is None else first.comparisons.failed
    grouping = tuple(comparison.settings["grouping"])
    return Labels(comparison.groups, grouping if comparison.groups else (), failed)


def require_common_groups(comparison: SystemComparison, wanted: Sequence[Requirement]) -> None:
    """Refuse requirements on groups where data sets have groups, but none in common."""
    of_groups = next((rule for rule in wanted if rule.group is not None), None)
    if of_groups is not None and not comparison.groups and any(comparison.groups_left_out.values()):
        raise InputError(
            f"requirement {of_groups.text!r}: the data sets have no group in common: give labels"
            " that are spelt alike"
        )


def exclusions_of_groups(comparison: SystemComparison) -> Exclusions:
    """Return the groups of each data set that others lack, of which no requirement is judged."""
    sizes = {
        name: len(of.groups)
        for name, of in zip(comparison.systems, comparison.evaluations, strict=True)
    }
    return tuple(
        Exclusion(
            len(groups),
            sizes[name],
            "groups",
            "not in all systems",
            "as not all data sets have them",
            examples=tuple(groups[:MOST_NAMED]),
            system=name,
        )
        for name, groups in comparison.groups_left_out.items()
        if groups
    )


def pairs_of(comparison: SystemComparison) -> list[tuple[str, str]]:
    """Return the systems of each pair that is compared."""
    return list(
        dict.fromkeys((row.first_system, row.second_system) for row in comparison.contrasts)
    )


def point_of(comparison: SystemComparison) -> OperatingPoint | None:
    """Return the operating point of requirements that name none."""
    rates = comparison.evaluations[0].rates
    return rates[0].at if rates else None


def estimates_of_differences(comparison: SystemComparison) -> Estimates:
    """Return differences, whose limits are made of those of each system."""

    @cache
    def rows_at(level: float | None = None) -> Callable[[Requirement], Difference]:
        rows = {
            ((row.first_system, row.second_system), row.name, row.group, row.at): (row, *ends)
            for row, ends in comparison._with_limits_at(level)
            if row.probe_group is None
        }

        def row_of(rule: Requirement) -> Difference:
            assert rule.systems is not None
            about = difference_of(rule.name), rule.group, rule.at
            row = rows.get((rule.systems, *about))
            other = rows.get((rule.systems[::-1], *about))
            if row is not None:
                return _difference(rule, *row)
            if other is None:
                raise InputError(
                    f"requirement {rule.text!r}: the systems are not compared in"
                    f" {about[0]}{'' if rule.at is None else f' at {rule.at}'}: add it to what"
                    " `compare` computes"
                )
            contrast, low, high = other
            turned = replace(contrast, difference=-contrast.difference)
            return _difference(rule, turned, -high, -low)

        return row_of

    unit = comparison.settings["unit"]
    is_dependent = any(
        evaluation.comparisons is not None and repeats_subjects(evaluation.comparisons, unit)
        for evaluation in comparison.evaluations
    )
    doubts = (Note(Code.REPEATED_SUBJECTS),) if is_dependent else ()
    return Estimates(rows_at(), rows_at, doubts)


def _difference(rule: Requirement, row: Contrast, low: float, high: float) -> Difference:
    return Difference(
        name=rule.name,
        group=rule.group,
        at=rule.at,
        estimate=row.difference,
        low=low if math.isfinite(low) else math.nan,
        high=high if math.isfinite(high) else math.nan,
        notes=row.notes,
    )

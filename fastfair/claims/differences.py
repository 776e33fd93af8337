"""Requirements on the differences of systems, or of independent data sets, that were compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from fastfair.data.exclusions import MOST_NAMED, Exclusion, Exclusions
from fastfair.data.group_labels import Grouping
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.measures._registry import difference_of
from fastfair.uncertainty.notes import Note
from fastfair.uncertainty.quantities import Estimate

from .requirements import Requirement
from .verdicts import Estimates, doubts_about_subjects


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


def estimates_of_differences(comparison: SystemComparison) -> Estimates:
    """Return differences, whose limits are made of those of each system."""

    @cache
    def rows(level: float | None) -> dict[Any, tuple[float, float, float, tuple[Note, ...]]]:
        made = {}
        for row, (low, high) in comparison._with_limits_at(level):
            if row.probe_group is None:
                about = row.name, row.group, row.at
                pair = row.first_system, row.second_system
                made[pair, *about] = row.difference, low, high, row.notes
                made[pair[::-1], *about] = -row.difference, -high, -low, row.notes
        return made

    def row_of(rule: Requirement, level: float | None) -> Difference:
        about = difference_of(rule.name), rule.group, rule.at
        if (rule.systems, *about) not in rows(level):
            raise InputError(
                f"requirement {rule.text!r}: the systems are not compared in"
                f" {about[0]}{'' if rule.at is None else f' at {rule.at}'}: add it to what"
                " `compare` computes"
            )
        estimate, low, high, notes = rows(level)[rule.systems, *about]
        return Difference(
            name=rule.name,
            group=rule.group,
            at=rule.at,
            estimate=estimate,
            low=low if math.isfinite(low) else math.nan,
            high=high if math.isfinite(high) else math.nan,
            notes=notes,
        )

    return Estimates(row_of, doubts_about_subjects(comparison.evaluations))

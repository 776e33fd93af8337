"""What paper 3 needs of VoxCeleb1-H: evaluations of the groups that the paper has, and of those
with enough trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import (
    Comparisons,
    EvaluationSettings,
    OperatingPoint,
    at_fmr,
    evaluate,
    fmr_test,
    rates,
)
from fastfair.evaluation.result import Evaluation
from fastfair.group_tests.equal_rates import GroupTest
from papers.page_parts import Range
from papers.settings import Settings
from papers.voxceleb import scores

from .printed import ALPHAS, FPR_AVERAGES, METRICS, NATIONALITIES

Floats = NDArray[np.float64]
SYSTEM = "resnetse34v2"
POINTS = tuple(at_fmr(rate) for rate in FPR_AVERAGES)
# Non-mated trials of a group. Among the first number a group with an FPR of 0.001 has no false
# match in one sample of twenty (the rule of three), among the second it has ten on average.
SIZEABLE, LARGE = 3_000, 10_000
_PER_GROUP = ("group_to_min_difference", "group_to_average_ratio", "group_to_average_log_ratio")


@dataclass(frozen=True, eq=False)
class GroupSet:
    """One choice of groups, evaluated.

    Attributes
    ----------
    name : str
        What to call the choice.
    comparisons : Comparisons
        Trials within these groups.
    evaluation : Evaluation
        Base metrics, measures of groups and the NRB, at `POINTS`.
    fdr : tuple of Evaluation
        The FDR for each of the paper's alphas, with the same replicates.
    test : GroupTest
        Whether FPRs differ at the first of `POINTS`.
    """

    name: str
    comparisons: Comparisons
    evaluation: Evaluation
    fdr: tuple[Evaluation, ...]
    test: GroupTest = field(repr=False)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups."""
        return self.comparisons.groups

    @cached_property
    def fdr_replicates(self) -> Floats:
        """(alphas, points, replicates) FDR."""
        return np.array([[ev.replicates("fdr", at=point) for point in POINTS] for ev in self.fdr])

    def nrb_replicates(self, rate: str) -> Floats:
        """Return (points, replicates) NRB of a rate; infinite where a group has no errors."""
        return np.array([self.evaluation.replicates(f"nrb({rate})", at=point) for point in POINTS])

    def fdr_range(self, alpha: float, point: OperatingPoint) -> Range:
        """Return the FDR with its interval."""
        return ranged(self.fdr[ALPHAS.index(alpha)], "fdr", at=point)

    def nrb_range(self, metric: str, point: OperatingPoint | None = None) -> Range:
        """Return the NRB with its interval."""
        return ranged(self.evaluation, f"nrb({metric})", at=point)


@dataclass(frozen=True, eq=False)
class Runs:
    """Everything that the page is made of.

    Attributes
    ----------
    whole : Evaluation
        All groups of gender and nationality, base metrics alone.
    gender, printed, sizeable, large : GroupSet
        By gender; the paper's nationalities by gender; of these the groups with enough trials, and
        those with many.
    """

    whole: Evaluation
    gender: GroupSet
    printed: GroupSet
    sizeable: GroupSet
    large: GroupSet

    @property
    def intersections(self) -> tuple[GroupSet, ...]:
        """The three choices of groups of gender and nationality."""
        return self.printed, self.sizeable, self.large


def run(settings: Settings) -> Runs:
    """Evaluate VoxCeleb1-H."""
    settings.tell("paper 3: base metrics of all groups")
    comparisons = scores(SYSTEM, ("Gender", "Nationality"))
    whole = evaluate(
        comparisons,
        POINTS[:1],
        (),
        n_resamples=settings.n_resamples,
        metrics=METRICS,
        rng=settings.seed,
    )
    trials = rates(comparisons, POINTS[0]).counts.group_nonmated
    wanted = [name for name in comparisons.groups if name.split(" & ")[1] in NATIONALITIES.values()]
    with_at_least = {
        least: [name for name in wanted if trials[comparisons.groups.index(name)] >= least]
        for least in (0, SIZEABLE, LARGE)
    }
    sets = {}
    for least, groups in with_at_least.items():
        name = (
            f"{len(groups)} groups"
            if least == 0
            else f"{len(groups)} groups of {least:,} trials and more"
        )
        settings.tell(f"paper 3: {name}")
        sets[least] = evaluated(name, within(comparisons, groups), settings)
    settings.tell("paper 3: by gender")
    gender = evaluated("gender", comparisons.by("Gender"), settings)
    return Runs(whole, gender, sets[0], sets[SIZEABLE], sets[LARGE])


def evaluated(name: str, comparisons: Comparisons, settings: Settings) -> GroupSet:
    """Evaluate one choice of groups; the FDR once for each alpha, on the same replicates."""
    drawn: dict[str, Any] = {"n_resamples": settings.n_resamples, "rng": settings.seed}
    evaluation = evaluate(comparisons, POINTS, (*_PER_GROUP, "nrb"), metrics=METRICS, **drawn)
    fdr = [
        evaluate(
            comparisons,
            POINTS,
            "fdr",
            metrics=(),
            settings=EvaluationSettings(alpha=alpha),
            **drawn,
        )
        for alpha in ALPHAS
    ]
    return GroupSet(
        name, comparisons, evaluation, tuple(fdr), fmr_test(comparisons, POINTS[0], **drawn)
    )


def within(comparisons: Comparisons, groups: Sequence[str]) -> Comparisons:
    """Keep the comparisons within some of the groups."""
    wanted = [comparisons.groups.index(name) for name in groups]
    names, subjects = np.array(comparisons.groups), comparisons.subjects
    assert subjects is not None
    parts = []
    for by_group in (comparisons.mated_by_group, comparisons.nonmated_by_group):
        side, group = by_group.side, by_group.reference_group
        assert side.reference is not None
        assert side.probe is not None
        kept = np.flatnonzero(np.isin(group, wanted) & (group == by_group.probe_group))
        parts.append(
            (
                side.similarities[kept],
                subjects[side.reference[kept]],
                subjects[side.probe[kept]],
                names[group[kept]],
            )
        )
    similarity, reference, probe, group = (
        np.concatenate(pair) for pair in zip(*parts, strict=True)
    )
    mated = np.arange(similarity.size) < parts[0][0].size
    return Comparisons(similarity, mated, reference, probe, group)


def ranged(
    evaluation: Evaluation,
    name: str,
    group: str | None = None,
    at: OperatingPoint | None = None,
    unit: float = 1,
) -> Range:
    """Return a quantity with its interval, in units such as 100 for per cent."""
    found = evaluation.quantity(name, group, at)
    low, high = evaluation.interval(name, group, at)
    return Range(unit * found.estimate, unit * low, unit * high)

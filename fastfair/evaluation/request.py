"""The arguments of `evaluate`, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from fastfair import intervals
from fastfair._lib import validation
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.data.failed_comparisons import require_scores
from fastfair.error_rates import score_metrics
from fastfair.error_rates.curves import NO_CLLR, require_eer
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import DroppedWarning, EmptyGroupWarning, InputError
from fastfair.measures import MEASURES
from fastfair.measures._registry import measure_name, quantity_name
from fastfair.resampling.preparation import METRICS
from fastfair.resampling.units import require_units
from fastfair.uncertainty.interval_maker import require_method, two_sided_level

IncompleteGroups = Literal["raise", "drop", "nan"]
INCOMPLETE_GROUPS: tuple[IncompleteGroups, ...] = get_args(IncompleteGroups)
METRICS_OF_SCANS = ("eer", "min_dcf", "cllr")  # Cllr only where the scan keeps all scores
METRICS_WITH_FAILURES = ("eer", "min_dcf")  # where failed comparisons, which have no score, count as non-matches
METRICS_OF_VECTORS = METRICS_OF_SCANS[:-1]  # by default, and as long as not all pairs are listed
Alternative = Literal["two-sided", "less", "greater"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)


@dataclass(frozen=True)
class Request:
    """The arguments of `evaluate`, as described there; the method `checked` validates them.

    Attributes
    ----------
    measured : tuple of int
        Positions of the groups that the fairness measures compare; set by `checked`.
    """

    at: OperatingPoint | Sequence[OperatingPoint]
    measures: str | Sequence[str]
    metrics: str | Sequence[str]
    alpha: float
    eer_method: str
    p_target: float
    c_miss: float
    c_fa: float
    zero_policy: str | float
    incomplete_groups: str
    unit: str
    scheme: str
    n_resamples: int
    confidence_level: float
    method: str
    alternative: str = "two-sided"
    simultaneous: bool = False
    normalize: bool = False
    measured: tuple[int, ...] = ()

    @property
    def points(self) -> tuple[OperatingPoint, ...]:
        """The operating points, without repetitions."""
        return tuple(dict.fromkeys([self.at] if isinstance(self.at, OperatingPoint) else self.at))

    @property
    def costs(self) -> score_metrics.DetectionCosts:
        """The costs and the prior of minDCF."""
        return score_metrics.DetectionCosts(self.p_target, self.c_miss, self.c_fa, self.normalize)

    @property
    def needs_all_pairs(self) -> bool:
        """Whether what is asked of vectors needs a list of all their pairs.

        "all" metrics do not, as they are the others where Cllr and min Cllr would need one.
        """
        listed = bool({"cllr", "min_cllr"} & set(_listed(self.metrics))) or self.eer_method == "convex-hull"
        return listed or self.unit != "subject" or not self.n_resamples

    @property
    def with_metrics(self) -> bool:
        """Whether thresholds of EERs or minimum costs are looked for."""
        own = {"all", *(name for name, one in MEASURES.items() if one.own_threshold)}
        return bool(_listed(self.metrics)) or not own.isdisjoint(map(quantity_name, _listed(self.measures)))

    def checked(self, comparisons: Comparisons) -> Request:
        """Return the arguments checked, with defaults filled in and each name listed once."""
        everything: tuple[str, ...] = METRICS
        if "all scores" in comparisons.lacks:
            everything = METRICS_OF_VECTORS if "costs" in comparisons.lacks else METRICS_OF_SCANS
        elif comparisons.failed is not None and comparisons.failed.policy == "non-match":
            everything = METRICS_WITH_FAILURES
        found = self.in_words(comparisons.groups, everything)
        for name in found.metrics:
            if name not in METRICS_WITH_FAILURES:
                require_scores(comparisons.failed, name, NO_CLLR)
        if "eer" in found.metrics:
            require_eer(comparisons, self.eer_method)
        found._check_resampling(comparisons)
        return replace(found, measured=tuple(_complete_groups(comparisons, self.incomplete_groups)))

    def in_words(self, groups: Sequence[str], everything: Sequence[str]) -> Request:
        """Return the arguments checked as far as that needs no comparisons, but the names of their groups.

        Parameters
        ----------
        groups : sequence of str
            The groups.
        everything : sequence of str
            What "all" metrics are.
        """
        names = _measure_names(self.measures, groups)
        wanted = everything if isinstance(self.metrics, str) and self.metrics == "all" else _listed(self.metrics)
        if not self.points and not wanted:
            raise InputError("at is empty: give at least one operating point such as at_fmr(1e-3), or metrics")
        if not isinstance(self.zero_policy, str):
            validation.positive("zero_policy", validation.rate("zero_policy", self.zero_policy))
        n_resamples = validation.count("n_resamples", self.n_resamples)
        if n_resamples == 1:
            raise InputError("n_resamples must be 0, or at least 2: one replicate has no spread")
        self.costs  # noqa: B018 - checks its arguments
        return replace(
            self,
            at=self.points,
            measures=tuple(dict.fromkeys(names)),
            metrics=tuple(dict.fromkeys(wanted)),
            alpha=validation.rate("alpha", self.alpha, one_allowed=True),
            n_resamples=n_resamples,
            confidence_level=intervals.level(self.confidence_level),
            alternative=checked_alternative(self.alternative, self.confidence_level),
            simultaneous=bool(self.simultaneous),
        )

    def _check_resampling(self, comparisons: Comparisons) -> None:
        needs = {
            "other units": self.unit != "subject",
            "units left out": self.method == "bca",
            "all scores": self.eer_method == "convex-hull",
        }
        comparisons._require(*(need for need, is_needed in needs.items() if is_needed))
        if not self.n_resamples and self.method != "auto":
            raise InputError(f'method="{self.method}" needs replicates, and n_resamples is 0')
        if self.n_resamples:
            require_units(comparisons, self.unit)
            if self.method == "dyadic":
                require_method(self.method, self.unit, self.scheme)

    def is_in_closed_form(self, comparisons: Comparisons) -> bool:
        """Return whether rates have intervals without replicates: at a point, of units that are known."""
        if self.n_resamples or not self.points or "closed forms" in comparisons.lacks:
            return False
        return self.unit == "comparison" or (self.unit == "subject" and comparisons.subjects is not None)

    def settings(self, comparisons: Comparisons, thresholds: Sequence[float], seed: Any) -> dict[str, Any]:
        """List the settings that an evaluation's result reports."""
        found: dict[str, Any] = {
            "score_kind": comparisons.score_kind,
            "grouping": list(comparisons.grouping),
            "at": [str(point) for point in self.points],
            "thresholds": list(thresholds),
            "measures": list(self.measures),
            "metrics": list(self.metrics),
        }
        found |= {name: getattr(self, name) for name in _SETTINGS}
        if comparisons.failed is not None:
            found["failures"] = comparisons.failed.policy
        if self.n_resamples:
            scheme = self.scheme if self.unit == "subject" else "product"
            found |= {"scheme": scheme, "rng": seed}
        if self.n_resamples or self.is_in_closed_form(comparisons):
            found["unit"] = self.unit
            found |= {"confidence_level": self.confidence_level, "method": self.method, "alternative": self.alternative}
            found["simultaneous"] = self.simultaneous
        return found


_SETTINGS = (
    "alpha", "eer_method", "p_target", "c_miss", "c_fa", "normalize", "zero_policy", "incomplete_groups", "n_resamples",
)  # fmt: skip


def checked_alternative(alternative: str, confidence_level: float) -> str:
    """Check on which side an interval ends, and that its level has such a limit."""
    if alternative != "two-sided":
        two_sided_level(confidence_level)
    return alternative


def _listed(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _measure_names(measures: str | Sequence[str], groups: Sequence[str]) -> Sequence[str]:
    if isinstance(measures, str) and measures == "all":
        return list(MEASURES) if groups else []
    names = [measure_name(name) for name in _listed(measures)]
    if names and not groups:
        raise InputError(f"{names[0]} is a measure over groups, but the comparisons have none: give reference_group")
    return names


def _complete_groups(comparisons: Comparisons, policy: str) -> list[int]:
    """Return the positions of the groups that the fairness measures compare."""
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

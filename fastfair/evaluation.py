"""`evaluate`: the whole way from comparisons to rates and measures, in one call."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _frames, _validation, curves
from ._quantities import BaseMetric, RatePair, measure_all
from ._results import Rates
from ._version import __version__
from .comparisons import Comparisons
from .error_rates import rates_at_key
from .errors import DroppedWarning, EmptyGroupWarning, InputError
from .measures import MEASURES, ZERO_POLICIES
from .operating_points import (
    ENOUGH_ERRORS,
    OperatingPoint,
    at_fmr,
    at_mean_group_eer,
    mean_group_eer_key,
    threshold_key,
)

INCOMPLETE_GROUPS = ("raise", "drop", "nan")


@dataclass(frozen=True)
class Quantity:
    """One number of an evaluation.

    Attributes
    ----------
    name : str
        "threshold", "fmr", "fnmr", "eer", "min_dcf", "cllr", or a measure, its base metric in parentheses.
    group : str or None
        The group; None for all comparisons or for a measure over all groups. For `name` "fmr_matrix" the reference's
        and the probe's group, parted by " / ".
    operating_point : str or None
        Where it was taken; None where it needs none.
    estimate : float
        The value; NaN or infinite where it is not computable, and `note` says why.
    n_comparisons, n_errors, n_subjects : int or None
        What stands behind a rate.
    note : str
        What to beware of; empty where nothing.
    """

    name: str
    group: str | None
    operating_point: str | None
    estimate: float
    n_comparisons: int | None = None
    n_errors: int | None = None
    n_subjects: int | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Everything `evaluate` found, one quantity a row.

    Attributes
    ----------
    quantities : tuple of Quantity
        Every number, in the order of the report.
    rates : tuple of Rates
        Rates with counts and matrix at each operating point.
    groups : tuple of str
        All groups.
    measured_groups : tuple of str
        The groups that the measures run over: all but those dropped.
    settings : dict
        What was asked.
    description : str
        What was evaluated.
    """

    quantities: tuple[Quantity, ...]
    rates: tuple[Rates, ...]
    groups: tuple[str, ...]
    measured_groups: tuple[str, ...]
    settings: dict[str, Any]
    description: str

    def value(self, name: str, group: str | None = None, at: OperatingPoint | None = None) -> float:
        """Return one estimate.

        Parameters
        ----------
        name : str
            As in `Quantity`.
        group : str, optional
            The group; by default all comparisons.
        at : OperatingPoint, optional
            Needed where the quantity was taken at several.

        Returns
        -------
        float

        Raises
        ------
        InputError
            Where there is no such quantity, or several.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> ff.evaluate(c, at=[ff.at_threshold(0.35)]).value("fmr")
        0.5
        """
        point = None if at is None else str(at)
        found = [
            q for q in self.quantities if q.name == name and q.group == group and point in (None, q.operating_point)
        ]
        if len(found) == 1:
            return found[0].estimate
        if found:
            raise InputError(
                f"{name} was taken at {', '.join(str(q.operating_point) for q in found)}: say which with at="
            )
        names = sorted({q.name for q in self.quantities})
        if name not in names:
            raise InputError(f"there is no quantity {name!r}{_validation.did_you_mean(name, names)}")
        known = sorted({str(q.group) for q in self.quantities if q.name == name})
        raise InputError(
            f"{name} is not there for group {group!r} at {point}; it is for the groups {', '.join(known)} at "
            f"{', '.join(sorted({str(q.operating_point) for q in self.quantities if q.name == name}))}"
        )

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row a quantity, as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
            Columns as the attributes of `Quantity`; counts are NaN where there are none.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> ff.evaluate(c).to_frame("polars").columns[:4]
        ['name', 'group', 'operating_point', 'estimate']
        """
        columns: dict[str, list[Any]] = {}
        for field in Quantity.__dataclass_fields__:
            values = [getattr(q, field) for q in self.quantities]
            columns[field] = [math.nan if v is None else float(v) for v in values] if field.startswith("n_") else values
        return _frames.build(columns, backend)

    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything as JSON.

        Parameters
        ----------
        path : path, optional
            A file to write to as well.

        Returns
        -------
        str
            Strict JSON: what is not computable is null, and the quantity's note says why.

        Examples
        --------
        >>> import fastfair as ff
        >>> import json
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> json.loads(ff.evaluate(c).to_json())["quantities"][0]["name"]
        'threshold'
        """
        rows = [vars(q) | {"estimate": q.estimate if math.isfinite(q.estimate) else None} for q in self.quantities]
        content = {
            "fastfair": __version__,
            "description": self.description,
            "settings": self.settings,
            "groups": list(self.groups),
            "measured_groups": list(self.measured_groups),
            "quantities": rows,
        }
        text = json.dumps(content, indent=1, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def __repr__(self) -> str:
        points = ", ".join(str(r.at) for r in self.rates)
        return f"Evaluation({self.description}; at {points}; {len(self.quantities)} quantities)"


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
        What ratio measures make of group rates of zero; see `measures.replace_zeros`.
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

    Examples
    --------
    >>> import fastfair as ff
    >>> scores = [0.9, 0.3, 0.4, 0.1, 0.8, 0.7, 0.6, 0.2]
    >>> c = ff.Comparisons(scores, [1, 1, 0, 0] * 2, reference_group=list("aaaabbbb"))
    >>> ev = ff.evaluate(c, at=[ff.at_threshold(0.5)])
    >>> ev.value("fdr"), ev.value("fnmr", group="a")
    (0.5, 0.5)
    """
    points = [at] if isinstance(at, OperatingPoint) else list(at)
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

    at_points = [rates_at_key(comparisons, point, threshold_key(comparisons, point)) for point in points]
    threshold_free = {
        "eer": _metric(comparisons, lambda mated, nonmated: curves.equal_error(mated, nonmated, eer_method)[0]),
        "min_dcf": _metric(comparisons, lambda mated, nonmated: costs.least(mated, nonmated)[0]),
        "cllr": _metric(comparisons, curves.log_likelihood_ratio_cost),
    }
    quantities = [quantity for result in at_points for quantity in _rate_quantities(result)]
    for name, metric in threshold_free.items():
        quantities.append(Quantity(name, None, None, float(metric.overall)))
        quantities += [
            Quantity(name, group, None, float(value), note=_not_computable(value))
            for group, value in zip(comparisons.groups, metric.groups, strict=True)
        ]
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
    names = [measures] if isinstance(measures, str) else list(measures)
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

"""List all numbers of an evaluation, computed from rates and base metrics, for the estimate and for replicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.curve_results import Rates
from fastfair.measures._compute import KINDS, BaseMetric, MeasuredQuantity, RatePair, measure_all
from fastfair.resampling.engine import Replicates

Floats = NDArray[np.float64]
Key = tuple[str, str | None, str | None, int | None]  # name, group, probe's group and point

_AT_ONCE = 2**17  # numbers that the second cache holds, with what is made of them


@dataclass(frozen=True)
class Entry:
    """A number of an evaluation, or its replicates.

    Attributes
    ----------
    name, group, probe_group : str, str or None
        As in `Quantity`.
    point : int or None
        Position of the operating point; None for a number that needs none.
    value : () or (r,) ndarray
        The estimate, or the number in each replicate.
    cell : tuple of int, or None
        For a number of a group, the group of the reference and that of the probe; None for all comparisons.
    """

    name: str
    group: str | None
    point: int | None
    value: Any
    cell: tuple[int, int] | None = None
    probe_group: str | None = None

    @property
    def key(self) -> Key:
        """The name, groups and operating point, which no other entry of the evaluation shares."""
        return self.name, self.group, self.probe_group, self.point


@dataclass(frozen=True)
class Selection:
    """Which entries to list, and what is needed to compute them.

    Attributes
    ----------
    groups : tuple of str
        All groups.
    measured : tuple of int
        Groups that the measures compare.
    group_mated, group_nonmated : (groups,) ndarray
        Numbers of comparisons in each group.
    n_points : int
        Number of operating points to report.
    with_mean_group_eer : bool
        Whether the rates also hold, after those of the operating points to report, the ones at the mean of the groups'
        EER thresholds, from which SED is computed.
    metrics : tuple of str
        Metrics to report that need no operating point.
    measures : tuple of str
        Names of the fairness measures to report.
    alpha, zero_policy
        As in `evaluate`.
    matrix : tuple of tuple of int
        Pairs of groups, of reference and probe, whose FMR to report; empty without comparisons between groups.
    kinds : set of {"fmr", "fnmr", "both rates"}
        Of which rates to report measures at operating points.
    """

    groups: tuple[str, ...]
    measured: tuple[int, ...]
    group_mated: NDArray[np.int64]
    group_nonmated: NDArray[np.int64]
    n_points: int
    with_mean_group_eer: bool = False
    metrics: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    alpha: float = 0.5
    zero_policy: str | float = "keep"
    matrix: tuple[tuple[int, int], ...] = ()
    kinds: frozenset[str] = KINDS


def sizes_of_groups(comparisons: Comparisons) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of mated and of non-mated comparisons in each group."""
    if not comparisons.groups:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.diagonal(comparisons.mated_by_group.cells), np.diagonal(comparisons.nonmated_by_group.cells)


def estimates(at_points: Sequence[Rates], metrics: dict[str, Floats], cells: Sequence[tuple[int, int]]) -> Replicates:
    """Arrange point estimates as replicates are, but without the axis of replicates."""
    pairs = tuple(zip(*cells, strict=True)) if cells else ((), ())
    return Replicates(
        threshold=np.array([rates.threshold for rates in at_points]),
        fmr=np.array([[rates.fmr, *rates.group_fmr, *rates.fmr_matrix[pairs]] for rates in at_points]),
        fnmr=np.array([[rates.fnmr, *rates.group_fnmr] for rates in at_points]),
        metrics=metrics,
        cells=tuple(cells),
    )


def entries(base: Replicates, selection: Selection) -> Iterator[Entry]:
    """List all numbers in the order in which they are reported."""
    n_groups = len(selection.groups)
    position = {(k, k): 1 + k for k in range(n_groups)}
    position |= {cell: 1 + n_groups + k for k, cell in enumerate(base.cells)}
    for point in range(selection.n_points):
        yield Entry("threshold", None, point, base.threshold[point])
        yield Entry("fmr", None, point, base.fmr[point, 0])
        yield Entry("fnmr", None, point, base.fnmr[point, 0])
        for name, rates in (("fmr", base.fmr), ("fnmr", base.fnmr)):
            for k, group in enumerate(selection.groups):
                yield Entry(name, group, point, rates[point, 1 + k], (k, k))
        for i, j in selection.matrix:
            value = base.fmr[point, position[i, j]]
            yield Entry("fmr_matrix", selection.groups[i], point, value, (i, j), selection.groups[j])
    for name in selection.metrics:
        overall, *of_groups = base.metrics[name]
        yield Entry(name, None, None, overall)
        for k, (group, value) in enumerate(zip(selection.groups, of_groups, strict=True)):
            yield Entry(name, group, None, value, (k, k))
    yield from measure_entries(base, selection)


def measure_entries(base: Replicates, selection: Selection) -> Iterator[Entry]:
    """List the fairness measures only."""
    for found, points in measured_quantities(base, selection):
        for point, value in zip(points, found.value, strict=True) if points else [(None, found.value)]:
            if not found.per_group:
                yield Entry(found.name, None, point, value)
                continue
            for k, group in enumerate(selection.measured):
                yield Entry(found.name, selection.groups[group], point, value[..., k], (group, group))


def measured_quantities(base: Replicates, selection: Selection) -> Iterator[tuple[MeasuredQuantity, list[int]]]:
    """Compute the fairness measures, each at several operating points at once, in the order of `measure_entries`.

    Parameters
    ----------
    base : Replicates
        Rates and metrics.
    selection : Selection
        What to compute.

    Yields
    ------
    MeasuredQuantity
        Its values have the operating points on the first axis.
    list of int
        The operating points; empty for a measure that needs none, whose values have no such axis.
    """
    if not selection.measures:
        return
    rows = [1 + k for k in selection.measured]
    # Of all groups without a copy.
    of_measured: Any = slice(1, 1 + len(rows)) if rows == list(range(1, 1 + len(rows))) else rows

    def metric(values: Floats, axis: int = 0, comparisons: NDArray[np.int64] | None = None) -> BaseMetric:
        # Groups are last as measures want them, and not in memory: replicates side by side make vectors.
        of_groups = np.moveaxis(values[(slice(None),) * axis + (of_measured,)], axis, -1)
        of_each = None if comparisons is None else comparisons[list(selection.measured)]
        return BaseMetric(np.take(values, 0, axis), of_groups, of_each)

    def pair(fmr: Floats, fnmr: Floats, axis: int = 0) -> RatePair:
        rates = metric(fmr, axis, selection.group_nonmated), metric(fnmr, axis, selection.group_mated)
        return RatePair(*rates, selection.kinds)

    n = selection.n_points
    if selection.with_mean_group_eer:
        at_mean = pair(base.fmr[n], base.fnmr[n])
    else:
        nothing = metric(np.full_like(base.fnmr[0] if len(base.fnmr) else next(iter(base.metrics.values())), np.nan))
        at_mean = RatePair(nothing, nothing)
    metrics = {name: metric(values) for name, values in base.metrics.items()}
    stretches = np.array_split(np.arange(n), n_calls(n, base.fmr[:1].size)) if n else []
    at_points = [pair(base.fmr[points], base.fnmr[points], axis=1) for points in stretches]
    for found in measure_all(selection.measures, at_points, metrics, at_mean, selection.alpha, selection.zero_policy):
        yield found, [] if found.point is None else stretches[found.point].tolist()


def n_calls(n: int, size: int) -> int:
    """Return into how many calls to divide n arrays of a size: as few as keep each call's data in the CPU's cache."""
    return min(n, -(-n * size // _AT_ONCE))

"""The numbers of an evaluation: computed, reported with intervals, and found in lists.

An `Entry` is a number, or its replicates, with its position among groups and operating points. A
`Quantity` is what an evaluation reports of an entry: with its interval, counts and notes. An
`Estimate` is a row of another result, such as a plan or searches, and `Estimated` what both have. What
is known of a name, whatever the data, is an `Estimand` of `measures`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arrays import Floats, Integers
from fastfair._lib.tables import columns_of
from fastfair._lib.text import did_you_mean, number_with_interval, rate_with_interval
from fastfair._lib.threads import in_threads
from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.error_rates.rates import ERROR_RATES, Rates
from fastfair.errors import InputError, NarrowIntervalsWarning
from fastfair.measures._fairness import KINDS, BaseMetric, MeasuredQuantity, measure_all
from fastfair.measures._registry import (
    ACCURACY,
    MATED,
    METRICS,
    SUCCESSES,
    TRUE_MATCHES,
    difference_of,
    methods_of,
    names_of,
    printed_name,
    quantity_name,
)
from fastfair.resampling.engine import Replicates

from .notes import Code, Note, Noted

RATES, WITH_FAILURES, FAILURE_RATES = map(names_of, ("rate", "rate with failures", "failure rate"))
# proportions
IN_PER_CENT = tuple(
    name for name, metric in METRICS.items() if "logit" in methods_of(name) and metric.in_per_cent
)


def is_in_per_cent(name: str) -> bool:
    """Return whether people read a quantity, or the difference of two, in per cent."""
    return (difference_of(name) or name) in IN_PER_CENT


OF_MATED = tuple(name for name, metric in METRICS.items() if metric.sides == (MATED,))
FITTED = tuple(name for name, metric in METRICS.items() if metric.fitted)
# the second is minus the logarithm
RATIOS = ("group_to_average_ratio", "group_to_average_log_ratio")

# The order of columns in tables of estimates: what is named in neither stands between.
_FIRST = (
    "requirement", "application", "name", "group", "stratum", "standardised", "at", "threshold", "weight", "fraction",
    "cut", "relation", "bound", "estimate", "low", "high",
)  # fmt: skip
_LAST = ("n_comparisons", "n_errors", "n_subjects", "notes")
_COPIED = ("group", "estimate", "n_comparisons", "n_errors", "n_subjects", "notes")

_OPPOSITE = {"less": "greater", "greater": "less"}  # alternatives
_Grouped = TypeVar("_Grouped", bound="Estimate")
_Mirrored = TypeVar("_Mirrored", bound="Estimated")
Key = tuple[str, str | None, str | None, OperatingPoint | None]
Group = str | tuple[str, str] | None  # a group, the reference's and the probe's, or all comparisons


class Estimated(Noted):
    """A row of a result: how its operating point and its title are written, and whether it has an
    interval.
    """

    name: str
    group: str | None
    probe_group: str | None
    at: OperatingPoint | None
    estimate: float
    low: float | None
    high: float | None

    @property
    def operating_point(self) -> str | None:
        """The operating point as text, as tables and files have it; None where none is needed."""
        at = getattr(self, "at", None)
        return None if at is None else str(at)

    @property
    def title(self) -> str:
        """What people call the row, such as "FNMR of f at FMR=0.001"."""
        group = getattr(self, "group", None)
        probe_group = getattr(self, "probe_group", None)
        about = {"of": group, "with": probe_group, "at": self.operating_point}
        said = [f" {word} {value}" for word, value in about.items() if value is not None]
        return printed_name(getattr(self, "name", "estimate")) + "".join(said)

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        low = getattr(self, "low", None)
        return low is not None and not math.isnan(low)


@dataclass(frozen=True, kw_only=True)
class Estimate(Estimated):
    """An estimate of all comparisons or of a group: what the rows of most results are.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    estimate : float
        The value in the data; NaN where it is not computable, and `note` says why.
    low, high : float
        Its interval; NaN where there is none, and `note` says why.
    n_comparisons, n_errors, n_subjects : int or None
        Numbers of comparisons, errors and subjects behind a rate; None for what is no rate.
    notes : tuple of Note
        Warnings for the reader; `note` is their text, and `flags` the codes of what verdicts depend
        on.
    """

    group: str | None = None
    estimate: float
    low: float = math.nan
    high: float = math.nan
    n_comparisons: int | None = None
    n_errors: int | None = None
    n_subjects: int | None = None
    notes: tuple[Note, ...] = ()

    # of these attributes, those that rows of a class have none of
    _unused: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _column_names(cls) -> list[str]:
        """Return the columns of a table: what tells rows apart, the estimate, what else they have,
        and the counts.
        """
        names = [column.name for column in fields(cls) if column.name not in cls._unused]
        places = {name: k for k, name in enumerate((*_FIRST, "", *_LAST))}
        return sorted(names, key=lambda name: places.get(name, places[""]))

    @classmethod
    def _of(cls, quantity: Quantity, **more: Any) -> Self:
        """Make a row of a quantity of an evaluation, with what else the row has."""
        low, high = ends_of(quantity)
        copied = {name: getattr(quantity, name) for name in _COPIED}
        return cls(**(copied | {"low": low, "high": high} | more))


def of_group(
    rows: Sequence[_Grouped], group: str | None, groups: Sequence[str], name: str = ""
) -> list[_Grouped]:
    """Return the rows of a group, or of all comparisons for None; those of one quantity where a
    name is given.
    """
    if group is not None:
        validation.choice("group", group, groups)
    return [row for row in rows if row.group == group and name in ("", getattr(row, "name", ""))]


def warn_of_narrow(rows: Sequence[Estimate]) -> None:
    """Warn where the notes of rows say that an interval is likely too narrow."""
    if any(note.warns for row in rows for note in row.notes):
        warn(
            "some intervals are likely too narrow: the notes of the rates say why",
            NarrowIntervalsWarning,
        )


def ends_of(quantity: Quantity) -> tuple[float, float]:
    """Return the interval of a quantity; NaN where there is none."""
    low, high = (math.nan if end is None else end for end in (quantity.low, quantity.high))
    return low, high


@dataclass(frozen=True)
class Quantity(Estimated):
    """One number of an evaluation.

    Attributes
    ----------
    name : str
        "threshold", "fmr", "fnmr", "fmr_matrix", "eer", "min_dcf", "cllr", "min_cllr", "auc",
        "d_prime", "accuracy", "tmr", "tar", or a fairness measure followed by its base metric, if
        it has one, in parentheses, such as "gini(fmr)".
    group : str or None
        The group; None for all comparisons and for a measure over all groups. For "fmr_matrix", the
        reference's group.
    at : OperatingPoint or None
        The operating point; None where the quantity needs none. Tables and files hold its text as
        `operating_point`.
    estimate : float
        The value; NaN or infinite where it is not computable, and `note` says why.
    low, high : float or None
        Confidence interval; None where there are no replicates and no closed form of it, NaN where
        it is not computable, and `note` says why.
    method : str or None
        The method of the interval: one of `intervals.confidence_interval`, "inversion", "log",
        "clopper-pearson", or "closed form" without replicates.
    standard_error : float or None
        Standard deviation of the finite replicates, or without them that of the closed form; NaN
        where people share so few sessions that there is no interval.
    not_computable : float or None
        Share of replicates in which the quantity was not computable: NaN or infinite.
    n_comparisons, n_errors, n_subjects : int or None
        The numbers of comparisons, errors and subjects behind a rate; None for other quantities.
    concentration : float or None
        The share of a rate's errors that involve one of the 5 % of subjects with most of them; None
        without errors, without subjects, and for other quantities.
    notes : tuple of Note
        Warnings for the reader. `note` is their text, such as "fewer than 30 errors", and `flags`
        the codes of what verdicts depend on, separated by spaces; both may be empty. "narrow": the
        interval is likely too narrow. "below-resolution": too few errors are expected at the
        operating point. "unknown-concentration": there are too few false matches to see whether few
        subjects cause most of them.
    probe_group : str or None
        For "fmr_matrix", the probe's group.
    pvalue : float or None
        For a fairness measure, the two-sided p-value of its fair value by test inversion, not
        adjusted for the number of measures; None where it cannot be computed, for all else and for
        other methods than "auto".
    """

    name: str
    group: str | None
    at: OperatingPoint | None
    estimate: float
    low: float | None = None
    high: float | None = None
    method: str | None = None
    standard_error: float | None = None
    not_computable: float | None = None
    n_comparisons: int | None = None
    n_errors: int | None = None
    n_subjects: int | None = None
    notes: tuple[Note, ...] = ()
    probe_group: str | None = None
    concentration: float | None = None
    pvalue: float | None = None

    def _as_read(self) -> Quantity:
        """Tell an interval that is withheld, whose ends are NaN, from none; JSON has null for
        both.
        """
        about = (self.method, self.standard_error, self.not_computable)
        if about == (None,) * 3:
            return self
        low, high = ends_of(self)
        return replace(self, low=low, high=high)

    @property
    def key(self) -> Key:
        """The name, groups and operating point, which no other quantity of the evaluation
        shares.
        """
        return self.name, self.group, self.probe_group, self.at


def noted(quantity: Quantity, *notes: Note) -> Quantity:
    """Return a quantity with more notes."""
    return replace(quantity, notes=(*quantity.notes, *notes)) if notes else quantity


def mirrored(row: _Mirrored, name: str, mirror: Callable[[float], float]) -> _Mirrored:
    """Return the row of a rate of success, or of a difference of two, given that of its errors.

    mirror: turns a value of the one into that of the other.
    """
    low, high = (None if end is None else mirror(end) for end in (row.high, row.low))
    notes = tuple(note for note in row.notes if note.code is not Code.CAUTIOUS_LIMIT)  # of errors
    about = {"name": name, "estimate": mirror(row.estimate), "low": low, "high": high}
    return replace(row, **about, notes=notes)  # type: ignore[type-var]


def with_successes(
    quantities: Sequence[Quantity],
    metrics: Sequence[str],
    alternative: str = "two-sided",
    intervals_of: Callable[[str], Sequence[Quantity]] | None = None,
) -> tuple[Quantity, ...]:
    """Add the TMR to each FNMR, and the TAR to each FRR, where they are among the metrics asked
    for.

    alternative: of the intervals that there are. An upper limit of the TMR is 1 minus a lower one
    of the FNMR, so one-sided ones are made of the `intervals_of` the opposite hypothesis.
    """
    if TRUE_MATCHES not in metrics:
        return tuple(quantities)
    opposite = _OPPOSITE.get(alternative)
    of_errors = intervals_of(opposite) if opposite and intervals_of else quantities
    errors = [row for row in of_errors if row.name in SUCCESSES]
    added = [mirrored(row, SUCCESSES[row.name], lambda value: 1 - value) for row in errors]
    return (*quantities, *added)


def table_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Turn quantities, or results like them, into columns; `title` is what tables, plots and pages
    call each.
    """
    columns = columns_of(rows)
    return columns | {"title": [printed_name(name) for name in columns["name"]]}


def base_metric_of_ratio(name: str) -> str:
    """Return the metric of which a quantity is a group's ratio to the average, or ""; "fmr" for
    "...ratio(fmr)".
    """
    measure, _, metric = name.partition("(")
    return metric.removesuffix(")") if measure in RATIOS else ""


def errors_behind_ratios(quantities: Sequence[Quantity]) -> dict[Key, int]:
    """Return the errors that a group's ratio to the average rests on, by its rate: its own, or all
    others' if fewer.
    """
    errors = {(q.name, q.group, q.at): q.n_errors for q in quantities if q.probe_group is None}
    behind_ratios = dict[Key, int]()
    for (name, group, at), of_group in errors.items():
        if of_group is not None and group is not None:
            of_all = errors.get((name, None, at))
            behind_ratios[name, group, None, at] = (
                of_group if of_all is None else min(of_group, of_all - of_group)
            )
    return behind_ratios


def in_words(quantity: Estimated) -> str:
    """Write an estimate with its interval: rates in per cent, all else as a number; what is held
    has no interval.

    Rows that name no quantity have a rate.
    """
    if quantity.is_held:
        return rate_with_interval(quantity.estimate)
    write = (
        rate_with_interval
        if is_in_per_cent(getattr(quantity, "name", IN_PER_CENT[0]))
        else number_with_interval
    )
    return write(quantity.estimate, quantity.low, quantity.high)


_AnyRow = TypeVar("_AnyRow", bound=Estimated)


def find(rows: Sequence[_AnyRow], name: str, group: Group, at: OperatingPoint | None) -> _AnyRow:
    """Find the one row with a name, a group (None for all comparisons) and, where there are
    several, operating point.

    Parameters
    ----------
    rows : sequence
        Quantities, or other results with a name, group and operating point.
    name, group, at
        As in `Evaluation.quantity`.

    Returns
    -------
    row

    Raises
    ------
    InputError
        Where there is no such row, or more than one.
    """
    called = quantity_name(name)
    named = [row for row in rows if row.name == called]
    if not named and called == "tar":
        named = [row for row in rows if row.name == TRUE_MATCHES]
    if not named:
        names = sorted({row.name for row in rows})
        if called in ("tar", TRUE_MATCHES) and "fnmr" in names:
            raise InputError(
                f"{name} is 1 - FNMR, or where comparisons failed 1 - FRR: evaluate with"
                ' ⟦metrics="tmr"⟧'
            )
        raise InputError(f"there is no quantity {name!r}{did_you_mean(called, names)}")
    matching = [row for row in named if _group_of(row) == group]
    if not matching:
        asked, *others = (
            "all comparisons" if known_group is None else repr(known_group)
            for known_group in dict.fromkeys((group, *map(_group_of, named)))
        )
        raise InputError(f"there is no {name} for {asked}, only for {', '.join(others)}")
    points = ", ".join(dict.fromkeys(str(getattr(row, "at", None)) for row in matching))
    matching = [row for row in matching if at in (None, getattr(row, "at", None))]
    if not matching:
        raise InputError(f"there is no {name} at {at}, only at {points}")
    if len(matching) > 1:
        raise InputError(f"there is {name} at {points}: choose one with ⟦at=⟧")
    return matching[0]


def _group_of(row: Estimated) -> Group:
    probe = getattr(row, "probe_group", None)  # which rows of one to many have none of
    return row.group if row.group is None or probe is None else (row.group, probe)


EntryKey = tuple[str, str | None, str | None, int | None]  # name, group, probe's group and point

_FEWEST_AT_ONCE = 500  # replicates that a thread takes
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
        For a number of a group, the group of the reference and that of the probe; None for all
        comparisons.
    """

    name: str
    group: str | None
    point: int | None
    value: Any
    cell: tuple[int, int] | None = None
    probe_group: str | None = None

    @property
    def key(self) -> EntryKey:
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
        Whether the rates also hold, after those of the operating points to report, the ones at the
        mean of the groups' EER thresholds, from which SED is computed.
    metrics : tuple of str
        Metrics to report that need no operating point.
    measures : tuple of str
        Names of the fairness measures to report.
    alpha, zero_policy
        As in `evaluate`.
    matrix : tuple of tuple of int
        Pairs of groups, of reference and probe, whose FMR to report; empty without comparisons
        between groups.
    kinds : set of {"fmr", "fnmr", "both rates"}
        Of which rates to report measures at operating points.
    rates : tuple of {"fmr", "fnmr"}
        Which rates to report; one of them where all comparisons are of one class.
    sizes : tuple of int
        Numbers of mated and of non-mated comparisons where the accuracy is to be reported, else
        empty.
    """

    groups: tuple[str, ...]
    measured: tuple[int, ...]
    group_mated: Integers
    group_nonmated: Integers
    n_points: int
    with_mean_group_eer: bool = False
    metrics: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    alpha: float = 0.5
    zero_policy: str | float = "keep"
    matrix: tuple[tuple[int, int], ...] = ()
    kinds: frozenset[str] = KINDS
    rates: tuple[str, ...] = ERROR_RATES
    sizes: tuple[int, ...] = ()

    def shares(self) -> Floats:
        """Return the (2, 1 + groups) shares of mated and of non-mated comparisons, of all and of
        each group.
        """
        sizes = np.array(
            [
                [self.sizes[0], *self.group_mated.tolist()],
                [self.sizes[1], *self.group_nonmated.tolist()],
            ],
            np.float64,
        )
        with np.errstate(invalid="ignore"):
            return sizes / sizes.sum(axis=0)


def sizes_of_groups(comparisons: Comparisons) -> tuple[Integers, Integers]:
    """Return the numbers of mated and of non-mated comparisons in each group."""
    if not comparisons.groups:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.diagonal(comparisons.mated_by_group.cells), np.diagonal(
        comparisons.nonmated_by_group.cells
    )


def estimates(
    at_points: Sequence[Rates], metrics: dict[str, Floats], cells: Sequence[tuple[int, int]]
) -> Replicates:
    """Arrange point estimates as replicates are, but without the axis of replicates."""
    pairs = tuple(zip(*cells, strict=True)) if cells else ((), ())
    return Replicates(
        threshold=np.array([rates.threshold for rates in at_points]),
        fmr=np.array(
            [[rates.fmr, *rates.group_fmr, *rates.fmr_matrix[pairs]] for rates in at_points]
        ),
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
        of_point = {"fmr": base.fmr[point], "fnmr": base.fnmr[point]}
        for name in selection.rates:
            yield Entry(name, None, point, of_point[name][0])
        for name in selection.rates:
            for k, group in enumerate(selection.groups):
                yield Entry(name, group, point, of_point[name][1 + k], (k, k))
        for i, j in selection.matrix:
            value = base.fmr[point, position[i, j]]
            yield Entry(
                "fmr_matrix", selection.groups[i], point, value, (i, j), selection.groups[j]
            )
        if selection.sizes:
            overall, *of_groups = _accuracies(base, selection, point)
            yield Entry(ACCURACY, None, point, overall)
            for k, (group, value) in enumerate(zip(selection.groups, of_groups, strict=True)):
                yield Entry(ACCURACY, group, point, value, (k, k))
    for name in selection.metrics:
        overall, *of_groups = base.metrics[name]
        yield Entry(name, None, None, overall)
        for k, (group, value) in enumerate(zip(selection.groups, of_groups, strict=True)):
            yield Entry(name, group, None, value, (k, k))
    yield from measure_entries(base, selection)


def _accuracies(base: Replicates, selection: Selection, point: int) -> Floats:
    """Return the (1 + groups, ...) shares of decisions that are right, of all and of each group."""
    rows = slice(0, 1 + len(selection.groups))
    fnmr, fmr = base.fnmr[point][rows], base.fmr[point][rows]
    of_mated, of_nonmated = selection.shares().reshape(2, -1, *(1,) * (fnmr.ndim - 1))
    return np.asarray(1 - of_mated * fnmr - of_nonmated * fmr)


def measure_entries(base: Replicates, selection: Selection) -> Iterator[Entry]:
    """List the fairness measures only."""
    groups = [(selection.groups[k], (k, k)) for k in selection.measured]
    for measured, points in measured_quantities(base, selection):
        labels = [
            (group, point, cell)
            for point in points or (None,)
            for group, cell in (groups if measured.per_group else [(None, None)])
        ]
        for (group, point, cell), value in zip(labels, rows_of(measured, points), strict=True):
            yield Entry(measured.name, group, point, value, cell)


def rows_of(measured: MeasuredQuantity, points: Sequence[int]) -> Floats:
    """Return the values of a measure, (entries, ...), as `measure_entries` lists them."""
    values = measured.value if points else np.asarray(measured.value)[None]
    if not measured.per_group:
        return values
    return np.moveaxis(values, -1, 1).reshape(-1, *values.shape[1:-1])


def numbers(base: Replicates, selection: Selection, n_threads: int | None = None) -> Floats:
    """Compute all numbers at once, (entries, ...), in the order of `entries`.

    Threads share replicates in parts that do not depend on their number.
    """
    if base.fnmr.ndim < 3:
        return _numbers(base, selection)
    r = base.fnmr.shape[2]
    ends = np.linspace(0, r, max(1, r // _FEWEST_AT_ONCE) + 1).astype(int).tolist()
    parts = [slice(*both) for both in itertools.pairwise(ends)]
    of_one = _numbers(base.part(slice(0, 1)), selection)
    computed = np.empty((len(of_one), r), of_one.dtype)

    def compute(part: slice) -> None:
        computed[:, part] = _numbers(base.part(part), selection)

    in_threads(base.fmr.size, compute, parts, n_threads)
    return computed


def _numbers(base: Replicates, selection: Selection) -> Floats:
    groups = slice(1, 1 + len(selection.groups))
    position = {(k, k): 1 + k for k in range(groups.stop - 1)}
    position |= {cell: groups.stop + k for k, cell in enumerate(base.cells)}
    between = [position[cell] for cell in selection.matrix]
    rows = list[Floats]()
    for p in range(selection.n_points):
        rates = [getattr(base, name)[p] for name in selection.rates]
        rows += [base.threshold[p : p + 1], *(rate[:1] for rate in rates)]
        rows += [*(rate[groups] for rate in rates), base.fmr[p][between]]
        rows += [_accuracies(base, selection, p)] if selection.sizes else []
    rows += [base.metrics[name] for name in selection.metrics]
    rows += [rows_of(*measured) for measured in measured_quantities(base, selection)]
    return np.concatenate(rows)


def measured_quantities(
    base: Replicates, selection: Selection
) -> Iterator[tuple[MeasuredQuantity, list[int]]]:
    """Compute the fairness measures, each at several operating points at once, in the order of
    `measure_entries`.

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

    def metric(values: Floats, axis: int = 0, comparisons: Integers | None = None) -> BaseMetric:
        # Groups are last as measures want them, and not in memory: replicates side by side make
        # vectors.
        of_groups = np.moveaxis(values[(slice(None),) * axis + (of_measured,)], axis, -1)
        of_each = None if comparisons is None else comparisons[list(selection.measured)]
        return BaseMetric(of_groups, np.take(values, 0, axis), of_each)

    def rates(fmr: Floats, fnmr: Floats, axis: int = 0) -> dict[str, BaseMetric]:
        fmrs = metric(fmr, axis, selection.group_nonmated)
        fnmrs = metric(fnmr, axis, selection.group_mated)
        return {"fmr": fmrs, "fnmr": fnmrs}

    n = selection.n_points
    if selection.with_mean_group_eer:
        at_mean = rates(base.fmr[n], base.fnmr[n])
    else:
        nothing = metric(
            np.full_like(
                base.fnmr[0] if len(base.fnmr) else next(iter(base.metrics.values())), np.nan
            )
        )
        at_mean = {"fmr": nothing, "fnmr": nothing}
    metrics = {name: metric(values) for name, values in base.metrics.items()}
    stretches = np.array_split(np.arange(n), n_calls(n, base.fmr[:1].size)) if n else []
    at_points = [rates(base.fmr[points], base.fnmr[points], axis=1) for points in stretches]
    how = selection.alpha, selection.zero_policy, selection.kinds
    for measured in measure_all(selection.measures, at_points, metrics, at_mean, *how):
        yield measured, [] if measured.point is None else stretches[measured.point].tolist()


def n_calls(n: int, size: int) -> int:
    """Return into how many calls to divide n arrays of a size: as few as keep each call's data in
    the CPU's cache.
    """
    return min(n, -(-n * size // _AT_ONCE))

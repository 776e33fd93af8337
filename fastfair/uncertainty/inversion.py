"""Intervals of fairness measures by test inversion: which fairer or less fair systems would yield
such an estimate?

Groups' estimated rates differ by chance even in a fair system. Replicates add chance to the
estimate, so they look less fair than it, and never quite fair. Test inversion moves the replicates
to systems whose groups differ less, or more, than the data. The interval covers the measures of
those systems among whose replicates the estimate is not unusual.

Replicates of a rate of 0 are all 0, and cannot be moved to a fairer or less fair system. Where a
group has no errors, numbers of errors are drawn instead: of false matches from gamma-Poisson
distributions, of false non-matches from beta-binomial ones, whose variances are those of data in
which errors share subjects. The way from fair to unfair systems leads through rates (x + 1/2) / (n
+ 1 / (2 p)), with x errors in n comparisons of a group and the rate p of all groups. All rates of a
system are multiplied by a number, so that as many errors are expected in all groups together as the
data have.

A measure of the less certain of two equally fair systems is larger by chance, so that a difference
of two systems says nothing on its own. For its p-value, both systems are moved to a common value u
of the measure, and p(u) is twice the smaller share of their replicates' differences that are as
large, or as small, as the data's. The p-value is the largest p(u) of the values u that neither
system's own inversion rejects at gamma / 2, plus gamma (Berger and Boos, "P values maximized over a
confidence set for the nuisance parameter", Journal of the American Statistical Association 89,
1994).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arrays import Flags, Floats, Indices, Integers, RandomKey
from fastfair._lib.seeds import Purpose
from fastfair._lib.threads import in_threads
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.measures import MEASURES
from fastfair.measures._registry import METRICS, THRESHOLD_FREE, is_better_above, measure_of
from fastfair.resampling.dependence import CountModel
from fastfair.resampling.engine import Replicates

from .notes import ENOUGH_EFFECTIVE_ATTEMPTS
from .quantities import (
    EntryKey,
    Selection,
    measure_entries,
    measured_quantities,
    n_calls,
    rows_of,
)

NO_SUCH_ERRORS = "no such errors"  # instead of a method
FEW_DRAWN = "inversion with few errors"  # drawn anew
INVERSION = "inversion"  # what the method of intervals by test inversion is called
# Powers that the groups' differences are raised to: 0 is fair, 1 as estimated. Shares are
# interpolated between them.
POWERS = np.array([0, 0.3, 0.6, 1, 1.3, 1.7, 2.5, 4, 10])
# at which measures are followed from fair to unfair
_STEPS = POWERS[-1] * np.linspace(0, 1, 201) ** 2
_ROUNDING = 1e-12  # by which sums of floats may keep a fair system's measure from the fair value
# errors of all groups, with which intervals miss the truth more often where subjects err unequally
_FEW_ERRORS_OF_ALL = 10
_LEAST_SIZE = 0.5  # of a beta distribution, where one comparison leaves nothing to be alike
_INFINITE = 1e13  # trials, of which beta-binomial numbers are gamma-Poisson ones
# What p-values of `AlikeGroups` are divided by for relative measures, such as Gini coefficients, so
# that these keep their power.
_RELATIVE_DIVISOR = 3
GAMMA = 0.01
_VALUES = 16  # of the measure, at which systems are compared


@dataclass(frozen=True, eq=False)
class Inversion:
    """How the estimates of measures compare with the replicates of fairer and of less fair systems.

    Attributes
    ----------
    keys : tuple of EntryKey
        The measures.
    as_unfair, as_fair : (measures, powers) ndarray
        For each system, the shares of its replicates that are at least as unfair, and at least as
        fair, as the estimate; NaN where a group has no errors, as its rate of 0 cannot be moved.
    path : (measures, steps) ndarray
        The measures of the systems themselves.
    n_replicates : int
        Number of replicates.
    """

    keys: tuple[EntryKey, ...]
    as_unfair: Floats
    as_fair: Floats
    path: Floats
    n_replicates: int

    @property
    def pvalues(self) -> Floats:
        """(measures,) two-sided p-values of the fair value; NaN where a group has no errors.

        Twice the share of a fair system's replicates that are at least as unfair as the estimate.
        That is below 0.05 where the 95 % interval leaves the fair value out, unless chance rejects
        a system that is a little less fair.
        """
        return np.clip(2 * self.as_unfair[:, 0], 1 / self.n_replicates, 1)

    def intervals(
        self, confidence_level: float, asked: Flags | None = None
    ) -> tuple[Floats, Floats]:
        """Return the least and the largest measure among the systems that are not rejected; NaN
        where none is left.

        asked: (measures,) of which; by default of all.
        """
        from scipy.special import ndtri

        tail = (1 - confidence_level) / 2
        least = 0.5 / self.n_replicates  # stands for a share of 0, whose normal deviate is infinite
        wanted = float(ndtri(tail)) if tail > least else -np.inf
        as_unfair, as_fair = (
            ndtri(np.clip(share, least, 1 - least)) for share in (self.as_unfair, self.as_fair)
        )
        low, high = np.full((2, len(self.keys)), np.nan)
        is_defined = ~(np.isnan(as_unfair).any(axis=1) | np.isnan(self.path).any(axis=1))
        is_defined &= True if asked is None else asked
        path = self.path[is_defined]
        as_unfair = as_unfair[is_defined]
        as_fair = as_fair[is_defined]
        first = _first_accepted(POWERS, as_unfair, wanted)
        last = np.maximum(first, _first_accepted(POWERS[::-1], as_fair[:, ::-1], wanted))
        ends = np.empty((len(path), 2))
        for k, reached in enumerate(np.stack((first, last), axis=1)):
            ends[k] = np.interp(reached, _STEPS, path[k])
        inside = (first[:, None] <= _STEPS) & (last[:, None] >= _STEPS)
        rises = np.diff(path)
        turns = (rises < -_ROUNDING).any(axis=1) & (rises > _ROUNDING).any(axis=1)
        turns &= ~(_come_first(as_unfair < wanted) & _come_first(as_fair[:, ::-1] < wanted))
        for k in np.flatnonzero(turns).tolist():
            # As of a group in the middle, whose distance from the best one grows and then shrinks.
            # Where it does not turn, chance alone rejects systems between others, and a fair one is
            # never rejected as too fair.
            accepted = np.interp(_STEPS, POWERS, np.minimum(as_unfair[k], as_fair[k])) >= wanted
            if accepted.any():
                inside[k] = accepted
                ends[k] = path[k, accepted][:1]
        low[is_defined] = np.minimum(np.where(inside, path, np.inf).min(axis=1), ends.min(axis=1))
        high[is_defined] = np.maximum(np.where(inside, path, -np.inf).max(axis=1), ends.max(axis=1))
        return low, high


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the measures: those of some rates at an operating point, or those that need no
    operating point.

    Attributes
    ----------
    selection : Selection
        The measures, with the operating points counted within the part.
    places : (n,) ndarray of int
        Where the rates of these points are among all rates.
    with_metrics : bool
        Whether it has measures that need no operating point.
    """

    selection: Selection
    places: Indices
    with_metrics: bool

    def of(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Return the rates of the part's points, and the metrics where it needs them."""
        rates = {
            name: values[name][self.places]
            for name in ERROR_RATES
            if name in values and self.places.size
        }
        return rates | {
            name: x for name, x in values.items() if name not in ERROR_RATES and self.with_metrics
        }


class MovedSystems:
    """Systems on the way from fair to unfair that leads through the data, with the data's
    replicates moved along.

    Parameters
    ----------
    estimates : Replicates
        The estimates, without an axis of replicates.
    drawn : Replicates
        The replicates.
    selection : Selection
        As for `entries`. Measures that are fairest between lower and higher values, such as a
        group's ratio to the average, are left out.
    n_threads : int, optional
        Number of threads; all processors by default.
    points : sequence of int, optional
        The positions of the operating points among those of the evaluation; by default all.

    Attributes
    ----------
    keys : tuple of EntryKey
        The measures.
    estimates : (measures,) ndarray
        The measures in the data.
    signs : (measures,) ndarray
        -1 for measures of which larger values are fairer, 1 for others.
    """

    def __init__(
        self,
        estimates: Replicates,
        drawn: Replicates,
        selection: Selection,
        n_threads: int | None = None,
        points: Sequence[int] = (),
    ) -> None:
        self._n_threads = n_threads
        self.points = points or range(selection.n_points)
        measured = list(selection.measured)
        self._selection = replace(
            selection,
            groups=tuple(selection.groups[k] for k in measured),
            measures=tuple(
                name for name in selection.measures if MEASURES[name].fairer != "nearer"
            ),
            measured=tuple(range(len(measured))),
            group_mated=selection.group_mated[measured],
            group_nonmated=selection.group_nonmated[measured],
        )
        rows = [0, *(1 + k for k in measured)]
        self._start, self._scattered = _take(estimates, rows), _take(drawn, rows)
        entries = list(measure_entries(base_of(self._start), self._selection))
        self.estimates = np.array([float(entry.value) for entry in entries])
        self.signs = np.array([-1.0 if is_better_above(entry.name) else 1.0 for entry in entries])
        self._fair = np.array(
            [measure.fair_value for entry in entries if (measure := measure_of(entry.name))]
        )
        self.n_replicates: int = drawn.threshold.shape[-1]
        n_rates = max(
            (len(values) for name, values in self._start.items() if name in ERROR_RATES), default=0
        )
        self._whole = Part(self._selection, np.arange(n_rates), with_metrics=True)
        self.keys = tuple((*entry.key[:3], self._point(entry.point)) for entry in entries)
        self._rows: dict[tuple[str, int | None], list[int]] = {}
        for row, (name, _, _, point) in enumerate(self.keys):
            self._rows.setdefault((name, point), []).append(row)

    def _point(self, p: int | None) -> int | None:
        """Return an operating point's position among those of the evaluation."""
        return None if p is None else self.points[p]

    def _followed(self, powers: Floats) -> dict[str, Floats]:
        """Return the (..., powers) rates and metrics of the systems themselves."""
        return {
            name: moved_rates(values, powers, METRICS[name].range[1])
            for name, values in self._start.items()
        }

    def path(self, powers: Floats) -> Floats:
        """Return the (measures, powers) measures of the systems themselves."""
        followed = measured_quantities(base_of(self._followed(powers)), self._selection)
        values = np.concatenate(
            [np.empty((0, powers.size)), *(rows_of(*measured) for measured in followed)]
        )
        fair = self._fair[:, None]
        return np.where(np.abs(values - fair) < _ROUNDING, fair, values)

    def replicates(self, powers: Floats) -> Iterator[Floats]:
        """Yield the (powers, r) replicates of each measure."""
        moved = base_of(self._moved(self._whole, powers))
        for measured in measured_quantities(moved, self._selection):
            yield from rows_of(*measured)

    def invert(self) -> Inversion:
        """Compare the estimates of measures with the replicates of fairer and less fair systems."""
        shares, path = self._shares_at(POWERS, partial(self.path, _STEPS))
        return Inversion(self.keys, shares[..., 0], shares[..., 1], path, self.n_replicates)

    def _shares_at(self, powers: Floats, beside: Callable[[], Any] = lambda: None) -> Any:
        """Return (measures, powers, 2) shares of replicates that are at least as unfair, and at
        least as fair, as the estimates, and the result of what is called beside.
        """
        shares = np.full((len(self.keys), powers.size, 2), np.nan)
        points = {point for _, point in self._rows}
        size = 0
        calls = list[Callable[[], Any]]()
        for part in self._parts():
            if points.isdisjoint(self._points_of(part)):
                continue
            at_once = self._n_numbers(part)
            size += at_once
            stretches = np.array_split(np.arange(powers.size), n_calls(powers.size, at_once))
            calls += [partial(self._fill, shares, part, powers, some) for some in stretches]
        *_, result = in_threads(size, lambda call: call(), [*calls, beside], self._n_threads)
        return shares, result

    def _points_of(self, part: Part) -> list[int | None]:
        """Return the operating points of a part's measures as keys have them."""
        return [None] if part.with_metrics else [*map(self._point, part.places.tolist())]

    def _fill(self, shares: Floats, part: Part, powers: Floats, which: Indices) -> None:
        """Write the shares of the measures of a part, at some powers, into their places."""
        moved = base_of(self._moved(part, powers[which]))
        of_part = self._points_of(part)
        for measured, points in measured_quantities(moved, part.selection):
            values = rows_of(measured, points)
            at = [of_part[p] for p in points] or [None]
            rows = np.concatenate([self._rows[measured.name, point] for point in at])
            sign = self.signs[rows[0]]
            estimates = self.estimates[rows, None, None]
            shares[rows[:, None], which] = _shares(
                values if sign > 0 else -values, sign * estimates
            )

    def _moved(self, part: Part, powers: Floats) -> dict[str, Floats]:
        """Return the (..., powers, r) replicates of the rates and metrics of a part."""
        start = part.of(self._start)
        return {
            name: _scatter(values, start[name], powers, METRICS[name].range[1])
            for name, values in part.of(self._scattered).items()
        }

    def _n_numbers(self, part: Part) -> int:
        """Count the replicates of the largest array of a part at one power."""
        return max((values.size for values in part.of(self._scattered).values()), default=0)

    def _kinds(self, p: int) -> frozenset[str]:
        """Return the rates whose measures at a point can be followed: none where a group has no
        errors.
        """
        rates = {name for name in ERROR_RATES if (self._start[name][p, 1:] > 0).all()}
        both = {"both rates"} if len(rates) == len(ERROR_RATES) else set()
        return frozenset(rates | both) & self._selection.kinds

    def _parts(self) -> list[Part]:
        """Return the measures that can be followed at each operating point, and those that need
        none.
        """
        n = self._selection.n_points
        measures = at_points(self._selection.measures)
        of_one = replace(self._selection, n_points=1, with_mean_group_eer=False, measures=measures)
        parts = [
            Part(replace(of_one, kinds=kinds), np.array([p]), with_metrics=False)
            for p in range(n)
            if (kinds := self._kinds(p))
        ]
        rest = Part(replace(self._selection, n_points=0), self._whole.places[n:], with_metrics=True)
        return [*parts, rest] if rest.of(self._start) else parts


def _take(base: Replicates, rows: list[int]) -> dict[str, Floats]:
    """Keep the rates and metrics of all comparisons and of the groups measured; any axis of
    replicates stays last.
    """
    rates = {"fmr": base.fmr, "fnmr": base.fnmr} if len(base.fmr) else {}
    kept = {name: values[:, rows] for name, values in rates.items()}
    return kept | {
        name: base.metrics[name][rows] for name in THRESHOLD_FREE if name in base.metrics
    }


def at_points(measures: tuple[str, ...]) -> tuple[str, ...]:
    """Return the measures that are computed at operating points."""
    return tuple(name for name in measures if not MEASURES[name].own_threshold)


def base_of(values: dict[str, Floats]) -> Replicates:
    """Arrange rates and metrics as replicates are."""
    nothing = np.empty((0, 1))
    metrics = {name: values[name] for name in THRESHOLD_FREE if name in values}
    return Replicates(nothing, values.get("fmr", nothing), values.get("fnmr", nothing), metrics, ())


def moved_rates(start: Floats, powers: Floats, most: float) -> Floats:
    """Raise the groups' ratios to their geometric mean to powers; the first row, of all
    comparisons, moves as they do.

    start: (..., rows). Returns (..., rows, powers).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(start > 0, np.log(start), np.nan)
    middle = logs[..., 1:].mean(axis=-1, keepdims=True)
    return np.minimum(np.exp(middle[..., None] + (logs - middle)[..., None] * powers), most)


def _scatter(drawn: Floats, start: Floats, powers: Floats, most: float) -> Floats:
    """Move replicates as `moved_rates` does estimates; their spread grows with the root of the
    rate, as of counts.

    drawn: (..., rows, r); start: (..., rows). Returns (..., rows, powers, r).
    """
    to = moved_rates(start, powers, most)[..., None]
    about = start[..., None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.asarray((drawn[..., None, :] - about) * np.sqrt(to / about))
        moved += to
    return np.clip(moved, 0, most, out=moved)


def _shares(replicates: Floats, estimates: Floats) -> Floats:
    """Return the shares of replicates, without NaN, that are at least, and at most, as large as the
    estimates.

    replicates: (..., r); estimates: (..., 1). Returns (..., 2), NaN where all replicates are.
    """
    above, below, defined = (
        is_counted.sum(axis=-1, dtype=np.int32)
        for is_counted in (replicates > estimates, replicates < estimates, ~np.isnan(replicates))
    )
    with np.errstate(invalid="ignore"):
        return np.stack((1 - below / defined, 1 - above / defined), axis=-1)


def _come_first(rejected: Flags) -> Flags:
    """(measures,) whether all that is rejected, (measures, powers), comes before all that is
    accepted.
    """
    return np.asarray((rejected[:, :-1] >= rejected[:, 1:]).all(axis=1))


def _first_accepted(powers: Floats, deviates: Floats, wanted: float) -> Floats:
    """Return the powers after the last rejected one at which the deviates, (measures, powers),
    reach `wanted` where they are interpolated.
    """
    rejected = deviates < wanted
    last = powers.size - 1 - np.argmax(rejected[:, ::-1], axis=1)
    k = np.minimum(last, powers.size - 2)
    row = np.arange(len(deviates))
    before = deviates[row, k]
    after = deviates[row, k + 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        between = powers[k] + (wanted - before) / (after - before) * (powers[k + 1] - powers[k])
    accepted = np.where(last == powers.size - 1, powers[-1], between)
    return np.where(rejected.any(axis=1), accepted, powers[0])


def points_without_errors(
    models: Sequence[dict[str, CountModel]], measured: Sequence[int]
) -> list[int]:
    """Return the operating points at which one of the groups measured has no errors of a kind."""
    rows = list(measured)
    return [
        p
        for p, of_point in enumerate(models)
        if any((model.errors[rows] == 0).any() for model in of_point.values())
    ]


class AlikeGroups(MovedSystems):
    """Fair systems at the mean of the groups' rates, with replicates that vary no less than all
    groups together do.

    Few people fail most attempts. A group that happens to have none of them has replicates that
    hardly vary, and a fair system seems unfair by measures that add up what rates differ by. So the
    standard deviation of a group's FNMR is here at least that of beta-binomial numbers with the
    correlation of all groups together, and that of its EER is raised as its FNMR's at the mean of
    the groups' EER thresholds.

    Parameters
    ----------
    estimates, drawn, selection, n_threads
        As for `MovedSystems`. Measures that divide by a group's rate are left out, as they hold the
        truth without this.
    models : callable
        Makes the models of numbers of errors at each operating point.
    """

    def __init__(
        self,
        estimates: Replicates,
        drawn: Replicates,
        selection: Selection,
        models: Callable[[], list[dict[str, CountModel]]],
        n_threads: int | None = None,
    ) -> None:
        without_ratio = tuple(name for name in selection.measures if not MEASURES[name].ratio)
        super().__init__(estimates, drawn, replace(selection, measures=without_ratio), n_threads)
        measured = list(selection.measured)
        spread = (
            self._scattered["fnmr"].std(axis=-1) if "fnmr" in self._scattered else np.empty((0, 1))
        )
        raised = np.ones_like(spread)
        n_effective = dict[int | None, float]()
        for p, of_point in enumerate(models()[: len(spread)]):
            model = of_point["fnmr"].take(measured)
            with np.errstate(invalid="ignore", divide="ignore"):
                raised[p, 1:] = np.fmax(1, model.standard_errors / spread[p, 1:])
            of_eer = selection.with_mean_group_eer and p == len(spread) - 1
            n_effective[None if of_eer else p] = float(
                (model.comparisons / (1 + model.linear)).min()
            )
        self._raised = {"fnmr": raised} | (
            {"eer": raised[-1]} if selection.with_mean_group_eer else {}
        )
        self._n_effective = n_effective

    def _moved(self, part: Part, powers: Floats) -> dict[str, Floats]:
        """Return replicates of the fair system alone, whatever the powers."""
        start = part.of(self._start)
        moved = {}
        for name, values in part.of(self._scattered).items():
            about = start[name][..., None]
            to = start[name][..., 1:].mean(axis=-1)[..., None, None]
            with np.errstate(invalid="ignore", divide="ignore"):
                times = (
                    np.sqrt(to / about)
                    * part.of(self._raised).get(name, np.ones(about.shape[:-1]))[..., None]
                )
                moved[name] = np.clip((values - about) * times + to, 0, METRICS[name].range[1])[
                    ..., None, :
                ]
        return moved

    @property
    def resting_on_small_groups(self) -> set[EntryKey]:
        """The measures of false non-matches of groups too small to have met people who fail most
        attempts.

        Relative ones that take both rates hold the truth all the same.
        """
        small = {point for point, n in self._n_effective.items() if n < ENOUGH_EFFECTIVE_ATTEMPTS}
        of_small = [key for key in self.keys if key[3] in small and not key[0].endswith("(fmr)")]
        return {key for key in of_small if key[0].endswith(")") or key not in self._relative}

    @cached_property
    def _relative(self) -> set[EntryKey]:
        """The measures, such as Gini coefficients, that rates twice as large leave as they are."""
        halved = base_of({name: rates / 2 for name, rates in self._start.items()})
        values = np.array(
            [float(entry.value) for entry in measure_entries(halved, self._selection)]
        )
        are_alike = np.isclose(values, self.estimates)
        return {key for key, is_alike in zip(self.keys, are_alike, strict=True) if is_alike}

    def pvalues(self) -> dict[EntryKey, float]:
        """Return the least p-value of the fair value that a measure may have.

        It is the share of replicates that are at least as unfair as the estimate; for relative
        measures that share is divided by three.
        """
        shares, _ = self._shares_at(np.zeros(1))
        of_each = zip(self.keys, shares[:, 0, 0].tolist(), strict=True)
        return {
            key: share / (_RELATIVE_DIVISOR if key in self._relative else 1)
            for key, share in of_each
        }

    def _kinds(self, p: int) -> frozenset[str]:
        return self._selection.kinds


class CountedSystems(MovedSystems):
    """Systems on the way from fair to unfair, with numbers of errors drawn at each.

    The rate of all comparisons keeps its ratio to that within groups, which where it is not 1, as
    there are comparisons between groups, too, rests on few errors itself. Measures that take this
    rate, such as MAPE, are then left out.

    Parameters
    ----------
    estimates : Replicates
        The estimates, without an axis of replicates.
    selection : Selection
        As for `MovedSystems`.
    models : sequence of dict of CountModel
        Of "fmr" and "fnmr" at each operating point, or of the only one that measures are asked of;
        at some point a group has no errors.
    held : sequence of str
        The kind of each operating point: "fmr" or "fnmr" where draws are scaled to the rate that it
        holds.
    n_replicates : int
        How many to draw.
    key : (2,) ndarray of uint32
        Key of the random stream.
    n_threads : int, optional
        As for `MovedSystems`.
    """

    def __init__(
        self,
        estimates: Replicates,
        selection: Selection,
        models: Sequence[dict[str, CountModel]],
        held: Sequence[str],
        n_replicates: int,
        key: RandomKey,
        n_threads: int | None = None,
    ) -> None:
        measured = list(selection.measured)
        kept = [
            {name: model.take(measured) for name, model in of_point.items()} for of_point in models
        ]
        points = points_without_errors(models, measured)
        self._models, self._held = [kept[p] for p in points], [held[p] for p in points]
        rates = {name: getattr(estimates, name)[points] for name in ERROR_RATES}
        # How much the rate of all comparisons, of different groups, too, is above that within
        # groups.
        self._ratio = {name: self._ratios(name, rates[name][:, 0]) for name in ERROR_RATES}
        is_known = all(
            np.allclose(ratios[np.isfinite(ratios)], 1) for ratios in self._ratio.values()
        )
        measures = [
            name
            for name in at_points(selection.measures)
            if is_known or not MEASURES[name].global_reference
        ]
        selected = replace(
            selection, n_points=len(points), with_mean_group_eer=False, measures=tuple(measures)
        )
        without_metrics = Replicates(estimates.threshold[points], **rates, metrics={}, cells=())
        # The estimates stand in for replicates, which are drawn below at rates set here.
        super().__init__(without_metrics, without_metrics, selected, n_threads, points)
        self.n_replicates = n_replicates
        self._key = key
        self._start = {
            name: np.array([self._smooth(name, p) for p in range(len(points))])
            for name in ERROR_RATES
        }

    @classmethod
    def where_needed(
        cls,
        estimates: Replicates,
        selection: Selection,
        models: Callable[[], list[dict[str, CountModel]]],
        held: Sequence[str],
        *drawing: Any,
    ) -> CountedSystems | None:
        """Make such systems; None where no group is without errors, or numbers cannot be drawn."""
        of_points = models()[: len(held)]
        if not points_without_errors(of_points, selection.measured):
            return None
        return cls(estimates, selection, of_points, held, *drawing)

    def rests_on_few_errors(self, key: EntryKey) -> bool:
        """Return whether all groups together have fewer than 10 errors of a kind that a measure may
        be of.
        """
        models = {} if key[3] is None else self._models[self.points.index(key[3])]
        return any(0 < model.errors.sum() < _FEW_ERRORS_OF_ALL for model in models.values())

    def _ratios(self, name: str, overall: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            within = np.array(
                [
                    m[name].errors.sum() / m[name].comparisons.sum() if name in m else np.nan
                    for m in self._models
                ]
            )
            return np.asarray(overall / within)

    def _smooth(self, name: str, p: int) -> Floats:
        model = self._models[p].get(name)
        if model is None or model.errors.sum() == 0:
            return np.full(1 + len(self._selection.measured), np.nan)
        x, n = model.errors, model.comparisons
        rates = np.minimum((x + 0.5) / (n + 0.5 * n.sum() / x.sum()), 1.0)
        return np.append(min(1.0, self._ratio[name][p] * (n @ rates) / n.sum()), rates)

    def _followed(self, powers: Floats) -> dict[str, Floats]:
        """Return the (..., powers) rates of the systems themselves."""
        return {
            name: np.array([self._along(name, p, powers) for p in range(len(self.points))])
            for name in ERROR_RATES
        }

    def _moved(self, part: Part, powers: Floats) -> dict[str, Floats]:
        return {
            name: np.array([self._draw(name, p, powers) for p in part.places.tolist()])
            for name in ERROR_RATES
        }

    def _n_numbers(self, part: Part) -> int:
        return part.places.size * (1 + len(self._selection.measured)) * self.n_replicates

    def _kinds(self, p: int) -> frozenset[str]:
        """Return the rates that need simulated counts: those of which a group has no errors."""
        none = {name for name, model in self._models[p].items() if (model.errors == 0).any()}
        return frozenset(none | {"both rates"}) & self._selection.kinds

    def _along(self, name: str, p: int, powers: Floats) -> Floats:
        """Return the (rows, powers) rates of the systems at a point, of all comparisons and of each
        group.

        The number of errors expected in all groups together is that of the data.
        """
        model = self._models[p].get(name)
        if model is None:
            return np.full((1 + len(self._selection.measured), powers.size), np.nan)
        n = model.comparisons[:, None]
        n_errors = model.errors.sum()
        rates = moved_rates(self._start[name][p], powers, 1.0)[1:]
        rates = np.minimum(rates * n_errors / (n * rates).sum(axis=0), 1.0)
        overall = np.minimum(self._ratio[name][p] * (n * rates).sum(axis=0) / n.sum(), 1.0)
        return np.concatenate((overall[None], np.where(n > 0, rates, np.nan)))

    def _draw(self, name: str, p: int, powers: Floats) -> Floats:
        """Draw the (rows, powers, r) rates at a point, of all comparisons and of each group."""
        from fastfair.kernels.count_draws import draw_counts

        model = self._models[p].get(name)
        moved = self._along(name, p, powers)
        if model is None:
            return moved[..., None]
        some = np.flatnonzero(model.comparisons > 0)  # groups without comparisons have no rate
        shares = np.full((*moved.shape, self.n_replicates), np.nan)
        if some.size and model.errors.any():
            n = model.comparisons[some]
            numbers = np.empty((some.size, powers.size, self.n_replicates))
            beta_binomial = _false_matches if name == "fmr" else _false_nonmatches
            uniform, order = self._uniform[name]
            draw_counts(
                uniform[some],
                order[some],
                *beta_binomial(model.take(some.tolist()), moved[1 + some]),
                numbers,
            )
            np.minimum(numbers, n[:, None, None], out=numbers)
            shares[1 + some] = numbers / n[:, None, None]
            shares[0] = self._ratio[name][p] * numbers.sum(axis=0) / n.sum()
            if self._held[p] == name:
                with np.errstate(invalid="ignore", divide="ignore"):  # NaN where no error was drawn
                    shares *= moved[0][:, None] / shares[0]
        return np.minimum(shares, 1.0, out=shares)

    @cached_property
    def _uniform(self) -> dict[str, tuple[Floats, Integers]]:
        """(groups, r) sorted numbers from 0 to 1 for each rate, which all systems share, and the
        replicates of them.
        """
        uniform = {}
        for name in ERROR_RATES:
            rng = np.random.default_rng(
                [*self._key.tolist(), Purpose.COUNTED_SYSTEMS, ERROR_RATES.index(name)]
            )
            drawn = rng.random((len(self._selection.measured), self.n_replicates))
            order = np.argsort(drawn, axis=1)
            uniform[name] = np.take_along_axis(drawn, order, axis=1), order
        return uniform


def _false_matches(model: CountModel, rates: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the numbers of trials, (groups,), and a and b, (groups, powers), of beta-binomial
    false matches.
    """
    n = model.comparisons[:, None]
    scale = np.maximum(model.linear[:, None] + model.quadratic[:, None] * rates / n, 1e-9)
    trials = np.full(len(n), _INFINITE)
    return trials, n * np.maximum(rates, 1e-12) / scale, _INFINITE / scale


def _false_nonmatches(model: CountModel, rates: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the same of beta-binomial false non-matches."""
    n = model.comparisons
    inflation = np.clip(1 + model.linear, 1 + 1e-9, np.maximum(n - 0.5, 1 + 1e-9))
    size = np.maximum((n - inflation) / (inflation - 1), _LEAST_SIZE)[:, None]
    inside = np.clip(rates, 1e-12, 1 - 1e-12)
    return n, inside * size, (1 - inside) * size


class MeasureInversion:
    """The test inversion of the fairness measures among some quantities, computed when first asked
    for.

    Parameters
    ----------
    rows : dict of int
        The position of each measure among the quantities.
    systems : callable
        Makes the fairer and less fair systems whose replicates give measures their intervals.
    counted : callable
        Makes such systems with numbers of errors drawn anew, or None where no group is without
        errors or numbers cannot be drawn.
    least : callable
        Computes the least p-values that the fair values of some measures may have, as `AlikeGroups`
        does.
    """

    def __init__(
        self,
        rows: dict[EntryKey, int],
        systems: Callable[[], MovedSystems],
        counted: Callable[[], CountedSystems | None] = lambda: None,
        least: Callable[[], dict[EntryKey, float]] = dict,
    ) -> None:
        self.rows = rows
        self.systems = systems
        self.counted_systems = counted
        self._least = least

    @cached_property
    def inverted(self) -> Inversion:
        """The test inversion by replicates."""
        return self.systems().invert()

    @cached_property
    def least_pvalues(self) -> dict[EntryKey, float]:
        """The least p-values that the fair values of some measures may have."""
        return self._least()

    @cached_property
    def by_counts(self) -> tuple[CountedSystems, Inversion] | None:
        """The systems with numbers of errors drawn anew and their test inversion."""
        systems = self.counted_systems()
        return None if systems is None else (systems, systems.invert())

    def pvalues(self, estimates: Floats) -> dict[int, float]:
        """Return the p-value of the fair value of each measure, by its position; estimates: of all
        quantities.
        """
        each = zip(self.inverted.keys, self.inverted.pvalues.tolist(), strict=True)
        pvalues = {key: max(pvalue, self.least_pvalues.get(key, 0.0)) for key, pvalue in each}
        unknown = {
            key
            for key in self.rows.keys() & pvalues
            if math.isnan(pvalues[key] - estimates[self.rows[key]])
        }
        if unknown and self.by_counts is not None:
            systems, inverted = self.by_counts
            drawn = zip(systems.keys, inverted.pvalues.tolist(), strict=True)
            pvalues |= {key: pvalue for key, pvalue in drawn if key in unknown}
        return {k: pvalues[key] for key, k in self.rows.items() if key in pvalues}

    @cached_property
    def _places(self) -> Indices:
        """(measures,) the position of each; -1 for what is inverted with others, as the measure of
        another rate.
        """
        return np.array([self.rows.get(key, -1) for key in self.inverted.keys], np.intp)

    @cached_property
    def _bounds(self) -> Floats:
        """(3, measures): least p-values, fair values, and whether larger values are fairer."""
        return (
            np.array(
                [
                    (
                        self.least_pvalues.get(key, 0.0),
                        measure_of(key[0]).fair_value,  # type: ignore[union-attr]
                        is_better_above(key[0]),
                    )
                    for key in self.inverted.keys
                ]
            )
            .reshape(-1, 3)
            .T
        )

    def intervals(
        self,
        estimates: Floats,
        asked: Flags,
        quantiles: tuple[Floats, Floats],
        confidence_level: float,
    ) -> tuple[Indices, Floats, Floats, NDArray[np.object_]]:
        """Return the positions of the measures among the quantities asked for, the ends of their
        intervals, and what these are made by.

        estimates, quantiles: (quantities,) of all, the latter of replicates that are rid of their
        shift, which intervals reach on the unfair side. Left out are measures of systems in which a
        group has no errors, where numbers of errors cannot be drawn.
        """
        places = self._places
        number = {key: k for k, key in enumerate(self.inverted.keys)}
        wanted = (places >= 0) & asked[places]
        estimate = estimates[places]
        low, high = self.inverted.intervals(confidence_level, wanted)
        without_errors = wanted & np.isnan(low)
        made_by = np.full(low.size, INVERSION, object)
        least, fair, is_above = self._bounds
        is_fair = least > 1 - confidence_level
        low = np.minimum(np.where(is_fair, np.minimum(low, fair), low), estimate)
        high = np.maximum(np.where(is_fair, np.maximum(high, fair), high), estimate)
        low = np.where(is_above, np.fmin(low, quantiles[0][places]), low)
        high = np.where(is_above, high, np.fmax(high, quantiles[1][places]))
        if without_errors.any() and self.by_counts is not None:
            systems, inverted = self.by_counts
            drawn = zip(systems.keys, *inverted.intervals(confidence_level), strict=True)
            for key, *ends in drawn:
                k = number.get(key, -1)
                if k < 0 or not without_errors[k]:
                    continue
                few = systems.rests_on_few_errors(key)
                without_errors[k] = False
                made_by[k] = (
                    NO_SUCH_ERRORS if math.isnan(ends[0]) else FEW_DRAWN if few else INVERSION
                )
                low[k] = np.minimum(ends[0], estimate[k])
                high[k] = np.maximum(ends[1], estimate[k])
        kept = wanted & ~without_errors
        return places[kept], low[kept], high[kept], made_by[kept]


@dataclass(frozen=True, eq=False)
class _Way:
    """The way of a system through the values of one measure, turned so that larger values are less
    fair.

    path, replicates: (powers,) and (powers, r) values; limits: the least and the largest that are
    not rejected.
    """

    path: Floats
    replicates: Floats
    limits: tuple[float, float]

    @property
    def is_known(self) -> bool:
        return bool(np.isfinite(self.limits).all() and np.isfinite(self.path).all())


def joint_pvalues(
    first: MeasureInversion, second: MeasureInversion, wanted: Container[EntryKey]
) -> dict[EntryKey, float]:
    """Compute the p-values of the hypotheses that two systems have the same values of fairness
    measures.

    Parameters
    ----------
    first, second : MeasureInversion
        The inversions of the measures of two systems, with the same replicates of units, or of two
        independent data sets.
    wanted : container of EntryKey
        The measures to compare; those of others need not be finite.

    Returns
    -------
    dict of float
        The p-value of each measure wanted, NaN where a system can be moved in neither way.
    """
    ways, by_counts = [], []
    estimates = []
    for inversion in (first, second):
        systems = inversion.systems()
        ways.append(dict(_ways(systems, inversion.inverted)))
        of_counts = inversion.by_counts
        by_counts.append({} if of_counts is None else dict(_ways(*of_counts)))
        signed = (systems.signs * systems.estimates).tolist()
        estimates.append(dict(zip(systems.keys, signed, strict=True)))
    # Both systems draw numbers of errors from the same stream. Those of one are paired with the
    # other's from half the stream later, so that they are independent. Errors that systems share
    # make their differences vary less than that, so p-values are too large rather than too small.
    if by_counts[0]:
        by_counts[1] = {
            key: replace(
                way, replicates=np.roll(way.replicates, way.replicates.shape[-1] // 2, axis=-1)
            )
            for key, way in by_counts[1].items()
        }
    pvalues: dict[EntryKey, float] = {}
    for key in ways[0]:
        if key in ways[1] and key in wanted:
            both = [
                of_system[key] if of_system[key].is_known else counts.get(key, of_system[key])
                for of_system, counts in zip(ways, by_counts, strict=True)
            ]
            pvalues[key] = _joint_pvalue(both[0], both[1], estimates[0][key] - estimates[1][key])
    return pvalues


def _ways(systems: MovedSystems, inverted: Inversion) -> Iterator[tuple[EntryKey, _Way]]:
    """Yield each measure and the system's way through its values."""
    path = np.maximum.accumulate(systems.signs[:, None] * systems.path(POWERS), axis=1)
    ends = zip(systems.signs, *inverted.intervals(1 - GAMMA / 2), strict=True)
    for key, along, rows, (sign, *limits) in zip(
        systems.keys, path, systems.replicates(POWERS), ends, strict=True
    ):
        low, high = sorted(sign * limit for limit in limits)
        yield key, _Way(along, sign * rows, (low, high))


def _joint_pvalue(first: _Way, second: _Way, difference: float) -> float:
    if not (first.is_known and second.is_known):
        return float("nan")
    # as of systems that decide alike, whose numbers of errors would be drawn apart all the same
    if difference == 0:
        return 1.0
    least = max(first.limits[0], second.limits[0])
    most = min(first.limits[1], second.limits[1])
    if least > most:
        return GAMMA
    largest = 0.0
    for value in np.linspace(least, most, _VALUES):
        values, other_values = (_at_value(value, way) for way in (first, second))
        # ratios to a group without errors are infinite, in both systems
        with np.errstate(invalid="ignore"):
            largest = max(largest, _two_sided(values - other_values, difference))
    return min(1.0, largest + GAMMA)


def _at_value(value: float, way: _Way) -> Floats:
    """Interpolate the (powers, r) replicates of systems between those whose measure surrounds a
    value.

    Where a path does not reach the value, replicates of its end are moved by what is missing.
    """
    path, replicates = way.path, way.replicates
    within = min(max(value, path[0]), path[-1])
    k = min(int(np.searchsorted(path, within, side="right")), path.size - 1)
    run = path[k] - path[k - 1]
    share = (within - path[k - 1]) / run if run > 0 else 0.0
    with np.errstate(invalid="ignore"):
        between = (1 - share) * replicates[k - 1] + share * replicates[k]
    return np.asarray(between + (value - within))


def _two_sided(replicates: Floats, estimate: float) -> float:
    """Return twice the smaller share of replicates, and the data, on one side of the estimate."""
    defined = replicates[~np.isnan(replicates)]
    rounding = 1e-12 * max(1.0, abs(estimate))
    above, below = (
        int(np.count_nonzero(side))
        for side in (defined >= estimate - rounding, defined <= estimate + rounding)
    )
    return min(1.0, 2 * (1 + min(above, below)) / (1 + defined.size))

"""Intervals of fairness measures by test inversion: which fairer or less fair systems would yield such an estimate?

Groups' estimated rates differ by chance even in a fair system. Replicates add chance to the estimate, so they look less
fair than it, and never quite fair. Test inversion moves the replicates to systems whose groups differ less, or more,
than the data. The interval covers the measures of those systems among whose replicates the estimate is not unusual.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.threads import in_threads
from fastfair.measures import MEASURES
from fastfair.measures._compute import THRESHOLD_FREE, measure_of
from fastfair.resampling.blocks import Replicates

from .entries import Key, Selection, measure_entries, measured_quantities, n_calls

Floats = NDArray[np.float64]
# Powers that the groups' differences are raised to: 0 is fair, 1 as estimated. Shares are interpolated between them.
POWERS = np.array([0, 0.3, 0.6, 1, 1.3, 1.7, 2.5, 4, 10])
_STEPS = POWERS[-1] * np.linspace(0, 1, 201) ** 2  # at which measures are followed from fair to unfair
_ROUNDING = 1e-12  # by which sums of floats may keep a fair system's measure from the fair value
RATES = ("fmr", "fnmr")
_MOST = {"fmr": 1.0, "fnmr": 1.0, "eer": 1.0, "act_dcf": np.inf, "min_dcf": np.inf, "cllr": np.inf}


@dataclass(frozen=True, eq=False)
class Inversion:
    """How the estimates of measures compare with the replicates of fairer and of less fair systems.

    Attributes
    ----------
    keys : tuple of Key
        The measures.
    as_unfair, as_fair : (measures, powers) ndarray
        For each system, the shares of its replicates that are at least as unfair, and at least as fair, as the
        estimate; NaN where a group has no errors, as its rate of 0 cannot be moved.
    path : (measures, steps) ndarray
        The measures of the systems themselves.
    n_replicates : int
        Number of replicates.
    """

    keys: tuple[Key, ...]
    as_unfair: Floats
    as_fair: Floats
    path: Floats
    n_replicates: int

    def intervals(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Return the least and the largest measure among the systems that are not rejected; NaN where none is left."""
        from scipy.special import ndtri

        tail = (1 - confidence_level) / 2
        least = 0.5 / self.n_replicates  # stands for a share of 0, whose normal deviate is infinite
        wanted = float(ndtri(tail)) if tail > least else -np.inf
        as_unfair, as_fair = (ndtri(np.clip(share, least, 1 - least)) for share in (self.as_unfair, self.as_fair))
        low, high = np.full((2, len(self.keys)), np.nan)
        known = ~(np.isnan(as_unfair).any(axis=1) | np.isnan(self.path).any(axis=1))
        for k in np.flatnonzero(known):
            path = self.path[k]
            inside = path[:0]
            rises = np.diff(path)
            turns = bool((rises < -_ROUNDING).any() and (rises > _ROUNDING).any())
            if turns and not (_comes_first(as_unfair[k] < wanted) and _comes_first(as_fair[k, ::-1] < wanted)):
                # As of a group in the middle, whose distance from the best one grows and then shrinks. Where it does
                # not turn, chance alone rejects systems between others, and a fair one is never rejected as too fair.
                accepted = np.interp(_STEPS, POWERS, np.minimum(as_unfair[k], as_fair[k])) >= wanted
                inside = path[accepted]
            if inside.size == 0:
                first = _first_accepted(POWERS, as_unfair[k], wanted)
                last = max(first, _first_accepted(POWERS[::-1], as_fair[k, ::-1], wanted))
                ends = np.interp([first, last], _STEPS, path)
                inside = np.concatenate((path[(first <= _STEPS) & (last >= _STEPS)], ends))
            low[k], high[k] = inside.min(), inside.max()
        return low, high


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the measures: those of some rates at some operating points, or those that need no operating point.

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
    places: NDArray[np.intp]
    with_metrics: bool

    def of(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Return the rates of the part's points, and the metrics where it needs them."""
        rates = {name: values[name][self.places] for name in RATES if name in values and self.places.size}
        return rates | {name: x for name, x in values.items() if name not in RATES and self.with_metrics}


class MovedSystems:
    """Systems on the way from fair to unfair that leads through the data, with the data's replicates moved along.

    Parameters
    ----------
    estimates : Replicates
        The estimates, without an axis of replicates.
    drawn : Replicates
        The replicates.
    selection : Selection
        As for `entries`. Measures that are fairest between lower and higher values, such as a group's ratio to the
        average, are left out.
    n_threads : int, optional
        Number of threads; all processors by default.

    Attributes
    ----------
    keys : tuple of Key
        The measures.
    estimates : (measures,) ndarray
        The measures in the data.
    signs : (measures,) ndarray
        -1 for measures of which larger values are fairer, 1 for others.
    """

    def __init__(
        self, estimates: Replicates, drawn: Replicates, selection: Selection, n_threads: int | None = None
    ) -> None:
        self._n_threads = n_threads
        measured = list(selection.measured)
        self._selection = replace(
            selection,
            groups=tuple(selection.groups[k] for k in measured),
            measures=tuple(name for name in selection.measures if MEASURES[name].fairer != "nearer"),
            measured=tuple(range(len(measured))),
            group_mated=selection.group_mated[measured],
            group_nonmated=selection.group_nonmated[measured],
        )
        rows = [0, *(1 + k for k in measured)]
        self._start, self._scattered = _take(estimates, rows), _take(drawn, rows)
        found = list(measure_entries(base_of(self._start), self._selection))
        self.keys = tuple(entry.key for entry in found)
        self.estimates = np.array([float(entry.value) for entry in found])
        self.signs = np.array([-1.0 if is_fairer_above(entry.name) else 1.0 for entry in found])
        self._fair = np.array([_fair_value(entry.name) for entry in found])
        self.n_replicates: int = drawn.threshold.shape[-1]
        n_rates = max((len(values) for name, values in self._start.items() if name in RATES), default=0)
        self._whole = Part(self._selection, np.arange(n_rates), with_metrics=True)

    def key_of(self, key: Key) -> Key:
        """Return the key of a measure with the operating point as all points count."""
        return key

    def path(self, powers: Floats) -> Floats:
        """Return the (measures, powers) measures of the systems themselves."""
        followed = {name: moved_rates(values, powers, _MOST[name]) for name, values in self._start.items()}
        path = [entry.value for entry in measure_entries(base_of(followed), self._selection)]
        found = np.array(path).reshape(len(self.keys), powers.size)
        fair = self._fair[:, None]
        return np.where(np.abs(found - fair) < _ROUNDING, fair, found)

    def replicates(self, powers: Floats) -> Iterator[Floats]:
        """Yield the (powers, r) replicates of each measure."""
        for entry in measure_entries(base_of(self._moved(self._whole, powers)), self._selection):
            yield entry.value

    def invert(self) -> Inversion:
        """Compare the estimates of measures with the replicates of fairer and less fair systems."""
        table = np.full((len(self.keys), POWERS.size, 2), np.nan)
        row_of = {key: k for k, key in enumerate(self.keys)}
        size, calls = 0, list[Callable[[], Any]]()
        for some in self._parts():
            at_once = self._n_numbers(some)
            size += at_once
            stretches = np.array_split(np.arange(POWERS.size), n_calls(POWERS.size, at_once))
            for part in _divided(some, n_calls(some.selection.n_points, at_once * len(stretches[0]))):
                rows = np.array([row_of[key] for key in self._keys_of(part)], np.intp)
                calls += [partial(self._fill, table, part, rows, powers) for powers in stretches if rows.size]
        calls.append(partial(self.path, _STEPS))
        *_, path = in_threads(size, lambda call: call(), calls, self._n_threads)
        return Inversion(self.keys, table[..., 0], table[..., 1], path, self.n_replicates)

    def _fill(self, table: Floats, part: Part, rows: NDArray[np.intp], which: NDArray[np.intp]) -> None:
        """Write the shares of the measures of a part, at some powers, into their places."""
        moved, done = base_of(self._moved(part, POWERS[which])), 0
        for found, points in measured_quantities(moved, part.selection):
            values = found.value if points else found.value[None]
            if found.per_group:
                values = np.moveaxis(values, -1, 1)
            *leading, _, _ = values.shape
            some = rows[done : done + math.prod(leading)]
            done += some.size
            sign, estimates = self.signs[some[0]], self.estimates[some].reshape(*leading, 1, 1)
            shares = _shares(values if sign > 0 else -values, sign * estimates)
            table[some[:, None], which] = shares.reshape(some.size, -1, 2)

    def _moved(self, part: Part, powers: Floats) -> dict[str, Floats]:
        """Return the (..., powers, r) replicates of the rates and metrics of a part."""
        start = part.of(self._start)
        return {
            name: _scatter(values, start[name], powers, _MOST[name])
            for name, values in part.of(self._scattered).items()
        }

    def _n_numbers(self, part: Part) -> int:
        """Count the replicates of the largest array of a part at one power."""
        return max((values.size for values in part.of(self._scattered).values()), default=0)

    def _kinds(self, p: int) -> frozenset[str]:
        """Return of which rates measures at a point can be followed: where a group has no errors, of none."""
        known = {name for name in RATES if (self._start[name][p, 1:] > 0).all()}
        return frozenset(known | {"both rates"} if len(known) == len(RATES) else known)

    def _parts(self) -> list[Part]:
        """Divide the measures that can be followed by the rates that they are of."""
        n = self._selection.n_points
        points = defaultdict(list)
        for p in range(n):
            points[self._kinds(p)].append(p)
        without = replace(self._selection, with_mean_group_eer=False, measures=_at_points(self._selection.measures))
        parts = [
            Part(replace(without, n_points=len(some), kinds=kinds), np.array(some), with_metrics=False)
            for kinds, some in points.items()
            if kinds
        ]
        rest = Part(replace(self._selection, n_points=0), self._whole.places[n:], with_metrics=True)
        return [*parts, rest] if rest.of(self._start) else parts

    def _keys_of(self, part: Part) -> Iterator[Key]:
        for entry in measure_entries(base_of(part.of(self._start)), part.selection):
            name, group, probe_group, point = entry.key
            yield name, group, probe_group, None if point is None else int(part.places[point])


def _take(base: Replicates, rows: list[int]) -> dict[str, Floats]:
    """Keep the rates and metrics of all comparisons and of the groups measured; any axis of replicates stays last."""
    rates = {"fmr": base.fmr, "fnmr": base.fnmr} if len(base.fmr) else {}
    kept = {name: values[:, rows] for name, values in rates.items()}
    return kept | {name: base.metrics[name][rows] for name in THRESHOLD_FREE if name in base.metrics}


def _divided(part: Part, n: int) -> list[Part]:
    """Divide the operating points of a part."""
    if n < 2:
        return [part]
    return [
        replace(part, selection=replace(part.selection, n_points=places.size), places=places)
        for places in np.array_split(part.places, n)
    ]


def _at_points(measures: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in measures if not MEASURES[name].own_threshold)


def base_of(values: dict[str, Floats]) -> Replicates:
    """Arrange rates and metrics as replicates are."""
    nothing = np.empty((0, 1))
    metrics = {name: values[name] for name in THRESHOLD_FREE if name in values}
    return Replicates(nothing, values.get("fmr", nothing), values.get("fnmr", nothing), metrics, ())


def moved_rates(start: Floats, powers: Floats, most: float) -> Floats:
    """Raise the groups' ratios to their geometric mean to powers; the first row, of all comparisons, moves as they do.

    start: (..., rows). Returns (..., rows, powers).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(start > 0, np.log(start), np.nan)
    middle = logs[..., 1:].mean(axis=-1, keepdims=True)
    return np.minimum(np.exp(middle[..., None] + (logs - middle)[..., None] * powers), most)


def _scatter(drawn: Floats, start: Floats, powers: Floats, most: float) -> Floats:
    """Move replicates as `moved_rates` does estimates; their spread grows with the root of the rate, as of counts.

    drawn: (..., rows, r); start: (..., rows). Returns (..., rows, powers, r).
    """
    to, about = moved_rates(start, powers, most)[..., None], start[..., None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.asarray((drawn[..., None, :] - about) * np.sqrt(to / about))
        moved += to
    return np.clip(moved, 0, most, out=moved)


def _shares(replicates: Floats, estimates: Floats) -> Floats:
    """Return the shares of replicates, without NaN, that are at least, and at most, as large as the estimates.

    replicates: (..., r); estimates: (..., 1). Returns (..., 2), NaN where all replicates are.
    """
    above, below, known = (
        found.sum(axis=-1) for found in (replicates > estimates, replicates < estimates, ~np.isnan(replicates))
    )
    with np.errstate(invalid="ignore"):
        return np.stack((1 - below / known, 1 - above / known), axis=-1)


def _fair_value(name: str) -> float:
    measure = measure_of(name)
    assert measure is not None
    return measure.bounds[1 if measure.fairer == "higher" else 0]


def is_fairer_above(name: str) -> bool:
    """Return whether larger values of a measure are fairer."""
    measure = measure_of(name)
    return measure is not None and measure.fairer == "higher"


def _comes_first(rejected: NDArray[np.bool_]) -> bool:
    """Return whether all that is rejected comes before all that is accepted."""
    return bool(rejected[: np.count_nonzero(rejected)].all())


def _first_accepted(powers: Floats, deviates: Floats, wanted: float) -> float:
    """Return the power after the last rejected one at which the deviate, interpolated, reaches `wanted`."""
    rejected = np.flatnonzero(deviates < wanted)
    if rejected.size == 0:
        return float(powers[0])
    k = int(rejected[-1])
    if k == powers.size - 1:
        return float(powers[k])
    share = (wanted - deviates[k]) / (deviates[k + 1] - deviates[k])
    return float(powers[k] + share * (powers[k + 1] - powers[k]))

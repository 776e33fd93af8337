"""`Evaluated`: what an evaluation holds, and the DET curves and distributions of scores that are
drawn of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from fastfair._lib.arrays import Floats, Integers
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.error_rates.rates import Rates
from fastfair.errors import InputError
from fastfair.results.written import UNWRITTEN
from fastfair.uncertainty.interval_maker import NO_REPLICATES, IntervalMaker
from fastfair.uncertainty.quantities import Quantity

_BINS = 60
# of each class, evenly spaced as normal deviates, that the points of a curve are chosen from
_CURVE_POINTS = 240
# normal deviates between a curve and its lines, a sixth of a point in a large plot
_INVISIBLE = 0.004
# the share of each class at each end that the first and last bin of a histogram gather
_OUTSIDE = 1e-4


@dataclass(frozen=True)
class DetCurve:
    """Points of a DET curve, with lines between them that are off by less than one sees.

    Attributes
    ----------
    n_mated, n_nonmated : int
        Numbers of comparisons.
    false_matches, false_nonmatches : (points,) ndarray of int64
        Numbers of errors where neither rate is 0 or 1; empty where there is no such threshold.
    """

    n_mated: int
    n_nonmated: int
    false_matches: Integers
    false_nonmatches: Integers

    @property
    def deviates(self) -> tuple[Floats, Floats]:
        """(points,) FMR and FNMR as normal deviates."""
        return ndtri(self.false_matches / self.n_nonmated), ndtri(
            self.false_nonmatches / self.n_mated
        )


@dataclass(frozen=True)
class Traces:
    """All that a page draws of comparisons, by group; None is all comparisons.

    Attributes
    ----------
    edges : (bins + 1,) ndarray
        Edges of the histograms, on the scale of the scores.
    curves : mapping of DetCurve
        For each group.
    distributions : mapping of (2, bins) ndarray of int64
        Numbers of mated and of non-mated scores of each group between the edges; the bins at the
        ends gather what lies beyond.
    """

    edges: Floats
    curves: dict[str | None, DetCurve]
    distributions: dict[str | None, Integers]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The attributes of `Evaluation`, which says what each is, and what is drawn of its
    comparisons.
    """

    quantities: tuple[Quantity, ...]
    rates: tuple[Rates, ...]
    groups: tuple[str, ...]
    measured_groups: tuple[str, ...]
    settings: dict[str, Any]
    description: str
    uncertainty: IntervalMaker | None = field(default=None, repr=False, metadata=UNWRITTEN)
    comparisons: Comparisons | None = field(default=None, repr=False, metadata=UNWRITTEN)
    n_subjects: int | None = None
    traces: Traces | None = field(default=None, repr=False)

    @property
    def maker(self) -> IntervalMaker:
        """What made the intervals, with the replicates; refused where nothing did."""
        if self.uncertainty is None:
            raise InputError(NO_REPLICATES)
        return self.uncertainty

    @property
    def has_curves(self) -> bool:
        """Whether there is what DET curves and distributions of scores are drawn from."""
        if self.comparisons is not None and self.comparisons.lacks_rate:
            return False
        return self.comparisons is not None or self.traces is not None

    def _curve(self, group: str | None) -> DetCurve:
        """Return the DET curve of all comparisons, or of those within a group."""
        if self.traces is not None:
            return self.traces.curves[group]
        return det_curve_of(*self._sorted_keys(group))

    @cached_property
    def edges(self) -> Floats:
        """(bins + 1,) edges of bins that hold both classes of all comparisons but for their most
        extreme scores.
        """
        if self.traces is not None:
            return self.traces.edges
        ends = []
        for keys in map(_scored, self._sorted_keys(None)):
            last = keys.size - 1
            ends += [keys[int(last * share)] for share in (_OUTSIDE, 1 - _OUTSIDE)]
        scores = self._scores_of(np.array(ends))
        low, high = float(scores.min()), float(scores.max())
        if low == high:
            low = low - 0.5
            high = high + 0.5
        return np.linspace(low, high, _BINS + 1)

    def _distributions(self, group: str | None) -> Integers:
        """Return the (2, bins) numbers of mated and non-mated scores, of all comparisons or those
        within a group.
        """
        if self.traces is not None:
            return self.traces.distributions[group]
        scores = [self._scores_of(_scored(keys)) for keys in self._sorted_keys(group)]
        ends = self.edges[[0, -1]]
        return np.array(
            [np.histogram(np.clip(of_class, *ends), self.edges)[0] for of_class in scores], np.int64
        )

    def _traced(self) -> Traces:
        """Gather all that a page draws of comparisons."""
        if self.traces is not None:
            return self.traces
        groups = (None, *self.groups)
        distributions = {group: self._distributions(group) for group in groups}
        return Traces(self.edges, {group: self._curve(group) for group in groups}, distributions)

    def _sorted_keys(self, group: str | None) -> tuple[score_keys.Keys, score_keys.Keys]:
        """Return the sorted keys of mated and non-mated scores, of all comparisons or those within
        a group.
        """
        if self.comparisons is None:
            raise InputError(
                "this evaluation has no comparisons, which this plot is drawn from: take the"
                " evaluation that evaluate returned, of comparisons in memory"
            )
        self.comparisons._require_rates("this plot")
        keys = keys_of(self.comparisons, None if group is None else self.groups.index(group))
        return keys.mated, keys.nonmated

    def _scores_of(self, keys: score_keys.Keys) -> Floats:
        """Return the scores of keys, as they were given."""
        sign = -1.0 if self.settings["score_kind"] == "distance" else 1.0
        return sign * score_keys.decode(keys).astype(np.float64)


def det_curve_of(mated: score_keys.Keys, nonmated: score_keys.Keys) -> DetCurve:
    """Return the DET curve of the sorted keys of both classes."""
    none = np.zeros(0, np.int64)
    if not (mated.size and nonmated.size):
        return DetCurve(mated.size, nonmated.size, none, none)
    thresholds = np.unique(
        np.concatenate([evenly_spaced_keys(mated), evenly_spaced_keys(nonmated)])
    )
    matches = nonmated.size - np.searchsorted(nonmated, thresholds)
    nonmatches = np.searchsorted(mated, thresholds)
    seen = (matches > 0) & (matches < nonmated.size) & (nonmatches > 0) & (nonmatches < mated.size)
    curve = DetCurve(mated.size, nonmated.size, matches[seen], nonmatches[seen])
    kept = outline(*curve.deviates, _INVISIBLE)
    return DetCurve(
        mated.size, nonmated.size, curve.false_matches[kept], curve.false_nonmatches[kept]
    )


def outline(x: Floats, y: Floats, tolerance: float) -> Integers:
    """Return the points of a line without which it would be off by more than a tolerance (Douglas
    and Peucker).
    """
    if x.size <= 2:
        return np.arange(x.size)
    kept = [0, x.size - 1]
    waiting = [(0, x.size - 1)]
    while waiting:
        first, last = waiting.pop()
        along = x[last] - x[first], y[last] - y[first]
        away = x[first : last + 1] - x[first], y[first : last + 1] - y[first]
        length = float(np.hypot(*along))
        gaps = (
            np.abs(along[0] * away[1] - along[1] * away[0]) / length if length else np.hypot(*away)
        )
        farthest = int(gaps.argmax())
        if gaps[farthest] > tolerance:
            kept.append(first + farthest)
            waiting += [(first, first + farthest), (first + farthest, last)]
    return np.sort(kept)


def evenly_spaced_keys(keys: score_keys.Keys) -> score_keys.Keys:
    """Take keys whose ranks are evenly spaced as normal deviates, with the extreme ones."""
    if keys.size <= _CURVE_POINTS:
        return keys
    end = -ndtri(0.5 / keys.size)
    ranks = ndtr(np.linspace(-end, end, _CURVE_POINTS)) * keys.size
    return keys[np.unique(np.clip(ranks.astype(np.intp), 0, keys.size - 1))]


def _scored(keys: score_keys.Keys) -> score_keys.Keys:
    """Leave out comparisons that failed, which have no score."""
    return keys[score_keys.count_failed(keys) :]

"""Compute what is drawn of comparisons, or take what a page has of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from fastfair.data import score_keys
from fastfair.data.class_keys import keys_of
from fastfair.data.comparisons import Comparisons

from .evaluated import Evaluated, comparisons_of
from .traces import BINS, DetCurve, Distributions, Traces

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
SHARES = (0.05, 0.5, 0.95)
"""Shares of the scores that lie below the quantiles that pages name."""
_CURVE_POINTS = 240  # of each class, evenly spaced as normal deviates, that the points of a curve are chosen from
_INVISIBLE = 0.004  # normal deviates between a curve and its lines, a sixth of a point in a large plot
_OUTSIDE = 1e-4  # the share of each class at each end that the first and last bin of a histogram gather
_DIGITS = 6  # of the numbers that pages have of bands and quantiles


def score_kind_of(evaluation: Evaluated) -> str:
    """Return the kind of the scores."""
    return comparisons_of(evaluation).score_kind if evaluation.traces is None else evaluation.traces.score_kind


def curve_of(evaluation: Evaluated, group: str | None) -> DetCurve:
    """Return the DET curve of all comparisons, or of those within a group."""
    if evaluation.traces is not None:
        return evaluation.traces.curves[group]
    mated, nonmated = sorted_keys_of(comparisons_of(evaluation), group)
    none = np.zeros(0, np.int64)
    if not (mated.size and nonmated.size):
        return DetCurve(mated.size, nonmated.size, none, none)
    thresholds = np.unique(np.concatenate([spread(mated), spread(nonmated)]))
    matches = nonmated.size - np.searchsorted(nonmated, thresholds)
    nonmatches = np.searchsorted(mated, thresholds)
    seen = (matches > 0) & (matches < nonmated.size) & (nonmatches > 0) & (nonmatches < mated.size)
    curve = DetCurve(mated.size, nonmated.size, matches[seen], nonmatches[seen])
    kept = outline(*curve.deviates, _INVISIBLE)
    return DetCurve(mated.size, nonmated.size, curve.false_matches[kept], curve.false_nonmatches[kept])


def traces_of(evaluation: Evaluated) -> Traces:
    """Gather all that a page draws of comparisons."""
    if evaluation.traces is not None:
        return evaluation.traces
    edges, groups = edges_of(evaluation), (None, *evaluation.groups)
    return Traces(
        score_kind_of(evaluation), edges, {group: curve_of(evaluation, group) for group in groups},
        {group: distributions_of(evaluation, group, edges) for group in groups},
    )  # fmt: skip


def outline(x: Floats, y: Floats, tolerance: float) -> Integers:
    """Return the points of a line without which it would be off by more than a tolerance (Douglas and Peucker)."""
    if x.size <= 2:
        return np.arange(x.size)
    kept, waiting = [0, x.size - 1], [(0, x.size - 1)]
    while waiting:
        first, last = waiting.pop()
        along = x[last] - x[first], y[last] - y[first]
        away = x[first : last + 1] - x[first], y[first : last + 1] - y[first]
        length = float(np.hypot(*along))
        gaps = np.abs(along[0] * away[1] - along[1] * away[0]) / length if length else np.hypot(*away)
        farthest = int(gaps.argmax())
        if gaps[farthest] > tolerance:
            kept.append(first + farthest)
            waiting += [(first, first + farthest), (first + farthest, last)]
    return np.sort(kept)


def edges_of(evaluation: Evaluated) -> Floats:
    """Return edges of bins that hold both classes of all comparisons but for their most extreme scores."""
    if evaluation.traces is not None:
        return evaluation.traces.edges
    comparisons = comparisons_of(evaluation)
    ends = []
    for keys in map(_scored, sorted_keys_of(comparisons, None)):
        last = keys.size - 1
        ends += [keys[int(last * share)] for share in (_OUTSIDE, 1 - _OUTSIDE)]
    found = scores_of(comparisons, np.array(ends))
    low, high = float(found.min()), float(found.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, BINS + 1)


def distributions_of(evaluation: Evaluated, group: str | None, edges: Floats) -> Distributions:
    """Return the distributions of the scores of all comparisons, or of those within a group."""
    if evaluation.traces is not None:
        return evaluation.traces.distributions[group]
    comparisons = comparisons_of(evaluation)
    bins, quantiles = [], []
    for keys in map(_scored, sorted_keys_of(comparisons, group)):
        bins.append(np.histogram(np.clip(scores_of(comparisons, keys), edges[0], edges[-1]), edges)[0])
        places = [min(int(share * keys.size), keys.size - 1) for share in SHARES] if keys.size else []
        quantiles.append(tuple(np.sort(rounded(scores_of(comparisons, keys[places]))).tolist()))
    return Distributions(np.array(bins, np.int64), tuple(quantiles))


def rounded(values: Floats) -> Floats:
    """Round to the digits that pages have."""
    return np.array([float(f"{value:.{_DIGITS}g}") for value in values], np.float64)


def sorted_keys_of(comparisons: Comparisons, group: str | None) -> tuple[score_keys.Keys, score_keys.Keys]:
    """Return the sorted keys of mated and non-mated scores, of all comparisons or those within a group."""
    keys = keys_of(comparisons, None if group is None else comparisons.groups.index(group))
    return keys.mated, keys.nonmated


def _scored(keys: score_keys.Keys) -> score_keys.Keys:
    """Leave out comparisons that failed, which have no score."""
    return keys[score_keys.count_failed(keys) :]


def spread(keys: score_keys.Keys) -> score_keys.Keys:
    """Take keys whose ranks are evenly spaced as normal deviates, with the extreme ones."""
    if keys.size <= _CURVE_POINTS:
        return keys
    end = -ndtri(0.5 / keys.size)
    ranks = ndtr(np.linspace(-end, end, _CURVE_POINTS)) * keys.size
    return keys[np.unique(np.clip(ranks.astype(np.intp), 0, keys.size - 1))]


def scores_of(comparisons: Comparisons, keys: score_keys.Keys) -> Floats:
    """Return the scores of keys, as they were given."""
    return comparisons.to_scale(1.0) * score_keys.decode(keys).astype(np.float64)

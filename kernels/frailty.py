"""Errors of comparisons within groups, drawn as if all groups were alike and some subjects erred more than others.

A subject's effect is lognormal with mean 1, and a comparison errs in proportion to the product of its subjects'. Only
errors are drawn: the points of a Poisson process fall on the comparisons of each subject, at a rate that allows for
partners with effects as large as its own, and are thinned by the partner's effect. A pair of subjects so comes up from
the one with the larger effect alone, and the points are 2 (1 + kappa) times as many as the errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import jit
from .philox import BLOCK, fill_draws

ERRORS, PAIRS, SHARING, REPEATED, REPEATABLE = range(5)  # columns of counts
_UNIT = 2.0**-32
_MOST = 16.0  # errors to be expected of a comparison of two subjects like the one with the largest effect


class Partners(NamedTuple):
    """Comparisons, each seen from both its subjects."""

    partner: NDArray[np.int32]  # (seen,) subject on the other side; those of a subject side by side, ascending
    end: NDArray[np.int64]  # (subjects,) where each subject's partners end
    group: NDArray[np.int64]  # (subjects,) each subject's group


class Rates(NamedTuple):
    """What errors are drawn from."""

    rate: float  # share of comparisons that err, in (0, 1)
    kappa: NDArray[np.float64]  # (groups,) relative covariance of errors that share a subject, at least 0
    again: float  # chance that another comparison of two subjects errs where one does


class _Source(NamedTuple):
    """Random numbers of one replicate, one after the other."""

    words: NDArray[np.uint64]  # (4, 64)
    place: NDArray[np.int64]  # (2,) of the next word, and of the next draw
    purpose: int
    key: NDArray[np.uint32]  # (2,)


@jit
def _uniform(source, replicate):
    """Return the next number inside (0, 1)."""
    if source.place[0] == 4 * BLOCK:
        fill_draws(source.place[1], 0, source.purpose, replicate, source.key, source.words)
        source.place[0] = 0
        source.place[1] += BLOCK
    word = source.words[source.place[0] // BLOCK, source.place[0] % BLOCK]
    source.place[0] += 1
    return (np.float64(word) + 0.5) * _UNIT


@jit
def draw_effects(rates, group, source, replicate, effect):
    """Draw each subject's effect. rates: `Rates`; group: (subjects,) int64; effect: (subjects,) float64, out"""
    for k in range(0, effect.size, 2):
        radius = np.sqrt(-2 * np.log(_uniform(source, replicate)))
        angle = 2 * np.pi * _uniform(source, replicate)
        effect[k] = radius * np.cos(angle)
        if k + 1 < effect.size:
            effect[k + 1] = radius * np.sin(angle)
    largest = np.sqrt(_MOST / rates.rate)
    for k in range(effect.size):
        variance = np.log1p(rates.kappa[group[k]])
        effect[k] = min(np.exp(np.sqrt(variance) * effect[k] - variance / 2), largest)


@jit
def draw_errors(partners, rates, purpose, first_replicate, key, counts):
    """Draw the errors of replicates, and count them and their pairs in each group.

    partners: `Partners`; rates: `Rates`; purpose, first_replicate: int below 2^32; key: (2,) uint32; counts:
    (n_replicates, groups, 5) int64, out: errors; pairs of subjects with errors; ordered two of these that share a
    subject; ordered two errors of one pair; ordered two comparisons of one pair of which the first is an error
    """
    partner, end, group = partners.partner, partners.end, partners.group
    rate, again = rates.rate, rates.again
    effect, pairs = np.empty(end.size), np.empty(end.size, np.int64)
    most, start = 0, 0
    for k in range(end.size):
        most, start = max(most, end[k] - start), end[k]
    hit = np.zeros(most, np.int64)
    source = _Source(np.empty((4, BLOCK), np.uint64), np.empty(2, np.int64), purpose, key)
    for r in range(counts.shape[0]):
        replicate = first_replicate + r
        source.place[0], source.place[1] = 4 * BLOCK, 0
        draw_effects(rates, group, source, replicate, effect)
        pairs[:] = 0
        counts[r] = 0
        start = 0
        next_point = -np.log(_uniform(source, replicate))
        for k in range(end.size):
            highest = rate * effect[k] * effect[k]
            room = highest * (end[k] - start)
            while next_point < room:
                at = min(start + np.int64(next_point / highest), end[k] - 1)
                next_point -= np.log(_uniform(source, replicate))
                other = partner[at]
                if effect[other] > effect[k] or (effect[other] == effect[k] and other > k):
                    continue
                first, last = at, at  # of the comparisons of these two subjects
                while first > start and partner[first - 1] == other:
                    first -= 1
                while last + 1 < end[k] and partner[last + 1] == other:
                    last += 1
                # The one at hand is the first that errs of them, so those before it do not.
                if _uniform(source, replicate) * effect[k] >= effect[other] * (1 - again) ** (at - first):
                    continue
                mark = r * end.size + k + 1
                if hit[first - start] == mark:
                    continue
                hit[first - start] = mark
                drawn = 1
                for _ in range(at, last):
                    drawn += _uniform(source, replicate) < again
                of_group = counts[r, group[k]]
                of_group[ERRORS] += drawn
                of_group[PAIRS] += 1
                of_group[REPEATED] += drawn * (drawn - 1)
                of_group[REPEATABLE] += drawn * (last - first)
                of_group[SHARING] += 2 * pairs[k]
                pairs[k] += 1
                if other != k:
                    of_group[SHARING] += 2 * pairs[other]
                    pairs[other] += 1
            next_point -= room
            start = end[k]

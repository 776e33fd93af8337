"""Errors of comparisons within groups, drawn as if all groups were alike and some subjects erred
more than others.

A subject's effect is lognormal with mean 1, and a comparison errs in proportion to the product of
its subjects'. Only errors are drawn: the points of a Poisson process fall on the comparisons of
each subject, at a rate that allows for partners with effects as large as its own, and are thinned
by the partner's effect. A pair of subjects so comes up from the one with the larger effect alone,
and the points are 2 (1 + kappa) times as many as the errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, jit_in_place, part
from .philox import BLOCK, fill_draws

ERRORS, PAIRS, SHARING, REPEATED, REPEATABLE = range(5)  # columns of counts
_UNIT = 2.0**-32
# errors to be expected of a comparison of two subjects like the one with the largest effect
_MOST = 16.0


class Numbers(NamedTuple):
    """Numbers of comparisons of subjects k and l of a group, a_k b_l + c_k d_l; nothing where
    partners are listed.
    """

    own: NDArray[np.int64]  # (2, subjects) a and c
    # (2, subjects + groups) sums of b and of d over the first members of each group, from 0 on
    sums: NDArray[np.int64]
    member: NDArray[np.int64]  # (subjects,) those of a group side by side, ascending
    place: NDArray[np.int64]  # (subjects,) where each subject stands there
    start: NDArray[np.int64]  # (groups + 1,) where groups begin there, and where the last one ends


class Partners(NamedTuple):
    """Comparisons, each seen from both its subjects."""

    # (seen,) subject on the other side; those of a subject side by side, ascending; or none
    partner: NDArray[np.int32]
    end: NDArray[np.int64]  # (subjects,) where each subject's partners end
    group: NDArray[np.int64]  # (subjects,) each subject's group
    # of comparisons of each two subjects, whose partners then are those of a list, in this order
    numbers: Numbers


class Rates(NamedTuple):
    """What errors are drawn from."""

    rate: float  # share of comparisons that err, in (0, 1)
    # (groups,) relative covariance of errors that share a subject, at least 0
    kappa: NDArray[np.float64]
    again: float  # chance that another comparison of two subjects errs where one does


class _Source(NamedTuple):
    """Random numbers of one replicate, one after the other."""

    words: NDArray[np.uint64]  # (4, 64)
    place: NDArray[np.int64]  # (2,) of the next word, and of the next draw
    purpose: int
    key: NDArray[np.uint32]  # (2,)


class Scratch(NamedTuple):
    """Arrays that drawing errors overwrites."""

    words: NDArray[np.uint64]  # (4, 64)
    place: NDArray[np.int64]  # (2,)
    effect: NDArray[np.float64]  # (subjects,)
    pairs: NDArray[np.int64]  # (2, subjects) pairs with errors, and a mark of the subject before


def new_scratch(n_subjects: int) -> Scratch:
    """Make `Scratch` for so many subjects."""
    return Scratch(
        np.empty((4, BLOCK), np.uint64),
        np.empty(2, np.int64),
        np.empty(n_subjects),
        np.empty((2, n_subjects), np.int64),
    )


@helper
def _uniform(source, replicate):
    """Return the next number inside (0, 1)."""
    if source.place[0] == 4 * BLOCK:
        fill_draws(source.place[1], 0, source.purpose, replicate, source.key, source.words)
        source.place[0] = 0
        source.place[1] += BLOCK
    word = source.words[source.place[0] // BLOCK, source.place[0] % BLOCK]
    source.place[0] += 1
    return (np.float64(word) + 0.5) * _UNIT


@part
def _draw_effects(rates, group, source, replicate, effect):
    """Draw each subject's effect. rates: `Rates`; group: (subjects,) int64; effect: (subjects,)
    float64, out
    """
    for k in range(0, effect.size, 2):
        radius = np.sqrt(-2 * np.log(_uniform(source, replicate)))
        angle = 2 * np.pi * _uniform(source, replicate)
        effect[k] = radius * np.cos(angle)
        if k + 1 < effect.size:
            effect[k + 1] = radius * np.sin(angle)
    largest = np.sqrt(_MOST / rates.rate)
    for k in range(effect.size):
        variance = np.log1p(rates.kappa[group[k]])
        drawn = np.exp(np.sqrt(variance) * effect[k] - variance / 2)
        effect[k] = drawn if drawn < largest else largest


@part
def _listed(partner, start, stop, at):
    """Return the first and the last place of a partner, who stands at a third, among those of a
    subject.
    """
    first, last = start + at, start + at
    while first > start and partner[first - 1] == partner[start + at]:
        first -= 1
    while last + 1 < stop and partner[last + 1] == partner[start + at]:
        last += 1
    return first - start, last - start


@helper
def _seen_before(numbers, k, group, n):
    """Count the comparisons of subject k with the first n members of its group."""
    at, own = numbers.start[group] + group, numbers.place[k] - numbers.start[group]
    a, c, b, d = numbers.own[0, k], numbers.own[1, k], numbers.sums[0], numbers.sums[1]
    seen = a * b[at + n] + c * d[at + n]
    if n > own:
        seen -= a * (b[at + own + 1] - b[at + own]) + c * (d[at + own + 1] - d[at + own])
    return seen


@part
def _counted(numbers, k, group, at):
    """Return the partner at a place among those of a subject, and its first and last place, from
    numbers.
    """
    low, high = 0, numbers.start[group + 1] - numbers.start[group]
    # the first `low` members have at most `at` comparisons with k, the first `high` have more
    while high - low > 1:
        middle = (low + high) // 2
        if _seen_before(numbers, k, group, middle) <= at:
            low = middle
        else:
            high = middle
    first = _seen_before(numbers, k, group, low)
    return (
        numbers.member[numbers.start[group] + low],
        first,
        _seen_before(numbers, k, group, high) - 1,
    )


@jit_in_place
def sum_over_pairs(numbers, group, kind, values, of_subjects, sums):
    """Sum values over each two subjects of a group, one after the other.

    numbers: `Numbers`; group: (subjects,) int64; kind: (subjects,) int64; values: (kinds, kinds)
    float64, of two subjects by their kinds; of_subjects: (subjects,) float64, zeros, out: sums over
    the partners of each; sums: (2, groups) float64, zeros, out: half of the sums over all subjects
    and their partners, of values and of their squares
    """
    for k in range(group.size):
        g = group[k]
        of_kind = values[kind[k]]
        total, squared, own = sums[0, g], sums[1, g], 0.0
        for place in range(numbers.start[g], numbers.start[g + 1]):
            other = numbers.member[place]
            if other != k:
                value = of_kind[kind[other]]
                own += value
                total += 0.5 * value
                squared += 0.5 * (value * value)
        of_subjects[k] = own
        sums[0, g], sums[1, g] = total, squared


@jit_in_place
def draw_errors(partners, rates, purpose, first_replicate, key, scratch, counts):
    """Draw the errors of replicates, and count them and their pairs in each group.

    partners: `Partners`; rates: `Rates`; purpose, first_replicate: int below 2^32; key: (2,)
    uint32; scratch: `Scratch`; counts: (n_replicates, groups, 5) int64, zeros, out: errors; pairs
    of subjects with errors; ordered two of these that share a subject; ordered two errors of one
    pair; ordered two comparisons of one pair of which the first is an error
    """
    partner, end, group, numbers = partners.partner, partners.end, partners.group, partners.numbers
    rate, again = rates.rate, rates.again
    effect, pairs, hit, listed = (
        scratch.effect,
        scratch.pairs[0],
        scratch.pairs[1],
        partner.size > 0,
    )
    source = _Source(scratch.words, scratch.place, purpose, key)
    for k in range(end.size):
        hit[k] = 0
    for r in range(counts.shape[0]):
        replicate = first_replicate + r
        source.place[0], source.place[1] = 4 * BLOCK, 0
        _draw_effects(rates, group, source, replicate, effect)
        for k in range(end.size):
            pairs[k] = 0
        start = 0
        next_point = -np.log(_uniform(source, replicate))
        for k in range(end.size):
            highest = rate * effect[k] * effect[k]
            room = highest * (end[k] - start)
            while next_point < room:
                at, final = np.int64(next_point / highest), end[k] - 1 - start
                at = at if at < final else final
                next_point -= np.log(_uniform(source, replicate))
                if listed:
                    other, first, last = np.int64(partner[start + at]), at, at
                else:
                    other, first, last = _counted(numbers, k, group[k], at)
                if effect[other] > effect[k] or (effect[other] == effect[k] and other > k):
                    continue
                if listed:  # `first` and `last` are of the comparisons of these two subjects
                    first, last = _listed(partner, start, end[k], at)
                # The one at hand is the first that errs of them, so those before it do not.
                if _uniform(source, replicate) * effect[k] >= effect[other] * (1 - again) ** (
                    at - first
                ):
                    continue
                mark = r * end.size + k + 1
                if hit[other] == mark:
                    continue
                hit[other] = mark
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

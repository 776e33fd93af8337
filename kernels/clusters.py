"""Draw subjects with replacement, and sum over them; subjects with the same failures and attempts
are drawn together.

How often each kind of subject is drawn is multinomial. It is drawn as a chain of binomial numbers,
one for each kind, which takes as long for many subjects as for few. Where there are several times
as many kinds as subjects, as with hundreds of attempts of each, the subjects are drawn one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, jit_in_place, part
from .philox import BLOCK, fill, fill_some

# rows of the array of sums
ATTEMPTS, FAILURES, FAILURES_SQUARED, FAILURES_BY_ATTEMPTS, ATTEMPTS_SQUARED = range(5)
_UNIT, _WORDS = 2.0**-53, 2.0**32
# expected replicates of 64 that draw a kind of subjects: below it, to count up one by one is faster
_SOME = 32.0
_LOW_BITS, _HALF = np.uint64(11), np.uint64(32)
_FEW = 40.0  # below this expected number, adding up probabilities is faster than rejection
_ROUNDING = 1e-12  # far more than the rounding error of a computed probability of 0
_TOO_FEW = 10.0  # below this expected number, rejection would be wrong
_MANY_KINDS = 4  # for each subject, from which on to draw subjects one by one is faster


class Kinds(NamedTuple):
    """Kinds of subjects, those with the same failures and attempts; the kinds of each group are
    adjacent.
    """

    failures: NDArray[np.int64]  # (kinds,) of one subject
    attempts: NDArray[np.int64]  # (kinds,) of one subject
    share: NDArray[np.float64]  # (kinds,) proportional to the probability of each kind in its group
    end: NDArray[np.int64]  # (groups,) where each group's kinds end


class Stream(NamedTuple):
    """Which random numbers 64 replicates use; arguments of `philox.fill`, whose stream is
    `number`.
    """

    number: int
    purpose: int
    first_replicate: int
    key: NDArray[np.uint32]  # (2,)


class Scratch(NamedTuple):
    """Arrays that kernels overwrite: the first four where binomial numbers are drawn."""

    words: NDArray[np.uint64]  # (4, 64)
    waiting: NDArray[np.int64]  # (64,) replicates whose number is not accepted yet
    proposed: NDArray[np.float64]  # (64,)
    left: NDArray[np.float64]  # (64,)
    subjects: NDArray[np.float64]  # (2, 64) still to draw, and drawn of a kind
    totals: NDArray[np.int64]  # (5, 64) sums of a group
    shares: NDArray[np.float64]  # (2, kinds) see `draw_sums`
    guide: NDArray[np.int64]  # (kinds,) see `_draw_each`


def new_scratch(n_kinds: int) -> Scratch:
    """Make `Scratch` for so many kinds of subjects."""
    return Scratch(
        np.empty((4, BLOCK), np.uint64),
        np.empty(BLOCK, np.int64),
        np.empty(BLOCK),
        np.empty(BLOCK),
        np.empty((2, BLOCK)),
        np.empty((5, BLOCK), np.int64),
        np.empty((2, n_kinds)),
        np.empty(n_kinds, np.int64),
    )


@helper
def _uniform(high, low):
    """Turn 64 random bits, in two words, into a number inside (0, 1); the largest is rounded to 1."""
    return (np.float64(((high << _HALF) | low) >> _LOW_BITS) + 0.5) * _UNIT


@helper
def _tail(k):
    """Return log k! minus Stirling's formula for it."""
    squared = (k + 1.0) * (k + 1.0)
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * squared)) / squared) / squared) / (k + 1.0)


@helper
def _count_up(n, most, p, words, rest, probability, drawn):
    """Draw binomial numbers of 64 replicates at once, by adding up probabilities until they exceed
    a random number.

    n: (64,) float64, whole numbers; most: the largest of them; p: probability; words: (4, 64)
    uint64; rest, probability: (64,) float64, scratch; drawn: (64,) float64, out
    """
    odds, log_complement = p / (1 - p), np.log1p(-p)
    for r in range(BLOCK):
        probability[r] = np.exp(n[r] * log_complement)
    for r in range(BLOCK):
        rest[r] = _uniform(words[0, r], words[1, r]) - probability[r]
        drawn[r] = 0.0
    k = 0.0
    behind = 1
    while behind > 0 and k < most:
        k += 1
        step = odds / k
        behind = 0
        for r in range(BLOCK):
            beyond = rest[r] > 0
            behind += beyond
            drawn[r] += beyond
            probability[r] *= step * (n[r] - k + 1)
            rest[r] -= probability[r]
    # a sum of rounded probabilities may stay below a random number close to 1
    for r in range(BLOCK):
        drawn[r] = drawn[r] if drawn[r] < n[r] else n[r]


@helper
def _propose(size, n, p, words, proposed):
    """Propose binomial numbers by Hoermann's transformed rejection (BTRS, 1993), and decide the
    easy cases.

    The bounds of Kachitvichyanukul and Schmeiser (BTPE, 1988) enclose the logarithm of a number's
    probability divided by the mode's; sums of the first terms of its series enclose the exponential
    of a negative number. There are no branches and one array is written, so that the processor
    computes several replicates at once.

    size: replicates, at most 64; n: (64,) float64; p: at most 1/2, with n p >= 10; words: (4, 64)
    uint64; proposed: (64,) float64, out: k if it is accepted, -1 if it is rejected, -2 - k if
    `_accepts` must decide
    """
    for r in range(size):
        u = _uniform(words[0, r], words[1, r]) - 0.5
        v = _uniform(words[2, r], words[3, r])
        variance = n[r] * p * (1 - p)
        deviation = np.sqrt(variance)
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        edge = 0.5 - abs(u)
        k = np.floor((2 * a / edge + b) * u + n[r] * p + 0.5)
        height = v * (2.83 + 5.1 / b) * deviation / (a / (edge * edge) + b)
        far = abs(k - np.floor((n[r] + 1) * p))
        margin = far / variance * ((far * (far / 3 + 0.625) + 1 / 6) / variance + 0.5)
        middle = -far * far / (2 * variance)
        # beyond -1 and 0 they decide nothing, and their powers might overflow
        x, y = max((middle - margin) / 8, -1.0), min((middle + margin) / 8, 0.0)
        least = 1 + x * (1 + x / 2 * (1 + x / 3))
        most = 1 + y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4)))
        least, most = least * least, most * most
        least, most = least * least, most * most
        is_bounded = far < variance / 2 - 1
        good = is_bounded & (x > -1) & (height <= least * least)
        bad = (k < 0) | (k > n[r]) | (is_bounded & (y < 0) & (height > most * most))
        proposed[r] = -1.0 if bad else (k if good else -2 - k)


@part
def _accepts(k, u, v, n, p):
    """Return whether to accept k, drawn as in `_propose`. k, u, v, n, p: numbers; u, v: random, in
    (0, 1).
    """
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    edge = 0.5 - abs(u - 0.5)
    height = (
        v * (2.83 + 5.1 / b) * deviation / ((-0.0873 + 0.0248 * b + 0.01 * p) / (edge * edge) + b)
    )
    odds = p / (1 - p)
    mode = np.floor((n + 1) * p)
    return np.log(height) <= (
        (mode + 0.5) * np.log((mode + 1) / (odds * (n - mode + 1)))
        + (n + 1) * np.log((n - mode + 1) / (n - k + 1))
        + (k + 0.5) * np.log(odds * (n - k + 1) / (k + 1))
        + _tail(mode)
        + _tail(n - mode)
        - _tail(k)
        - _tail(n - k)
    )


@part
def _keep(size, n, p, words, proposed, first_replicate, waiting, drawn):
    """Write accepted numbers, and move the replicates without one to the front; return how many
    these are.

    size, n, p, words, proposed: as in `_propose`; first_replicate: int; waiting: (64,) int64,
    replicates, overwritten; drawn: (64,) float64, out
    """
    still = 0
    for position in range(size):
        k = proposed[position]
        if k < -1:
            u, v = (
                _uniform(words[0, position], words[1, position]),
                _uniform(words[2, position], words[3, position]),
            )
            k = -2 - k if _accepts(-2 - k, u, v, n[position], p) else -1.0
        drawn[waiting[position] - first_replicate] = (
            k  # overwritten later if k was rejected, so without a branch
        )
        waiting[still], n[still] = waiting[position], n[position]
        still += k < 0
    return still


@part
def _reject(n, p, draw, stride, stream, scratch, drawn):
    """Draw binomial numbers by rejection. Arguments as in `draw_binomial`, which has filled
    `scratch.words`.
    """
    first_replicate = stream.first_replicate
    words, waiting, proposed, n_left = (
        scratch.words,
        scratch.waiting,
        scratch.proposed,
        scratch.left,
    )
    for r in range(BLOCK):
        waiting[r] = first_replicate + r
        n_left[r] = n[r]
    left = BLOCK
    while left > 0:
        _propose(left, n_left, p, words, proposed)
        left = _keep(left, n_left, p, words, proposed, first_replicate, waiting, drawn)
        draw += stride
        fill_some(draw, stream.number, stream.purpose, waiting, left, stream.key, words)


@part
def _count_up_some(n, most, p, words, drawn):
    """Draw as `_count_up` does where most numbers are 0, one by one, and return whether any may be
    above 0.

    Those are 0 whose random number is below 1 - n p, a lower bound of P(0). drawn: (64,) float64,
    zeros, out
    """
    odds, log_complement = p / (1 - p), np.log1p(-p)
    # below it, the upper word
    surely_zero = np.uint64(np.int64((1 - most * p - _ROUNDING) * _WORDS))
    seen = False
    for r in range(BLOCK):
        if words[0, r] >= surely_zero:
            seen = True
            probability = np.exp(n[r] * log_complement)
            rest = _uniform(words[0, r], words[1, r]) - probability
            k = 0.0
            while rest > 0 and k < n[r]:
                k += 1
                probability *= odds / k * (n[r] - k + 1)
                rest -= probability
            drawn[r] = k
    return seen


@part
def _extremes(n):
    """Return the smallest and the largest of 64 whole numbers, as integers, which are compared
    several at a time.
    """
    least, most = np.int64(n[0]), np.int64(n[0])
    for r in range(BLOCK):
        k = np.int64(n[r])
        least = k if k < least else least
        most = k if k > most else most
    return least, most


@helper
def draw_binomial(n, chance, draw, stride, stream, scratch, drawn):
    """Draw a binomial number for each of 64 replicates, with one probability for all.

    n: (64,) float64, whole numbers; if one is below 10 / p, all must be below 700 / p, as
    probabilities are added up from that of 0, where p is the smaller of chance and 1 - chance;
    chance: the probability, in [0, 1]; draw, stride: first counter of the random stream, and the
    step to the next counter if a number is rejected; stream: a `Stream`; scratch: a `Scratch`;
    drawn: (64,) float64, out. Returns False only if all are 0
    """
    p = chance if chance < 1 - chance else 1 - chance
    least, most = _extremes(n)
    for r in range(BLOCK):
        drawn[r] = 0.0
    if most == 0 or chance == 0:
        return False
    if p > 0:
        fill(draw, stream.number, stream.purpose, stream.first_replicate, stream.key, scratch.words)
        if chance <= 0.5 and BLOCK * most * p < _SOME:  # a rare kind
            return _count_up_some(n, most, p, scratch.words, drawn)
        if most * p < _FEW or least * p < _TOO_FEW:
            _count_up(n, most, p, scratch.words, scratch.proposed, scratch.left, drawn)
        else:
            _reject(n, p, draw, stride, stream, scratch, drawn)
    if chance > 0.5:
        for r in range(BLOCK):
            drawn[r] = n[r] - drawn[r]
    return True


@helper
def _add(failures, attempts, times, r, totals):
    """Add subjects of a kind to the sums of a replicate. Numbers; totals: (5, 64) int64, out."""
    totals[ATTEMPTS, r] += attempts * times
    totals[FAILURES, r] += failures * times
    totals[FAILURES_SQUARED, r] += failures * failures * times
    totals[FAILURES_BY_ATTEMPTS, r] += failures * attempts * times
    totals[ATTEMPTS_SQUARED, r] += attempts * attempts * times


@part
def _draw_each(kinds, start, stop, size, stream, cumulative, scratch):
    """Draw the subjects of a group one by one, two for each four words.

    kinds: `Kinds`, of which those from start to stop are the group's; size: int, subjects; stream:
    `Stream`; cumulative: (kinds,) float64, shares added up from start; scratch: a `Scratch`, whose
    totals are added to
    """
    n_kinds, whole = stop - start, cumulative[stop - 1]
    words, totals = scratch.words, scratch.totals
    guide = scratch.guide  # the first kind that each of as many equal parts of the whole may draw
    kind = start
    for equal in range(n_kinds):
        while cumulative[kind] <= equal * whole / n_kinds:
            kind += 1
        guide[equal] = kind
    for draw in range((size + 1) // 2):
        fill(draw, stream.number, stream.purpose, stream.first_replicate, stream.key, words)
        for half in range(0, 4 if 2 * draw + 1 < size else 2, 2):
            for r in range(BLOCK):
                share = _uniform(words[half, r], words[half + 1, r])
                kind = guide[np.int64(share * n_kinds)]
                while kind < stop - 1 and cumulative[kind] <= share * whole:
                    kind += 1
                _add(kinds.failures[kind], kinds.attempts[kind], 1, r, totals)


@jit_in_place
def draw_sums(kinds, size, purpose, first_replicate, key, scratch, sums):
    """Draw subjects of every group with replacement, and sum over them.

    kinds: `Kinds`; size: (groups,) int64, subjects to draw; purpose: int; first_replicate: int, a
    multiple of 64, as the method depends on all 64 replicates of a block; key: (2,) uint32;
    scratch: a `Scratch`; sums: (5, n_replicates, groups) int64, out
    """
    failures, attempts, share, end = kinds.failures, kinds.attempts, kinds.share, kinds.end
    n_replicates = sums.shape[1]
    left, drawn, totals = scratch.subjects[0], scratch.subjects[1], scratch.totals
    chance = scratch.shares[0]  # of each kind among it and the later kinds of its group
    cumulative = scratch.shares[1]  # of a group's kinds up to each
    start = 0
    for group in range(end.size):
        rest = 0.0
        for kind in range(start, end[group]):
            rest += share[kind]
            cumulative[kind] = rest
        rest = 0.0
        for kind in range(end[group] - 1, start - 1, -1):
            rest += share[kind]
            chance[kind] = share[kind] / rest if rest > 0 else 1.0
        start = end[group]
    for first in range(0, n_replicates, BLOCK):
        start = 0
        for group in range(end.size):
            for r in range(BLOCK):
                left[r] = size[group]
                for row in range(5):
                    totals[row, r] = 0
            n_kinds = end[group] - start
            stream = Stream(group, purpose, first_replicate + first, key)
            chained = end[group]
            if n_kinds > _MANY_KINDS * size[group]:
                chained = start
                _draw_each(kinds, start, end[group], size[group], stream, cumulative, scratch)
            for kind in range(start, chained):
                if not draw_binomial(
                    left, chance[kind], kind - start, n_kinds, stream, scratch, drawn
                ):
                    continue
                for r in range(BLOCK):
                    left[r] -= drawn[r]
                    _add(failures[kind], attempts[kind], np.int64(drawn[r]), r, totals)
            for r in range(BLOCK):
                for row in range(5):
                    if first + r < n_replicates:
                        sums[row, first + r, group] = totals[row, r]
            start = end[group]

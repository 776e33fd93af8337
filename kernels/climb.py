"""Hill climbing to an error rate: distances change at random, and a change is kept if the rate
comes closer.

A given share of the held class of scores is at or below the threshold; the errors are the scores of
the free class at or below it. No change is larger than the step, so scores farther than twice the
step from the threshold cannot matter: a step tries only the scores near it, and changes all scores
if it is accepted. A change depends only on the key, the data set, the step's number and the score's
position.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import helper, jit
from .philox import BLOCK, fill, fill_some

_CELL = 4 * BLOCK  # scores for which one call of `fill` gives words
_UNIT = 2.0**-31
_START, _CHANGE = 5, 6  # purposes of draws in the random stream of a synthesis
# A step that adapts is tried in rising sizes, and again from the smallest after one is accepted.
# The smallest is the distance from the threshold to the nearest score that must cross it. The
# largest is `_ABOVE` times the distance of the farthest such score, or `_COMMON` if that is larger;
# if there are too many errors, at most `_FAR` times the smallest. Every other time the held scores
# change little, as accepted thresholds tend to move to one side only, even to the wrong one.
_RUNGS_UP, _RUNGS_DOWN, _TRIES = 6, 10, 3
_ABOVE, _COMMON, _FAR = 1.5, 0.04, 100.0
_LITTLE = 1 / 64
_EQUAL = 1e-12  # largest difference of fitnesses that count as equal


class Goal(NamedTuple):
    """The error rate that a data set should have."""

    n_held: int  # how many of the scores are held
    rank: int  # from 0, of the threshold among the held scores in ascending order
    target: float  # wanted share of free scores at or below the threshold


class Rules(NamedTuple):
    """How steps are made and accepted."""

    step: float  # largest change of a score; 0 for a step that adapts
    plateaus: bool  # whether a step to equal fitness is accepted
    stops: bool  # whether to stop at the best possible rate


class Near(NamedTuple):
    """Scores of one class near the threshold."""

    position: NDArray[np.int64]  # (n,) among all scores
    value: NDArray[np.float64]  # (n,)


@helper
def _change(word):
    """Turn 32 random bits into a number inside (-1, 1)."""
    return (np.float64(word) + 0.5) * _UNIT - 1.0


@helper
def _reflected(distance):
    """Keep a distance inside [0, 1]."""
    return 2.0 - distance if distance > 1 else abs(distance)


@helper
def start(n_held, stream, key, words, scores):
    """Draw the first distances: held ones uniform in [0, 0.5], free ones in [0.5, 1].

    n_held: int; stream: number of the data set; key: (2,) uint32; words: (4, 64) uint64, scratch;
    scores: (n,) float64, held ones first, out
    """
    for first in range(0, scores.size, _CELL):
        fill(0, stream, _START, first // 4, key, words)
        for row in range(4):
            begin = first + row * BLOCK
            for r in range(min(BLOCK, scores.size - begin)):
                half = 0.25 * (1.0 + _change(words[row, r]))
                scores[begin + r] = half if begin + r < n_held else 0.5 + half


@helper
def move(step_number, n_held, held_step, free_step, stream, key, words, scores):
    """Change all distances at random. held_step, free_step: largest changes; other arguments as in
    `start`.
    """
    for first in range(0, scores.size, _CELL):
        fill(step_number, stream, _CHANGE, first // 4, key, words)
        for row in range(4):
            begin = first + row * BLOCK
            for r in range(min(BLOCK, scores.size - begin)):
                largest = held_step if begin + r < n_held else free_step
                scores[begin + r] = _reflected(scores[begin + r] + largest * _change(words[row, r]))


@helper
def _take_near(scores, begin, end, low, high, room):
    """Return scores[begin:end] inside [low, high], and how many are below. room: `Near`, scratch,
    one place larger.
    """
    position, value = room.position, room.value
    near, below = 0, 0
    for k in range(begin, end):  # every score is written, and overwritten if it is not near
        position[near], value[near] = k, scores[k]
        below += scores[k] < low
        near += (scores[k] >= low) & (scores[k] <= high)
    return Near(position[:near], value[:near]), below


@helper
def _propose(step_number, step, stream, key, near, counters, words, proposed):
    """Compute what distances near the threshold would be after a step.

    step_number, stream: int; step: largest change; key: (2,) uint32; near: `Near`; counters: (64,)
    int64, words: (4, 64) uint64, scratch; proposed: (n,) float64, out
    """
    position, value = near.position, near.value
    size = position.size
    for first in range(0, size, BLOCK):
        n = min(BLOCK, size - first)
        for r in range(n):
            k = position[first + r]
            counters[r] = k // _CELL * BLOCK + k % BLOCK
        fill_some(step_number, stream, _CHANGE, counters, n, key, words)
        for r in range(n):
            word = words[position[first + r] % _CELL // BLOCK, r]
            proposed[first + r] = _reflected(value[first + r] + step * _change(word))


@helper
def select(values, size, rank):
    """Return the value of a rank, from 0, among the first `size` of (n,) float64, which are
    reordered.
    """
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            break
    return values[rank]


@helper
def _ways(scores, n_held, threshold, missing, gaps):
    """Return the distances from the threshold of the nearest and the farthest score that must cross
    it.

    scores: (n,) float64, held ones first; missing: how many free scores must come below the
    threshold, or, if negative, go above it; gaps: (n,) float64, scratch
    """
    size = 0
    first = np.inf
    for k in range(n_held, scores.size):
        is_error = scores[k] <= threshold
        if is_error == (missing < 0):
            gaps[size] = abs(scores[k] - threshold)
            first = min(first, gaps[size])
            size += 1
    return first, select(gaps, size, min(abs(missing), size) - 1)


@jit
def climb(goal, rules, stream, key, scores, history):
    """Climb to the error rate wanted, on one data set (Algorithm 1 of the paper).

    goal: a `Goal`; rules: `Rules`; stream: number of the data set; key: (2,) uint32; scores: (n,)
    float64, out; history: (n_steps + 1,) float64, out, the distance of the rate from the target.
    Returns errors, steps accepted and steps made.
    """
    n_held, rank, target = goal.n_held, goal.rank, goal.target
    step, plateaus, stops = rules.step, rules.plateaus, rules.stops
    n_free = scores.size - n_held
    words, counters = np.empty((4, BLOCK), np.uint64), np.empty(BLOCK, np.int64)
    room_of_held = Near(np.empty(n_held + 1, np.int64), np.empty(n_held + 1))
    room_of_free = Near(np.empty(n_free + 1, np.int64), np.empty(n_free + 1))
    held, free, below = room_of_held, room_of_free, 0
    proposed = np.empty(max(n_held, n_free) + 1)
    start(n_held, stream, key, words, scores)
    proposed[:n_held] = scores[:n_held]
    threshold = select(proposed, n_held, rank)
    errors = 0
    for k in range(n_held, scores.size):
        errors += scores[k] <= threshold
    fitness = abs(errors / n_free - target)
    history[0] = fitness
    wanted = np.int64(np.round(target * n_free))
    best = abs(wanted / n_free - target)  # the best possible fitness
    accepted, made = 0, 0
    adapts, reach = step == 0, 0.0
    first, last, tried, held_step = 0.0, 0.0, 0, step
    for step_number in range(1, history.size):
        if stops and fitness <= best + _EQUAL:
            history[step_number:] = fitness
            break
        made = step_number
        if reach == 0:
            if adapts and errors != wanted:
                first, last = _ways(scores, n_held, threshold, wanted - errors, proposed)
            reach = max(last * _ABOVE, _COMMON) if adapts else step
            bounds = threshold - 2 * reach, threshold + 2 * reach
            held, below = _take_near(scores, 0, n_held, *bounds, room_of_held)
            free, _ = _take_near(scores, n_held, scores.size, -1.0, bounds[1], room_of_free)
        if adapts:
            if errors < wanted:
                step = first + (reach - first) * 0.5 ** (
                    _RUNGS_UP - 1 - tried // _TRIES % _RUNGS_UP
                )
            else:
                step = first * min(reach / first, _FAR) ** (
                    tried // _TRIES % _RUNGS_DOWN / (_RUNGS_DOWN - 1)
                )
            tried += 1
            held_step = step * _LITTLE if tried % 2 == 0 else step
        _propose(step_number, held_step, stream, key, held, counters, words, proposed)
        new_threshold = select(proposed, held.value.size, rank - below)
        _propose(step_number, step, stream, key, free, counters, words, proposed)
        new_errors = 0
        for k in range(free.value.size):
            new_errors += proposed[k] <= new_threshold
        new_fitness = abs(new_errors / n_free - target)
        if new_fitness < fitness - _EQUAL or (plateaus and new_fitness <= fitness + _EQUAL):
            move(step_number, n_held, held_step, step, stream, key, words, scores)
            threshold, errors, fitness = new_threshold, new_errors, min(fitness, new_fitness)
            accepted += 1
            reach, tried = 0.0, 0
        history[step_number] = fitness
    return errors, accepted, made

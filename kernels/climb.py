"""Hill climbing to an error rate: distances move at random, and a move stays where the rate comes closer.

One class is held, at the threshold that a given share of it does not exceed; the other is free, and errors where it
does not exceed that threshold. No change is larger than the step, so that scores farther than twice that from the
threshold cannot matter: a step looks at those near it alone, and all scores move where it is accepted. A change depends
on the key, the data set, the step and the score's position alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import jit
from .philox import BLOCK, fill, fill_some

_CELL = 4 * BLOCK  # scores that one call of `fill` has words for
_UNIT = 2.0**-31
_START, _CHANGE = 5, 6  # kinds of draws, told apart in the random stream from those of other kernels
# Steps that adapt are tried in turn on a ladder: from the way that the first score has to go that must cross the
# threshold to `_ABOVE` times the last one's or to a common one, or to `_FAR` times the first's where errors have to
# leave; and from its foot again where one is accepted. Every other time the held scores change little: a threshold that
# was accepted tends to move to one side alone, and be it the wrong one.
_RUNGS_UP, _RUNGS_DOWN, _TRIES = 6, 10, 3
_ABOVE, _COMMON, _FAR = 1.5, 0.04, 100.0
_LITTLE = 1 / 64
_EQUAL = 1e-12  # fitness


class Goal(NamedTuple):
    """What a data set is to have."""

    n_held: int  # how many of the scores are held
    rank: int  # from 0, of the held score that is the threshold
    target: float  # the share of free scores wanted at or below it


class Rules(NamedTuple):
    """How it is climbed to."""

    step: float  # the largest change, 0 for one that adapts
    plateaus: bool  # whether equal fitness is accepted
    stops: bool  # whether to stop at the best there can be


class Near(NamedTuple):
    """Scores of one class near the threshold."""

    position: NDArray[np.int64]  # (n,) among all scores
    value: NDArray[np.float64]  # (n,)


@jit
def _change(word):
    """Turn 32 random bits into a number inside (-1, 1)."""
    return (np.float64(word) + 0.5) * _UNIT - 1.0


@jit
def _reflected(distance):
    """Keep a distance inside [0, 1]."""
    return 2.0 - distance if distance > 1 else abs(distance)


@jit
def start(n_held, stream, key, words, scores):
    """Draw the first distances: held ones uniform in [0, 0.5], free ones in [0.5, 1].

    stream: number of the data set; key: (2,) uint32; words: (4, 64) uint64, scratch; scores: (n,) float64, held ones
    first, out
    """
    for first in range(0, scores.size, _CELL):
        fill(0, stream, _START, first // 4, key, words)
        for row in range(4):
            begin = first + row * BLOCK
            for r in range(min(BLOCK, scores.size - begin)):
                half = 0.25 * (1.0 + _change(words[row, r]))
                scores[begin + r] = half if begin + r < n_held else 0.5 + half


@jit
def move(step_number, n_held, held_step, free_step, stream, key, words, scores):
    """Change all distances. held_step, free_step: the largest changes; other arguments as in `start`."""
    for first in range(0, scores.size, _CELL):
        fill(step_number, stream, _CHANGE, first // 4, key, words)
        for row in range(4):
            begin = first + row * BLOCK
            for r in range(min(BLOCK, scores.size - begin)):
                largest = held_step if begin + r < n_held else free_step
                scores[begin + r] = _reflected(scores[begin + r] + largest * _change(words[row, r]))


@jit
def _take_near(scores, begin, end, low, high, room):
    """Return the scores inside [low, high], and how many are below. room: `Near`, scratch, for one more than all."""
    position, value = room.position, room.value
    near, below = 0, 0
    for k in range(begin, end):  # written before it is known whether it is near
        position[near], value[near] = k, scores[k]
        below += scores[k] < low
        near += (scores[k] >= low) & (scores[k] <= high)
    return Near(position[:near], value[:near]), below


@jit
def _propose(step_number, step, stream, key, near, counters, words, proposed):
    """Write what some distances would be after a step.

    near: `Near`; counters: (64,) int64, words: (4, 64) uint64, scratch; proposed: (n,) float64, out
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


@jit
def select(values, size, rank):
    """Return the value of a rank, from 0, among the first `size`, and leave them in another order."""
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


@jit
def _ways(scores, n_held, threshold, missing, gaps):
    """Return how far from the threshold the first and the last score are that must cross it for the rate wanted.

    missing: scores that must come below it, or as a negative number leave; gaps: (n,) float64, scratch
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
    """Run Algorithm 1 on one data set.

    goal: a `Goal`; rules: `Rules`; stream: number of the data set; key: (2,) uint32; scores: (n,) float64, out;
    history: (n_steps + 1,) float64, out, the distance of the rate from the target. Returns errors, steps accepted and
    steps made.
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
    best = abs(wanted / n_free - target)  # of two rates where the target lies halfway between them
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
                step = first + (reach - first) * 0.5 ** (_RUNGS_UP - 1 - tried // _TRIES % _RUNGS_UP)
            else:
                step = first * min(reach / first, _FAR) ** (tried // _TRIES % _RUNGS_DOWN / (_RUNGS_DOWN - 1))
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

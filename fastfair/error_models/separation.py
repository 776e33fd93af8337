"""Which cells have no finite log odds: where errors and the rest are separated, the likelihood of a
logit grows without end.

Konis, "Linear programming algorithms for detecting separated data in binary logistic regression
models", 2007. A direction along which no cell's likelihood falls is looked for by linear programs,
one after another: cells whose likelihood grows along one are left out of the next. As nearly all
constraints are met anyway, each program begins with some of them, and gets those that its solution
fails.
"""

from __future__ import annotations

import numpy as np

from fastfair._lib.arrays import Flags, Floats, Integers
from fastfair.errors import FastfairError

_TINY = 1e-9  # of the largest, where a singular value counts as 0
_MOVED = 1e-6  # of what a unit direction moves a cell by, beyond which it is moved
_FIRST = 500  # constraints that a program begins with, and that it gets at a time
_ROUNDS = 200  # of more constraints, at most


def find_separated(n: Integers, errors: Integers, design: Floats) -> Flags:
    """Find the (cells,) without errors, or without anything else, whose log odds the likelihood
    drives to infinity.
    """
    sign = np.where(errors == 0, -1.0, np.where(errors == n, 1.0, 0.0))
    is_separated = np.zeros(n.size, np.bool_)
    scale = np.abs(design).max(axis=0, initial=0.0)
    scaled = design / np.where(scale > 0, scale, 1.0)
    # Cells with errors and others must not move at all.
    free = _null_space(scaled[sign == 0])
    left = np.flatnonzero(sign)
    moves = (scaled[left] * sign[left, None]) @ free
    for _ in range(free.shape[1]):
        moved = moves @ _direction(moves) > _MOVED
        if not moved.any():
            break
        is_separated[left[moved]] = True
        left, moves = left[~moved], moves[~moved]
    return is_separated


def _null_space(rows: Floats) -> Floats:
    """Return a basis, as columns, of the directions along which no row moves."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, values, vectors = np.linalg.svd(np.linalg.qr(rows, mode="r"))
    rank = int(np.count_nonzero(values > _TINY * values.max(initial=0.0)))
    return np.asarray(vectors[rank:].T)


def _direction(moves: Floats) -> Floats:
    """Return a direction, in [-1, 1], along which no row falls and all together rise as much as
    they can; 0 where there is none.
    """
    from scipy.optimize import linprog

    size = moves.shape[1]
    total = moves.sum(axis=0)
    if not total.any():
        return np.zeros(size)
    chosen = np.unique(np.linspace(0, len(moves) - 1, min(len(moves), _FIRST)).astype(np.intp))
    for _ in range(_ROUNDS):
        solved = linprog(
            -total / np.abs(total).max(),
            A_ub=-moves[chosen],
            b_ub=np.zeros(chosen.size),
            bounds=[(-1, 1)] * size,
        )
        if solved.status != 0:
            break
        risen = moves @ solved.x
        if risen.sum() <= _MOVED * np.abs(total).max():  # with fewer constraints than there are
            return np.zeros(size)
        failed = np.flatnonzero(risen < -_MOVED)
        if not failed.size:
            return np.asarray(solved.x)
        worst = np.argsort(risen[failed], kind="stable")[:_FIRST]
        chosen = np.union1d(chosen, failed[worst])
    raise FastfairError(f"cells without errors cannot be told apart: {solved.message}")

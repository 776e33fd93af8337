"""Add up what cells hold over the comparisons of each subject, and over those of each two subjects.

Comparisons are listed by pair of subjects, and those of a pair by cell. `cell_scores` does the same
from counts, where cells are few.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit, jit_in_place


@jit_in_place
def add_up(first, second, cell, values, start, sums):
    """Add the values of cells up over the comparisons of each subject; one with itself counts once.

    first, second: (n,) int32 subjects; cell: (n,) int64; values: (cells, k) float64; start: the
    first subject that is looked at; sums: (subjects looked at, k) float64, added to
    """
    stop = start + sums.shape[0]
    for k in range(first.size):
        i, j, c = first[k], second[k], cell[k]
        if start <= i < stop:
            for column in range(values.shape[1]):
                sums[i - start, column] += values[c, column]
        if j != i and start <= j < stop:
            for column in range(values.shape[1]):
                sums[j - start, column] += values[c, column]


@jit_in_place
def add_residuals(first, second, cell, is_error, rows, chances, sums):
    """Add residuals, times the row of their cell, up over the comparisons of each subject.

    first, second, cell: as in `add_up`; is_error: (n,) bool; rows: (cells, r) float64; chances:
    (cells,) float64; sums: (subjects, r) float64, added to
    """
    for k in range(first.size):
        i, j, c = first[k], second[k], cell[k]
        residual = is_error[k] - chances[c]
        for column in range(rows.shape[1]):
            sums[i, column] += residual * rows[c, column]
        if j != i:
            for column in range(rows.shape[1]):
                sums[j, column] += residual * rows[c, column]


@jit
def multiply_pairs(first, second, cell, is_error, rows, chances, products):
    """Add up the outer products of the sums of residuals, times rows, of each two subjects.

    Arguments as in `add_residuals`; products: (r, r) float64, added to
    """
    width = rows.shape[1]
    of_pair = np.zeros(width)
    n = first.size
    for k in range(n):
        if first[k] == second[k]:
            continue
        c = cell[k]
        residual = is_error[k] - chances[c]
        for column in range(width):
            of_pair[column] += residual * rows[c, column]
        if k + 1 == n or first[k + 1] != first[k] or second[k + 1] != second[k]:
            for a in range(width):
                for b in range(width):
                    products[a, b] += of_pair[a] * of_pair[b]
            for column in range(width):
                of_pair[column] = 0.0


@jit_in_place
def square_pairs(first, second, cell, is_error, along, chances, squares):
    """Add up the squared sums of residuals of each two subjects in each cell, over the pairs of a
    subject.

    Arguments as in `add_residuals`; along: (cells,) float64, by which residuals are multiplied;
    squares: (subjects,) float64, added to
    """
    total = 0.0
    n = first.size
    for k in range(n):
        i, j, c = first[k], second[k], cell[k]
        if i == j:
            continue
        total += (is_error[k] - chances[c]) * along[c]
        if k + 1 == n or first[k + 1] != i or second[k + 1] != j or cell[k + 1] != c:
            squares[i] += total * total
            squares[j] += total * total
            total = 0.0

"""Count the comparisons of each subject by cell, and multiply residuals of comparisons of the same
two subjects.

A cell is a combination of the values of attributes on both sides of a comparison. A model that
knows nothing but these needs only counts of them; what follows adds who is behind them.
"""

from __future__ import annotations

import numpy as np

from ._jit import helper, jit


@jit
def count_by_subject(reference, probe, reference_group, probe_group, cell, start, stop, counts):
    """Count some comparisons by subject and cell; one of a subject with itself counts once.

    reference, probe: (n,) int32 subjects; reference_group, probe_group: (n,) uint16; cell: (groups,
    groups) int64, the cell of two groups, -1 for those left out; start, stop: the comparisons;
    counts: (subjects, cells) int64, added to
    """
    for k in range(start, stop):
        c = cell[reference_group[k], probe_group[k]]
        if c >= 0:
            i, j = reference[k], probe[k]
            counts[i, c] += 1
            if j != i:
                counts[j, c] += 1


@helper
def _by_first(reference, probe, reference_group, probe_group, cell, errors_at, n_subjects):
    """Order the comparisons in cells by the subject that comes first, leaving out those of a
    subject with itself.

    Arguments as in `multiply_pairs`. Returns (m,) int32 the other subject and twice the cell, plus
    1 for errors, and (subjects,) int64 ends.
    """
    end = np.zeros(n_subjects, np.int64)
    for k in range(reference.size):
        if reference[k] != probe[k] and cell[reference_group[k], probe_group[k]] >= 0:
            end[min(reference[k], probe[k])] += 1
    total = 0
    for unit in range(n_subjects):
        total, end[unit] = total + end[unit], total
    other, what = np.empty(total, np.int32), np.empty(total, np.int32)
    for k in range(reference.size):
        c = cell[reference_group[k], probe_group[k]]
        if reference[k] != probe[k] and c >= 0:
            unit = min(reference[k], probe[k])
            other[end[unit]] = max(reference[k], probe[k])
            what[end[unit]] = 2 * c + (errors_at[0] <= k < errors_at[1])
            end[unit] += 1
    return other, what, end


@jit
def multiply_pairs(
    reference, probe, reference_group, probe_group, cell, errors_at, products, squares
):
    """Count comparisons m and errors e of each two subjects by cell, and add up their products.

    reference, probe, reference_group, probe_group, cell: as in `count_by_subject`; errors_at: the
    first error, and the position after the last; products: (3, cells, cells) float64, added to:
    over pairs of subjects, e of one cell times e of another, e times m, and m times m; squares: (3,
    subjects, cells) float64, added to: e e, e m and m m of one cell over the pairs that a subject
    is in
    """
    n_subjects = squares.shape[1]
    others, what, end = _by_first(
        reference, probe, reference_group, probe_group, cell, errors_at, n_subjects
    )
    longest, start = 0, 0
    for unit in range(n_subjects):
        longest = max(longest, end[unit] - start)
        start = end[unit]
    # Each partner of the first subject has a list of nodes, one for each cell.
    head, partners = np.full(n_subjects, -1, np.int64), np.empty(longest, np.int64)
    node_cell, node_next = np.empty(longest, np.int64), np.empty(longest, np.int64)
    m, e = np.empty(longest), np.empty(longest)
    start = 0
    for unit in range(n_subjects):
        n_nodes, n_partners = 0, 0
        for p in range(start, end[unit]):
            c, other = what[p] // 2, others[p]
            if head[other] < 0:
                partners[n_partners] = other
                n_partners += 1
            node = head[other]
            while node >= 0 and node_cell[node] != c:
                node = node_next[node]
            if node < 0:
                node = n_nodes
                n_nodes += 1
                node_cell[node], node_next[node], m[node], e[node] = c, head[other], 0.0, 0.0
                head[other] = node
            m[node] += 1.0
            e[node] += what[p] % 2
        for q in range(n_partners):
            other = partners[q]
            node = head[other]
            while node >= 0:
                c = node_cell[node]
                for subject in (unit, other):
                    squares[2, subject, c] += m[node] * m[node]
                    if e[node] > 0:
                        squares[0, subject, c] += e[node] * e[node]
                        squares[1, subject, c] += e[node] * m[node]
                another = head[other]
                while another >= 0:
                    d = node_cell[another]
                    products[0, c, d] += e[node] * e[another]
                    products[1, c, d] += e[node] * m[another]
                    products[2, c, d] += m[node] * m[another]
                    another = node_next[another]
                node = node_next[node]
            head[other] = -1
        start = end[unit]

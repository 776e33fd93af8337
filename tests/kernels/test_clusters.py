"""Subjects drawn kind by kind, against binomial laws and against subjects drawn one by one."""

from __future__ import annotations

import numpy as np
import pytest
from fastfair.kernels import clusters, weights
from fastfair.kernels._jit import jit
from helpers.each import each
from scipy import stats

KEY = np.array([3, 4], np.uint32)
PURPOSE = 9
# As part of a kernel: plain Python would take minutes.
draw_binomial = jit(clusters.draw_binomial)


def binomial(n, chance: float, blocks: int, stream: int = 0) -> np.ndarray:
    """(blocks, 64) binomial numbers; n is one number, or one for each replicate."""
    replicates = np.broadcast_to(np.asarray(n, np.float64), 64).copy()
    scratch, out = clusters.new_scratch(0), np.empty((blocks, 64))
    for block in range(blocks):
        draws = clusters.Stream(stream, PURPOSE, 64 * block, KEY)
        draw_binomial(replicates, chance, 0, 1, draws, scratch, out[block])
    return out


def fit(drawn: np.ndarray, n: int, chance: float) -> float:
    """The p-value of chi-square over quantiles of the binomial law, its tails apart."""
    law = stats.binom(n, chance)
    tail = 20 / drawn.size
    edges = np.unique(
        law.ppf([tail, 10 * tail, *np.arange(0.02, 1, 0.02), 1 - 10 * tail, 1 - tail])
    )
    cdf = law.cdf(edges)
    expected = np.diff(np.concatenate(([0], cdf, [1]))) * drawn.size
    # Draws at an edge are of the bin that it ends.
    observed = np.bincount(np.searchsorted(edges, drawn.ravel()), minlength=edges.size + 1)
    enough = expected >= 5
    pooled = [np.append(x[enough], x[~enough].sum()) for x in (observed, expected)]
    if pooled[1][-1] < 5:  # too few to stand alone
        pooled = [np.append(x[:-2], x[-2:].sum()) for x in pooled]
    if pooled[1].size < 2:
        return 1.0
    return float(stats.chisquare(*pooled).pvalue)


# n p beside the numbers at which the method changes, from both sides.
SWITCHES = [
    (n, edge / n * side) for n in (100, 1000, 10**6) for edge in (10, 40) for side in (0.99, 1.01)
]


@pytest.mark.jit
@each(
    ("n", "chance"),
    [(n, p) for n in (1, 2, 7, 61, 400, 10_000, 10**6) for p in (1e-5, 0.003, 0.11, 0.31, 0.5)]
    + SWITCHES,
)
def test_binomial_numbers_have_their_law(n, chance):
    for p in {chance, 1 - chance}:
        drawn = binomial(n, p, 1500, stream=int(n * 31 * p) % 2**31)
        assert ((drawn >= 0) & (drawn <= n) & (drawn == np.floor(drawn))).all()
        assert fit(drawn, n, p) > 1e-4
        error = np.sqrt(n * p * (1 - p) / drawn.size)
        assert abs(drawn.mean() - n * p) < 5 * error


@pytest.mark.parametrize(("n", "chance"), [(5, 0.3), (90, 0.45), (300, 0.8)])
def test_a_few_binomial_numbers(n, chance):
    """As the test above, short enough for kernels that are not compiled."""
    assert fit(binomial(n, chance, 20), n, chance) > 1e-3


def test_the_outermost_random_numbers_are_rejected():
    """They propose numbers far below 0 and far above n; plain Python warns of what overflows."""
    words = np.zeros((4, 64), np.uint64)
    words[:2, 1::2] = [[2**32 - 1], [2**32 - 2**11 - 1]]  # the last that is not rounded to 1
    proposed = np.zeros(64)
    jit(clusters._propose)(64, np.full(64, 440.0), 0.1, words, proposed)
    assert (proposed == -1).all()


# Sums over subjects.

GROUPS = [  # failures, attempts and share of each kind
    [(0, 4, 11), (1, 4, 5), (3, 5, 2), (2, 2, 1)],
    [(0, 2, 3), (2, 3, 3)],
    [(1, 3, 9)],
]


def drawn_sums(groups, sizes, n_replicates: int, first: int = 0) -> np.ndarray:
    """(5, n_replicates, groups)."""
    failures, attempts, share = (
        np.array([kind[k] for group in groups for kind in group]) for k in range(3)
    )
    sums = np.empty((5, n_replicates, len(groups)), np.int64)
    kinds = clusters.Kinds(
        failures, attempts, share.astype(np.float64), np.cumsum([len(group) for group in groups])
    )
    scratch = clusters.new_scratch(kinds.share.size)
    clusters.draw_sums(kinds, np.array(sizes), PURPOSE, first, KEY, scratch, sums)
    return sums


def times_drawn(groups, sizes, n_replicates: int) -> list[np.ndarray]:
    """How often each kind was drawn, (n_replicates, kinds) for each group: attempts are made digits
    of a number."""
    base = max(sizes) + 1
    digits = [[(0, base**k, share) for k, (_, _, share) in enumerate(group)] for group in groups]
    total = drawn_sums(digits, sizes, n_replicates)[clusters.ATTEMPTS]
    return [
        np.stack([total[:, g] // base**k % base for k in range(len(group))], axis=1)
        for g, group in enumerate(groups)
    ]


def test_sums_are_those_of_the_subjects_drawn():
    sizes = [19, 6, 9]
    sums = drawn_sums(GROUPS, sizes, 70)
    for g, times in enumerate(times_drawn(GROUPS, sizes, 70)):
        assert (times.sum(axis=1) == sizes[g]).all()
        e, m, _ = np.array(GROUPS[g]).T
        rows = [None] * 5
        rows[clusters.ATTEMPTS], rows[clusters.FAILURES] = m, e
        rows[clusters.FAILURES_SQUARED], rows[clusters.ATTEMPTS_SQUARED] = e * e, m * m
        rows[clusters.FAILURES_BY_ATTEMPTS] = e * m
        assert np.array_equal(sums[:, :, g], np.array(rows) @ times.T)


def test_kinds_that_nobody_is_are_not_drawn():
    groups = [
        [(0, 1, 0), (1, 2, 4), (1, 3, 0), (0, 3, 2), (1, 4, 0), (1, 5, 0)],
        [(1, 1, 0), (0, 1, 1)],
    ]
    first, second = times_drawn(groups, [6, 3], 64)
    assert (first[:, [0, 2, 4, 5]] == 0).all()
    assert (first.sum(axis=1) == 6).all()
    assert (second == [0, 3]).all()


def test_one_kind_is_always_drawn():
    sums = drawn_sums([[(2, 3, 7)]], [7], 3)
    assert (sums[:, :, 0].T == [21, 14, 28, 42, 63]).all()


def test_a_replicate_is_the_same_whichever_block_it_is_drawn_in():
    sizes = [190, 60, 9]
    whole = drawn_sums(GROUPS, sizes, 300)
    for first, n in ((64, 64), (128, 172), (0, 37), (256, 1)):
        assert np.array_equal(drawn_sums(GROUPS, sizes, n, first), whole[:, first : first + n])
    assert not np.array_equal(drawn_sums(GROUPS, sizes, 64), whole[:, 64:128])


@pytest.mark.jit
@pytest.mark.parametrize("sizes", [[19, 6, 9], [400, 31, 9], [10**6, 10**5, 9]])
def test_sums_have_the_moments_of_the_multinomial_law(sizes):
    n_replicates = 64 * 3000
    sums = drawn_sums(GROUPS, sizes, n_replicates).astype(np.float64)
    for g, size in enumerate(sizes):
        e, m, share = np.array(GROUPS[g], np.float64).T
        values = np.array([m, e, e * e, e * m, m * m])
        p = share / share.sum()
        mean = values @ p
        covariance = size * ((values * p) @ values.T - np.outer(mean, mean))
        spread = np.diag(covariance)
        error = np.sqrt((np.outer(spread, spread) + covariance**2) / n_replicates)
        assert (
            abs(sums[:, :, g].mean(axis=1) - size * mean)
            <= 5 * np.sqrt(spread / n_replicates) + 1e-6
        ).all()
        assert (abs(np.cov(sums[:, :, g]) - covariance) <= 5 * error + 1e-6).all()
    assert abs(np.corrcoef(sums[1, :, 0], sums[1, :, 1])[0, 1]) < 5 / np.sqrt(n_replicates)


def one_by_one(group, n_replicates: int) -> np.ndarray:
    """(2, n_replicates) failures and attempts of as many subjects as there are, each drawn for
    itself."""
    e, m = (np.repeat([kind[k] for kind in group], [kind[2] for kind in group]) for k in (0, 1))
    found = np.empty((2, n_replicates), np.int64)
    drawn = np.empty((e.size, 64), np.uint8)
    for first in range(0, n_replicates, 64):
        words = np.empty((4, 64), np.uint64)
        end = np.array([e.size])
        assert weights.draw_with_replacement(end, PURPOSE + 1, first, KEY, words, drawn)
        found[:, first : first + 64] = np.array([e, m]) @ drawn
    return found


def alike(first: np.ndarray, second: np.ndarray) -> float:
    """The p-value of two samples of (2, n) whole numbers having one law; rare values are pooled."""
    values, which = np.unique(np.concatenate((first, second), axis=1), axis=1, return_inverse=True)
    which = which.ravel()
    table = np.stack(
        [np.bincount(part, minlength=values.shape[1]) for part in np.split(which, [first.shape[1]])]
    )
    rare = table.sum(axis=0) < 20
    pooled = np.concatenate((table[:, ~rare], table[:, rare].sum(axis=1, keepdims=True)), axis=1)
    return float(stats.chi2_contingency(pooled[:, pooled.sum(axis=0) > 0]).pvalue)


@pytest.mark.jit
@pytest.mark.parametrize(
    "group", [GROUPS[0], GROUPS[1], [(0, 3, 80), (1, 3, 60), (2, 4, 2), (3, 4, 1), (4, 4, 1)]]
)
def test_kinds_drawn_together_are_subjects_drawn_one_by_one(group):
    n_replicates = 64 * 500
    size = sum(share for _, _, share in group)
    sums = drawn_sums([group], [size], n_replicates)[:, :, 0]
    found = np.stack((sums[clusters.FAILURES], sums[clusters.ATTEMPTS]))
    expected = one_by_one(group, n_replicates)
    assert alike(found, expected) > 1e-4
    for row in (0, 1):
        assert alike(*(np.stack((x[row], x[row])) for x in (found, expected))) > 1e-4


@pytest.mark.jit
@each("size", [1, 2, 3])
def test_few_subjects_of_many_kinds_are_drawn_by_their_shares(size):
    group = [(e, m, share) for m, share in ((3, 2), (7, 1), (9, 5)) for e in range(m + 1)]
    assert len(group) > clusters._MANY_KINDS * size
    n_replicates = 64 * 500
    sums = drawn_sums([[(1, 2, 1)], group], [4, size], n_replicates)[:, :, 1]
    total = sum(share for _, _, share in group)
    for row, values in (
        (clusters.FAILURES, [e for e, _, _ in group]),
        (clusters.ATTEMPTS, [m for _, m, _ in group]),
    ):
        shares = np.bincount(values, [share / total for _, _, share in group])
        law = shares
        for _ in range(size - 1):
            law = np.convolve(law, shares)
        observed = np.bincount(sums[row], minlength=law.size)
        there = law * n_replicates >= 5
        assert observed[law == 0].sum() == 0
        expected = law[there] / law[there].sum() * observed[there].sum()
        assert stats.chisquare(observed[there], expected).pvalue > 1e-4
    squares = {(e * e, e * m, m * m): (e, m) for e, m, _ in group}
    if size == 1:
        rows = (clusters.FAILURES_SQUARED, clusters.FAILURES_BY_ATTEMPTS, clusters.ATTEMPTS_SQUARED)
        for drawn in sums.T[:200].tolist():
            assert squares[tuple(drawn[row] for row in rows)] == (
                drawn[clusters.FAILURES],
                drawn[clusters.ATTEMPTS],
            )

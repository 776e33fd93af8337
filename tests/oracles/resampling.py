"""The slow, obvious oracle of the bootstrap: weights, shrunk rates, dyadic variances, intervals,
bands, p-values.

Nothing of fastfair is imported and nothing is clever, as in `naive`, whose conventions hold here
too: accept when ``score >= threshold``, scores are finite similarities, a rate with nothing behind
it is NaN.

Shrinkage
---------
A replicate is a list of integer weights, one per comparison. Shrunk by c in [0, 1], every share of
errors is::

    (1 - c) * (errors / comparisons) + c * (sum of the weights of the errors / sum of all weights)

in plain floats, in the order written: c = 0 gives the unweighted share and c = 1 the weighted one,
both exactly. The two terms stand for classes, mated and non-mated, each with its own c. Where the
weights of a class sum to 0, its share is NaN whatever c is.
"""

import math
from collections import namedtuple
from collections.abc import Callable, Hashable
from fractions import Fraction
from statistics import NormalDist

from oracles import naive

Row = namedtuple(
    "Row", "score mated reference probe reference_group probe_group reference_sample probe_sample"
)

# A comparison with the one or two nodes (subjects, samples) it depends on: (error 0 or 1, node,
# other node or None).
Dyad = tuple[float, Hashable, Hashable | None]


# --------------------------------------------------------------------------------------------------
# Weights, and the data set they stand for
# --------------------------------------------------------------------------------------------------


def _joint_weight(a: Hashable, b: Hashable, weight: dict[Hashable, int]) -> int:
    """w_a if a and b are the same unit, else w_a w_b."""
    if a == b:
        return weight[a]
    return weight[a] * weight[b]


def comparison_weight(
    row: Row, unit: str, subject_weight: dict[Hashable, int], sample_weight: dict[Hashable, int]
) -> int:
    """Integer weight of one comparison: a product of the weights of the units drawn (methods,
    section 4).

    "subject"
        w_k if reference and probe are the same subject k, else w_k w_l.
    "sample"
        w_i if both samples are the same sample i, else w_i w_j.
    "subject+sample"
        The product of the two.
    """
    if unit == "subject":
        return _joint_weight(row.reference, row.probe, subject_weight)
    if unit == "sample":
        return _joint_weight(row.reference_sample, row.probe_sample, sample_weight)
    if unit == "subject+sample":
        of_subjects = _joint_weight(row.reference, row.probe, subject_weight)
        of_samples = _joint_weight(row.reference_sample, row.probe_sample, sample_weight)
        return of_subjects * of_samples
    raise ValueError(unit)


def resampled(rows: list[Row], weights: list[int]) -> list[Row]:
    """The data set itself: every row written down as often as its weight says."""
    data = []
    for row, weight in zip(rows, weights, strict=True):
        for _ in range(weight):
            data.append(row)
    return data


# --------------------------------------------------------------------------------------------------
# Shrunk rates
# --------------------------------------------------------------------------------------------------


def _side(rows: list[Row], weights: list[int], mated: bool) -> list[tuple[float, int]]:
    """(score, weight) of the mated, or of the non-mated, rows."""
    side = []
    for row, weight in zip(rows, weights, strict=True):
        if bool(row.mated) == mated:
            side.append((row.score, int(weight)))
    return side


def shrunk_share(errors: list[bool], weights: list[int], c: float) -> float:
    """(1 - c) * errors / n + c * (weights of the errors / all weights); NaN when the weights sum to
    0."""
    total = 0
    number_wrong = 0
    weight_wrong = 0
    for error, weight in zip(errors, weights, strict=True):
        total += weight
        if error:
            number_wrong += 1
            weight_wrong += weight
    if total == 0:
        return math.nan
    return (1 - c) * (number_wrong / len(errors)) + c * (weight_wrong / total)


def shrunk_fmr(rows: list[Row], weights: list[int], c: float, t: float) -> float:
    """Shrunk share of the non-mated rows with score >= t; NaN when their weights sum to 0."""
    side = _side(rows, weights, mated=False)
    return shrunk_share([s >= t for s, _ in side], [w for _, w in side], c)


def shrunk_fnmr(rows: list[Row], weights: list[int], c: float, t: float) -> float:
    """Shrunk share of the mated rows with score < t; NaN when their weights sum to 0."""
    side = _side(rows, weights, mated=True)
    return shrunk_share([s < t for s, _ in side], [w for _, w in side], c)


# --------------------------------------------------------------------------------------------------
# Shrunk thresholds at an error rate
# --------------------------------------------------------------------------------------------------


def _present(side: list[tuple[float, int]], c: float) -> list[float]:
    """Scores of one class that count as present, ascending: all of them, at c = 1 those of positive
    weight."""
    scores = set()
    for s, weight in side:
        if c < 1 or weight > 0:
            scores.add(s)
    return sorted(scores)


def shrunk_threshold_at_fmr(
    rows: list[Row],
    weights: list[int],
    c: float,
    a: float,
    next_above: Callable[[float], float] = naive._next_float,
    slack: float = 0.0,
) -> float:
    """The float above s0, the smallest non-mated score whose shrunk share of non-mated > s0 is <=
    a.

    s0 is any non-mated score, of any weight; at c = 1 one of positive weight. NaN when the
    non-mated weights sum to 0. `slack` is added to `a`, never below 0: -1e-12 and 1e-12 give the
    two ends that rounding may reach.
    """
    side = _side(rows, weights, mated=False)
    for s0 in _present(side, c):
        share_above = shrunk_share([s > s0 for s, _ in side], [w for _, w in side], c)
        if share_above <= max(a + slack, 0.0):
            return next_above(s0)
    return math.nan


def shrunk_threshold_at_fnmr(
    rows: list[Row], weights: list[int], c: float, b: float, slack: float = 0.0
) -> float:
    """The largest mated score t whose shrunk share of mated < t is <= b; at c = 1 one of positive
    weight.

    NaN when the mated weights sum to 0. `slack` is added to `b`, as in `shrunk_threshold_at_fmr`.
    """
    side = _side(rows, weights, mated=True)
    for t in reversed(_present(side, c)):
        if shrunk_fnmr(rows, weights, c, t) <= max(b + slack, 0.0):
            return t
    return math.nan


# --------------------------------------------------------------------------------------------------
# Shrunk equal error rate and cost
# --------------------------------------------------------------------------------------------------


def shrunk_roc(
    rows: list[Row],
    weights: list[int],
    c_mated: float,
    c_nonmated: float,
    next_above: Callable[[float], float] = naive._next_float,
) -> list[tuple[float, float, float]]:
    """(threshold, shrunk FMR, shrunk FNMR), threshold ascending; empty when the weights of a class
    sum to 0.

    The thresholds are the distinct present scores, and the float above the largest. A score is
    present when it is so in one class or the other: when that class has c < 1, or a row of that
    class and score has positive weight.
    """
    mated = _side(rows, weights, mated=True)
    nonmated = _side(rows, weights, mated=False)
    if sum(w for _, w in mated) == 0 or sum(w for _, w in nonmated) == 0:
        return []
    scores = sorted(set(_present(mated, c_mated) + _present(nonmated, c_nonmated)))
    points = []
    for t in [*scores, next_above(scores[-1])]:
        points.append(
            (t, shrunk_fmr(rows, weights, c_nonmated, t), shrunk_fnmr(rows, weights, c_mated, t))
        )
    return points


def _shrunk_eer_interpolated(points: list[tuple[float, float, float]]) -> tuple[float, float]:
    """Linear between the last point with FMR > FNMR and the first with FMR <= FNMR: (value,
    threshold).

    Both exist, (1, 0) being the first point and (0, 1) the last, and they are neighbours, because
    FMR never rises and FNMR never falls.
    """
    above = []
    below = []
    for point in points:
        if point[1] > point[2]:
            above.append(point)
        else:
            below.append(point)
    t0, fmr0, fnmr0 = above[-1]
    t1, fmr1, fnmr1 = below[0]
    difference0 = fmr0 - fnmr0  # > 0
    difference1 = fmr1 - fnmr1  # <= 0
    w = difference0 / (difference0 - difference1)  # how far from lower to upper the difference is 0
    return fmr0 + w * (fmr1 - fmr0), t0 + w * (t1 - t0)


def shrunk_eer(
    rows: list[Row],
    weights: list[int],
    c_mated: float,
    c_nonmated: float,
    method: str,
    next_above: Callable[[float], float] = naive._next_float,
) -> tuple[float, float, list[tuple[float, float]]]:
    """(value, threshold, candidates) on `shrunk_roc`; (NaN, NaN, []) when the weights of a class
    sum to 0.

    "nearest"
        At the lowest threshold that minimises |FMR - FNMR|, in floats: the mean of the two.
    "nearest-max"
        At the same threshold: the larger of the two.
    "interpolated"
        Linear between the two points that bracket FMR = FNMR.

    The candidates are every (value, threshold) whose |FMR - FNMR| is within 1e-12 of the minimum:
    those that another order of the same arithmetic may call the nearest. "interpolated" has one,
    the result itself.
    """
    if method not in ("nearest", "nearest-max", "interpolated"):
        raise ValueError(method)
    points = shrunk_roc(rows, weights, c_mated, c_nonmated, next_above)
    if len(points) == 0:
        return math.nan, math.nan, []
    if method == "interpolated":
        value, threshold = _shrunk_eer_interpolated(points)
        return value, threshold, [(value, threshold)]
    smallest = min(abs(fmr - fnmr) for _, fmr, fnmr in points)
    best = []
    candidates = []
    for t, fmr, fnmr in points:
        value = (fmr + fnmr) / 2
        if method == "nearest-max":
            value = max(fmr, fnmr)
        if abs(fmr - fnmr) == smallest:
            best.append((value, t))
        if abs(fmr - fnmr) <= smallest + 1e-12:
            candidates.append((value, t))
    return best[0][0], best[0][1], candidates


def shrunk_min_dcf(
    rows: list[Row],
    weights: list[int],
    c_mated: float,
    c_nonmated: float,
    miss_cost: float,
    false_match_cost: float,
) -> float:
    """min over the points of `shrunk_roc` of miss_cost * FNMR + false_match_cost * FMR.

    The costs hold the prior already (c_miss p and c_fa (1 - p)). NaN when the weights of a class
    sum to 0.
    """
    costs = []
    for _, fmr, fnmr in shrunk_roc(rows, weights, c_mated, c_nonmated):
        costs.append(miss_cost * fnmr + false_match_cost * fmr)
    if len(costs) == 0:
        return math.nan
    return min(costs)


# --------------------------------------------------------------------------------------------------
# Shrunk figures of the convex hull
# --------------------------------------------------------------------------------------------------


def shrunk_blocks(
    rows: list[Row], weights: list[int], c_mated: float, c_nonmated: float
) -> list[tuple[Fraction, Fraction]]:
    """(shrunk share of the mated, of the non-mated) at every distinct score, ascending; empty when
    a class weighs 0.

    A comparison's share is (1 - c) / n + c w / (sum of all w), c being that of its class, so that
    shares of errors are those of `shrunk_share`. Scores at which both are 0 are left out. The
    arithmetic is exact.
    """
    mated = _side(rows, weights, mated=True)
    nonmated = _side(rows, weights, mated=False)
    if sum(w for _, w in mated) == 0 or sum(w for _, w in nonmated) == 0:
        return []
    blocks = []
    for score in sorted({row.score for row in rows}):
        block = []
        for side, c in ((mated, Fraction(c_mated)), (nonmated, Fraction(c_nonmated))):
            total = sum(w for _, w in side)
            share = Fraction(0)
            for s, w in side:
                if s == score:
                    share += (1 - c) / len(side) + c * Fraction(w, total)
            block.append(share)
        if block != [0, 0]:
            blocks.append((block[0], block[1]))
    return blocks


def shrunk_min_cllr(
    rows: list[Row], weights: list[int], c_mated: float, c_nonmated: float
) -> float:
    """Cllr, in bits, where every score's likelihood ratio is that of its pool (`naive.pool`) of
    `shrunk_blocks`.

    The ratio is the pool's share of the mated over its share of the non-mated. NaN when the weights
    of a class sum to 0.
    """
    blocks = shrunk_blocks(rows, weights, c_mated, c_nonmated)
    if len(blocks) == 0:
        return math.nan
    loss = 0.0
    for mated, nonmated in naive.pool(blocks):
        if mated > 0 and nonmated > 0:  # a pool of one class is told apart without loss
            ratio = float(mated / nonmated)
            loss += float(mated) * math.log2(1 + 1 / ratio) + float(nonmated) * math.log2(1 + ratio)
    return loss / 2


def shrunk_auc(rows: list[Row], weights: list[int], c_mated: float, c_nonmated: float) -> float:
    """Sum over all scores of the share of the mated times the share of the non-mated below, and half
    of that at the score, with the shares of `shrunk_blocks`. NaN when a class weighs 0."""
    blocks = shrunk_blocks(rows, weights, c_mated, c_nonmated)
    if len(blocks) == 0:
        return math.nan
    area, below = Fraction(0), Fraction(0)
    for mated, nonmated in blocks:
        area += mated * (below + nonmated / 2)
        below += nonmated
    return float(area)


def shrunk_d_prime(rows: list[Row], weights: list[int], c_mated: float, c_nonmated: float) -> float:
    """d' of scores of which each has its share as in `shrunk_blocks`. NaN when a class weighs 0, or
    both are constant and equal."""
    means, variances = [], []
    for side, c in (
        (_side(rows, weights, mated=True), Fraction(c_mated)),
        (_side(rows, weights, mated=False), Fraction(c_nonmated)),
    ):
        total = sum(w for _, w in side)
        if total == 0:
            return math.nan
        shares = [(1 - c) / len(side) + c * Fraction(w, total) for _, w in side]
        mean = sum(share * Fraction(s) for share, (s, _) in zip(shares, side, strict=True))
        variances.append(
            sum(
                share * (Fraction(s) - mean) ** 2
                for share, (s, _) in zip(shares, side, strict=True)
            )
        )
        means.append(mean)
    if sum(variances) == 0:
        return math.nan
    return float(means[0] - means[1]) / math.sqrt(sum(variances) / 2)


def calibrated_costs(rows: list[Row]) -> tuple[list[float], list[float]]:
    """What each mated and each non-mated row costs, in bits, at the likelihood ratio of its pool;
    both classes present.

    min Cllr is half the sum of the two means. Other pools cost more, so weights change it as they
    change the means of these costs, to first order: c is `shrinkage` of these costs in the place of
    errors.
    """
    blocks = shrunk_blocks(rows, [1] * len(rows), 0, 0)
    scores = sorted({row.score for row in rows})
    costs: tuple[list[float], list[float]] = ([], [])
    for row in rows:
        below = sum(
            (mated + nonmated for mated, nonmated in blocks[: scores.index(row.score)]), Fraction(0)
        )
        for mated, nonmated in naive.pool(blocks):  # up to the one that holds the score
            if below < mated + nonmated:
                break
            below -= mated + nonmated
        if row.mated:
            costs[0].append(math.log2(1 + float(nonmated / mated)))
        else:
            costs[1].append(math.log2(1 + float(mated / nonmated)))
    return costs


def shrunk_hull_eer(
    rows: list[Row], weights: list[int], c_mated: float, c_nonmated: float
) -> float:
    """Where the lower convex hull of the shrunk ROC crosses FMR = FNMR, as `naive.lowest_crossing`
    finds it.

    NaN when the weights of a class sum to 0.
    """
    blocks = shrunk_blocks(rows, weights, c_mated, c_nonmated)
    if len(blocks) == 0:
        return math.nan
    points = []
    for k in range(len(blocks) + 1):
        accepted = sum((nonmated for _, nonmated in blocks[k:]), Fraction(0))
        rejected = sum((mated for mated, _ in blocks[:k]), Fraction(0))
        points.append((accepted, rejected))
    return naive.lowest_crossing(points)


# --------------------------------------------------------------------------------------------------
# Dyadic variance of a rate
# --------------------------------------------------------------------------------------------------
#  `comparisons` are (error, node, other node or None), or any cost in the place of the error and
# its mean in that of the rate; no comparison names the same node twice: one that depends on a
# single node is written (error, node, None). `strata` says to which stratum each node belongs,
# `sizes` how many nodes each stratum has, those without any comparison included. A stratum of one
# node does not vary. The arithmetic is exact and rounded once, at the end.


def _residuals(comparisons: list[Dyad]) -> list[Fraction]:
    """error - rate of every comparison, with rate = errors / n."""
    errors = Fraction(0)
    for error, a, b in comparisons:
        if a is None or a == b:
            raise ValueError((error, a, b))
        errors += Fraction(error)
    rate = errors / len(comparisons)
    return [Fraction(error) - rate for error, _, _ in comparisons]


def _pair_sums(
    comparisons: list[Dyad], strata: dict[Hashable, Hashable], sizes: dict[Hashable, int]
) -> dict[frozenset[Hashable], Fraction]:
    """e_kl = sum of (error - rate) over the comparisons of the unordered pair {k, l}, for pairs
    that vary twice.

    Both nodes must be there and in strata of two nodes or more.
    """
    pairs: dict[frozenset[Hashable], Fraction] = {}
    for (_, a, b), residual in zip(comparisons, _residuals(comparisons), strict=True):
        if b is None or sizes[strata[a]] < 2 or sizes[strata[b]] < 2:
            continue
        pair = frozenset({a, b})
        pairs[pair] = pairs.get(pair, Fraction(0)) + residual
    return pairs


def _node_sum(comparisons: list[Dyad], residuals: list[Fraction], k: Hashable) -> Fraction:
    """T_k = sum of (error - rate) over all comparisons that involve node k, whatever the other
    node."""
    total = Fraction(0)
    for (_, a, b), residual in zip(comparisons, residuals, strict=True):
        if k in (a, b):
            total += residual
    return total


def _node_squares(pairs: dict[frozenset[Hashable], Fraction], k: Hashable) -> Fraction:
    """q_k = sum of e_kl^2 over the pairs that hold k."""
    total = Fraction(0)
    for pair, e in pairs.items():
        if k in pair:
            total += e**2
    return total


def _stratum_sums(
    comparisons: list[Dyad], strata: dict[Hashable, Hashable], sizes: dict[Hashable, int]
) -> list[tuple[int, Fraction, Fraction]]:
    """(K_s, sum_k (T_k - Tbar_s)^2, sum_k q_k) of every stratum of K_s >= 2 nodes.

    k runs over all K_s nodes and Tbar_s is the mean over all of them; a node without comparisons
    has T = q = 0.
    """
    residuals = _residuals(comparisons)
    pairs = _pair_sums(comparisons, strata, sizes)
    sums = []
    for stratum, size in sizes.items():
        if size < 2:
            continue
        t = []
        q = []
        for k in strata:
            if strata[k] == stratum:
                t.append(_node_sum(comparisons, residuals, k))
                q.append(_node_squares(pairs, k))
        if len(t) > size:
            raise ValueError(stratum)
        while len(t) < size:
            t.append(Fraction(0))
            q.append(Fraction(0))
        mean = sum(t, Fraction(0)) / size
        spread = Fraction(0)
        for t_k in t:
            spread += (t_k - mean) ** 2
        sums.append((size, spread, sum(q, Fraction(0))))
    return sums


def _one_way_variance(sums: list[tuple[int, Fraction, Fraction]], n: int) -> float:
    """sum_s sum_k (T_k - Tbar_s)^2 / n^2: the bootstrap's variance when a comparison has one weight
    at most."""
    return float(sum((spread for _, spread, _ in sums), Fraction(0)) / n**2)


def _lost_share(
    comparisons: list[Dyad],
    strata: dict[Hashable, Hashable],
    sizes: dict[Hashable, int],
    stratum: Hashable,
) -> Fraction:
    """sum_k (m_k^2 - sum_l m_kl^2 / 2) (1 + w) / (2 N^2): what V loses as errors are counted from
    their own rate.

    k runs over the stratum's nodes; m_k is the number of comparisons of node k, m_kl that of the
    pair {k, l} if both vary, N = sum_k m_k / 2, and w the share of the m_k whose other node is in
    the stratum, too. For all pairs of K nodes it is 1 - (K - 2) (K - 3) / (K (K - 1)).
    """
    of_node: dict[Hashable, int] = {}
    of_pair: dict[tuple[Hashable, Hashable], int] = {}
    inside = 0
    for _, a, b in comparisons:
        for k, other in ((a, b), (b, a)):
            if k is None or strata[k] != stratum:
                continue
            of_node[k] = of_node.get(k, 0) + 1
            if other is None:
                continue
            if strata[other] == stratum:
                inside += 1
            if sizes[strata[other]] >= 2:
                of_pair[k, other] = of_pair.get((k, other), 0) + 1
    ends = sum(of_node.values())
    if ends == 0:
        return Fraction(0)
    repeated = sum((Fraction(m) ** 2 for m in of_node.values()), Fraction(0))
    for m in of_pair.values():
        repeated -= Fraction(m) ** 2 / 2
    return repeated * (1 + Fraction(inside, ends)) * 2 / Fraction(ends) ** 2


def dyadic_variance(
    comparisons: list[Dyad], strata: dict[Hashable, Hashable], sizes: dict[Hashable, int]
) -> float:
    """V = max(sum_s f_s sum_{k in s} [(T_k - Tbar_s)^2 - q_k / 2], sum_pairs e_kl^2) / n^2.

    f_s = 1 / (1 - `_lost_share`). A stratum whose f_s would not be positive adds nothing, and the
    floor stands. Where no pair varies twice: `_one_way_variance`. NaN without comparisons.
    """
    n = len(comparisons)
    if n == 0:
        return math.nan
    pairs = _pair_sums(comparisons, strata, sizes)
    sums = _stratum_sums(comparisons, strata, sizes)
    if len(pairs) == 0:
        return _one_way_variance(sums, n)
    total = Fraction(0)
    names = [stratum for stratum, size in sizes.items() if size >= 2]
    for stratum, (_, spread, squares) in zip(names, sums, strict=True):
        left = 1 - _lost_share(comparisons, strata, sizes, stratum)
        if left > 0:
            total += (spread - squares / 2) / left
    floor = Fraction(0)
    for e in pairs.values():
        floor += e**2
    return float(max(total, floor) / n**2)


def product_variance(
    comparisons: list[Dyad], strata: dict[Hashable, Hashable], sizes: dict[Hashable, int]
) -> float:
    """Vp = sum_s [(K_s - 2)/(K_s - 1) sum_k (T_k - Tbar_s)^2 + K_s/(K_s - 1) sum_k q_k / 2] / n^2.

    The variance of the rate under product weights w_k w_l, to first order. Where no pair varies
    twice: `_one_way_variance`. NaN without comparisons.
    """
    n = len(comparisons)
    if n == 0:
        return math.nan
    sums = _stratum_sums(comparisons, strata, sizes)
    if len(_pair_sums(comparisons, strata, sizes)) == 0:
        return _one_way_variance(sums, n)
    total = Fraction(0)
    for size, spread, squares in sums:
        total += Fraction(size - 2, size - 1) * spread + Fraction(size, size - 1) * squares / 2
    return float(total / n**2)


def shrinkage(
    comparisons: list[Dyad], strata: dict[Hashable, Hashable], sizes: dict[Hashable, int]
) -> float:
    """c = min(1, sqrt(V / Vp)); 1 when Vp is 0, NaN without comparisons."""
    v = dyadic_variance(comparisons, strata, sizes)
    vp = product_variance(comparisons, strata, sizes)
    if math.isnan(v) or math.isnan(vp):
        return math.nan
    if vp == 0:
        return 1.0
    return min(1.0, math.sqrt(v / vp))


# --------------------------------------------------------------------------------------------------
# Intervals
# --------------------------------------------------------------------------------------------------
#  `level` is the coverage asked for, e.g. 0.95; alpha = 1 - level, half of it on either side. One
# NaN among the replicates makes both ends NaN.


def quantile(values: list[float], p: float) -> float:
    """Value at position (R - 1) p of the sorted values, linear in between (numpy's default); NaN
    with any NaN.

    Two equal neighbours, infinite ones too, give themselves, and a whole position gives the value
    there.
    """
    if len(values) == 0 or any(math.isnan(value) for value in values):
        return math.nan
    ordered = sorted(values)
    position = (len(ordered) - 1) * p
    i = math.floor(position)
    fraction = position - i
    if fraction == 0 or ordered[i] == ordered[i + 1]:
        return ordered[i]
    return ordered[i] + fraction * (ordered[i + 1] - ordered[i])


def _tails(level: float) -> tuple[float, float]:
    """(alpha / 2, 1 - alpha / 2)."""
    return (1 - level) / 2, 1 - (1 - level) / 2


def _z(level: float) -> float:
    """Normal quantile at 1 - alpha / 2: 1.96 at 0.95."""
    return NormalDist().inv_cdf(1 - (1 - level) / 2)


def percentile(replicates: list[float], level: float) -> tuple[float, float]:
    """[q_lo, q_hi], the quantiles of the replicates at alpha / 2 and 1 - alpha / 2."""
    low, high = _tails(level)
    return quantile(replicates, low), quantile(replicates, high)


def basic(replicates: list[float], estimate: float, level: float) -> tuple[float, float]:
    """[2 estimate - q_hi, 2 estimate - q_lo]."""
    q_low, q_high = percentile(replicates, level)
    return 2 * estimate - q_high, 2 * estimate - q_low


def normal(replicates: list[float], estimate: float, level: float) -> tuple[float, float]:
    """Estimate -+ z sd, sd^2 = sum (replicate - mean)^2 / (R - 1); NaN with fewer than two
    replicates."""
    if len(replicates) < 2:
        return math.nan, math.nan
    mean = sum(replicates) / len(replicates)
    squares = 0.0
    for value in replicates:
        squares += (value - mean) ** 2
    sd = math.sqrt(squares / (len(replicates) - 1))
    return estimate - _z(level) * sd, estimate + _z(level) * sd


def acceleration(jackknife: list[float]) -> float:
    """a = sum (mean - j)^3 / (6 [sum (mean - j)^2]^1.5); 0 when all j are equal."""
    mean = sum(jackknife) / len(jackknife)
    cubes = 0.0
    squares = 0.0
    for j in jackknife:
        cubes += (mean - j) ** 3
        squares += (mean - j) ** 2
    if squares == 0:
        return 0.0
    return cubes / (6 * squares**1.5)


def bca(
    replicates: list[float], estimate: float, jackknife: list[float], level: float
) -> tuple[float, float]:
    """Quantiles of the replicates at Phi(z0 + (z0 + z) / (1 - a (z0 + z))) for z at alpha / 2 and 1
    - alpha / 2.

    z0 = Phi^-1((#{replicates < estimate} + #{replicates = estimate} / 2) / R), a is `acceleration`
    (Efron 1987). NaN when all replicates lie strictly on one side of the estimate: z0 is infinite
    then.
    """
    if any(math.isnan(value) for value in [*replicates, *jackknife]):
        return math.nan, math.nan
    count = 0.0
    for value in replicates:
        if value < estimate:
            count += 1
        elif value == estimate:
            count += 0.5
    if count in (0, len(replicates)):
        return math.nan, math.nan
    standard = NormalDist()
    z0 = standard.inv_cdf(count / len(replicates))
    a = acceleration(jackknife)
    ends = []
    for p in _tails(level):
        z = z0 + standard.inv_cdf(p)
        ends.append(quantile(replicates, standard.cdf(z0 + z / (1 - a * z))))
    return ends[0], ends[1]


def recentered(
    replicates: list[float], estimate: float, v_statistic: float, level: float
) -> tuple[float, float]:
    """[estimate + q_lo(replicate - V), estimate + q_hi(replicate - V)], V what the replicates
    estimate (section 3)."""
    q_low, q_high = percentile([value - v_statistic for value in replicates], level)
    return estimate + q_low, estimate + q_high


def log_normal(estimate: float, se: float, level: float) -> tuple[float, float]:
    """[estimate exp(-z se / estimate), estimate exp(z se / estimate)]; NaN at an estimate of 0."""
    if estimate == 0:
        return math.nan, math.nan
    factor = math.exp(_z(level) * se / estimate)
    return estimate / factor, estimate * factor


# --------------------------------------------------------------------------------------------------
# Simultaneous band over a curve
# --------------------------------------------------------------------------------------------------


def sup_t_band(curves: list[list[float]], level: float) -> tuple[list[float], list[float]]:
    """(lower, upper) of the quantile-based sup-t band over R replicate curves of J points each.

    The depth of a value at a point is min(#{replicates <= it}, #{replicates >= it}) / R; the depth
    of a curve is its smallest over the points. zeta is the largest depth of a curve that at least
    level * R curves reach. The band at a point runs from the smallest to the largest value of depth
    >= zeta there, so every curve of depth >= zeta lies in it whole. level * R is taken as written
    in decimals: 0.55 * 100 is 55, not 55.00000000000001.
    """
    n_curves = len(curves)
    depths = []  # depths[r][j]
    for curve in curves:
        of_points = []
        for j, value in enumerate(curve):
            at_most = 0
            at_least = 0
            for other in curves:
                if other[j] <= value:
                    at_most += 1
                if other[j] >= value:
                    at_least += 1
            of_points.append(min(at_most, at_least) / n_curves)
        depths.append(of_points)
    curve_depths = [min(of_points) for of_points in depths]
    needed = Fraction(repr(float(level))) * n_curves
    zeta = 0.0
    for d in curve_depths:
        reached = 0
        for other_depth in curve_depths:
            if other_depth >= d:
                reached += 1
        if reached >= needed:
            zeta = max(zeta, d)
    lower = []
    upper = []
    for j in range(len(curves[0])):
        kept = []
        for curve, of_points in zip(curves, depths, strict=True):
            if of_points[j] >= zeta:
                kept.append(curve[j])
        lower.append(min(kept))
        upper.append(max(kept))
    return lower, upper


# --------------------------------------------------------------------------------------------------
# p-values
# --------------------------------------------------------------------------------------------------


def bootstrap_pvalue(differences: list[float]) -> float:
    """2 min(1 + #{d <= 0}, 1 + #{d >= 0}) / (R + 1), at most 1, for R replicates of a difference;
    NaN with any NaN."""
    if any(math.isnan(d) for d in differences):
        return math.nan
    at_most = 0
    at_least = 0
    for d in differences:
        if d <= 0:
            at_most += 1
        if d >= 0:
            at_least += 1
    return min(1.0, 2 * min(1 + at_most, 1 + at_least) / (len(differences) + 1))


def holm(pvalues: list[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: max over the i <= rank of (m - i + 1) p_(i), at
    most 1.

    p_(1) <= ... <= p_(m) are the sorted p-values, none of them NaN.
    """
    m = len(pvalues)
    order = sorted(range(m), key=lambda i: pvalues[i])
    adjusted = [math.nan] * m
    largest = 0.0
    for rank, i in enumerate(order):  # rank 0 is the smallest: it is multiplied by m
        largest = max(largest, min(1.0, (m - rank) * pvalues[i]))
        adjusted[i] = largest
    return adjusted


def strata(labels: list[list[int]]) -> list[int]:
    """Tell the stratum of each subject from its labels, one for each attribute: a number for all
    who share it."""
    parts = [list(range(len(labels)))]
    for attribute in range(len(labels[0])):
        parts = [
            inside
            for part in parts
            for inside in _parted(part, [one[attribute] for one in labels], attribute)
        ]
    return [
        next(k for k, part in enumerate(parts) if subject in part) for subject in range(len(labels))
    ]


def _parted(part: list[int], label: list[int], attribute: int) -> list[list[int]]:
    cells = [[k for k in part if label[k] == one] for one in sorted({label[k] for k in part})]
    if attribute == 0:
        return cells
    large, small = (
        [cell for cell in cells if len(cell) >= 10],
        [cell for cell in cells if len(cell) < 10],
    )
    rest = [subject for cell in small for subject in cell]
    if large and len(rest) < 10:
        max(reversed(large), key=len).extend(rest)
        return large
    return [*large, rest] if rest else large

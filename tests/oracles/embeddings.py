"""The slow, obvious oracle of statistics over embeddings: rates over all pairs, replicates, curves,
bands, fairness.

Nothing of fastfair is imported and nothing is clever, as in `naive`, whose conventions hold here
too: a rate with nothing behind it is NaN, and NaN is passed on. The paper (equations and
appendices) is paper 5, Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face
Recognition.

Data
----
`similarity` is an (n, n) float array of one value per pair of vectors; only the entries [i, j] with
i < j are read. `subject` has one label per vector. `groups` gives the group of every subject, and
`of` names the one to keep: its identities alone, so that both sides of a non-mated pair are in the
group. A `Draw` says which bootstrap replicate is meant, None the data themselves. An identity with
one vector has non-mated pairs only.

Weighting
---------
"identity"
    Every identity has the same say in the FNMR and every pair of identities in the FMR: paper 5's
    averages.
"comparison"
    Every comparison has the same weight.

Direction
---------
Accept when ``s >= threshold``, as everywhere; the paper accepts when s > t. The threshold at an FMR
is the float right above the highest rejected non-mated score s0. No similarity lies between the
two, so "s >= threshold" here and "s > s0" there are the same pairs, and both readings give the same
rates.

Rates are exact fractions. A rate r meets a level a when r <= a (1 + 1e-9), where a is the float as
it is: so 3 of 10 meets 0.3, which as a float lies below 3/10.
"""

import itertools
import math
from collections import namedtuple
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from oracles import naive
from oracles import resampling as slow

Matrix = np.ndarray[Any, np.dtype[np.floating[Any]]]
Groups = Mapping[Hashable, Hashable]
Rate = Fraction | float  # a float where it is NaN
Weight = Fraction | int  # an int where all weigh the same, as its sums are quicker

# subjects: {subject: times drawn}; vectors: times drawn of every vector. None: not drawn,
# everything there once. Unit "sample" is Draw(None, w), "subject" Draw(W, None), "subject+sample"
# Draw(W, w).
Draw = namedtuple("Draw", "subjects vectors")

Vector = namedtuple(
    "Vector", "identity subject index"
)  # one vector of a data set, original or resampled


# --------------------------------------------------------------------------------------------------
# Similarities
# --------------------------------------------------------------------------------------------------


def _dot(x: Iterable[float], y: Iterable[float]) -> float:
    """sum x_d y_d, the products rounded but not their sum."""
    return math.fsum(float(a) * float(b) for a, b in zip(x, y, strict=True))


def similarities(vectors: Sequence[Sequence[float]], kind: str) -> Matrix:
    """(n, n) float64 matrix of "cosine", x.y / (|x| |y|), "inner product", x.y, or "negative
    Euclidean", -|x - y|."""
    matrix = np.empty((len(vectors), len(vectors)))
    for i, x in enumerate(vectors):
        for j, y in enumerate(vectors):
            if kind == "cosine":
                matrix[i, j] = _dot(x, y) / (math.sqrt(_dot(x, x)) * math.sqrt(_dot(y, y)))
            elif kind == "inner product":
                matrix[i, j] = _dot(x, y)
            elif kind == "negative Euclidean":
                difference = [float(a) - float(b) for a, b in zip(x, y, strict=True)]
                matrix[i, j] = -math.sqrt(_dot(difference, difference))
            else:
                raise ValueError(kind)
    return matrix


# --------------------------------------------------------------------------------------------------
# Data sets, original and resampled
# --------------------------------------------------------------------------------------------------


def dataset(
    subject: Sequence[Hashable],
    draw: Draw | None = None,
    of: Hashable | None = None,
    groups: Groups | None = None,
) -> list[Vector]:
    """The vectors of the data, or of a replicate, written down one by one.

    A subject k drawn W_k times is there as W_k identities, (k, 0), (k, 1), ...; a vector i drawn
    w_i times is there w_i times in each of them. The w_i of a subject sum to n_k, so an identity
    keeps its n_k vectors.
    """
    data = []
    for k in dict.fromkeys(subject):
        if of is not None:
            assert groups is not None
            if groups[k] != of:
                continue
        own = [i for i in range(len(subject)) if subject[i] == k]
        drawn = []
        for i in own:
            times = 1 if draw is None or draw.vectors is None else int(draw.vectors[i])
            drawn += [i] * times
        if len(drawn) != len(own):
            raise ValueError(f"subject {k!r} has {len(own)} vectors, {len(drawn)} were drawn")
        copies = 1 if draw is None or draw.subjects is None else int(draw.subjects[k])
        for copy in range(copies):
            for i in drawn:
                data.append(Vector((k, copy), k, i))
    return data


def _identities(data: list[Vector]) -> list[list[Vector]]:
    """The vectors of each identity."""
    members: dict[Hashable, list[Vector]] = {}
    for vector in data:
        members.setdefault(vector.identity, []).append(vector)
    return list(members.values())


def _score(similarity: Matrix, a: Vector, b: Vector) -> float:
    """Similarity of two vectors; infinite for one that meets itself, so that such a pair never
    fails."""
    if a.index == b.index:
        return math.inf
    return float(similarity[min(a.index, b.index), max(a.index, b.index)])


def _check(weighting: str) -> None:
    if weighting not in ("identity", "comparison"):
        raise ValueError(weighting)


def mated(similarity: Matrix, data: list[Vector], weighting: str) -> list[tuple[float, Weight]]:
    """(score, weight) of all pairs of vectors of one identity.

    By "identity" the n (n - 1) / 2 pairs of an identity share a weight of 1, so one of n = 1 has no
    pair and does not count. In terms of weights per unit, the pair of the vectors i and j of
    subject k is here W_k w_i w_j times, and vector i with itself W_k w_i (w_i - 1) / 2 times; the
    copies of a drawn subject do not meet.
    """
    _check(weighting)
    pairs = []
    for members in _identities(data):
        n = len(members)
        weight = Fraction(2, n * (n - 1)) if weighting == "identity" and n > 1 else 1
        for a, b in itertools.combinations(members, 2):
            pairs.append((_score(similarity, a, b), weight))
    return pairs


def nonmated(similarity: Matrix, data: list[Vector], weighting: str) -> list[tuple[float, Weight]]:
    """(score, weight) of all pairs of vectors of different subjects.

    By "identity" the n_k n_l pairs of two identities share a weight of 1. In terms of weights per
    unit, the pair of vector i of subject k and j of l is here W_k W_l w_i w_j times, and the pair
    of the subjects W_k W_l times. Copies of one subject are no non-mated pair: the subject does not
    meet itself.
    """
    _check(weighting)
    pairs = []
    for first, second in itertools.combinations(_identities(data), 2):
        if first[0].subject == second[0].subject:
            continue
        weight = Fraction(1, len(first) * len(second)) if weighting == "identity" else 1
        for a in first:
            for b in second:
                pairs.append((_score(similarity, a, b), weight))
    return pairs


# --------------------------------------------------------------------------------------------------
# Rates at a threshold
# --------------------------------------------------------------------------------------------------


def _share(pairs: list[tuple[float, Weight]], wrong: Callable[[float], bool]) -> Rate:
    """Weight of the wrong pairs / weight of all pairs; NaN without pairs."""
    if len(pairs) == 0:
        return math.nan
    return Fraction(sum(w for s, w in pairs if wrong(s)), sum(w for _, w in pairs))


def fmr(
    similarity: Matrix,
    subject: Sequence[Hashable],
    t: float,
    weighting: str,
    of: Hashable | None = None,
    groups: Groups | None = None,
    draw: Draw | None = None,
) -> Rate:
    """FMR(t) by (2), of a group by (27), of a replicate FMR*(t) by (8); NaN without pairs or
    threshold.

    By "identity" 2 / (K (K - 1)) sum_{k<l} 1 / (n_k n_l) sum_{i,j} 1{s >= t}; by "comparison" the
    share of all non-mated pairs with s >= t. In a replicate that draws subjects, K (K - 1) / 2 is
    the number of pairs of different subjects that are there, sum_{k<l} W_k W_l.
    """
    pairs = nonmated(similarity, dataset(subject, draw, of, groups), weighting)
    return math.nan if math.isnan(t) else _share(pairs, lambda s: s >= t)


def fnmr(
    similarity: Matrix,
    subject: Sequence[Hashable],
    t: float,
    weighting: str,
    of: Hashable | None = None,
    groups: Groups | None = None,
    draw: Draw | None = None,
) -> Rate:
    """FNMR(t) by (3), of a group by (30), of a replicate FNMR*(t) by (9); NaN without pairs or
    threshold.

    By "identity" 1 / K sum_k 2 / (n_k (n_k - 1)) sum_{i<j} 1{s < t} over the K identities with n_k
    >= 2; by "comparison" the share of all mated pairs with s < t. In a replicate that draws
    subjects, K is the number of identities with n_k >= 2 that are there, sum_k W_k.
    """
    pairs = mated(similarity, dataset(subject, draw, of, groups), weighting)
    return math.nan if math.isnan(t) else _share(pairs, lambda s: s < t)


def fnmr_v(
    similarity: Matrix,
    subject: Sequence[Hashable],
    t: float,
    weighting: str,
    of: Hashable | None = None,
    groups: Groups | None = None,
) -> Rate:
    """FNMR_V(t) by (10): the expectation of FNMR*(t) when n_k vectors are drawn inside each
    identity.

    Let F_k be the pairs i < j of identity k with s < t. The w_i of an identity are multinomial, n_k
    draws with equal probabilities: E[w_i w_j] = n_k (n_k - 1) / n_k^2 = (n_k - 1) / n_k for i != j.
    A vector that meets itself never fails. So the failed pairs of identity k are (n_k - 1) / n_k
    F_k in expectation, of n_k (n_k - 1) / 2, which is the number of pairs in every replicate: all
    pairs of n_k vectors, self-pairs among them.

    By "identity" the mean over k of (n_k - 1) / n_k F_k / (n_k (n_k - 1) / 2) = 2 F_k / n_k^2,
    which is (10)'s 1 / n_k^2 sum_{i,j} 1{s < t}, over all ordered pairs, those with i = j never
    failing. By "comparison" the failed pairs of all identities together, sum_k (n_k - 1) / n_k F_k,
    over all pairs, sum_k n_k (n_k - 1) / 2: the denominator never varies, so the ratio of the
    expectations is the expectation of the ratio.

    Only identities with n_k >= 2 count. For unit "subject+sample" it is the ratio of the
    expectations, each W_k having mean 1. For unit "subject" no vector meets itself, and that ratio
    is FNMR(t). FMR*(t) needs no such version: E[w_i w_j] = 1 across identities, so its expectation
    is FMR(t).
    """
    _check(weighting)
    failed = Fraction(0)
    total = Fraction(0)
    for members in _identities(dataset(subject, None, of, groups)):
        n = len(members)
        if n < 2:
            continue
        ordered = 0  # failing (i, j), i = j included: sum_{i,j} 1{s < t} = 2 F_k
        for a in members:
            for b in members:
                if _score(similarity, a, b) < t:
                    ordered += 1
        if weighting == "identity":
            failed += Fraction(ordered, n**2)
            total += 1
        else:
            failed += Fraction(n - 1, n) * Fraction(ordered, 2)
            total += Fraction(n * (n - 1), 2)
    return math.nan if total == 0 or math.isnan(t) else failed / total


def fnmr_around_rate(
    similarity: Matrix,
    subject: Sequence[Hashable],
    t: float,
    of: Hashable | None = None,
    groups: Groups | None = None,
    draw: Draw | None = None,
) -> Rate:
    """FNMR(t) of a replicate of `evaluate`, by "comparison": around FNMR(t) and not around
    FNMR_V(t).

    Pairs of different vectors of subject k have the weight (n_k - 1) / n_k on average, w on average
    over all pairs. A replicate is (1 - w) FNMR(t) + w E / T. E is the weight of its failed pairs,
    W_k w_i w_j each, of different vectors. T is the weight that such pairs have on average if the
    subjects are drawn W_k times. Where only vectors are drawn, T is w N, whatever they are, so that
    w E / T is E / N: FNMR*(t), whose pairs of a vector with itself never fail.
    """
    data = dataset(subject, None, of, groups)
    failed = pairs = errors = 0
    of_mean = total = Fraction(0)
    for members in _identities(data):
        n, times = (
            len(members),
            1 if draw is None or draw.subjects is None else int(draw.subjects[members[0].subject]),
        )
        for a, b in itertools.combinations(members, 2):
            drawn = (
                1
                if draw is None or draw.vectors is None
                else draw.vectors[a.index] * draw.vectors[b.index]
            )
            fails = _score(similarity, a, b) < t
            pairs += 1
            failed += fails
            errors += times * int(drawn) * fails
        of_pairs = Fraction(n - 1, n) * (n * (n - 1) // 2)
        of_mean += of_pairs
        total += times * of_pairs
    if total == 0 or math.isnan(t):
        return math.nan
    w = of_mean / pairs
    return (1 - w) * failed / pairs + w * errors / total


# --------------------------------------------------------------------------------------------------
# Thresholds at an FMR, and the curve
# --------------------------------------------------------------------------------------------------


def threshold_at_fmr(
    level: float,
    similarity: Matrix,
    subject: Sequence[Hashable],
    weighting: str,
    draw: Draw | None = None,
) -> float:
    """The float above s0, the highest non-mated score that must be rejected for FMR <= level.

    From the highest score down, all pairs of one score are accepted together as long as the FMR
    meets the level; s0 is the first score for which it would not, or the lowest one where none is
    (level 1), as in `naive.threshold_at_fmr`. "The float above" is that of the matrix's dtype. NaN
    without non-mated pairs.
    """
    pairs = sorted(nonmated(similarity, dataset(subject, draw), weighting), reverse=True)
    if len(pairs) == 0:
        return math.nan
    total = sum((w for _, w in pairs), Fraction(0))
    allowed = Fraction(level) * (1 + Fraction(1, 10**9))
    s0 = pairs[-1][0]
    accepted = Fraction(0)
    for s, tied in itertools.groupby(pairs, key=lambda pair: pair[0]):
        accepted += sum((w for _, w in tied), Fraction(0))
        if accepted / total > allowed:
            s0 = s
            break
    number = similarity.dtype.type
    return float(np.nextafter(number(s0), number(math.inf)))


def roc(
    levels: Sequence[float],
    similarity: Matrix,
    subject: Sequence[Hashable],
    weighting: str,
    draw: Draw | None = None,
) -> list[float]:
    """ROC(a) = FNMR(FMR^-1(a)) by (4) at every level a; ROC*(a) of a replicate, its threshold found
    again."""
    curve = []
    for level in levels:
        t = threshold_at_fmr(level, similarity, subject, weighting, draw)
        curve.append(float(fnmr(similarity, subject, t, weighting, draw=draw)))
    return curve


def replicate_roc(
    levels: Sequence[float],
    similarity: Matrix,
    subject: Sequence[Hashable],
    weighting: str,
    draws: Sequence[Draw],
) -> list[list[float]]:
    """ROC* of every replicate."""
    return [roc(levels, similarity, subject, weighting, draw) for draw in draws]


def v_roc(
    levels: Sequence[float], similarity: Matrix, subject: Sequence[Hashable], weighting: str
) -> list[float]:
    """ROC_V(a) = FNMR_V(FMR^-1(a)), at the thresholds of the estimate."""
    curve = []
    for level in levels:
        t = threshold_at_fmr(level, similarity, subject, weighting)
        curve.append(float(fnmr_v(similarity, subject, t, weighting)))
    return curve


# --------------------------------------------------------------------------------------------------
# Fairness
# --------------------------------------------------------------------------------------------------


def _group_names(groups: Groups) -> list[Any]:
    return sorted(set(groups.values()))


def fairness(
    measure: Callable[[list[float]], float],
    error: str,
    levels: Sequence[float],
    similarity: Matrix,
    subject: Sequence[Hashable],
    groups: Groups,
    weighting: str,
    draw: Draw | None = None,
) -> list[float]:
    """A measure of the groups' "FMR" or "FNMR", sorted by name, at the threshold of the global FMR
    at every level.

    `measure` is a function of one rate per group, as `naive.gini`; the plug-in of appendix D.3.
    With a `draw` the replicate's version (22), the threshold found again.
    """
    rate = {"FMR": fmr, "FNMR": fnmr}[error]
    values = []
    for level in levels:
        t = threshold_at_fmr(level, similarity, subject, weighting, draw)
        rates = [
            float(rate(similarity, subject, t, weighting, g, groups, draw))
            for g in _group_names(groups)
        ]
        values.append(measure(rates))
    return values


def v_fairness(
    measure: Callable[[list[float]], float],
    error: str,
    levels: Sequence[float],
    similarity: Matrix,
    subject: Sequence[Hashable],
    groups: Groups,
    weighting: str,
) -> list[float]:
    """The V version (24): the measure of FNMR_V of every group, or of their FMR, at the estimate's
    thresholds."""
    rate = {"FMR": fmr, "FNMR": fnmr_v}[error]
    values = []
    for level in levels:
        t = threshold_at_fmr(level, similarity, subject, weighting)
        rates = [
            float(rate(similarity, subject, t, weighting, g, groups)) for g in _group_names(groups)
        ]
        values.append(measure(rates))
    return values


# --------------------------------------------------------------------------------------------------
# Bands
# --------------------------------------------------------------------------------------------------
#  For ROC and for every fairness measure alike. At one point: the estimate, its V version, R
# replicates.


def _standard_deviation(values: Sequence[float]) -> float:
    """sqrt(sum (x - mean)^2 / (R - 1)); NaN with fewer than two values."""
    if len(values) < 2:
        return math.nan
    mean = sum(values) / len(values)
    squares = 0.0
    for x in values:
        squares += (x - mean) ** 2
    return math.sqrt(squares / (len(values) - 1))


def gaussian(
    replicates: list[float], estimate: float, v_statistic: float, level: float
) -> tuple[float, float]:
    """Mean -+ z sd of the recentered replicates, estimate + (replicate - V) (appendix B.1)."""
    shifted = [estimate + (value - v_statistic) for value in replicates]
    sd = _standard_deviation(shifted)
    mean = sum(shifted) / len(shifted)
    return mean - slow._z(level) * sd, mean + slow._z(level) * sd


def normalised_uncertainty(replicates: list[float], estimate: float, v_statistic: float) -> float:
    """std(replicate - V) / estimate (11); a ratio x / 0 is inf, 0 / 0 NaN."""
    return naive._ratio(
        _standard_deviation([value - v_statistic for value in replicates]), estimate
    )


def band(
    method: str,
    estimate: list[float],
    v_statistic: list[float],
    replicates: list[list[float]],
    level: float,
) -> list[tuple[float, float]]:
    """(lower, upper) at every point of a curve; `replicates` has a curve per replicate.

    "recentered"
        [ROC + q_lo, ROC + q_hi], q the quantiles of ROC* - ROC_V (Algorithm 2).
    "percentile"
        The quantiles of ROC*: the naive bootstrap (Algorithm 1).
    "gaussian"
        `gaussian`.
    """
    ends = []
    for j in range(len(estimate)):
        values = [curve[j] for curve in replicates]
        if method == "recentered":
            ends.append(slow.recentered(values, estimate[j], v_statistic[j], level))
        elif method == "percentile":
            ends.append(slow.percentile(values, level))
        elif method == "gaussian":
            ends.append(gaussian(values, estimate[j], v_statistic[j], level))
        else:
            raise ValueError(method)
    return ends

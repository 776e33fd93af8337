"""The slow, obvious oracle: every rate, threshold and fairness measure as a loop over a plain list.

Nothing of fastfair is imported and nothing is clever: each function repeats its formula. Terms
follow ISO/IEC 19795-1. The papers named below:

paper 1
    Elobaid et al., Sum of Group Error Differences.
paper 2
    Chouchane et al., A Comparison of Differential Performance Metrics for the Evaluation of
    Automatic Speaker Verification Fairness.
paper 3
    Hutiri et al., As Biased as You Measure.
paper 5
    Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition.

Conventions
-----------
- Scores are finite similarities (no NaN, no infinity): accept when ``score >= threshold``.
- A rate with no comparisons behind it is NaN, and NaN is passed on, never skipped.
- Rates of groups are fractions in [0, 1], never negative. ``x / 0`` is inf for x > 0, ``0 / 0`` is
  NaN, and ``anything ** 0`` is 1, also for NaN and inf (as in IEEE 754 and NumPy). ``0 * NaN``
  stays NaN.
- A measure of no group at all is NaN.
"""

import math
from collections import namedtuple
from collections.abc import Callable
from fractions import Fraction

Comparison = namedtuple("Comparison", "score mated reference probe reference_group probe_group")


# --------------------------------------------------------------------------------------------------
# Rates at a threshold
# --------------------------------------------------------------------------------------------------


def false_matches(nonmated: list[float], t: float) -> int:
    """#{non-mated s : s >= t}."""
    count = 0
    for s in nonmated:
        if s >= t:
            count += 1
    return count


def false_nonmatches(mated: list[float], t: float) -> int:
    """#{mated s : s < t}, the mated scores that are not accepted."""
    count = 0
    for s in mated:
        if not s >= t:
            count += 1
    return count


def fmr(nonmated: list[float], t: float) -> float:
    """FMR(t) = accepted non-mated / non-mated (paper 1, equation 1); NaN without non-mated
    scores."""
    if len(nonmated) == 0:
        return math.nan
    return false_matches(nonmated, t) / len(nonmated)


def fnmr(mated: list[float], t: float) -> float:
    """FNMR(t) = rejected mated / mated (paper 1, equation 2); NaN without mated scores."""
    if len(mated) == 0:
        return math.nan
    return false_nonmatches(mated, t) / len(mated)


def thresholds(mated: list[float], nonmated: list[float]) -> list[float]:
    """Distinct scores, ascending, then the next float above the largest (where nothing is
    accepted)."""
    distinct = sorted(set(list(mated) + list(nonmated)))
    if len(distinct) == 0:
        return []
    return [*distinct, math.nextafter(distinct[-1], math.inf)]


def roc(mated: list[float], nonmated: list[float]) -> list[tuple[float, float, float]]:
    """(threshold, FMR, FNMR) at every one of `thresholds`, threshold ascending."""
    points = []
    for t in thresholds(mated, nonmated):
        points.append((t, fmr(nonmated, t), fnmr(mated, t)))
    return points


# --------------------------------------------------------------------------------------------------
# Thresholds at an error rate
# --------------------------------------------------------------------------------------------------


def _next_float(s: float) -> float:
    """The next double above s."""
    return math.nextafter(s, math.inf)


def threshold_at_fmr(
    nonmated: list[float], a: float, next_above: Callable[[float], float] = _next_float
) -> float:
    """The float above s0, the smallest non-mated score with #{non-mated > s0} / n <= a.

    Paper 5, appendix D.1: the pseudo-inverse, so that tied scores never push the FMR above `a`.
    `next_above` says what "the next float" is (that of float32 scores differs). The threshold is
    always above a non-mated score, also at a = 1. NaN without non-mated scores.
    """
    for s0 in sorted(nonmated):
        above = 0
        for s in nonmated:
            if s > s0:
                above += 1
        if above / len(nonmated) <= a:
            return next_above(s0)
    return math.nan


def threshold_at_fnmr(mated: list[float], b: float) -> float:
    """The largest mated score t with #{mated < t} / m <= b; NaN without mated scores."""
    for t in sorted(mated, reverse=True):
        below = 0
        for s in mated:
            if s < t:
                below += 1
        if below / len(mated) <= b:
            return t
    return math.nan


# --------------------------------------------------------------------------------------------------
# Equal error rate
# --------------------------------------------------------------------------------------------------


def _exact_roc(mated: list[float], nonmated: list[float]) -> list[tuple[float, Fraction, Fraction]]:
    """`roc` with the rates as exact fractions; both lists must hold something."""
    points = []
    for t in thresholds(mated, nonmated):
        exact_fmr = Fraction(false_matches(nonmated, t), len(nonmated))
        exact_fnmr = Fraction(false_nonmatches(mated, t), len(mated))
        points.append((t, exact_fmr, exact_fnmr))
    return points


def _nearest_threshold(mated: list[float], nonmated: list[float]) -> float:
    """The lowest of `thresholds` that minimises |FMR - FNMR|, compared exactly."""
    best_threshold = math.nan
    best_difference = None
    for t, exact_fmr, exact_fnmr in _exact_roc(mated, nonmated):
        difference = abs(exact_fmr - exact_fnmr)
        if best_difference is None or difference < best_difference:
            best_difference = difference
            best_threshold = t
    return best_threshold


def _eer_interpolated(mated: list[float], nonmated: list[float]) -> tuple[float, float]:
    """Linear interpolation between the last point with FMR > FNMR and the first with FMR <= FNMR.

    Both exist and are neighbours: at the lowest threshold FMR - FNMR = 1 - 0, at the highest it is
    0 - 1, and it falls at every step in between, as each rejects at least one more score. The
    arithmetic is exact and rounded once, at the end.
    """
    above = []
    below = []
    for point in _exact_roc(mated, nonmated):
        if point[1] > point[2]:
            above.append(point)
        else:
            below.append(point)
    t0, fmr0, fnmr0 = above[-1]
    t1, fmr1, fnmr1 = below[0]
    difference0 = fmr0 - fnmr0  # > 0
    difference1 = fmr1 - fnmr1  # <= 0
    w = difference0 / (difference0 - difference1)  # how far from lower to upper the difference is 0
    value = fmr0 + w * (fmr1 - fmr0)
    assert value == fnmr0 + w * (fnmr1 - fnmr0)
    threshold = Fraction(t0) + w * (Fraction(t1) - Fraction(t0))
    return float(value), float(threshold)


def _eer_convex_hull(mated: list[float], nonmated: list[float]) -> tuple[float, float]:
    """The lowest v such that (v, v) lies on a segment between two ROC points, or is one.

    No such segment leaves the convex hull of the points, and the hull's edges are among them, so
    the lowest crossing with the diagonal FMR = FNMR is where the lower convex hull crosses it. The
    threshold is NaN: in general no single threshold reaches this value.
    """
    points = [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]
    for _, exact_fmr, exact_fnmr in _exact_roc(mated, nonmated):
        points.append((exact_fmr, exact_fnmr))
    return lowest_crossing(points), math.nan


def lowest_crossing(points: list[tuple[Fraction, Fraction]]) -> float:
    """The lowest v such that (v, v) lies on a segment between two of the points, or is one."""
    crossings = []
    for x0, y0 in points:
        if x0 == y0:
            crossings.append(x0)
        for x1, y1 in points:
            if x0 > y0 and x1 < y1:  # on opposite sides of the diagonal
                w = (x0 - y0) / ((x0 - y0) - (x1 - y1))
                crossings.append(x0 + w * (x1 - x0))
    return float(min(crossings))


def eer(mated: list[float], nonmated: list[float], method: str) -> tuple[float, float]:
    """Equal error rate and its threshold; (NaN, NaN) when either list is empty.

    "nearest"
        At the lowest threshold that minimises |FMR - FNMR|: the mean of the two.
    "nearest-max"
        At the same threshold: the larger of the two (paper 3's software).
    "interpolated"
        Linear between the two ROC points that bracket FMR = FNMR.
    "convex-hull"
        Where the lower convex hull of the ROC crosses FMR = FNMR (ROCCH); the threshold is NaN.
    """
    if method not in ("nearest", "nearest-max", "interpolated", "convex-hull"):
        raise ValueError(method)
    if len(mated) == 0 or len(nonmated) == 0:
        return math.nan, math.nan
    if method == "interpolated":
        return _eer_interpolated(mated, nonmated)
    if method == "convex-hull":
        return _eer_convex_hull(mated, nonmated)
    t = _nearest_threshold(mated, nonmated)
    if method == "nearest":
        return (fmr(nonmated, t) + fnmr(mated, t)) / 2, t
    return max(fmr(nonmated, t), fnmr(mated, t)), t


# --------------------------------------------------------------------------------------------------
# Costs
# --------------------------------------------------------------------------------------------------


def min_dcf(
    mated: list[float],
    nonmated: list[float],
    p_target: float,
    c_miss: float,
    c_fa: float,
    normalize: bool,
) -> tuple[float, float]:
    """min over t of c_miss p FNMR(t) + c_fa (1 - p) FMR(t), and the lowest threshold that reaches
    it.

    t runs over `thresholds`, from "accept all" to "reject all". `normalize` divides the minimum by
    min(c_miss p, c_fa (1 - p)). The costs are plain floats in the order written here, so two
    thresholds whose costs are equal on paper may differ in the last bit. (NaN, NaN) when either
    list is empty.
    """
    if len(mated) == 0 or len(nonmated) == 0:
        return math.nan, math.nan
    best = math.inf
    best_threshold = math.nan
    for t in thresholds(mated, nonmated):
        cost = c_miss * p_target * fnmr(mated, t) + c_fa * (1 - p_target) * fmr(nonmated, t)
        if cost < best:
            best = cost
            best_threshold = t
    if normalize:
        best = _ratio(best, min(c_miss * p_target, c_fa * (1 - p_target)))
    return best, best_threshold


def _log2_one_plus_exp(x: float) -> float:
    """log2(1 + e^x), without overflow for large x."""
    if x > 0:
        return (x + math.log1p(math.exp(-x))) / math.log(2)
    return math.log1p(math.exp(x)) / math.log(2)


def cllr(mated: list[float], nonmated: list[float]) -> float:
    """1/2 [mean over mated of log2(1 + e^-s) + mean over non-mated of log2(1 + e^s)], in bits.

    The scores are natural-log likelihood ratios (Bruemmer & du Preez 2006). NaN when either list is
    empty.
    """
    if len(mated) == 0 or len(nonmated) == 0:
        return math.nan
    mated_loss = 0.0
    for s in mated:
        mated_loss += _log2_one_plus_exp(-s)
    nonmated_loss = 0.0
    for s in nonmated:
        nonmated_loss += _log2_one_plus_exp(s)
    return (mated_loss / len(mated) + nonmated_loss / len(nonmated)) / 2


def pool_adjacent_violators(mated: list[float], nonmated: list[float]) -> list[tuple[int, int]]:
    """Blocks (number mated, number non-mated) of the pooled scores, ascending, with rising share of
    mated.

    One block per distinct score to begin with, then `pool`: as long as some block has a larger
    share of mated than the one after it, the two become one.
    """
    blocks = []
    for s in sorted(set(list(mated) + list(nonmated))):
        n_mated = 0
        for x in mated:
            if x == s:
                n_mated += 1
        n_nonmated = 0
        for x in nonmated:
            if x == s:
                n_nonmated += 1
        blocks.append((n_mated, n_nonmated))
    return pool(blocks)


def pool(
    blocks: list[tuple[Fraction | int, Fraction | int]],
) -> list[tuple[Fraction | int, Fraction | int]]:
    """Blocks (weight mated, weight non-mated), neither both 0, joined until the share of mated
    never falls."""
    blocks = list(blocks)
    i = 0
    while i + 1 < len(blocks):
        left = blocks[i]
        right = blocks[i + 1]
        if Fraction(left[0]) / (left[0] + left[1]) > Fraction(right[0]) / (right[0] + right[1]):
            blocks[i : i + 2] = [(left[0] + right[0], left[1] + right[1])]
            i = 0  # start again from the left
        else:
            i += 1
    return blocks


def auc(mated: list[float], nonmated: list[float]) -> float:
    """Share of the pairs of a mated and a non-mated score whose mated one is larger, ties by half;
    NaN when either list is empty."""
    if len(mated) == 0 or len(nonmated) == 0:
        return math.nan
    won = 0.0
    for x in mated:
        for y in nonmated:
            won += 1.0 if x > y else 0.5 if x == y else 0.0
    return won / len(mated) / len(nonmated)


def d_prime(mated: list[float], nonmated: list[float]) -> float:
    """Difference of the means over the root of the mean variance (dividing by n); NaN when either
    list is empty, or both are constant and equal."""
    if len(mated) == 0 or len(nonmated) == 0:
        return math.nan
    means, variances = [], []
    for scores in (mated, nonmated):
        mean = sum(scores) / len(scores)
        means.append(mean)
        variances.append(sum((score - mean) ** 2 for score in scores) / len(scores))
    spread = math.sqrt(sum(variances) / 2)
    if spread == 0:
        return math.nan if means[0] == means[1] else math.copysign(math.inf, means[0] - means[1])
    return (means[0] - means[1]) / spread


def min_cllr(mated: list[float], nonmated: list[float]) -> float:
    """Cllr after the best monotone calibration, in bits; NaN when either list is empty.

    Every block of `pool_adjacent_violators` has posterior p = mated / all; its log-likelihood ratio
    is ln(p / (1 - p)) - ln(prior odds), with the prior odds of the pooled list. A block of one
    class only has an infinite ratio of the right sign, which costs 0 for the class that is there.
    """
    if len(mated) == 0 or len(nonmated) == 0:
        return math.nan
    prior_odds = len(mated) / len(nonmated)
    mated_loss = 0.0
    nonmated_loss = 0.0
    for n_mated, n_nonmated in pool_adjacent_violators(mated, nonmated):
        if n_mated == 0 or n_nonmated == 0:
            continue
        posterior_odds = n_mated / n_nonmated
        llr = math.log(posterior_odds / prior_odds)
        mated_loss += n_mated * _log2_one_plus_exp(-llr)
        nonmated_loss += n_nonmated * _log2_one_plus_exp(llr)
    return (mated_loss / len(mated) + nonmated_loss / len(nonmated)) / 2


# --------------------------------------------------------------------------------------------------
# Groups of comparisons
# --------------------------------------------------------------------------------------------------


def _scores(comparisons: list[Comparison], mated: bool) -> list[float]:
    """Scores of the mated, or of the non-mated, comparisons."""
    scores = []
    for c in comparisons:
        if bool(c.mated) == mated:
            scores.append(c.score)
    return scores


def _within(comparisons: list[Comparison], group: str) -> list[Comparison]:
    """Comparisons whose reference and probe are both in the group (paper 1: WDI)."""
    kept = []
    for c in comparisons:
        if c.reference_group == group and c.probe_group == group:
            kept.append(c)
    return kept


def _cell(
    comparisons: list[Comparison], reference_group: str, probe_group: str
) -> list[Comparison]:
    """Non-mated comparisons of one reference group with one probe group."""
    kept = []
    for c in comparisons:
        if not c.mated and c.reference_group == reference_group and c.probe_group == probe_group:
            kept.append(c)
    return kept


def _distinct_subjects(comparisons: list[Comparison]) -> int:
    """Number of distinct subjects, on either side of the comparisons."""
    subjects = set()
    for c in comparisons:
        subjects.add(c.reference)
        subjects.add(c.probe)
    return len(subjects)


def overall_rates(comparisons: list[Comparison], t: float) -> tuple[float, float]:
    """(FMR, FNMR) of all comparisons pooled, within groups and across them."""
    return fmr(_scores(comparisons, False), t), fnmr(_scores(comparisons, True), t)


def group_rates(comparisons: list[Comparison], t: float) -> dict[str, tuple[float, float]]:
    """{group: (FMR_g, FNMR_g)}, from the comparisons with both sides in the group.

    The groups are all labels seen on either side, sorted; one without within-group comparisons has
    NaN.
    """
    groups = set()
    for c in comparisons:
        groups.add(c.reference_group)
        groups.add(c.probe_group)
    rates = {}
    for group in sorted(groups):
        rates[group] = overall_rates(_within(comparisons, group), t)
    return rates


def fmr_matrix(comparisons: list[Comparison], t: float, groups: list[str]) -> list[list[float]]:
    """FMR of every reference group (rows) with every probe group (columns); NaN where there is
    nothing."""
    matrix = []
    for reference_group in groups:
        row = []
        for probe_group in groups:
            row.append(fmr(_scores(_cell(comparisons, reference_group, probe_group), False), t))
        matrix.append(row)
    return matrix


def matrix_subjects(comparisons: list[Comparison], groups: list[str]) -> list[list[int]]:
    """Distinct subjects, on either side, behind every cell of `fmr_matrix`."""
    matrix = []
    for reference_group in groups:
        row = []
        for probe_group in groups:
            row.append(_distinct_subjects(_cell(comparisons, reference_group, probe_group)))
        matrix.append(row)
    return matrix


def counts(comparisons: list[Comparison], t: float) -> dict[str, int]:
    """What is behind the rates: comparisons, errors, and distinct subjects on either side."""
    mated = [c for c in comparisons if c.mated]
    nonmated = [c for c in comparisons if not c.mated]
    return {
        "mated": len(mated),
        "nonmated": len(nonmated),
        "false_matches": false_matches(_scores(comparisons, False), t),
        "false_nonmatches": false_nonmatches(_scores(comparisons, True), t),
        "mated_subjects": _distinct_subjects(mated),
        "nonmated_subjects": _distinct_subjects(nonmated),
    }


def group_counts(comparisons: list[Comparison], t: float, group: str) -> dict[str, int]:
    """`counts` of the comparisons with both sides in the group."""
    return counts(_within(comparisons, group), t)


# --------------------------------------------------------------------------------------------------
# Arithmetic with zeros and NaN, written out
# --------------------------------------------------------------------------------------------------


def _ratio(x: float, y: float) -> float:
    """x / y; x / 0 is inf for x > 0, 0 / 0 is NaN."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if y == 0:
        if x == 0:
            return math.nan
        return math.inf
    return x / y


def _unusable(x: list[float]) -> bool:
    """No value at all, or a NaN among the values: then a measure of them is NaN."""
    return len(x) == 0 or any(math.isnan(value) for value in x)


def _mean(x: list[float]) -> float:
    """Arithmetic mean."""
    if _unusable(x):
        return math.nan
    return sum(x) / len(x)


def _geomean(x: list[float]) -> float:
    """Geometric mean, exp(mean(ln x)); 0 as soon as one value is 0."""
    if _unusable(x):
        return math.nan
    for value in x:
        if value == 0:
            return 0.0
    return math.exp(_mean([math.log(value) for value in x]))


def _max(x: list[float]) -> float:
    """Largest value; NaN as soon as one value is NaN."""
    if _unusable(x):
        return math.nan
    return max(x)


def _min(x: list[float]) -> float:
    """Smallest value; NaN as soon as one value is NaN."""
    if _unusable(x):
        return math.nan
    return min(x)


def _largest_difference(x: list[float]) -> float:
    """max over i, j of |x_i - x_j|."""
    differences = []
    for x_i in x:
        for x_j in x:
            differences.append(abs(x_i - x_j))
    return _max(differences)


# --------------------------------------------------------------------------------------------------
# Measures over the values of groups
# --------------------------------------------------------------------------------------------------


def fdr(fmr: list[float], fnmr: list[float], alpha: float) -> float:
    """Fairness Discrepancy Rate, 1 - [alpha max|a_i - a_j| + (1 - alpha) max|b_i - b_j|].

    Papers 1 (15), 2 (1-3), 3 (1).
    """
    return 1 - (alpha * _largest_difference(fmr) + (1 - alpha) * _largest_difference(fnmr))


def inequity_rate(fmr: list[float], fnmr: list[float], alpha: float) -> float:
    """Inequity Rate, (max a / min a)^alpha (max b / min b)^(1 - alpha); papers 1 (12-14), 2
    (4-6)."""
    a = _ratio(_max(fmr), _min(fmr))
    b = _ratio(_max(fnmr), _min(fnmr))
    return a**alpha * b ** (1 - alpha)


def gini(x: list[float]) -> float:
    """Gini coefficient, G / (G - 1) * sum_ij |x_i - x_j| / (2 G^2 mean(x)); 0 when every x is 0.

    Papers 1 (16), 2 (7-8), 5 (A.1). A single group has G / (G - 1) = 1 / 0: NaN, unless its value
    is 0.
    """
    if _unusable(x):
        return math.nan
    if all(value == 0 for value in x):
        return 0.0
    n = len(x)
    if n == 1:
        return math.nan
    total = 0.0
    for x_i in x:
        for x_j in x:
            total += abs(x_i - x_j)
    return n / (n - 1) * total / (2 * n**2 * _mean(x))


def garbe(fmr: list[float], fnmr: list[float], alpha: float) -> float:
    """GARBE, alpha Gini(a) + (1 - alpha) Gini(b); papers 1 (17-18), 2 (9-10)."""
    return alpha * gini(fmr) + (1 - alpha) * gini(fnmr)


def std(x: list[float]) -> float:
    """Population standard deviation over the groups; paper 1 (21)."""
    mean = _mean(x)
    return math.sqrt(_mean([(value - mean) ** 2 for value in x]))


def skewed_error_ratio(x: list[float]) -> float:
    """SER, max x / min x; paper 1, section II-B."""
    return _ratio(_max(x), _min(x))


def mape(x: list[float], overall: float) -> float:
    """MAPE, mean_g |x_g - overall| / overall, as a fraction; paper 1, section II-B."""
    return _mean([_ratio(abs(value - overall), overall) for value in x])


def sed(fmr: list[float], fnmr: list[float], fmr_all: float, fnmr_all: float) -> list[float]:
    """SED_g = |1 - a_g / a_all| + |1 - b_g / b_all| of every group; paper 1 (8-11)."""
    values = []
    for a, b in zip(fmr, fnmr, strict=True):
        values.append(abs(1 - _ratio(a, fmr_all)) + abs(1 - _ratio(b, fnmr_all)))
    return values


def group_to_min_difference(x: list[float]) -> list[float]:
    """x_g - min_g x_g of every group; paper 3, table 1. One NaN leaves no minimum: all are NaN."""
    smallest = _min(x)
    return [value - smallest for value in x]


def group_to_average_ratio(x: list[float], overall: float) -> list[float]:
    """x_g / x_all of every group, x_all from all comparisons pooled; paper 3, table 1."""
    return [_ratio(value, overall) for value in x]


def group_to_average_log_ratio(x: list[float], overall: float) -> list[float]:
    """-ln(x_g / x_all) of every group, +inf where x_g is 0; paper 3, table 1."""
    values = []
    for ratio in group_to_average_ratio(x, overall):
        if ratio == 0:
            values.append(math.inf)
        else:
            values.append(-math.log(ratio))
    return values


def nrb(x: list[float], overall: float) -> float:
    """Normalised Reliability Bias, (1 / G) sum_g |-ln(x_g / x_all)|; paper 3 (2)."""
    return _mean([abs(value) for value in group_to_average_log_ratio(x, overall)])


def max_min_ratio(x: list[float]) -> float:
    """max x / min x; paper 5 (A.1), NIST FRTE part 8."""
    return _ratio(_max(x), _min(x))


def max_geomean_ratio(x: list[float]) -> float:
    """max x / geomean(x); paper 5 (A.1)."""
    return _ratio(_max(x), _geomean(x))


def log_geomean_sum(x: list[float]) -> float:
    """sum_g |log10(x_g / geomean(x))|; paper 5 (A.1).

    One value of 0 makes the geometric mean 0 and its own ratio 0 / 0, so the sum is NaN.
    """
    if _unusable(x):
        return math.nan
    total = 0.0
    for value in x:
        ratio = _ratio(value, _geomean(x))
        if ratio == 0:
            total += math.inf
        else:
            total += abs(math.log10(ratio))
    return total

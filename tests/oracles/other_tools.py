"""What other tools do with scores, in lines of our own: the rules that the table of
docs/from_other_tools states.

`RULES` has a function for each row: mated and non-mated scores in, the tool's answer out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np

RATE = 0.3
THRESHOLD = 2

Scores = list[int]
Point = tuple[float, Fraction, Fraction]  # threshold, FMR, FNMR


def points(mated: Scores, nonmated: Scores) -> list[Point]:
    """Return the rates at each distinct score, the lowest first, and where nothing is accepted."""
    found: list[Point] = []
    for threshold in [*sorted({*mated, *nonmated}), math.inf]:
        false_matches = sum(score >= threshold for score in nonmated)
        false_nonmatches = sum(score < threshold for score in mated)
        found.append(
            (
                threshold,
                Fraction(false_matches, len(nonmated)),
                Fraction(false_nonmatches, len(mated)),
            )
        )
    return found


def corners(mated: Scores, nonmated: Scores) -> list[Point]:
    """Leave out points, but the last two, whose neighbours are as many errors away on one side as
    on the other."""
    every = points(mated, nonmated)
    reached, nothing_accepted = every[:-1], every[-1]
    kept = [
        here
        for before, here, after in zip(reached, reached[1:], reached[2:], strict=False)
        if any(here[k] - before[k] != after[k] - here[k] for k in (1, 2))
    ]
    ends = reached[-1:] if len(reached) > 1 else []
    return [reached[0], *kept, *ends, nothing_accepted]


def from_the_top(curve: list[Point]) -> list[tuple[float, float]]:
    """Return FMR and FNMR from the highest threshold on, the latter rounded as 1 minus a rate
    is."""
    return [(float(fmr), 1.0 - float(1 - fnmr)) for _, fmr, fnmr in reversed(curve)]


def rates_of(found: list[Point]) -> np.ndarray:
    """Return all FMRs, then all FNMRs."""
    return np.array([fmr for _, fmr, _ in found] + [fnmr for _, _, fnmr in found], dtype=float)


def rates_at(mated: Scores, nonmated: Scores, threshold: float) -> np.ndarray:
    fmr = Fraction(sum(score >= threshold for score in nonmated), len(nonmated))
    return np.array(
        [fmr, Fraction(sum(score < threshold for score in mated), len(mated))], dtype=float
    )


def det_curve(mated: Scores, nonmated: Scores) -> np.ndarray:
    """scikit-learn: from the last point that accepts everybody's mate to the first without a false
    match."""
    every = points(mated, nonmated)
    first = max(k for k, (_, _, fnmr) in enumerate(every) if fnmr == 0)
    last = min(k for k, (_, fmr, _) in enumerate(every) if fmr == 0)
    return rates_of(every[first : max(last, first) + 1])


def trainer_eer(
    mated: Scores, nonmated: Scores, curve: Callable[[Scores, Scores], list[Point]]
) -> np.ndarray:
    """VoxCeleb trainers: the larger rate at the nearest point; of several, that of the highest
    threshold."""
    rates = from_the_top(curve(mated, nonmated))
    return np.array([max(min(rates, key=lambda pair: abs(pair[1] - pair[0])))])


def interpolated_eer(mated: Scores, nonmated: Scores) -> np.ndarray:
    """Where the line between two points crosses FMR = FNMR."""
    every = points(mated, nonmated)
    for (_, fmr, fnmr), (_, next_fmr, next_fnmr) in pairwise(every):
        over, under = fmr - fnmr, next_fmr - next_fnmr
        if over >= 0 >= under:
            share = over / (over - under) if over != under else Fraction(0)
            return np.array([fmr + share * (next_fmr - fmr)], dtype=float)
    raise AssertionError("the curve goes from FMR 1 to FNMR 1")


def nearest_fmr(mated: Scores, nonmated: Scores) -> np.ndarray:
    """Scripts: the rates where the FMR is nearest to the rate, of several where the threshold is
    highest."""
    rates = from_the_top(corners(mated, nonmated))
    return np.array(min(rates, key=lambda pair: abs(pair[0] - RATE)))


def pyeer_eer(mated: Scores, nonmated: Scores) -> np.ndarray:
    """Of the points on either side of the crossing, the one with the smaller sum; 1 where no score
    lies beyond it."""
    reached = points(mated, nonmated)[:-1]
    beyond = [k for k, (_, fmr, fnmr) in enumerate(reached) if fmr <= fnmr]
    if not beyond:
        return np.array([1.0])
    after = reached[beyond[0]]
    before = after if after[1] == after[2] else reached[max(beyond[0] - 1, 0)]
    return np.array([min(sum(before[1:]), sum(after[1:])) / 2], dtype=float)


def pyeer_nearest_fmr(mated: Scores, nonmated: Scores) -> np.ndarray:
    """The first point, from the lowest score on, whose FMR is nearest; accepting nobody is none of
    them."""
    nearest = min(points(mated, nonmated)[:-1], key=lambda point: abs(float(point[1]) - 0.1))
    return np.array(nearest[2:], dtype=float)


def kaldi_eer(mated: Scores, nonmated: Scores) -> np.ndarray:
    """Step over mated scores to the first that is above as large a share of non-mated ones."""
    targets, others = sorted(mated), sorted(nonmated)
    position = 0
    for position, target in enumerate(targets):
        at = len(others) - 1 - int(len(others) * position / len(targets))
        if others[max(at, 0)] < target:
            break
    return np.array([position / len(targets)])


def bob_best_threshold(
    mated: Scores, nonmated: Scores, criterion: Callable[[float, float], float]
) -> float:
    """The highest of the best thresholds, rates being running sums.

    That nothing is accepted is tried last; where both lists end in the same score, at that score,
    which accepts some.
    """
    fmr, fnmr, best, threshold = 1.0, 0.0, math.inf, math.inf
    distinct = sorted({*mated, *nonmated})
    for score in distinct:
        if criterion(fmr, fnmr) <= best:
            best, threshold = criterion(fmr, fnmr), score
        for _ in range(nonmated.count(score)):
            fmr -= 1 / len(nonmated)
        for _ in range(mated.count(score)):
            fnmr += 1 / len(mated)
        if score in (max(mated), max(nonmated)):
            break
    above = distinct[distinct.index(score) + 1 :]
    if criterion(fmr, fnmr) < best:
        best, threshold = criterion(fmr, fnmr), above[0] if above else score
    if above and criterion(0.0, 1.0) < best:
        threshold = math.inf
    return threshold


def bob_eer(mated: Scores, nonmated: Scores) -> np.ndarray:
    threshold = bob_best_threshold(mated, nonmated, lambda fmr, fnmr: abs(fmr - fnmr))
    return np.array([rates_at(mated, nonmated, threshold).mean()])


def bob_min_dcf(mated: Scores, nonmated: Scores) -> np.ndarray:
    """The cost at the threshold whose cost, so it is thought, is least."""
    threshold = bob_best_threshold(
        mated, nonmated, lambda fmr, fnmr: 0.99 * fmr + (1.0 - 0.99) * fnmr
    )
    return np.array([rates_at(mated, nonmated, threshold) @ [0.99, 0.01]])


def bob_far(mated: Scores, nonmated: Scores) -> np.ndarray:
    """The lowest non-mated score that accepts few enough, or just above the highest; two scores at
    least."""
    if len(nonmated) < 2:
        return np.array([])
    possible = [score for score in nonmated if rates_at(mated, nonmated, score)[0] <= RATE]
    return rates_at(mated, nonmated, min(possible, default=np.nextafter(max(nonmated), math.inf)))


def bob_frr(mated: Scores, nonmated: Scores) -> np.ndarray:
    """All scores at the threshold but one count as rejected; just above the lowest if even that is
    too much."""
    if len(mated) < 2:
        return np.array([])
    ordered = sorted(mated)
    threshold = np.nextafter(ordered[0], ordered[0] + 1)
    for score in sorted(set(ordered)):
        if (sum(other <= score for other in ordered) - 1) / len(ordered) > RATE:
            break
        threshold = score
    return rates_at(mated, nonmated, threshold)


def speechbrain_eer(mated: Scores, nonmated: Scores) -> np.ndarray:
    """The first nearest point, rates and their differences being of 32 bits."""
    best = (math.inf, 0.0)
    for _, exact_fmr, exact_fnmr in points(mated, nonmated)[1:]:
        fmr, fnmr = np.float32(exact_fmr), np.float32(exact_fnmr)
        if float(abs(fmr - fnmr)) < best[0]:
            best = abs(float(fmr) - float(fnmr)), (float(fmr) + float(fnmr)) / 2
    return np.array([best[1]])


def speechbrain_min_dcf(mated: Scores, nonmated: Scores, p_target: float) -> np.ndarray:
    """The least cost of all points but the one that accepts everybody."""
    costs = [p_target * fnmr + (1 - p_target) * fmr for _, fmr, fnmr in points(mated, nonmated)[1:]]
    return np.array([min(costs)], dtype=float)


def torchmetrics_eer(mated: Scores, nonmated: Scores) -> np.ndarray:
    """The nearest point of the highest threshold, rates being of 32 bits."""
    best = (np.float32(math.inf), np.float32(0))
    for _, exact_fmr, exact_fnmr in reversed(points(mated, nonmated)):
        fmr, fnmr = np.float32(exact_fmr), np.float32(1) - np.float32(1 - exact_fnmr)
        if abs(fmr - fnmr) < best[0]:
            best = abs(fmr - fnmr), (fmr + fnmr) / 2
    return np.array([best[1]], dtype=float)


def pyannote_eer(mated: Scores, nonmated: Scores) -> np.ndarray:
    """The mean of four rates: those of the first corner whose FMR is the larger, and of the corner
    before."""
    rates = from_the_top(corners(mated, nonmated))
    k = next(k for k, (fmr, fnmr) in enumerate(rates) if fmr > fnmr)
    return np.array([sum(rates[k] + rates[k - 1]) / 4])


def score_analysis_fmr(mated: Scores, nonmated: Scores) -> np.ndarray:
    """Interpolate the threshold between non-mated scores, counted from one too far below."""
    ordered = sorted(nonmated)
    position = (1 - RATE - 1 / len(ordered)) * len(ordered)
    below = max(math.floor(position), 0)
    above = min(max(math.ceil(position), 0), len(ordered) - 1)
    share = math.ceil(position) - position
    threshold = share * ordered[below] + (1 - share) * ordered[above]
    return rates_at(
        mated, nonmated, threshold if position > 0 else np.nextafter(ordered[0], -math.inf)
    )


def words_by_direction(mated: Scores, nonmated: Scores) -> np.ndarray:
    """pROC: cases are impostors, the second word; they have the lower scores if their median is
    lower."""
    fmr, fnmr = rates_at(mated, nonmated, THRESHOLD)
    return np.array([fnmr, fmr] if np.median(mated) > np.median(nonmated) else [1 - fnmr, 1 - fmr])


def words(mated: Scores, nonmated: Scores) -> np.ndarray:
    """ROCR: impostors, the second word, are to be accepted."""
    fmr, fnmr = rates_at(mated, nonmated, THRESHOLD)
    return np.array([1 - fnmr, 1 - fmr])


def median_cutpoint_cost(mated: Scores, nonmated: Scores) -> np.ndarray:
    """cutpointr: the mean of FMR and FNMR at the median of the scores where that is least."""
    costs = {threshold: fmr + fnmr for threshold, fmr, fnmr in points(mated, nonmated)}
    best = [threshold for threshold, cost in costs.items() if cost == min(costs.values())]
    return np.array([rates_at(mated, nonmated, float(np.median(best))).mean()])


def group_rates(mated: Scores, nonmated: Scores) -> np.ndarray:
    """fairlearn: FMR and FNMR of each group, 0 where it has no comparison."""
    rates = []
    for group in range(2 if max(len(mated), len(nonmated)) > 1 else 1):
        nonmates, mates = nonmated[group::2], mated[group::2]
        rates += [
            sum(score >= THRESHOLD for score in nonmates) / max(len(nonmates), 1),
            sum(score < THRESHOLD for score in mates) / max(len(mates), 1),
        ]
    return np.array(rates)


def hits(mated: Scores, nonmated: Scores, first_wins: bool, last_wins: bool) -> np.ndarray:
    """Whether the mate is at rank 1, enrolled first or last, if the first or last of equal scores
    wins."""
    mate, best = mated[0], max(nonmated)
    return np.array(
        [mate > best or (mate == best and wins) for wins in (first_wins, last_wins)], dtype=float
    )


RULES: dict[str, Callable[[Scores, Scores], np.ndarray]] = {
    "sklearn-roc": lambda mated, nonmated: rates_of(points(mated, nonmated)),
    "sklearn-roc-default": lambda mated, nonmated: rates_of(corners(mated, nonmated)),
    "sklearn-det": det_curve,
    "trainer-eer": partial(trainer_eer, curve=points),
    "trainer-eer-default": partial(trainer_eer, curve=corners),
    "brentq-eer": interpolated_eer,
    "nearest-fmr": nearest_fmr,
    "pyeer-eer": pyeer_eer,
    "pyeer-fmr10": pyeer_nearest_fmr,
    "kaldi-eer": kaldi_eer,
    "bob-farfrr": partial(rates_at, threshold=THRESHOLD),
    "bob-eer": bob_eer,
    "bob-min-dcf": bob_min_dcf,
    "bob-far": bob_far,
    "bob-frr": bob_frr,
    "speechbrain-eer": speechbrain_eer,
    "speechbrain-min-dcf": partial(speechbrain_min_dcf, p_target=0.01),
    "speechbrain-min-dcf-0.9": partial(speechbrain_min_dcf, p_target=0.9),
    "torchmetrics-eer": torchmetrics_eer,
    "pyannote-eer": pyannote_eer,
    "score-analysis-fmr": score_analysis_fmr,
    "proc-words": words_by_direction,
    "rocr-words": words,
    "cutpointr-youden": median_cutpoint_cost,
    "fairlearn-groups": group_rates,
    "bob-rank": partial(hits, first_wins=False, last_wins=False),
    "torchmetrics-rank": partial(hits, first_wins=True, last_wins=False),
    "metric-learning-rank": partial(hits, first_wins=True, last_wins=False),
    "faiss-rank-of-one": partial(hits, first_wins=True, last_wins=False),
    "faiss-rank-of-all": partial(hits, first_wins=False, last_wins=True),
}

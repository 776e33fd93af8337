"""Slow and plain: standard errors of error rates at estimated thresholds, and correlations of two
systems' rates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from . import paired
from . import resampling as slow


@dataclass(frozen=True)
class Linear:
    """The rate of some trials, and what each of all trials adds to it, of which a moving threshold
    adds a part.

    Attributes
    ----------
    own, threshold : dict of float
        By the position of the trial.
    """

    own: dict[int, float]
    threshold: dict[int, float]


def groups_of(trials: Sequence[paired.Trial]) -> dict[str, str]:
    return dict(
        pair
        for trial in trials
        for pair in zip((trial.reference, trial.probe), trial.groups, strict=True)
    )


def unit_sums(values: dict[int, float], trials: Sequence[paired.Trial]) -> dict[str, float]:
    """The sum of each subject's values, minus the mean of its group; 0 in groups of one subject."""
    groups = groups_of(trials)
    found = dict.fromkeys(groups, 0.0)
    for k, value in values.items():
        for subject in {trials[k].reference, trials[k].probe}:
            found[subject] += value
    for group, size in Counter(groups.values()).items():
        mean = sum(found[subject] for subject in groups if groups[subject] == group) / size
        for subject in groups:
            if groups[subject] == group:
                found[subject] = found[subject] - mean if size > 1 else 0.0
    return found


def pair_sums(
    values: dict[int, float], trials: Sequence[paired.Trial]
) -> dict[frozenset[str], float]:
    """The sum over each pair of two subjects, neither of them alone in its group."""
    groups = groups_of(trials)
    sizes = Counter(groups.values())
    found: dict[frozenset[str], float] = {}
    for k, value in values.items():
        who = frozenset((trials[k].reference, trials[k].probe))
        if len(who) == 2 and all(sizes[groups[subject]] > 1 for subject in who):
            found[who] = found.get(who, 0.0) + value
    return found


def product(
    first: dict[int, float], second: dict[int, float], trials: Sequence[paired.Trial]
) -> float:
    """Sum products over subjects, minus those over pairs; values of the second count where the
    first has any, too."""
    of_units = [unit_sums(values, trials) for values in (first, second)]
    common = (
        {k: second[k] for k in second if k in first},
        {k: first[k] for k in first if k in second},
    )
    of_pairs = [pair_sums(values, trials) for values in common]
    found = sum(of_units[0][subject] * of_units[1][subject] for subject in of_units[0])
    return found - sum(value * of_pairs[1].get(who, 0.0) for who, value in of_pairs[0].items())


def rate_held(
    trials: Sequence[paired.Trial], kind: str, system: int, threshold: float
) -> dict[int, float]:
    """What each trial adds to the rate that the operating point holds, or to FMR minus FNMR."""
    by_id = paired.influences(trials, kind, system, threshold)
    return {k: by_id[id(trial)] for k, trial in enumerate(trials) if id(trial) in by_id}


def at_given_threshold(
    trials: Sequence[paired.Trial], inside: Sequence[int], system: int, threshold: float
) -> float:
    """The variance of a rate that replicates have: the dyadic-robust one, unless that of product
    weights is less."""
    groups = groups_of(trials)
    sizes = dict(Counter(groups.values()))
    dyads = []
    for k in inside:
        a, b = trials[k].reference, trials[k].probe
        dyads.append((paired.error(trials[k], system, threshold), a, None if a == b else b))
    return min(
        slow.dyadic_variance(dyads, groups, sizes), slow.product_variance(dyads, groups, sizes)
    )


def of_rate(
    trials: Sequence[paired.Trial],
    name: str,
    cell: tuple[str, str] | None,
    kind: str,
    system: int,
    threshold: float,
) -> tuple[Linear, float]:
    """Return the parts of a rate and its standard error."""
    inside = [k for k, trial in enumerate(trials) if trial in paired.of_rate([trial], name, cell)]
    mean = sum(paired.error(trials[k], system, threshold) for k in inside) / len(inside)
    own = {k: (paired.error(trials[k], system, threshold) - mean) / len(inside) for k in inside}
    given = at_given_threshold(trials, inside, system, threshold)
    if kind == "threshold":
        return Linear(own, {}), math.sqrt(given)
    held = rate_held(trials, kind, system, threshold)
    variance = 0.0
    for held_rate in ("fnmr", "fmr") if kind == "eer" else (kind,):
        everything = [k for k, trial in enumerate(trials) if trial.mated == (held_rate == "fnmr")]
        variance += at_given_threshold(trials, everything, system, threshold)
    if kind == "eer":
        of_both = [
            unit_sums({k: value for k, value in held.items() if trials[k].mated == mated}, trials)
            for mated in (True, False)
        ]
        variance += 2 * sum(of_both[0][subject] * of_both[1][subject] for subject in of_both[0])
    variance = max(variance, 0.0)
    among = [trials[k] for k in inside]
    slope, _ = paired.slope(trials, among, kind, system, threshold, math.sqrt(variance))
    most = math.sqrt(given * variance)
    shared = min(max(product(own, held, trials), -most), most)
    found = given + slope**2 * variance - 2 * slope * shared
    moved = {k: -slope * value for k, value in held.items()}
    return Linear(own, moved), math.sqrt(max(found, 0.0))


def correlation(first: Linear, second: Linear, trials: Sequence[paired.Trial]) -> float:
    """That of two systems' rates; what subjects have in several pairs counts for no more than in
    the variances."""

    def of_kind(values: dict[int, float], mated: bool) -> dict[int, float]:
        return {k: value for k, value in values.items() if trials[k].mated == mated}

    def of_units(linear: Linear, mated: bool) -> dict[str, float]:
        parts = [
            unit_sums(of_kind(values, mated), trials) for values in (linear.own, linear.threshold)
        ]
        return {subject: parts[0][subject] + parts[1][subject] for subject in parts[0]}

    def summed(one: dict[str, float], other: dict[str, float]) -> float:
        return sum(one[subject] * other[subject] for subject in one)

    def of_pairs(one: Linear, other: Linear) -> float:
        found = 0.0
        for a in (of_kind(one.own, False), of_kind(one.threshold, False)):
            for b in (of_kind(other.own, False), of_kind(other.threshold, False)):
                sums = (
                    pair_sums({k: a[k] for k in a if k in b}, trials),
                    pair_sums({k: b[k] for k in b if k in a}, trials),
                )
                found += sum(value * sums[1].get(who, 0.0) for who, value in sums[0].items())
        return found

    def parts(one: Linear, other: Linear) -> tuple[float, float]:
        """What is well known, and what subjects have in several pairs."""
        mated, nonmated = (
            [of_units(linear, kind) for linear in (one, other)] for kind in (True, False)
        )
        pairs = of_pairs(one, other)
        known = (
            summed(*mated) + summed(mated[0], nonmated[1]) + summed(nonmated[0], mated[1]) + pairs
        )
        return known, summed(*nonmated) - 2 * pairs

    (own, several), (another, others), (both, together) = (
        parts(first, first),
        parts(second, second),
        parts(first, second),
    )
    several, others = max(several, 0.0), max(others, 0.0)
    most = math.sqrt(several * others)
    variances = own + several, another + others
    if not min(variances) > 1e-12:  # and not what rounding makes of 0
        return 0.0
    covariance = both + min(max(together, -most), most)
    return min(max(covariance / math.sqrt(variances[0] * variances[1]), -1.0), 1.0)

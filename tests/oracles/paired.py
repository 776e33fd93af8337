"""Slow and plain: score tests of the difference between two systems' error rates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import t


@dataclass(frozen=True)
class Trial:
    """A comparison with the scores that two systems give it, as similarities."""

    reference: str
    probe: str
    mated: bool
    scores: tuple[float, float]
    groups: tuple[str, str] = ("", "")


def error(trial: Trial, system: int, threshold: float) -> int:
    accepted = trial.scores[system] >= threshold
    return int(accepted != trial.mated)


def rate(trials: Sequence[Trial], system: int, threshold: float) -> float:
    return sum(error(trial, system, threshold) for trial in trials) / len(trials)


def of_rate(trials: Sequence[Trial], name: str, cell: tuple[str, str] | None) -> list[Trial]:
    """The trials that a rate is a mean over."""
    return [
        trial
        for trial in trials
        if trial.mated == (name == "fnmr") and (cell is None or trial.groups == cell)
    ]


def held(trials: Sequence[Trial], kind: str, system: int, threshold: float) -> float:
    """What an operating point fixes: a rate, or the difference of FMR and FNMR."""
    rates = {name: rate(of_rate(trials, name, None), system, threshold) for name in ("fmr", "fnmr")}
    return rates["fmr"] - rates["fnmr"] if kind == "eer" else rates[kind]


def influences(
    trials: Sequence[Trial], kind: str, system: int, threshold: float
) -> dict[int, float]:
    """What each trial adds to the rate held, or to the difference of FMR and FNMR; they sum to
    zero."""
    found: dict[int, float] = defaultdict(float)
    for name, sign in (("fmr", 1), ("fnmr", -1 if kind == "eer" else 1)):
        if kind in (name, "eer"):
            among = of_rate(trials, name, None)
            mean = rate(among, system, threshold)
            for trial in among:
                found[id(trial)] += sign * (error(trial, system, threshold) - mean) / len(among)
    return found


def variance(values: dict[int, float], trials: Sequence[Trial], factor: float = 1.0) -> float:
    """The variance of a sum over trials of which those with a subject in common hang together."""
    of_subject: dict[str, float] = defaultdict(float)
    alone: dict[str, float] = defaultdict(float)
    of_pair: dict[frozenset[str], float] = defaultdict(float)
    for trial in trials:
        value = values.get(id(trial), 0.0)
        for subject in {trial.reference, trial.probe}:
            of_subject[subject] += value
        if trial.reference == trial.probe:
            alone[trial.reference] += value
        else:
            of_pair[frozenset((trial.reference, trial.probe))] += value
    pairs_squared = sum(value**2 for value in of_pair.values())
    robust = sum(value**2 for value in of_subject.values()) - pairs_squared
    return factor * max(robust, pairs_squared + sum(value**2 for value in alone.values()))


def near(
    trials: Sequence[Trial], kind: str, system: int, threshold: float, spread: float
) -> tuple[float, float]:
    """The scores whose rate held lies about one standard error below and above that at the
    threshold.

    Not below a third of the rate, as fewer errors have no slope.
    """
    at = held(trials, kind, system, threshold)
    scores = sorted({trial.scores[system] for trial in trials})
    scores.append(math.nextafter(scores[-1], math.inf))
    growing = kind == "fnmr"
    ends = []
    for aim in (at - spread if kind == "eer" else max(at - spread, at / 3), at + spread):
        # The lowest score at which a falling rate is at most the aim, or a growing one at least.
        reached = [
            s
            for s in scores
            if (
                held(trials, kind, system, s) >= aim
                if growing
                else held(trials, kind, system, s) <= aim
            )
        ]
        ends.append(reached[0] if reached else scores[-1])
    return ends[0], ends[1]


def slope(
    trials: Sequence[Trial],
    among: Sequence[Trial],
    kind: str,
    system: int,
    threshold: float,
    spread: float,
    enough: int = 30,
) -> tuple[float, float]:
    """Return the slope of the rate among some trials over the rate held, and its variance by counts
    over its square."""
    low, high = near(trials, kind, system, threshold, spread)
    ends = [held(trials, kind, system, end) for end in (low, high)]
    run = ends[1] - ends[0]
    errors = sum(error(trial, system, threshold) for trial in of_rate(trials, kind, None))
    if kind != "eer" and min(ends) > 0 and errors >= enough:
        run = held(trials, kind, system, threshold) * math.log(ends[1] / ends[0])
    rise = rate(among, system, high) - rate(among, system, low)
    behind = 0
    for held_rate in ("fmr", "fnmr") if kind == "eer" else (kind,):
        of_held = of_rate(trials, held_rate, None)
        behind += abs(
            sum(error(trial, system, high) for trial in of_held)
            - sum(error(trial, system, low) for trial in of_held)
        )
    share = 1 / max(1, round(abs(rise) * len(among))) + 1 / max(1, behind)
    return rise / run if run else 0.0, share


def score_test(
    trials: Sequence[Trial],
    name: str,
    cell: tuple[str, str] | None,
    kind: str,
    thresholds: tuple[float, float],
    degrees_of_freedom: float,
    aim: float = 0.0,
    enough: int = 30,
) -> tuple[float, float]:
    """Return the difference of two systems' rates and its p-value.

    Where at least `enough` errors are behind the rate held, its logarithm is taken for straight.
    Among ties no threshold may hold the rate aimed at: rates are moved along their slopes to where
    it is held, and the smaller difference counts. The part of the variance that comes from the
    rates held has twice as many degrees of freedom as errors are behind them, and Satterthwaite's
    formula puts both parts together; with no such errors, there is no p-value.
    """
    among = of_rate(trials, name, cell)
    difference = rate(among, 0, thresholds[0]) - rate(among, 1, thresholds[1])
    at_aim = difference
    values: dict[int, float] = defaultdict(float)
    at_thresholds: dict[int, float] = defaultdict(float)
    for trial in among:
        values[id(trial)] += (
            error(trial, 0, thresholds[0]) - error(trial, 1, thresholds[1])
        ) / len(among)
    if kind != "threshold":
        slopes, chance = [], 0.0
        for system in (0, 1):
            spread = math.sqrt(
                variance(influences(trials, kind, system, thresholds[system]), trials)
            )
            found, share = slope(trials, among, kind, system, thresholds[system], spread, enough)
            slopes.append(found)
            chance += found**2 * share
        apart = slopes[0] - slopes[1]
        kept = max(0.0, 1 - chance / apart**2) if apart else 0.0
        for system, sign in ((0, 1), (1, -1)):
            threshold = thresholds[system]
            shrunk = sum(slopes) / 2 + sign * kept * apart / 2
            at_aim -= sign * shrunk * (held(trials, kind, system, threshold) - aim)
            for key, value in influences(trials, kind, system, threshold).items():
                values[key] -= sign * shrunk * value
                at_thresholds[key] -= sign * shrunk * value
        errors_held = min(
            sum(
                error(trial, system, thresholds[system])
                for trial in of_rate(trials, held_rate, None)
            )
            for system in (0, 1)
            for held_rate in (("fmr", "fnmr") if kind == "eer" else (kind,))
        )
        if degrees_of_freedom < 1 or errors_held == 0:
            return difference, math.nan
    subjects = {subject for trial in among for subject in (trial.reference, trial.probe)}
    factor = len(subjects) / (len(subjects) - 1) if name == "fnmr" else 1.0
    spread = math.sqrt(variance(values, trials, factor))
    if spread < 1e-12:
        return difference, 1.0
    least = mcnemar(among, thresholds) if kind == "threshold" else 0.0
    if kind != "threshold":
        share = min(1.0, variance(at_thresholds, trials) / spread**2)
        if share > 0:
            together = 1 / (share**2 / (2 * errors_held) + (1 - share) ** 2 / degrees_of_freedom)
            degrees_of_freedom = min(degrees_of_freedom, together)
    return difference, max(
        least, 2 * float(t.sf(min(abs(difference), abs(at_aim)) / spread, degrees_of_freedom))
    )


def mcnemar(among: Sequence[Trial], thresholds: tuple[float, float]) -> float:
    """McNemar's exact p-value; 0 where a subject has two comparisons that the systems decide
    differently."""
    apart: dict[frozenset, int] = defaultdict(int)
    for trial in among:
        apart[frozenset((trial.reference, trial.probe))] += error(trial, 0, thresholds[0]) - error(
            trial, 1, thresholds[1]
        )
    for subject in {subject for pair in apart for subject in pair}:
        if sum(abs(d) for pair, d in apart.items() if subject in pair) > 1:
            return 0.0
    more, less = sum(d > 0 for d in apart.values()), sum(d < 0 for d in apart.values())
    tail = sum(math.comb(more + less, k) for k in range(min(more, less) + 1))
    return min(1.0, 2 * tail / 2 ** (more + less))

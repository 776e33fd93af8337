"""Simulated studies of false matches: how many there are, and the upper limit of the FMR that each study finds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair._lib import memory
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.errors import InputError
from fastfair.uncertainty.few_errors import CONCENTRATED
from fastfair.uncertainty.interval_rules import ROOM

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_ENOUGH_PAIRS = 5  # with false matches, for the design effect where a study has none, as in `resampling.design_effects`
MOST_ERRORS = 1e5  # of a study that is drawn
_LEAST_STUDIES = 200  # which are drawn, however
_WORK = 5e6  # many false matches and subjects they have in all
_ROUNDS = 50  # of drawing pairs, after which those not drawn yet are left out: a few subjects have all false matches


@dataclass(frozen=True)
class Design:
    """Who is compared with whom.

    Attributes
    ----------
    n_partners : int or None
        How many others, drawn at random, each subject is compared with; None for all.
    n_samples : int
        Samples of each subject; all samples of two subjects who are compared are.
    """

    n_partners: int | None
    n_samples: int

    @property
    def repeats(self) -> int:
        """Comparisons of two subjects."""
        return self.n_samples**2

    def partners(self, n: int) -> int:
        """Return how many others each of n subjects is compared with."""
        return n - 1 if self.n_partners is None else min(self.n_partners, n - 1)

    def pairs(self, n: int) -> int:
        """Return how many pairs of n subjects are compared."""
        return n * self.partners(n) // 2

    def comparisons(self, n: int) -> int:
        """Return the number of comparisons of n subjects."""
        return self.pairs(n) * self.repeats


@dataclass(frozen=True)
class FalseMatches:
    """How false matches come about.

    Attributes
    ----------
    fmr : float
        Their share of comparisons.
    covariance : float
        Relative covariance of false matches that share one subject.
    again : float
        Chance that another comparison of two subjects is a false match where one is.
    """

    fmr: float
    covariance: float
    again: float

    def relative_variance(self, design: Design, n: int) -> float:
        """Return the variance of the FMR of n subjects over its square: of N comparisons, with M as in `frailty`.

        That of the number of false matches is N p (1 + a (c - 1)) + kappa p^2 M, if each two subjects have c
        comparisons.
        """
        comparisons, partners = design.comparisons(n), design.partners(n)
        sharing = n * design.repeats**2 * partners * (partners - 1)
        own = (1 + self.again * (design.repeats - 1)) / (comparisons * self.fmr)
        return own + self.covariance * sharing / comparisons**2


@dataclass(frozen=True, eq=False)
class Limits:
    """What simulated studies of n subjects found.

    Attributes
    ----------
    n : int
        Number of subjects.
    errors : (studies,) ndarray of int
        Numbers of false matches.
    limit : (studies,) ndarray
        Upper limits of the FMR.
    is_narrow : (studies,) ndarray of bool
        Whether few subjects cause most false matches, so that `claim` takes the limit for too low.
    """

    n: int
    errors: Counts
    limit: Floats
    is_narrow: NDArray[np.bool_]

    def support(self, claimed: float) -> float:
        """Return the share of studies that support the claim, with a limit of at most what is claimed."""
        room = np.where(self.errors < ENOUGH_ERRORS, ROOM, 1)
        return float(((room * self.limit <= claimed) & ~self.is_narrow).mean())


def simulate(
    design: Design, matches: FalseMatches, n: int, confidence_level: float, n_studies: int, seed: list[int]
) -> Limits:
    """Draw studies with n subjects and compute their upper limits as `claim` does, but from variances in closed form.

    Subjects have lognormal effects of mean 1 and variance kappa, and two of them a false match in proportion to the
    product of their effects. Only pairs with false matches are drawn.

    Parameters
    ----------
    design : Design
        Who is compared with whom.
    matches : FalseMatches
        How false matches come about.
    n : int
        Number of subjects, at least 4.
    confidence_level : float
        The level of the limits, to one side, above 0.5.
    n_studies : int
        Number of studies to draw; fewer are drawn where they have many subjects or false matches.
    seed : list of int
        Seed of the random numbers.

    Returns
    -------
    Limits
    """
    memory.require(
        100 * n + 50 * n_studies + 24 * design.repeats,
        f"{n_studies:,} studies of {n:,} subjects with {design.n_samples:,} samples each",
        "plan for fewer",
    )
    mean = matches.fmr * design.comparisons(n)
    if mean > MOST_ERRORS:
        raise InputError(
            f"studies of {n:,} subjects would have {mean:,.0f} false matches each, too many to draw: claim more than "
            f"{matches.fmr:g}, or compare each subject with fewer others (n_partners)"
        )
    n_studies = min(n_studies, max(_LEAST_STUDIES, int(_WORK / (mean + n))))
    rng = np.random.default_rng([*seed, n])
    spread = math.log1p(matches.covariance)
    in_design = design.partners(n) / (n - 1)
    found, is_narrow = np.empty((n_studies, 4)), np.zeros(n_studies, np.bool_)
    for study in range(n_studies):
        effect = np.exp(math.sqrt(spread) * rng.standard_normal(n) - spread / 2)
        all_pairs = (effect.sum() ** 2 - (effect**2).sum()) / 2
        expected = matches.fmr * all_pairs * in_design * design.repeats / _errors_of_pair(design, matches)
        n_pairs = min(rng.poisson(expected), design.pairs(n))
        errors = _draw(effect, n_pairs, design, matches, rng)
        total = errors[2].sum()
        if total == 0:
            five = _draw(effect, min(_ENOUGH_PAIRS, design.pairs(n)), design, matches, rng)
            found[study] = 0, 0, 0, _independent(five, n, design)
        else:
            variance, freedom = dyadic_variance(errors, n, design)
            size = design.comparisons(n)
            found[study] = total, math.sqrt(variance) / size, max(1.0, min(freedom, n - 1)), 1
            is_narrow[study] = are_of_few(errors, n)
    errors_of_study, errors_of_rate, freedoms, independent = found.T
    none = errors_of_study == 0
    limit = -np.expm1(math.log(1 - confidence_level) / independent)
    _, limit[~none] = intervals.logit_interval(
        np.minimum(errors_of_study[~none] / design.comparisons(n), 1), errors_of_rate[~none], freedoms[~none],
        2 * confidence_level - 1,
    )  # fmt: skip
    return Limits(n, errors_of_study.astype(np.int64), limit, is_narrow)


def _errors_of_pair(design: Design, matches: FalseMatches) -> float:
    """Return how many false matches two subjects have on average if they have any."""
    if matches.again == 0 or design.repeats == 1:
        return 1.0
    return design.repeats * matches.again / -math.expm1(design.repeats * math.log1p(-matches.again))


def _draw(
    effect: Floats, n_pairs: int, design: Design, matches: FalseMatches, rng: np.random.Generator
) -> tuple[Counts, Counts, Counts]:
    """Draw distinct pairs of subjects with false matches, and how many each has."""
    n, ends = effect.size, np.cumsum(effect)
    codes = np.empty(0, np.int64)
    for _ in range(_ROUNDS):
        if codes.size == n_pairs:
            break
        a, b = np.searchsorted(ends, ends[-1] * rng.random((2, 2 * (n_pairs - codes.size) + 2)), side="right")
        drawn = np.minimum(a, b) * n + np.maximum(a, b)
        codes = np.concatenate((codes, drawn[a != b]))
        _, first = np.unique(codes, return_index=True)
        codes = codes[np.sort(first)][:n_pairs]
    n_pairs = codes.size
    times = np.ones(n_pairs, np.int64)
    if design.repeats > 1 and matches.again > 0:
        # The first of them to err is at a place that is geometric, and each of those after it errs with the chance.
        before = (1 - matches.again) ** np.arange(design.repeats)
        place = rng.choice(design.repeats, n_pairs, p=before / before.sum())
        times += rng.binomial(design.repeats - 1 - place, matches.again)
    return codes // n, codes % n, times


def dyadic_variance(errors: tuple[Counts, Counts, Counts], n: int, design: Design) -> tuple[float, float]:
    """Compute the dyadic-robust variance of a number of false matches and its degrees of freedom.

    As `kernels.dyadic` does, for a design in which each subject has as many comparisons.

    Parameters
    ----------
    errors : tuple of (pairs,) ndarray of int
        The two subjects and the number of false matches of each pair that has any.
    n : int
        Number of subjects.
    design : Design
        Who is compared with whom.

    Returns
    -------
    tuple of float
    """
    first, second, times = errors
    each = design.partners(n) * design.repeats  # comparisons of a subject
    size = n * each / 2
    total = float(times.sum())
    rate = total / size
    ends, weights = np.concatenate((first, second)), np.tile(times.astype(np.float64), 2)
    of_subject = np.bincount(ends, weights, n)
    deviation = of_subject - rate * each
    squares = np.bincount(ends, weights**2, n) - 2 * rate * design.repeats * of_subject
    squares += rate**2 * design.repeats * each
    pairs_squared = float(squares.sum()) / 2
    left = 1 - 4 / n + 2 * design.repeats / (n * each)
    robust = (float(deviation @ deviation) - pairs_squared) / left
    is_floored = robust <= pairs_squared * (1 + 1e-9)
    parts = squares / 2 if is_floored else deviation**2 - squares / 2
    whole, squared = float(parts.sum()), float(parts @ parts)
    rest = squared - whole**2 * (1 / n + 0.5 / max(min(total, size - total), 1.0))
    freedom = 2 * whole**2 / rest if rest > 1e-12 * squared else math.inf
    return max(robust, pairs_squared), freedom


def are_of_few(errors: tuple[Counts, Counts, Counts], n: int) -> bool:
    """Return whether few of n subjects cause most false matches, by the rule of `uncertainty.interval_rules`."""
    first, second, times = errors
    n_top, total = -(-n // 20), times.sum()
    if n < 20 or total < max(10, 3 * n_top):
        return False
    of_subject = np.bincount(np.concatenate((first, second)), np.tile(times, 2), n)
    is_top = np.zeros(n, np.bool_)
    is_top[np.argsort(-of_subject, kind="stable")[:n_top]] = True
    return bool(times[is_top[first] | is_top[second]].sum() >= CONCENTRATED * total)


def _independent(five: tuple[Counts, Counts, Counts], n: int, design: Design) -> float:
    """Return how many independent comparisons tell as much as those of a study without a false match."""
    size, total = design.comparisons(n), float(five[2].sum())
    if total >= size:
        return float(max(1, n // 2))
    binomial = total * (size - total) / size
    variance, _ = dyadic_variance(five, n, design)
    return min(size, max(1.0, size * binomial / variance)) if variance > binomial else float(size)

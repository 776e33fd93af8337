"""Populations of known truth for studies of type I errors, power and coverage: skewed, tied, of few
errors, unequal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import gamma, t

import fastfair as ff

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Groups = NDArray[Any]  # a label or number for each subject

_SCALE = 0.5  # of lognormal scores
_DEGREES = 4  # of freedom of Student's t
_GRID = (np.arange(20_000) + 0.5) / 20_000  # quantiles that stand for a law of subjects
_HEAVY = t.ppf((np.arange(500) + 0.5) / 500, _DEGREES) / math.sqrt(_DEGREES / (_DEGREES - 2))
# Each law of scores as a function of a standard normal number, and its inverse.
_LAWS = {
    "normal": (lambda z: z, lambda s: s),
    "t": (lambda z: t.ppf(ndtr(z), _DEGREES), lambda s: ndtri(t.cdf(s, _DEGREES))),
    "lognormal": (
        lambda z: np.expm1(_SCALE * z) / _SCALE,
        lambda s: np.log(np.maximum(_SCALE * s + 1, 1e-300)) / _SCALE,
    ),
}


def _log_uniform(rng: np.random.Generator, between: tuple[int, int], size: int) -> Integers:
    low, high = between
    return np.exp(rng.uniform(np.log(low), np.log(high + 1), size)).astype(int).clip(low, high)


@dataclass(frozen=True)
class _Trials:
    """Who is compared, pairs (i, j) and subjects k with themselves; the subjects' parts of scores,
    and a noise."""

    group: Integers
    i: Integers
    j: Integers
    k: Integers
    parts: tuple[Floats, Floats]
    noise: list[Floats]


@dataclass(frozen=True)
class Population:
    """Groups of subjects whose scores depend on the subjects, with rates that can be computed.

    A non-mated score of subjects k and l is shift + g(effect (a_k + a_l) / sqrt(2) + noise), a
    mated one of subject k is mean + g(-effect b_k + noise), where g makes the law of scores of a
    standard normal number. All groups have the same rates unless `shifts` or `gaps` say otherwise.

    Attributes
    ----------
    name : str
        What is peculiar about it.
    sizes : tuple of int
        Number of subjects of each group.
    law : {"normal", "t", "lognormal"}
        The law of the scores: normal, Student's t with 4 degrees of freedom, or lognormal.
    effect : float
        Standard deviation of the subjects' part, of 1.
    skewed : bool
        Whether few subjects cause most errors: a_k and b_k are exponential instead of normal.
    heavy : bool
        Whether still fewer do: a_k and b_k are Student's t with 4 degrees of freedom, of variance
        1.
    pairs : int, tuple of int or None
        Number of non-mated comparisons for each subject, of random pairs inside the group, or the
        least and the largest number, log-uniform between them; None for all pairs.
    attempts : tuple of int
        Least and largest number of mated comparisons of a subject, log-uniform between them.
    repeats : int
        Number of comparisons of each pair.
    likeness : float
        Standard deviation of the part of the noise that non-mated comparisons of one pair share, of
        1.
    step : float
        Distance between possible scores; 0 for scores without ties.
    mean : float
        Of mated scores.
    shifts, gaps : tuple of float
        For each group, what is added to non-mated scores, and to mated ones; empty for fair
        systems.
    second_shifts, second_gaps : tuple of float
        For each group, what the second of two systems has added besides.
    together : float
        Correlation between the noise of the two systems.
    """

    name: str
    sizes: tuple[int, ...] = (60, 60, 60)
    law: str = "normal"
    effect: float = 0.4
    skewed: bool = False
    heavy: bool = False
    pairs: int | tuple[int, int] | None = None
    attempts: tuple[int, int] = (4, 4)
    repeats: int = 1
    likeness: float = 0.0
    step: float = 0.0
    mean: float = 3.3
    shifts: tuple[float, ...] = ()
    gaps: tuple[float, ...] = ()
    second_shifts: tuple[float, ...] = ()
    second_gaps: tuple[float, ...] = ()
    together: float = 0.5

    def draw(self, rng: np.random.Generator) -> ff.Comparisons:
        """Draw subjects and the scores of their comparisons."""
        return self.draw_two(rng)[0]

    def draw_two(self, rng: np.random.Generator) -> tuple[ff.Comparisons, ff.Comparisons]:
        """Draw subjects and the scores that two systems give to the same comparisons."""
        trials = self._trials(rng)
        other = [
            self.together * one + math.sqrt(1 - self.together**2) * rng.normal(size=one.size)
            for one in trials.noise
        ]
        first, second = (
            self._scored(trials, noise, *self._added(second))
            for noise, second in ((trials.noise, False), (other, True))
        )
        return first, second

    def draw_systems(self, rng: np.random.Generator, gaps: Sequence[float]) -> list[ff.Comparisons]:
        """Draw subjects and the scores of several systems, each of which adds a gap to mated
        scores.

        The noise of any two systems has the correlation `together`.
        """
        trials, found = self._trials(rng), []
        shifts, of_groups = self._added(False)
        for gap in gaps:
            noise = [
                math.sqrt(self.together) * one
                + math.sqrt(1 - self.together) * rng.normal(size=one.size)
                for one in trials.noise
            ]
            found.append(self._scored(trials, noise, shifts, of_groups + gap))
        return found

    def _trials(self, rng: np.random.Generator) -> _Trials:
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        a, b = self._subjects(rng, group.size), self._subjects(rng, group.size)
        i, j = self._pairs(rng)
        attempts = _log_uniform(rng, self.attempts, group.size)
        k = np.repeat(np.arange(group.size), attempts)
        parts = self.effect * (a[i] + a[j]) / math.sqrt(2), -self.effect * b[k]
        noise = [rng.normal(size=part.size) for part in parts]
        if self.likeness:
            shared = np.repeat(rng.normal(size=i.size // self.repeats), self.repeats)
            noise[0] = self.likeness * shared + math.sqrt(1 - self.likeness**2) * noise[0]
        return _Trials(group, i, j, k, parts, noise)

    def _scored(
        self, trials: _Trials, noise: Sequence[Floats], shifts: Floats, gaps: Floats
    ) -> ff.Comparisons:
        group, i, j, k = trials.group, trials.i, trials.j, trials.k
        g, left = _LAWS[self.law][0], math.sqrt(1 - self.effect**2)
        nonmated = shifts[group[i]] + g(trials.parts[0] + left * noise[0])
        mated = self.mean + gaps[group[k]] + g(trials.parts[1] + left * noise[1])
        if self.step:
            mated, nonmated = (
                np.floor(scores / self.step) * self.step for scores in (mated, nonmated)
            )
        return compared(mated, nonmated, k, i, j, group)

    def _added(self, second: bool) -> tuple[Floats, Floats]:
        """Return what the first, or the second, system adds to non-mated and to mated scores of
        each group."""

        def of_groups(values: tuple[float, ...]) -> Floats:
            return np.array(values or (0.0,) * len(self.sizes))

        shifts, gaps = of_groups(self.shifts), of_groups(self.gaps)
        return (
            (shifts + of_groups(self.second_shifts), gaps + of_groups(self.second_gaps))
            if second
            else (shifts, gaps)
        )

    def _subjects(self, rng: np.random.Generator, n: int) -> Floats:
        if self.heavy:
            return rng.standard_t(_DEGREES, n) / math.sqrt(_DEGREES / (_DEGREES - 2))
        return rng.exponential(size=n) - 1 if self.skewed else rng.normal(size=n)

    def _pairs(self, rng: np.random.Generator) -> tuple[Integers, Integers]:
        firsts, seconds, start = [], [], 0
        for size in self.sizes:
            if self.pairs is None:
                i, j = np.triu_indices(size, 1)
            else:
                between = self.pairs if isinstance(self.pairs, tuple) else (self.pairs, self.pairs)
                i = np.repeat(np.arange(size), _log_uniform(rng, between, size))
                j = (i + rng.integers(1, size, i.size)) % size
            firsts.append(start + np.repeat(i, self.repeats))
            seconds.append(start + np.repeat(j, self.repeats))
            start += size
        return np.concatenate(firsts), np.concatenate(seconds)

    def fmr(self, threshold: float, second: bool = False) -> Floats:
        """Compute the FMR of each group by the first or the second system; with ties, at a possible
        score."""
        at = _LAWS[self.law][1](threshold - self._added(second)[0])
        if self.heavy:
            part = np.add.outer(_HEAVY, _HEAVY).ravel() / math.sqrt(2)
        else:
            part = (gamma.ppf(_GRID, 2) - 2) / math.sqrt(2) if self.skewed else ndtri(_GRID)
        return np.asarray([self._share(-z, -part) for z in at])

    def fnmr(self, threshold: float, second: bool = False) -> Floats:
        """Compute the FNMR of each group, by the first or the second system."""
        means = self.mean + self._added(second)[1]
        part = _HEAVY if self.heavy else -(gamma.ppf(_GRID, 1) - 1) if self.skewed else ndtri(_GRID)
        return np.asarray([self._share(z, part) for z in _LAWS[self.law][1](threshold - means)])

    def _share(self, below: float, part: Floats) -> float:
        """Return how probable it is that subjects' part and noise together are at most `below`."""
        if not (self.skewed or self.heavy):
            return float(ndtr(below))
        return float(ndtr((below - self.effect * part) / math.sqrt(1 - self.effect**2)).mean())

    def weights(self) -> Floats:
        """Return each group's share of the non-mated comparisons."""
        n = np.array(self.sizes, np.float64)
        n = n * (n - 1) if self.pairs is None else n
        return np.asarray(n / n.sum())

    def mated_weights(self) -> Floats:
        """Return each group's share of the mated comparisons."""
        return np.array(self.sizes) / sum(self.sizes)

    def overall(self, rate: str, threshold: float, second: bool = False) -> float:
        """Compute the FMR or the FNMR, as `rate` says, of all comparisons."""
        weights = self.weights() if rate == "fmr" else self.mated_weights()
        return float(getattr(self, rate)(threshold, second) @ weights)

    def threshold(self, fmr: float, second: bool = False) -> float:
        """Return the threshold with an FMR of all comparisons, or the next possible score above."""
        found = float(brentq(lambda s: self.overall("fmr", s, second) - fmr, -1.9, 60))
        return math.ceil(found / self.step) * self.step if self.step else found

    def unfair(self, times: float, threshold: float, groups: int = 1) -> Population:
        """Shift the last groups' non-mated scores so that their FMR at a threshold is so many times
        as large."""
        aim = times * float(self.fmr(threshold)[0])
        alone = replace(self, sizes=self.sizes[:1], shifts=())
        shift = float(
            brentq(lambda s: float(replace(alone, shifts=(s,)).fmr(threshold)[0]) - aim, 0, 5)
        )
        return replace(self, shifts=(0.0,) * (len(self.sizes) - groups) + (shift,) * groups)


def compared(
    mated: Floats,
    nonmated: Floats,
    k: Integers,
    i: Integers,
    j: Integers,
    group: NDArray[Any] | dict[str, NDArray[Any]],
) -> ff.Comparisons:
    """Return mated scores of subjects k, and non-mated ones of subjects i and j, of subjects of
    groups."""
    reference, probe = np.concatenate((k, i)), np.concatenate((k, j))

    def of(side: Integers) -> Any:
        if isinstance(group, dict):
            return {name: of_each[side] for name, of_each in group.items()}
        return None if group is None else group[side]

    return ff.Comparisons(
        np.concatenate((mated, nonmated)),
        np.arange(reference.size) < k.size,
        reference,
        probe,
        of(reference),
        of(probe),
    )


def of_other_people(comparisons: ff.Comparisons) -> ff.Comparisons:
    """Return the same comparisons as if all their subjects were others."""
    sides = comparisons.mated, comparisons.nonmated
    reference, probe = (
        np.concatenate([getattr(side, name) for side in sides]) for name in ("reference", "probe")
    )
    by_group = comparisons.mated_by_group, comparisons.nonmated_by_group
    groups = [
        np.concatenate([getattr(by, name) for by in by_group])
        for name in ("reference_group", "probe_group")
    ]
    labels = np.array(comparisons.groups)
    return ff.Comparisons(
        np.concatenate([side.similarities for side in sides]),
        np.arange(reference.size) < len(comparisons.mated),
        reference + 10**6,
        probe + 10**6,
        *(labels[codes] for codes in groups),
    )


def chances_of_subjects(rng: np.random.Generator, mean: Floats, correlation: float) -> Floats:
    """Draw the beta-distributed chances of subjects to fail, whose attempts have a correlation."""
    odds = 1 / correlation - 1
    return rng.beta(mean * odds, (1 - mean) * odds)


SMALL_TO_LARGE = (15, 30, 60, 120, 240, 400)
# Fair systems, unlike those of the coverage study.
FAIR = (
    Population("Student t scores", law="t", mean=5.5),
    Population("lognormal scores", law="lognormal", mean=5.0),
    Population("1 to 100 attempts", (80, 80, 80), attempts=(1, 100)),
    Population("groups of 15 to 400", SMALL_TO_LARGE),
    Population("8 groups", (40,) * 8),
    Population("11 groups of 20 to 80", (20, 20, 20, 30, 30, 40, 40, 60, 60, 80, 80)),
    Population("random trials", (150, 150, 150), pairs=20, repeats=2),
    Population("8-bit scores", step=1 / 16),
    Population("skewed subjects", (100, 100, 100), skewed=True, effect=0.6, mean=4.0),
    Population("strong subjects", effect=0.7),
    Population("unequal systems", second_gaps=(-0.6,) * 3),
)
BY_NAME = {population.name: population for population in FAIR}

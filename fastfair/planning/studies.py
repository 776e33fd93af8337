"""Simulated studies that compare groups' FNMRs: the margins that they estimate, and whether they find a group."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.group_tests.group_sums import draw_groups
from fastfair.group_tests.subject_kinds import squared_deviations

from .subjects import Groups, draw_studies, require_memory

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_REPLICATES_OF_PLANS = 8  # kind of draws, told apart in the random stream from others
_STUDIES_RESAMPLED = 200  # studies whose margins are estimated by replicates, as `margin_of_error` does
_REPLICATES = 999  # of each of them
_LEAST = 2  # subjects of a group, without whom no variance can be estimated
_ROUNDS = 8  # of simulation, after which the search for a number of subjects ends
_STEPS = 4  # of 1 / distance, by which the search looks ahead for a number of subjects that is not enough
_MOST_AHEAD = 1000  # numbers of subjects
_HALVINGS = 40  # of the interval in which a margin lies
_NEAR = 0.03  # relative distance of numbers of subjects at which what was simulated for one tells of the other
_ROUNDING = 1e-9  # relative, by which margins that are equal may differ


@dataclass(frozen=True, eq=False)
class Studies:
    """What simulated studies with n subjects in each group found.

    Attributes
    ----------
    n : int
        Number of subjects in each group.
    margin : (studies,) ndarray
        The margin of error that a study estimates; infinite where there is none, as nothing failed.
    apart : (studies,) ndarray
        How much the first group's FNMR differs from that of all groups together.
    expected : float
        The true difference of the two.
    step : float
        What margins of n subjects are multiples of; 0 where attempts vary, so that they are not.
    """

    n: int
    margin: Floats
    apart: Floats
    expected: float
    step: float

    def margins(self) -> Floats:
        """Return the margins as `margin_of_error` would estimate them, in whole steps."""
        return self.margin if self.step == 0 else self.step * np.ceil(self.margin / self.step - 0.5)

    def keep(self, wanted: float) -> float:
        """Return the share of studies whose margin is at most `wanted`."""
        return float((self.margins() <= wanted * (1 + _ROUNDING)).mean())

    def margin_kept(self, share: float) -> float:
        """Return the smallest margin that a share of studies stays within."""
        return float(np.quantile(self.margins(), share, method="inverted_cdf"))

    def find(self) -> float:
        """Return the share of studies in which the first group is farther from the overall rate than the margin."""
        return float((np.abs(self.apart) > self.margins() * (1 + _ROUNDING)).mean())

    def of(self, n: int) -> Studies:
        """Return about what as many studies of n subjects find, as errors fall with the root of the number."""
        shrunk = math.sqrt(self.n / n)
        return replace(
            self, n=n, margin=shrunk * self.margin, step=self.step * self.n / n,
            apart=self.expected + shrunk * (self.apart - self.expected),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Study:
    """A study that can be made with any number of subjects.

    Attributes
    ----------
    groups : Groups
        The groups, of which the first may differ.
    probability : float
        Which quantile of the largest differences the margin is.
    n_simulations : int
        Number of studies to draw.
    key : (2,) ndarray of uint32
        Key of the random stream.
    """

    groups: Groups
    probability: float
    n_simulations: int
    key: NDArray[np.uint32]

    def simulate(self, n: int) -> Studies:
        """Draw studies with n subjects in each group.

        Their margins are those of normal laws with the variances that a study estimates, times a factor by which the
        margins of resampled studies differ from it on average.
        """
        from fastfair.kernels import clusters

        require_memory(self.groups, self.n_simulations)
        margin, apart = np.empty((2, self.n_simulations))

        def use(at: slice, sums: Counts) -> None:
            m, e = sums[clusters.ATTEMPTS], sums[clusters.FAILURES]
            margin[at] = self._normal_margins(sums)
            apart[at] = e[:, 0] / m[:, 0] - e.sum(axis=1) / m.sum(axis=1)

        draw_studies(self.groups, n, self.n_simulations, self.key, use)
        equal = self.groups.others.attempts
        return Studies(
            n, margin * self._factor(n), apart, expected=self._difference(),
            step=1 / (n * int(equal.numbers[0])) if equal.are_equal else 0.0,
        )  # fmt: skip

    def _difference(self) -> float:
        """Return how much the first group's true rate differs from that of all groups together."""
        return (self.groups.first.fnmr - self.groups.others.fnmr) * (1 - 1 / self.groups.number)

    def _normal_margins(self, sums: Any) -> Floats:
        """Compute (studies,) the distance that all groups' rates keep, if normal, from (5, studies, groups) sums."""
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(squared_deviations(sums)) / sums[0]
        return distance_kept(np.nan_to_num(error), self.probability)

    def _factor(self, n: int) -> float:
        """Compare margins estimated by replicates with those of normal laws, in a part of the studies."""
        from fastfair.kernels import clusters

        rng = np.random.default_rng([*self.key.tolist(), n])
        by_replicates, normal = [], []
        for study in range(min(_STUDIES_RESAMPLED, self.n_simulations)):
            kinds, sums = _draw_kinds(self.groups, n, rng)
            if not sums[clusters.FAILURES].any():
                continue
            own = sums[clusters.FAILURES] / sums[clusters.ATTEMPTS]
            largest = np.empty(_REPLICATES)

            def use(at: slice, drawn: Counts, own: Floats = own, largest: Floats = largest) -> None:
                rates = drawn[clusters.FAILURES] / drawn[clusters.ATTEMPTS]
                largest[at] = np.abs(rates - own).max(axis=1)

            key = np.array([self.key[0], self.key[1] ^ np.uint32(study)], np.uint32)
            draw_groups(kinds, np.full(self.groups.number, n), _REPLICATES_OF_PLANS, _REPLICATES, key, use)
            by_replicates.append(np.quantile(largest, self.probability))
            normal.append(self._normal_margins(sums[:, None])[0])
        return float(np.sum(by_replicates) / np.sum(normal)) if by_replicates else 1.0

    def subjects_for_margin(self, wanted: float, share: float, most: int) -> tuple[int | None, Studies]:
        """Find how many subjects keep the margin at or below `wanted` in a share of studies."""
        inside = distance_kept(np.ones((1, self.groups.number)), self.probability)[0]
        about = self.groups.others.variance(1) * (inside / wanted) ** 2
        return self._smallest(lambda studies: studies.keep(wanted) >= share, about, wanted, most)

    def subjects_for_power(self, wanted: float, most: int) -> tuple[int | None, Studies]:
        """Find how many subjects the first group is found with in the share of studies `wanted`."""
        from scipy.special import ndtri

        inside = distance_kept(np.ones((1, self.groups.number)), self.probability)[0]
        difference = abs(self._difference())
        errors = max(1.0, inside + float(ndtri(wanted)))  # that the difference has to be large
        about = max(self.groups.others.variance(1), self.groups.first.variance(1)) * (errors / difference) ** 2
        return self._smallest(lambda studies: studies.find() >= wanted, about, difference, most)

    def _smallest(
        self, is_enough: Callable[[Studies], bool], about: float, distance: float, most: int
    ) -> tuple[int | None, Studies]:
        """Find the smallest number of subjects from which on all numbers are enough, and what its studies find.

        What is simulated for one number tells of others that are near.
        """
        n, ahead = min(most, max(_LEAST, math.ceil(about))), min(_MOST_AHEAD, math.ceil(_STEPS / distance))
        for _ in range(_ROUNDS):
            studies = self.simulate(n)
            if n == most and not is_enough(studies):
                return None, studies
            low, high = max(_LEAST, n // 2), min(most, 2 * n)
            found = _first(lambda k, at=studies: is_enough(at.of(k)), low, high, ahead)  # type: ignore[misc]
            if abs(found - n) <= _NEAR * n:
                break
            n = found
        return found, studies.of(found)


def _first(is_enough: Callable[[int], bool], low: int, high: int, ahead: int) -> int:
    """Find the smallest of the numbers from low to high from which on all are enough; high if this is not enough.

    Rates are multiples of 1 / (n m), or of 1 / n where all attempts of a subject fail or none. While n grows by
    1 / distance, other multiples come to lie just within the distance, so that one number can be enough and the next
    not: the search looks ahead.
    """
    few, many = low - 1, high
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if is_enough(middle) else (middle, many)
    for k in range(many, min(few + ahead, high) + 1):
        if not is_enough(k):
            few = k
    return min(few + 1, high)


def distance_kept(error: Floats, probability: float) -> Floats:
    """Compute the distance from 0 that normal numbers all keep with a probability.

    Parameters
    ----------
    error : (n, g) ndarray
        Standard deviations of g independent numbers.
    probability : float
        The probability.

    Returns
    -------
    (n,) ndarray
        Infinite where all standard deviations are 0.
    """
    from scipy.special import ndtr, ndtri

    largest = error.max(axis=1)
    # That of one number alone, and what any number of them keep by Bonferroni's inequality.
    low = largest * ndtri((1 + probability) / 2)
    high = largest * ndtri(1 - (1 - probability) / (2 * error.shape[1]))
    divisor = np.where(error > 0, error, 1e-300)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        outside = 2 * ndtr(-middle[:, None] / divisor)
        is_kept = np.prod(1 - outside, axis=1) >= probability
        low, high = np.where(is_kept, low, middle), np.where(is_kept, middle, high)
    return np.where(largest > 0, high, np.inf)


def _draw_kinds(groups: Groups, n: int, rng: np.random.Generator) -> tuple[Any, Counts]:
    """Draw n subjects of each group: their kinds, as `kernels.clusters` has them, and (5, groups) sums over them."""
    from fastfair.kernels import clusters

    parts, sums = [], np.empty((5, groups.number), np.int64)
    for g in range(groups.number):
        failures, attempts, share = (groups.others if g else groups.first).kinds
        times = rng.multinomial(n, share / share.sum())
        e, m, times = (values[times > 0] for values in (failures, attempts, times))
        sums[:, g] = np.array([m, e, e * e, e * m, m * m]) @ times
        parts.append((e, m, times))
    end = np.cumsum([times.size for _, _, times in parts])
    failures, attempts, times = map(np.concatenate, zip(*parts, strict=True))
    return clusters.Kinds(failures, attempts, times.astype(np.float64), end), sums

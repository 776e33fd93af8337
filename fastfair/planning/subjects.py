"""Subjects of a study that is planned: how many attempts they make, and how many of these fail."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import memory, validation
from fastfair.group_tests.failure_roots import beta_binomial_pmf
from fastfair.group_tests.group_sums import AT_ONCE, draw_groups

from .failure_law import FailureLaw, bytes_of_law

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_GROUPS_OF_STUDIES = 7  # kind of draws, told apart in the random stream from those of resampling


@dataclass(frozen=True, eq=False)
class Attempts:
    """How many attempts subjects make.

    Attributes
    ----------
    numbers : (k,) ndarray of int
        The different numbers of attempts.
    shares : (k,) ndarray
        The share of subjects who make so many.
    """

    numbers: Counts
    shares: Floats

    @classmethod
    def of(cls, attempts: ArrayLike) -> Attempts:
        """Take the attempts of each subject of a pilot, or one number for all subjects."""
        numbers, times = np.unique(validation.counts("attempts", attempts, 1), return_counts=True)
        return cls(numbers, times / times.sum())

    def as_dict(self) -> dict[int, float]:
        """Return the share of subjects with each number of attempts."""
        return dict(zip(self.numbers.tolist(), self.shares.tolist(), strict=True))

    @property
    def mean(self) -> float:
        """Attempts of a subject, on average."""
        return float(self.shares @ self.numbers)

    @property
    def m0(self) -> float:
        """Attempts of the subject of an attempt, on average: the sum of m^2 over the sum of m."""
        return float(self.shares @ self.numbers.astype(np.float64) ** 2) / self.mean

    @property
    def are_equal(self) -> bool:
        """Whether all subjects make as many attempts."""
        return self.numbers.size == 1


@dataclass(frozen=True, eq=False)
class Subjects:
    """Subjects who are alike and independent.

    Attributes
    ----------
    attempts : Attempts
        How many attempts they make.
    fnmr, correlation : float
        As in `plan_margin`.
    goats : float
        The share of subjects who fail often, all others being alike; 0 where failures are beta-binomial.
    """

    attempts: Attempts
    fnmr: float
    correlation: float
    goats: float = 0.0

    def rates(self) -> tuple[float, float]:
        """Return the FNMRs of goats and of others, with the FNMR and the correlation of all."""
        spread = math.sqrt(self.correlation * self.fnmr * (1 - self.fnmr))
        odds = math.sqrt((1 - self.goats) / self.goats)
        return self.fnmr + spread * odds, self.fnmr - spread / odds

    def law(self, m: int) -> Floats:
        """Return the probabilities of 0 to m failures of a subject with m attempts."""
        if not self.goats:
            return beta_binomial_pmf(m, self.fnmr, self.correlation)
        often, seldom = (beta_binomial_pmf(m, rate, 0.0) for rate in self.rates())
        return self.goats * often + (1 - self.goats) * seldom

    @cached_property
    def kinds(self) -> tuple[Counts, Counts, Floats]:
        """(kinds,) failures and attempts of subjects, and how probable they are."""
        numbers = self.attempts.numbers
        laws = [self.law(int(m)) for m in numbers]
        failures = np.concatenate([np.arange(law.size) for law in laws])
        share = np.concatenate([part * law for part, law in zip(self.attempts.shares, laws, strict=True)])
        return failures, np.repeat(numbers, numbers + 1), share

    def variance(self, n: int) -> float:
        """Return the variance of the FNMR of n subjects: pi (1 - pi) (1 + (m0 - 1) rho) over the attempts."""
        inflation = 1 + (self.attempts.m0 - 1) * self.correlation
        return self.fnmr * (1 - self.fnmr) * inflation / (n * self.attempts.mean)

    def margin(self, n: int, n_groups: Any, probability: float) -> Any:
        """Compute the exact margins of groups of n, all of whom make as many attempts, where the rate is known."""
        m = int(self.attempts.numbers[0])
        memory.require(
            bytes_of_law(n, m, self.fnmr, self.correlation),
            f"the exact law of the failures of {n:,} subjects with {m:,} attempts each",
            "plan for fewer attempts or subjects",
        )
        law = FailureLaw.of(n, self.law(m))
        return law.farthest(n * m * self.fnmr, n_groups, probability) / (n * m)

    def simulated_margins(
        self, n: int, n_groups: Counts, probability: float, n_simulations: int, key: NDArray[np.uint32]
    ) -> Floats:
        """Draw studies with groups of n; the first groups of the largest study are the groups of a smaller one."""
        from fastfair.kernels import clusters

        numbers, number_of = np.unique(n_groups, return_inverse=True)
        groups = Groups(int(numbers[-1]), self, self)
        require_memory(groups, n_simulations * numbers.size)
        largest = np.empty((n_simulations, numbers.size))

        def use(at: slice, sums: Counts) -> None:
            apart = np.abs(sums[clusters.FAILURES] / sums[clusters.ATTEMPTS] - self.fnmr)
            largest[at] = np.maximum.accumulate(apart, axis=1)[:, numbers - 1]

        draw_studies(groups, n, n_simulations, key, use)
        return np.quantile(largest, probability, axis=0, method="inverted_cdf")[number_of]


@dataclass(frozen=True)
class Groups:
    """Groups of which the first may have other subjects than the rest.

    Attributes
    ----------
    number : int
        Number of groups.
    first, others : Subjects
        The subjects of the first group, and of every other; all make as many attempts.
    """

    number: int
    first: Subjects
    others: Subjects


def require_memory(groups: Groups, n_studies: int) -> None:
    """Refuse studies that `draw_studies` has no memory for, with five numbers kept of each."""
    n_kinds = int(groups.others.attempts.numbers.sum()) + groups.others.attempts.numbers.size
    memory.require(
        groups.number * (40 * n_kinds + 64 * min(AT_ONCE, n_studies)) + 200 * n_kinds + 40 * n_studies,
        f"{n_studies:,} studies of {groups.number:,} groups with up to {groups.others.attempts.numbers[-1]:,} attempts "
        "of each subject",
        "plan for fewer, or margins with the exact method",
    )


def draw_studies(groups: Groups, n: int, n_studies: int, key: NDArray[np.uint32], use: Any) -> None:
    """Draw studies with groups of n subjects, and pass on sums over them as `group_sums.draw_groups` does.

    Parameters
    ----------
    groups : Groups
        What the subjects of the groups are like.
    n : int
        Number of subjects in each group.
    n_studies : int
        Number of studies.
    key : (2,) ndarray of uint32
        Key of the random stream.
    use : callable
        As in `draw_groups`.
    """
    from fastfair.kernels import clusters

    n_kinds = groups.others.kinds[0].size
    parts = zip(groups.first.kinds, groups.others.kinds, strict=True)
    failures, attempts, share = (np.concatenate((first, np.tile(others, groups.number - 1))) for first, others in parts)
    kinds = clusters.Kinds(failures, attempts, share, n_kinds * np.arange(1, groups.number + 1))
    draw_groups(kinds, np.full(groups.number, n), _GROUPS_OF_STUDIES, n_studies, key, use)

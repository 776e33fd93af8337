"""Studies that could be made: the margins they would have and what they would find, drawn or computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair.group_tests.group_sums import AT_ONCE, draw_groups

from .failure_law import FailureLaw, beta_binomial_pmf, bytes_of_law, detection_power

Floats = NDArray[np.float64]
_GROUPS_OF_STUDIES = 7  # kind of draws, told apart in the random stream from those of resampling
_STEPS = 4  # of 1 / n_subjects, by which the search looks ahead for a number of subjects that is not enough
_ROUNDING = 1 + 1e-9  # margins that are equal may differ by this much


@dataclass(frozen=True)
class Subjects:
    """Subjects who are alike and independent, each with beta-binomial failures."""

    n_attempts: int
    fnmr: float
    correlation: float

    @cached_property
    def _pmf(self) -> Floats:
        return beta_binomial_pmf(self.n_attempts, self.fnmr, self.correlation)

    def law(self, n: int) -> FailureLaw:
        """Return the law of the failures of n of them, where there is memory for it."""
        memory.require(
            bytes_of_law(n, self.n_attempts, self.fnmr, self.correlation),
            f"the exact law of the failures of {n:,} subjects with {self.n_attempts:,} attempts each",
            "plan for fewer attempts or subjects",
        )
        return FailureLaw.of(n, self._pmf)

    def margin(self, n: int, n_groups: Any, probability: float) -> Any:
        """Compute the exact margins of groups of n."""
        size = n * self.n_attempts
        return self.law(n).farthest(size * self.fnmr, n_groups, probability) / size

    def simulated_margins(
        self, n: int, n_groups: NDArray[np.int64], probability: float, n_simulations: int, key: NDArray[np.uint32]
    ) -> Floats:
        """Draw studies with groups of n; the first groups of the largest study are the groups of a smaller one."""
        from fastfair.kernels import clusters

        numbers, number_of = np.unique(n_groups, return_inverse=True)
        most, n_kinds = int(numbers[-1]), self.n_attempts + 1
        memory.require(
            most * (40 * n_kinds + 64 * min(AT_ONCE, n_simulations)) + 80 * n_kinds + 16 * n_simulations * numbers.size,
            f"{n_simulations:,} studies of {most:,} groups with {self.n_attempts:,} attempts of each subject",
            "plan for fewer, or with the exact method",
        )
        failures, share = np.tile(np.arange(n_kinds), most), np.tile(self._pmf, most)
        attempts, end = np.full(failures.size, self.n_attempts), np.arange(1, most + 1) * n_kinds
        kinds, size = clusters.Kinds(failures, attempts, share, end), np.full(most, n)
        largest = np.empty((n_simulations, numbers.size))

        def use(at: slice, sums: NDArray[np.int64]) -> None:
            apart = np.abs(sums[clusters.FAILURES] / (n * self.n_attempts) - self.fnmr)
            largest[at] = np.maximum.accumulate(apart, axis=1)[:, numbers - 1]

        draw_groups(kinds, size, _GROUPS_OF_STUDIES, n_simulations, key, use)
        return np.quantile(largest, probability, axis=0, method="inverted_cdf")[number_of]


@dataclass(frozen=True)
class Study:
    """A study but for its number of subjects, with a group that differs where there is one."""

    n_groups: int
    subjects: Subjects
    differing: Subjects
    probability: float

    @classmethod
    def at(cls, settings: dict[str, NDArray[Any]], at: tuple[int, ...], probability: float) -> Study:
        """Take one entry of arrays of settings."""
        m, pi, rho = (settings[name][at].item() for name in ("n_attempts", "fnmr", "correlation"))
        difference = float(settings["difference"][at]) if "difference" in settings else 0.0
        return cls(int(settings["n_groups"][at]), Subjects(m, pi, rho), Subjects(m, pi + difference, rho), probability)

    def margin(self, n: int) -> float:
        """Compute the exact margin with n subjects a group."""
        return float(self.subjects.margin(n, self.n_groups, self.probability))

    def power(self, n: int) -> float:
        """Compute how often the group that differs is found with n subjects a group."""
        others = self.subjects.law(n * (self.n_groups - 1))
        failures = self.margin(n) * n * self.subjects.n_attempts
        return detection_power(self.differing.law(n), others, self.n_groups, failures)

    def subjects_for_margin(self, wanted: float, most: int) -> int | None:
        """Find the smallest number of subjects from which on the margin is at most `wanted`."""
        return self._smallest(lambda n: self.margin(n) <= wanted * _ROUNDING, wanted, most)

    def subjects_for_power(self, wanted: float, most: int) -> int | None:
        """Find the smallest number of subjects from which on the power is at least `wanted`."""
        difference = abs(self.differing.fnmr - self.subjects.fnmr)
        return self._smallest(lambda n: self.power(n) >= wanted, difference, most)

    def _smallest(self, enough: Callable[[int], bool], distance: float, most: int) -> int | None:
        """Find the smallest number of subjects from which on all numbers are enough.

        Rates are multiples of 1 / (n m), or of 1 / n where all attempts of a subject fail or none. While n grows by
        1 / distance, other multiples come to lie just within the distance, so margin and power rise and fall.
        """
        if not enough(most):
            return None
        few, many = 0, most
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (few, middle) if enough(middle) else (middle, many)
        ahead = math.ceil(_STEPS / distance)
        while many <= min(few + ahead, most):
            if not enough(many):
                few = many
            many += 1
        return few + 1
